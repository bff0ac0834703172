/* test_coro.c - control passes to and fro, kept registers and stacks survive it, a stack ends at its guard page.
 * test_coro_ucontext.c runs the same suite over the ucontext way. */
#include "model/world/coro.h"
#include "tests/harness.h"
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static void count_to_three(Coro *self, void *arg) {
  int *n = arg;
  for (int i = 0; i < 3; i++) {
    ++*n;
    coro_yield(self);
  }
  *n = 100;
}

static void yields_and_ends(void) {
  int n = 0;
  g_autoptr(Coro) c = coro_new(count_to_three, &n, 0);
  expect_int(n, ==, 0);
  for (int i = 1; i <= 3; i++) {
    expect(coro_resume(c));
    expect_int(n, ==, i);
  }
  expect(!coro_ended(c));
  expect(!coro_resume(c));
  expect_int(n, ==, 100);
  expect(coro_ended(c));
}

typedef struct {
  uint64_t seed, sum;
  int rounds, depth;
} Work;

/* More live values than there are registers, integers and doubles, across a switch inside nested calls. */
static uint64_t churn(Coro *self, uint64_t x, int depth) {
  uint64_t a = x * 3, b = x ^ 5, c = x + 7, d = x * x, e = ~x, f = x << 3, g = x >> 2, h = x * 11;
  double p = (double)(x % 1000) + 0.5, q = p * 2, r = p * 4, s = p * 8;
  char block[200];
  memset(block, (int)(x & 0x7f), sizeof block);
  if (depth > 0) a += churn(self, x + 1, depth - 1);
  coro_yield(self);
  for (guint i = 0; i < sizeof block; i++) g_assert(block[i] == (char)(x & 0x7f));
  return a + b + c + d + e + f + g + h + (uint64_t)(p + q + r + s);
}

static void work(Coro *self, void *arg) {
  Work *w = arg;
  for (int i = 0; i < w->rounds; i++) w->sum = w->sum * 31 + churn(self, w->seed + (uint64_t)i, w->depth);
}

/* A hundred coroutines in turns give what each gives alone. */
static void registers_and_stacks_survive(void) {
  enum { N = 100 };
  Work alone[N], together[N];
  Coro *c[N];
  for (int i = 0; i < N; i++) {
    alone[i] = together[i] = (Work){.seed = (uint64_t)i * 977, .rounds = 5 + i % 7, .depth = i % 5};
    g_autoptr(Coro) one = coro_new(work, &alone[i], 0);
    while (coro_resume(one)) {
    }
    c[i] = coro_new(work, &together[i], (gsize)(i % 3) * 8192 + 8192);
  }
  for (int live = N; live > 0;) {
    live = 0;
    for (int i = 0; i < N; i++)
      if (!coro_ended(c[i])) live += coro_resume(c[i]);
  }
  for (int i = 0; i < N; i++) {
    expect(together[i].sum == alone[i].sum);
    coro_free(c[i]);
  }
}

typedef struct {
  Coro *inner;
  GString *log;
} Nest;

static void inner(Coro *self, void *arg) {
  g_string_append(arg, "i1 ");
  coro_yield(self);
  g_string_append(arg, "i2 ");
}

static void outer(Coro *self, void *arg) {
  Nest *n = arg;
  g_string_append(n->log, "o1 ");
  coro_resume(n->inner);
  g_string_append(n->log, "o2 ");
  coro_yield(self);
  coro_resume(n->inner);
  g_string_append(n->log, "o3 ");
}

static void nests(void) {
  g_autoptr(GString) log = g_string_new(NULL);
  g_autoptr(Coro) in = coro_new(inner, log, 0);
  Nest n = {in, log};
  g_autoptr(Coro) out = coro_new(outer, &n, 0);
  expect(coro_resume(out));
  g_string_append(log, "m ");
  expect(!coro_resume(out));
  expect_str(log->str, "o1 i1 o2 m i2 o3 ");
}

/* Started inside one coroutine, gone on with from outside it. */
static void migrates_between_callers(void) {
  g_autoptr(GString) log = g_string_new(NULL);
  g_autoptr(Coro) in = coro_new(inner, log, 0);
  Nest n = {in, log};
  g_autoptr(Coro) out = coro_new(outer, &n, 0);
  expect(coro_resume(out));
  expect(!coro_resume(in));
  expect_str(log->str, "o1 i1 o2 i2 ");
}

static void resets_ended_and_dropped(void) {
  int n = 0;
  Work w = {.seed = 5, .rounds = 2, .depth = 4};
  g_autoptr(Coro) c = coro_new(work, &w, 0);
  for (int i = 0; i < 3; i++) coro_resume(c); /* dropped inside nested calls */
  for (int round = 0; round < 3; round++) {
    coro_reset(c, count_to_three, &n);
    expect(!coro_ended(c));
    while (coro_resume(c)) {
    }
    expect_int(n, ==, 100);
    n = 0;
  }
}

