/* view.c - the state as checks see it: sets, counts, the cancel map. */
#include "model/pooler/parts.h"

guint pooler_pools(const Pooler *p) {
  return p->n_pools;
}
guint pooler_sessions(const Pooler *p) {
  return p->n_sessions;
}
const char *pooler_session_name(const Pooler *p, guint session) {
  return pooler_client_name(p, session / p->stride);
}
static guint on_idle_list(const Pooler *p, guint pool, guint server) {
  guint n = 0;
  for (guint i = 0; i < p->pools[pool].n_idle; i++) n += p->idle[(size_t)pool * p->row_servers + i] == server + 1;
  return n;
}

static bool is_checked_out(const Server *s) {
  return s->state == SV_TAKEN || (s->state == SV_CLEANING && !(s->flags & SVF_CHECKED_IN));
}

static void count_servers(const Pooler *p, guint pool, PoolView *v) {
  guint *const of[] = {[SV_OPENING] = &v->opening, [SV_IDLE] = &v->idle,         [SV_TAKEN] = &v->taken,
                       [SV_FENCED] = &v->fenced,   [SV_CLEANING] = &v->cleaning, [SV_CLOSING] = &v->closing};
  EACH_SERVER(p, pool, s) {
    ++*of[s->state];
    v->sockets++;
    v->checked_out += is_checked_out(s);
  }
}

static guint listed_twice(const Pooler *p, guint pool) {
  guint wrong = 0;
  for (guint i = 0; i < p->pools[pool].n_idle; i++) {
    guint server = p->idle[(size_t)pool * p->row_servers + i] - 1u;
    wrong +=
        p->servers[server].state != SV_IDLE || p->servers[server].pool != pool || on_idle_list(p, pool, server) > 1;
  }
  return wrong;
}

static guint owners(const Pooler *p, guint pool) {
  guint n = 0;
  for (guint i = 0; i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    for (guint k = 0; k < HELD_MAX && e->held[k]; k++) n += p->servers[e->held[k] - 1].pool == pool;
    if (e->mailbox && p->servers[e->mailbox - 1].pool == pool) n++;
  }
  return n;
}

/* Beside pool_size, as carriers are: for a cancel there may be up to twice as many (launch_new_connection). One that
 * logs in, as nobody waited any more, stays until the pass finds that there are too many. */
static guint opened_for_cancels(const Pooler *p, guint pool) {
  guint n = 0;
  EACH_SERVER(p, pool, s) n += s->state != SV_CLOSING && s->flags & SVF_FOR_CANCEL;
  return n;
}

PoolView pooler_pool(const Pooler *p, guint pool) {
  const Pool *pl = &p->pools[pool];
  const PoolConfig *c = pool_config(p, pool);
  PoolView v = {.name = c->name,
                .carriers = pl->carriers,
                .listed_idle = pl->n_idle,
                .waiters = pl->n_waiters,
                .parked = pl->n_parked};
  count_servers(p, pool, &v);
  v.listed_twice = listed_twice(p, pool);
  v.counted_taken = taken_len(p, pool);
  v.owners = owners(p, pool);
  v.size = (guint)c->size + opened_for_cancels(p, pool);
  v.reserve = (guint)c->reserve;
  /* The end of one that closes looks whether another is needed. */
  v.opening_or_poked =
      pl->opening || v.opening || v.closing || pl->flags & (PLF_POKED | PLF_ASLEEP) || pl->attempts || p->q_tick;
  v.polled = c->waiters == WAITERS_POLL;
  v.paused = pl->flags & PLF_PAUSED;
  v.offline = pl->flags & (PLF_OFFLINE | PLF_SHUTDOWN | PLF_FATAL);
  v.could_open = pool_should_grow(p, pool);
  return v;
}

static guint holders(const Pooler *p, guint server) {
  guint n = 0;
  for (guint i = 0; i < p->n_sessions; i++)
    n += session_holds(&p->sessions[i], server) || p->sessions[i].mailbox == server + 1;
  return n;
}

