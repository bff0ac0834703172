/* test_gate.c - the gate by itself: tests/live/calls.c and ready.c behind it, call by call. What each prints is what
 * the same program prints without a gate (each call's manual says so), with times that are exact, as virtual ones are.
 */
#include "sim/live/gate.h"
#include "tests/harness.h"
#include <elf.h>
#include <gio/gio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef GATE_LIBRARY
#define GATE_LIBRARY "build/stampede-gate.so"
#endif
#ifndef POOLERS
#define POOLERS "build/tests/live"
#endif
enum { ROUNDS_MOST = 10000 };

static LiveGate *start(const char *program, const char *what, GateClockKind clock, uint64_t seed) {
  GateConfig c = {.user = "nobody", .library = GATE_LIBRARY, .seed = seed, .patience_ms = 10000, .clock = clock};
  g_autoptr(GError) error = NULL;
  LiveGate *g = live_gate_new(&c, &error);
  if (!g) g_error("%s", error->message);
  /* A copy where whoever it runs as can read it. */
  g_autofree char *from = g_build_filename(POOLERS, program, NULL),
                  *to = g_build_filename(live_gate_dir(g, 0), program, NULL), *bytes = NULL;
  gsize n;
  bool ok = g_file_get_contents(from, &bytes, &n, NULL) && g_file_set_contents(to, bytes, (gssize)n, NULL);
  g_assert(ok && chmod(to, 0755) == 0);
  const char *argv[] = {to, what, NULL};
  if (!live_gate_start(g, 0, argv, NULL, &error)) g_error("%s", error->message);
  return g;
}

/* To its end, from one deadline to the next; what it printed. */
static char *finish(LiveGate *g, GateState *last) {
  *last = live_gate_settle(g);
  for (guint i = 0; *last == GATE_QUIET && i < ROUNDS_MOST && live_gate_deadline(g) != INT64_MAX; i++) {
    live_gate_set_time(g, live_gate_deadline(g));
    live_gate_go(g);
    *last = live_gate_settle(g);
  }
  return live_gate_log_tail(g, 100);
}

static char *output(const char *program, const char *what, GateClockKind clock, uint64_t seed) {
  g_autoptr(LiveGate) g = start(program, what, clock, seed);
  GateState s;
  char *text = finish(g, &s);
  expect_int(s, ==, GATE_ENDED);
  g_autofree char *words = s == GATE_ENDED ? live_gate_words(g, s) : g_strdup("does not end");
  expect_str(words, "ended with status 0");
  return text;
}

static void both_print(const char *program, const char *what, const char *expected) {
  g_autofree char *own = output(program, what, GATE_CLOCK_OWN, 1),
                  *follows = output(program, what, GATE_CLOCK_FAKETIME, 1);
  expect_str(own, expected);
  expect_str(follows, expected);
}
static void prints(const char *what, const char *expected) {
  both_print("calls", what, expected);
}

static void sleeps(void) {
  prints("sleeps", "2000 sleep\n3500 usleep\n4000 until");
}
static void timeouts(void) {
  prints("timeouts", "1000 select 0, left 0\n1250 poll 0\n2000 epoll 0");
}
/* A signal that comes while it waits for GO is delivered then, ends the wait, and a blocked one waits for sigsuspend.
 */
static void signals(void) {
  prints("alarms",
         "3000 signal 14\n3000 pause -1\n5000 signal 14\n6000 signal 14\n8000 blocked\n8000 signal 14\n8000 suspended");
  prints("restarts", "1000 signal 14\n2000 read 1\n3000 signal 14\n3000 read -1 1");
}

/* By the order of their ends, each with its signal before; a pipe, semaphores: the second look. */
static void processes(void) {
  prints("children", "1000 signal 17\n1000 child 1\n2000 signal 17\n2000 child 2\n3000 signal 17\n3000 child 0");
  prints("pipes", "10 b\n20 c\n30 d");
  prints("semaphores", "500 semtimedop -1 1\n1000 semop 0\n1500 sem_timedwait -1 1\n2000 sem_wait 0");
}
/* The program that is executed counts from its own start. */
static void executes(void) {
  prints("execs", "2000 sleep\n3500 usleep\n4000 until\n4000 exec is over\n4000 system 3\n4001 nap");
}

