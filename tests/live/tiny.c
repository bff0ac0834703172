/* tiny.c - a small pooler for tests of the gate: each client gets a server connection of its own, bytes go through. It
 * is told what else to do by its name, words after the first apart by "-": a number is how many workers it has (none:
 * it does all itself, in one thread), others are faults (see faults[]).
 *
 * Usage: tiny[-N][-FAULT] SOCKET SERVER, each a path or a port of loopback. With workers it uses what threaded runtimes
 * use: a queue under a lock made of futexes through syscall(), an epoll and an eventfd each, a logger on a condition
 * variable with a time limit, random numbers for who gets a client, pthread_join at its end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MOST = 8, CONNS_MOST = 1024, BYTES = 4096, LATE = 2 };

/* What goes wrong, and when: at its start, or once the client LATE has come. */
typedef enum {
  SOUND,
  REFUSE,  /* ends at once with a complaint */
  ABSENT,  /* never opens its socket */
  CRASH,   /* of its own fault */
  HANG,    /* in a call that is not gated */
  SPIN,    /* without any call */
  GARBAGE, /* to the client */
  RUBBISH, /* to the server */
  LEAK,    /* closes nothing */
  STUCK,   /* hangs before it is ready */
  RING,    /* would rather use io_uring */
  LEAVE,   /* a child of another session and group goes on without it */
  FORGET,  /* no fault: a cancel is sent on, and both its connections are closed at once */
  SHUT,    /* closes each client at once, as it comes */
  SEVER,   /* closes a client that asks something, once it is logged in */
  CHATTER, /* prints for ever */
  LOUD,    /* prints two megabytes for each client, from the first */
  FAULTS
} Fault;
static const char *const faults[FAULTS] = {"",        "refuse",  "absent", "crash",   "hang", "spin",
                                           "garbage", "rubbish", "leak",   "stuck",   "ring", "leave",
                                           "forget",  "shut",    "sever",  "chatter", "loud"};

typedef struct {
  int fd, peer; /* peer: the other side's descriptor */
} Conn;
typedef struct {
  pthread_t thread;
  int number, epoll, wake;
  int queue[CONNS_MOST], n_queue; /* clients that it is to take */
} Worker;

