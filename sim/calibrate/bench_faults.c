/* bench_faults.c - page faults on shared anonymous memory, as a backend meets them: the parent has filled the pages,
 * the child is forked with none of them mapped, and times its own first touches. */
#include "sim/calibrate/bench.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WINDOW = 65536, TABLE = 2 << 20, PAGES = 1024, APART = 32, HUGE_PAGES = 4, FAULT_SAMPLES = 15 };

typedef struct {
  FaultKind kind;
  char *memory;
  gsize bytes, step; /* touched: every step bytes */
  struct Told {
    double ns;
    int64_t faults;
  } * told; /* shared with the child */
} Faults;

static double now(void) {
  SampleClock c = sample_clock_real();
  return (double)c.now_ns(c.data);
}

static void touch(const Faults *f, bool load) {
  for (gsize at = 0; at < f->bytes; at += f->step) {
    volatile char *p = f->memory + at;
    if (load)
      (void)*p;
    else
      *p = 1;
  }
}

static void in_child(const Faults *f) {
  struct rusage before, after;
  bool unmap = f->kind == FAULTS_UNMAP, load = f->kind == FAULTS_LOAD || f->kind == FAULTS_LOAD_ALONE;
  if (unmap) touch(f, false);
  getrusage(RUSAGE_SELF, &before);
  double from = now();
  if (unmap)
    munmap(f->memory, f->bytes);
  else
    touch(f, load);
  f->told->ns = now() - from;
  getrusage(RUSAGE_SELF, &after);
  f->told->faults = after.ru_minflt - before.ru_minflt;
  _exit(0);
}

static double one_child(void *data) {
  const Faults *f = data;
  pid_t child = fork();
  if (child == 0) in_child(f);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return -1;
  return f->told->ns;
}

static bool open_memory(Faults *f) {
  const gsize apart = f->kind == FAULTS_APART ? TABLE : f->kind == FAULTS_LOAD_ALONE ? WINDOW : PAGE;
  const int huge = f->kind == FAULTS_HUGE ? MAP_HUGETLB : 0;
  f->step = huge ? TABLE : apart;
  f->bytes = huge ? (gsize)HUGE_PAGES * TABLE : f->kind == FAULTS_APART ? (gsize)APART * TABLE : (gsize)PAGES * PAGE;
  if (f->kind == FAULTS_LOAD_ALONE) f->bytes = (gsize)PAGES / 4 * WINDOW;
  f->memory = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | huge, -1, 0);
  f->told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (f->memory == MAP_FAILED || f->told == MAP_FAILED) return false;
  touch(f, false);
  return true;
}

static void close_memory(const Faults *f) {
  if (f->memory != MAP_FAILED) munmap(f->memory, f->bytes);
  if (f->told != MAP_FAILED) munmap(f->told, PAGE);
}

SampleStats bench_faults(FaultKind kind) {
  Faults f = {.kind = kind};
  SampleStats s = {0};
  if (open_memory(&f)) s = sample_told(FAULT_SAMPLES, one_child, &f, (double)f.bytes / (double)f.step);
  close_memory(&f);
  return s;
}

/* Both sides are kept open together. */
static SampleStats difference(FaultKind more, double more_units, FaultKind less, double less_units, double units) {
  Faults a = {.kind = more}, b = {.kind = less};
  bool ok = open_memory(&a);
  ok = open_memory(&b) && ok;
  SampleStats s = {0};
  if (ok)
    s = sample_difference(FAULT_SAMPLES, one_child, (SampleSide){&a, more_units}, (SampleSide){&b, less_units}, units);
  close_memory(&a);
  close_memory(&b);
  return s;
}

/* A window of loads is one fault and the neighbours it maps. */
SampleStats bench_around(int64_t window) {
  if (window < 2) return (SampleStats){0};
  return difference(FAULTS_LOAD, (double)PAGES / (double)window, FAULTS_LOAD_ALONE, PAGES / 4.0, (double)(window - 1));
}

SampleStats bench_table(void) {
  return difference(FAULTS_APART, APART, FAULTS_STORE, PAGES, 1);
}

/* 1024 pages by faults: the power of two nearest to it, since what else the child does faults once or twice too. */
static int64_t window_of(int64_t faults) {
  int64_t window = 1;
  while (window * 2 * faults <= PAGES + PAGES / 4) window *= 2;
  return window;
}

int64_t bench_fault_around(void) {
  Faults f = {.kind = FAULTS_LOAD};
  int64_t window = 0;
  if (open_memory(&f) && one_child(&f) >= 0 && f.told->faults > 0) window = window_of(f.told->faults);
  close_memory(&f);
  return window;
}