static void threads(void) {
  prints("locks", "1001 timedlock 1\n2000 lock 0\n3000 rdlock 0\n3000 join 0 1\n3000 own 1");
  prints("conditions",
         "1000 signal\n1000 woken 0\n2000 broadcast\n2000 woken 1\n2000 woken 2\n2500 timedwait 1\n2700 timedwait 1");
  prints("futexes", "0 other value -1 1\n1000 timeout -1 1\n1500 until -1 1\n1501 wakes 1\n1501 wait 0\n1502 wakes "
                    "1\n1502 wait 0\n1502 wakes 0");
  prints("order", "0 thread 0\n0 thread 1\n0 thread 2");
}

static guint the_last(void *data, const GateTurn *turns, guint n) {
  guint *asked = data;
  ++*asked;
  for (guint i = 1; i < n; i++) g_assert(turns[i - 1].number < turns[i].number);
  return n - 1;
}

/* Who goes on is the driver's to say. */
static void chosen_order(void) {
  g_autoptr(LiveGate) g = start("calls", "order", GATE_CLOCK_OWN, 1);
  guint asked = 0;
  live_gate_choose(g, the_last, &asked);
  GateState s;
  g_autofree char *text = finish(g, &s);
  expect_str(text, "0 thread 2\n0 thread 1\n0 thread 0");
  expect_int(asked, >=, 2);
}

static void sockets(void) {
  prints("writes", "1000 written 1048576\n1000 received 1048576\n3000 timeout -1 1\n3000 at once -1 1");
}
/* 0, 1, 2 are its own; what the gate has stands above all that a program uses, and is not to be closed. */
static void descriptors(void) {
  g_autofree char *text = output("calls", "descriptors", GATE_CLOCK_OWN, 1);
  expect_str(text, "0 first 3\n0 lines 1\n5 nap");
}

/* timerfd_create(2): what is read is how often it has expired, an edge comes once until then, a child and a copy share
 * it, arming anew forgets. */
static void timers(void) {
  both_print("ready", "periods",
             "1000 poll 1\n2125 read 3\n2125 left 375 500\n2500 read 1\n2750 read 1\n2750 left 0 0\n3750 poll 0");
  both_print("ready", "edges", "0 read -1 1\n100 epoll 1\n550 epoll 0\n550 read 5\n600 epoll 1");
  both_print("ready", "moments",
             "100 left 300 0\n400 poll 1\n400 read 2\n400 left 250 300\n750 was 200 300\n750 poll 0\n750 left 0 0\n"
             "3750 poll 0");
  both_print("ready", "shares",
             "1000 read 1\n1250 read 1\n1750 poll 1\n1750 read 1\n1750 left 500 500\n1750 closed -1 1");
  both_print("ready", "refusals", "0 create -1 1 -1 1\n0 settime -1 1 -1 1\n0 no timer -1 1 -1 1");
}
static void events(void) {
  both_print("ready", "events", "1000 eventfd_write 0\n1000 eventfd_read 0 7\n1500 poll 0");
  both_print("ready", "signals", "1000 poll 0\n2000 signal 14\n2500 signal 17");
}
static void files(void) {
  both_print("ready", "locks", "0 at once -1\n1000 flock 0\n2000 fcntl 0");
  both_print("ready", "closes", "0 next 1\n200 poll 0\n205 nap");
}

/* The same from the same seed; another from another, and in each process. */
static void randoms(void) {
  g_autofree char *a = output("calls", "randoms", GATE_CLOCK_OWN, 7),
                  *b = output("calls", "randoms", GATE_CLOCK_OWN, 7),
                  *c = output("calls", "randoms", GATE_CLOCK_OWN, 8);
  expect_str(a, b);
  expect(strcmp(a, c) != 0);
  g_auto(GStrv) lines = g_strsplit(a, "\n", -1), words = g_strsplit_set(a, " \n", -1);
  expect_int(g_strv_length(lines), ==, 3);
  guint n = g_strv_length(words), equal = 0;
  for (guint i = 0; i < n; i++)
    for (guint k = i + 1; k < n; k++) equal += strlen(words[i]) == 8 && strcmp(words[i], words[k]) == 0;
  expect_int(equal, ==, 0); /* of 15 numbers of 32 bits no two are alike */
  /* Nor does one child have the bytes that the next one has, a byte later: theirs are no parts of one stream. */
  guint64 first = 0, second = 0;
  int both = n > 20 ? sscanf(lines[1], "%*d child %*x %*x %" G_GINT64_MODIFIER "x", &first) +
                          sscanf(lines[2], "%*d child %*x %*x %" G_GINT64_MODIFIER "x", &second)
                    : 0;
  expect_int(both, ==, 2);
  expect_int(first >> 8, !=, second & 0xffffff);
}

