/* driver.h - a scenario around a real pooler in lockstep: one input at a time, on a virtual clock, until every script
 * has ended; and what came of it as a result like any other way's (sim/result.h). */
#pragma once
#include "sim/live/gate.h"
#include "sim/run.h"

typedef struct {
  CheckTable checks;
  const char *const *dirs; /* of assets */
  const char *program;     /* the pooler */
  const char *adapter;     /* its name, or a file's path; NULL: as the program is called */
  GateClockKind clock;
  const char *library;    /* stampede-gate.so */
  const char *trace_path; /* NULL: none */
  const gint *interrupted;
} LiveOptions;

/* SCENARIO_ERROR, ADAPTER_ERROR (input), GATE_ERROR and others (environment: the pooler was never ready, with its log's
 * last lines). A pooler that ends or hangs later is a result. */
RunResult *live_run(const Scenario *s, const LiveOptions *o, GError **error);
