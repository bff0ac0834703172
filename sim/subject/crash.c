/* crash.c - a signal that the subject's code provokes becomes a fault of it (subject.h): the handler lets the code go
 * on in a function that stops for good, on the same stack, whose driver then tells what happened and where. In a
 * library that the code has called it is the code's too, at its nearest frame: it is what gave the arguments. A signal
 * from anywhere else keeps its meaning.
 *
 * SIGTERM and SIGINT of the tool are heard twice a second, in a loop that makes neither an access nor a stop too: where
 * the code itself runs it is ended as by a crash, elsewhere at its next access or call of the runtime (limits.c).
 *
 * An endless loop that touches no shared memory is seen by a clock: the same call, on the CPU, without an access or a
 * stop for ENDLESS_S seconds. */
#include "sim/cli.h"
#include "sim/subject/runtime.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { HANDLER_STACK = 64 << 10, ENDLESS_S = 3, HEAR_US = 500000, NOWHERE = 4096 /* no code lies below */ };

static const struct {
  int number;
  const char *words;
} signals[] = {{SIGSEGV, "segmentation fault"},
               {SIGBUS, "bus error"},
               {SIGFPE, "arithmetic fault"},
               {SIGILL, "illegal instruction"},
               {SIGTRAP, "trap instruction"}};

static struct {
  char words[112];
  const void *pc;
  volatile bool unwinding;
} crash;
static struct {
  uint64_t stops;
  int64_t left;
  int seconds;
} watch;

static _Noreturn void land(void) {
  subject_broken(crash.pc, "%s", crash.words);
}

static const void *pc_of(const ucontext_t *c) {
#if defined __x86_64__
  return (const void *)c->uc_mcontext.gregs[REG_RIP];
#else
  return (const void *)c->uc_mcontext.pc;
#endif
}

