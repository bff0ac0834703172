/* symmetry.c - the order in which clients, server connections, cancels and backends stand in the form of a state that
 * is kept for all that differ from it in names alone.
 *
 * Each gets a colour: a number made of all that it is but names, then of the colours of what it has to do with, twice.
 * Equals are sorted by colour, each kind with the places already given to the kinds before it. Colours that are equal
 * by accident, or for two that are not alike after all, cost a state more, never a wrong one: whatever order comes out,
 * the form is the same state under other names. */
#include "model/pooler/symmetry.h"
#include "model/world/explore.h"

enum { ROUNDS = 2 };

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
  return h ^ h >> 29;
}

static uint64_t of_proc(const Pooler *p, ProcId proc) {
  if (!proc) return 1;
  return 2 + world_wait_place(p->w, proc) * 2u + world_timer_armed(p->w, proc);
}

/* Place in a row of ids + 1, from 1; 0: not there. */
static guint place_in(const uint16_t *row, guint n, guint id) {
  for (guint i = 0; i < n; i++)
    if (row[i] == id + 1) return i + 1;
  return 0;
}

/* A key that is passed through, or that a client without a pooler has: a server's. */
static bool real_key(const Pooler *p, guint pool) {
  return pool == DIRECT || config_of(p)->client_identity == CLIENT_REAL_KEY;
}

/* What is not to be renamed (Nameless) is of what a thing is. */
static uint64_t key_names(const Pooler *p, const Nameless *may, guint pool, uint32_t pid, uint32_t secret) {
  bool free = real_key(p, pool) ? may->pids : may->keys;
  return free ? secret != 0 : pid | (uint64_t)secret << 32;
}

/* ---- what each is, but for names ---- */

static uint64_t session_color(const Pooler *p, const Nameless *may, const Session *e) {
  if (e->state == CL_NONE) return 0;
  uint64_t h = mix(e->state | (uint64_t)e->pc << 8 | (uint64_t)e->flags << 16 | (uint64_t)e->request << 32, e->result);
  h = mix(h, e->answers | (uint64_t)e->process << 8 | (uint64_t)e->pool << 24 | (uint64_t)e->query << 40);
  h = mix(h, e->wants | (uint64_t)e->rows << 16 | (uint64_t)e->polls << 24 | (uint64_t)e->waited_ms << 32);
  h = mix(h, key_names(p, may, e->pool, e->key_pid, e->key_secret));
  if (!e->wants) return mix(h, of_proc(p, e->proc));
  guint pool = e->wants - 1u;
  guint place = place_in(p->waiters + (size_t)pool * p->row_waiters, p->pools[pool].n_waiters, session_id(p, e));
  return mix(mix(h, of_proc(p, e->proc)), place);
}

static uint64_t client_color(const Pooler *p, const Nameless *may, guint client) {
  const Client *c = &p->clients[client];
  uint64_t h = mix(c->def | (uint64_t)c->pc << 16 | (uint64_t)c->flags << 32 | (uint64_t)c->cancels << 48, c->sent);
  h = mix(mix(h, c->done), c->depth | (uint64_t)c->stage << 8);
  for (guint i = 0; i < LOOPS_MAX; i++) h = mix(h, c->loops[i]);
  h = mix(h, of_proc(p, c->proc));
  for (guint k = 0; k < p->stride; k++) h = mix(h, session_color(p, may, &p->sessions[client * p->stride + k]));
  return h;
}

static uint64_t server_color(const Pooler *p, const Nameless *may, guint server) {
  const Server *s = &p->servers[server];
  if (s->state == SV_FREE) return 0;
  uint64_t h = mix(s->state | (uint64_t)s->pc << 8 | (uint64_t)s->own << 16 | (uint64_t)s->core << 24, s->flags);
  h = mix(h, s->pool | (uint64_t)s->host << 16 | (uint64_t)s->fences << 32 | (uint64_t)s->lock << 48);
  h = mix(h, s->directed | (uint64_t)s->seen << 16 | (uint64_t)s->tenancy << 32);
  if (!may->pids) h = mix(h, s->pid | (uint64_t)s->secret << 32);
  if (!may->servers && s->pool != DIRECT) h = mix(h, server);
  h = mix(mix(h, of_proc(p, s->proc)), may->seqs ? s->seq != 0 : s->seq);
  if (s->pool != DIRECT)
    h = mix(h, place_in(p->idle + (size_t)s->pool * p->row_servers, p->pools[s->pool].n_idle, server));
  const PgBackend *b = server_backend(p, s);
  return b ? mix(h, b->runs | (uint64_t)b->open << 8 | (uint64_t)b->query << 16 | (uint64_t)b->signals << 32) : h;
}

