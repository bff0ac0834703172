/* bind_servers.c - the postmasters and the network to them. */
#include "sim/scenario/binding.h"
#include "sim/scenario/keys.h"
#include <string.h>

enum { SERVERS_MOST = 1000 };

static char *server_key(const Named *n, const char *member) {
  return g_strdup_printf("servers[%d].%s", n->entry, member);
}

static void bind_signal(const Scenario *s, const char *key, ServerConfig *c) {
  g_autofree char *exact = g_strconcat(key, ".delayed", NULL), *bounded = g_strconcat(key, ".bounded", NULL);
  c->signal = scenario_is(s, key, "prompt") ? SIGNAL_PROMPT : SIGNAL_ANY;
  if (scenario_given(s, exact)) c->signal = SIGNAL_EXACT, c->signal_ns = scenario_ns(s, exact);
  if (scenario_given(s, bounded)) c->signal = SIGNAL_BOUNDED, c->signal_ns = scenario_ns(s, bounded);
}

static bool bind_secret(const Scenario *s, const char *key, ServerConfig *c, GError **error) {
  const char *text = scenario_word(s, key);
  char *end = NULL;
  if (!strcmp(text, "random")) return true;
  c->secret_given = true;
  c->secret = g_ascii_strtoull(text, &end, 16);
  if (g_ascii_isxdigit(*text) && !*end && strlen(text) <= 16) return true;
  g_autofree char *value = quoted(text);
  g_propagate_error(error, scenario_complain(s, key, "%s is neither random nor up to 16 hexadecimal digits", value));
  return false;
}

/* Where a profile is named and the entry says nothing, a login takes what the profile's steps of one add up to. */
static Delay login_of(const Scenario *s, const char *key, const Costs *costs) {
  static const CostId parts[] = {COST_ACCEPT, COST_FORK, COST_STARTUP_BEFORE, COST_STARTUP_AFTER, COST_LOGIN_CPU};
  if (scenario_given(s, key) || !costs) return bind_delay(s, key);
  int64_t ns = 0;
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) ns += costs_ns(costs, parts[i], 1);
  return (Delay){DELAY_FIXED, ns, ns};
}

static bool bind_pids(const Scenario *s, const Named *n, ServerConfig *c, GError **error) {
  g_autofree char *start = server_key(n, "pids.start"), *max = server_key(n, "pids.max"),
                  *reuse = server_key(n, "pids.reuse");
  c->pid_start = (int)scenario_int(s, start);
  c->pid_max = (int)scenario_int(s, max);
  c->pid_at_once = scenario_is(s, reuse, "at_once");
  if (!scenario_given(s, start) && c->pid_start > c->pid_max) c->pid_start = 1;
  if (c->pid_start <= c->pid_max) return true;
  g_propagate_error(error,
                    scenario_complain(s, start, "%d is above the largest, pids.max: %d", c->pid_start, c->pid_max));
  return false;
}

static const char *host_of(const Scenario *s, const Named *n) {
  g_autofree char *host = server_key(n, "host"), *name = server_key(n, "name");
  return scenario_given(s, host) ? scenario_word(s, host) : scenario_word(s, name);
}

static bool bind_key(const Scenario *s, const Named *n, ServerConfig *c, GError **error) {
  g_autofree char *key = server_key(n, "key");
  if (scenario_is(s, key, "none")) return c->key_bytes = 0, true;
  c->key_bytes = (int)scenario_int(s, key);
  if (c->key_bytes == 0) c->key_bytes = KEY_EMPTY;
  (void)error;
  return true;
}

LoginAuth bind_login(const Scenario *s, const char *key) {
  return (LoginAuth)CHOICE(s, key, "trust", "password", "md5", "scram-sha-256");
}

static bool bind_server(const Scenario *s, const Named *n, const Costs *costs, ServerConfig *c, GError **error) {
  g_autofree char *signal = server_key(n, "signal"), *secret = server_key(n, "secret"), *cores = server_key(n, "cores"),
                  *cpu = server_key(n, "login_cpu"), *login = server_key(n, "login"),
                  *most = server_key(n, "max_connections"), *auth = server_key(n, "auth"), *tls = server_key(n, "tls");
  c->name = n->name;
  c->host = n->entry == NONE ? n->name : host_of(s, n);
  c->login = login_of(s, n->entry == NONE ? "servers[0].login" : login, costs);
  c->pid_start = 1000;
  c->pid_max = 4194304;
  c->key_bytes = 4;
  if (n->entry == NONE) return true;
  bind_signal(s, signal, c);
  c->cores = bind_count(s, cores, 0);
  c->login_cpu = bind_delay(s, cpu);
  c->max_connections = bind_count(s, most, 0);
  c->auth = bind_login(s, auth);
  c->tls = scenario_is(s, tls, "require");
  return bind_key(s, n, c, error) && bind_pids(s, n, c, error) && bind_secret(s, secret, c, error);
}

