/* state.h - what the model's files share: its state and the steps on it. Private; others use pooler.h.
 *
 * All that can influence the future is in tables of the arena, sized by the configuration: no addresses, ids from 0,
 * references + 1 (0 is nobody), and an entry that is free is all zero. What is only measured is in Measure, outside.
 *
 * Processes: a client runs a script; a session is the pooler's side of a client's connection (check-out, waiting); a
 * server connection runs queries and is checked in by its own steps; a cancel goes through its stages; the tick, the
 * watches (limits of age and idleness) and the environment's events are one process each. */
#pragma once
#include "model/pooler/outcome.h"
#include "model/pooler/pooler.h"
#include "model/postgres/host.h"
#include <string.h>

enum { HELD_MAX = 4, DIRECT = UINT16_MAX, QUERY_END = UINT16_MAX };

/* ---- server connections ---- */
typedef enum {
  SV_FREE,
  SV_OPENING,  /* connecting, then logging in */
  SV_IDLE,     /* on its pool's idle list */
  SV_TAKEN,    /* checked out */
  SV_FENCED,   /* released, but a cancel may still hit it */
  SV_CLEANING, /* released; the pooler's own query runs on it */
  SV_CLOSING
} ServerState;
enum {
  SVF_DIRTY = 1,            /* its session needs cleaning up */
  SVF_OLD = 2,              /* past server_lifetime */
  SVF_STALE = 4,            /* idle for longer than check_delay */
  SVF_IDLE_LONG = 8,        /* idle for longer than server_idle_timeout */
  SVF_BROKEN = 16,          /* its backend is gone, and the socket says so */
  SVF_CUT = 32,             /* its backend is gone, and nobody was told */
  SVF_UNASKED = 64,         /* bytes that nobody asked for */
  SVF_CANCELLED = 128,      /* its last query ended with 57014 */
  SVF_RETIRE = 256,         /* a cancel was meant for it: not to be used again */
  SVF_RELEASED = 512,       /* its owner let go while its query still ran or its cleaning is due */
  SVF_SPENT = 1024,         /* to be closed when it comes back */
  SVF_LOCKED = 2048,        /* holds a lock of the database */
  SVF_OWN_DONE = 4096,      /* the pooler's own query of this check-out has run */
  SVF_ERROR = 8192,         /* its last query failed */
  SVF_CHECKED_IN = 16384,   /* in no table of checked-out connections */
  SVF_UNCOUNTED = 131072,   /* decided to open it, but nobody has counted it yet */
  SVF_SESSION_LOCK = 65536, /* its lock outlives the transaction */
  SVF_DRAINED = 32768       /* an empty statement has absorbed what was late */
};
typedef enum { OWN_NONE, OWN_CHECKOUT, OWN_CHECK, OWN_CHECKIN, OWN_DRAIN } OwnQuery;
/* What the process of a server connection does next. */
typedef enum {
  SP_CONNECT,
  SP_LOGIN,
  SP_READY,
  SP_IDLE,
  SP_START,
  SP_CORE,
  SP_LOCK,
  SP_END,
  SP_REPLY,
  SP_OWN_START,
  SP_OWN_END,
  SP_LATE,
  SP_CHECK_IN,
  SP_WAKE,
  SP_CLOSE,
  SP_COUNT
} ServerStage;
typedef struct {
  uint8_t state, pc, own, core; /* own: OwnQuery; core: it has one of its host's */
  uint32_t flags;
  uint16_t pool;              /* DIRECT: a client's own */
  uint16_t host;              /* index of the postmaster */
  uint16_t backend;           /* there, + 1 */
  uint16_t owner, last_owner; /* session + 1; last: who had it before it was released */
  uint16_t fences;            /* cancels that hold it */
  uint16_t directed, seen;    /* retire_session, drain_57014: cancels meant for it, 57014s it has returned since */
  uint16_t tenancy;           /* generation_check: counts check-outs, or commands */
  uint16_t lock;              /* held or waited for, + 1 */
  uint32_t seq;               /* counts openings of its pooler process */
  uint32_t pid, secret;       /* what BackendKeyData said */
  ProcId proc;
} Server;

