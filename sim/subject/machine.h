/* machine.h - what the files of a subject's processes (machine*.c) share; not for others. */
#pragma once
#include "sim/subject/runtime.h"

Proc *machine_process(const Subject *s, int process); /* it is there */
void machine_free_process(void *process);             /* Proc; NULL is none */
void machine_load(Subject *s, Proc *p);               /* its variables in place */

/* A stack for a call, an idle one if there is; what runs on it is the call that p says. */
Coro *machine_take_stack(Subject *s, Proc *p);
void machine_begin(Proc *p); /* from its stack's beginning */

/* Between the two the code runs: accesses are counted, as p's. */
void machine_enter(Subject *s, Proc *p);
void machine_leave(Subject *s);
void machine_keep_fault(Subject *s); /* on the driver's stack: what broke, with its place, is the subject's fault */
