/* processes.h - what a scenario's `processes` say, compiled: each group's script as a list of operations. Which entries
 * a subject has is not known here; an operation keeps its key, so that whoever knows can complain at its place. */
#pragma once
#include "sim/scenario/scenario.h"

enum { PROCESS_LOOPS_MAX = 4, PROCESS_GROUPS_MAX = 8 };

typedef enum { PROCESS_CALL, PROCESS_WAIT, PROCESS_LOOP, PROCESS_END_LOOP, PROCESS_END } ProcessOpCode;
typedef struct {
  ProcessOpCode code;
  const char *entry; /* CALL: as the scenario names it; lives as long as the scenario */
  int64_t argument;
  bool argument_is_copy; /* instead: which of the copies it is, from 0 */
  Draw wait;
  int64_t times; /* LOOP */
  int depth;     /* LOOP, END_LOOP: how many are around it */
  guint target;  /* END_LOOP: its LOOP */
  char *key;     /* "processes[0].script[2]" */
} ProcessOp;

typedef struct {
  const char *name; /* lives as long as the scenario */
  guint count;
  Draw start;
  GArray *ops; /* of ProcessOp; the last is END */
} ProcessGroup;

static inline int64_t process_argument(const ProcessOp *op, guint copy) {
  return op->argument_is_copy ? (int64_t)copy : op->argument;
}
/* GArray of ProcessGroup, empty where the scenario has none. NULL and *error: file:line:column: key: what is wrong. */
GArray *scenario_bind_processes(const Scenario *s, GError **error);
