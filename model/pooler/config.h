/* config.h - poolers, servers and the network between them as independent policies. A real pooler is a YAML preset over
 * these. The scenario word of each value is in its comment; key: pooler.<name of the member> unless said otherwise.
 * All times are ns; NO_LIMIT (-1) is `none`. All texts and tables belong to the caller and outlive the model. */
#pragma once
#include "model/pooler/script.h"
#include "model/pooler/steps.h"
#include <glib.h>

/* ---- identity (poolers.md C.3) ---- */
typedef enum {
  IDENTITY_PID_ONLY,        /* pid_only: cancels carry no secret either */
  IDENTITY_PID_SECRET4,     /* pid_secret4 */
  IDENTITY_PID_SECRET_VAR,  /* pid_secret_var: {bytes: N, stored}; as pid_secret4, N bytes copied and hashed */
  IDENTITY_HOST_PID_SECRET, /* host_pid_secret */
  IDENTITY_UNIQUE_SEQ,      /* unique_seq: {width: 64, reset_on_restart: false} */
  IDENTITY_OBJECT_LINK      /* object_link */
} ServerIdentity;
typedef enum {
  CLIENT_REAL_KEY,  /* real_key_passthrough: the key of the server it gets at connect */
  CLIENT_RANDOM64,  /* random64 */
  CLIENT_RANDOM63,  /* random63 */
  CLIENT_COUNTER,   /* counter31_secret: {width: 31} */
  CLIENT_PEER,      /* peer_encoded: 45 random bits, process in the key, three hops */
  CLIENT_RANDOM31X2 /* random31x2 */
} ClientIdentity;
typedef enum { TAKEN_G0, TAKEN_G1, TAKEN_G2, TAKEN_G3, TAKEN_G4 } TakenGeneration; /* G0 .. G4 of B.2 */

/* ---- cancels (C.4) ---- */
typedef enum {
  LOOKUP_ARRIVAL_COPY,
  LOOKUP_ARRIVAL_LINK,
  LOOKUP_FORWARD
} Lookup; /* at_arrival_copy | at_arrival_link |
             at_forward */
typedef enum {
  FENCE_NONE,
  FENCE_UNLINK,       /* unlink_unforwarded (links only) */
  FENCE_HOLD,         /* hold_until_eof; for links: and unlink_unforwarded */
  FENCE_HOLD_TIMEOUT, /* hold_until_eof_with_timeout: T (counts from the forward); also {hold_until: [eof, T]} */
  FENCE_REFCOUNT,     /* refcount_hold */
  FENCE_GENERATION,   /* generation_check: per_checkout | per_command, looked at before the connect */
  FENCE_RETIRE,       /* retire_session: T (grace before sending) */
  FENCE_DRAIN,        /* drain_57014: hold until EOF, then an empty statement */
  FENCE_WAIT          /* {hold_until: [T]}: a fixed time from the forward, whatever became of the cancel */
} Fence;
typedef enum { GENERATION_CHECKOUT, GENERATION_COMMAND } GenerationStep;
typedef enum { ACK_NONE, ACK_EOF } Ack; /* fire_and_forget | wait_eof | {wait_eof: T} */
typedef enum {
  CARRIER_UNLIMITED,
  CARRIER_ONE,
  CARRIER_SEMAPHORE,
  CARRIER_CHILD
} Carrier; /* unlimited | {one_at_a_time_cap: N} |
              {semaphore: {slots, queue_timeout}} | child */
typedef enum {
  FANOUT_FIRST,     /* first_match */
  FANOUT_ALL_STOP,  /* all_pools_stop_on_error */
  FANOUT_ALL_NODES, /* all_nodes: every server the client holds, node_gap apart */
  FANOUT_ALL        /* all_pools: try all, then report */
} Fanout;
typedef enum { QUEUED_IGNORE, QUEUED_DEQUEUE } QueuedClient;     /* ignore | dequeue_and_error */
typedef enum { AUTH_NONE, AUTH_SECRET, AUTH_SECRET_CONST } Auth; /* none | secret_eq | secret_const_time */