int pooler_lost_server(const Pooler *p) {
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    const Server *s = &p->servers[i];
    bool running = s->pc != SP_IDLE; /* its own process will bring it back */
    if (s->state == SV_IDLE && !on_idle_list(p, s->pool, i)) return (int)i;
    if (s->state == SV_TAKEN && !running && holders(p, i) == 0) return (int)i;
    if (s->state == SV_FENCED && s->fences == 0 && !child_has(p, s)) return (int)i;
  }
  return -1;
}

int pooler_shared_server(const Pooler *p) {
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    const Server *s = &p->servers[i];
    if (s->state == SV_FREE) continue;
    if (holders(p, i) > 1 || (holders(p, i) && s->state != SV_TAKEN)) return (int)i;
  }
  return -1;
}

/* ---- the cancel map ---- */

/* Who has no table (object_link) follows the link: the map is right by construction. */
static bool follows_links(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  return c->server_identity == IDENTITY_OBJECT_LINK || c->lookup == LOOKUP_ARRIVAL_LINK ||
         config_of(p)->client_identity == CLIENT_REAL_KEY;
}

static int entry_names(const Pooler *p, guint pool, guint session) {
  const Session *e = &p->sessions[session];
  const Server *held = session_server(p, e, pool);
  if (follows_links(p, pool)) return held ? (int)server_id(p, held) : -1;
  const TakenEntry *t = taken_entry(p, pool, session);
  if (!t) return -1;
  EACH_SERVER(p, pool, s) if (s->state != SV_OPENING && server_identity(p, s) == t->server) return (int)server_id(p, s);
  return POOLER_NAMES_NOTHING;
}

MapView pooler_map(const Pooler *p, guint pool, guint session) {
  const Session *e = &p->sessions[session];
  MapView v = {.client = session, .server = -1, .runs_on = -1};
  if (e->state == CL_NONE || e->pool == DIRECT || e->process != pool_process(p, pool)) return v;
  v.server = entry_names(p, pool, session);
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++) {
    const Server *s = &p->servers[e->held[i] - 1];
    const PgBackend *b = server_backend(p, s);
    if (s->pool != pool) continue;
    v.owns = true;
    v.names_it |= v.server == (int)server_id(p, s);
    if (b && b->runs == RUNS_QUERY && e->request == REQ_QUERY) v.runs_on = (int)server_id(p, s);
  }
  if (e->mailbox && p->servers[e->mailbox - 1].pool == pool) v.owns = v.names_it = true;
  if (v.server < 0) return v;
  const Server *named = &p->servers[v.server];
  v.live = is_checked_out(named) && named->state != SV_CLOSING;
  v.names_it |= named->state == SV_CLEANING && named->owner == session + 1;
  return v;
}

/* ---- in words, for pictures ---- */

typedef void (*Each)(const char *name, const char *value, void *data);

static const char *server_word(const Server *s) {
  static const char *const words[] = {"free", "opening", "idle", "taken", "fenced", "cleaning", "closing"};
  return words[s->state];
}

static void describe_server(const Pooler *p, const Server *s, Each each, void *data) {
  if (s->state == SV_FREE) return;
  g_autofree char *name = g_strdup_printf("server %u", server_id(p, s));
  g_autoptr(GString) v = g_string_new(server_word(s));
  if (s->owner) g_string_append_printf(v, " by %s", pooler_session_name(p, s->owner - 1u));
  const PgBackend *b = server_backend(p, s);
  if (b) g_string_append_printf(v, ", pid %u", b->pid);
  if (b && b->runs == RUNS_OWN) g_string_append(v, ", the pooler's own query runs");
  if (b && b->runs == RUNS_QUERY && b->client && b->query != QUERY_END)
    g_string_append_printf(v, ", %s runs", client_script(p, &p->clients[b->client - 1u])->queries[b->query].tag);
  if (s->fences) g_string_append_printf(v, ", %u cancel(s) refer to it", s->fences);
  each(name, v->str, data);
}

