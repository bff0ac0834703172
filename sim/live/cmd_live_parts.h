/* cmd_live_parts.h - what the parts of `stampede live` share: its options, and how it fails. */
#pragma once
#include "sim/cli.h"
#include "sim/live/driver.h"
#include "traces/diff.h"

typedef struct {
  char *pooler, *adapter, *clock, *preset, *against, *replay, *strategy;
  char **gates;
  gboolean conform, markdown, explore, reuse, tcp;
  double patience; /* s */
  gint64 repeat, max_runs, max_time, depth;
} LiveFlags;

int live_fail(GError *error);                            /* says it; its exit status */
int live_say(const RunResult *r, const CliOptions *cli); /* a result as the common options ask for it; exit status */

int live_explore_command(const App *app, const char *name, const LiveOptions *o, const LiveFlags *f,
                         const CliOptions *cli);
int live_replay(const App *app, const char *path, const LiveOptions *o, const CliOptions *cli);
int live_against(const App *app, char **names, const LiveOptions *o, const LiveFlags *f, const CliOptions *cli);
int live_conform(const App *app, char **names, const LiveOptions *o, const LiveFlags *f, const CliOptions *cli);
