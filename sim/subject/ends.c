/* ends.c - what a subject may ask (stampede_subject.h): time, who runs, its end; and what ends it although it did not
 * ask. */
#include "sim/subject/runtime.h"
#include "sim/subject/visible.h"

enum { SPIN_NS = 1000 /* a round of spinning, as SPIN_DELAY and a look cost when the holder runs elsewhere */ };

void stm_spin(void) {
  subject_spin(PC);
}
void subject_spin(const void *pc) {
  Subject *s = subject_asked(pc);
  if (s->alone) subject_broken(pc, "endless: spins while nobody else is there");
  if (s->interleave) return interleave_spin(pc);
  subject_settle();
  s->spins++;
  s->spun_at = pc;
  s->running->round = subject_stack_state();
  subject_stop(step_sleep(SPIN_NS));
}

void stm_sleep_us(int64_t us) {
  Subject *s = subject_goes_on(PC);
  if (s->interleave || s->alone || us <= 0) return;
  subject_settle();
  subject_stop(step_sleep(us > NS_NEVER / 1000 ? NS_NEVER : us * 1000));
}

int64_t stm_now_us(void) {
  return world_ledger_time(subject_goes_on(PC)->w) / 1000;
}
int stm_self(void) {
  return subject_asked(PC)->running->pid;
}
int stm_getpid(void);
int stm_getpid(void) {
  return subject_asked(PC)->running->pid;
}

void stm_exit(const char *why) {
  Proc *p = subject_running()->running;
  g_free(p->words);
  p->words = why ? visible_text(why) : NULL;
  subject_end(SUBJECT_EXITED);
}

void stm_panic(const char *why) {
  subject_broken(PC, "PANIC: %s", why ? why : "");
}

/* What a generated trap calls. */
_Noreturn void stm_trap(const char *symbol, const void *caller);
void stm_trap(const char *symbol, const void *caller) {
  if (subject_here) subject_here->trapped = true;
  subject_broken(caller, "%s is called, which nothing models; give it in the manifest's glue, or leave it out", symbol);
}

/* A jump would leave calls whose locks, waits and stack the simulator has; setjmp alone does no harm. */
#define JUMP(name)                                                                                                     \
  _Noreturn void stm_##name(void *to, int value);                                                                      \
  void stm_##name(void *to, int value) {                                                                               \
    (void)to, (void)value;                                                                                             \
    subject_broken(PC, #name " is called; stm_exit ends a process");                                                   \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

_Noreturn void stm_abort(void);
void stm_abort(void) {
  subject_broken(PC, "abort is called");
}
/* What a compiler's stack protector and libc's checked functions call. */
_Noreturn void stm___stack_chk_fail(void);
void stm___stack_chk_fail(void) {
  subject_broken(PC, "its stack is overwritten (the stack protector's check)");
}
_Noreturn void stm___chk_fail(void);
void stm___chk_fail(void) {
  subject_broken(PC, "a buffer is too small for what is written there (_FORTIFY_SOURCE's check)");
}
int stm_raise(int signal);
int stm_raise(int signal) {
  subject_broken(PC, "raise is called, with signal %d", signal);
}
_Noreturn void stm___assert_fail(const char *what, const char *file, unsigned line, const char *function);
void stm___assert_fail(const char *what, const char *file, unsigned line, const char *function) {
  (void)file, (void)line, (void)function;
  subject_broken(PC, "PANIC: assertion failed: %s", what);
}
