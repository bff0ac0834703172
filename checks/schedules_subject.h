/* schedules_subject.h - a subject's processes as a program for the search through schedules: `stampede check` of a
 * scenario with `subject` and `processes`. */
#pragma once
#include "checks/schedules.h"
#include "checks/schedules_races_told.h"
#include "sim/cli.h"

typedef struct {
  SchedulesOptions search;
  bool shrink;            /* counterexamples to the fewest preemptions */
  const char *trace_path; /* for the first finding; others beside it, FILE.2, FILE.3. NULL: none */
} SubjectCheckOptions;

typedef struct {
  const char *words; /* of the finding */
  guint preemptions;
  bool fewest;      /* as ScheduleFinding has it */
  GPtrArray *steps; /* char*: one a line */
  char *trace;      /* its file; NULL: none */
} ScheduleTold;

typedef struct {
  RunResult *run; /* verdicts and expectations */
  SchedulesResult *search;
  SchedulesOptions options;
  GPtrArray *without; /* char*: locks that are left out */
  guint processes;
  bool tso;         /* total store order */
  bool observed;    /* checks of every state: their look was an operation among the others */
  GPtrArray *told;  /* of ScheduleTold, one a finding */
  GPtrArray *never; /* char*: where a process could be preempted, and in no schedule was, in order */
  RacesTold *races; /* NULL: not looked for */
  guint points;     /* where one could be */
  char *counted;    /* who counts the rounds of a loop, and where; NULL: nobody does */
  char *cut;        /* who was where when the first schedule was cut: "loop at go x.c:12"; NULL: none was */
} SubjectCheck;

/* NULL and *error (SCENARIO_ERROR). In a process of its own (sim/subject/child.h). */
SubjectCheck *subject_check(const App *app, const Scenario *s, const SubjectCheckOptions *o, GError **error);
void subject_check_free(SubjectCheck *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SubjectCheck, subject_check_free)
void subject_check_text(const SubjectCheck *c, GString *out);
void subject_check_json(const SubjectCheck *c, Output *o);
