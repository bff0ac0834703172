/* schedules_judge.h - the checks of a scenario, asked of a subject whose processes go on operation by operation.
 *
 * A check of the subject's own is asked in any state, or at the end. Those of a server's proc array are asked as one
 * sees it who has just got ProcArrayLock, which is who relies on them, and at the end; those of the built-in table that
 * are about all processes (no-deadlock, semaphores-conserved, locks-released, slot-owned-once) at the end. */
#pragma once
#include "sim/result.h"
#include "sim/subject/interleave.h"

typedef struct {
  const Model *model;
  Interleave *code;
  RunResult *run;               /* its checks */
  GPtrArray *broken;            /* of char*: "check: what is broken", since the last judge_forget */
  StmLock array_lock, xid_lock; /* 0: the code has none */
  bool asks_array;
} ScheduleJudge;

/* All of them outlive it. */
void judge_init(ScheduleJudge *j, const Model *model, Interleave *code, RunResult *run);
void judge_clear(ScheduleJudge *j);
void judge_forget(ScheduleJudge *j);
/* Is any to be asked in every state? */
bool judge_looks_at_states(const ScheduleJudge *j);
/* Asks those of every state; `end`: all of them. */
void judge_state(ScheduleJudge *j, bool end);
/* After each operation that a process has done. */
void judge_step(ScheduleJudge *j, const Operation *op, bool failed);
/* It can show nothing of this code, which keeps no such thing or does not say where. */
bool judge_is_blind(const ScheduleJudge *j, const Check *c);
/* The nth of what is broken; NULL: there are fewer. A fault of the code comes first, and alone. Until the next call. */
const char *judge_broken(ScheduleJudge *j, guint nth);
/* What a finding says of the check c: "PANIC: x" of no-panic; NULL: it is about something else. */
const char *judge_words_of(const Check *c, const char *finding);
/* How the finding of a check begins, up to its first colon. */
const char *judge_finding_of(const char *check);