static const char *sp_of(const ucontext_t *c) {
#if defined __x86_64__
  return (const char *)(uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#else
  return (const char *)(uintptr_t)c->uc_mcontext.sp;
#endif
}

/* The frames below the call's first are given up: the stack may be what has run out. */
static void go_on_landing(ucontext_t *c, const Proc *p) {
#if defined __x86_64__
  c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
  c->uc_mcontext.gregs[REG_RSP] = (greg_t)((((uintptr_t)p->first_frame - 2048) & ~(uintptr_t)15) - 8);
#else
  c->uc_mcontext.pc = (uintptr_t)land;
  c->uc_mcontext.sp = ((uintptr_t)p->first_frame - 2048) & ~(uintptr_t)15;
#endif
}

static bool in_subject(const void *pc) {
  ImageRange code = image_code(subject_here->image);
  return (const char *)pc >= code.start && (const char *)pc < code.start + code.bytes;
}

extern const char __executable_start[], etext[]; /* the linker's: this program's code */

/* On the code's stack, and neither in it nor in this program. */
static bool in_library(const ucontext_t *c) {
  const char *pc = pc_of(c), *sp = sp_of(c), *first = subject_here->running->first_frame;
  bool its_stack = sp < first + 64 && sp > first - SUBJECT_STACK_BYTES - 4096;
  return its_stack && !in_subject(pc) && (pc < __executable_start || pc >= etext);
}

/* The innermost is where it happened. A stack that was overwritten may end the walk in another signal. */
static const void *keep_callers(void) {
  Subject *s = subject_here;
  const void *all[CHAIN_MOST];
  if (s->broken || s->fault) return NULL;
  crash.unwinding = true;
  guint n = subject_chain(NULL, all, CHAIN_MOST);
  crash.unwinding = false;
  s->n_broken_by = n ? n - 1 : 0;
  for (guint i = 1; i < n; i++) s->broken_by[i - 1] = all[i];
  return n ? all[0] : NULL;
}

/* Of a call whose function is nowhere: it has not run, so that its return address stands where the call put it. */
static const void *caller_of_nowhere(const ucontext_t *c) {
#if defined __x86_64__
  const void *from = *(const void *const *)(const void *)sp_of(c);
#else
  const void *from = (const void *)c->uc_mcontext.regs[30];
#endif
  return in_subject(from) ? from : NULL;
}

/* As a return address is: behind what was done. A trap stands there already. */
static void become_fault(int number, const char *words, ucontext_t *c) {
  const char *pc = pc_of(c);
  bool outside = !subject_here->entered_from && !in_subject(pc); /* in a library, or a hook that found no stack left */
  bool library = outside && in_library(c), nowhere = library && (uintptr_t)pc < NOWHERE;
  const char *where = nowhere ? ": NULL is called" : library ? " in a library function" : "";
  g_snprintf(crash.words, sizeof crash.words, "%s%s", words, where);
  const void *nearest = keep_callers();
  if (nowhere) nearest = caller_of_nowhere(c);
  crash.pc = in_subject(pc) ? pc + (number != SIGTRAP) : outside ? nearest : subject_here->entered_from;
  go_on_landing(c, subject_here->running);
}

/* The stack's guard page, and what a large frame may jump over beyond it. */
static bool out_of_stack(int number, const siginfo_t *info) {
  const char *first = subject_here->running->first_frame, *at = info->si_addr;
  return number == SIGSEGV && at < first - SUBJECT_STACK_BYTES + 4096 && at > first - 2 * SUBJECT_STACK_BYTES;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  const Subject *s = subject_here;
  bool runs = s && s->running && s->running->first_frame;
  if (runs && crash.unwinding) {
    crash.unwinding = false;
    g_strlcat(crash.words, "; its stack cannot be read any more", sizeof crash.words);
    go_on_landing(context, s->running);
    return;
  }
  bool full = runs && out_of_stack(number, info);
  bool its =
      runs && (in_subject(pc_of(context)) || full || (number != SIGTRAP && (s->entered_from || in_library(context))));
  if (!its) { /* a trap elsewhere is GLib's, and a fault of ours */
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  const char *words = full ? "out of stack (64 KiB)" : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(signals) && !words; i++)
    if (signals[i].number == number) words = signals[i].words;
  become_fault(number, words, context);
}

/* Where it can be ended: in its own code, or in what libc does for it. */
static bool in_its_hands(const ucontext_t *c) {
  return in_subject(pc_of(c)) || subject_here->entered_from;
}

/* A search asks between operations itself; each of them ends. */
static void on_tick(int number, siginfo_t *info, void *context) {
  (void)info;
  const Subject *s = subject_here;
  if (!cli_is_interrupted() || !s || !s->running || !s->running->first_frame || s->interleave) return;
  hooks_set_left(s->left_before);
  if (in_its_hands(context)) return become_fault(number, "interrupted", context);
  hooks_set_left(s->running->asks_left = -1);
}

static void on_clock(int number, siginfo_t *info, void *context) {
  (void)info;
  const Subject *s = subject_here;
  bool same = s && s->running && s->running->first_frame && s->stops == watch.stops && hooks_left() == watch.left;
  watch.seconds = same ? watch.seconds + 1 : 0;
  watch.stops = s ? s->stops : 0;
  watch.left = hooks_left();
  if (same && watch.seconds >= ENDLESS_S && in_its_hands(context))
    become_fault(number, "endless: three seconds of CPU in one call, and no access to shared memory", context);
}

/* The dynamic linker may have its locks: nothing but the end. */
static void on_early_signal(int number) {
  fprintf(stderr,
          "stampede: loading the subject ends in signal %d (%s): by a constructor of its, or the file is broken\n",
          number, strsignal(number));
  _exit(EXIT_INPUT);
}

void subject_watch_loading(bool on) {
  static struct sigaction before[G_N_ELEMENTS(signals)];
  const struct sigaction early = {.sa_handler = on_early_signal};
  for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
    sigaction(signals[i].number, on ? &early : &before[i], on ? &before[i] : NULL);
}

void subject_watch_crashes(void) {
  static bool watched;
  if (watched) return;
  watched = true;
  stack_t stack = {.ss_size = HANDLER_STACK};
  stack.ss_sp = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0) g_error("no stack for signals");
  struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  for (guint i = 0; i < G_N_ELEMENTS(signals); i++) sigaction(signals[i].number, &a, NULL);
  struct sigaction t = {.sa_sigaction = on_clock, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigaction(SIGVTALRM, &t, NULL);
  t.sa_sigaction = on_tick;
  sigaction(SIGALRM, &t, NULL);
  struct itimerval hear = {{0, HEAR_US}, {0, HEAR_US}};
  setitimer(ITIMER_REAL, &hear, NULL);
  struct itimerval each = {{1, 0}, {1, 0}};
  setitimer(ITIMER_VIRTUAL, &each, NULL);
}
