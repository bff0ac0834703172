/* rename.c - a pooler's state rewritten with the places that naming_order found, and with numbers that stand for
 * nothing but themselves (keys, pids, secrets, openings) counted anew in the order in which the state is read: the
 * first one met is 1. Counters go on behind the last number in use, so that the next one is new. */
#include "model/pooler/symmetry.h"
#include "model/world/explore.h"

/* ---- places ---- */

static const void *copied(Naming *n, const void *table, size_t bytes) {
  if (n->old_bytes < bytes) {
    g_free(n->old);
    n->old = g_malloc(n->old_bytes = 2 * bytes);
  }
  if (bytes) memcpy(n->old, table, bytes); /* a table of none is NULL */
  return n->old;
}

static guint moved(const guint *to, guint id_1) {
  return id_1 ? to[id_1 - 1] + 1 : 0;
}

static void move_sessions(Pooler *p, Naming *n) {
  const Session *old = copied(n, p->sessions, p->n_sessions * sizeof *old);
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[n->session[i]];
    *e = old[i];
    if (e->state == CL_NONE) continue;
    e->client = (uint16_t)n->client[e->client];
    for (guint k = 0; k < HELD_MAX; k++) e->held[k] = (uint16_t)moved(n->server, e->held[k]);
    e->mailbox = (uint16_t)moved(n->server, e->mailbox);
    e->first_row = (uint16_t)moved(n->server, e->first_row);
  }
}

/* Which copy one is goes with the place. */
static void move_clients(Pooler *p, Naming *n) {
  const Client *old = copied(n, p->clients, p->n_clients * sizeof *old);
  for (guint i = 0; i < p->n_clients; i++) {
    Client *c = &p->clients[n->client[i]];
    uint16_t copy = old[n->client[i]].copy;
    *c = old[i];
    c->copy = copy;
  }
}

static void move_servers(Pooler *p, Naming *n) {
  const Server *old = copied(n, p->servers, p->n_servers * sizeof *old);
  for (guint i = 0; i < p->n_servers; i++) {
    Server *s = &p->servers[n->server[i]];
    *s = old[i];
    if (s->state == SV_FREE) continue;
    if (n->may.owners) s->last_owner = 0;
    s->owner = (uint16_t)moved(n->session, s->owner);
    s->last_owner = (uint16_t)moved(n->session, s->last_owner);
    s->backend = (uint16_t)moved(n->backend[s->host], s->backend);
  }
}

static void move_cancels(Pooler *p, Naming *n) {
  const Cancel *old = copied(n, p->cancels, p->n_cancels * sizeof *old);
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[n->cancel[i]];
    *x = old[i];
    if (x->stage == X_NONE) continue;
    x->client = (uint16_t)n->client[x->client];
    x->session = (uint16_t)moved(n->session, x->session);
    x->asked = (uint16_t)moved(n->session, x->asked);
    x->server = (uint16_t)moved(n->server, x->server);
    if (x->child != UINT16_MAX) x->child = (uint16_t)moved(n->server, x->child);
    x->backend = x->flags & XF_HANDLED ? 0 : (uint16_t)moved(n->backend[x->host], x->backend); /* read no more */
  }
}

static void move_backends(Pooler *p, Naming *n, guint h) {
  PgHost *host = p->hosts[h];
  const PgBackend *old = copied(n, host->backends, host->n * sizeof *old);
  for (guint i = 0; i < host->n; i++) {
    PgBackend *b = &host->backends[n->backend[h][i]];
    *b = old[i];
    b->conn = (uint16_t)moved(n->server, b->conn);
    b->client = (uint16_t)moved(n->client, b->client);
  }
}

static void move_row(uint16_t *row, guint len, const guint *to) {
  for (guint i = 0; i < len; i++) row[i] = (uint16_t)moved(to, row[i]);
}

#define EACH_TAKEN(p, pool, e)                                                                                         \
  for (guint pool = 0; pool < (p)->n_pools; pool++)                                                                    \
    for (guint kind_ = 3; kind_-- > 0;)                                                                                \
      for (TakenEntry *e = taken_row(p, pool, kind_), *end_ = e + taken_rows(p, pool, kind_); e < end_; e++)