/* Written before there are threads, but for what stands under the lock and the counts under the mutex. */
static struct {
  Fault fault;
  const char *socket, *server;
  int n_workers, clients;
  Worker workers[WORKERS_MOST];
  Conn conns[CONNS_MOST]; /* by descriptor */
  uint32_t lock;          /* 0: free, 1: taken, 2: and somebody waits */
  pthread_mutex_t mutex;
  pthread_cond_t told;
  char line[BYTES];
  bool ends;
} tiny = {.mutex = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static void die(const char *what) {
  fprintf(stderr, "tiny: %s: %s\n", what, strerror(errno));
  exit(3);
}

/* ---- a lock of futexes (Drepper 2011, "Futexes are tricky", mutex 2) ---- */

static void lock(void) {
  uint32_t seen = 0;
  if (__atomic_compare_exchange_n(&tiny.lock, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&tiny.lock, 2, __ATOMIC_ACQUIRE) != 0)
    syscall(SYS_futex, &tiny.lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}
static void unlock(void) {
  if (__atomic_exchange_n(&tiny.lock, 0, __ATOMIC_RELEASE) == 2)
    syscall(SYS_futex, &tiny.lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- the logger: a line a second where nobody says anything ---- */

static void say(const char *format, int a, int b) {
  pthread_mutex_lock(&tiny.mutex);
  size_t n = strlen(tiny.line);
  snprintf(tiny.line + n, sizeof tiny.line - n, format, a, b);
  pthread_cond_signal(&tiny.told);
  pthread_mutex_unlock(&tiny.mutex);
}

static void *log_lines(void *none) {
  pthread_mutex_lock(&tiny.mutex);
  while (!tiny.ends) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    int r = pthread_cond_timedwait(&tiny.told, &tiny.mutex, &until);
    printf("%ld.%03ld %s", (long)until.tv_sec - 1, until.tv_nsec / 1000000, r == ETIMEDOUT ? "quiet\n" : tiny.line);
    tiny.line[0] = '\0';
    fflush(stdout);
  }
  pthread_mutex_unlock(&tiny.mutex);
  return none;
}

/* ---- connections ---- */

static bool is_port(const char *where) {
  return *where >= '0' && *where <= '9';
}

static struct sockaddr_in loopback(const char *port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

static int to_server(void) {
  if (is_port(tiny.server)) {
    struct sockaddr_in there = loopback(tiny.server);
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    if (tcp < 0 || connect(tcp, (struct sockaddr *)&there, sizeof there) != 0) die("connect");
    return tcp;
  }
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path, sizeof at.sun_path, "%s", tiny.server);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0) die("connect");
  return fd;
}

static void watch(int epoll, int fd, int peer) {
  if (fd >= CONNS_MOST) die("too many");
  tiny.conns[fd] = (Conn){fd, peer};
  struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) die("epoll_ctl");
}

static void print_many(void) {
  enum { MANY = 16384 };
  for (int i = 0; i < MANY; i++) printf("client %d, line %d of many: %079d\n", tiny.clients, i, 0);
  fflush(stdout);
}

static void goes_wrong(int client) {
  static const char nonsense[] = "\0\0\0\0 what is this? \377\377\377\377\377";
  struct stat st;
  if (tiny.fault == CRASH) raise(SIGSEGV);
  if (tiny.fault == GARBAGE && write(client, nonsense, sizeof nonsense) < 0) die("write");
  if (tiny.fault == HANG && stat("fifo", &st) == 0 && open("fifo", O_RDONLY) < 0) die("open");
  while (tiny.fault == SPIN) continue;
  while (tiny.fault == CHATTER) print_many();
}

static void take(int epoll, int client) {
  if (tiny.fault == SHUT) {
    close(client);
    return;
  }
  int server = to_server();
  if (tiny.fault == LOUD) print_many();
  if (tiny.clients >= LATE) goes_wrong(client);
  if (tiny.clients >= LATE && tiny.fault == RUBBISH && write(server, "GET / HTTP/1.1\r\n\r\n", 18) < 0) die("write");
  fcntl(client, F_SETFL, O_NONBLOCK);
  fcntl(server, F_SETFL, O_NONBLOCK);
  watch(epoll, client, server);
  watch(epoll, server, client);
}

static void give_back(int fd, int peer) {
  if (tiny.fault == LEAK) {
    shutdown(fd, SHUT_RDWR);
    shutdown(peer, SHUT_RDWR);
    return;
  }
  close(fd);
  close(peer);
}

static bool is_done(const char *bytes, ssize_t n) {
  if (tiny.fault == SEVER && bytes[0] == 'Q') return true;
  return tiny.fault == FORGET && n == 16 && memcmp(bytes + 4, "\004\322\026\056", 4) == 0;
}

/* Edge-triggered: all there is. */
static void pass(int fd) {
  char bytes[BYTES];
  int peer = tiny.conns[fd].peer;
  if (peer < 0) return;
  for (;;) {
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0 && write(peer, bytes, (size_t)n) == n && !is_done(bytes, n)) continue;
    tiny.conns[fd].peer = tiny.conns[peer].peer = -1;
    give_back(fd, peer);
    return;
  }
}

/* ---- workers ---- */

static void *work(void *data) {
  Worker *w = data;
  while (!tiny.ends) {
    struct epoll_event on[8];
    int n = epoll_wait(w->epoll, on, 8, 10000);
    for (int i = 0; i < n; i++)
      if (on[i].data.fd != w->wake) pass(on[i].data.fd);
    uint64_t count;
    if (read(w->wake, &count, sizeof count) < 0) continue;
    lock();
    for (int i = 0; i < w->n_queue; i++) {
      say("worker %d takes %d\n", w->number, w->queue[i]);
      take(w->epoll, w->queue[i]);
    }
    w->n_queue = 0;
    unlock();
  }
  return NULL;
}

