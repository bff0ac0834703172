/* gate_parts.h - what the files of the gate share. Private to gate*.c. */
#pragma once
#include "sim/live/gate.h"

typedef struct {
  int fd;
  guint number;
  int32_t pid, tid;            /* 0: it has not said anything yet */
  bool running, look, signals; /* signals: some may have come since it was last let go on */
  GateReport said;
  guint64 went_on_at;
} GateLine;

typedef struct {
  int32_t pid;
  int fd; /* pidfd */
  guint lines;
} GateProcess;

struct LiveGate {
  GateConfig config;
  char *dir, *log;
  uid_t uid;
  gid_t gid;
  GateClock *clock;
  int listener, pipe, ended; /* -1: none; ended: a pidfd */
  pid_t pooler, sweeper;     /* 0: none, or reaped */
  int status;
  GArray *lines, *processes; /* of GateLine by number, of GateProcess */
  guint made;
  GateChoose choose;
  void *choose_data;
  guint64 steps;
  gint64 started_us; /* real time */
  double start_ms;
  int64_t now_ns; /* virtual; GATE_CLOCK_REAL: what has passed */
};

#define GATE_LINE(g, i) (&g_array_index((g)->lines, GateLine, (i)))

/* Where virtual time begins on the pooler's clocks: 1000 s after its machine came up, 2026-01-01 00:00 UTC. */
#define GATE_MONOTONIC_START ((int64_t)1000 * 1000000000)
#define GATE_REAL_START      ((int64_t)1767225600 * 1000000000)

bool gate_fail(GError **error, const char *what); /* with errno; false */

/* gate_sweeper.c */
bool gate_sweeper_start(LiveGate *g, GError **error);
void gate_sweeper_tell(const LiveGate *g, pid_t process, bool there);

/* gate_lines.c */
bool gate_interrupted(const LiveGate *g);
void gate_reap(LiveGate *g, bool wait);
GateState gate_settle_lines(LiveGate *g);
int64_t gate_lines_deadline(const LiveGate *g); /* of the monotonic clock; -1: none */
void gate_lines_clear(LiveGate *g);

/* gate_ungated.c */
GateState gate_settle_ungated(LiveGate *g);
void gate_pass_time(LiveGate *g, int64_t ns);
int64_t gate_next_look(const LiveGate *g); /* virtual ns */
