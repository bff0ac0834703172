/* gate.h - the driver's end of the gate (gate_protocol.h): starts a pooler behind it, knows when all its threads and
 * processes have taken their input, lets them run one at a time, moves its clock, and ends it. Everything of a run
 * stands in one directory below the system's for temporary files; whatever ends the tool, the directory, the pooler,
 * and what it has in shared memory go with it (gate_sweeper.c). */
#pragma once
#include "sim/live/gate_protocol.h"
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define GATE_ERROR (g_quark_from_static_string("gate-error"))

typedef enum {
  GATE_CLOCK_OWN,      /* the shim's page; exact */
  GATE_CLOCK_FAKETIME, /* libfaketime: for programs whose calls for the time the shim does not know */
  GATE_CLOCK_REAL      /* nothing is gated and time passes: the only way for a program that cannot be preloaded */
} GateClockKind;

typedef struct {
  const char *user;    /* whom the pooler runs as when we are root; as ourselves otherwise */
  const char *library; /* path of stampede-gate.so */
  uint64_t seed;
  guint patience_ms; /* real time that one step may take before the pooler counts as stuck */
  GateClockKind clock;
  guint members;           /* first processes that there may be; 0: one */
  const gint *interrupted; /* set: a wait ends as if it was stuck; NULL: never */
} GateConfig;

/* Why a program cannot be gated, from its file: "is linked statically", "is a Go program", "uses io_uring"; NULL: it
 * can, as far as its file tells. A script is what it is (its interpreter counts for nothing here). */
const char *gate_why_not(const char *program);

typedef struct LiveGate LiveGate;
/* Makes the directory. NULL and *error: the environment failed. */
LiveGate *live_gate_new(const GateConfig *c, GError **error);
void live_gate_free(LiveGate *g); /* ends the pooler and removes everything */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveGate, live_gate_free)

/* ---- members: a pooler is one process and what that makes, or several that are started one by one, numbered from 0,
 * each in a directory of its own; that of member 0 is the run's ---- */
const char *live_gate_dir(const LiveGate *g, guint member);
/* A file of that directory that the pooler may read. */
bool live_gate_write(LiveGate *g, guint member, const char *name, const char *text, GError **error);
/* env: "NAME=VALUE" beside what every pooler gets; NULL: none. Again, when it has ended or was killed. */
bool live_gate_start(LiveGate *g, guint member, const char *const *argv, const char *const *env, GError **error);
void live_gate_kill(LiveGate *g, guint member);               /* with what it has made */
bool live_gate_signal(LiveGate *g, guint member, int number); /* which acts on it at its next GO */
bool live_gate_is_there(const LiveGate *g, guint member);
guint live_gate_ended(const LiveGate *g); /* the member that GATE_ENDED or GATE_STUCK was of, last */

typedef enum {
  GATE_QUIET, /* it waits, and has taken all there was */
  GATE_ENDED, /* a member has ended, which is said once of each, or none is there: live_gate_words */
  GATE_STUCK  /* it did not come back in time: live_gate_words */
} GateState;
GateState live_gate_settle(LiveGate *g);       /* after live_gate_start or live_gate_go */
void live_gate_go(LiveGate *g);                /* it looks again; only while it is quiet */
int64_t live_gate_deadline(const LiveGate *g); /* virtual ns of its next timeout; INT64_MAX: none. While it is quiet */
void live_gate_set_time(LiveGate *g, int64_t ns); /* virtual; from 0 */
void live_gate_restart_clock(LiveGate *g);       /* what is now is 0; the pooler's clocks go on, and steps count anew */
char *live_gate_words(LiveGate *g, GateState s); /* "ended by signal 11", "is stuck in read"; g_free */
char *live_gate_log_tail(const LiveGate *g, guint lines); /* what the pooler printed last; g_free */

/* ---- whose turn it is: one line (a thread or process) goes on at a time, and who is a choice ---- */
typedef struct {
  guint number;       /* of the line, from 1 in the order in which they were made */
  GateKind kind;      /* what it waits in */
  bool listens;       /* it would take a new connection */
  guint64 went_on_at; /* live_gate_steps when it last went on: the greatest is the one that has waited least */
} GateTurn;
/* Index of the one that looks next, of n > 1 by ascending number. One that finds nothing is not asked about again until
 * another has gone on. */
typedef guint (*GateChoose)(void *data, const GateTurn *turns, guint n);
void live_gate_choose(LiveGate *g, GateChoose choose, void *data); /* NULL: the lowest number */

/* ---- what can be told of it ---- */
guint64 live_gate_steps(const LiveGate *g);   /* how often a line came back to the gate having gone on, or not */
guint live_gate_lines(const LiveGate *g);     /* threads that are there now */
guint live_gate_processes(const LiveGate *g); /* processes that are there now */
/* That a member's first process has open, the shim's own not counted. */
guint live_gate_descriptors(const LiveGate *g, guint member);
bool live_gate_is_gated(const LiveGate *g);   /* false: GATE_CLOCK_REAL */
double live_gate_start_ms(const LiveGate *g); /* real time from its start to its first quiet; 0: not yet */
