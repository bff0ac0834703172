/* client_identity.c - the key that a client is given, and whose it is when it comes back in a cancel (poolers.md C.3).
 * A random part never equals another's here: a collision of 32 random bits is not what these models are about. A
 * counter repeats after 2^width sessions, and starts anew when the pooler does. */
#include "model/pooler/parts.h"

static uint32_t session_number(Process *pr) {
  pr->keys++;
  return ++pr->secrets;
}

static void key_random(Pooler *p, Session *e) {
  (void)p;
  e->key_pid = e->key_secret;
}

static void key_counter(Pooler *p, Session *e) {
  int width = config_of(p)->client_width;
  uint32_t n = p->processes[e->process].keys - 1;
  e->key_pid = width >= 31 || width <= 0 ? n & 0x7fffffff : n & ((1u << width) - 1);
}

static void (*const policies[])(Pooler *p, Session *e) = {[CLIENT_RANDOM64] = key_random,
                                                          [CLIENT_RANDOM63] = key_random,
                                                          [CLIENT_COUNTER] = key_counter,
                                                          [CLIENT_PEER] = key_random,
                                                          [CLIENT_RANDOM31X2] = key_random};

/* real: the server connection whose key is passed through (real_key_passthrough, and where no pooler stands between);
 * until there is one such a session has no key. */
void client_key_make(Pooler *p, Session *e, const Server *real) {
  if (real) {
    e->key_pid = real->pid;
    e->key_secret = real->secret;
    return;
  }
  g_assert(config_of(p)->client_identity != CLIENT_REAL_KEY);
  /* The process stands in the upper bits: a random part of one process is no random part of another. */
  e->key_secret = (uint32_t)e->process << 24 | session_number(&p->processes[e->process]);
  policies[config_of(p)->client_identity](p, e);
}

/* The first session of the process that matches; a linear scan, as PgBouncer's. With a real key the session that had
 * it may be long gone: what answers to it is a server connection, found by lookup.c. */
int client_key_find(const Pooler *p, guint process, uint32_t pid, uint32_t secret) {
  bool by_secret = config_of(p)->auth != AUTH_NONE;
  for (guint i = 0; i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    if (e->state == CL_NONE || e->pool == DIRECT || e->process != process || e->key_pid != pid) continue;
    if (!by_secret || e->key_secret == secret) return (int)i;
  }
  return -1;
}

/* With peers, a process that does not know a key finds out whose it is: from the key (peer_encoded), or by asking all.
 */
int client_key_process(const Pooler *p, const Cancel *x) {
  const PoolerConfig *c = config_of(p);
  if (!c->peering) return -1;
  for (int i = 0; i < c->processes; i++)
    if (client_key_find(p, (guint)i, x->key_pid, x->key_secret) >= 0) return i;
  return -1;
}
