/* schedules_workers.c - see schedules_workers.h. */
#include "checks/schedules_workers.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS_MOST = 64, LOST = 4 /* the tool's status where the environment failed */ };

typedef struct {
  pid_t pid;
  int to, from;
  bool busy;
} Worker;

struct Workers {
  Worker workers[WORKERS_MOST];
  guint n;
};

/* ---- whole messages: their length, then they ---- */

static _Noreturn void lost(void) {
  fprintf(stderr, "stampede: a process that searched with this one is gone\n");
  exit(LOST);
}

static bool write_all(int fd, const void *from, gsize bytes) {
  for (const char *at = from; bytes;) {
    ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= (gsize)n;
  }
  return true;
}

static bool read_all(int fd, void *to, gsize bytes) {
  for (char *at = to; bytes;) {
    ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= (gsize)n;
  }
  return true;
}

static bool send_message(int fd, const GByteArray *m) {
  guint32 bytes = m->len;
  return write_all(fd, &bytes, sizeof bytes) && write_all(fd, m->data, bytes);
}

static bool receive(int fd, GByteArray *m) {
  guint32 bytes;
  if (!read_all(fd, &bytes, sizeof bytes)) return false;
  g_byte_array_set_size(m, bytes);
  return read_all(fd, m->data, bytes);
}

/* ---- a worker ---- */

static _Noreturn void work_on(int in, int out, WorkersDo work, void *data) {
  GByteArray *task = g_byte_array_new(), *answer = g_byte_array_new();
  while (receive(in, task)) {
    g_byte_array_set_size(answer, 0);
    work(data, task, answer);
    if (!send_message(out, answer)) break;
  }
  _exit(0); /* what this process has open is its parent's */
}

static bool hire(Workers *c, WorkersDo work, void *data) {
  int to[2], from[2];
  pid_t parent = getpid();
  if (pipe(to) != 0) return false;
  if (pipe(from) != 0) return close(to[0]), close(to[1]), false;
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (guint i = 0; i < c->n; i++) close(c->workers[i].to), close(c->workers[i].from);
    close(to[1]), close(from[0]);
    work_on(to[0], from[1], work, data);
  }
  close(to[0]), close(from[1]);
  if (pid < 0) return close(to[1]), close(from[0]), false;
  c->workers[c->n++] = (Worker){pid, to[1], from[0], false};
  return true;
}

/* ---- all of them ---- */

Workers *workers_new(guint workers, WorkersDo work, void *data) {
  Workers *c = g_new0(Workers, 1);
  fflush(NULL);
  while (c->n < MIN(workers, WORKERS_MOST) && hire(c, work, data)) {
  }
  if (!c->n) g_clear_pointer(&c, g_free);
  return c;
}

