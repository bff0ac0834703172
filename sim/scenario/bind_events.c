/* bind_events.c - the environment's script, and what `expect` names. */
#include "sim/scenario/binding.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/layers.h"
#include "sim/scenario/validate.h"
#include <string.h>

#define WRONG(key, ...) (g_propagate_error(error, scenario_complain(s, key, __VA_ARGS__)), false)

static char *event_key(guint i, const char *member) {
  return g_strdup_printf("events[%u].%s", i, member);
}

/* ---- set: the whole file as it is from then on ---- */

/* Each leaf of node, put into root under its dotted key. */
static bool put_leaves(const Scenario *s, const char *key, Node *root, const Node *node, const char *path,
                       GError **error) {
  const KeyInfo *row = NULL;
  g_autofree char *plain = key_without_indexes(path);
  if (*path) row = key_find(plain);
  const bool policy = row && row->types & (K_ONE | K_DRAW);
  if (node->kind != NODE_MAP || policy)
    return layers_put(root, path, node) || WRONG(key, "the scenario has no %s to set", path);
  for (guint i = 0; i < node->children->len; i++) {
    const Node *child = node->children->pdata[i];
    g_autofree char *below = *path ? g_strconcat(path, ".", child->key, NULL) : g_strdup(child->key);
    if (!put_leaves(s, key, root, child, below, error)) return false;
  }
  return true;
}

static bool may_be_set(const Scenario *s, const char *key, const Node *set, GError **error) {
  static const char *const fixed[] = {"preset", "processes", "pools", NULL};
  for (guint i = 0; i < set->children->len; i++) {
    const Node *child = set->children->pdata[i];
    const gsize len = strcspn(child->key, "[");
    const bool known = (len == 6 && !strncmp(child->key, "pooler", len)) ||
                       (len == 7 && (!strncmp(child->key, "network", len) || !strncmp(child->key, "servers", len)));
    if (!known)
      return WRONG(key, "%.40s cannot change while it runs; keys of pooler, servers and network can", child->key);
    for (guint j = 0; len == 6 && fixed[j]; j++)
      if (node_child(child, fixed[j])) return WRONG(key, "pooler.%s cannot change while it runs", fixed[j]);
  }
  return set->children->len > 0 || WRONG(key, "nothing is set");
}

/* As s, with a root of its own that `set` has been laid over. Only what bind_* ask for is there. */
static bool changed_scenario(const Scenario *s, const char *key, const Node *set, Scenario *out, GError **error) {
  *out = *s;
  out->root = node_copy(s->root);
  if (may_be_set(s, key, set, error) && put_leaves(s, key, out->root, set, "", error) &&
      validate_document(out->root, DOCUMENT_SCENARIO, NULL, error))
    return true;
  node_free(out->root);
  return false;
}

static bool same_shape(const PoolerConfig *a, const PoolerConfig *c) {
  return a->n_pools == c->n_pools && a->n_servers == c->n_servers && a->processes == c->processes;
}

/* The parts of the configuration that can change, bound anew; names and tables become b's. */
static bool bind_changed(PoolerBinding *b, const Scenario *s, const char *key, PoolerConfig *out, GError **error) {
  Scenario changed;
  const Node *set = node_at(s->root, key);
  const PoolerConfig was = b->config;
  if (!changed_scenario(s, key, set, &changed, error)) return false;
  bool ok = bind_servers(b, &changed, NULL, error) && bind_links(b, &changed, error) && bind_pools(b, &changed, error);
  *out = b->config;
  b->config = was;
  out->work = was.work;
  g_ptr_array_add(b->roots, changed.root); /* its texts are used */
  if (ok && !same_shape(&was, out)) ok = WRONG(key, "the number of servers and pools cannot change");
  return ok && bind_valid(out, s, key, error);
}

/* ---- verbs ---- */

static const struct {
  const char *word;
  EventVerb verb;
  unsigned targets; /* bit i: PathKind i */
} verbs[] = {
#define ON(x) (1u << PATH_##x)
    {"kill", EVENT_KILL, ON(SERVER) | ON(CLIENT_SERVER) | ON(CLIENT) | ON(POOLER)},
    {"cut", EVENT_CUT, ON(SERVER) | ON(CLIENT_SERVER) | ON(LINK)},
    {"restart", EVENT_RESTART, ON(SERVER) | ON(POOLER)},
    {"send", EVENT_SEND, ON(CLIENT_SERVER)},
    {"reload", EVENT_RELOAD, ON(POOLER) | ON(POOL)},
    {"pause", EVENT_PAUSE, ON(POOLER) | ON(POOL)},
    {"resume", EVENT_RESUME, ON(POOLER) | ON(POOL)},
    {"shutdown", EVENT_SHUTDOWN, ON(POOLER)},
#undef ON
};
static const char *const kind_words[] = {"pooler",           "pool[p]",  "server[s]",   "client[a]",
                                         "client[a].server", "query[q]", "link.NAME[s]"};

static bool verb_acts_on(const Scenario *s, const char *key, guint verb, PathKind kind, GError **error) {
  if (verbs[verb].targets >> kind & 1) return true;
  g_autoptr(GString) right = g_string_new(NULL);
  for (guint k = 0; k < G_N_ELEMENTS(kind_words); k++)
    if (verbs[verb].targets >> k & 1) g_string_append_printf(right, "%s%s", right->len ? ", " : "", kind_words[k]);
  return WRONG(key, "%s acts on %s, not on %s", verbs[verb].word, right->str, kind_words[kind]);
}

