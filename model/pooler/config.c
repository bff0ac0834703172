/* config.c - what the words default to, and what contradicts itself. */
#include "model/pooler/config.h"

void pool_config_default(PoolConfig *c) {
  *c = (PoolConfig){.name = "p",
                    .n_servers = 1,
                    .mode = MODE_TRANSACTION,
                    .size = 1,
                    .reserve_timeout_ns = NO_LIMIT,
                    .opening_max = 1,
                    .pending = PENDING_OPENING,
                    .query_wait_timeout_ns = NO_LIMIT,
                    .server_connect_timeout_ns = NO_LIMIT,
                    .server_idle_timeout_ns = NO_LIMIT,
                    .server_lifetime_ns = NO_LIMIT,
                    .check_delay_ns = NO_LIMIT,
                    .peek = true,
                    .ban_timeout_ns = NO_LIMIT,
                    .own = {.cancellable = true, .clears = CLEARS_TRANSACTION, .limit_ns = NO_LIMIT},
                    .react = {REACT_WAIT, REACT_RETRY, REACT_CLOSE, REACT_CLOSE, REACT_WAIT},
                    .server_identity = IDENTITY_UNIQUE_SEQ,
                    .identity_width = 64,
                    .taken = TAKEN_G4,
                    .fence_ns = NO_LIMIT,
                    .ack = ACK_EOF,
                    .ack_ns = NO_LIMIT,
                    .carrier_slots = 2,
                    .carrier_queue_ns = NO_LIMIT,
                    .cancel_wait_timeout_ns = NO_LIMIT,
                    .cancel_connect_timeout_ns = NO_LIMIT,
                    .retry_after_carrier = true};
}

void server_config_default(ServerConfig *c) {
  *c = (ServerConfig){.name = "s", .host = "s", .pid_start = 1000, .pid_max = 4194304, .key_bytes = 4};
}

static bool wrong(GError **error, const char *format, const char *name) {
  g_set_error(error, POOLER_CONFIG_ERROR, 0, format, name);
  return false;
}

static bool pool_valid(const PoolConfig *c, GError **error) {
  bool waits =
      c->fence == FENCE_HOLD || c->fence == FENCE_HOLD_TIMEOUT || c->fence == FENCE_REFCOUNT || c->fence == FENCE_DRAIN;
  if (c->size < 1) return wrong(error, "pool %s: pool_size must be 1 or more", c->name);
  if (waits && c->ack == ACK_NONE)
    return wrong(error, "pool %s: ack: fire_and_forget sees no EOF that a fence could wait for; it needs wait_eof",
                 c->name);
  if (c->fence == FENCE_UNLINK && c->lookup != LOOKUP_ARRIVAL_LINK)
    return wrong(error, "pool %s: fence: unlink_unforwarded needs lookup: at_arrival_link; a copied key has no link",
                 c->name);
  if (c->carrier == CARRIER_SEMAPHORE && c->carrier_slots < 1)
    return wrong(error, "pool %s: carrier: semaphore needs slots: 1 or more", c->name);
  if (c->handoff == HANDOFF_RECORD && c->waiters == WAITERS_POLL)
    return wrong(error, "pool %s: waiters that poll are sent nothing: handoff: record_then_send contradicts it",
                 c->name);
  if (c->n_servers < 1 || c->n_servers > POSTMASTERS_MAX)
    return wrong(error, "pool %s has no server, or more than eight", c->name);
  return true;
}

bool pooler_config_valid(const PoolerConfig *c, GError **error) {
  if (c->processes < 1 || c->n_pools < 0 || c->n_servers < 1 || c->work.n_clients < 1)
    return wrong(error, "%s: a pooler process, a server and a client are needed at least",
                 c->preset ? c->preset : "pooler");
  for (int i = 0; i < c->n_pools; i++) {
    if (!pool_valid(&c->pools[i], error)) return false;
    if (c->pools[i].fence == FENCE_WAIT && c->fanout != FANOUT_FIRST)
      return wrong(error, "pool %s: fence: {hold_until: [T]} holds one server, and fanout goes on to others",
                   c->pools[i].name);
    if (c->pools[i].carrier == CARRIER_CHILD && c->client_identity != CLIENT_REAL_KEY)
      return wrong(error,
                   "pool %s: carrier: child needs client_identity: real_key_passthrough, where a child has a client "
                   "for all of its session",
                   c->pools[i].name);
    if (c->client_identity == CLIENT_REAL_KEY && c->pools[i].mode != MODE_SESSION)
      return wrong(
          error, "pool %s: client_identity: real_key_passthrough needs pool_mode: session, as the key is the server's",
          c->pools[i].name);
  }
  return true;
}
