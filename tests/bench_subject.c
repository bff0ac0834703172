/* bench_subject.c - what our hooks cost beside hooks that return at once: the same connects and disconnects of the same
 * code, CPU time of one core. A subject is one a process, so each is measured in a child; they take turns, the best
 * round of each counts, as other work on the machine only ever makes a round slower.
 *
 *   bench_subject [SUBJECT EMPTY VERSION]     the shipped subject; EMPTY: the same with tests/subjects/empty_hooks.c
 *
 * One iteration: N connects, then N disconnects in random order. Measured is the first after the free list has been
 * used up once, so that slots are in random order (FIFO) or have been shuffled (LIFO). `connects` with cache lines
 * counted, as the bundled profiles have it, `plain` without. */
#include "model/world/rng.h"
#include "sim/subject/hooks.h"
#include "sim/subject/pg_subject.h"
#include "sim/subject/subject.h"
#include "tests/pg_sample.h"
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 8192, SLOTS = 16384, WARM_UP = 2, ROUNDS = 3 };

#ifndef SUBJECTS
#define SUBJECTS "build/tests/subjects"
#endif

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
  World *w;
  PgSubject *subject;
  PgShared *shared;
  AddressSpace *spaces[CLIENTS];
  int processes[CLIENTS];
  guint order[CLIENTS];
  Rng random;
} Storm;

static void storm_open(Storm *x, Image *image, int version, bool lines) {
  static const Costs no_costs;
  const MemoryConfig m = {.page_size = 4096, .lines = lines};
  GError *error = NULL;
  PgConfig c = sample_config(version, SLOTS);
  *x = (Storm){.w = world_new(&no_costs, 1 << 20), .subject = pg_subject_new(image, 0)};
  c.code = pg_subject_code(x->subject);
  x->shared = pg_shared_new_in(x->w, &c, &m, &error);
  if (!x->shared) g_error("%s", error->message);
  rng_init(&x->random, 1, "exit order");
  for (guint i = 0; i < CLIENTS; i++) {
    x->spaces[i] = address_space_new(pg_segment(x->shared), i + 1);
    x->order[i] = i;
  }
}

static void call(Storm *x, guint i, PgCall what) {
  const PgCode *code = pg_subject_code(x->subject);
  PgCodeState s = code->at_once(x->subject, x->processes[i], what);
  const char *fault = subject_fault(pg_subject_runtime(x->subject));
  if (fault || s != PGCODE_RETURNED) g_error("the code: %s", fault ? fault : "it ended");
}

static void iterate(Storm *x) {
  const PgCode *code = pg_subject_code(x->subject);
  for (guint i = 0; i < CLIENTS; i++) {
    address_space_reset(x->spaces[i], i + 1);
    x->processes[i] = code->fork(x->subject, x->spaces[i], PG_BACKENDS, 1000 + (int)i);
    call(x, i, PGCALL_INIT_PROCESS);
    call(x, i, PGCALL_JOIN);
  }
  for (guint left = CLIENTS; left; left--) {
    guint k = (guint)rng_below(&x->random, left), who = x->order[k];
    x->order[k] = x->order[left - 1];
    x->order[left - 1] = who;
    call(x, who, PGCALL_LEAVE);
    code->reap(x->subject, x->processes[who]);
  }
}

typedef struct {
  double seconds;
  int64_t faults; /* of all connects: what the two kinds of hooks see */
} Measured;

/* In a child; through the pipe. */
static void measure(const char *file, int version, bool lines, int out) {
  GError *error = NULL;
  Image *image = image_load(file, &error);
  if (!image) g_error("%s", error->message);
  Storm *x = g_new0(Storm, 1);
  storm_open(x, image, version, lines);
  for (int i = 0; i < WARM_UP; i++) iterate(x);
  double start = cpu_seconds();
  iterate(x);
  Measured m = {.seconds = cpu_seconds() - start};
  for (guint i = 0; i < CLIENTS; i++) m.faults += (int64_t)address_space_pages(x->spaces[i]);
  if (write(out, &m, sizeof m) != sizeof m) g_error("a pipe");
  _exit(0);
}

static Measured in_child(const char *file, int version, bool lines) {
  int ends[2], status = 0;
  Measured m = {0};
  if (pipe(ends) != 0) g_error("a pipe");
  pid_t pid = fork();
  if (pid == 0) measure(file, version, lines, ends[1]);
  close(ends[1]);
  bool got = pid > 0 && read(ends[0], &m, sizeof m) == sizeof m;
  close(ends[0]);
  if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0 || !got) g_error("%s: the measurement failed", file);
  return m;
}

static void compare(const char *name, const char *full, const char *empty, int version, bool lines) {
  Measured a = {.seconds = 1e99}, b = {.seconds = 1e99};
  for (int i = 0; i < ROUNDS; i++) {
    Measured x = in_child(full, version, lines), y = in_child(empty, version, lines);
    if (x.seconds < a.seconds) a = x;
    if (y.seconds < b.seconds) b = y;
  }
  g_assert(b.faults * 4 < a.faults); /* empty hooks are where they should be: mem* calls alone are seen */
  printf("{\"bench\":\"subject-hooks\",\"what\":\"%s\",\"clients\":%d,\"pages\":%" G_GINT64_FORMAT
         ",\"cpu_s\":%.3f,\"empty_cpu_s\":%.3f,\"ratio\":%.2f,\"goal_ratio\":1.5}\n",
         name, CLIENTS, a.faults, a.seconds, b.seconds, a.seconds / b.seconds);
}

int main(int argc, char **argv) {
  bool given = argc > 3;
  const char *full = given ? argv[1] : SUBJECTS "/pgmini.so", *empty = given ? argv[2] : SUBJECTS "/pgmini-empty.so";
  int version = given ? atoi(argv[3]) : 15;
  compare("connects", full, empty, version, true);
  compare("plain", full, empty, version, false);
  return 0;
}
