/* schedules_parts.h - what the files of the search through schedules know of each other; not for others. */
#pragma once
#include "checks/schedules_order.h"
#include <string.h>

typedef struct {
  const ScheduleProgram *program;
  const SchedulesOptions *options;
  SchedulesResult *result;
  Order order; /* of the schedule so far */
  Operation next[SCHEDULE_PROCESSES_MAX];
  uint64_t alive;    /* have not ended */
  guint preemptions; /* so far */
  unsigned added;
  gint64 began;
  double cpu_began;
} Schedules;

/* ---- schedules.c ---- */
void schedules_restart(Schedules *s);
uint64_t schedules_look(Schedules *s); /* fills in next and alive; who can go on */
void schedules_step(Schedules *s, guint p);
guint schedules_last(const Schedules *s, guint i);
bool schedules_preempts(const Schedules *s, guint i, uint64_t ready, guint p);
bool schedules_judge(Schedules *s, bool end); /* broken; kept among the findings */
bool schedules_over(Schedules *s);            /* enough is found, or a limit; result->stop says which */
double schedules_seconds(const Schedules *s);
double schedules_cpu(void);

/* ---- schedules_walk.c ---- */
void schedules_walk(Schedules *s);