/* ---- clients and their sessions ---- */
typedef enum { CL_NONE, CL_CONNECTING, CL_IDLE, CL_QUEUED, CL_RUNNING, CL_GONE } SessionState;
typedef enum { REQ_NONE, REQ_CONNECT, REQ_QUERY, REQ_END, REQ_CLOSE } Request; /* END: commit or rollback */
typedef enum { RES_OK, RES_ERROR, RES_CANCELLED, RES_TIMEOUT, RES_REFUSED } QueryResult;
enum {
  SEF_TRANSACTION = 1,
  SEF_DEQUEUED = 2,
  SEF_OFFLINE = 4,
  SEF_FED = 8,
  SEF_LAST_POLL = 16,
  SEF_OVERDUE = 32,
  SEF_ORPHAN = 64 /* gone, and the pooler does not know */
};
typedef struct {
  uint8_t state, pc, flags, request, result;
  uint8_t answers; /* servers that have still to answer */
  uint16_t client, process, pool;
  uint16_t query;          /* number in the script */
  uint16_t held[HELD_MAX]; /* server + 1 */
  uint16_t wants;          /* pool + 1 whose server it waits for */
  uint16_t mailbox;        /* server + 1: sent, not yet received */
  uint16_t first_row;      /* server + 1 whose row came first; rows: how many were forwarded */
  uint8_t rows, polls;
  uint16_t spotted;   /* server + 1: seen idle, not yet taken */
  uint32_t waited_ms; /* by polls */
  uint32_t key_pid, key_secret;
  ProcId proc;
} Session;

enum {
  CLF_ENDED = 1,
  CLF_ARRIVED = 2,
  CLF_FAILED = 4,
  CLF_WAITING = 8,
  CLF_DEADLINE = 16,
  CLF_FENCE = 32,
  CLF_CANCELLED = 64,
  CLF_OVER = 128
};
typedef struct {
  uint16_t def, copy; /* entry of the scenario, which of its copies */
  uint16_t pc, flags;
  uint16_t cancels; /* of its own, not over yet */
  uint16_t loops[LOOPS_MAX];
  uint8_t depth, stage;
  uint64_t sent, done; /* bit i: query i */
  ProcId proc;
} Client;

/* ---- cancels: what comes next (poolers.md C.2) ---- */
typedef enum {
  X_NONE,
  X_SENT,   /* waits for its moment, or for its query to be sent */
  X_ACCEPT, /* under way to the pooler */
  X_AUTH,   /* accepted */
  X_LOOKUP, /* authenticated, looked up at arrival */
  X_QUEUE,  /* needs a carrier */
  X_PARKED, /* waits for one */
  X_FORWARD_LOOKUP,
  X_CONNECT,
  X_FORWARD, /* connected; its key is read from the link */
  X_DELIVER, /* written */
  X_MATCH,   /* delivered: the server's child has read it */
  X_SIGNAL,  /* matched: a pid is known */
  X_EOF,     /* signalled, or refused */
  X_STUCK,   /* waits for what does not come */
  X_HANDLE,  /* over but for the signal */
  X_COUNT
} CancelStage;
enum {
  XF_STALE = 1,
  XF_LINKED = 2,
  XF_FENCE = 4,
  XF_UNLINKED = 8,
  XF_TURN = 16,
  XF_FORWARDED = 32,
  XF_HANDLED = 64,
  XF_AT = 128,
  XF_BY_SECRET = 256,
  XF_HIT_BACKEND = 512,
  XF_CARRIER = 1024,
  XF_TOLD = 2048,
  XF_SIGNALLED = 4096,
  XF_TWIN = 8192, /* a second carrier of the same cancel (carrier: twice) */
  XF_JUDGED = 16384
};
typedef struct {
  uint8_t stage;
  uint8_t cursor; /* of fan-out: the pool it is at */
  uint16_t flags;
  uint16_t client, session, query; /* whom it is meant for: ghosts; session + 1 */
  uint16_t process;
  uint16_t server, tenancy;     /* link, or what its fence holds; + 1 */
  uint16_t pool;                /* of the carrier */
  uint16_t host, backend;       /* where it is going; backend + 1 once signalled */
  uint16_t hops, asked;         /* asked: session + 1 that the key found */
  uint32_t key_pid, key_secret; /* what the client says */
  uint32_t pid, secret;         /* what the carrier says */
  ProcId proc, signal;
} Cancel;

