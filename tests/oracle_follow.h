/* oracle_follow.h - the second implementation (oracle.h) follows a trace: the rest of what a connect touches, and each
 * step's slot, place, followers and faults compared with what the trace says. */
#pragma once
#include "tests/oracle.h"
#include <stdio.h>

/* ---- the rest of a connect ---- */
static void oracle_snapshot(Oracle *o, OracleProcess *p) {
  const int n = o->n_members;
  oracle_lwlock(o, p, 4);
  oracle_load(o, p, o->array, (uint64_t)o->z.array_hdr);
  if (o->given.array != ARRAY_PRE_14) {
    oracle_load(o, p, o->dense[1], (uint64_t)n * 4);
    return;
  }
  oracle_load(o, p, o->dense[0], (uint64_t)n * 4);
  for (int i = 0; i < n; i++) oracle_load(o, p, o->pgxact + (uint64_t)o->member[i] * 12, 12);
}
static int oracle_sinval_of(const Oracle *o, int procno) {
  int i = 0;
  while (o->sinval_user[i] != procno) i++;
  return i;
}
static uint64_t oracle_sinval_entry(const Oracle *o, int i) {
  return o->sinval + (uint64_t)(i * o->z.sinval);
}
/* To 16: SharedInvalBackendInit looks for a free entry below lastBackend, CleanupInvalidationState for the last used.
 */
static void oracle_sinval_scan(Oracle *o, OracleProcess *p) {
  int i = 0;
  for (; i < o->n_sinval && o->sinval_user[i] >= 0; i++) oracle_load(o, p, oracle_sinval_entry(o, i), 4);
  if (i < o->n_sinval)
    oracle_load(o, p, oracle_sinval_entry(o, i), 4);
  else
    o->n_sinval++;
  o->sinval_user[i] = p->procno;
  oracle_store(o, p, oracle_sinval_entry(o, i), (uint64_t)o->z.sinval);
}
static void oracle_sinval_shrink(Oracle *o, OracleProcess *p, int own) {
  oracle_store(o, p, oracle_sinval_entry(o, own), (uint64_t)o->z.sinval);
  o->sinval_user[own] = -1;
  for (; o->n_sinval && o->sinval_user[o->n_sinval - 1] < 0; o->n_sinval--)
    oracle_load(o, p, oracle_sinval_entry(o, o->n_sinval - 1), 4);
  if (o->n_sinval) oracle_load(o, p, oracle_sinval_entry(o, o->n_sinval - 1), 4);
}
/* Since 17: own entry, and a dense list searched from its end at exit. */
static void oracle_sinval_list(Oracle *o, OracleProcess *p, int i, int n) {
  oracle_store(o, p, oracle_sinval_entry(o, p->procno), (uint64_t)o->z.sinval);
  for (int j = n; j >= i; j--) oracle_load(o, p, o->sinval_nos + (uint64_t)j * 4, 4);
  oracle_store(o, p, o->sinval_nos + (uint64_t)i * 4, 4);
  o->sinval_user[i] = o->sinval_user[n];
  o->sinval_user[n] = -1;
}
static void oracle_sinval_counters(Oracle *o, OracleProcess *p, bool load) {
  if (load) {
    oracle_lwlock(o, p, 6);
    oracle_load(o, p, o->sinval_hdr, 16);
  }
  oracle_touch(o, p, o->sinval_count, 16, load);
}
static void oracle_sinval_join(Oracle *o, OracleProcess *p) {
  oracle_sinval_counters(o, p, true);
  if (o->given.version <= 16) {
    oracle_sinval_scan(o, p);
  } else { /* is the entry free? then: listed, filled */
    const int n = o->n_sinval++;
    oracle_load(o, p, oracle_sinval_entry(o, p->procno), 4);
    oracle_store(o, p, o->sinval_nos + (uint64_t)n * 4, 4);
    oracle_store(o, p, oracle_sinval_entry(o, p->procno), (uint64_t)o->z.sinval);
    o->sinval_user[n] = p->procno;
  }
  oracle_sinval_counters(o, p, false);
}
static void oracle_sinval_leave(Oracle *o, OracleProcess *p) {
  oracle_sinval_counters(o, p, true);
  if (o->given.version <= 16)
    oracle_sinval_shrink(o, p, oracle_sinval_of(o, p->procno));
  else
    oracle_sinval_list(o, p, oracle_sinval_of(o, p->procno), --o->n_sinval);
  oracle_sinval_counters(o, p, false);
}
/* MyBackendId - 1 to 16, the proc number since. */
static int oracle_backend_index(const Oracle *o, const OracleProcess *p) {
  return o->given.version <= 16 ? oracle_sinval_of(o, p->procno) : p->procno;
}
static void oracle_signal(Oracle *o, OracleProcess *p) {
  const uint64_t at = o->signal + (uint64_t)(oracle_backend_index(o, p) * o->z.signal);
  oracle_load(o, p, at, 4); /* pss_pid */
  oracle_load(o, p, o->signal_hdr, 8);
  oracle_store(o, p, at, (uint64_t)o->z.signal);
}
static void oracle_status(Oracle *o, OracleProcess *p) {
  const int i = oracle_backend_index(o, p), width[] = {o->z.status, 64, 64, 1024, 324, o->z.gss};
  oracle_load(o, p, o->status[0] + (uint64_t)(i * width[0]), 4); /* st_changecount++ */
  for (int a = 0; a < 6; a++) oracle_store(o, p, o->status[a] + (uint64_t)(i * width[a]), (uint64_t)width[a]);
}

