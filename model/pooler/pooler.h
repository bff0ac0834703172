/* pooler.h - a pooler between clients and PostgreSQL servers, as processes of a world: pools, waiters, identity, and
 * cancels in their stages. Life: pooler_new (the world has its driver already), the driver runs the world, pooler_free
 * before world_free. The accessors below are what checks and pictures read between two steps; all ids count from 0. */
#pragma once
#include "model/pooler/config.h"
#include "model/world/world.h"

typedef struct Pooler Pooler;

size_t pooler_bytes(const PoolerConfig *c); /* limit for the world's arena */
/* NULL and *error (POOLER_CONFIG_ERROR) for what cannot be. `c` is kept, not copied. */
Pooler *pooler_new(World *w, const PoolerConfig *c, GError **error);
void pooler_free(Pooler *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pooler, pooler_free)
bool pooler_done(const Pooler *p); /* every script has ended */
/* The state as named variables, for pictures. */
void pooler_describe(const Pooler *p, void (*each)(const char *name, const char *value, void *data), void *data);

/* The state that stands for all that differ from it in nothing but names (checks/README.md, symmetry). */
void pooler_canon(Pooler *p);
/* What the accessors below read (model/world/explore.h): all but what a process of the pooler owns; `runs`: what
 * backends run, too, which a server connection may own. */
void pooler_reads(const Pooler *p, bool runs, Footprint *f);

/* ---- outcomes of cancels: marks of the world's last step (world_marks) ---- */
enum {
  POOLER_MISROUTE = 1,
  POOLER_FOREIGN = 2,
  POOLER_SELF_LATE = 4,
  POOLER_POOLER_OWN = 8,
  POOLER_LOST = 16,
  POOLER_DOUBLE_FREE = 32,     /* a server connection checked in, closed or freed twice */
  POOLER_ROW_TWICE = 64,       /* a query over shards was given rows of more than one */
  POOLER_CRASH = 128,          /* react: fatal */
  POOLER_CLIENT_ERROR = 256,   /* an error that no server gave */
  POOLER_DIRTY_HANDOVER = 512, /* a session with a lock or an open transaction went to another client */
  POOLER_OVERTAKEN = 1024,     /* a later waiter was served first */
  POOLER_MOVE_LOST = 2048,     /* a reload lost or doubled a connection */
  POOLER_CANCEL_LATE = 4096    /* a cancel was left waiting past the end of its query, and need not have been */
};
const char *pooler_words(const Pooler *p, uint64_t marks); /* the last step that made the lowest of them, in words */
/* A real pooler did it, in these words: for live, where the model does not run. */
void pooler_observed(Pooler *p, uint64_t mark, const char *words);

/* ---- accounting (A1, A2, A5, A6) of one pool of one process ---- */
typedef struct {
  const char *name;
  guint idle, taken, fenced, cleaning, opening, closing; /* what the server connections are */
  guint checked_out; /* those taken, and those being cleaned that are not checked in yet */
  guint sockets;     /* live ones of these */
  guint carriers;
  guint listed_idle;   /* length of its idle list */
  guint listed_twice;  /* entries there that are no idle connection of this pool, or stand there twice */
  guint counted_taken; /* as its table of checked-out connections says */
  guint owners;        /* check-outs that sessions hold */
  guint waiters, parked;
  guint size, reserve;                                        /* how many it may have */
  bool opening_or_poked, could_open, paused, offline, polled; /* could_open: by its own rules it would open one */
} PoolView;
guint pooler_pools(const Pooler *p); /* pools of all processes */
PoolView pooler_pool(const Pooler *p, guint pool);
int pooler_lost_server(const Pooler *p);   /* a live server connection that nobody owns and no set holds; -1 */
int pooler_shared_server(const Pooler *p); /* one that two sessions hold, or a session and the idle list; -1 */

/* ---- the cancel map (A3, A4) ---- */
enum { POOLER_NAMES_NOTHING = -2 }; /* an entry whose connection is gone */
typedef struct {
  guint client;  /* session */
  int server;    /* that the map names; -1: no entry */
  int runs_on;   /* where its query runs; -1: nowhere */
  bool owns;     /* it holds a server connection of this pool */
  bool live;     /* the named one is checked out or being cleaned */
  bool names_it; /* the named one is one that it holds, or that is being cleaned for it */
} MapView;
guint pooler_sessions(const Pooler *p);
MapView pooler_map(const Pooler *p, guint pool, guint session);
const char *pooler_session_name(const Pooler *p, guint session); /* "a", "b.2"; owned by p, until the next call */

/* ---- what has to come to an end (pending.c): is it under way? If so, in words into `why` (NULL: no words) ---- */
bool pooler_waits(const Pooler *p, guint session, GString *why); /* for a server connection */
guint pooler_cancels(const Pooler *p);
bool pooler_cancel_under_way(const Pooler *p, guint cancel, GString *why); /* sent, and nothing has come of it yet */
guint pooler_processes(const Pooler *p);
bool pooler_shuts_down(const Pooler *p, guint process, GString *why); /* it was told to, and still has clients */

/* ---- measurement: written to the world's ledger, once, at the end of a run ---- */
void pooler_write_metrics(Pooler *p);
/* A gauge or sample of one pool, server or client, over [from, to] ns of the run (to < 0: its end). `metric` as in a
 * scenario: "sv_active.max"; `of`: "pool[p]", or NULL: all. Over a part of the run only with keep_series. False:
 * unknown. */
bool pooler_metric(const Pooler *p, const char *metric, const char *of, int64_t from_ns, int64_t to_ns, double *value);
