/* bind_clients.c - who connects, when, and by what way. */
#include "sim/scenario/binding.h"
#include <string.h>

enum { CLIENTS_MOST = 65000 };

#define WRONG(key, ...) (g_propagate_error(error, scenario_complain(s, key, __VA_ARGS__)), false)

static char *client_key(guint i, const char *member) {
  return g_strdup_printf("clients[%u].%s", i, member);
}

/* ---- arrivals ---- */

static bool bind_phase(const Scenario *s, const char *key, ArrivalPhase *p, GError **error) {
  g_autofree char *every = g_strconcat(key, ".every", NULL), *poisson = g_strconcat(key, ".poisson", NULL),
                  *lasts = g_strconcat(key, ".for", NULL);
  const bool e = scenario_given(s, every), r = scenario_given(s, poisson);
  if (e == r) return WRONG(key, "clients arrive either every: T or by poisson: N/s");
  p->kind = e ? CLIENTS_EVERY : CLIENTS_POISSON;
  p->gap_ns = e ? scenario_ns(s, every) : scenario_gap_ns(s, poisson);
  p->for_ns = scenario_given(s, lasts) ? scenario_ns(s, lasts) : NO_LIMIT;
  return true;
}

static bool bind_arrivals(PoolerBinding *b, const Scenario *s, guint i, ClientDef *c, GError **error) {
  g_autofree char *key = client_key(i, "arrive");
  const Node *node = node_at(s->root, key);
  if (!node || (node->text && !strcmp(node->text, "together"))) return true;
  const guint n = scenario_count(s, key);
  ArrivalPhase *phases = binding_new(b, n, sizeof *phases);
  for (guint j = 0; j < n; j++) {
    g_autofree char *phase = g_strdup_printf("%s[%u]", key, j);
    if (!bind_phase(s, node->kind == NODE_LIST ? phase : key, &phases[j], error)) return false;
    if (j && phases[j - 1].for_ns == NO_LIMIT)
      return WRONG(phase, "never comes: the one before it has no end (for: T)");
  }
  c->arrive = phases;
  c->n_arrive = (int)n;
  return n > 0 || WRONG(key, "an empty list; together would say that all come at once");
}

/* As many as arrive, unless it says how many; those who never stop coming need an end of the run. */
static bool bind_number(const Scenario *s, guint i, ClientDef *c, GError **error) {
  g_autofree char *count = client_key(i, "count"), *at_once = client_key(i, "at_once");
  const bool given = scenario_given(s, count), open = c->n_arrive && !given;
  c->count = open ? 0 : (int)scenario_int(s, count);
  c->at_once = open ? (int)scenario_int(s, at_once) : c->count;
  if (!open && scenario_given(s, at_once)) return WRONG(at_once, "belongs to clients that arrive without a count");
  const bool ends = !open || c->arrive[c->n_arrive - 1].for_ns != NO_LIMIT || !scenario_is(s, "end", "none");
  g_autofree char *arrive = client_key(i, "arrive");
  return ends || WRONG(arrive, "never ends: give count, or for: T, or the scenario's end");
}

/* ---- one client ---- */

static bool bind_way(const PoolerBinding *b, const Scenario *s, guint i, ClientDef *c, GError **error) {
  g_autofree char *via = client_key(i, "via"), *pool = client_key(i, "pool");
  int n = 0;
  c->via_server = scenario_is(s, via, "pooler") ? NONE : named_find(b->servers, scenario_word(s, via), &n);
  if (c->via_server == NONE && !scenario_is(s, via, "pooler"))
    return g_propagate_error(error, named_unknown(s, via, "server", scenario_word(s, via), b->servers)), false;
  if (scenario_is(s, pool, "first")) return true;
  if (c->via_server != NONE) return WRONG(pool, "there is no pooler between; via: pooler, or no pool");
  c->pool = named_find(b->pools, scenario_word(s, pool), &n);
  if (c->pool != NONE) return true;
  g_propagate_error(error, named_unknown(s, pool, "pool", scenario_word(s, pool), b->pools));
  return false;
}

static bool bind_client(PoolerBinding *b, const Scenario *s, guint i, ClientDef *c, GArray *locks, GArray *moments,
                        GError **error) {
  g_autofree char *name = client_key(i, "name"), *start = client_key(i, "start"), *script = client_key(i, "script"),
                  *protocol = client_key(i, "protocol"), *fence = client_key(i, "fence"), *tls = client_key(i, "tls"),
                  *after = client_key(i, "after_error"), *mode = client_key(i, "query_mode"),
                  *patience = client_key(i, "cancel_timeout");
  Script *compiled = NULL;
  Fence kind = FENCE_NONE;
  GenerationStep unused = GENERATION_CHECKOUT;
  c->name = scenario_word(s, name);
  c->start = bind_delay(s, start);
  c->protocol = scenario_is(s, protocol, "3.2") ? 32 : 30;
  c->tls = scenario_is(s, tls, "require");
  c->query_mode = (QueryMode)CHOICE(s, mode, "simple", "extended", "prepared");
  c->cancel_timeout_ns = bind_limit(s, patience);
  c->after_error = (AfterError)CHOICE(s, after, "go_on", "stop", "reconnect");
  if (!bind_fence(s, fence, &kind, &c->fence.limit_ns, &unused, error) || !bind_arrivals(b, s, i, c, error) ||
      !bind_number(s, i, c, error) || !bind_way(b, s, i, c, error) ||
      !bind_script(b, s, script, locks, moments, &compiled, error))
    return false;
  c->fence.kind = (int)kind;
  c->script = compiled;
  return true;
}

static bool few_enough(const Scenario *s, const ClientDef *clients, guint n, GError **error) {
  int64_t all = 0;
  for (guint i = 0; i < n; i++) all += clients[i].at_once;
  return all <= CLIENTS_MOST || WRONG("clients", "%" G_GINT64_FORMAT " in all; at most %d", (gint64)all, CLIENTS_MOST);
}

bool bind_clients(PoolerBinding *b, const Scenario *s, GError **error) {
  const guint n = scenario_count(s, "clients");
  if (n == 0) return WRONG("clients", "nobody connects; a scenario with servers or a pooler has clients");
  g_autoptr(GArray) locks = g_array_new(FALSE, TRUE, sizeof(char *)),
                    moments = g_array_new(FALSE, TRUE, sizeof(int64_t));
  ClientDef *clients = binding_new(b, n, sizeof *clients);
  for (guint i = 0; i < n; i++)
    if (!bind_client(b, s, i, &clients[i], locks, moments, error)) return false;
  Workload *w = &b->config.work;
  *w = (Workload){.clients = clients, .n_clients = (int)n, .n_locks = (int)locks->len, .n_moments = (int)moments->len};
  w->locks = binding_keep(b, g_array_ref(locks));
  w->moments = binding_keep(b, g_array_ref(moments));
  return few_enough(s, clients, n, error);
}
