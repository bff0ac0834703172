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
  bool told_cut;
  gint64 began;
  double cpu_began;
} Schedules;

/* A place in a schedule, before a step. Who is to be tried stands in a queue, in the order in which that was found out:
 * so what one of them will find asleep is known as soon as it stands there, and several may be tried at once. */
typedef struct {
  uint64_t ready, try, sleep;  /* processes; try: stand in the queue, or stood there; sleep: those done with too */
  guint32 preemptions, delays; /* on the way here */
  guint8 queue[SCHEDULE_PROCESSES_MAX], queued, next; /* next: the first of them that is still to be tried */
} Node;

/* A process to be tried that a search found for a place that is not its own. */
typedef struct {
  guint node;
  uint64_t first; /* one of these */
} Foreign;

typedef struct {
  Schedules s; /* first, so that parts that know only of it may be given one */
  GArray *nodes;
  guint level;     /* places before this one are another's */
  GArray *foreign; /* of Foreign, for them */
} Search;

/* What is left to be searched: a schedule, and the places along it, one more than it has steps. */
typedef struct {
  GByteArray *path; /* who went, step by step */
  GArray *nodes;    /* of Node */
} Frontier;

static inline uint64_t process_bit(guint p) {
  return UINT64_C(1) << p;
}

/* ---- schedules.c ---- */
void schedules_restart(Schedules *s);
uint64_t schedules_look(Schedules *s); /* fills in next and alive; who can go on */
void schedules_step(Schedules *s, guint p);
guint schedules_last(const Schedules *s, guint i);
/* Process p is about to do event i; counts what could be preempted, and whether it was. */
void schedules_cover_step(Schedules *s, guint i, uint64_t ready, guint p);
void schedules_cover_end(Schedules *s); /* a schedule is whole */
bool schedules_is_buffer(const Schedules *s, guint p);
bool schedules_preempts(const Schedules *s, guint i, uint64_t ready, guint p);
bool schedules_judge(Schedules *s, bool end); /* broken; kept among the findings */
bool schedules_over(Schedules *s);            /* enough is found, or a limit; result->stop says which */
ScheduleFinding *schedule_finding_known(const SchedulesResult *r, const char *words); /* that breaks the same; NULL */
bool schedules_known(const SchedulesResult *r, const char *words);
uint64_t schedules_done(const SchedulesResult *r);
/* Beside those who can go on for themselves: nobody can, and a loop that counts its rounds may end by itself. */
uint64_t schedules_spins_on(const Order *o, const Operation *next, uint64_t waiting);
void schedules_note_cut(Schedules *s); /* max_steps are reached, not counted yet: where */
double schedules_seconds(const Schedules *s);
double schedules_cpu(void);
SchedulesResult *schedules_result_new(void);
ScheduleFinding *schedule_finding_new(const char *words, guint preemptions);
void schedule_finding_free(void *f);

/* ---- schedules_raced.c ---- */
void schedules_races(Schedules *s); /* of the schedule so far, which goes no further */
void schedules_races_add(SchedulesResult *all, SchedulesResult *part); /* of a part whose turn has come */
void schedule_race_free(void *race);

/* ---- schedules_tree.c ---- */
void schedules_search_init(Search *x, const ScheduleProgram *p, const SchedulesOptions *o, SchedulesResult *r);
void schedules_search_clear(Search *x);
void schedules_first(Search *x); /* to the first state */
/* Of another's finding, for a place of x's: one of `first` is to be tried there. */
void schedules_try(Search *x, guint node, uint64_t first);
/* Goes on until it is over (true), all is tried, or so many schedules are done. */
bool schedules_go_on(Search *x, uint64_t until);
void schedules_cover_tree(Search *x);
void schedules_lead(Search *x, const GByteArray *path); /* from the first state; x's places are left as they are */
void schedules_through(Search *x);                      /* all of it, in this process */

/* ---- schedules_split.c ---- */
void schedules_split(Search *x);

/* ---- schedules_walk.c ---- */
void schedules_walk(Schedules *s);