/* ---- pools ---- */
typedef struct {
  uint32_t key;         /* of G0, G2: which pair; of client maps: session + 1 */
  uint32_t client;      /* session + 1 */
  uint64_t server;      /* identity */
  uint32_t slot;        /* server + 1 that it was made for */
  uint32_t pid, secret; /* its key: what a look-up copies */
  uint32_t host;
} TakenEntry;
typedef struct {
  uint16_t n_pairs, n_clients, n_servers;
  uint32_t counter;
} TakenHead;

enum {
  PLF_PAUSED = 1,
  PLF_OFFLINE = 2,
  PLF_POKED = 4,
  PLF_FAILED = 8,
  PLF_ASLEEP = 16,
  PLF_FATAL = 64,
  PLF_SHUTDOWN = 128,
  PLF_SPACED = 256, /* one was closed for its age not long ago (lifetime_spaced) */
  PLF_NEW = 512     /* of a reload: opens nothing before it has taken over */
};
typedef struct {
  uint16_t flags, n_idle, n_waiters, n_parked;
  uint16_t opening, carriers, attempts; /* under way; carriers: sockets of cancels; attempts: not yet connected */
  uint16_t failures;
  uint16_t next_host, banned; /* bit i: its server i */
  TakenHead taken;
} Pool;

typedef struct {
  uint32_t keys, seq, secrets;                                /* counters of identities */
  uint16_t flags, /* PRF_: it takes no new clients */ midway; /* split steps */
  uint16_t busy;                                              /* workers */
} Process;

enum { PRF_DOWN = 1, PRF_SHUTDOWN = 2, PRF_OVER = 4 /* it serves nobody any more */ };

typedef struct {
  uint16_t lock_owner; /* server + 1 */
} Lock;

typedef struct {
  uint32_t clients_left, sockets, sessions;
  uint16_t next_process, config, config_before, generation;
  uint32_t moments; /* bit i: moment i has passed */
  uint16_t turn_counter, errors;
} Shared;

typedef struct Measure Measure;

struct Pooler {
  World *w;
  GPtrArray *configs; /* of const PoolerConfig*: the first, then those of events; shared->config says which holds */
  Shared *shared;
  Process *processes;
  Pool *pools; /* [process * n_pools + pool] */
  Server *servers;
  Session *sessions;
  Client *clients;
  Cancel *cancels;
  Lock *locks;
  PgHost **hosts;
  PgHostConfig *host_configs;
  uint16_t *idle, *waiters, *parked;         /* of each pool: rows of max_idle, max_waiters, max_parked */
  TakenEntry *pairs, *by_client, *by_server; /* of each pool: rows of max_servers_per_pool */
  ObjectId *q_client, *q_session, *q_server, *q_cancel, *q_lock, *q_core, *q_watch, *q_age, *q_reserve, *q_pool,
      *q_fence;       /* NULL: nothing of the kind is watched */
  ObjectId *q_worker; /* by process */
  ObjectId q_tick;
  int *cores_free;          /* in the arena */
  uint8_t *cut;             /* there too: links that an event has cut, by link and server */
  guint pools_each, stride; /* pools of a process, sessions of a client */
  guint n_pools, n_servers, n_sessions, n_clients, n_cancels;
  guint row_servers, row_waiters, row_parked;                                   /* lengths of rows */
  ProcId client_procs, session_procs, server_procs, cancel_procs, signal_procs; /* the first; one for each entry */
  TypeId t_tick, t_watch, t_event, t_arrivals, t_moment;
  ChoiceId ch_delay, ch_process, ch_host, ch_loss, ch_signal;
  Measure *measure;
  bool timed, moves; /* moves: a reload may come; there are two sets of pools, and connections change theirs */
  guint n_events;
  ObjectId *q_event, q_shutdown;
  bool calm, left_alone; /* footprint.c */
  struct Naming *naming; /* NULL until symmetry is asked for */
};

