/* server_identity.c - what tells one server connection from another in the pooler's tables (poolers.md C.3). An id of
 * the CONNECTION says nothing of who holds it now: with every policy here a cancel that is late by one tenancy reaches
 * the wrong client; only a fence helps there. What a policy decides is whether two connections can be mistaken. */
#include "model/pooler/parts.h"

static uint64_t by_pid(const Pooler *p, const Server *s) {
  (void)p;
  return s->pid;
}

static uint64_t by_pid_secret(const Pooler *p, const Server *s) {
  (void)p;
  return (uint64_t)s->pid << 32 | s->secret;
}

/* A pid has 22 bits at most (pid_max), a host 10. */
static uint64_t by_host_pid_secret(const Pooler *p, const Server *s) {
  return by_pid_secret(p, s) ^ (uint64_t)(s->host + 1) << 54;
}

static uint64_t by_seq(const Pooler *p, const Server *s) {
  int width = s->pool == DIRECT ? 64 : pool_config(p, s->pool)->identity_width;
  return width >= 64 || width <= 0 ? s->seq : s->seq & ((UINT64_C(1) << width) - 1);
}

static uint64_t by_object(const Pooler *p, const Server *s) {
  return server_id(p, s) + 1;
}

static const struct {
  uint64_t (*of)(const Pooler *p, const Server *s);
  bool by_secret; /* the cancel carries the secret, and the server compares it */
  guint bytes;    /* of the whole key, beside what pid_secret_var says */
} policies[] = {[IDENTITY_PID_ONLY] = {by_pid, false, 4},
                [IDENTITY_PID_SECRET4] = {by_pid_secret, true, 8},
                [IDENTITY_PID_SECRET_VAR] = {by_pid_secret, true, 4},
                [IDENTITY_HOST_PID_SECRET] = {by_host_pid_secret, true, 12},
                [IDENTITY_UNIQUE_SEQ] = {by_seq, true, 8},
                [IDENTITY_OBJECT_LINK] = {by_object, true, 8}};

uint64_t server_identity(const Pooler *p, const Server *s) {
  g_assert(s->pool != DIRECT && s->state != SV_FREE);
  return policies[pool_config(p, s->pool)->server_identity].of(p, s);
}

bool identity_by_secret(const PoolConfig *c) {
  return policies[c->server_identity].by_secret;
}

/* Of the whole key as it is kept: what BackendKeyData said, or an array that would hold any. */
guint identity_bytes(const Pooler *p, guint pool, guint host) {
  const PoolConfig *c = pool_config(p, pool);
  guint bytes = policies[c->server_identity].bytes, key = (guint)MAX(config_of(p)->servers[host].key_bytes, 0);
  if (c->server_identity != IDENTITY_PID_SECRET_VAR) return bytes;
  return bytes + (c->identity_as_sent ? MIN(key, (guint)c->identity_bytes) : (guint)c->identity_bytes);
}

guint identity_moved(const Pooler *p, guint pool, guint host) {
  const PoolConfig *c = pool_config(p, pool);
  return (guint)c->moves * (c->moves_pid ? PID_BYTES : identity_bytes(p, pool, host));
}
