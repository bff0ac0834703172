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
  int fd; /* pidfd; -1: none can be had */
  guint lines;
  guint member; /* that made it, or is it */
} GateProcess;

typedef struct {
  char *dir, *log;
  pid_t pid;  /* 0: none, or reaped */
  int ended;  /* a pidfd; -1: none, or none can be had */
  int status; /* once it has ended */
  bool came;  /* a process of it has said that it is there */
  bool told;  /* its end has been told, or none is to be */
} GateMember;

struct LiveGate {
  GateConfig config;
  char *dir;
  uid_t uid;
  gid_t gid;
  GateClock *clock;
  int listener, pipe;                  /* -1: none; pipe: of two sockets, the other one the sweeper's */
  pid_t sweeper;                       /* 0: none */
  GArray *members, *lines, *processes; /* of GateMember, of GateLine by number, of GateProcess */
  guint last;                          /* the member that has ended or is stuck, as told last */
  guint made, quiet;                   /* quiet: how often it was */
  GateChoose choose;
  void *choose_data;
  guint64 steps;
  gint64 started_us; /* real time */
  double start_ms;
  int64_t before_ns; /* virtual, on the pooler's clocks, before 0 */
  guint64 before_steps;
  int64_t now_ns; /* virtual; GATE_CLOCK_REAL: what has passed */
};

#define GATE_LINE(g, i)   (&g_array_index((g)->lines, GateLine, (i)))
#define GATE_MEMBER(g, i) (&g_array_index((g)->members, GateMember, (i)))

/* Where virtual time begins on the pooler's clocks: 1000 s after its machine came up, 2026-01-01 00:00 UTC. */
#define GATE_MONOTONIC_START ((int64_t)1000 * 1000000000)
#define GATE_REAL_START      ((int64_t)1767225600 * 1000000000)

bool gate_fail(GError **error, const char *what); /* with errno; false */

/* gate_member.c */
bool gate_any_there(const LiveGate *g);
bool gate_tell_end(LiveGate *g); /* true: a member has ended, and this is the first that is said of it: g->last */
int gate_member_of(const LiveGate *g, pid_t pid); /* whose first process that is; -1 */

/* gate_sweeper.c */
typedef enum { GATE_GONE, GATE_THERE, GATE_LEADS } GateToSweep; /* leads: a group of its own, to be killed with it */
bool gate_sweeper_start(LiveGate *g, GError **error);           /* and the run's directory is there */
void gate_sweeper_tell(const LiveGate *g, pid_t process, GateToSweep what);
void gate_sweeper_await(const LiveGate *g); /* once g->pipe is closed: all is cleared up */

/* gate_processes.c */
int gate_left_ms(gint64 end);                                    /* of g_get_monotonic_time; 0: it is past */
GateProcess *gate_process_of(LiveGate *g, int32_t pid);          /* NULL */
void gate_process_joins(LiveGate *g, int32_t pid);               /* with a line */
void gate_process_ends(LiveGate *g, GateProcess *p, gint64 end); /* with its last line */
void gate_process_lends(LiveGate *g, int32_t pid);               /* its line is another program's now */
char gate_stat(const char *pid, pid_t *parent, pid_t *group); /* its state's letter; '\0': there is no such process */
bool gate_interrupted(const LiveGate *g);
void gate_reap(LiveGate *g, guint member, bool wait);

/* gate_ends.c */
int gate_pidfd(pid_t pid); /* -1, errno: there is none, or no such process */
/* True: it has ended, reaped or not. fd: its pidfd; -1: it is looked for. */
bool gate_await_end(pid_t pid, int fd, int ms);
/* Until one of the members ends, which is reaped, or there is something at `listener` (-1: at none): that is true. */
bool gate_await_ends(LiveGate *g, int listener, int ms);

/* gate_lines.c */
GateState gate_settle_lines(LiveGate *g);
int64_t gate_lines_deadline(const LiveGate *g); /* of the monotonic clock; -1: none */
void gate_lines_clear(LiveGate *g);
void gate_lines_bury(LiveGate *g); /* of members that are gone */

/* gate_log.c */
void gate_bound_logs(
    LiveGate *g); /* while the pooler runs, now and then: what it has printed is cut where it is much */

/* gate_ungated.c */
GateState gate_settle_ungated(LiveGate *g);
void gate_pass_time(LiveGate *g, int64_t ns);
int64_t gate_next_look(const LiveGate *g); /* virtual ns */