static TakenEntry *taken_row(const Pooler *p, guint pool, guint kind) {
  TakenEntry *const tables[] = {p->pairs, p->by_client, p->by_server};
  return tables[kind] + (size_t)pool * p->row_servers;
}
static guint taken_rows(const Pooler *p, guint pool, guint kind) {
  const TakenHead *h = &p->pools[pool].taken;
  return kind == 0 ? h->n_pairs : kind == 1 ? h->n_clients : h->n_servers;
}

static bool slot_above(const TakenEntry *a, const TakenEntry *b) {
  return a->slot > b->slot;
}
static bool client_above(const TakenEntry *a, const TakenEntry *b) {
  return a->client > b->client;
}
static bool server_above(const TakenEntry *a, const TakenEntry *b) {
  return a->server > b->server;
}

/* The maps are asked by key: in which order they were filled means nothing. (Pairs are a list, of which the last
 * counts.) */
static void sort_map(TakenEntry *t, guint n, bool (*above)(const TakenEntry *a, const TakenEntry *b)) {
  for (guint i = 1; i < n; i++) {
    TakenEntry e = t[i];
    guint j = i;
    for (; j > 0 && above(&t[j - 1], &e); j--) t[j] = t[j - 1];
    t[j] = e;
  }
}

/* By slot until their keys are renamed: those that nobody has any more are named in the order in which they stand. */
static void sort_maps(Pooler *p, bool by_slot) {
  for (guint pool = 0; pool < p->n_pools; pool++) {
    sort_map(taken_row(p, pool, 1), taken_rows(p, pool, 1), by_slot ? slot_above : client_above);
    sort_map(taken_row(p, pool, 2), taken_rows(p, pool, 2), by_slot ? slot_above : server_above);
  }
}

static void move_rows(Pooler *p, const Naming *n) {
  EACH_TAKEN(p, pool, e) e->slot = moved(n->server, e->slot);
  sort_maps(p, true);
  for (guint i = 0; i < p->n_pools; i++) {
    const Pool *pl = &p->pools[i];
    move_row(p->idle + (size_t)i * p->row_servers, pl->n_idle, n->server);
    move_row(p->waiters + (size_t)i * p->row_waiters, pl->n_waiters, n->session);
    move_row(p->parked + (size_t)i * p->row_parked, pl->n_parked, n->cancel);
  }
  for (int i = 0; i < config_of(p)->work.n_locks; i++)
    p->locks[i].lock_owner = (uint16_t)moved(n->server, p->locks[i].lock_owner);
}

/* ---- numbers: the upper 8 bits say whose (a process's, a host's), and stay ---- */

enum { WHOSE = 24 };

static uint32_t anew(Naming *n, uint32_t old) {
  guint rank = 1;
  if (!(old & ((1u << WHOSE) - 1))) return old;
  for (guint i = 0; i < n->n_names; i++) {
    if (n->names[i] == old) return (old >> WHOSE << WHOSE) + rank;
    rank += n->names[i] >> WHOSE == old >> WHOSE;
  }
  if (n->n_names == n->names_room) {
    n->names_room = MAX(64, 2 * n->names_room);
    n->names = g_renew(uint32_t, n->names, n->names_room);
  }
  n->names[n->n_names++] = old;
  return (old >> WHOSE << WHOSE) + rank;
}

static guint named(const Naming *n, guint whose) {
  guint k = 0;
  for (guint i = 0; i < n->n_names; i++) k += n->names[i] >> WHOSE == whose;
  return k;
}

/* ---- keys of clients ---- */

static bool pooled_key(const Pooler *p, guint pool) {
  return pool != DIRECT && config_of(p)->client_identity != CLIENT_REAL_KEY;
}

static void key_anew(const Pooler *p, Naming *n, uint32_t *pid, uint32_t *secret) {
  *secret = anew(n, *secret);
  *pid = config_of(p)->client_identity == CLIENT_COUNTER ? (*secret & ((1u << WHOSE) - 1)) - 1 : *secret;
}

static void rename_keys(Pooler *p, Naming *n) {
  bool counter = config_of(p)->client_identity == CLIENT_COUNTER;
  n->n_names = 0;
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (e->state != CL_NONE && e->key_secret && pooled_key(p, e->pool)) key_anew(p, n, &e->key_pid, &e->key_secret);
  }
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage > X_SENT && x->key_secret && pooled_key(p, x->pool)) key_anew(p, n, &x->key_pid, &x->key_secret);
  }
  EACH_TAKEN(p, pool, e) {
    uint32_t whose = (uint32_t)pool_process(p, pool) << WHOSE;
    if (pooled_key(p, pool)) e->client = counter ? anew(n, whose | e->client) - whose : anew(n, e->client);
  }
  for (guint i = 0; i < (guint)config_of(p)->processes; i++)
    p->processes[i].keys = p->processes[i].secrets = named(n, i);
}