static void describe_session(const Pooler *p, guint i, Each each, void *data) {
  static const char *const words[] = {"", "connecting", "idle", "queued", "running", "leaving"};
  const Session *e = &p->sessions[i];
  if (e->state == CL_NONE) return;
  const guint nth = i % p->stride + 1;
  g_autoptr(GString) name = g_string_new("client ");
  g_string_append(name, pooler_session_name(p, i));
  if (nth > 1) g_string_append_printf(name, " (session %u)", nth);
  g_autoptr(GString) v = g_string_new(words[e->state]);
  const QueryDef *q = e->request == REQ_QUERY ? session_query(p, e) : NULL;
  if (q) g_string_append_printf(v, " %s", q->tag);
  if (e->flags & SEF_TRANSACTION) g_string_append(v, ", in a transaction");
  each(name->str, v->str, data);
}

static void describe_cancel(const Pooler *p, const Cancel *x, Each each, void *data) {
  static const char *const words[X_COUNT] = {
      "",        "not sent",  "sent",       "accepted",         "authenticated", "needs a carrier",
      "parked",  "its turn",  "connecting", "connected",        "under way",     "delivered",
      "matched", "signalled", "stuck",      "told, not handled"};
  if (x->stage == X_NONE) return;
  g_autofree char *name = g_strdup_printf("cancel %u", cancel_id(p, x));
  g_autoptr(GString) v = g_string_new(words[x->stage]);
  g_string_append_printf(v, x->stage == X_SENT ? " yet (%s of %s)" : ", of %s by %s",
                         client_script(p, &p->clients[x->client])->queries[x->query].tag,
                         pooler_client_name(p, x->client));
  if (x->pid) g_string_append_printf(v, ", for pid %u", x->pid);
  if (x->flags & XF_UNLINKED) g_string_append(v, ", unlinked");
  each(name, v->str, data);
}

/* No two pools of a state have the same name: a trace tells changes by it. */
static char *pool_words(const Pooler *p, guint i) {
  const guint process = pool_process(p, i);
  const bool current = pool_of(p, process, i % p->pools_each) == i;
  g_autoptr(GString) name = g_string_new("pool ");
  g_string_append(name, pool_config(p, i)->name);
  if (process) g_string_append_printf(name, " of pooler %u", process);
  if (!current) g_string_append(name, " (before a reload)");
  return g_string_free(g_steal_pointer(&name), FALSE);
}

static void describe_pool(const Pooler *p, guint i, Each each, void *data) {
  const Pool *pl = &p->pools[i];
  g_autofree char *name = pool_words(p, i);
  g_autoptr(GString) v = g_string_new("idle [");
  for (guint k = 0; k < pl->n_idle; k++)
    g_string_append_printf(v, k ? " %u" : "%u", p->idle[(size_t)i * p->row_servers + k] - 1u);
  g_string_append_printf(v, "], taken %u, waiters [", taken_len(p, i));
  for (guint k = 0; k < pl->n_waiters; k++)
    g_string_append_printf(v, k ? " %s" : "%s",
                           pooler_session_name(p, p->waiters[(size_t)i * p->row_waiters + k] - 1u));
  g_string_append_c(v, ']');
  each(name, v->str, data);
}

void pooler_describe(const Pooler *p, Each each, void *data) {
  enum { DESCRIBED_MAX = 32 };
  if (p->n_sessions > DESCRIBED_MAX || p->n_servers > 2 * DESCRIBED_MAX) return;
  for (guint i = 0; i < p->n_sessions; i++) describe_session(p, i, each, data);
  for (guint i = 0; i < p->n_pools; i++) describe_pool(p, i, each, data);
  for (guint i = 0; i < p->n_servers; i++) describe_server(p, &p->servers[i], each, data);
  for (guint i = 0; i < MIN(p->n_cancels, (guint)DESCRIBED_MAX); i++) describe_cancel(p, &p->cancels[i], each, data);
}