bool bind_servers(PoolerBinding *b, const Scenario *s, const Costs *costs, GError **error) {
  const guint n = b->servers->len;
  ServerConfig *servers = binding_new(b, n, sizeof *servers);
  if (n > SERVERS_MOST) {
    g_propagate_error(error, scenario_complain(s, "servers", "%u with all copies; at most %d", n, SERVERS_MOST));
    return false;
  }
  for (guint i = 0; i < n; i++)
    if (!bind_server(s, &g_array_index(b->servers, Named, i), costs, &servers[i], error)) return false;
  b->config.servers = servers;
  b->config.n_servers = (int)n;
  return true;
}

/* ---- network ---- */

static const char *const link_names[LINK_COUNT] = {"client_to_pooler", "cancel_to_pooler", "pooler_to_server",
                                                   "cancel_to_server"};

static Delay twice(Delay d) {
  return (Delay){d.kind, d.low > INT64_MAX / 2 ? INT64_MAX : 2 * d.low,
                 d.high > INT64_MAX / 2 ? INT64_MAX : 2 * d.high};
}

/* A cancel is one packet of a connection of its own: lost, it is lost. A session's are sent again. */
static bool bind_loss(const Scenario *s, const char *key, double *loss, GError **error) {
  if (!scenario_given(s, key)) return true;
  if (g_str_has_prefix(key, "network.client") || g_str_has_prefix(key, "network.pooler")) {
    g_propagate_error(error, scenario_complain(s, key,
                                               "a session's lost packets are sent again: write a delay that "
                                               "varies, such as delay: {exp: 1ms}; fault: silent loses all"));
    return false;
  }
  *loss = scenario_number(s, key);
  if (*loss >= 0 && *loss <= 1) return true;
  g_propagate_error(error, scenario_complain(s, key, "a share of packets is from 0 to 1"));
  return false;
}

/* What key says, over what is in *l. */
static bool bind_link(const Scenario *s, const char *key, LinkConfig *l, GError **error) {
  g_autofree char *delay = g_strconcat(key, ".delay", NULL), *connect = g_strconcat(key, ".connect", NULL),
                  *loss = g_strconcat(key, ".loss", NULL), *fault = g_strconcat(key, ".fault", NULL);
  const bool map =
      scenario_given(s, delay) || scenario_given(s, connect) || scenario_given(s, loss) || scenario_given(s, fault);
  if (!scenario_given(s, key)) return true;
  if (!map || scenario_given(s, delay)) {
    l->delay = bind_delay(s, map ? delay : key);
    l->connect = twice(l->delay);
  }
  if (scenario_given(s, connect)) l->connect = bind_delay(s, connect);
  if (scenario_given(s, fault)) l->fault = (LinkFault)CHOICE(s, fault, "none", "refuse", "silent", "reset", "no_eof");
  return bind_loss(s, loss, &l->loss, error);
}

/* network.LINK[server]: by the name of a copy, or of the entry that has the copies. */
static bool bind_link_of(const PoolerBinding *b, const Scenario *s, PoolerLink link, guint server, LinkConfig *l,
                         GError **error) {
  const Named *n = &g_array_index(b->servers, Named, server);
  g_autofree char *base = g_strdup_printf("network.%s", link_names[link]),
                  *copy = g_strdup_printf("%s[%s]", base, n->name), *of = server_key(n, "name"),
                  *entry = n->entry == NONE ? NULL : g_strdup_printf("%s[%s]", base, scenario_word(s, of));
  if (!bind_link(s, base, l, error)) return false;
  if (link == LINK_CLIENT_TO_POOLER || link == LINK_CANCEL_TO_POOLER) return true;
  if (entry && strcmp(entry, copy) != 0 && !bind_link(s, entry, l, error)) return false;
  return bind_link(s, copy, l, error);
}

/* Each key with brackets names a server. */
static bool links_name_servers(const PoolerBinding *b, const Scenario *s, GError **error) {
  const Node *network = node_child(s->root, "network");
  for (guint i = 0; network && i < network->children->len; i++) {
    const Node *child = network->children->pdata[i];
    const char *bracket = strchr(child->key, '[');
    if (!bracket) continue;
    int n = 0;
    g_autofree char *name = g_strndup(bracket + 1, strcspn(bracket + 1, "]")),
                    *key = g_strconcat("network.", child->key, NULL);
    if (named_find(b->servers, name, &n) != NONE) continue;
    g_propagate_error(error, named_unknown(s, key, "server", name, b->servers));
    return false;
  }
  return true;
}

bool bind_links(PoolerBinding *b, const Scenario *s, GError **error) {
  const guint n = b->servers->len;
  if (!links_name_servers(b, s, error)) return false;
  for (PoolerLink link = 0; link < LINK_COUNT; link++) {
    LinkConfig *links = binding_new(b, n, sizeof *links);
    for (guint i = 0; i < n; i++)
      if (!bind_link_of(b, s, link, i, &links[i], error)) return false;
    b->config.links[link] = links;
  }
  return true;
}
