/* adapter.c - see adapter.h. */
#include "sim/live/adapter_login.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/node.h"
#include <signal.h>
#include <string.h>

/* ---- the file ---- */

Node *adapter_read(const char *const *dirs, const char *name, GError **error) {
  g_autofree char *path = strchr(name, '/') ? g_strdup(name) : asset_path(dirs, "adapters", name);
  if (!path) return g_set_error(error, ADAPTER_ERROR, 0, "there is no adapter for a pooler called %s", name), NULL;
  gsize n;
  g_autofree char *text = asset_read(path, NODE_MAX_BYTES, &n, error);
  return text ? node_parse(text, n, path, error) : NULL;
}

static const char *text_at(const Node *root, const char *key, GError **error) {
  const Node *n = node_child(root, key);
  if (n && n->kind == NODE_SCALAR) return n->text;
  if (!*error) *error = mark_error(n ? &n->mark : &root->mark, key, "a text is wanted here");
  return "";
}

static char *filled(const Filling *f, const Node *at, const char *key, const char *text, GError **error) {
  const char *unknown = NULL;
  char *value = adapter_fill(f, text, &unknown);
  if (unknown && !*error) *error = mark_error(&at->mark, key, "{%s} stands for nothing", unknown);
  return value;
}

static char **fill_list(const Filling *f, const Node *root, const char *key, GError **error) {
  const Node *list = node_child(root, key);
  GPtrArray *all = g_ptr_array_new();
  for (guint i = 0; list && list->kind == NODE_LIST && i < list->children->len; i++) {
    const Node *n = list->children->pdata[i];
    g_ptr_array_add(all, filled(f, n, key, n->text ? n->text : "", error));
  }
  g_ptr_array_add(all, NULL);
  return (char **)g_ptr_array_free(all, FALSE);
}

static void fill_start(Adapter *a, const Filling *f, const Node *root, GError **error) {
  a->argv = fill_list(f, root, "start", error);
  a->env = fill_list(f, root, "environment", error);
  if (!a->argv[0] && !*error) *error = mark_error(&root->mark, "start", "a list of words is wanted here");
}

static void fill_files(Adapter *a, const Filling *f, const Node *root, GError **error) {
  const Node *files = node_child(root, "files");
  for (guint i = 0; files && files->kind == NODE_LIST && i < files->children->len; i++) {
    const Node *n = files->children->pdata[i];
    AdapterFile file = {.name = g_strdup(text_at(n, "name", error)),
                        .text = filled(f, n, "text", text_at(n, "text", error), error)};
    g_array_append_val(a->files, file);
  }
}

/* ---- what one may want of it ---- */

static const char *const wishes[ADAPTER_WISHES] = {"reload", "pause",   "resume",  "stop",
                                                   "pools",  "servers", "clients", "reset"};
const char *adapter_wish_word(AdapterWish w) {
  return wishes[w];
}

static const Node *unknown_key(const Node *map, const char *const *known, guint n) {
  for (guint i = 0; map && map->children && i < map->children->len; i++) {
    const Node *c = map->children->pdata[i];
    guint k = 0;
    while (k < n && !(c->key && strcmp(c->key, known[k]) == 0)) k++;
    if (k == n) return c;
  }
  return NULL;
}