static uint64_t cancel_color(const Pooler *p, const Nameless *may, guint cancel) {
  const Cancel *x = &p->cancels[cancel];
  if (x->stage == X_NONE) return 0;
  uint64_t h = mix(x->stage | (uint64_t)x->cursor << 8 | (uint64_t)x->flags << 16 | (uint64_t)x->query << 32, x->hops);
  h = mix(h, x->process | (uint64_t)x->tenancy << 16 | (uint64_t)x->pool << 32 | (uint64_t)x->host << 48);
  if (x->stage > X_SENT) h = mix(h, key_names(p, may, x->pool, x->key_pid, x->key_secret));
  if (!may->pids) h = mix(h, x->pid | (uint64_t)x->secret << 32);
  if (!may->cancels) h = mix(h, cancel);
  h = mix(h, of_proc(p, x->proc) | of_proc(p, x->signal) << 8);
  if (x->child) h = mix(h, x->child == UINT16_MAX ? 2 : 3);
  if (x->pool == DIRECT) return h;
  if (x->ahead) h = mix(h, x->ahead);
  return mix(h, place_in(p->parked + (size_t)x->pool * p->row_parked, p->pools[x->pool].n_parked, cancel));
}

/* ---- what each has to do with ---- */

typedef struct {
  uint64_t *clients, *servers, *cancels, *next;
} Colors;

static uint64_t of_session(const Pooler *p, const uint64_t *clients, guint session_1) {
  return session_1 ? mix(clients[(session_1 - 1) / p->stride], session_1 % p->stride + 2) : 1;
}

static uint64_t of_server(const Colors *c, guint server_1) {
  return server_1 ? c->servers[server_1 - 1] : 1;
}

static uint64_t server_relations(const Pooler *p, const uint64_t *clients, const Server *s, uint64_t h) {
  const PgBackend *b = server_backend(p, s);
  h = mix(mix(h, of_session(p, clients, s->owner)), of_session(p, clients, s->last_owner));
  if (s->lock) h = mix(h, p->locks[s->lock - 1].lock_owner == server_id(p, s) + 1);
  return b && b->client ? mix(h, clients[b->client - 1]) : h;
}

/* The connection that has this key, or had it: what is passed through outlives the tenancy. */
static uint64_t of_key(const Pooler *p, const Colors *c, uint32_t pid, uint32_t secret) {
  for (guint i = 0; i < p->n_servers; i++)
    if (p->servers[i].state != SV_FREE && p->servers[i].pid == pid && p->servers[i].secret == secret)
      return c->servers[i];
  return 2;
}

/* The backend that has the pid it says, if it is not linked to a connection any more. */
static uint64_t cancel_target(const Pooler *p, const Colors *c, const Cancel *x) {
  if (x->server || !x->pid || x->stage < X_CONNECT) return of_server(c, x->server);
  int b = host_find(p->hosts[x->host], x->pid);
  return b < 0 ? 2 : of_server(c, p->hosts[x->host]->backends[b].conn);
}

static uint64_t cancel_relations(const Pooler *p, const Colors *c, const Cancel *x, uint64_t h) {
  h = mix(mix(h, c->clients[x->client]), of_session(p, c->clients, x->session));
  h = mix(mix(h, cancel_target(p, c, x)), of_session(p, c->clients, x->asked));
  if (x->child && x->child != UINT16_MAX) h = mix(h, of_server(c, x->child));
  if (!x->pid && x->secret) h = mix(h, of_key(p, c, x->pid, x->secret)); /* of a server that told no pid */
  if (x->stage > X_SENT && x->key_secret && real_key(p, x->pool)) h = mix(h, of_key(p, c, x->key_pid, x->key_secret));
  if (x->flags & XF_HANDLED || !x->backend) return h;
  return mix(h, of_server(c, p->hosts[x->host]->backends[x->backend - 1].conn));
}

