/* gate.h - the driver's end of the gate (gate_protocol.h): starts a pooler behind it, knows when it has taken all its
 * input, moves its clock, and ends it. Everything of a run stands in one directory below the system's for temporary
 * files; whatever ends the tool, the directory and the pooler go with it (gate.c, sweeper). */
#pragma once
#include "sim/live/gate_protocol.h"
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define GATE_ERROR (g_quark_from_static_string("gate-error"))

typedef struct {
  const char *user;    /* whom the pooler runs as when we are root; as ourselves otherwise */
  const char *library; /* path of stampede-gate.so */
  uint64_t seed;
  guint patience_ms; /* real time that one step may take before the pooler counts as stuck */
} GateConfig;

typedef struct LiveGate LiveGate;
/* Makes the directory. NULL and *error: the environment failed. */
LiveGate *live_gate_new(const GateConfig *c, GError **error);
void live_gate_free(LiveGate *g); /* ends the pooler and removes everything */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveGate, live_gate_free)
const char *live_gate_dir(const LiveGate *g);
/* A file of the directory that the pooler may read. */
bool live_gate_write(LiveGate *g, const char *name, const char *text, GError **error);
bool live_gate_start(LiveGate *g, const char *const *argv, GError **error);

typedef enum {
  GATE_QUIET, /* it waits, and has taken all there was */
  GATE_ENDED, /* it has ended: gate_end_words */
  GATE_STUCK  /* it did not come back in time: gate_stuck_words */
} GateState;
GateState live_gate_settle(LiveGate *g);       /* after live_gate_start or live_gate_go */
void live_gate_go(LiveGate *g);                /* it looks again; only while it is quiet */
int64_t live_gate_deadline(const LiveGate *g); /* virtual ns of its next timeout; INT64_MAX: none. While it is quiet */
void live_gate_set_time(LiveGate *g, int64_t ns);         /* virtual; from 0 */
char *live_gate_words(LiveGate *g, GateState s);          /* "ended by signal 11", "is stuck in read"; g_free */
char *live_gate_log_tail(const LiveGate *g, guint lines); /* what the pooler printed last; g_free */
guint64 live_gate_steps(const LiveGate *g);               /* how often it came back to the gate */
