/* pools.h - pool-accounting (A1, A2) on what a pooler's console says: SHOW POOLS, SHOW SERVERS, SHOW CLIENTS. */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* Each of char **: the names of the columns, then the rows. Empty: there are none. */
typedef struct {
  const GPtrArray *pools, *servers, *clients;
} PoolTables;

/* What the driver knows of a pool: its sockets are counted by who sits at their other end. */
typedef struct {
  const char *name, *database, *user;
  guint size, reserve, sockets, carriers, maybe; /* maybe: sockets beside these, of this pool or another */
} PoolSeen;

/* Who is there, a line each: members of pools by their set, servers' and clients' connections by their state, sorted.
 * g_free. */
char *pools_text(const PoolTables *t);

/* True: `why` says what is wrong, with both sides. */
bool pools_wrong(const PoolTables *t, const PoolSeen *pools, guint n, GString *why);
