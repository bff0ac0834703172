/* driver.h - a scenario around a real pooler in lockstep: one input at a time, on a virtual clock, until every script
 * has ended; and what came of it as a result like any other way's (sim/result.h). */
#pragma once
#include "sim/expect.h"
#include "sim/live/gate.h"
#include "sim/run.h"

#define LIVE_EXPLORE EXPECT_LIVE_ORDERS /* command of a trace whose events were in no order of time */

typedef enum { LIVE_NEXT, LIVE_DELAY, LIVE_LOSS, LIVE_SIGNAL, LIVE_HOST, LIVE_PROCESS, LIVE_CHOICES } LiveChoice;
extern const char *const live_choice_names[LIVE_CHOICES];

/* An event that may be next, for who chooses. Two commute when they touch nothing in common. */
typedef struct {
  uint64_t id;      /* the same event has the same id in every run that made the same choices before it was planned */
  uint64_t lane;    /* whose it is: a client's, a connection's */
  uint64_t touches; /* a set of pools, hosts, connections, clients */
} LiveOption;

/* Who decides what is open. options: of LIVE_NEXT, n of them in the order in which they were planned;
 * else NULL. Of LIVE_NEXT it is told even when n is 1. */
typedef struct {
  uint64_t (*choose)(void *data, LiveChoice what, uint64_t n, const LiveOption *options);
  /* Each step of the trace as it is made; may be NULL. False: it is enough. */
  bool (*saw)(void *data, const TraceStep *step);
  void *data;
  bool any_order; /* time orders nothing: whatever is pending may be next (LIVE_NEXT) */
} LiveChooser;

/* A pooler that goes on from one run to the next: each live_run with the same one takes what the run before has left,
 * if that left it as fresh as at its start, and starts one otherwise. Same scenario and program, another order. Not on
 * a real clock. */
typedef struct LiveReuse LiveReuse;
LiveReuse *live_reuse_new(void);
void live_reuse_drop(LiveReuse *r); /* the pooler that it has: the next run starts one */
void live_reuse_free(LiveReuse *r);
guint64 live_reuse_kept(const LiveReuse *r); /* runs that took one */

typedef struct {
  CheckTable checks;
  const char *const *dirs; /* of assets */
  const char *program;     /* the pooler */
  const char *adapter;     /* its name, or a file's path; NULL: as the program is called */
  GateClockKind clock;
  guint patience_ms;          /* real time that the pooler may take for a step */
  const char *library;        /* stampede-gate.so */
  const char *trace_path;     /* NULL: none */
  const LiveChooser *chooser; /* NULL: seeded streams, in order of time */
  bool tcp;                   /* over loopback in place of Unix sockets */
  LiveReuse *reuse;           /* NULL: a pooler of its own */
  const gint *interrupted;
} LiveOptions;

/* SCENARIO_ERROR, ADAPTER_ERROR (input), GATE_ERROR and others (environment: the pooler was never ready, with its log's
 * last lines). A pooler that ends or hangs later is a result. */
RunResult *live_run(const Scenario *s, const LiveOptions *o, GError **error);
/* Why a scenario cannot be driven, before any pooler is started; NULL: it can be. */
GError *live_refuses_scenario(const Scenario *s);