/* ---- pools ---- */
typedef enum { MODE_SESSION, MODE_TRANSACTION, MODE_STATEMENT } PoolMode;
typedef enum { IDLE_LIFO, IDLE_FIFO } IdleOrder;          /* idle_order: lifo | fifo (server_round_robin) */
typedef enum { WAITERS_FIFO, WAITERS_POLL } WaiterOrder;  /* waiters: fifo | {poll: {first, factor, max}} */
typedef enum { HANDOFF_CONFIRM, HANDOFF_RECORD } Handoff; /* handoff: confirm | record_then_send */
typedef enum { POKE_REQUEST, POKE_TICK, POKE_EACH } Poke; /* growth.poke: request | tick | each_opening */
enum { PENDING_OPENING = 1, PENDING_CHECKED = 2, PENDING_CLEANING = 4 }; /* growth.pending: a set */
typedef enum { CLEARS_NONE, CLEARS_TRANSACTION, CLEARS_SESSION } Clears; /* own.clears */
typedef enum {
  REACT_ERROR,
  REACT_WAIT,
  REACT_RETRY,
  REACT_CANCEL,
  REACT_CLOSE,
  REACT_FATAL,
  REACT_SPEND
} React; /* react.X */
typedef enum { BALANCE_ROUND_ROBIN, BALANCE_RANDOM, BALANCE_FIRST } Balance;

typedef struct {
  int64_t first_ns, max_ns;
  int factor; /* 0: none */
} BackOff;    /* growth.back_off, waiters.poll */

/* A step of the pooler done otherwise: how a mutant is written. pooler.steps (steps.h) */
typedef enum { DO_AS_IS, DO_SKIP, DO_TWICE, DO_EARLY, DO_SPLIT, DO_OTHERS, DO_LATE } Deviation;
typedef enum {
#define STEP_ID(id, ...) POOLSTEP_##id,
  POOLER_STEPS(STEP_ID)
#undef STEP_ID
      POOLSTEP_COUNT
} PoolStep;
typedef struct {
  uint8_t how; /* Deviation */
  int64_t late_ns;
} StepChange;

