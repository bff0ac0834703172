/* cmd_check_subject.h - stampede check of a scenario whose processes run a subject's code. */
#pragma once
#include "checks/check_flags.h"
#include "sim/cli.h"

/* Options that only such a scenario takes. */
typedef struct {
  gboolean races;
  int preemptions, delays; /* -1: any number */
  gint64 max_schedules;    /* 0: any number */
  int max_steps;
  char **without; /* names of locks; NULL: none */
} ScheduleFlags;

void schedule_flags_init(ScheduleFlags *f);
void schedule_flags_clear(ScheduleFlags *f);
char *schedule_flags_set(const ScheduleFlags *f); /* what they say of scenario keys, "KEY=VALUE"; NULL: nothing */
bool schedule_flags_given(const ScheduleFlags *f);
int check_subject(const App *app, const Scenario *s, const CliOptions *o, const CheckFlags *f, const ScheduleFlags *g);
