/* adapter.c - see adapter.h. */
#include "sim/live/adapter.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/node.h"
#include <signal.h>
#include <string.h>

/* ---- words ---- */

/* Seconds with what is behind the point, as far as it says anything: 1.5, 0.333. No limit is what poolers write as 0.
 */
static char *seconds(int64_t ns) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (ns < 0) return g_strdup("0");
  return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.9g", (double)ns / 1e9));
}

/* Where 0 would mean at once. */
static char *lasting(int64_t ns) {
  return ns < 0 ? g_strdup("315360000") : seconds(ns);
}

/* Whole ones, as the poolers that count in them want; no limit is ten years. */
static char *milliseconds(int64_t ns) {
  return ns < 0 ? g_strdup("315360000000") : g_strdup_printf("%" G_GINT64_FORMAT, (ns + 999999) / 1000000);
}

static const char *mode_word(PoolMode m) {
  static const char *const words[] = {"session", "transaction", "statement"};
  return words[m];
}

static int clients_of(const PoolerConfig *c) {
  if (c->max_client_conn) return c->max_client_conn;
  int n = 0;
  for (int i = 0; i < c->work.n_clients; i++) n += MAX(c->work.clients[i].count, 1);
  return n + 100; /* cancels and the console beside them */
}

static char *word_of_pool(const PoolerConfig *c, guint pool, const AdapterPlace *at, const char *word) {
  const PoolConfig *p = &c->pools[pool];
  const struct {
    const char *word;
    int value;
  } numbers[] = {{"pool_size", p->size}, {"min_pool_size", p->min}, {"reserve_pool_size", p->reserve}};
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (!strcmp(word, numbers[i].word)) return g_strdup_printf("%d", numbers[i].value);
  if (!strcmp(word, "pool")) return g_strdup(p->name);
  if (!strcmp(word, "login")) return g_strdup(adapter_login(c, pool));
  if (!strcmp(word, "pool_mode")) return g_strdup(mode_word(p->mode));
  if (!strcmp(word, "server_dir")) return at->server_ports ? g_strdup("127.0.0.1") : adapter_server_dir(at->dir, pool);
  if (!strcmp(word, "server_path"))
    return g_strdup_printf("%s/pool-%u/.s.PGSQL.%d", at->dir, pool, ADAPTER_SERVER_PORT);
  if (!strcmp(word, "server_port"))
    return g_strdup_printf("%u", at->server_ports ? at->server_ports[pool] : (guint)ADAPTER_SERVER_PORT);
  return NULL;
}

/* What stands for the whole pooler; limits of time are those of its first pool. */
static char *word_of_pooler(const PoolerConfig *c, const AdapterPlace *at, const char *word) {
  const PoolConfig *p = &c->pools[0];
  const struct {
    const char *word;
    int64_t ns;
  } times[] = {
      {"server_lifetime", p->server_lifetime_ns}, /* 0: used once; checked always; no time at all */
      {"server_check_delay", p->check_delay_ns},          {"server_connect_timeout", p->server_connect_timeout_ns},
      {"reserve_pool_timeout", p->reserve_timeout_ns},    {"query_wait_timeout", p->query_wait_timeout_ns},
      {"server_idle_timeout", p->server_idle_timeout_ns}, {"server_login_retry", p->server_login_retry_ns},
      {"cancel_wait_timeout", p->cancel_wait_timeout_ns}};
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    if (!strcmp(word, times[i].word)) return i < 3 ? lasting(times[i].ns) : seconds(times[i].ns);
    bool ms = g_str_has_prefix(word, times[i].word) && !strcmp(word + strlen(times[i].word), "_ms");
    if (ms) return milliseconds(times[i].ns);
  }
  if (!strcmp(word, "max_client_conn")) return g_strdup_printf("%d", clients_of(c));
  if (!strcmp(word, "max_db_connections")) return g_strdup_printf("%d", c->max_db_connections);
  if (!strcmp(word, "max_user_connections")) return g_strdup_printf("%d", c->max_user_connections);
  if (!strcmp(word, "fifo")) return g_strdup(p->idle_order == IDLE_FIFO ? "1" : "0");
  if (!strcmp(word, "port")) return g_strdup_printf("%u", at->port);
  if (!strcmp(word, "dir")) return g_strdup(at->dir);
  if (!strcmp(word, "program")) return g_strdup(at->program);
  if (!strcmp(word, "user")) return g_strdup(ADAPTER_USER);
  return NULL;
}

static bool shares(const PoolerConfig *c, guint a, guint b) {
  const PoolConfig *x = &c->pools[a], *y = &c->pools[b];
  return strcmp(x->db, y->db) == 0 && strcmp(x->user, y->user) != 0;
}

