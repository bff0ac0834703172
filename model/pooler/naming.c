/* naming.c - which names in a pooler's state mean nothing, so that states that differ only in them behave alike. A name
 * means nothing when no step does anything with it but compare it with others for equality, hand it on, or take a
 * fresh one. */
#include "model/pooler/symmetry.h"

static bool event_touches(const Pooler *p, PathKind kind, unsigned verbs) {
  const Workload *w = &config_of(p)->work;
  for (int i = 0; i < w->n_events; i++)
    if (w->events[i].target.kind == kind && verbs >> w->events[i].verb & 1) return true;
  return false;
}

/* Is this entry, or one of its copies, what an event sees or acts on? */
static bool means_entry(const Path *at, int def) {
  bool of_client = at->kind == PATH_CLIENT || at->kind == PATH_CLIENT_SERVER || at->kind == PATH_QUERY;
  return of_client && at->index == def;
}

/* What befalls all copies at once befalls them in turn, and what one lets go of another may be given. */
static bool event_tells_apart(const EventDef *e, int def) {
  return means_entry(&e->target, def) || (means_entry(&e->seen, def) && e->seen.copy != NONE);
}

/* Copies run one script, and no loop over clients or sessions does anything that depends on whose turn comes first:
 * each wakes or ends its own. A key finds the first session that has it: keys of less than 31 bits repeat. */
static bool copies_alike(const Pooler *p, int def) {
  const PoolerConfig *c = config_of(p);
  const ClientDef *d = &c->work.clients[def];
  if (d->count < 2 || d->n_arrive || p->q_reserve)
    return false; /* what opens the reserve knows a session by its place */
  if (c->client_identity == CLIENT_COUNTER && c->client_width > 0 && c->client_width < 31) return false;
  for (int i = 0; i < c->work.n_events; i++)
    if (event_tells_apart(&c->work.events[i], def)) return false;
  return true;
}

/* A restarted pooler process counts anew; then numbers meet that are equal by accident. */
static bool poolers_stay(const Pooler *p) {
  return !event_touches(p, PATH_POOLER, 1u << EVENT_KILL | 1u << EVENT_CUT | 1u << EVENT_RESTART);
}

static bool keys_mean_nothing(const Pooler *p) {
  const PoolerConfig *c = config_of(p);
  if (c->client_identity == CLIENT_REAL_KEY) return true; /* they are pids and secrets */
  if (!poolers_stay(p)) return false;
  return c->client_identity != CLIENT_COUNTER || c->client_width <= 0 || c->client_width >= 31;
}

enum { PIDS_ENOUGH = 1 << 16 };

/* Pids are never given again, and one host's never meet another's: with several hosts all is told by secrets. */
static bool pids_mean_nothing(const Pooler *p) {
  const PoolerConfig *c = config_of(p);
  if (event_touches(p, PATH_SERVER, 1u << EVENT_KILL | 1u << EVENT_CUT | 1u << EVENT_RESTART)) return false;
  for (int i = 0; i < c->n_servers; i++) {
    const ServerConfig *s = &c->servers[i];
    if (s->pid_at_once || s->pid_max - s->pid_start < PIDS_ENOUGH) return false;
    if (c->n_servers > 1 && (s->secret_given || s->key_bytes == 0)) return false;
  }
  for (int i = 0; i < c->n_pools && c->n_servers > 1; i++)
    if (c->pools[i].server_identity == IDENTITY_PID_ONLY || c->pools[i].taken == TAKEN_G3) return false;
  return true;
}

static bool seqs_mean_nothing(const Pooler *p) {
  const PoolerConfig *c = config_of(p);
  for (int i = 0; i < c->n_pools; i++)
    if (c->pools[i].identity_width > 0 && c->pools[i].identity_width < 64) return false;
  return poolers_stay(p);
}

/* Which slot a connection is in decides only who is found first among equal identities, who is evicted for a shared
 * cap, and in which order a reload or pause goes. */
static bool slots_mean_nothing(const Pooler *p, bool pids, bool seqs) {
  const PoolerConfig *c = config_of(p);
  if (p->moves || c->max_db_connections || c->max_user_connections || c->work.n_events) return false;
  for (int i = 0; i < c->n_pools; i++) {
    ServerIdentity id = c->pools[i].server_identity;
    bool unique = id == IDENTITY_OBJECT_LINK || (id == IDENTITY_UNIQUE_SEQ ? seqs : pids);
    if (!unique) return false;
  }
  for (int i = 0; i < c->n_servers; i++)
    if (c->servers[i].key_bytes == 0) return false;
  return true;
}

/* Steps that come late know a connection by slot and number, and whose it was last. */
static bool steps_late(const Pooler *p, bool of_owner) {
  static const PoolStep steps[] = {POOLSTEP_UNMAP, POOLSTEP_MAP, POOLSTEP_UNLINK, POOLSTEP_UNFENCE};
  for (guint i = 0; i < p->n_pools; i++)
    for (guint k = 0; k < (of_owner ? 1 : G_N_ELEMENTS(steps)); k++)
      if (step_is(p, i, steps[k], DO_LATE)) return true;
  return false;
}

Naming *naming_new(const Pooler *p) {
  const PoolerConfig *c = config_of(p);
  Naming *n = g_new0(Naming, 1);
  n->may.copies = g_new0(bool, (gsize)c->work.n_clients + 1);
  bool watched = p->q_age || p->q_watch ||
                 steps_late(p, false);    /* a watch knows a connection by slot and number, that of a fence a cancel */
  bool one_config = p->configs->len == 1; /* events that change policies in the course of things: no names are given */
  if (one_config) {
    n->may.keys = keys_mean_nothing(p);
    n->may.pids = pids_mean_nothing(p);
    n->may.seqs = !watched && seqs_mean_nothing(p);
    n->may.servers = !watched && slots_mean_nothing(p, n->may.pids, n->may.seqs);
    n->may.cancels = !p->q_fence && !child_is_needed(p, pool_of(p, 0, 0)); /* a watch knows them by their numbers */
    n->may.owners = c->work.n_events == 0 && !steps_late(p, true);
    for (int i = 0; i < c->work.n_clients; i++) n->may.copies[i] = copies_alike(p, i);
  }
  guint most = MAX(MAX(p->n_sessions, p->n_servers), MAX(p->n_cancels, p->n_clients)) + 1;
  n->client = g_new0(guint, p->n_clients + 1);
  n->session = g_new0(guint, p->n_sessions + 1);
  n->server = g_new0(guint, p->n_servers + 1);
  n->cancel = g_new0(guint, p->n_cancels + 1);
  n->backend = g_new0(guint *, (gsize)c->n_servers + 1);
  for (int i = 0; i < c->n_servers; i++) n->backend[i] = g_new0(guint, p->hosts[i]->n + 1u);
  for (int i = 0; i < c->n_servers; i++) most = MAX(most, p->hosts[i]->n);
  n->colors = g_new0(uint64_t, p->n_clients + p->n_servers + p->n_cancels + most);
  n->order = g_new0(guint, most);
  return n;
}

void naming_free(Naming *n, guint hosts) {
  if (!n) return;
  for (guint i = 0; i < hosts; i++) g_free(n->backend[i]);
  gpointer parts[] = {n->may.copies, n->client, n->session, n->server,  n->cancel, n->backend,
                      n->colors,     n->order,  n->procs,   n->objects, n->old,    n->names};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) g_free(parts[i]);
  g_free(n);
}

void pooler_canon(Pooler *p) {
  if (!p->naming) p->naming = naming_new(p);
  naming_order(p, p->naming);
  naming_apply(p, p->naming);
}