/* ---- pids and secrets: two rounds over the same fields ---- */

typedef void (*Rename)(Pooler *p, Naming *n, guint host, uint32_t *pid, uint32_t *secret);

static void pid_anew(Pooler *p, Naming *n, guint host, uint32_t *pid, uint32_t *secret) {
  uint32_t whose = (uint32_t)host << WHOSE;
  (void)secret;
  if (*pid) *pid = anew(n, whose | *pid) - whose + (uint32_t)p->host_configs[host].pid_start - 1;
}
static void secret_anew(Pooler *p, Naming *n, guint host, uint32_t *pid, uint32_t *secret) {
  (void)pid;
  if (!p->host_configs[host].secret_given) *secret = anew(n, *secret);
}

/* With several hosts a secret says of which it is, wherever the one that carries it is going. */
static guint host_of(const Pooler *p, uint32_t secret) {
  return config_of(p)->n_servers == 1 ? 0 : secret >> WHOSE;
}

static void each_pid(Pooler *p, Naming *n, Rename f) {
  bool real = config_of(p)->client_identity == CLIENT_REAL_KEY;
  for (guint i = 0; i < p->n_servers; i++) {
    Server *s = &p->servers[i];
    if (s->state != SV_FREE && s->secret) f(p, n, s->host, &s->pid, &s->secret);
  }
  for (int h = 0; h < config_of(p)->n_servers; h++)
    for (guint i = 0; i < p->hosts[h]->n; i++) {
      PgBackend *b = &p->hosts[h]->backends[i];
      if (b->pid) f(p, n, (guint)h, &b->pid, &b->secret);
    }
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage && x->secret) f(p, n, host_of(p, x->secret), &x->pid, &x->secret);
    if (x->stage > X_SENT && x->key_secret && (real || x->pool == DIRECT))
      f(p, n, host_of(p, x->key_secret), &x->key_pid, &x->key_secret);
  }
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (e->state != CL_NONE && e->key_secret && (real || e->pool == DIRECT))
      f(p, n, host_of(p, e->key_secret), &e->key_pid, &e->key_secret);
  }
  EACH_TAKEN(p, pool, e) if (e->secret) f(p, n, e->host, &e->pid, &e->secret);
}

static void rename_pids(Pooler *p, Naming *n) {
  n->n_names = 0;
  each_pid(p, n, pid_anew);
  for (int h = 0; h < config_of(p)->n_servers; h++) {
    guint many = named(n, (guint)h);
    p->hosts[h]->last_pid = many ? (uint32_t)p->host_configs[h].pid_start + many - 1 : 0;
  }
  n->n_names = 0;
  each_pid(p, n, secret_anew);
  for (int h = 0; h < config_of(p)->n_servers; h++) p->hosts[h]->forked = ((uint32_t)h << WHOSE) + named(n, (guint)h);
}

/* ---- openings, and what the tables of checked-out connections know of them ---- */

static void rename_seqs(Pooler *p, Naming *n) {
  n->n_names = 0;
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    Server *s = &p->servers[i];
    uint32_t whose = s->state == SV_FREE ? 0 : (uint32_t)pool_process(p, s->pool) << WHOSE;
    if (s->state != SV_FREE && s->seq) s->seq = anew(n, whose | s->seq) - whose;
  }
  EACH_TAKEN(p, pool, e) {
    uint32_t whose = (uint32_t)pool_process(p, pool) << WHOSE;
    if (pool_config(p, pool)->server_identity == IDENTITY_UNIQUE_SEQ)
      e->server = anew(n, whose | (uint32_t)e->server) - whose;
  }
  for (guint i = 0; i < (guint)config_of(p)->processes; i++) p->processes[i].seq = named(n, i);
}