static uint64_t session_relations(const Pooler *p, const Colors *c, guint session, uint64_t h) {
  const Session *e = &p->sessions[session];
  guint direct = direct_server(p, session);
  for (guint j = 0; j < HELD_MAX && e->held[j]; j++) h = mix(h, of_server(c, e->held[j]));
  h = mix(h, of_server(c, e->mailbox) ^ of_server(c, e->first_row) * 3);
  if (e->state != CL_NONE && e->key_secret && real_key(p, e->pool)) h = mix(h, of_key(p, c, e->key_pid, e->key_secret));
  return direct < p->n_servers ? mix(h, c->servers[direct]) : h;
}

/* What names a client. Sums, for in which order they stand means nothing. */
static void color_named(const Pooler *p, Colors *c) {
  for (guint i = 0; i < p->n_cancels; i++)
    if (p->cancels[i].stage) c->next[p->cancels[i].client] += mix(c->cancels[i], 5);
  for (int h = 0; h < config_of(p)->n_servers; h++)
    for (guint i = 0; i < p->hosts[h]->n; i++) {
      const PgBackend *b = &p->hosts[h]->backends[i];
      if (b->client) c->next[b->client - 1] += mix(of_server(c, b->conn), b->query | (uint64_t)b->open << 16);
    }
  for (guint i = 0; i < p->n_servers; i++) {
    const Server *s = &p->servers[i];
    if (s->owner) c->next[(s->owner - 1) / p->stride] += mix(c->servers[i], (s->owner - 1) % p->stride + 11);
    if (s->last_owner) c->next[(s->last_owner - 1) / p->stride] += mix(c->servers[i], 7);
  }
}

static void color_clients(const Pooler *p, Colors *c) {
  for (guint i = 0; i < p->n_clients; i++) {
    c->next[i] = c->clients[i];
    for (guint k = 0; k < p->stride; k++) c->next[i] = session_relations(p, c, i * p->stride + k, c->next[i]);
  }
  color_named(p, c);
  memcpy(c->clients, c->next, p->n_clients * sizeof *c->next);
}

/* What names a connection and is not named by it: keys that were passed through, and its place in a list of pairs. */
static uint64_t named_server(const Pooler *p, const Colors *c, guint server) {
  const Server *s = &p->servers[server];
  bool real = config_of(p)->client_identity == CLIENT_REAL_KEY || p->n_servers > p->n_pools * p->row_servers;
  uint64_t sum = 0;
  for (guint i = 0; s->pool != DIRECT && i < p->pools[s->pool].taken.n_pairs; i++)
    if (p->pairs[(size_t)s->pool * p->row_servers + i].slot == server + 1) sum += mix(i, 19);
  for (guint i = 0; real && i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    if (e->state != CL_NONE && real_key(p, e->pool) && e->key_pid == s->pid && e->key_secret == s->secret)
      sum += mix(of_session(p, c->clients, i + 1), 13);
  }
  for (guint i = 0; real && i < p->n_cancels; i++) {
    const Cancel *x = &p->cancels[i];
    if (x->stage > X_SENT && real_key(p, x->pool) && x->key_pid == s->pid && x->key_secret == s->secret)
      sum += mix(c->cancels[i], 17);
  }
  return sum;
}

static void color_servers(const Pooler *p, Colors *c) {
  for (guint i = 0; i < p->n_servers; i++)
    if (p->servers[i].state)
      c->servers[i] = server_relations(p, c->clients, &p->servers[i], c->servers[i]) + named_server(p, c, i);
}

static void color_round(const Pooler *p, Colors *c) {
  color_clients(p, c);
  color_servers(p, c);
  for (guint i = 0; i < p->n_cancels; i++)
    if (p->cancels[i].stage) c->cancels[i] = cancel_relations(p, c, &p->cancels[i], c->cancels[i]);
}

/* ---- sorting ---- */

/* Places [first, first + n) by key, equal ones as they stand; to[old] = new. */
static void sort_places(const uint64_t *keys, guint first, guint n, guint *to, guint *order) {
  for (guint i = 0; i < n; i++) {
    guint j = i;
    for (; j > 0 && keys[first + order[j - 1]] > keys[first + i]; j--) order[j] = order[j - 1];
    order[j] = i;
  }
  for (guint i = 0; i < n; i++) to[first + order[i]] = first + i;
}