enum { POSTMASTERS_MAX = 8 };
typedef struct {
  const char *name, *db, *user; /* pools[].name, .db, .user: whose shared caps count (default: the host; "user") */
  uint8_t n_servers, servers[POSTMASTERS_MAX]; /* host | hosts: postmasters behind the address, indices into servers */
  Balance balance;
  PoolMode mode;              /* pool_mode */
  int size, min, reserve;     /* pool_size, min_pool_size, reserve_pool_size */
  int64_t reserve_timeout_ns; /* reserve_pool_timeout: a waiter's age from which the reserve may grow */
  IdleOrder idle_order;
  WaiterOrder waiters;
  BackOff poll;
  Handoff handoff;
  Poke poke;
  int opening_max;  /* growth.opening_max; 0: none */
  int64_t look_ns;  /* growth.look: where that many are under way, a request looks again after so long; 0: it waits */
  unsigned pending; /* growth.pending */
  BackOff back_off;
  bool full_by_equality;         /* full: equality (S03: an over-full pool was never full) */
  int64_t query_wait_timeout_ns; /* checkout_timeout, pool_timeout, ... */
  int64_t server_connect_timeout_ns, server_login_retry_ns, server_idle_timeout_ns, server_lifetime_ns;
  int64_t check_delay_ns; /* server_check_delay: idle longer: checked at check-out; NO_LIMIT: never */
  bool peek;              /* peek: looks whether the socket is closed, at check-out */
  int64_t ban_timeout_ns; /* ban_timeout: of a server that is not the only one; NO_LIMIT: never banned */
  bool lifetime_spaced;   /* lifetime_spaced: kills for age are server_lifetime / pool_size apart (PgBouncer) */
  struct {
    Delay at_checkout, at_checkin, check; /* own.X: how long the pooler's own query runs; 0: there is none (at_checkin:
                                             still a step of its own, when the session is dirty) */
    bool cancellable, always;             /* own.cancellable; own.always: at every check-in, not only when dirty */
    Clears clears;
    int64_t limit_ns; /* own.limit */
  } own;
  struct {
    React refused, offline, client_eof, unexpected, lost;
  } react;
  ServerIdentity server_identity;
  int identity_bytes, identity_width; /* pid_secret_var's bytes; unique_seq's width in bits */
  bool identity_reset;                /* unique_seq.reset_on_restart */
  bool identity_as_sent;              /* pid_secret_var.stored: as_sent: only the bytes that the server's key has */
  bool moves_pid;                     /* key_moves.of: pid | full */
  int moves; /* key_moves.times: copies and hashes of an identity a transaction, beside those of `taken` */
  TakenGeneration taken;
  Lookup lookup;
  Fence fence;
  int64_t fence_ns; /* its T; NO_LIMIT */
  GenerationStep generation;
  Ack ack;
  int64_t ack_ns; /* wait_eof: T, from the forward; NO_LIMIT */
  Carrier carrier;
  int carrier_slots;              /* one_at_a_time_cap: N times pool_size, all sockets included; semaphore.slots */
  int64_t carrier_queue_ns;       /* semaphore.queue_timeout */
  int64_t cancel_wait_timeout_ns; /* parked cancels only */
  int64_t cancel_connect_timeout_ns;
  bool cancel_to_first;     /* cancel_address: first: every cancel goes to the first server of the file (S05) */
  bool carrier_starves;     /* carrier.starves: a pass that launches a carrier serves nobody else (PgBouncer) */
  bool retry_after_carrier; /* login_retry_reset: a carrier that came through ends the sleep of server_login_retry (S10:
                               false) */
  bool loop_evicts;         /* release_evicts: what comes back idle is closed for another pool's waiter under a cap */
  bool pause_stops_growth;  /* pause_stops_growth: a paused pool opens nothing, whoever waits */
  bool min_by_tick;         /* min_by_tick: min_pool_size is seen to by the periodic pass alone */
  bool limits_by_tick;      /* limits_by_tick: query_wait_timeout is looked at by the periodic pass alone */
  bool error_closes;        /* error_closes_client: an error that is the pooler's own ends the client's connection */
  bool login_waits;         /* first_login_waits: a client's login waits until its pool has had a server connection */
  bool login_takes;         /* first_login_takes: and it has one for itself, which it gives back at once (Odyssey) */
  bool openings_carry;      /* openings_carry: what has come up takes the first parked cancel, or logs in (PgBouncer) */
  bool carrier_opens_once;  /* carrier_opens: arrival; nothing is opened later for a cancel that waits */
  bool retry_from_start;    /* login_retry_from: attempt; server_login_retry counts from its start, not its failure */
  bool fast_fail;           /* fast_fail: refused where the last login failed and no server connection is there */
  bool waiters_unread;      /* waiters_unread: who waits is not read from, and its leaving is not seen */
  bool cancel_forgets;      /* cancel_forgets: a cancel that is done takes its client's entry out of the map (pgcat) */
  bool key_needed;          /* server_key: needed; a login at a server that sends no BackendKeyData has failed */
  bool key_zero;       /* server_key: zero; such a server has pid 0 and secret 0, and a cancel of it is sent (pgcat) */
  bool idle_below_min; /* idle_below_min: server_idle_timeout asks not for min_pool_size (bb8) */
  bool min_evicts;     /* min_evicts: openings for min_pool_size evict under a shared cap (S26) */
  QueuedClient queued_client;
  StepChange steps[POOLSTEP_COUNT];
} PoolConfig;

typedef enum {
  SIGNAL_PROMPT,
  SIGNAL_EXACT,
  SIGNAL_BOUNDED,
  SIGNAL_ANY
} SignalKind; /* prompt | {delayed: T} |
                 {bounded: T} | delayed */
/* servers[].auth, pooler.client_auth: how who logs in is asked for a password, by pg_hba.conf's words. It and `tls` are
 * for live alone: a model's login takes as long as it takes. */
