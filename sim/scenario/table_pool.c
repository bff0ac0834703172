/* table_pool.c - what holds for one pool: under pooler for all of them, under an entry of pooler.pools for that one.
 * Limits go by PgBouncer's names; the other poolers' spellings are aliases, always with a unit. Values are the names of
 * model/pooler/config.h. */
#include "model/pooler/config.h"
#include "sim/scenario/keys.h"

#define LIMIT(name, def, sample, what)                                                                                 \
  {                                                                                                                    \
    "@pool." name, K_TIME | K_WORD, .dflt = def, .words = "none", .example = "pooler: {" name ": " sample "}",         \
                                    .about = what                                                                      \
  }
#define ALIAS(name, of)                                                                                                \
  { "@pool." name, .alias = of, .about = "Another spelling of " of "." }
#define ELSEWHERE(name, instead)                                                                                       \
  { "@pool." name, .hint = instead }
#define OWN_QUERY(name, what)                                                                                          \
  { "@pool.own." name, K_TIME | K_DRAW, .dflt = "0s", .example = "pooler: {own: {" name ": 1ms}}", .about = what }
#define REACTION(name, def, all, what)                                                                                 \
  {                                                                                                                    \
    "@pool.react." name, K_WORD, .dflt = def, .words = all, .example = "pooler: {react: {" name ": " def "}}",         \
                                 .about = what                                                                         \
  }
#define BACK_OFF(path, sample)                                                                                         \
  {path ".first", K_TIME | K_REQUIRED, .example = sample, .about = "The first wait."},                                 \
      {path ".factor",                                                                                                 \
       K_INT,                                                                                                          \
       .dflt = "2",                                                                                                    \
       .lo = "1",                                                                                                      \
       .hi = "100",                                                                                                    \
       .example = sample,                                                                                              \
       .about = "Each wait is so many times the one before."},                                                         \
  {                                                                                                                    \
    path ".max", K_TIME | K_REQUIRED, .example = sample, .about = "No wait is longer."                                 \
  }
#define DEVIATION(id, word, how, late, what)                                                                           \
  {"@pool.steps." word, (late) ? K_WORD | K_MAP | K_ONE : K_WORD, .words = how,                                        \
   .example = "pooler: {steps: {" word ": skip}}", .about = "Deviation of " what "."},
#define LATE_true(word)                                                                                                \
  {"@pool.steps." word ".late", K_TIME, .example = "pooler: {steps: {" word ": {late: 5ms}}}",                         \
   .about = "It is done so much later."},
#define LATE_false(word)
#define LATENESS(id, word, how, late, what) LATE_##late(word)