static guint copies_of(const Pooler *p, guint first) {
  guint n = 1;
  while (first + n < p->n_clients && p->clients[first + n].def == p->clients[first].def) n++;
  return n;
}

static void order_clients(const Pooler *p, Naming *n, const Colors *c, guint *order) {
  for (guint first = 0, many; first < p->n_clients; first += many) {
    many = copies_of(p, first);
    if (n->may.copies[p->clients[first].def])
      sort_places(c->clients, first, many, n->client, order);
    else
      for (guint i = first; i < first + many; i++) n->client[i] = i;
  }
  for (guint i = 0; i < p->n_sessions; i++) n->session[i] = n->client[i / p->stride] * p->stride + i % p->stride;
}

/* From here on a client's colour is its new place. Free slots come last. */
static void order_servers(const Pooler *p, Naming *n, Colors *c, guint *order) {
  guint rows = p->n_pools * p->row_servers;
  for (guint i = 0; i < p->n_servers; i++) c->servers[i] = server_color(p, &n->may, i);
  for (guint i = 0; i < p->n_cancels; i++)
    c->cancels[i] = cancel_relations(p, c, &p->cancels[i], cancel_color(p, &n->may, i));
  color_servers(p, c);
  for (guint i = 0; i < p->n_servers; i++)
    if (!p->servers[i].state) c->servers[i] = UINT64_MAX;
  for (guint pool = 0; pool < p->n_pools; pool++) {
    if (n->may.servers)
      sort_places(c->servers, pool * p->row_servers, p->row_servers, n->server, order);
    else
      for (guint i = pool * p->row_servers; i < (pool + 1) * p->row_servers; i++) n->server[i] = i;
  }
  for (guint i = rows; i < p->n_servers; i++) n->server[i] = rows + n->session[i - rows];
  for (guint i = 0; i < p->n_servers; i++) c->servers[i] = n->server[i] + 3;
}

static void order_cancels(const Pooler *p, Naming *n, Colors *c, guint *order) {
  for (guint i = 0; i < p->n_cancels; i++) {
    const Cancel *x = &p->cancels[i];
    c->cancels[i] = x->stage ? cancel_relations(p, c, x, cancel_color(p, &n->may, i)) : UINT64_MAX;
  }
  if (n->may.cancels)
    sort_places(c->cancels, 0, p->n_cancels, n->cancel, order);
  else
    for (guint i = 0; i < p->n_cancels; i++) n->cancel[i] = i;
}

static void order_backends(const Pooler *p, Naming *n, Colors *c, guint *order) {
  for (int h = 0; h < config_of(p)->n_servers; h++) {
    const PgHost *host = p->hosts[h];
    for (guint i = 0; i < host->n; i++) {
      const PgBackend *b = &host->backends[i];
      c->next[i] = !b->pid ? UINT64_MAX : b->conn ? n->server[b->conn - 1] + 1u : 0;
    }
    sort_places(c->next, 0, host->n, n->backend[h], order);
  }
}

void naming_order(const Pooler *p, Naming *n) {
  Colors c = {.clients = n->colors, .servers = n->colors + p->n_clients};
  c.cancels = c.servers + p->n_servers;
  c.next = c.cancels + p->n_cancels;
  guint *order = n->order;
  bool alike = false;
  for (int i = 0; i < config_of(p)->work.n_clients; i++) alike |= n->may.copies[i];
  if (alike) {
    for (guint i = 0; i < p->n_clients; i++) c.clients[i] = client_color(p, &n->may, i);
    for (guint i = 0; i < p->n_servers; i++) c.servers[i] = server_color(p, &n->may, i);
    for (guint i = 0; i < p->n_cancels; i++) c.cancels[i] = cancel_color(p, &n->may, i);
    for (guint i = 0; i < ROUNDS; i++) color_round(p, &c);
  }
  order_clients(p, n, &c, order);
  for (guint i = 0; i < p->n_clients; i++) c.clients[i] = n->client[i] + 3;
  order_servers(p, n, &c, order);
  order_cancels(p, n, &c, order);
  order_backends(p, n, &c, order);
}