static int signal_by_name(const char *name) {
  static const struct {
    const char *name;
    int number;
  } known[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},  {"TERM", SIGTERM},
               {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (name && strcmp(known[i].name, name) == 0) return known[i].number;
  return 0;
}

static void fill_wishes(Adapter *a, const Node *root, GError **error) {
  const Node *say = node_child(root, "say"), *signals = node_child(root, "signals");
  const Node *odd = unknown_key(say, wishes, ADAPTER_WISHES);
  if (!odd) odd = unknown_key(signals, wishes, ADAPTER_WISHES);
  if (odd && !*error) *error = mark_error(&odd->key_mark, odd->key, "an adapter knows no such wish");
  for (guint i = 0; i < ADAPTER_WISHES; i++) {
    const Node *said = say ? node_child(say, wishes[i]) : NULL, *sent = signals ? node_child(signals, wishes[i]) : NULL;
    if (said) a->say[i] = g_strdup(text_at(say, wishes[i], error));
    if (!sent) continue;
    a->signals[i] = signal_by_name(sent->text);
    if (!a->signals[i] && !*error) *error = mark_error(&sent->mark, wishes[i], "the name of a signal is wanted: HUP");
  }
}

static void clear_file(gpointer data) {
  AdapterFile *f = data;
  g_free(f->name);
  g_free(f->text);
}

static void check_keys(const Node *root, const PoolerConfig *c, GError **error) {
  static const char *const keys[] = {
      "adapter",   "about",    "untried", "user",           "start",           "socket",      "console",
      "say",       "signals",  "files",   "once_each_pool", "once_each_login", "environment", "most_pools",
      "over_unix", "over_tcp", "peering", "client_auth",    "server_auth",     "tls",         "preset"};
  const Node *odd = unknown_key(root, keys, G_N_ELEMENTS(keys)), *most = node_child(root, "most_pools");
  if (odd && !*error) *error = mark_error(&odd->key_mark, odd->key, "an adapter has no such key");
  guint64 n = most && most->text ? g_ascii_strtoull(most->text, NULL, 10) : G_MAXUINT;
  if ((guint64)c->n_pools > n && !*error)
    *error =
        mark_error(&most->mark, "most_pools", "this pooler has no more pools, and the scenario has %d", c->n_pools);
}

/* A pooler that knows Unix sockets is told in a piece of its own to do without. */
static const char *listening(const Node *root, const AdapterPlace *place, GError **error) {
  const char *key = place->port ? "over_tcp" : "over_unix";
  if (node_child(root, key)) return text_at(root, key, error);
  if (place->port && node_child(root, "socket") && !*error)
    *error = mark_error(&root->mark, "over_tcp", "this adapter does not say how its pooler listens over TCP");
  return NULL;
}

/* Processes that are to pass on what is another one's. */
static void peering(Filling *f, const Node *root, const AdapterPlace *place, GError **error) {
  static const char *const keys[] = {"own", "before", "each_over_unix", "each_over_tcp"};
  const Node *map = node_child(root, "peering"), *odd = unknown_key(map, keys, G_N_ELEMENTS(keys));
  if (odd && !*error) *error = mark_error(&odd->key_mark, odd->key, "peering has no such key");
  if (!f->c->peering) return;
  if (!map) {
    if (!*error) *error = mark_error(&root->mark, "peering", "this adapter does not say how processes know each other");
    return;
  }
  f->peered = text_at(map, "own", error);
  f->peers = text_at(map, "before", error);
  f->each_peer = text_at(map, place->port ? "each_over_tcp" : "each_over_unix", error);
}

Adapter *adapter_load(const char *const *dirs, const char *name, const PoolerConfig *c, const AdapterPlace *place,
                      GError **error) {
  GError *problem = NULL;
  g_autoptr(Node) root = adapter_read(dirs, name, error);
  if (!root) return NULL;
  g_autoptr(Adapter) a = g_new0(Adapter, 1);
  a->files = g_array_new(FALSE, TRUE, sizeof(AdapterFile));
  g_array_set_clear_func(a->files, clear_file);
  a->name = g_strdup(name);
  check_keys(root, c, &problem);
  a->user = g_strdup(text_at(root, "user", &problem));
  if (!problem) adapter_check_login(root, c, &problem);
  Filling f = {.c = c,
               .at = place,
               .client_auth = adapter_client_auth(root, c),
               .each_pool = text_at(root, "once_each_pool", &problem)};
  f.listen = listening(root, place, &problem);
  peering(&f, root, place, &problem);
  if (node_child(root, "once_each_login")) f.each_login = text_at(root, "once_each_login", &problem);
  if (!place->port) a->socket = filled(&f, root, "socket", text_at(root, "socket", &problem), &problem);
  if (node_child(root, "console")) a->console = g_strdup(text_at(root, "console", &problem));
  a->untried = node_child(root, "untried") && strcmp(text_at(root, "untried", &problem), "true") == 0;
  fill_start(a, &f, root, &problem);
  fill_files(a, &f, root, &problem);
  fill_wishes(a, root, &problem);
  if (!problem) return g_steal_pointer(&a);
  g_propagate_error(error, problem);
  return NULL;
}

char *adapter_user(const char *const *dirs, const char *name, bool *tcp_alone, GError **error) {
  GError *problem = NULL;
  g_autoptr(Node) root = adapter_read(dirs, name, error);
  if (!root) return NULL;
  *tcp_alone = !node_child(root, "socket");
  char *user = g_strdup(text_at(root, "user", &problem));
  if (!problem) return user;
  g_propagate_error(error, problem);
  g_free(user);
  return NULL;
}

char *adapter_for(const char *program) {
  g_autofree char *base = g_path_get_basename(program);
  gsize n = strcspn(base, "-_.0123456789");
  return g_strndup(base, n ? n : strlen(base));
}

void adapter_free(Adapter *a) {
  gpointer texts[] = {a->name, a->user, a->socket, a->console};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  for (guint i = 0; i < ADAPTER_WISHES; i++) g_free(a->say[i]);
  g_strfreev(a->argv);
  g_strfreev(a->env);
  g_array_unref(a->files);
  g_free(a);
}
