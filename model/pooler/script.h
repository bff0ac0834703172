/* script.h - what clients and the environment do, compiled: a scenario's `clients`, `events` and named moments as
 * tables of fixed-size entries that a model reads and never writes. sim fills them from YAML and keeps them for as long
 * as the model lives; the model keeps indices into them. Indices count from 0; NONE stands for "not given". Times are
 * ns. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { NONE = -1, NO_LIMIT = -1, SESSIONS_MAX = 4, LOOPS_MAX = 3, QUERIES_MAX = 64 };

/* A duration, or a draw of one: T | {exp: T} | {uniform: [T, T]}. FIXED: low = high; EXP: the mean in both. */
typedef enum { DELAY_FIXED, DELAY_EXP, DELAY_UNIFORM } DelayKind;
typedef struct {
  DelayKind kind;
  int64_t low, high;
} Delay;

/* ---- a client's script ---- */

typedef enum {
  OP_CONNECT,    /* connect. session: 0 the client's own, 1.. `as` names in order of first use */
  OP_BEGIN,      /* begin: no trip of its own; the next query opens the transaction */
  OP_COMMIT,     /* commit, delay = runs */
  OP_ROLLBACK,   /* rollback, delay = runs */
  OP_QUERY,      /* query, index = of QueryDef. Goes on when it is answered, or at once when async */
  OP_CANCEL,     /* cancel: in this place only when CANCEL_HERE; see CancelDef. index = of CancelDef */
  OP_AWAIT,      /* await, index = of QueryDef: until it has been answered */
  OP_WAIT,       /* wait, delay */
  OP_DISCONNECT, /* says goodbye */
  OP_VANISH,     /* does not */
  OP_LOOP,       /* loop: times = N, or moment = of `until`; target = index of its OP_END_LOOP */
  OP_END_LOOP,   /* target = index of its OP_LOOP */
  OP_END         /* the last of each script */
} OpCode;
typedef struct {
  OpCode code;
  int session, index, target, times, moment; /* moment: index into Workload.moments; NONE: by times */
  Delay delay;
} Op;

typedef enum { HOLD_QUERY, HOLD_TRANSACTION, HOLD_SESSION } LockHold;
enum { ON_DEADLINE_CANCEL = 1, ON_DEADLINE_WAIT = 2, ON_DEADLINE_DISCONNECT = 4 }; /* a set; 0: goes on at once */
typedef struct {
  const char *tag; /* unique in the script; a query without one gets "#N" */
  Delay runs, cpu;
  bool ends_in_error, dirty, async;
  uint32_t pools;      /* bit i: pool i, all at once (a query over shards); 0: the client's pool */
  int64_t deadline_ns; /* from sending; NO_LIMIT */
  unsigned on_deadline;
  int lock; /* index into Workload.locks; NONE */
  LockHold hold;
} QueryDef;

/* CANCEL_AT, CANCEL_AFTER stand beside their query: started when it is sent (AFTER), or at the moment `at` of the
 * scenario but not before it was sent (AT). CANCEL_HERE: when the script comes to its op. */
typedef enum { CANCEL_HERE, CANCEL_AT, CANCEL_AFTER } CancelWhen;
typedef struct {
  int query; /* of the same script */
  CancelWhen when;
  Delay delay; /* AT: from the scenario's start; AFTER: from the query's sending */
  int times;
} CancelDef;

typedef struct {
  const Op *ops; /* the last is OP_END */
  const QueryDef *queries;
  const CancelDef *cancels;
  int n_ops, n_queries, n_cancels, n_sessions;
} Script;

typedef enum { CLIENTS_TOGETHER, CLIENTS_EVERY, CLIENTS_POISSON } ClientArrival;
typedef struct {
  ClientArrival kind;
  int64_t gap_ns; /* EVERY: between two; POISSON: mean */
  int64_t for_ns; /* NO_LIMIT: until count or the scenario's end */
} ArrivalPhase;

/* The fences a driver keeps before its own next query: FENCE_* of config.h with T. */
typedef struct {
  int kind;
  int64_t limit_ns;
} ClientFence;

typedef enum { AFTER_ERROR_GO_ON, AFTER_ERROR_STOP, AFTER_ERROR_RECONNECT } AfterError;
/* How a driver says a query: as one Query; as Parse, Bind, Execute; the same with a named statement, which is parsed
 * when the connection has none of that name yet. pgbench's --protocol has these words. */
typedef enum { QUERY_SIMPLE, QUERY_EXTENDED, QUERY_PREPARED } QueryMode;
typedef struct {
  const char *name; /* copies of `a` are a.1 .. a.N */
  int count;        /* 0: as many as arrive; then at most `at_once` at a time, others are refused */
  int at_once;
  const Script *script;
  Delay start;
  const ArrivalPhase *arrive;
  int n_arrive;   /* 0: together */
  int via_server; /* index of a server entry: no pooler between; NONE */
  int pool;
  int protocol; /* 30 | 32 */
  bool tls;     /* tls: require; for live alone, as are the next two */
  QueryMode query_mode;
  int64_t cancel_timeout_ns; /* from its sending; NO_LIMIT */
  ClientFence fence;
  AfterError after_error;
} ClientDef;

/* ---- the environment's script ---- */

typedef enum {
  PATH_POOLER,        /* pooler, pooler[i]; index NONE: all */
  PATH_POOL,          /* pool[p] */
  PATH_SERVER,        /* server[s]: a postmaster */
  PATH_CLIENT,        /* client[a]; copy NONE: all its copies */
  PATH_CLIENT_SERVER, /* client[a].server: the server connection it holds */
  PATH_QUERY,         /* query[q]; index = client entry, query = of QueryDef */
  PATH_LINK           /* link.NAME[s]; link = of PoolerLink */
} PathKind;
typedef struct {
  PathKind kind;
  int index, copy, query, link;
} Path;

typedef enum {
  EVENT_KILL,    /* a backend or postmaster dies; sockets close */
  EVENT_CUT,     /* silent death: nobody is told */
  EVENT_RESTART, /* of a postmaster, or of the pooler; with `takes` */
  EVENT_SEND,    /* unasked bytes on a server connection */
  EVENT_RELOAD,  /* pools are built anew and take over connections */
  EVENT_PAUSE,
  EVENT_RESUME,
  EVENT_SHUTDOWN,
  EVENT_SET /* config: what holds from now on */
} EventVerb;
typedef enum {
  STATE_NONE, /* when by `at` */
  STATE_IDLE,
  STATE_QUEUED,
  STATE_RUNNING,
  STATE_TAKEN,
  STATE_FENCED,
  STATE_CLEANING,
  STATE_CONNECTED,
  STATE_SENT,
  STATE_DONE,
  STATE_GONE
} PathState; /* words in lower case: "client[a].server fenced" */
struct PoolerConfig;
typedef struct {
  int64_t at_ns;     /* when == STATE_NONE */
  PathState when;    /* of path `seen` */
  Path seen, target; /* target: what the verb acts on */
  EventVerb verb;
  int bytes;                         /* of EVENT_SEND */
  int64_t takes_ns, for_ns;          /* for: undone after so long; NO_LIMIT: never */
  const struct PoolerConfig *config; /* EVENT_SET, EVENT_RELOAD with new values: the whole file as it is then; NULL */
} EventDef;

typedef struct {
  const ClientDef *clients;
  const EventDef *events;
  const int64_t *moments;   /* each `until` of a loop, from the scenario's start */
  const char *const *locks; /* names */
  int n_clients, n_events, n_moments, n_locks;
} Workload;
