/* tables.h - the entries of the tables that the model's state is made of. Private; others use pooler.h.
 *
 * No addresses, ids from 0, references + 1 (0 is nobody), and an entry that is free is all zero. What a field says is
 * said once, here; who may change it is the file that its section names. */
#pragma once
#include "model/pooler/pooler.h"

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
  SVF_FOR_CANCEL = 262144,  /* opened while a cancel waited for a connection (openings_carry) */
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
  int64_t spent_ns; /* retry_from_start: of an attempt, on its connect */
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
  SEF_ORPHAN = 64,   /* gone, and the pooler does not know */
  SEF_EXPIRED = 128, /* its limit of waiting is over, and the pass has not seen it yet */
  SEF_ENDS = 256,    /* its client's end stands behind a request that the pooler has not read */
  SEF_LEFT = 512,    /* its client has gone without a word, and the pooler reads nothing before its turn */
  SEF_RUDE = 1024    /* its client said no goodbye (react.client_eof: spend) */
};
typedef struct {
  uint8_t state, pc, request, result;
  uint8_t answers, rows; /* servers that have still to answer; rows of first_row that were forwarded */
  uint16_t flags, client, process, pool;
  uint16_t query;          /* number in the script */
  uint16_t held[HELD_MAX]; /* server + 1 */
  uint16_t wants;          /* pool + 1 whose server it waits for */
  uint16_t mailbox;        /* server + 1: sent, not yet received */
  uint16_t first_row;      /* server + 1 whose row came first */
  uint16_t spotted;        /* server + 1: seen idle, not yet taken */
  uint16_t polls;
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
  XF_JUDGED = 16384,
  XF_EXPIRED = 32768 /* its limit of waiting is over, and the pass has not seen it yet */
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
  uint16_t ahead, child;        /* carrier: child: waiters before it in line; what it has: child.c */
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
  PLF_SPACED = 256,    /* one was closed for its age not long ago (lifetime_spaced) */
  PLF_WELCOME = 1024,  /* it has had a server connection */
  PLF_NO_LOGIN = 2048, /* the last login at a server failed (fast_fail) */
  PLF_NEW = 512        /* of a reload: opens nothing before it has taken over */
};
typedef struct {
  uint16_t flags, n_idle, n_waiters, n_parked;
  uint16_t opening, carriers, attempts; /* under way; carriers: sockets of cancels; attempts: not yet connected */
  uint16_t failures;
  uint16_t next_host, banned; /* bit i: its server i */
  uint16_t bare;              /* children that a cancel has, and that have no connection (carrier: child) */
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