/* ---- what is wrong ---- */

static void stuck(void) {
  GateConfig c = {.user = "nobody", .library = GATE_LIBRARY, .patience_ms = 200};
  g_autoptr(LiveGate) g = live_gate_new(&c, NULL);
  const char *argv[] = {"/bin/sh", "-c", "mkfifo f; read x <f", NULL};
  g_assert(g && live_gate_start(g, 0, argv, NULL, NULL));
  GateState s = live_gate_settle(g);
  expect_int(s, ==, GATE_STUCK);
  g_autofree char *words = s == GATE_STUCK ? live_gate_words(g, s) : g_strdup("");
  expect(g_str_has_prefix(words, "is stuck in openat, "));
}

static void is_gone(const char *dir) {
  expect(!g_file_test(dir, G_FILE_TEST_EXISTS));
}
/* A pooler can be killed and started again; at the end there is nothing. */
static void again(void) {
  LiveGate *g = start("calls", "children", GATE_CLOCK_OWN, 1);
  g_autofree char *dir = g_strdup(live_gate_dir(g, 0)), *program = g_build_filename(dir, "calls", NULL);
  expect_int(live_gate_settle(g), ==, GATE_QUIET);
  expect_int(live_gate_processes(g), ==, 4);
  expect_int(live_gate_lines(g), ==, 4);
  live_gate_kill(g, 0);
  expect_int(live_gate_processes(g), ==, 0);
  const char *argv[] = {program, "order", NULL};
  expect(live_gate_start(g, 0, argv, NULL, NULL));
  GateState s;
  g_autofree char *text = finish(g, &s);
  expect_str(text, "0 thread 0\n0 thread 1\n0 thread 2");
  live_gate_free(g);
  is_gone(dir);
}

/* ---- programs that cannot be gated, by their files ---- */

/* A copy of calls in which `from` stands as `to`, of the same length. */
static const char *why_with(const char *from, const char *to) {
  g_autofree char *bytes = NULL, *path = NULL;
  gsize n;
  bool ok = g_file_get_contents(POOLERS "/calls", &bytes, &n, NULL);
  g_assert(ok);
  for (gsize i = 0; i + strlen(from) <= n; i++)
    if (memcmp(bytes + i, from, strlen(from)) == 0) memcpy(bytes + i, to, strlen(to));
  int fd = g_file_open_tmp("stampede-elf-XXXXXX", &path, NULL);
  g_assert(fd >= 0);
  close(fd);
  ok = g_file_set_contents(path, bytes, (gssize)n, NULL);
  g_assert(ok);
  const char *why = gate_why_not(path);
  unlink(path);
  return why;
}

static void programs(void) {
  expect_str(gate_why_not(POOLERS "/calls"), NULL);
  expect_str(gate_why_not(POOLERS "/tiny-static"), "is linked statically");
  expect_str(gate_why_not("tests/run.sh"), NULL);
  expect_str(gate_why_not("/no/such/program"), NULL);
  expect_str(why_with(".note.ABI-tag", ".go.buildinfo"), "is a Go program");
  expect_str(why_with("fdopen", "fdopen"), NULL);
  expect_str(why_with("pthread_rwlock_unlock", "liburing.so.2"), "uses io_uring");
  expect_str(why_with("\177ELF\2", "\177ELF\1"), "is for another machine");
}

int main(void) {
  return suite_run("gate", (const Case[]){{"sleeps", sleeps},
                                          {"timeouts", timeouts},
                                          {"signals", signals},
                                          {"processes", processes},
                                          {"executes", executes},
                                          {"threads", threads},
                                          {"the driver chooses who goes on", chosen_order},
                                          {"sockets", sockets},
                                          {"descriptors", descriptors},
                                          {"timers", timers},
                                          {"events and signals", events},
                                          {"locks on files, closing", files},
                                          {"what is random", randoms},
                                          {"stuck", stuck},
                                          {"killed and started again", again},
                                          {"programs that cannot be gated", programs},
                                          {0}});
}
