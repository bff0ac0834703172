/* measure.h - gauges over time, samples and counts of a run: all outside the state. Private to this folder. */
#pragma once
#include "model/pooler/parts.h"

#define GAUGES(X)                                                                                                      \
  X(CL_ACTIVE, "cl_active")                                                                                            \
  X(CL_WAITING, "cl_waiting")                                                                                          \
  X(CL_ACTIVE_CANCEL, "cl_active_cancel_req")                                                                          \
  X(CL_WAITING_CANCEL, "cl_waiting_cancel_req")                                                                        \
  X(SV_ACTIVE, "sv_active")                                                                                            \
  X(SV_ACTIVE_CANCEL, "sv_active_cancel")                                                                              \
  X(SV_BEING_CANCELED, "sv_being_canceled")                                                                            \
  X(SV_IDLE, "sv_idle")                                                                                                \
  X(SV_USED, "sv_used")                                                                                                \
  X(SV_TESTED, "sv_tested")                                                                                            \
  X(SV_LOGIN, "sv_login")                                                                                              \
  X(SOCKETS, "sockets")                                                                                                \
  X(MAP_ENTRIES, "map_entries")                                                                                        \
  X(BACKENDS, "backends")
typedef enum {
#define GAUGE_ID(id, name) GAUGE_##id,
  GAUGES(GAUGE_ID)
#undef GAUGE_ID
      GAUGE_COUNT,
  GAUGE_NONE = -1
} GaugeId;

enum { WORDS_MAX = 13 }; /* marks of pooler.h */
typedef struct {
  int64_t t_ns, value;
} Point;
typedef struct {
  int64_t value, max, since_ns;
  double area;    /* value times ns, up to since_ns */
  GArray *series; /* of Point; NULL: not kept */
} Gauge;

/* A check-out that ended, or a cancel that is over. */
typedef struct {
  int64_t t_ns, ns;
  uint16_t pool, def; /* pool of the configuration */
} Sample;

/* [.][0] counts all, [.][1 + i] pool i of the configuration; gauges of BACKENDS: 1 + server entry. */
struct Measure {
  guint rows;
  Gauge *gauges[GAUGE_COUNT];
  double *counts[COUNT_COUNT];
  GArray *waits, *cancels;     /* of Sample */
  int64_t *wait_since;         /* by session; -1: does not wait */
  int64_t *asked_at, *sent_at; /* by session, by cancel */
  double queries[RES_REFUSED + 1], unfinished, deadlines, refused, bytes, latency_ns, answered;
  double *by_def, *by_client;      /* queries answered well */
  bool *cancel_forwarded;          /* by cancel */
  GString *last[WORDS_MAX], *name; /* last: by bit of the mark that it explains */
};

void gauge_add(Pooler *p, GaugeId g, guint row, int64_t by); /* row 1..: and row 0 */
void gauge_set(Pooler *p, GaugeId g, guint row, int64_t value);
extern const char *const gauge_names[GAUGE_COUNT];
/* Mean and greatest value over [from, to]; needs the series unless that is the whole run. False: it was not kept. */
bool gauge_over(const Gauge *g, int64_t from_ns, int64_t to_ns, int64_t end_ns, double *mean, double *max,
                double *last);
/* ---- maxwait.c: seconds, a mean over [from_ns, to_ns] (to_ns < 0: to the end) of a run that is at end_ns ---- */
double maxwait_mean(const Pooler *p, guint row, int64_t from_ns, int64_t to_ns, int64_t end_ns);
