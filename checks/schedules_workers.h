/* schedules_workers.h - processes that search parts of a tree of schedules, or draw a few, for one that puts their
 * results together. Forked, as a subject's code is one a process. Each does one thing at a time: it is sent work, and
 * answers.
 */
#pragma once
#include "checks/schedules_parts.h"

typedef struct Workers Workers;

/* Runs `work` in a worker: what it is sent, what it answers. */
typedef void (*WorkersDo)(void *data, const GByteArray *in, GByteArray *out);

/* NULL: no process could be made; what is to be done is done without. */
Workers *workers_new(guint workers, WorkersDo work, void *data);
void workers_free(Workers *c);
double workers_end(Workers *c);     /* seconds of processors that they took */
int workers_idle(const Workers *c); /* one of them; -1: all are at work */
guint workers_busy(const Workers *c);
void workers_send(Workers *c, int worker, const GByteArray *work);
/* Waits for an answer, of any, in no order. Returns the worker. */
int workers_wait(Workers *c, GByteArray *answer);

/* ---- what goes to and fro ---- */
typedef struct {
  const guint8 *at, *end;
} MessageReader;
void message_put(GByteArray *out, const void *from, gsize bytes);
void message_take(MessageReader *r, void *to, gsize bytes);
void message_put_result(GByteArray *out, const ScheduleProgram *p, const SchedulesResult *r);
/* Into an empty result. What the program has learned is kept in `told`, to be learned when its turn has come. */
SchedulesResult *message_take_result(MessageReader *r, GByteArray *told);
/* Counts and findings of a part, whose turn has come, are added. */
void schedules_add(SchedulesResult *all, SchedulesResult *part);