static const KeyInfo rows[] = {
    /* ---- size and order ---- */
    {"@pool.pool_mode", K_WORD, .dflt = "transaction", .words = "session transaction statement",
     .example = "pooler: {pool_mode: session}", .about = "When a client gives its server connection back."},
    {"@pool.pool_size", K_INT, .dflt = "10", .lo = "1", .hi = "10000", .example = "pooler: {pool_size: 4}",
     .about = "Server connections of a pool."},
    {"@pool.min_pool_size", K_INT, .dflt = "0", .hi = "10000", .example = "pooler: {min_pool_size: 2}",
     .about = "The periodic pass opens up to so many."},
    {"@pool.reserve_pool_size", K_INT, .dflt = "0", .hi = "10000", .example = "pooler: {reserve_pool_size: 2}",
     .about = "So many more when a client has waited for reserve_pool_timeout."},
    LIMIT("reserve_pool_timeout", "5s", "5s",
          "Age of the longest waiter from which, and only then, the reserve may grow."),
    {"@pool.full", K_WORD, .dflt = "at_least", .words = "at_least equality", .example = "pooler: {full: equality}",
     .about = "When a pool counts as full: from its size on, or only at exactly its size (a fault)."},
    {"@pool.idle_order", K_WORD, .dflt = "lifo", .words = "lifo fifo", .example = "pooler: {idle_order: fifo}",
     .about = "Which idle connection is taken: the one used last, or the one that has rested longest."},
    {"@pool.waiters", K_WORD | K_MAP | K_ONE, .dflt = "fifo", .words = "fifo", .example = "pooler: {waiters: fifo}",
     .about = "How clients wait for a connection: in a queue, or each looks again now and then."},
    {"@pool.waiters.poll", K_MAP, .example = "pooler: {waiters: {poll: {first: 1ms, max: 1s}}}",
     .about = "Looks again after a wait that grows."},
    BACK_OFF("@pool.waiters.poll", "pooler: {waiters: {poll: {first: 1ms, factor: 2, max: 1s}}}"),
    {"@pool.handoff", K_WORD, .dflt = "confirm", .words = "confirm record_then_send",
     .example = "pooler: {handoff: record_then_send}",
     .about = "confirm: a connection is the waiter's once it has received it; record_then_send: once it was sent."},
    {"@pool.growth", K_MAP, .example = "pooler: {growth: {poke: tick, opening_max: 1}}", .about = "How a pool grows."},
    {"@pool.growth.poke", K_WORD, .dflt = "request", .words = "request tick each_opening",
     .example = "pooler: {growth: {poke: each_opening}}",
     .about = "When it looks whether to open one: at a request and each tick, at the tick alone, or after each opening "
              "too."},
    {"@pool.growth.opening_max", K_INT | K_WORD, .dflt = "1", .lo = "1", .hi = "10000", .words = "none",
     .example = "pooler: {growth: {opening_max: none}}", .about = "Openings under way at a time."},
    {"@pool.growth.look", K_TIME | K_WORD, .dflt = "none", .lo = "1us", .words = "none",
     .example = "pooler: {growth: {look: 1ms}}",
     .about =
         "Where opening_max are under way and there is room for more, a request that needs one looks again after so "
         "long, and does not stand in the queue. Where there is a clock."},
    {"@pool.growth.pending", K_WORD | K_LIST, .dflt = "opening", .words = "opening checked cleaning",
     .example = "pooler: {growth: {pending: [opening, cleaning]}}", .about = "States that count as growth under way."},
    {"@pool.growth.pending[]", K_WORD, .words = "opening checked cleaning",
     .example = "pooler: {growth: {pending: [opening]}}", .about = "A state."},
    {"@pool.growth.back_off", K_TIME | K_MAP, .dflt = "0s",
     .example = "pooler: {growth: {back_off: {first: 1s, factor: 2, max: 30s}}}",
     .about = "Wait after a failed opening: one duration, or one that grows."},
    BACK_OFF("@pool.growth.back_off", "pooler: {growth: {back_off: {first: 1s, factor: 2, max: 30s}}}"),

    /* ---- limits ---- */
    LIMIT("query_wait_timeout", "none", "120s", "How long a client waits for a server connection."),
    LIMIT("server_connect_timeout", "none", "15s", "How long opening a server connection may take."),
    LIMIT("server_login_retry", "0s", "15s", "How long the pool opens none after an opening failed."),
    LIMIT("server_idle_timeout", "none", "10min", "Idle for longer: closed, but not below min_pool_size."),
    LIMIT("server_lifetime", "none", "1h", "Older: closed when it comes back."),
    LIMIT("server_check_delay", "none", "30s", "Idle for longer: checked before it is handed out; 0s: always."),
    LIMIT("ban_timeout", "none", "5min",
          "How long a server of several is passed over after a failed connect; its idle connections are closed. Never "
          "the "
          "only one; when all are banned none is. none: never."),
    {"@pool.lifetime_spaced", K_BOOL, .dflt = "false",
     .example = "pooler: {server_lifetime: 1h, lifetime_spaced: true}",
     .about = "Connections that are too old are closed server_lifetime / pool_size apart at least."},
    LIMIT("cancel_wait_timeout", "none", "10s", "How long a cancel waits to be forwarded."),
    LIMIT("cancel_connect_timeout", "none", "5s", "How long opening the connection that carries a cancel may take."),
    {"@pool.peek", K_BOOL, .dflt = "true", .example = "pooler: {peek: false}",
     .about = "At check-out it looks whether the socket is closed or has unasked bytes."},

    /* ---- its own queries, its reactions ---- */
    {"@pool.own", K_MAP, .example = "pooler: {own: {at_checkin: 1ms, clears: session}}",
     .about = "The pooler's own queries on a server connection; 0s: there is none."},
    OWN_QUERY("at_checkout", "How long what it sets at check-out takes."),
    OWN_QUERY("at_checkin", "How long the clean-up of a session at check-in takes."),
    OWN_QUERY("check", "How long a check of an idle connection takes."),
    {"@pool.own.cancellable", K_BOOL, .dflt = "true", .example = "pooler: {own: {cancellable: false}}",
     .about = "Is a cancel that arrives while one runs forwarded?"},
    {"@pool.own.always", K_BOOL, .dflt = "false", .example = "pooler: {own: {always: true}}",
     .about = "At every check-in, not only of a session that needs it."},
    {"@pool.own.clears", K_WORD, .dflt = "transaction", .words = "none transaction session",
     .example = "pooler: {own: {clears: session}}", .about = "What the one at check-in puts an end to."},
    LIMIT("own.limit", "none", "5s", "How long one may run."),
    {"@pool.react", K_MAP, .example = "pooler: {react: {refused: error}}",
     .about = "What the pooler does when something fails."},
    REACTION(
        "refused", "wait", "error wait retry fatal",
        "A server refuses a connection. error: those who wait are told; wait: for server_login_retry or the back-off; "
        "retry: at the next look; fatal: the pooler ends."),
    REACTION("offline", "retry", "error retry", "A pool went offline while a client waited: it is told, or asks anew."),
    REACTION(
        "client_eof", "close", "cancel close wait spend",
        "A client is gone while its query runs. The query is cancelled, its connection closed, or its end waited for; "
        "spend: and a connection whose client said no goodbye is then closed, whatever it did."),
    REACTION("unexpected", "close", "wait close fatal",
             "An idle server says what nobody asked for, or closes. wait: found out when it is used."),
    REACTION(
        "lost", "wait", "wait close",
        "A server closes that a client has, and asks nothing. close: the client is told, and its connection closed."),

    /* ---- identity and cancels (poolers.md C.3, C.4) ---- */
    {"@pool.server_identity", K_WORD | K_MAP | K_ONE, .dflt = "unique_seq",
     .words = "pid_only pid_secret4 pid_secret_var host_pid_secret unique_seq object_link",
     .example = "pooler: {server_identity: {unique_seq: {width: 64}}}",
     .about = "By what the pooler tells its server connections apart: the server's process id alone or with its "
              "secret, with "
              "the host as well, a counter of its own, or the connection itself (object_link)."},
    {"@pool.server_identity.pid_secret_var", K_MAP,
     .example = "pooler: {server_identity: {pid_secret_var: {bytes: 32}}}",
     .about = "Process id and a secret of any length."},
    {"@pool.server_identity.pid_secret_var.bytes", K_INT, .dflt = "32", .lo = "4", .hi = "256",
     .example = "pooler: {server_identity: {pid_secret_var: {bytes: 256}}}", .about = "Length of the secret."},
    {"@pool.server_identity.pid_secret_var.stored", K_WORD, .dflt = "array", .words = "array as_sent",
     .example = "pooler: {server_identity: {pid_secret_var: {bytes: 256, stored: as_sent}}}",
     .about = "array: so many bytes are copied and hashed whatever the server's key is; as_sent: only the key's."},
    {"@pool.key_moves", K_MAP, .example = "pooler: {key_moves: {times: 100, of: pid}}",
     .about = "Identities that a transaction copies or hashes beside the table of checked-out connections: requests, "
              "waiters, guards, statistics. Each byte costs pooler.identity_per_byte."},
    {"@pool.key_moves.times", K_INT, .dflt = "0", .hi = "10000", .example = "pooler: {key_moves: {times: 100}}",
     .about = "How many."},
    {"@pool.key_moves.of", K_WORD, .dflt = "full", .words = "full pid",
     .example = "pooler: {key_moves: {times: 100, of: pid}}", .about = "The whole key, or the bare process id."},
    {"@pool.server_identity.unique_seq", K_MAP,
     .example = "pooler: {server_identity: {unique_seq: {reset_on_restart: true}}}", .about = "A counter."},
    {"@pool.server_identity.unique_seq.width", K_INT, .dflt = "64", .lo = "1", .hi = "64",
     .example = "pooler: {server_identity: {unique_seq: {width: 8}}}", .about = "Its bits; then it begins again."},
    {"@pool.server_identity.unique_seq.reset_on_restart", K_BOOL, .dflt = "false",
     .example = "pooler: {server_identity: {unique_seq: {reset_on_restart: true}}}",
     .about = "A restarted pooler begins at 0."},
    {"@pool.taken", K_WORD, .dflt = "G4", .words = "G0 G1 G2 G3 G4", .example = "pooler: {taken: G1}",
     .about = "The table of checked-out connections: a generation of pgdog's."},
    {"@pool.lookup", K_WORD, .dflt = "at_arrival_copy", .words = "at_arrival_copy at_arrival_link at_forward",
     .example = "pooler: {lookup: at_forward}",
     .about = "When a cancel's target is looked up, and whether its key is copied or the connection linked: "
              "at_arrival_copy, the key as it was at arrival; at_arrival_link, the link goes with the connection; "
              "at_forward, "
              "only when the cancel is sent on."},
    {"@pool.fence", K_WORD | K_MAP | K_ONE, .dflt = "none",
     .words = "none unlink_unforwarded hold_until_eof refcount_hold generation_check retire_session drain_57014",
     .example = "pooler: {fence: {hold_until_eof_with_timeout: 10s}}",
     .about =
         "What keeps a server connection from its next client while a cancel for the last one is under way. "
         "unlink_unforwarded: at check-in a cancel that is not sent yet loses its link; hold_until_eof: not handed on "
         "before "
         "the cancel's EOF; refcount_hold: the same by a count, as Odyssey does; retire_session: not used again unless "
         "57014 was seen; drain_57014: an empty statement first, behind which no signal is left."},
    {"@pool.fence.hold_until_eof_with_timeout", K_TIME,
     .example = "pooler: {fence: {hold_until_eof_with_timeout: 10s}}",
     .about = "Until the cancel's EOF, or so long after it was forwarded."},
    {"@pool.fence.hold_until", K_LIST | K_TIME | K_WORD, .words = "eof",
     .example = "pooler: {fence: {hold_until: [eof, 10s]}}",
     .about = "The first of these ends it: eof, a time from the forward. [T] alone: that time, whatever the EOF says."},
    {"@pool.fence.hold_until[]", K_TIME | K_WORD, .words = "eof",
     .example = "pooler: {fence: {hold_until: [eof, 10s]}}", .about = "What ends it."},
    {"@pool.fence.generation_check", K_WORD, .words = "per_checkout per_command",
     .example = "pooler: {fence: {generation_check: per_command}}",
     .about = "Before the connect it looks whether the connection is still at the same check-out, or command."},
    {"@pool.fence.retire_session", K_TIME, .example = "pooler: {fence: {retire_session: 10ms}}",
     .about = "Never used again after a cancel unless 57014 was seen; the time is a grace before one is sent."},
    {"@pool.cancel_address", K_WORD, .dflt = "pool", .words = "pool first",
     .example = "pooler: {cancel_address: first}",
     .about = "Where a cancel is sent: to its server's address, or always to the first server of the file (a fault)."},
    {"@pool.ack", K_WORD | K_MAP | K_ONE, .dflt = "wait_eof", .words = "fire_and_forget wait_eof",
     .example = "pooler: {ack: wait_eof}", .about = "Is the server's EOF after a cancel waited for?"},
    {"@pool.ack.wait_eof", K_TIME, .example = "pooler: {ack: {wait_eof: 1s}}", .about = "At most so long."},
    {"@pool.carrier", K_WORD | K_MAP | K_ONE, .dflt = "unlimited", .words = "unlimited child",
     .example = "pooler: {carrier: {semaphore: {slots: 4, queue_timeout: 2s}}}",
     .about =
         "How many connections may carry cancels at a time. child: as many as there are processes of the pooler that "
         "hold no client, pool_size of them in all."},
    {"@pool.carrier.one_at_a_time_cap", K_INT, .lo = "1", .hi = "100",
     .example = "pooler: {carrier: {one_at_a_time_cap: 2}}",
     .about = "One opening at a time, and no more than so many times pool_size, carriers included."},
    {"@pool.carrier.semaphore", K_MAP, .example = "pooler: {carrier: {semaphore: {slots: 4}}}",
     .about = "A fixed number of them; more wait."},
    {"@pool.carrier.semaphore.slots", K_INT | K_REQUIRED, .lo = "1", .hi = "10000",
     .example = "pooler: {carrier: {semaphore: {slots: 4}}}", .about = "How many."},
    {"@pool.carrier.semaphore.queue_timeout", K_TIME | K_WORD, .dflt = "none", .words = "none",
     .example = "pooler: {carrier: {semaphore: {slots: 4, queue_timeout: 2s}}}",
     .about = "A cancel that has waited so long is dropped."},
    {"@pool.idle_below_min", K_BOOL, .dflt = "false", .example = "pooler: {idle_below_min: true}",
     .about =
         "server_idle_timeout closes what is idle even where fewer than min_pool_size are left; others are opened."},
    {"@pool.cancel_forgets", K_BOOL, .dflt = "false", .example = "pooler: {cancel_forgets: true}",
     .about = "A cancel that is done takes its client's entry out of the map: those that come after it find nothing."},
    {"@pool.carrier_starves", K_BOOL, .dflt = "false", .example = "pooler: {carrier_starves: true}",
     .about = "A pass that launches a carrier serves nobody else."},
    {"@pool.server_key", K_WORD, .dflt = "optional", .words = "optional needed zero",
     .example = "pooler: {server_key: needed}",
     .about = "needed: a login at a server that sends no BackendKeyData has failed; zero: it has process id 0, and a "
              "cancel of it is sent."},
    {"@pool.min_evicts", K_BOOL, .dflt = "false", .example = "pooler: {min_evicts: true}",
     .about = "Openings for min_pool_size close an idle connection where a shared cap is reached."},
    {"@pool.release_evicts", K_BOOL, .dflt = "false", .example = "pooler: {release_evicts: true}",
     .about = "A connection that comes back and finds no waiter is closed at once for a waiter of another pool under "
              "the same cap."},
    {"@pool.pause_stops_growth", K_BOOL, .dflt = "false", .example = "pooler: {pause_stops_growth: true}",
     .about = "A paused pool opens nothing, whoever waits."},
    {"@pool.min_by_tick", K_BOOL, .dflt = "false", .example = "pooler: {min_by_tick: true}",
     .about = "min_pool_size is seen to by the periodic pass alone, one connection each."},
    {"@pool.limits_by_tick", K_BOOL, .dflt = "false", .example = "pooler: {limits_by_tick: true}",
     .about = "query_wait_timeout is looked at by the periodic pass alone, so it comes up to a tick later."},
    {"@pool.error_closes_client", K_BOOL, .dflt = "false", .example = "pooler: {error_closes_client: true}",
     .about = "An error of the pooler's own (a limit of waiting, a server gone) ends the client's connection."},
    {"@pool.first_login_waits", K_BOOL, .dflt = "false", .example = "pooler: {first_login_waits: true}",
     .about = "A client's login waits until its pool has had a server connection once, which tells it the server's "
              "parameters."},
    {"@pool.first_login_takes", K_BOOL, .dflt = "false", .example = "pooler: {first_login_takes: true}",
     .about =
         "With first_login_waits: and such a login is given a connection of its own, which it gives back at once."},
    {"@pool.openings_carry", K_BOOL, .dflt = "false", .example = "pooler: {openings_carry: true}",
     .about =
         "A connection that has come up takes the first cancel that waits for one, and logs in where none does: no "
         "cancel has a connection of its own. With carrier: one_at_a_time_cap."},
    {"@pool.carrier_opens", K_WORD, .dflt = "until_carried", .words = "until_carried arrival",
     .example = "pooler: {openings_carry: true, carrier_opens: arrival}",
     .about = "When a connection is opened for a cancel that waits: again and again, or when it comes and never after; "
              "then it waits for what is opened for others. With openings_carry."},
    {"@pool.login_retry_from", K_WORD, .dflt = "failure", .words = "failure attempt",
     .example = "pooler: {login_retry_from: attempt}",
     .about = "When server_login_retry begins: with the failure, or with the attempt that failed."},
    {"@pool.fast_fail", K_BOOL, .dflt = "false", .example = "pooler: {fast_fail: true}",
     .about = "Whoever needs a connection is refused at once where the last login at a server failed and none is "
              "there."},
    {"@pool.waiters_unread", K_BOOL, .dflt = "false", .example = "pooler: {waiters_unread: true}",
     .about = "Nothing is read from a client that waits: its leaving is seen when its turn comes."},
    {"@pool.login_retry_reset", K_BOOL, .dflt = "true", .example = "pooler: {login_retry_reset: false}",
     .about = "A carrier that came through ends the wait of server_login_retry."},
    {"@pool.queued_client", K_WORD, .dflt = "ignore", .words = "ignore dequeue_and_error",
     .example = "pooler: {queued_client: dequeue_and_error}", .about = "What a cancel does to a client in the queue."},

    /* ---- faults ---- */
    {"@pool.steps", K_MAP, .example = "pooler: {steps: {unlink: skip}}",
     .about = "Deviations of the pooler's own steps, for models of faults: each skip, twice, early, split or {late: "
              "T}, where "
              "that means something. split: other workers go on between its two halves (with workers: 2 or more)."},
    POOLER_STEPS(DEVIATION) POOLER_STEPS(LATENESS)

    /* ---- other spellings (poolers.md D) ---- */
    ALIAS("pooler_mode", "pool_mode"),
    ALIAS("default_pool_size", "pool_size"),
    ALIAS("max_pool_size", "pool_size"),
    ALIAS("checkout_timeout", "query_wait_timeout"),
    ALIAS("pool_timeout", "query_wait_timeout"),
    ALIAS("pool_checkout_timeout", "query_wait_timeout"),
    ALIAS("idle_timeout", "server_idle_timeout"),
    ALIAS("pool_ttl", "server_idle_timeout"),
    ALIAS("connection_life_time", "server_idle_timeout"),
    ALIAS("child_life_time", "server_lifetime"),
    ALIAS("healthcheck_interval", "server_check_delay"),
    ALIAS("healthcheck_delay", "server_check_delay"),
    ALIAS("ban_time", "ban_timeout"),
    ELSEWHERE("pool", "Odyssey's pool is pool_mode: session, transaction or statement"),
    ELSEWHERE("connect_timeout", "pgdog's is server_connect_timeout, pgcat's is query_wait_timeout as well: say which"),
    ELSEWHERE("pool_min_size", "write min_pool_size"),
    ELSEWHERE("cancel_timeout_ms", "write ack: {wait_eof: 1s}"),
    ELSEWHERE("cancel_timeout", "write ack: {wait_eof: 1s}"),
    ELSEWHERE("cancel_max_inflight", "write carrier: {semaphore: {slots: 4, queue_timeout: 2s}}"),
    ELSEWHERE("cancel_queue_timeout_ms", "write carrier: {semaphore: {slots: 4, queue_timeout: 2s}}"),
    ELSEWHERE("server_round_robin", "write idle_order: lifo for 0, fifo for 1"),
    ELSEWHERE("server_reset_query", "write own: {at_checkin: 1ms, clears: session}"),
    ELSEWHERE("server_reset_query_always", "write own: {always: true}"),
    ELSEWHERE("server_check_query", "write own: {check: 1ms}"),
    ELSEWHERE("server_lifetime_jitter", "every connection here has the same server_lifetime"),
    ELSEWHERE("rollback_timeout", "write own: {limit: 5s}"),
    ELSEWHERE("healthcheck_timeout", "write own: {limit: 5s}"),
    ELSEWHERE("idle_healthcheck_interval", "write server_check_delay; idle connections are checked at check-out"),
    ELSEWHERE("connection_recovery", "write own: {clears: transaction}, or react: {client_eof: close}"),
    ELSEWHERE("pool_discard", "write own: {clears: session}"),
    ELSEWHERE("pool_rollback", "write own: {clears: transaction}"),
    ELSEWHERE("pool_cancel", "write react: {client_eof: cancel}"),
    ELSEWHERE("reset_query_list", "write own: {at_checkin: 1ms, clears: session}"),
    ELSEWHERE("cancel_policy", "it is said by single policies: lookup, fence, ack, carrier, queued_client"),
    ELSEWHERE("identity", "write server_identity or client_identity"),
    ELSEWHERE("identity_policy", "write server_identity or client_identity"),
    ELSEWHERE("query_timeout", "a limit on queries is a client's deadline here"),
    ELSEWHERE("transaction_timeout", "a limit on queries is a client's deadline here"),
    ELSEWHERE("idle_transaction_timeout", "a client's script says how long it is idle: wait: 5s"),
    ELSEWHERE("client_idle_timeout", "a client's script says how long it is idle: wait: 5s"),
    ELSEWHERE("client_login_timeout", "a client's login takes no time here"),
};
const KeyPart key_table_pool = {rows, G_N_ELEMENTS(rows)};
