/* parts.h - what the model's files do for one another, by file. Private; others use pooler.h.
 *
 * All of them are parts of one step of some process, which says by server_next, session_wake and their like what comes
 * next; none blocks. */
#pragma once
#include "model/pooler/outcome.h"
#include "model/pooler/state.h"

/* ---- draw.c: times ---- */
int64_t draw_ns(const Pooler *p, const Delay *d);
const LinkConfig *link_of(const Pooler *p, PoolerLink which, guint server);
int64_t link_delay(const Pooler *p, PoolerLink which, guint server);
int64_t link_connect(const Pooler *p, PoolerLink which, guint server);
LinkFault link_fault(const Pooler *p, PoolerLink which, guint server);
bool link_loses(const Pooler *p, PoolerLink which, guint server);
Step wait_ns(int64_t ns);      /* 0: goes on at once */
Step wait_in_line(int64_t ns); /* for what comes from elsewhere: 0: goes on at once, as far as time goes */
Step wait_connect(const Pooler *p, int64_t ns); /* as one of these two, by connect_at_once */
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

/* ---- pool.c, waiters.c, growth.c ---- */
void pool_receive(Pooler *p, Session *e);
void pool_unreceived(Pooler *p, Session *e);
bool caps_take(Pooler *p, Server *s); /* a shared cap gives its place to another pool: it is closed */
void caps_freed(Pooler *p, guint pool);
void caps_look(Pooler *p, guint pool);
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
void pool_close_idle(Pooler *p, guint pool); /* the one that would be used next */
void pool_grow(Pooler *p, guint pool, Poke why);
void pool_opened(Pooler *p, Server *s, bool well);
void pool_opening_dropped(Pooler *p, Server *s);
guint pool_live(const Pooler *p, guint pool);
void tick_wake(Pooler *p);
bool pool_bans(const Pooler *p, guint pool, guint host);
bool pool_spares_old(Pooler *p, Server *s); /* too old, but another one was closed not long ago */
void pool_sleep(Pooler *p, guint pool,
                int64_t spent_ns); /* no opening before server_login_retry, or the back-off, is over */
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
  WATCH_CHILD,
  WATCH_SHUTDOWN
};

int pool_open(Pooler *p, guint pool); /* growth.c: slot, or -1: there is none */

/* ---- server.c, server_own.c ---- */
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
Step server_gone(Pooler *p, Server *s);       /* the last step */
Step server_is_carrier(Pooler *p, Server *s); /* likewise: its connection is a cancel's */
extern const ProcessType server_type;
void server_run(Pooler *p, Server *s, int64_t after_ns); /* its owner's query */
void server_close(Pooler *p, Server *s);
void server_link_back(Pooler *p, Server *s); /* the link to it is no longer cut */
void server_interrupt(Pooler *p, Server *s); /* its query ends now */
void server_die(Pooler *p, Server *s, bool silent);
void server_state(Pooler *p, Server *s, ServerState to);
void server_watch(Pooler *p, Server *s);
void watch_idle(Pooler *p, const Server *s, bool idle);

/* ---- server_query.c: its stages; for server.c ---- */
Step server_query_start(Pooler *p, Server *s, ProcId self);
Step server_lock_then_run(Pooler *p, Server *s, ProcId self);
Step server_query_end(Pooler *p, Server *s);
Step server_reply(Pooler *p, Server *s, ProcId self);

/* ---- session.c ---- */
void session_state(Pooler *p, Session *e, SessionState to);
void session_ask(Pooler *p, Session *e, Request what, int64_t after_ns);
void session_answer(Pooler *p, Session *e, QueryResult r);
void session_wake(Pooler *p, Session *e, int64_t after_ns);
void session_end(Pooler *p, Session *e, bool goodbye); /* by the client */
void session_close(Pooler *p, Session *e);
void session_server_died(Pooler *p, Session *e, const Server *s); /* react.lost */
void session_error_closes(Pooler *p, Session *e); /* by the pooler, where an error of its own ends the connection */
bool session_waits_for_welcome(const Pooler *p, const Session *e);
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
bool shutdown_waits_for_servers(const Pooler *p, guint process);
bool shutdown_is_over(const Pooler *p, guint process); /* it did, and none is left */
void pool_serve(Pooler *p, guint pool);                /* waiters get what is idle */
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
Outcome cancel_dropped(const Pooler *p, const Cancel *x); /* by the pooler: what that is to its client */
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
/* child.c: a cancel needs one of the pooler's processes, as a client does. */
bool child_is_needed(const Pooler *p, guint pool);
bool child_is_free(const Pooler *p, guint pool);
bool child_turn(Pooler *p, Cancel *x);                  /* false: it stands in line */
bool child_next(Pooler *p, guint pool);                 /* the first in line has one; if it is a cancel */
Cancel *child_awaited(const Pooler *p, guint pool);     /* the cancel that is next in line; NULL */
bool child_takes(Pooler *p, Server *s);                 /* what comes back is that of the next in line */
void child_line_moves(Pooler *p, guint pool, guint at); /* the waiter at that place is gone */
bool child_has(const Pooler *p, const Server *s);       /* a cancel's child does */
void child_bereft(Pooler *p, guint pool, guint server); /* its connection is gone */
void child_back(Pooler *p, Cancel *x);
void child_rested(Pooler *p, Cancel *x);           /* cancel.c: it has slept: its cancel is over */
bool carrier_awaited(const Pooler *p, guint pool); /* openings_carry: what comes up next is a cancel's */
bool carrier_takes(Pooler *p, const Server *s);    /* it has come up; true: it is one's from now on */
void carriers_expire(Pooler *p, guint process);    /* limits_by_tick: those whose time is over have waited enough */
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
/* Of TypeGuide: all that it does is the pooler's own. */
bool pooler_at_once(const World *w, ProcId self, const void *locals);
void client_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of); /* of TypeGuide */
void session_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void server_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void cancel_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
void signal_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of);
bool carrier_next(Pooler *p, guint pool);