/* Behind the pools': the server connection of a session without a pooler. */
static inline guint direct_server(const Pooler *p, guint session) {
  return p->n_pools * p->row_servers + session;
}
static inline Pool *pool_at(const Pooler *p, guint i) {
  g_assert(i < p->n_pools);
  return &p->pools[i];
}
static inline const PoolerConfig *config_of(const Pooler *p) {
  return p->configs->pdata[p->shared->config];
}
static inline const PoolConfig *pool_config(const Pooler *p, guint pool) {
  return &config_of(p)->pools[pool % p->pools_each];
}
static inline guint pool_process(const Pooler *p, guint pool) {
  return pool / p->pools_each % (guint)config_of(p)->processes;
}
/* Pool k of a process, as requests find it now. */
static inline guint pool_of(const Pooler *p, guint process, guint k) {
  return (p->shared->generation * (guint)config_of(p)->processes + process) * p->pools_each + k;
}
static inline guint server_id(const Pooler *p, const Server *s) {
  return (guint)(s - p->servers);
}
static inline guint session_id(const Pooler *p, const Session *e) {
  return (guint)(e - p->sessions);
}
static inline guint cancel_id(const Pooler *p, const Cancel *x) {
  return (guint)(x - p->cancels);
}
static inline guint pool_id(const Pooler *p, const Pool *pl) {
  return (guint)(pl - p->pools);
}
static inline const ClientDef *client_def(const Pooler *p, const Client *c) {
  return &config_of(p)->work.clients[c->def];
}
static inline const Script *client_script(const Pooler *p, const Client *c) {
  return client_def(p, c)->script;
}
static inline Client *session_client(const Pooler *p, const Session *e) {
  return &p->clients[e->client];
}
/* NULL: a commit or rollback. */
static inline const QueryDef *session_query(const Pooler *p, const Session *e) {
  return e->query == QUERY_END ? NULL : &client_script(p, session_client(p, e))->queries[e->query];
}
static inline PgBackend *server_backend(const Pooler *p, const Server *s) {
  return s->backend ? &p->hosts[s->host]->backends[s->backend - 1] : NULL;
}

/* The same pool, before or after a reload. */
static inline bool pool_alike(const Pooler *p, guint a, guint b) {
  return a == b || (p->moves && a != DIRECT && b != DIRECT && a % (p->n_pools / 2) == b % (p->n_pools / 2));
}

/* Server connections of a pool; its own row, unless a reload has moved some. */
static inline Server *pool_first(const Pooler *p, guint pool) {
  return p->servers + (p->moves ? 0 : pool * p->row_servers);
}
static inline Server *pool_last(const Pooler *p, guint pool) {
  return p->servers + (p->moves ? p->n_pools : pool + 1) * p->row_servers;
}
#define EACH_SERVER(p, pool_, s)                                                                                       \
  for (Server *s = pool_first(p, pool_); s < pool_last(p, pool_); s++)                                                 \
    if (s->state != SV_FREE && s->pool == (pool_))

/* The process of an entry of a table: always the same one. */
static inline ProcId spawn_for(const Pooler *p, ProcId first, guint entry, int64_t after_ns) {
  world_spawn_as(p->w, first + entry, after_ns);
  *(uint32_t *)world_locals(p->w, first + entry) = entry;
  return first + entry;
}

/* ---- draw.c: times ---- */
int64_t draw_ns(const Pooler *p, const Delay *d);
const LinkConfig *link_of(const Pooler *p, PoolerLink which, guint server);
int64_t link_delay(const Pooler *p, PoolerLink which, guint server);
int64_t link_connect(const Pooler *p, PoolerLink which, guint server);
LinkFault link_fault(const Pooler *p, PoolerLink which, guint server);
bool link_loses(const Pooler *p, PoolerLink which, guint server);
Step wait_ns(int64_t ns);                                                       /* 0: goes on at once */
Step wait_on(const Pooler *p, ObjectId q, ProcId self, bool limit, int64_t ns); /* NO_LIMIT: without a timer */
guint step_times(const Pooler *p, guint pool, PoolStep s);
bool step_is(const Pooler *p, guint pool, PoolStep s, Deviation how);
int64_t step_late(const Pooler *p, guint pool, PoolStep s); /* 0: not late */
bool step_splits(Pooler *p, guint pool, PoolStep s); /* true: its second half comes with step_joined, a step later */
void step_joined(Pooler *p, guint pool);

