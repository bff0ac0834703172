/* bind_path.c - PATH words: what events act on, what they wait for, whose metric is expected. */
#include "sim/scenario/binding.h"
#include "sim/scenario/keys.h"
#include <string.h>

#define WRONG(...) (g_propagate_error(error, scenario_complain(s, key, __VA_ARGS__)), false)

typedef struct {
  char *head, *name, *tail; /* client, a, server: of client[a].server; NULL: not there */
} Words;

static void words_clear(Words *w) {
  g_free(w->head);
  g_free(w->name);
  g_free(w->tail);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

/* head, head[name], head[name].tail; a link's name holds a dot: link.cancel_to_server[s]. */
static bool split(const char *text, Words *w) {
  const char *open = strchr(text, '['), *shut = open ? strchr(open, ']') : NULL;
  w->head = open ? g_strndup(text, (gsize)(open - text)) : g_strdup(text);
  if (!open) return *text != '\0';
  if (!shut || shut == open + 1 || open == text) return false;
  w->name = g_strndup(open + 1, (gsize)(shut - open - 1));
  if (!shut[1]) return true;
  w->tail = g_strdup(shut + 2);
  return shut[1] == '.' && *w->tail;
}

/* ---- each kind ---- */

static bool client_path(const PoolerBinding *b, const Scenario *s, const char *key, const Words *w, Path *p,
                        GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (int i = 0; i < b->config.work.n_clients; i++) {
    const ClientDef *c = &b->config.work.clients[i];
    const size_t len = strlen(c->name);
    char *end = NULL;
    g_ptr_array_add(names, (gpointer)c->name);
    *p = (Path){.kind = PATH_CLIENT, .index = i, .copy = NONE};
    if (!strcmp(w->name, c->name)) return true;
    if (strncmp(w->name, c->name, len) != 0 || w->name[len] != '.' || !g_ascii_isdigit(w->name[len + 1])) continue;
    const guint64 copy = g_ascii_strtoull(w->name + len + 1, &end, 10);
    if (*end || copy < 1 || copy > (guint64)c->at_once) continue;
    p->copy = (int)copy - 1;
    return true;
  }
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(w->name, (const char *const *)names->pdata);
  g_autofree char *value = quoted(w->name);
  return WRONG("no client %s%s%s", value, near ? "; the nearest is " : "", near ? near : "");
}

static bool query_path(const PoolerBinding *b, const Scenario *s, const char *key, const Words *w, Path *p,
                       GError **error) {
  g_autoptr(GPtrArray) tags = g_ptr_array_new();
  guint found = 0;
  for (int i = 0; i < b->config.work.n_clients; i++) {
    const Script *script = b->config.work.clients[i].script;
    for (int q = 0; q < script->n_queries; q++) {
      g_ptr_array_add(tags, (gpointer)script->queries[q].tag);
      if (strcmp(script->queries[q].tag, w->name) != 0) continue;
      *p = (Path){.kind = PATH_QUERY, .index = i, .copy = NONE, .query = q};
      found++;
    }
  }
  g_ptr_array_add(tags, NULL);
  const char *near = nearest_name(w->name, (const char *const *)tags->pdata);
  g_autofree char *value = quoted(w->name);
  if (found > 1) return WRONG("query %s is in %u scripts; give them tags that differ", value, found);
  return found || WRONG("no query %s%s%s", value, near ? "; the nearest is " : "", near ? near : "");
}

static bool named_path(const Scenario *s, const char *key, const Words *w, PathKind kind, const char *what,
                       const GArray *named, Path *p, GError **error) {
  int n = 0;
  *p = (Path){.kind = kind, .index = named_find(named, w->name, &n), .copy = NONE};
  if (p->index == NONE) return g_propagate_error(error, named_unknown(s, key, what, w->name, named)), false;
  return n == 1 || WRONG("%s %s has %d copies; name one: %s.1", what, w->name, n, w->name);
}

static bool pooler_path(const PoolerBinding *b, const Scenario *s, const char *key, const Words *w, Path *p,
                        GError **error) {
  char *end = NULL;
  *p = (Path){.kind = PATH_POOLER, .index = NONE, .copy = NONE};
  if (!w->name) return true;
  const guint64 i = g_ascii_strtoull(w->name, &end, 10);
  if (!g_ascii_isdigit(*w->name) || *end || i >= (guint64)b->config.processes)
    return WRONG("no such process; pooler[0] is the first of %d", b->config.processes);
  p->index = (int)i;
  return true;
}

static bool link_path(const PoolerBinding *b, const Scenario *s, const char *key, const Words *w, Path *p,
                      GError **error) {
  static const char *const names[] = {"client_to_pooler", "cancel_to_pooler", "pooler_to_server", "cancel_to_server",
                                      NULL};
  const char *name = w->head + strlen("link.");
  int link = 0, n = 0;
  while (names[link] && strcmp(names[link], name) != 0) link++;
  if (!names[link]) {
    const char *near = nearest_name(name, names);
    return WRONG("no link of this name; %s%s", near ? "the nearest is " : "there is ", near ? near : names[0]);
  }
  *p = (Path){.kind = PATH_LINK, .index = NONE, .copy = NONE, .link = link};
  if (!w->name) return true;
  p->index = named_find(b->servers, w->name, &n);
  if (p->index != NONE) return true;
  g_propagate_error(error, named_unknown(s, key, "server", w->name, b->servers));
  return false;
}

static bool known_path(const PoolerBinding *b, const Scenario *s, const char *key, const Words *w, Path *p,
                       GError **error) {
  const char *h = w->head;
  if (!strcmp(h, "pooler") && !w->tail) return pooler_path(b, s, key, w, p, error);
  if (g_str_has_prefix(h, "link.") && !w->tail) return link_path(b, s, key, w, p, error);
  if (w->name && !w->tail && !strcmp(h, "pool")) return named_path(s, key, w, PATH_POOL, "pool", b->pools, p, error);
  if (w->name && !w->tail && !strcmp(h, "server"))
    return named_path(s, key, w, PATH_SERVER, "server", b->servers, p, error);
  if (w->name && !w->tail && !strcmp(h, "query")) return query_path(b, s, key, w, p, error);
  if (w->name && !strcmp(h, "client") && (!w->tail || !strcmp(w->tail, "server"))) {
    if (!client_path(b, s, key, w, p, error)) return false;
    if (w->tail) p->kind = PATH_CLIENT_SERVER;
    return true;
  }
  return WRONG("is no path; write pooler, pool[p], server[s], client[a], client[a].server, query[q] or link.NAME[s]");
}

/* ---- states ---- */

static const char *const state_words[] = {"idle",      "queued", "running", "taken", "fenced", "cleaning",
                                          "connected", "sent",   "done",    "gone",  NULL};

static bool state_fits(PathKind kind, PathState state) {
#define BIT(x) (1u << STATE_##x)
  static const unsigned of[] = {
      [PATH_CLIENT] = BIT(IDLE) | BIT(QUEUED) | BIT(RUNNING) | BIT(CONNECTED) | BIT(DONE) | BIT(GONE),
      [PATH_CLIENT_SERVER] = BIT(IDLE) | BIT(RUNNING) | BIT(TAKEN) | BIT(FENCED) | BIT(CLEANING) | BIT(GONE),
      [PATH_QUERY] = BIT(SENT) | BIT(QUEUED) | BIT(RUNNING) | BIT(DONE),
      [PATH_LINK] = 0};
#undef BIT
  return (of[kind] >> state & 1) != 0;
}

static bool bind_state(const Scenario *s, const char *key, const char *word, const Path *p, PathState *state,
                       GError **error) {
  guint i = 0;
  while (state_words[i] && strcmp(state_words[i], word) != 0) i++;
  if (!state_words[i]) {
    g_autofree char *all = g_strjoinv(", ", (char **)state_words);
    return WRONG("no such state; there are %s", all);
  }
  *state = (PathState)(i + STATE_IDLE);
  return state_fits(p->kind, *state) || WRONG("such a path is never %s; of client: idle queued running connected done "
                                              "gone; of client.server: idle running "
                                              "taken fenced cleaning gone; of query: sent queued running done",
                                              word);
}

bool bind_path(const PoolerBinding *b, const Scenario *s, const char *key, const char *text, bool with_state,
               Path *path, PathState *state, GError **error) {
  g_auto(GStrv) parts = g_strsplit(text, " ", 2);
  g_auto(Words) w = {0};
  if (!*text || !split(parts[0], &w))
    return WRONG("is no path; write pooler, pool[p], server[s], client[a], client[a].server, query[q] or link.NAME[s]");
  if (with_state != (parts[1] != NULL))
    return with_state ? WRONG("a path and a state, such as \"client[a].server fenced\"")
                      : WRONG("a path has no blanks");
  if (!known_path(b, s, key, &w, path, error)) return false;
  return !with_state || bind_state(s, key, parts[1], path, state, error);
}