guint adapter_database(const PoolerConfig *c, guint pool) {
  for (guint i = 0; i < pool; i++)
    if (shares(c, i, pool)) return i;
  return pool;
}

const char *adapter_login(const PoolerConfig *c, guint pool) {
  for (guint i = 0; i < (guint)c->n_pools; i++)
    if (shares(c, i, pool)) return c->pools[pool].user;
  return ADAPTER_USER;
}

char *adapter_server_dir(const char *dir, guint pool) {
  return g_strdup_printf("%s/pool-%u", dir, pool);
}

/* ---- templates ---- */

typedef struct {
  const PoolerConfig *c;
  const AdapterPlace *at;
  const char *each_pool; /* NULL: `text` is that of a pool */
  const char *each_login;
  const char *listen; /* where it listens; NULL: the files say it themselves */
  guint pool;
} Filling;

static char *fill(const Filling *f, const char *text, const char **unknown);

/* `each` once for each pool; a database of several users is one pool where `databases`. */
static char *pools_text(const Filling *f, const char *each, bool databases, const char **unknown) {
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < (guint)f->c->n_pools; i++) {
    if (databases && adapter_database(f->c, i) != i) continue;
    Filling one = {.c = f->c, .at = f->at, .pool = i};
    g_autofree char *text = fill(&one, each, unknown);
    g_string_append(all, text);
  }
  return g_string_free(all, FALSE);
}

/* Everybody who may come, a line each, without a password. */
static char *users_text(const PoolerConfig *c) {
  GString *all = g_string_new("\"" ADAPTER_USER "\" \"\"\n");
  for (guint i = 0; i < (guint)c->n_pools; i++)
    if (strcmp(adapter_login(c, i), ADAPTER_USER) != 0)
      g_string_append_printf(all, "\"%s\" \"\"\n", adapter_login(c, i));
  return g_string_free(all, FALSE);
}

static char *word(const Filling *f, const char *name, const char **unknown) {
  if (f->each_pool && !strcmp(name, "pools")) return pools_text(f, f->each_pool, true, unknown);
  if (f->each_login && !strcmp(name, "logins")) return pools_text(f, f->each_login, false, unknown);
  if (!strcmp(name, "users")) return users_text(f->c);
  if (f->listen && !strcmp(name, "listen")) return fill(&(Filling){.c = f->c, .at = f->at}, f->listen, unknown);
  char *value = word_of_pool(f->c, f->pool, f->at, name); /* outside once_each_pool: of the first */
  return value ? value : word_of_pooler(f->c, f->at, name);
}

/* The brace behind "{word"; NULL: other braces are the file's own. */
static const char *word_end(const char *text) {
  const char *end = *text == '{' ? text + 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_") : NULL;
  return end && end > text + 1 && *end == '}' ? end : NULL;
}

/* *unknown: the first word that means nothing, interned. */
static char *fill(const Filling *f, const char *text, const char **unknown) {
  GString *out = g_string_new(NULL);
  while (*text) {
    const char *end = word_end(text);
    if (!end) {
      g_string_append_c(out, *text++);
      continue;
    }
    g_autofree char *name = g_strndup(text + 1, (gsize)(end - text - 1)), *value = word(f, name, unknown);
    if (value)
      g_string_append(out, value);
    else if (!*unknown)
      *unknown = g_intern_string(name);
    text = end + 1;
  }
  return g_string_free(out, FALSE);
}

/* ---- the file ---- */

static Node *read_adapter(const char *const *dirs, const char *name, GError **error) {
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
  char *value = fill(f, text, &unknown);
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

static const char *const wishes[ADAPTER_WISHES] = {"reload", "pause", "resume", "stop", "pools", "servers", "clients"};
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
  static const char *const keys[] = {"adapter",     "about",      "untried",        "user",
                                     "start",       "socket",     "console",        "say",
                                     "signals",     "files",      "once_each_pool", "once_each_login",
                                     "environment", "most_pools", "over_unix",      "over_tcp"};
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

Adapter *adapter_load(const char *const *dirs, const char *name, const PoolerConfig *c, const AdapterPlace *place,
                      GError **error) {
  GError *problem = NULL;
  g_autoptr(Node) root = read_adapter(dirs, name, error);
  if (!root) return NULL;
  g_autoptr(Adapter) a = g_new0(Adapter, 1);
  a->files = g_array_new(FALSE, TRUE, sizeof(AdapterFile));
  g_array_set_clear_func(a->files, clear_file);
  a->name = g_strdup(name);
  check_keys(root, c, &problem);
  a->user = g_strdup(text_at(root, "user", &problem));
  Filling f = {.c = c, .at = place, .each_pool = text_at(root, "once_each_pool", &problem)};
  f.listen = listening(root, place, &problem);
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
  g_autoptr(Node) root = read_adapter(dirs, name, error);
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
