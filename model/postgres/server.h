/* server.h - a PostgreSQL server as processes: a postmaster that accepts and forks one after the other, backends that
 * come and go over the shared structures (shared.h) under their locks, background processes that are simply there, and
 * who connects: pgbench or a storm of sessions. Costs come from the world's table, figures go to its ledger (README.md
 * lists the metrics); nothing here is a formula for a result.
 *
 * Life: pg_server_new with a driver already in place, one of pgbench_start and storm_start, drive the world until
 * nothing is pending, pg_server_free before the world. One server a world. */
#pragma once
#include "model/postgres/shared.h"
#include "model/world/world.h"

typedef struct PgServer PgServer;

/* NULL and *error when the configuration makes no sense (pg_config_valid). Background processes take their slots and
 * join the proc array here; the postmaster is spawned. */
PgServer *pg_server_new(World *w, const PgConfig *c, const MemoryConfig *m, GError **error);
void pg_server_free(PgServer *sv);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PgServer, pg_server_free)
size_t pg_server_bytes(const PgConfig *c,
                       int connections); /* of the world's arena, at most, for so many clients or sessions */

typedef enum { EXIT_RANDOM, EXIT_IN_ORDER, EXIT_WINDOW } ExitOrder;
typedef struct {
  int clients, threads;
  int64_t transactions; /* of each client; 0: connect and leave */
  bool reconnect;       /* -C: a connection for each transaction; then there is no initial connection time */
  int iterations;       /* 0: warm, as DESIGN.md section 4 says */
  ExitOrder exit_order; /* in the order in which slots were taken, scrambled so far as drawn by "exit-order" */
  int exit_window;      /* EXIT_WINDOW: who leaves next is one of so many, the longest connected */
  int between;          /* short connections between two iterations */
  int before;           /* and before the first */
} PgbenchConfig;
void pgbench_start(PgServer *sv, const PgbenchConfig *c);

typedef enum { ARRIVE_EVERY, ARRIVE_POISSON } Arrival;
typedef enum { HOLD_EVER, HOLD_FIXED, HOLD_UNIFORM, HOLD_EXPONENTIAL } Hold;
typedef struct {
  int sessions;
  Arrival arrival;
  int64_t gap_ns;                /* between two; the mean of a Poisson process's */
  int64_t burst_ns;              /* > 0: all evenly over so long, in place of the two above */
  Hold hold;                     /* how long a session stays once it is ready */
  int64_t hold_ns, hold_most_ns; /* FIXED, the mean, or the bounds of UNIFORM */
} StormConfig;
void storm_start(PgServer *sv, const StormConfig *c);

bool pg_server_done(const PgServer *sv); /* the workload has run to its end; what still waits waits for good */
const PgShared *pg_server_shared(const PgServer *sv);
int pg_server_connected(const PgServer *sv); /* backends that own a slot, background processes apart */
int pg_server_ghosts(const PgServer *sv);    /* entries of a listing (PgConfig.listing) that no live process owns */
/* For processes that call real code by themselves: p owns this slot now, and no other; -1: none. */
void pg_server_owns(PgServer *sv, ProcId p, int procno);
AddressSpace *pg_server_space(const PgServer *sv, ProcId backend); /* NULL: it has none */
