/* table_pooler.c - the pooler as a whole, its servers, the network, and how an exploration goes about it. */
#include "sim/scenario/keys.h"

#define LINK(name, what)                                                                                               \
  {                                                                                                                    \
    "network." name, K_TIME | K_DRAW | K_MAP, .dflt = "0s", .like = "@link", .example = "network: {" name ": 1ms}",    \
                                              .about = what                                                            \
  }
#define LINK_OF(name)                                                                                                  \
  {                                                                                                                    \
    "network." name "[]", K_TIME | K_DRAW | K_MAP, .like = "@link",                                                    \
                                                   .example = "network: {\"" name "[s]\": {fault: silent}}",           \
                                                   .about = "The same to server s alone."                              \
  }
#define ELSEWHERE(name, instead)                                                                                       \
  { "pooler." name, .hint = instead }
#define ALIAS(name, of)                                                                                                \
  { "pooler." name, .alias = of, .about = "Another spelling of " of "." }

static const KeyInfo rows[] = {
    {"explore", K_MAP, .example = "explore: {time: timed, jitter: 1ms}", .about = "How check explores this file."},
    {"explore.time", K_WORD, .dflt = "untimed", .words = "untimed timed", .example = "explore: {time: timed}",
     .about = "untimed: start times, durations and `at` order nothing beyond each script's own order; timed: they do."},
    {"explore.jitter", K_TIME, .dflt = "0s", .example = "explore: {time: timed, jitter: 1ms}",
     .about = "When timed: every delay may be off by so much."},
    {"explore.fire", K_LIST | K_WORD,
     .words = "query_wait_timeout reserve_pool_timeout server_connect_timeout server_idle_timeout "
              "server_lifetime server_check_delay ban_timeout cancel_wait_timeout cancel_connect_timeout fence ack "
              "queue_timeout deadline shutdown_timeout spin",
     .example = "explore: {fire: [query_wait_timeout]}",
     .about =
         "When untimed: limits that may fire, at any step, and do at last where one waits for ever; no other does. "
         "Of real code there are deadline, of waits that have one, and spin: a round of spinning need not wait for a "
         "change."},
    {"explore.fire[]", K_WORD,
     .words = "query_wait_timeout reserve_pool_timeout server_connect_timeout server_idle_timeout "
              "server_lifetime server_check_delay ban_timeout cancel_wait_timeout cancel_connect_timeout fence ack "
              "queue_timeout deadline shutdown_timeout spin",
     .example = "explore: {fire: [query_wait_timeout]}", .about = "A limit."},
    {"explore.without_lock", K_LIST, .example = "explore: {without_lock: [ProcArrayLock]}",
     .about = "Of processes that run real code: as if these locks were not there."},
    {"explore.without_lock[]", K_TEXT, .example = "explore: {without_lock: [ProcArrayLock]}",
     .about = "Its name; a name that no lock has is told with those that there are."},

    {"servers", K_LIST, .example = "servers: [{name: s, host: db1}]",
     .about =
         "Postmasters behind the pooler. Entries with an equal host are several behind one address. None: one, s."},
    {"servers[]", K_MAP, .example = "servers: [{name: s}]", .about = "One postmaster."},
    {"servers[].name", K_NAME | K_REQUIRED, .example = "servers: [{name: s}]", .about = "Its name in paths."},
    {"servers[].host", K_NAME, .example = "servers: [{name: s, host: db1}]",
     .about = "Its address; its name unless said."},
    {"servers[].count", K_INT, .dflt = "1", .lo = "1", .hi = "1000", .example = "servers: [{name: s, count: 3}]",
     .about = "Interchangeable copies s.1, s.2, ..."},
    {"servers[].signal", K_WORD | K_MAP | K_ONE, .dflt = "prompt", .words = "prompt delayed",
     .example = "servers: [{name: s, signal: delayed}]",
     .about = "When a backend handles a cancel's signal: in the step that signals, or any time later."},
    {"servers[].signal.delayed", K_TIME, .example = "servers: [{name: s, signal: {delayed: 120ms}}]",
     .about = "Exactly so much later."},
    {"servers[].signal.bounded", K_TIME, .example = "servers: [{name: s, signal: {bounded: 1ms}}]",
     .about = "At most so much later."},
    {"servers[].pids", K_MAP, .example = "servers: [{name: s, pids: {start: 77, max: 99}}]",
     .about = "Its process ids."},
    {"servers[].pids.start", K_INT, .dflt = "1000", .lo = "1", .hi = "4194304",
     .example = "servers: [{name: s, pids: {start: 77}}]", .about = "The first backend's."},
    {"servers[].pids.max", K_INT, .dflt = "4194304", .lo = "1", .hi = "4194304",
     .example = "servers: [{name: s, pids: {start: 1, max: 4}}]", .about = "The largest; then from 1 again (pid_max)."},
    {"servers[].pids.reuse", K_WORD, .dflt = "in_turn", .words = "in_turn at_once",
     .example = "servers: [{name: s, pids: {reuse: at_once}}]",
     .about = "in_turn: the next free one; at_once: the lowest free one."},
    {"servers[].secret", K_TEXT, .dflt = "random", .example = "servers: [{name: s, secret: \"0badcafe\"}]",
     .about =
         "The cancel key's secret: random (never equal to another's), or the same for every backend, in hexadecimal."},
    {"servers[].key", K_INT | K_WORD, .dflt = "4", .lo = "0", .hi = "1024", .words = "none",
     .example = "servers: [{name: s, key: 32}]", .about = "Bytes of the secret; none: no BackendKeyData is sent."},
    {"servers[].cores", K_INT | K_WORD, .dflt = "none", .lo = "1", .hi = "1024", .words = "none",
     .example = "servers: [{name: s, cores: 4}]", .about = "Cores that queries' cpu is shared among."},
    {"servers[].login", K_TIME | K_DRAW, .dflt = "0s", .example = "servers: [{name: s, login: 5ms}]",
     .about = "How long a login takes beside login_cpu; where a profile is named, its login time unless said."},
    {"servers[].login_cpu", K_TIME | K_DRAW, .dflt = "0s", .example = "servers: [{name: s, cores: 1, login_cpu: 2ms}]",
     .about = "CPU of one login."},
    {"servers[].auth", K_WORD, .dflt = "trust", .words = "trust password md5 scram-sha-256",
     .example = "servers: [{name: s, auth: scram-sha-256}]",
     .about = "In live, how a server asks who logs in for a password, by pg_hba.conf's words. A model's login takes as "
              "long as `login` says, whatever it is asked."},
    {"servers[].tls", K_WORD, .dflt = "disable", .words = "disable require",
     .example = "servers: [{name: s, tls: require}]",
     .about =
         "In live: require: nobody logs in without TLS, and the pooler is told so; disable: SSLRequest is refused. "
         "TLS goes over loopback TCP."},
    {"servers[].max_connections", K_INT | K_WORD, .dflt = "none", .lo = "1", .hi = "262143", .words = "none",
     .example = "servers: [{name: s, max_connections: 3}]", .about = "It refuses more."},

    {"network", K_MAP, .example = "network: {cancel_to_server: 5ms}",
     .about = "How long packets take, and their faults."},
    LINK("client_to_pooler", "From a client to the pooler, and back."),
    LINK("cancel_to_pooler", "From a client that cancels to the pooler."),
    LINK("pooler_to_server", "From the pooler to a server, and back."),
    LINK_OF("pooler_to_server"),
    LINK("cancel_to_server", "From the pooler to a server, of a cancel."),
    LINK_OF("cancel_to_server"),
    {"@link.delay", K_TIME | K_DRAW, .dflt = "0s", .example = "network: {cancel_to_server: {delay: {exp: 1ms}}}",
     .about = "One way, each packet."},
    {"@link.connect", K_TIME | K_DRAW, .example = "network: {cancel_to_server: {delay: 1ms, connect: 5ms}}",
     .about = "Opening a connection; twice the delay unless said."},
    {"@link.loss", K_NUMBER, .dflt = "0", .example = "network: {cancel_to_pooler: {loss: 0.01}}",
     .about = "Share of the cancels that are lost on it, 0 to 1; of the links of cancels alone."},
    {"@link.fault", K_WORD, .dflt = "none", .words = "none refuse silent reset no_eof",
     .example = "network: {\"cancel_to_server[s]\": {fault: silent}}",
     .about = "refuse: connects are refused; silent: nothing arrives and nobody is told; reset: it opens, then writing "
              "fails; no_eof: the end of a connection is not seen."},

    {"pooler", K_MAP, .like = "@pool", .example = "pooler: {preset: pgbouncer-1.25, pool_size: 2}",
     .about = "The pooler: a preset, single policies over it, and keys of a pool that hold for all its pools."},
    {"pooler.preset", K_NAME, .names = NAMES_POOLER, .example = "pooler: {preset: pgdog-0.1.54}",
     .about = "A real version's policies: a file in presets/. Keys beside it override it."},
    {"pooler.processes", K_INT, .dflt = "1", .lo = "1", .hi = "64", .example = "pooler: {processes: 3}",
     .about = "Pooler processes behind one address."},
    {"pooler.balance", K_WORD, .dflt = "round_robin", .words = "round_robin random first",
     .example = "pooler: {processes: 3, balance: random}", .about = "Which process a connection of a client reaches."},
    {"pooler.peering", K_WORD, .dflt = "none", .words = "none all", .example = "pooler: {processes: 3, peering: all}",
     .about = "Do processes pass on cancels whose key is another's?"},
    {"pooler.workers", K_INT, .dflt = "1", .lo = "1", .hi = "64", .example = "pooler: {workers: 2}",
     .about = "Threads that interleave inside one process."},
    {"pooler.tick", K_TIME | K_WORD, .dflt = "333ms", .lo = "1us", .words = "none", .example = "pooler: {tick: 25ms}",
     .about = "The periodic pass; none: there is none."},
    {"pooler.connect_at_once", K_BOOL, .dflt = "false", .example = "pooler: {connect_at_once: true}",
     .about =
         "A connect that takes no time is over before anything else of that instant comes, as over loopback; for a "
         "comparison with a real pooler."},
    {"pooler.tick_steady", K_BOOL, .dflt = "false", .example = "pooler: {tick: 333333us, tick_steady: true}",
     .about = "The pass comes at multiples of tick from the start, and a step each time; else the first comes a tick "
              "after there is something for it to do. Where there is a clock."},
    {"pooler.client_identity", K_WORD | K_MAP | K_ONE, .dflt = "random64",
     .words = "real_key_passthrough random64 random63 counter31_secret peer_encoded random31x2",
     .example = "pooler: {client_identity: counter31_secret}", .about = "The cancel key that a client is given."},
    {"pooler.client_identity.counter31_secret", K_MAP,
     .example = "pooler: {client_identity: {counter31_secret: {width: 8}}}", .about = "A counter and a random secret."},
    {"pooler.client_identity.counter31_secret.width", K_INT, .dflt = "31", .lo = "1", .hi = "31",
     .example = "pooler: {client_identity: {counter31_secret: {width: 8}}}", .about = "Bits of the counter."},
    {"pooler.auth", K_WORD, .dflt = "secret_eq", .words = "none secret_eq secret_const_time",
     .example = "pooler: {auth: secret_const_time}",
     .about = "How a cancel's secret is compared: not at all (the pid alone is looked for), or whole. The last two "
              "give the same answers: what the time of a comparison tells is in no scenario."},
    {"pooler.fanout", K_WORD, .dflt = "first_match", .words = "first_match all_pools_stop_on_error all_nodes all_pools",
     .example = "pooler: {fanout: all_pools}",
     .about =
         "Which pools a cancel is looked up in: until one matches; all, ending at the first error; every server the "
         "client holds; all, then report."},
    {"pooler.node_gap", K_TIME, .dflt = "0s", .example = "pooler: {fanout: all_nodes, node_gap: 1s}",
     .about = "With all_nodes: wait between two."},
    {"pooler.max_db_connections", K_INT | K_WORD, .dflt = "none", .lo = "1", .hi = "262143", .words = "none",
     .example = "pooler: {max_db_connections: 10}", .about = "Server connections of all pools of one database."},
    {"pooler.max_user_connections", K_INT | K_WORD, .dflt = "none", .lo = "1", .hi = "262143", .words = "none",
     .example = "pooler: {max_user_connections: 10}", .about = "Server connections of all pools of one user."},
    {"pooler.max_client_conn", K_INT | K_WORD, .dflt = "none", .lo = "1", .hi = "262143", .words = "none",
     .example = "pooler: {max_client_conn: 100}", .about = "Clients; more are refused."},
    {"pooler.pools_order", K_WORD, .dflt = "round_robin", .words = "round_robin fixed",
     .example = "pooler: {pools_order: fixed}", .about = "Whose waiters get what a shared cap sets free."},
    {"pooler.shutdown_timeout", K_TIME | K_WORD, .dflt = "none", .words = "none",
     .example = "pooler: {shutdown_timeout: 60s}", .about = "How long a shutdown waits for clients."},
    {"pooler.shutdown_waits", K_WORD, .dflt = "clients", .words = "clients servers",
     .example = "pooler: {shutdown_waits: servers}",
     .about =
         "What a shutdown waits for: clients end by themselves; or queries do, pools are paused meanwhile, and the "
         "pass that finds no server connection ends the pooler."},
    {"pooler.shutdown_cancels", K_BOOL, .dflt = "false",
     .example = "pooler: {shutdown_timeout: 60s, shutdown_cancels: true}",
     .about = "Queries that still run then are cancelled."},
    {"pooler.newer_protocol", K_WORD, .dflt = "negotiate", .words = "negotiate refuse",
     .example = "pooler: {newer_protocol: refuse}",
     .about = "A client that asks for protocol 3.2: is answered with what is spoken, or refused."},
    {"pooler.client_auth", K_WORD, .dflt = "trust", .words = "trust password md5 scram-sha-256",
     .example = "pooler: {client_auth: md5}",
     .about = "In live, how the pooler asks its clients for a password, which they all know; what its adapter does not "
              "know is refused."},
    {"pooler.pause_survives_reload", K_BOOL, .dflt = "true", .example = "pooler: {pause_survives_reload: false}",
     .about = "A paused pool is paused after a reload."},
    {"pooler.pools", K_LIST, .example = "pooler: {pools: [{name: p, host: db1}]}",
     .about = "Its pools; one for each host of servers unless said, named after its first server."},
    {"pooler.pools[]", K_MAP, .like = "@pool", .example = "pooler: {pools: [{name: p, host: db1, pool_size: 2}]}",
     .about = "A pool, and what holds for it alone."},
    {"pooler.pools[].name", K_NAME | K_REQUIRED, .example = "pooler: {pools: [{name: p}]}",
     .about = "Its name in paths."},
    {"pooler.pools[].count", K_INT, .dflt = "1", .lo = "1", .hi = "100",
     .example = "pooler: {pools: [{name: p, count: 3}]}", .about = "Copies p.1, p.2, ..."},
    {"pooler.pools[].host", K_NAME, .example = "pooler: {pools: [{name: p, host: db1}]}",
     .about = "The address of its servers; the first server's unless said."},
    {"pooler.pools[].hosts", K_LIST | K_NAME, .example = "pooler: {pools: [{name: p, hosts: [db1, db2]}]}",
     .about = "Several addresses."},
    {"pooler.pools[].hosts[]", K_NAME, .example = "pooler: {pools: [{name: p, hosts: [db1, db2]}]}",
     .about = "An address."},
    {"pooler.pools[].balance", K_WORD, .dflt = "round_robin", .words = "round_robin random first",
     .example = "pooler: {pools: [{name: p, hosts: [db1, db2], balance: first}]}",
     .about = "Which of its servers an opening goes to."},
    {"pooler.pools[].db", K_NAME, .example = "pooler: {pools: [{name: p, db: app}]}",
     .about = "Whose max_db_connections count; its host unless said."},
    {"pooler.pools[].user", K_NAME, .dflt = "user", .example = "pooler: {pools: [{name: p, user: web}]}",
     .about = "Whose max_user_connections count."},

    ALIAS("worker_threads", "workers"),
    ALIAS("default_max_clients", "max_client_conn"),
    ALIAS("client_max", "max_client_conn"),
    ALIAS("graceful_shutdown_timeout", "shutdown_timeout"),
    ELSEWHERE("so_reuseport", "write processes: 2"),
    ELSEWHERE("num_init_children", "write processes, or pool_size: one child holds one client"),
    ELSEWHERE("peers", "write peering: all"),
    ELSEWHERE("peer_id", "write processes: 2, peering: all, client_identity: peer_encoded"),
    ELSEWHERE("shutdown_termination_timeout", "write shutdown_timeout and shutdown_cancels: true"),
    ELSEWHERE("listen_backlog", "a pooler's backlog is not modelled; max_client_conn refuses clients"),
    {"clients_count", .hint = "write clients: [{name: a, count: N}]"},
    {"pools", .hint = "pools stand under pooler"},
    {"fence", .hint = "a fence stands under pooler, or under a client"},
};
const KeyPart key_table_pooler = {rows, G_N_ELEMENTS(rows)};
