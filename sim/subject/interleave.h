/* interleave.h - a subject's processes, operation by operation, in whatever order the caller chooses: each stops before
 * every access to shared memory, lock, semaphore and round of spinning. All of it can be put back to its first state,
 * or to where it was some steps before, without system calls, and as often as wanted.
 *
 * Time does not pass and costs nothing. Sequentially consistent, an access is seen by all at once; or in total store
 * order, where each process has a store buffer that is a process itself (interleave_tso.c). A copy of memory
 * (memcpy) is two operations, all its loads and all its stores. The process that waits longest for a lock need not be
 * the next to have it: any may. */
#pragma once
#include "sim/subject/operation.h"
#include "sim/subject/subject.h"

typedef struct Interleave Interleave;

enum { INTERLEAVE_PROCESSES_MAX = 60, INTERLEAVE_BUFFERED_MAX = 30 /* of total store order */ };

/* Calls that a process makes one after the other. NULL ends them. */
typedef struct {
  void (*run)(int64_t argument);
  int64_t argument;
  const char *name;
} InterleaveCall;

/* Of a subject that has been started and has no processes; it outlives this, and is not run otherwise meanwhile. */
Interleave *interleave_new(Subject *s, bool tso);
void interleave_free(Interleave *x);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Interleave, interleave_free)
/* A process; `calls` live on. Returns its number, from 0. */
int interleave_add(Interleave *x, const char *name, const InterleaveCall *calls);

void interleave_restart(Interleave *x);
/* Goes once through all processes, at most so many steps, and restarts. False, with the name of what was then not as it
 * was at first: something stores there that is not instrumented, and says so by no stm_touch. */
bool interleave_comes_back(Interleave *x, guint steps, GString *where);
void interleave_back(Interleave *x, guint steps); /* to what it was after so many steps since the restart */
/* Is a way back wanted? Unless it is, steps are quicker, and going back is a restart and all of them again. */
void interleave_way_back(Interleave *x, bool wanted);
typedef enum { INTERLEAVE_READY, INTERLEAVE_WAITS, INTERLEAVE_ENDED } InterleaveState;
/* What p does next. Whether OPERATION_SPIN waits is left to the caller. */
InterleaveState interleave_pending(const Interleave *x, int p, Operation *out);
/* Does it. *failed: a try did not get what it wanted, a compare-and-exchange found something else; *changed: memory, a
 * lock or a count is not as it was. */
void interleave_step(Interleave *x, int p, bool *failed, bool *changed);
/* What checks have looked at so far, as an operation that reads all of it; the whole of each structure that they looked
 * into. It only grows. */
Operation interleave_watched(const Interleave *x);
void interleave_watch(Interleave *x, const Operation *watched);    /* that too, as another process has seen */
int interleave_count(const Interleave *x, StmSemaphore semaphore); /* in the first state */
int interleave_processes(const Interleave *x);
/* Store buffers: that of process p is interleave_processes + p to pending and step; 0: there are none. */
guint interleave_buffers(const Interleave *x);
bool interleave_over(const Interleave *x); /* all have made their calls, or left by stm_exit; buffers are empty */
bool interleave_ended(const Interleave *x, int p);
int interleave_process(const Interleave *x, int p); /* its number for subject.h */
/* As if no lock of that name were there: who asks for it has it, whoever else has. False and *error
 * (SCENARIO_ERROR_INPUT): there is none of that name; those that there are, and the nearest. */
bool interleave_without(Interleave *x, const char *name, GError **error);
/* May waits that have a limit of time reach it, at any time? Else they never do. */
void interleave_time_runs_out(Interleave *x, bool so);
/* Need a round of spinning wait for nothing? Else it waits until something that the last one read has changed. */
void interleave_spins_on(Interleave *x, bool so);
/* Checks look at all memory when `lock` is taken. Where it is left out, that is an operation that others may notice. */
void interleave_looks_when_taken(Interleave *x, StmLock lock);
StmLock interleave_lock_named(const Interleave *x, const char *name); /* 0: there is none */
bool interleave_is_held(const Interleave *x, StmLock lock);           /* exclusively, by anybody */

/* ---- words: to be freed by the caller ---- */
const char *interleave_name(const Interleave *x, int p);
const char *interleave_call(const Interleave *x, int p); /* the call under way; NULL: none */
char *interleave_at(const Interleave *x, uint64_t at);   /* "PGPROC[3].pid": what is at an address */
/* The same for any element and offset: "PGPROC.pid"; where no type is known, the structure: "proc array". */
char *interleave_variable(const Interleave *x, uint64_t at);
char *interleave_words(const Interleave *x, const Operation *op); /* "reads slot.next (8 bytes)" */
char *interleave_place(const Interleave *x, const Operation *op); /* "leave file.c:12" */
char *interleave_line(const Interleave *x, const Operation *op);  /* "file.c:12"; NULL: not known */
/* Who called the operation's place, the innermost first: "free_slot file.c:30". Of the last step that was made while
 * they were wanted. */
void interleave_want_callers(Interleave *x, bool wanted);
GPtrArray *interleave_callers(const Interleave *x);
char *interleave_held(const Interleave *x, int p); /* "ListLock, GroupLock"; NULL: none */
char *interleave_who_waits(const Interleave *x);   /* of a deadlock */