static void rename_taken(Pooler *p) {
  EACH_TAKEN(p, pool, e) {
    ServerIdentity id = pool_config(p, pool)->server_identity;
    e->key = 0;
    if (config_of(p)->client_identity == CLIENT_REAL_KEY)
      e->client = p->host_configs[e->host].secret_given ? e->pid : e->secret; /* as taken.c has it */
    bool by_pid = kind_ == 2 && pool_config(p, pool)->taken == TAKEN_G3;
    if (by_pid || id == IDENTITY_PID_ONLY)
      e->server = e->pid;
    else if (id == IDENTITY_OBJECT_LINK)
      e->server = e->slot;
    else if (id != IDENTITY_UNIQUE_SEQ)
      e->server =
          ((uint64_t)e->pid << 32 | e->secret) ^ (id == IDENTITY_HOST_PID_SECRET ? (uint64_t)(e->host + 1) << 54 : 0);
  }
  for (guint i = 0; i < p->n_pools; i++) p->pools[i].taken.counter = 0;
}

/* ---- processes of the world, and what they wait in ---- */

/* The process of an entry knows the entry's place, and has its id by it (spawn_for). */
static void move_procs(Pooler *p, ProcId first, guint many, const guint *to, ProcId *procs) {
  for (guint i = 0; i < many; i++) {
    procs[first + i] = first + to[i];
    if (world_alive(p->w, first + i)) *(uint32_t *)world_locals(p->w, first + i) = to[i];
  }
}

static void order_procs(Pooler *p, Naming *n) {
  guint many = world_processes(p->w);
  if (n->procs_room < many) n->procs = g_renew(ProcId, n->procs, 2 * many), n->procs_room = 2 * many;
  for (ProcId q = 0; q < many; q++) n->procs[q] = q;
  move_procs(p, p->client_procs, p->n_clients, n->client, n->procs);
  move_procs(p, p->session_procs, p->n_sessions, n->session, n->procs);
  move_procs(p, p->server_procs, p->n_servers, n->server, n->procs);
  move_procs(p, p->cancel_procs, p->n_cancels, n->cancel, n->procs);
  move_procs(p, p->signal_procs, p->n_cancels, n->cancel, n->procs);
}

static void move_queues(const ObjectId *queues, guint many, const guint *to, ObjectId *objects) {
  for (guint i = 0; queues && i < many; i++) objects[queues[i]] = queues[to[i]];
}

static void order_objects(const Pooler *p, Naming *n) {
  guint many = world_objects(p->w);
  if (n->objects_room < many) n->objects = g_renew(ObjectId, n->objects, many), n->objects_room = many;
  for (ObjectId o = 0; o < many; o++) n->objects[o] = o;
  move_queues(p->q_client, p->n_clients, n->client, n->objects);
  move_queues(p->q_session, p->n_sessions, n->session, n->objects);
  move_queues(p->q_server, p->n_servers, n->server, n->objects);
  move_queues(p->q_cancel, p->n_cancels, n->cancel, n->objects);
}

static void take_ids(Pooler *p, const ProcId *procs) {
  for (guint i = 0; i < p->n_clients; i++) p->clients[i].proc = procs[p->clients[i].proc];
  for (guint i = 0; i < p->n_sessions; i++) p->sessions[i].proc = procs[p->sessions[i].proc];
  for (guint i = 0; i < p->n_servers; i++) p->servers[i].proc = procs[p->servers[i].proc];
  for (guint i = 0; i < p->n_cancels; i++) {
    p->cancels[i].proc = procs[p->cancels[i].proc];
    p->cancels[i].signal = procs[p->cancels[i].signal];
  }
}

static bool stays(const guint *to, guint many) {
  for (guint i = 0; i < many; i++)
    if (to[i] != i) return false;
  return true;
}

void naming_apply(Pooler *p, Naming *n) {
  move_sessions(p, n);
  move_clients(p, n);
  move_servers(p, n);
  move_cancels(p, n);
  for (int h = 0; h < config_of(p)->n_servers; h++) move_backends(p, n, (guint)h);
  move_rows(p, n);
  if (n->may.keys) rename_keys(p, n);
  if (n->may.pids) rename_pids(p, n);
  if (n->may.seqs) rename_seqs(p, n);
  rename_taken(p);
  sort_maps(p, false);
  if (stays(n->client, p->n_clients) && stays(n->server, p->n_servers) && stays(n->cancel, p->n_cancels)) return;
  order_procs(p, n);
  order_objects(p, n);
  world_rename(p->w, n->procs, n->objects);
  take_ids(p, n->procs);
}