/* ---- following a trace ---- */
typedef struct {
  int64_t steps, differences;
  bool silent; /* differences are expected */
} Verdict;

static void compare(Verdict *v, const TraceStep *s, const char *what, int64_t expected) {
  for (guint i = 0; i < s->n_args; i++) {
    if (strcmp(s->args[i].name, what) != 0) continue;
    if (s->args[i].value == expected) return;
    if (v->differences++ < 5 && !v->silent)
      fprintf(stderr,
              "step %" G_GINT64_FORMAT " %s %s: %s is %" G_GINT64_FORMAT ", by the oracle %" G_GINT64_FORMAT "\n", s->i,
              s->who, s->what, what, s->args[i].value, expected);
    return;
  }
  if (v->differences++ < 5 && !v->silent) fprintf(stderr, "step %" G_GINT64_FORMAT " %s: no %s\n", s->i, s->what, what);
}

static int64_t arg(const TraceStep *s, const char *name) {
  for (guint i = 0; i < s->n_args; i++)
    if (strcmp(s->args[i].name, name) == 0) return s->args[i].value;
  g_error("%s without %s", s->what, name);
}

static void begin(Oracle *o, const TraceStep *s) {
  const int run = o->given.clients + o->given.between, n = o->started++;
  OracleProcess *p = &o->process[arg(s, "child")];
  g_free(p->mapped);
  *p = (OracleProcess){.procno = -1, .iteration = n / run + 1, .client = n % run < o->given.clients};
  p->flag = oracle_child_flag(o);
  p->mapped = g_malloc0(o->end / o->given.page + 1);
}

typedef enum { NO_OPERATION, CONNECTING, LEAVING } Phase;

/* What the oracle makes of a step: faults, place, followers. */
static Phase operate(Oracle *o, OracleProcess *p, const char *what, OracleMove *m) {
  Phase phase = CONNECTING;
  if (strcmp(what, "BackendInitialize") == 0)
    oracle_store(o, p, o->flags + (uint64_t)p->flag * 4, 4);
  else if (strcmp(what, "InitProcess") == 0)
    p->procno = oracle_take(o, p);
  else if (strcmp(what, "ProcArrayAdd") == 0)
    *m = oracle_add(o, p);
  else if (strcmp(what, "SharedInvalBackendInit") == 0)
    oracle_sinval_join(o, p);
  else if (strcmp(what, "ProcSignalInit") == 0)
    oracle_signal(o, p);
  else if (strcmp(what, "GetSnapshotData") == 0)
    oracle_snapshot(o, p);
  else if (strcmp(what, "pgstat_bestart") == 0)
    oracle_status(o, p);
  else
    phase = LEAVING;
  if (strcmp(what, "CleanupInvalidationState") == 0)
    oracle_sinval_leave(o, p);
  else if (strcmp(what, "ProcArrayRemove") == 0)
    *m = oracle_remove(o, p);
  else if (strcmp(what, "ProcKill") == 0)
    oracle_give(o, p);
  else if (phase == LEAVING && strncmp(what, "CleanupProcSignal", 17) != 0 && strncmp(what, "MarkPostmaster", 14) != 0)
    phase = NO_OPERATION;
  return phase;
}

/* Not among the structures whose pages depend on the child's slot: PMChildFlags and what lies beside it. */
static bool beside_status(const char *what) {
  return strstr(what, "Inval") == NULL && strstr(what, "ProcSignal") == NULL &&
         strncmp(what, "MarkPostmaster", 14) != 0;
}

static void add_up(Oracle *o, const OracleProcess *p, Phase phase, const OracleMove *m) {
  OracleTally *t = &o->tally[p->client ? p->iteration : 0];
  if (phase == LEAVING) {
    t->disconnect_faults += o->faults;
    t->moved_out += m->moved;
    return;
  }
  t->connect_faults += o->faults;
  t->allprocs_faults += o->pgproc_faults;
  t->moved += m->moved;
  t->stores += m->followers;
}

static void follow(Oracle *o, const TraceStep *s, Verdict *v) {
  if (strcmp(s->what, "BackendStartup") == 0) begin(o, s);
  if (!s->who || !g_str_has_prefix(s->who, "backend[")) return;
  OracleProcess *p = &o->process[atoi(s->who + 8)];
  OracleMove m = {0};
  o->faults = o->pgproc_faults = 0;
  const Phase phase = operate(o, p, s->what, &m);
  if (phase == NO_OPERATION) return;
  v->steps++;
  compare(v, s, "procno", p->procno);
  if (!oracle_blind(o) || beside_status(s->what)) compare(v, s, "faults", o->faults);
  if (strcmp(s->what, "ProcArrayAdd") == 0) compare(v, s, "rank", m.rank);
  if (strncmp(s->what, "ProcArray", 9) == 0) compare(v, s, "followers", m.followers);
  add_up(o, p, phase, &m);
}

static void follow_trace(Oracle *o, const char *path, Verdict *v) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceReader) reader = trace_reader_open(path, &error);
  TraceStep s;
  TraceNext next = TRACE_FAILED;
  while (reader && (next = trace_reader_next(reader, &s, &error)) == TRACE_STEP) follow(o, &s, v);
  if (next != TRACE_ENDED) g_error("%s", error ? error->message : "the trace was cut");
}