static bool bind_verb(const PoolerBinding *b, const Scenario *s, guint i, EventDef *e, GError **error) {
  guint given = 0;
  PathState unused = STATE_NONE;
  for (guint v = 0; v < G_N_ELEMENTS(verbs); v++) {
    g_autofree char *key = event_key(i, verbs[v].word);
    if (!scenario_given(s, key)) continue;
    if (given++) return WRONG(key, "an event has one verb");
    e->verb = verbs[v].verb;
    if (!bind_path(b, s, key, scenario_word(s, key), false, &e->target, &unused, error) ||
        !verb_acts_on(s, key, v, e->target.kind, error))
      return false;
  }
  g_autofree char *set = event_key(i, "set"), *event = g_strdup_printf("events[%u]", i);
  if (!given && !scenario_given(s, set))
    return WRONG(event, "has no verb; kill, cut, restart, send, reload, pause, resume, shutdown or set would be one");
  if (!given) e->verb = EVENT_SET, e->target = (Path){.kind = PATH_POOLER, .index = NONE, .copy = NONE};
  return !given || e->verb == EVENT_RELOAD || !scenario_given(s, set) || WRONG(set, "goes alone, or with reload");
}

static bool bind_time(const PoolerBinding *b, const Scenario *s, guint i, EventDef *e, GError **error) {
  g_autofree char *at = event_key(i, "at"), *when = event_key(i, "when"), *event = g_strdup_printf("events[%u]", i);
  if (scenario_given(s, at) == scenario_given(s, when))
    return WRONG(event, "happens either at: T or when: \"PATH STATE\"");
  if (scenario_given(s, at)) return e->at_ns = scenario_ns(s, at), true;
  return bind_path(b, s, when, scenario_word(s, when), true, &e->seen, &e->when, error);
}

static bool bind_lengths(const Scenario *s, guint i, EventDef *e, GError **error) {
  g_autofree char *takes = event_key(i, "takes"), *lasts = event_key(i, "for"), *bytes = event_key(i, "bytes");
  e->takes_ns = scenario_ns(s, takes);
  e->bytes = (int)scenario_int(s, bytes);
  e->for_ns = bind_limit(s, lasts);
  if (e->verb != EVENT_RESTART && scenario_given(s, takes)) return WRONG(takes, "only a restart takes time");
  if (e->verb != EVENT_SEND && scenario_given(s, bytes)) return WRONG(bytes, "belongs to send");
  const bool undone = e->verb == EVENT_PAUSE || e->verb == EVENT_SET || e->verb == EVENT_CUT || e->verb == EVENT_KILL;
  return undone || e->for_ns == NO_LIMIT || WRONG(lasts, "this cannot be undone; kill, cut, pause and set can");
}

static bool bind_event(PoolerBinding *b, const Scenario *s, guint i, EventDef *e, GError **error) {
  g_autofree char *set = event_key(i, "set");
  if (!bind_time(b, s, i, e, error) || !bind_verb(b, s, i, e, error) || !bind_lengths(s, i, e, error)) return false;
  if (!scenario_given(s, set)) return true;
  PoolerConfig *changed = binding_new(b, 1, sizeof *changed);
  e->config = changed;
  return bind_changed(b, s, set, changed, error);
}

bool bind_events(PoolerBinding *b, const Scenario *s, GError **error) {
  const guint n = scenario_count(s, "events");
  EventDef *events = binding_new(b, n, sizeof *events);
  for (guint i = 0; i < n; i++)
    if (!bind_event(b, s, i, &events[i], error)) return false;
  b->config.work.events = events;
  b->config.work.n_events = (int)n;
  for (guint i = 0; i < n; i++) /* only now is the work known whole; the copies are this function's own */
    if (events[i].config) ((PoolerConfig *)events[i].config)->work = b->config.work;
  return true;
}

/* ---- what is expected, and of whom ---- */

/* client[NAME].wait_ms names a client. */
static bool metric_names_client(const PoolerBinding *b, const Scenario *s, const char *key, GError **error) {
  const char *metric = scenario_word(s, key);
  Path path;
  PathState unused = STATE_NONE;
  if (!g_str_has_prefix(metric, "client[")) return true;
  g_autofree char *client = g_strndup(metric, strcspn(metric, "]") + 1);
  return bind_path(b, s, key, client, false, &path, &unused, error);
}

bool bind_expectations(const PoolerBinding *b, const Scenario *s, GError **error) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *of = g_strdup_printf("expect[%u].of", i), *metric = g_strdup_printf("expect[%u].metric", i);
    Path path;
    PathState unused = STATE_NONE;
    if (scenario_given(s, metric) && !metric_names_client(b, s, metric, error)) return false;
    if (!scenario_given(s, of)) continue;
    if (!bind_path(b, s, of, scenario_word(s, of), false, &path, &unused, error)) return false;
    if (path.kind != PATH_POOL && path.kind != PATH_SERVER && path.kind != PATH_CLIENT && path.kind != PATH_POOLER)
      return WRONG(of, "metrics are of a pool, a server, a client or the pooler");
  }
  return true;
}