/* ---- server_identity.c, client_identity.c, taken.c ---- */
uint64_t server_identity(const Pooler *p, const Server *s);
bool identity_by_secret(const PoolConfig *c);
enum { PID_BYTES = 4, SEQ_BYTES = 8 };
guint identity_bytes(const Pooler *p, guint pool, guint host); /* of a whole key */
guint identity_moved(const Pooler *p, guint pool, guint host); /* by a transaction, beside the table's (key_moves) */
void client_key_make(Pooler *p, Session *e, const Server *real);
int client_key_find(const Pooler *p, guint process, uint32_t pid, uint32_t secret); /* session, -1 */
int client_key_process(const Pooler *p, const Cancel *x);                           /* who owns the key; -1: not told */
void taken_take(Pooler *p, guint pool, guint session, const Server *s);
bool taken_check_in(Pooler *p, guint pool, const Server *s);             /* false: untracked */
void taken_unmap(Pooler *p, guint pool, const Server *s, guint session); /* the client's entry alone */
guint taken_bytes(const Pooler *p, guint pool, guint host); /* copied and hashed by a take; by a check-in as many */
guint taken_len(const Pooler *p, guint pool);
/* Entry of the client's cancel map; NULL: none. */
const TakenEntry *taken_entry(const Pooler *p, guint pool, guint session);
void taken_move(Pooler *p, guint from, guint to, bool merge);

/* ---- pool.c, growth.c ---- */
void pool_receive(Pooler *p, Session *e);
void pool_unreceived(Pooler *p, Session *e);
bool caps_take(Pooler *p, Server *s); /* a shared cap gives its place to another pool: it is closed */
void caps_freed(Pooler *p, guint pool);
guint pool_total(const Pooler *p, guint pool); /* as the pool itself counts */
bool pool_check_out(Pooler *p, Session *e, guint pool);
void pool_enqueue(Pooler *p, Session *e, guint pool);
bool pool_dequeue(Pooler *p, Session *e);
void pool_release(Pooler *p, Server *s);  /* its owner lets go */
void pool_check_in(Pooler *p, Server *s); /* cleaned: back to the pool, a fence, or closed */
void pool_put(Pooler *p, Server *s);      /* to the first waiter, or idle */
void pool_unfence(Pooler *p, Server *s);
Server *pool_spot(const Pooler *p, const Session *e, guint pool); /* what it would take; NULL */
void pool_take_spotted(Pooler *p, Session *e);                    /* whoever has it by now */
void pool_leave(Pooler *p, Session *e);                           /* its limit has passed */
void pool_forget_idle(Pooler *p, Server *s);
void pool_grow(Pooler *p, guint pool, Poke why);
void pool_opened(Pooler *p, Server *s, bool well);
void pool_opening_dropped(Pooler *p, Server *s);
guint pool_live(const Pooler *p, guint pool);
void tick_wake(Pooler *p);
bool pool_bans(const Pooler *p, guint pool, guint host);
bool pool_spares_old(Pooler *p, Server *s); /* too old, but another one was closed not long ago */
void pool_sleep(Pooler *p, guint pool);     /* no opening before server_login_retry, or the back-off, is over */
bool pool_should_grow(const Pooler *p, guint pool);
void watches_end(Pooler *p);
/* which: of what kind WATCH_BAN says; else 0. */
void watch_start(Pooler *p, guint kind, guint id, int64_t ns, bool limit, ObjectId on, guint which);
enum {
  WATCH_AGE,
  WATCH_IDLE,
  WATCH_STALE,
  WATCH_MAP, /* these three: steps that come late */
  WATCH_UNMAP,
  WATCH_UNLINK,
  WATCH_UNFENCE,
  WATCH_OF_SERVER = WATCH_UNFENCE, /* all up to here */
  WATCH_RETRY,
  WATCH_FENCE,
  WATCH_RESERVE,
  WATCH_BAN,
  WATCH_SPACED,
  WATCH_SHUTDOWN
};

/* ---- server.c ---- */
Server *server_dial(Pooler *p, guint slot, guint pool, guint host);
bool server_drain(Pooler *p, Server *s);             /* true: an empty statement runs on it first */
void server_settle(Pooler *p, Server *s);            /* another process has changed what it does next */
Step server_next(Pooler *p, Server *s, ProcId self); /* for its own process */
void server_unlock(Pooler *p, Server *s);
void backend_forget(const Server *s, PgBackend *b);
void server_lost(Pooler *p, Server *s); /* its owner has lost it */
Step server_core(Pooler *p, Server *s, ProcId self, int64_t cpu_ns);
void server_core_back(Pooler *p, Server *s);
Step server_own_start(Pooler *p, Server *s, ProcId self);
Step server_own_end(Pooler *p, Server *s, ProcId self);
void server_unexpected(Pooler *p, Server *s);
Step server_gone(Pooler *p, Server *s); /* the last step */
extern const ProcessType server_type;
void server_run(Pooler *p, Server *s, int64_t after_ns); /* its owner's query */
void server_close(Pooler *p, Server *s);
void server_link_back(Pooler *p, Server *s); /* the link to it is no longer cut */
void server_interrupt(Pooler *p, Server *s); /* its query ends now */
void server_die(Pooler *p, Server *s, bool silent);
void server_state(Pooler *p, Server *s, ServerState to);
void server_watch(Pooler *p, Server *s);
void watch_idle(Pooler *p, const Server *s, bool idle);

