/* wire_log.h - what a run shows on the wire, in words that a run of the model and one of a binary have in common. What
 * only the model says (its hidden steps) or only a binary (its own queries) is left out. */
#pragma once
#include "traces/trace.h"

/* Lanes: each client; "servers", whose connections are numbered as they became ready; "cancels". */
typedef struct {
  int64_t t_ns;
  char *lane, *what; /* "client a", "q1: done"; "servers", "q1 to #1", "#1 closed"; "cancels", "pid 1000: EOF" */
  guint order;       /* as they came */
} WireEvent;

typedef struct WireLog WireLog;
WireLog *wire_log_new(void);
void wire_log_free(WireLog *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireLog, wire_log_free)
void wire_log_model(WireLog *w, const TraceStep *step); /* a step of a run of the model */
/* Of a pooler that closes a cancel's connection as soon as it is written: the server's closing meets nobody in the
 * model, and what comes to no server is told by neither. */
void wire_log_deaf(WireLog *w);
void wire_log_live(WireLog *w, const TraceStep *step); /* one of a real pooler's */

typedef struct {
  bool same;
  int64_t late_ns; /* the greatest distance in time of two events that are the same */
  char *where;     /* not the same: in words, with both sides; else NULL */
  guint events;    /* compared */
} WireCompared;
/* Lane by lane, in order; of one instant in any. Events of one kind that are further apart than `most_ns` differ. */
WireCompared wire_logs_compare(WireLog *model, WireLog *live, int64_t most_ns);