static void frees_unfinished(void) {
  for (int i = 0; i < 100; i++) {
    Work w = {.seed = 5, .rounds = 2, .depth = 3};
    g_autoptr(Coro) never = coro_new(work, &w, 0);
    g_autoptr(Coro) begun = coro_new(work, &w, 0);
    expect(never != NULL && coro_resume(begun));
  }
}

/* An aligned store of 16 bytes faults on a stack that starts misaligned; so does printf of a double. */
static void aligned(Coro *self, void *arg) {
  (void)self;
  volatile __attribute__((aligned(16))) char block[32] = {1};
  g_autofree char *text = g_strdup_printf("%.1f", 2.5);
  *(int *)arg = (uintptr_t)block % 16 == 0 && !strcmp(text, "2.5");
}

static void starts_aligned(void) {
  for (int i = 0; i < 20; i++) {
    int ok = 0;
    g_autoptr(Coro) c = coro_new(aligned, &ok, 0);
    coro_resume(c);
    expect(ok);
  }
}

/* A frame of a KiB for each call: all of it written before the call and read after it, so that no compiler makes it
 * smaller or a loop. */
static __attribute__((noinline)) int recurse(int depth) {
  volatile char frame[1024];
  int wrong = 0, below = 0;
  for (guint i = 0; i < sizeof frame; i++) frame[i] = (char)depth;
  if (depth > 0) below = recurse(depth - 1) + 1;
  for (guint i = 0; i < sizeof frame; i++) wrong += frame[i] != (char)depth;
  return below + wrong;
}

static void deep(Coro *self, void *arg) {
  (void)self;
  *(int *)arg = recurse(*(int *)arg);
}

static int run_deep(int kib, size_t stack) {
  int depth = kib;
  g_autoptr(Coro) c = coro_new(deep, &depth, stack);
  coro_resume(c);
  return depth;
}

/* The same between neighbours: without a guard the overflow would find memory there and come back unnoticed. */
static int run_deep_among_others(int kib, size_t stack) {
  Coro *others[16];
  for (int i = 0; i < 8; i++) others[i] = coro_new(deep, NULL, stack);
  int depth = kib;
  Coro *c = coro_new(deep, &depth, stack);
  for (int i = 8; i < 16; i++) others[i] = coro_new(deep, NULL, stack);
  coro_resume(c);
  coro_free(c);
  for (int i = 0; i < 16; i++) coro_free(others[i]);
  return depth;
}

/* The signal that ends a child which recurses `kib` KiB deep on a stack of `stack` bytes; 0: it came back. */
static int ends_by(int kib, size_t stack) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* not a sanitizer's report */
    signal(SIGBUS, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(3);
    _exit(run_deep_among_others(kib, stack) != kib);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void stack_has_its_size_and_a_guard(void) {
  expect_int(run_deep(200, 1 << 20), ==, 200); /* frames may be thrice as big under ASan */
  expect_int(ends_by(20, 64 << 10), ==, 0);
  int by = ends_by(256, 64 << 10);
  expect(by == SIGSEGV || by == SIGBUS);
}

static void refuses_an_impossible_stack(void) {
  expect(coro_new(count_to_three, NULL, SIZE_MAX / 4) == NULL);
}

static void many_at_once(void) {
  enum { N = 8192 };
  g_autofree Coro **c = g_new0(Coro *, N);
  g_autofree int *n = g_new0(int, N);
  for (int i = 0; i < N; i++) g_assert((c[i] = coro_new(count_to_three, &n[i], 16384)) != NULL);
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < N; i++) coro_resume(c[i]);
  int done = 0;
  for (int i = 0; i < N; i++) {
    done += n[i] == 100;
    coro_free(c[i]);
  }
  expect_int(done, ==, N);
}

#ifndef SUITE
#define SUITE "coro"
#endif
int main(void) {
  return suite_run(SUITE, (const Case[]){{"yields and ends", yields_and_ends},
                                         {"registers and stacks survive", registers_and_stacks_survive},
                                         {"nests", nests},
                                         {"migrates between callers", migrates_between_callers},
                                         {"resets ended and dropped", resets_ended_and_dropped},
                                         {"frees unfinished", frees_unfinished},
                                         {"starts aligned", starts_aligned},
                                         {"stack has its size and a guard", stack_has_its_size_and_a_guard},
                                         {"refuses an impossible stack", refuses_an_impossible_stack},
                                         {"many at once", many_at_once},
                                         {0}});
}