/* ---- session.c ---- */
void session_state(Pooler *p, Session *e, SessionState to);
void session_ask(Pooler *p, Session *e, Request what, int64_t after_ns);
void session_answer(Pooler *p, Session *e, QueryResult r);
void session_wake(Pooler *p, Session *e, int64_t after_ns);
void session_end(Pooler *p, Session *e, bool goodbye); /* by the client */
void session_close(Pooler *p, Session *e);
Server *session_server(const Pooler *p, const Session *e, guint pool);
bool session_holds(const Session *e, guint server);
void session_drop(Session *e, guint server);
void session_connected(Pooler *p, Session *e, const Server *real);
void session_retry(Pooler *p, Session *e);
bool session_sleeps(const Session *e); /* until a server connection is there */
int session_new(Pooler *p, guint client, guint k);
extern const ProcessType session_type;

/* ---- environment.c, arrivals.c, reload.c ---- */
void events_look(Pooler *p);
void reload_begin(Pooler *p);
void reload_move(Pooler *p);
void pooler_process_down(Pooler *p, int process);
void pooler_process_up(Pooler *p, int process);
void pooler_shutdown(Pooler *p, int process);
void pooler_shutdown_ends(Pooler *p);
void shutdown_due(Pooler *p);
void pool_serve(Pooler *p, guint pool); /* waiters get what is idle */
void event_start(Pooler *p, guint event);
void moment_start(Pooler *p, guint moment);
void arrivals_start(Pooler *p, guint def, guint first, guint slots);

/* ---- footprint.c: for the guides of types ---- */
void footprints_prepare(Pooler *p);
void cancel_footprint(const World *w, ProcId self, const void *locals, Footprint *f);
void server_footprint(const World *w, ProcId self, const void *locals, Footprint *f);
void client_footprint(const World *w, ProcId self, const void *locals, Footprint *f);
bool client_rests(const Client *c); /* client.c: between two entries, or asleep in one */

