/* schedules_subject.h - a subject's processes as a program for the search through schedules: `stampede check` of a
 * scenario with `subject` and `processes`. */
#pragma once
#include "checks/schedules.h"
#include "sim/cli.h"

typedef struct {
  SchedulesOptions search;
  bool shrink;                /* counterexamples to the fewest preemptions */
  const char *const *without; /* names of locks to leave out, NULL at the end; NULL: none */
} SubjectCheckOptions;

typedef struct {
  const char *words; /* of the finding */
  guint preemptions;
  bool fewest;      /* as ScheduleFinding has it */
  GPtrArray *steps; /* char*: one a line */
} ScheduleTold;

typedef struct {
  RunResult *run; /* verdicts and expectations */
  SchedulesResult *search;
  SchedulesOptions options;
  const char *const *without; /* of the options */
  guint processes;
  bool tso;         /* total store order */
  bool observed;    /* checks of every state: their look was an operation among the others */
  GPtrArray *told;  /* of ScheduleTold, one a finding */
  GPtrArray *never; /* char*: where a process could be preempted, and in no schedule was, in order */
  guint points;     /* where one could be */
} SubjectCheck;

/* NULL and *error (SCENARIO_ERROR). In a process of its own (sim/subject/child.h). */
SubjectCheck *subject_check(const App *app, const Scenario *s, const SubjectCheckOptions *o, GError **error);
void subject_check_free(SubjectCheck *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SubjectCheck, subject_check_free)
void subject_check_text(const SubjectCheck *c, GString *out);
void subject_check_json(const SubjectCheck *c, Output *o);