typedef enum { LOGIN_TRUST, LOGIN_PASSWORD, LOGIN_MD5, LOGIN_SCRAM } LoginAuth;
enum { KEY_EMPTY = -1 }; /* key_bytes: BackendKeyData with a secret of length 0 */
/* servers[]: one postmaster. Entries with an equal host are several behind one address. */
typedef struct {
  const char *name, *host;
  SignalKind signal;
  int64_t signal_ns;
  int pid_start, pid_max; /* pids.start: 1000, pids.max: 4194304; then again from 1 + pid_start % pid_max */
  bool pid_at_once;       /* pids.reuse: at_once (lowest free pid) | in_turn */
  bool secret_given;      /* secret: random (never equal to another's) | HEX */
  uint64_t secret;
  int key_bytes; /* key: 4..256, or what no client may accept: 1..1024, KEY_EMPTY; 0: no BackendKeyData (key: none) */
  int cores;     /* 0: none are counted */
  Delay login_cpu;
  Delay login;         /* the rest of a login: the profile's, 0 where none is named */
  int max_connections; /* 0: no limit */
  LoginAuth auth;
  bool tls; /* tls: require: nobody logs in without */
} ServerConfig;

/* network.NAME, also network.NAME[s]. client_to_pooler and cancel_to_pooler have one entry, the others one a server. */
typedef enum {
  LINK_CLIENT_TO_POOLER,
  LINK_CANCEL_TO_POOLER,
  LINK_POOLER_TO_SERVER,
  LINK_CANCEL_TO_SERVER,
  LINK_COUNT
} PoolerLink;
typedef enum { FAULT_NONE, FAULT_REFUSE, FAULT_SILENT, FAULT_RESET, FAULT_NO_EOF } LinkFault;
typedef struct {
  Delay delay, connect; /* connect: twice the delay unless given */
  LinkFault fault;
  double loss; /* share of packets */
} LinkConfig;

typedef struct PoolerConfig {
  const char *preset; /* for messages */
  int processes, workers;
  Balance balance;
  bool peering;    /* peering: all */
  int64_t tick_ns; /* tick: 333ms; NO_LIMIT: no periodic pass */
  ClientIdentity client_identity;
  int client_width; /* counter31_secret.width */
  Auth auth;
  Fanout fanout;
  int64_t node_gap_ns;                                           /* all_nodes: between two */
  int max_db_connections, max_user_connections, max_client_conn; /* 0: none */
  bool pools_in_turn;          /* pools_order: round_robin | fixed: whose waiters get what a shared cap sets free */
  int64_t shutdown_timeout_ns; /* shutdown waits for clients so long; NO_LIMIT */
  bool shutdown_by_servers;    /* shutdown_waits: servers; it ends when none is left, whoever waits */
  bool tick_steady;            /* tick_steady: from the start, whether there is something to do or not */
  bool connect_at_once;  /* connect_at_once: one that takes no time is over before anything else comes (loopback) */
  bool shutdown_cancels; /* shutdown_termination: cancels what still runs then */
  bool refuses_newer;    /* newer_protocol: refuse | negotiate: a client that asks for more than 3.0 */
  bool pause_survives_reload;
  LoginAuth client_auth;
  const PoolConfig *pools;
  const ServerConfig *servers;
  const LinkConfig *links[LINK_COUNT]; /* by server, or one entry */
  int n_pools, n_servers;
  bool limits_fire; /* explore.fire names something: limits of age and idleness are there untimed, too */
  bool keep_series; /* an expectation has `during`: gauges and samples are kept with their times */
  Workload work;
} PoolerConfig;

/* One pool, one server, no delays: what the words default to. Fill in what differs. */
void pool_config_default(PoolConfig *c);
void server_config_default(ServerConfig *c);
/* False and *error (POOLER_CONFIG_ERROR) for policies that contradict each other: a sentence that names both. */
#define POOLER_CONFIG_ERROR (g_quark_from_static_string("pooler-config-error"))
bool pooler_config_valid(const PoolerConfig *c, GError **error);
