/* signals.c - kill, and who is told: a signal comes to a process by its number, and stays until it looks. Several that
 * came before it looked are one, as a server's handlers only set a flag. In a search through orders a process has a
 * count of its own for them (interleave.c); in time it is made when the first one comes. */
#include "sim/subject/runtime.h"

static Proc *with_pid(const Subject *s, int pid) {
  for (guint i = 0; i < s->procs->len; i++) {
    Proc *p = s->procs->pdata[i];
    if (p && p->pid == pid && p->number != s->looker) return p;
  }
  return NULL;
}

StmSemaphore subject_make_signals(Subject *s, int process, const char *name) {
  Proc *p = s->procs->pdata[process];
  Semaphore of = {.name = g_strdup(name), .signals = true};
  g_assert(!p->signals);
  g_array_append_val(s->semaphores, of);
  return p->signals = s->semaphores->len - 1;
}

static void send(Subject *s, Proc *to, const void *pc) {
  if (s->interleave && !s->alone) return interleave_up(to->signals, pc);
  subject_settle();
  if (!to->signals) subject_make_signals(s, to->number, "signals");
  g_array_index(s->semaphores, Semaphore, to->signals).count = 1;
}

/* Signal 0 only asks whether it is there. One that has ended may still be sent one, as long as nobody has reaped it. */
int stm_kill(int pid, int signal);
int stm_kill(int pid, int signal) {
  const void *pc = PC;
  Proc *to = with_pid(subject_goes_on(pc), pid);
  if (!to) return -1;
  if (signal) send(subject_here, to, pc);
  return 0;
}

bool stm_signalled(void) {
  const void *pc = PC;
  Subject *s = subject_asked(pc);
  StmSemaphore signals = s->running->signals;
  if (!signals) return false;
  if (s->interleave && !s->alone) return interleave_take_all(signals, pc);
  subject_settle();
  Semaphore *m = &g_array_index(s->semaphores, Semaphore, signals);
  bool came = m->count > 0;
  if (came) s->spins = 0;
  m->count = 0;
  return came;
}