/* Who gets it is drawn; the one that is woken may find another at the lock. */
static void hand_on(int client) {
  uint32_t draw;
  if (getrandom(&draw, sizeof draw, 0) != sizeof draw) die("getrandom");
  Worker *w = &tiny.workers[draw % (uint32_t)tiny.n_workers];
  uint64_t one = 1;
  lock();
  w->queue[w->n_queue++] = client;
  unlock();
  if (write(w->wake, &one, sizeof one) != sizeof one) die("wake");
}

static void start_workers(void) {
  for (int i = 0; i < tiny.n_workers; i++) {
    Worker *w = &tiny.workers[i];
    *w = (Worker){.number = i, .epoll = epoll_create1(0), .wake = eventfd(0, EFD_NONBLOCK)};
    watch(w->epoll, w->wake, -1);
    if (pthread_create(&w->thread, NULL, work, w) != 0) die("pthread_create");
  }
}

/* ---- the whole ---- */

static void name_says(const char *path) {
  char *name = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path), *rest = NULL;
  for (char *word = strtok_r(name, "-", &rest); word; word = strtok_r(NULL, "-", &rest)) {
    if (*word >= '1' && *word <= '0' + WORKERS_MOST) tiny.n_workers = *word - '0';
    for (int f = 1; f < FAULTS; f++)
      if (strcmp(word, faults[f]) == 0) tiny.fault = (Fault)f;
  }
  free(name);
}

static void before_ready(void) {
  if (tiny.fault == REFUSE) {
    fprintf(stderr, "tiny: bad configuration: no such word\n");
    exit(2);
  }
  if ((tiny.fault == HANG || tiny.fault == STUCK) && mkfifo("fifo", 0600) != 0) die("mkfifo");
  if (tiny.fault == STUCK && open("fifo", O_RDONLY) < 0) die("open");
  if (tiny.fault == LEAVE && fork() == 0) {
    setsid();
    for (;;) sleep(3600);
  }
  struct io_uring_params with = {0};
  if (tiny.fault == RING && syscall(SYS_io_uring_setup, 8, &with) >= 0) die("a ring was given");
}

static int listen_at(const char *path) {
  if (is_port(path)) {
    struct sockaddr_in here = loopback(path);
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    if (tcp < 0 || bind(tcp, (struct sockaddr *)&here, sizeof here) != 0 || listen(tcp, 64) != 0) die(path);
    return tcp;
  }
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 64) != 0) die(path);
  if (chmod(path, 0777) != 0) die(path);
  return fd;
}

static void stop(int signal) {
  (void)signal;
  tiny.ends = true;
}

/* With workers it waits in accept itself, as an accept loop does; alone, in epoll with all others. */
static void accept_all(int listener, int epoll) {
  while (!tiny.ends) {
    struct epoll_event on[8];
    int n = tiny.n_workers ? 1 : epoll_wait(epoll, on, 8, -1);
    for (int i = 0; i < n; i++) {
      if (!tiny.n_workers && on[i].data.fd != listener) {
        pass(on[i].data.fd);
        continue;
      }
      int client = accept(listener, NULL, NULL);
      if (client < 0) continue;
      tiny.clients++;
      if (tiny.n_workers)
        hand_on(client);
      else
        take(epoll, client);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: tiny SOCKET SERVER\n"), 2;
  name_says(argv[0]);
  tiny.socket = argv[1];
  tiny.server = argv[2];
  before_ready();
  struct sigaction on_term = {.sa_handler = stop};
  sigaction(SIGTERM, &on_term, NULL);
  int listener = tiny.fault == ABSENT ? eventfd(0, 0) : listen_at(tiny.socket), epoll = epoll_create1(0);
  struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e) != 0) die("epoll_ctl");
  pthread_t logger;
  if (tiny.n_workers && pthread_create(&logger, NULL, log_lines, NULL) != 0) die("pthread_create");
  start_workers();
  accept_all(listener, epoll);
  for (int i = 0; i < tiny.n_workers; i++) {
    uint64_t one = 1;
    if (write(tiny.workers[i].wake, &one, sizeof one) < 0) die("wake");
    pthread_join(tiny.workers[i].thread, NULL);
  }
  say("%d clients%.0d\n", tiny.clients, 0);
  if (tiny.n_workers) pthread_join(logger, NULL);
  return 0;
}