double workers_end(Workers *c) {
  double seconds = 0;
  for (guint i = 0; i < c->n; i++) {
    struct rusage use;
    kill(c->workers[i].pid, SIGKILL); /* it may be at work on what nobody wants any more */
    while (wait4(c->workers[i].pid, NULL, 0, &use) < 0 && errno == EINTR) {
    }
    seconds += (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6;
    close(c->workers[i].to);
    close(c->workers[i].from);
  }
  c->n = 0;
  return seconds;
}

void workers_free(Workers *c) {
  if (!c) return;
  workers_end(c);
  g_free(c);
}

int workers_idle(const Workers *c) {
  for (guint i = 0; i < c->n; i++)
    if (!c->workers[i].busy) return (int)i;
  return -1;
}

guint workers_busy(const Workers *c) {
  guint n = 0;
  for (guint i = 0; i < c->n; i++) n += c->workers[i].busy;
  return n;
}

void workers_send(Workers *c, int worker, const GByteArray *work) {
  Worker *w = &c->workers[worker];
  g_assert(!w->busy);
  w->busy = true;
  if (!send_message(w->to, work)) lost();
}

int workers_wait(Workers *c, GByteArray *answer) {
  struct pollfd fds[WORKERS_MOST];
  g_assert(workers_busy(c) > 0);
  for (guint i = 0; i < c->n; i++) fds[i] = (struct pollfd){c->workers[i].busy ? c->workers[i].from : -1, POLLIN, 0};
  while (poll(fds, c->n, -1) < 0 && errno == EINTR) {
  }
  for (guint i = 0; i < c->n; i++) {
    if (!c->workers[i].busy || !fds[i].revents) continue;
    if (!receive(c->workers[i].from, answer)) lost();
    c->workers[i].busy = false;
    return (int)i;
  }
  return workers_wait(c, answer); /* a signal came */
}

/* ---- what goes to and fro ---- */

void message_put(GByteArray *out, const void *from, gsize bytes) {
  g_byte_array_append(out, from, (guint)bytes);
}
void message_take(MessageReader *r, void *to, gsize bytes) {
  g_assert((gsize)(r->end - r->at) >= bytes);
  if (bytes) memcpy(to, r->at, bytes);
  r->at += bytes;
}

static void put_finding(GByteArray *out, const ScheduleFinding *f) {
  guint32 sizes[3] = {(guint32)strlen(f->words), f->order->len, f->preemptions};
  message_put(out, sizes, sizeof sizes);
  message_put(out, f->words, sizes[0]);
  message_put(out, f->order->data, sizes[1] * sizeof(guint));
}

static ScheduleFinding *take_finding(MessageReader *r) {
  guint32 sizes[3];
  message_take(r, sizes, sizeof sizes);
  g_autofree char *words = g_strndup((const char *)r->at, sizes[0]);
  r->at += sizes[0];
  ScheduleFinding *f = schedule_finding_new(words, sizes[2]);
  g_array_set_size(f->order, sizes[1]);
  message_take(r, f->order->data, sizes[1] * sizeof(guint));
  return f;
}

static void put_race(GByteArray *out, const ScheduleRace *r) {
  const guint32 steps = r->order->len;
  message_put(out, r, sizeof *r); /* where code is is the same in all workers; the order comes behind */
  message_put(out, &steps, sizeof steps);
  message_put(out, r->order->data, r->order->len * sizeof(guint));
}

static ScheduleRace *take_race(MessageReader *r) {
  ScheduleRace *race = g_new(ScheduleRace, 1);
  guint32 steps;
  message_take(r, race, sizeof *race);
  message_take(r, &steps, sizeof steps);
  race->order = g_array_new(FALSE, FALSE, sizeof(guint));
  g_array_set_size(race->order, steps);
  message_take(r, race->order->data, steps * sizeof(guint));
  return race;
}

void message_put_result(GByteArray *out, const ScheduleProgram *p, const SchedulesResult *r) {
  guint64 counts[] = {r->schedules,
                      r->redundant,
                      r->cut,
                      r->bounded,
                      r->steps,
                      r->longest,
                      r->findings->len,
                      (guint64)(uintptr_t)r->cut_at,
                      r->cut_in,
                      r->races->len,
                      (guint64)(uintptr_t)r->counted_at,
                      r->counted_in};
  g_autoptr(GByteArray) told = g_byte_array_new();
  message_put(out, counts, sizeof counts);
  for (guint i = 0; i < r->findings->len; i++) put_finding(out, r->findings->pdata[i]);
  for (guint i = 0; i < r->races->len; i++) put_race(out, r->races->pdata[i]);
  coverage_put(&r->coverage, out);
  if (p->tell) p->tell(p->data, told);
  message_put(out, &(guint32){told->len}, sizeof(guint32));
  message_put(out, told->data, told->len);
}

SchedulesResult *message_take_result(MessageReader *r, GByteArray *told) {
  SchedulesResult *part = schedules_result_new();
  guint64 c[12];
  guint32 bytes;
  message_take(r, c, sizeof c);
  part->schedules = c[0], part->redundant = c[1], part->cut = c[2], part->bounded = c[3], part->steps = c[4];
  part->longest = (guint)c[5];
  part->cut_at = (const void *)(uintptr_t)c[7]; /* where a subject's code is is the same in all workers */
  part->cut_in = (guint)c[8];
  part->counted_at = (const void *)(uintptr_t)c[10];
  part->counted_in = (guint)c[11];
  for (guint64 i = 0; i < c[6]; i++) g_ptr_array_add(part->findings, take_finding(r));
  for (guint64 i = 0; i < c[9]; i++) g_ptr_array_add(part->races, take_race(r));
  coverage_take(&part->coverage, &r->at);
  message_take(r, &bytes, sizeof bytes);
  g_byte_array_append(told, r->at, bytes);
  r->at += bytes;
  return part;
}

void schedules_add(SchedulesResult *all, SchedulesResult *part) {
  all->schedules += part->schedules;
  all->redundant += part->redundant;
  if (!all->cut) all->cut_at = part->cut_at, all->cut_in = part->cut_in;
  all->cut += part->cut;
  if (!all->counted_at) all->counted_at = part->counted_at, all->counted_in = part->counted_in;
  all->bounded += part->bounded;
  all->steps += part->steps;
  g_autoptr(GByteArray) covered = g_byte_array_new();
  coverage_put(&part->coverage, covered);
  const guint8 *at = covered->data;
  coverage_take(&all->coverage, &at);
  schedules_races_add(all, part);
  all->longest = MAX(all->longest, part->longest);
  while (part->findings->len) {
    ScheduleFinding *f = g_ptr_array_steal_index(part->findings, 0);
    if (schedules_known(all, f->words))
      schedule_finding_free(f);
    else
      g_ptr_array_add(all->findings, f);
  }
}