/* ---- measure.c: beside the state ---- */
Measure *measure_new(const Pooler *p);
void measure_free(Measure *m);
typedef enum {
  COUNT_SERVED,
  COUNT_TIMEOUTS,
  COUNT_OVERTAKES,
  COUNT_OPENS,
  COUNT_ATTEMPTS, /* opens, and connections for cancels */
  COUNT_WAKEUPS,
  COUNT_COLLISIONS,
  COUNT_COUNT
} Count;
void measure_count(Pooler *p, guint pool, Count what, guint n);
void measure_bytes(Pooler *p, guint n);
void measure_server(Pooler *p, const Server *s, int was); /* ServerState; -1: is new or gone */
void measure_used(Pooler *p, const Server *s);            /* an idle one is due for a check from now on */
void measure_session(Pooler *p, const Session *e, int was);
void measure_cancel(Pooler *p, const Cancel *x, Outcome o);
void measure_wait_begin(Pooler *p, const Session *e);
void measure_wait_end(Pooler *p, const Session *e, bool served);
void measure_query(Pooler *p, const Session *e, QueryResult r);
void measure_reset(Pooler *p); /* a query failed on its way to the pooler */
void measure_refused(Pooler *p, const Client *c);
void measure_deadline(Pooler *p, const Client *c);
void measure_cancel_sent(Pooler *p, const Cancel *x);
void measure_cancel_goes_on(Pooler *p, const Cancel *x, const Cancel *y);
void measure_cancel_over(Pooler *p, const Cancel *x);
void measure_cancel_forwarded(Pooler *p, const Cancel *x);
void measure_backend(Pooler *p, guint host, int by);
void measure_map(Pooler *p, guint pool, guint entries);
void measure_asked(Pooler *p, const Session *e);
void measure_carrier(Pooler *p, guint pool, int by);
/* Marks the step (world_mark), and says why. */
void pooler_mark(Pooler *p, uint64_t mark, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* ---- client.c ---- */
void client_drawn(Pooler *p, guint client); /* its start is drawn: what does not count from it begins now */
void client_start(Pooler *p, guint client, int64_t after_ns);
void client_server_gone(Pooler *p, guint server); /* of a session without a pooler */
void client_wake(Pooler *p, Client *c, int64_t after_ns);
extern const TypeGuide client_guide, session_guide, server_guide, cancel_guide, event_guide, moment_guide,
    arrivals_guide, signal_guide, tick_guide, watch_guide;
extern const ProcessType client_type, cancel_type, signal_type, tick_type, watch_type, event_type, arrivals_type,
    moment_type;

/* ---- cancel.c, carrier.c, fence.c, lookup.c, outcome.c ---- */
Cancel *cancel_start(Pooler *p, guint client, guint session, guint query, const CancelDef *def);
void cancels_of_query_sent(Pooler *p, Client *c, guint session, guint query);
void cancels_mark_stale(Pooler *p, guint client, guint query);
guint cancels_sent_by(const Pooler *p, guint client);
void cancel_wake(Pooler *p, Cancel *x);
void cancel_handle(Pooler *p, Cancel *x, bool absorbed);
void cancels_handle_all(Pooler *p, const Server *s, bool absorbed);
void outcome_keep(Pooler *p, Cancel *x, Outcome o, const PgBackend *b);
typedef enum { LOOKED_UP, LOOKED_NOTHING, LOOKED_AMISS } LookedUp;
LookedUp lookup_server(Pooler *p, Cancel *x, guint pool);
bool lookup_key(Pooler *p, Cancel *x); /* of its link, at the forward; false: unlinked */
void fence_looked_up(Pooler *p, Cancel *x, Server *s);
void fence_forwarded(Pooler *p, Cancel *x, Server *s);
void fence_answered(const Pooler *p, Server *s);
void fence_over(Pooler *p, Cancel *x); /* the cancel is done with it; a fixed time goes on */
void fence_lift(Pooler *p, Cancel *x);
bool fence_goes_on(const Pooler *p, const Cancel *x);
void fence_end(Pooler *p, Server *s); /* one cancel fewer holds it */
void fence_unlink(Pooler *p, const Server *s);
void fence_closed(Pooler *p, const Server *s); /* its links are gone */
void fence_release(Pooler *p, Server *s);      /* its owner let go: unlinks */
bool fence_holds(const Pooler *p, const Server *s);
void fence_limit(Pooler *p, const Cancel *x);
bool fence_passes(const Pooler *p, const Cancel *x); /* generation_check, before the connect */
bool carrier_turn(Pooler *p, Cancel *x);             /* false: it is parked */
void carrier_done(Pooler *p, Cancel *x, bool well);
void carrier_leave(Pooler *p, Cancel *x);
void carrier_query_ended(Pooler *p, const Session *e); /* whose query has been answered */
void carrier_connected(Pooler *p, Cancel *x);
const char *pooler_client_name(const Pooler *p, guint client); /* until the next call */

/* ---- said.c: who is who in a sequence chart, and what one says to another ---- */
typedef enum { PARTY_CLIENT, PARTY_POOLER, PARTY_SERVER, PARTY_CANCEL, PARTY_HOST } PartyKind;
typedef struct {
  PartyKind kind;
  guint id; /* index; of a pooler: its process */
} Party;
Party party_client(guint client);
Party party_session(const Session *e); /* its pooler; its client, where none stands between */
Party party_server(const Pooler *p, const Server *s);
Party party_owner(const Pooler *p, const Server *s); /* whose connection it is: its pooler's, or its client's */
Party party_cancel(const Pooler *p, const Cancel *x);
void said(Pooler *p, ProcId by, Party from, Party to, const char *format, ...) G_GNUC_PRINTF(5, 6);
void said_pid(Pooler *p, ProcId by, uint32_t pid);                  /* the key that it learns, or has found */
void said_runs(Pooler *p, ProcId by, const Session *e);             /* the query that starts or ends */
const char *said_query(const Pooler *p, guint client, guint query); /* its tag */
void client_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of); /* of TypeGuide */
void session_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void server_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void cancel_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void signal_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
bool carrier_next(Pooler *p, guint pool);
