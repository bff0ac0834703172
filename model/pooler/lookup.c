/* lookup.c - which server connection a cancel is for. At arrival: its key is copied out of the pool's table
 * (at_arrival_copy), or the cancel keeps a link to the connection and its key is read when it is forwarded
 * (at_arrival_link); at_forward looks only when the carrier's turn has come. */
#include "model/pooler/parts.h"

/* Which connection the pooler takes an identity for: the first that answers to it, right or wrong. */
static Server *named(const Pooler *p, guint pool, const TakenEntry *e) {
  EACH_SERVER(p, pool, s) if (s->state != SV_OPENING && server_identity(p, s) == e->server) return s;
  return NULL;
}

/* real_key_passthrough: any connection with this key, whoever holds it, checked out or not. */
static Server *with_key(const Pooler *p, guint pool, const Cancel *x) {
  EACH_SERVER(p, pool, s) if (s->state != SV_OPENING && s->pid == x->key_pid && s->secret == x->key_secret) return s;
  return NULL;
}

static bool ignored(const Pooler *p, const Server *s) {
  const PgBackend *b = server_backend(p, s);
  return b && b->runs == RUNS_OWN && !pool_config(p, s->pool)->own.cancellable;
}

static void copy_key(const Pooler *p, Cancel *x, guint pool, const TakenEntry *e, const Server *s) {
  x->pool = (uint16_t)pool;
  x->pid = e ? e->pid : s->pid;
  x->secret = e ? e->secret : s->secret;
  x->host = (uint16_t)(e ? e->host : s->host);
  x->flags &= (uint16_t)~XF_BY_SECRET;
  if (identity_by_secret(pool_config(p, pool))) x->flags |= XF_BY_SECRET;
}

/* An object link is followed; no table is asked. */
static Server *linked(const Pooler *p, const Cancel *x, guint pool) {
  const Session *e = &p->sessions[x->asked - 1];
  return session_server(p, e, pool);
}

/* Between authentication and look-up its session may have ended, and its slot may be another's. */
static bool asker_is_there(const Pooler *p, const Cancel *x) {
  const Session *e = &p->sessions[x->asked - 1];
  bool by_secret = config_of(p)->auth != AUTH_NONE;
  return e->state != CL_NONE && e->key_pid == x->key_pid && (!by_secret || e->key_secret == x->key_secret);
}

LookedUp lookup_server(Pooler *p, Cancel *x, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  const TakenEntry *e = NULL;
  Server *s;
  if (config_of(p)->client_identity == CLIENT_REAL_KEY)
    s = with_key(p, pool, x);
  else if (!asker_is_there(p, x))
    return LOOKED_NOTHING;
  else if (c->lookup == LOOKUP_ARRIVAL_LINK || c->server_identity == IDENTITY_OBJECT_LINK)
    s = linked(p, x, pool);
  else
    s = (e = taken_entry(p, pool, x->asked - 1u)) ? named(p, pool, e) : NULL;
  if (!s && !e) return LOOKED_NOTHING;
  if (s && ignored(p, s)) return LOOKED_NOTHING;
  /* Its server gave no key: there is nothing to send (poolers.md B.9), unless keys are read when they are sent:
   * PgBouncer 1.18 sends pid 0 then (seen on its wire). */
  if (s && s->pid == 0 && c->lookup != LOOKUP_ARRIVAL_LINK && !c->key_zero) return LOOKED_AMISS;
  copy_key(p, x, pool, e, s);
  if (!s) return LOOKED_UP; /* a key that nothing answers to any more: it goes out all the same */
  if (c->lookup == LOOKUP_ARRIVAL_LINK && step_is(p, pool, POOLSTEP_LINK, DO_SKIP)) return LOOKED_UP;
  x->server = (uint16_t)(server_id(p, s) + 1);
  x->tenancy = s->tenancy;
  if (c->lookup == LOOKUP_ARRIVAL_LINK)
    x->flags |= XF_LINKED;
  else
    fence_looked_up(p, x, s);
  return LOOKED_UP;
}

/* The carrier is connected by now, and behind one address it may be another postmaster than the connection's: the key
 * is read, where it goes is decided. */
bool lookup_key(Pooler *p, Cancel *x) {
  const uint16_t host = x->host;
  if (x->flags & XF_UNLINKED || !x->server) return false;
  copy_key(p, x, x->pool, NULL, &p->servers[x->server - 1]);
  x->host = host;
  return true;
}
