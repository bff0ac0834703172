/* taken.c - the table of checked-out connections, which is also the map that cancels are looked up in: five generations
 * of one pooler's (poolers.md B.2), each with exactly its defects.
 *
 *   G0 a list of pairs; G1 two maps, the count is the clients'; G2 pairs by a counter, and the client's entry is
 * dropped whatever it points to; G3 by client, and by the server's PID alone; G4 by client, and by the server's
 * identity.
 *
 * Rows of one pool: pairs, by_client, by_server. An entry of a map is found by its key, so two that are equal collapse
 * into one: that is how a count comes to be too small. */
#include "model/pooler/parts.h"

typedef struct {
  TakenEntry *pairs, *clients, *servers;
  TakenHead *h;
  TakenGeneration gen;
} Taken;

static Taken taken_of(const Pooler *p, guint pool) {
  size_t row = (size_t)pool * p->row_servers;
  return (Taken){p->pairs + row, p->by_client + row, p->by_server + row, &p->pools[pool].taken,
                 pool_config(p, pool)->taken};
}

static TakenEntry *find_client(TakenEntry *t, guint n, uint32_t client) {
  for (guint i = 0; i < n; i++)
    if (t[i].client == client) return &t[i];
  return NULL;
}
static TakenEntry *find_server(TakenEntry *t, guint n, uint64_t server) {
  for (guint i = 0; i < n; i++)
    if (t[i].server == server) return &t[i];
  return NULL;
}

static bool client_below(const TakenEntry *a, const TakenEntry *b) {
  return a->client < b->client;
}
static bool server_below(const TakenEntry *a, const TakenEntry *b) {
  return a->server < b->server;
}

/* A map has no order: entries stand by their keys, so that who came first is no part of the state. */
static void put(TakenEntry *t, uint16_t *n, TakenEntry *found, TakenEntry e,
                bool (*below)(const TakenEntry *a, const TakenEntry *b)) {
  guint at = *n;
  if (found) {
    *found = e;
    return;
  }
  for (; at > 0 && below(&e, &t[at - 1]); at--) t[at] = t[at - 1];
  t[at] = e;
  ++*n;
}

/* Later entries move down, so that what is beyond n is zero. */
static void drop(TakenEntry *t, uint16_t *n, TakenEntry *e) {
  if (!e) return;
  g_assert(*n > 0 && e >= t && e < t + *n);
  memmove(e, e + 1, (size_t)(t + *n - e - 1) * sizeof *e);
  t[--*n] = (TakenEntry){0};
}

static uint64_t reverse_key(const Pooler *p, const Taken *t, const Server *s) {
  return t->gen == TAKEN_G3 ? s->pid : server_identity(p, s);
}

/* A session's slot is used again by others; what the pooler knows it by is its key, and of a counter only that. A key
 * that is passed through is that of `s`, which is checked out before its client has been told. */
static uint32_t client_key(const Pooler *p, guint session, const Server *s) {
  const Session *e = &p->sessions[session];
  ClientIdentity id = config_of(p)->client_identity;
  if (id == CLIENT_REAL_KEY) return p->host_configs[s->host].secret_given ? s->pid : s->secret;
  return id == CLIENT_COUNTER ? e->key_pid + 1 : e->key_secret;
}

/* What a take copies and hashes, by the structures of each generation; a check-in finds, compares and copies out as
 * much. An entry is hashed under its key, and key and value are copied into it: a pair is client and server; a map from
 * client to server is 2 of the client's key and 1 of the server's, and the other way round; G2's from server to counter
 * 2 of the server's. The client's key is of the server's type until G2, then a pid. */
guint taken_bytes(const Pooler *p, guint pool, guint host) {
  guint key = identity_bytes(p, pool, host), seq = SEQ_BYTES + PID_BYTES;
  switch (pool_config(p, pool)->taken) {
  case TAKEN_G0: return key + key;
  case TAKEN_G1: return (2 * key + key) + (2 * key + key);
  case TAKEN_G2: return (key + key) + 2 * key + (2 * key + key);
  case TAKEN_G3: return (2 * PID_BYTES + key) + (2 * PID_BYTES + PID_BYTES);
  default: return (2 * PID_BYTES + seq + key) + (2 * seq + PID_BYTES);
  }
}

void taken_take(Pooler *p, guint pool, guint session, const Server *s) {
  Taken t = taken_of(p, pool);
  g_assert(t.h->n_servers < p->row_servers && t.h->n_pairs < p->row_servers);
  TakenEntry e = {.client = client_key(p, session, s),
                  .server = server_identity(p, s),
                  .slot = server_id(p, s) + 1,
                  .pid = s->pid,
                  .secret = s->secret,
                  .host = s->host};
  if (t.gen == TAKEN_G0 || t.gen == TAKEN_G2) e.key = ++t.h->counter;
  for (guint n = step_times(p, pool, POOLSTEP_MAP); n > 0; n--) {
    measure_bytes(p, taken_bytes(p, pool, s->host));
    if (t.gen == TAKEN_G0 || t.gen == TAKEN_G2) t.pairs[t.h->n_pairs++] = e;
    if (t.gen == TAKEN_G0) continue;
    put(t.clients, &t.h->n_clients, find_client(t.clients, t.h->n_clients, e.client), e, client_below);
    TakenEntry r = e;
    r.server = reverse_key(p, &t, s);
    TakenEntry *equal = find_server(t.servers, t.h->n_servers, r.server);
    if (equal && equal->slot != r.slot) measure_count(p, pool, COUNT_COLLISIONS, 1);
    put(t.servers, &t.h->n_servers, equal, r, server_below);
  }
  if (t.h->n_pairs == 0) t.h->counter = 0;
  measure_map(p, pool, t.gen == TAKEN_G0 ? t.h->n_pairs : t.h->n_clients);
}

