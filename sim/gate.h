/* gate.h - a condition on a comparison that decides the exit status:
 *
 *   warm.connect_ms <= +2%      METRIC OP SIGN NUMBER %: the patch against the baseline, means over the pairs
 *   first.connect_ms < 500ms    METRIC OP VALUE: the patch alone; times, sizes and rates with their unit
 *   first.refused = 0
 *
 * OP is one of <= < >= > =. A percentage carries its sign, so that nobody has to guess what "2%" is two percent of. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef enum { GATE_AT_MOST, GATE_BELOW, GATE_AT_LEAST, GATE_ABOVE, GATE_EQUAL } GateOp;
typedef struct {
  char *text; /* as it was given */
  char *metric;
  GateOp op;
  bool relative; /* value: percent */
  double value;  /* else in the metric's unit */
} Gate;

/* NULL and *error (SCENARIO_ERROR): "gate:COLUMN: ..." about the text, the column in characters from 1. */
Gate *gate_parse(const char *text, GError **error);
void gate_free(Gate *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Gate, gate_free)

bool gate_met(const Gate *g, double baseline, double patch);

/* A percentage without a sign ("2%", "0.5 %") as a share, for --threshold. */
bool gate_share(const char *text, double *share);