static bool check_in_pair(Taken *t, uint32_t slot) {
  for (guint i = 0; i < t->h->n_pairs; i++)
    if (t->pairs[i].slot == slot) return drop(t->pairs, &t->h->n_pairs, &t->pairs[i]), true;
  return false;
}

static void drop_client(const Pooler *p, Taken *t, const Server *s, uint32_t client) {
  TakenEntry *e = find_client(t->clients, t->h->n_clients, client);
  if (!e) return;
  bool names_it = e->server == server_identity(p, s);
  /* G3 compares the pid it knows, G4 the identity; before, nobody compared. */
  if (t->gen == TAKEN_G3) names_it = e->pid == s->pid;
  if (t->gen == TAKEN_G1 || t->gen == TAKEN_G2 || names_it) drop(t->clients, &t->h->n_clients, e);
}

/* early: done when the owner let go. */
static void unmap_client(Pooler *p, Taken *t, guint pool, const Server *s, uint32_t client) {
  int64_t late = step_late(p, pool, POOLSTEP_UNMAP);
  if (late > 0)
    watch_start(p, WATCH_UNMAP, server_id(p, s), late, false, 0, 0);
  else if (step_times(p, pool, POOLSTEP_UNMAP) && !step_is(p, pool, POOLSTEP_UNMAP, DO_EARLY))
    drop_client(p, t, s, client);
}

void taken_unmap(Pooler *p, guint pool, const Server *s, guint session) {
  Taken t = taken_of(p, pool);
  if (t.gen != TAKEN_G0) drop_client(p, &t, s, client_key(p, session, s));
  measure_map(p, pool, t.gen == TAKEN_G0 ? t.h->n_pairs : t.h->n_clients);
}

bool taken_check_in(Pooler *p, guint pool, const Server *s) {
  Taken t = taken_of(p, pool);
  uint32_t slot = server_id(p, s) + 1;
  bool found = false;
  measure_bytes(p, taken_bytes(p, pool, s->host));
  if (t.gen == TAKEN_G0 || t.gen == TAKEN_G2) found = check_in_pair(&t, slot);
  if (t.gen != TAKEN_G0) {
    TakenEntry *r = find_server(t.servers, t.h->n_servers, reverse_key(p, &t, s));
    if (!r) return found;
    uint32_t client = r->client;
    drop(t.servers, &t.h->n_servers, r);
    unmap_client(p, &t, pool, s, client);
    found = true;
  }
  if (t.h->n_pairs == 0) t.h->counter = 0;
  measure_map(p, pool, t.gen == TAKEN_G0 ? t.h->n_pairs : t.h->n_clients);
  return found;
}

guint taken_len(const Pooler *p, guint pool) {
  const TakenHead *h = &p->pools[pool].taken;
  switch (pool_config(p, pool)->taken) {
  case TAKEN_G0:
  case TAKEN_G2: return h->n_pairs;
  case TAKEN_G1: return h->n_clients;
  default: return h->n_servers;
  }
}

/* G0 has no map by client: the latest pair of it. */
const TakenEntry *taken_entry(const Pooler *p, guint pool, guint session) {
  g_assert(config_of(p)->client_identity != CLIENT_REAL_KEY); /* a real key is looked for among the servers */
  Taken t = taken_of(p, pool);
  uint32_t client = client_key(p, session, NULL);
  if (t.gen != TAKEN_G0) return find_client(t.clients, t.h->n_clients, client);
  const TakenEntry *e = NULL;
  for (guint i = 0; i < t.h->n_pairs; i++)
    if (t.pairs[i].client == client) e = &t.pairs[i];
  return e;
}

/* Reload: the source's table takes the destination's place; merge: the destination's own entries are kept too. */
void taken_move(Pooler *p, guint from, guint to, bool merge) {
  Taken a = taken_of(p, from), b = taken_of(p, to);
  TakenEntry *rows[][2] = {{a.pairs, b.pairs}, {a.clients, b.clients}, {a.servers, b.servers}};
  uint16_t *lengths[][2] = {
      {&a.h->n_pairs, &b.h->n_pairs}, {&a.h->n_clients, &b.h->n_clients}, {&a.h->n_servers, &b.h->n_servers}};
  for (guint k = 0; k < 3; k++) {
    guint keep = merge ? *lengths[k][1] : 0;
    g_assert(keep + *lengths[k][0] <= p->row_servers);
    memset(rows[k][1] + keep, 0, (p->row_servers - keep) * sizeof(TakenEntry));
    memcpy(rows[k][1] + keep, rows[k][0], *lengths[k][0] * sizeof(TakenEntry));
    memset(rows[k][0], 0, p->row_servers * sizeof(TakenEntry));
    *lengths[k][1] = (uint16_t)(keep + *lengths[k][0]);
    *lengths[k][0] = 0;
  }
  b.h->counter = MAX(a.h->counter, b.h->counter);
}
