/* adapter_words.c - what the words in braces of an adapter stand for (sim/adapters/README.md), and texts filled in. */
#include "sim/live/adapter_login.h"
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

/* Of that pool's database. */
static guint logins_before(const PoolerConfig *c, guint pool) {
  guint n = 0;
  for (guint i = 0; i < pool; i++) n += adapter_database(c, i) == adapter_database(c, pool);
  return n;
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
  if (!strcmp(word, "database")) return g_strdup(c->pools[adapter_database(c, pool)].name);
  if (!strcmp(word, "login_number")) return g_strdup_printf("%u", logins_before(c, pool));
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
  if (!strcmp(word, "password")) return g_strdup(ADAPTER_PASSWORD);
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

/* `each` once for each pool; a database of several users is one pool where `databases`. */
static char *pools_text(const Filling *f, const char *each, bool databases, const char **unknown) {
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < (guint)f->c->n_pools; i++) {
    if (databases && adapter_database(f->c, i) != i) continue;
    Filling one = {.c = f->c, .at = f->at, .pool = i};
    g_autofree char *text = adapter_fill(&one, each, unknown);
    g_string_append(all, text);
  }
  return g_string_free(all, FALSE);
}

/* Nothing where processes do not know of each other. */
static char *peers_text(const Filling *f, const char **unknown) {
  GString *all = g_string_new(NULL);
  Filling one = {.c = f->c, .at = f->at};
  if (!f->c->peering || !f->peers) return g_string_free(all, FALSE);
  g_string_append(all, f->peers);
  for (one.peer = 0; one.peer < f->at->n_peers; one.peer++) {
    g_autofree char *text = adapter_fill(&one, f->each_peer, unknown);
    g_string_append(all, text);
  }
  return g_string_free(all, FALSE);
}

/* Peers are told apart by numbers from 1. */
static char *word_of_process(const Filling *f, const char *word) {
  const AdapterPeer *peer = f->at->peers ? &f->at->peers[f->peer] : NULL;
  if (!strcmp(word, "process")) return g_strdup_printf("%u", f->at->process + 1);
  if (!strcmp(word, "peer")) return g_strdup_printf("%u", f->peer + 1);
  if (!peer) return NULL;
  if (!strcmp(word, "peer_dir")) return g_strdup(peer->dir);
  return !strcmp(word, "peer_port") ? g_strdup_printf("%u", peer->port) : NULL;
}

/* Everybody who may come, a line each. */
static char *users_text(const PoolerConfig *c) {
  GString *all = g_string_new("\"" ADAPTER_USER "\" \"" ADAPTER_PASSWORD "\"\n");
  for (guint i = 0; i < (guint)c->n_pools; i++)
    if (strcmp(adapter_login(c, i), ADAPTER_USER) != 0)
      g_string_append_printf(all, "\"%s\" \"%s\"\n", adapter_login(c, i), ADAPTER_PASSWORD);
  return g_string_free(all, FALSE);
}

static char *word(const Filling *f, const char *name, const char **unknown) {
  if (f->each_pool && !strcmp(name, "pools")) return pools_text(f, f->each_pool, true, unknown);
  if (f->each_login && !strcmp(name, "logins")) return pools_text(f, f->each_login, false, unknown);
  if (!strcmp(name, "peers")) return peers_text(f, unknown);
  if (!strcmp(name, "users")) return users_text(f->c);
  if (f->listen && !strcmp(name, "listen")) return adapter_fill(&(Filling){.c = f->c, .at = f->at}, f->listen, unknown);
  if (!strcmp(name, "peered"))
    return f->peered && f->c->peering ? adapter_fill(&(Filling){.c = f->c, .at = f->at}, f->peered, unknown)
                                      : g_strdup("");
  char *value = adapter_login_word(f, name);
  if (!value) value = word_of_process(f, name);
  if (!value) value = word_of_pool(f->c, f->pool, f->at, name); /* outside once_each_pool: of the first */
  return value ? value : word_of_pooler(f->c, f->at, name);
}

/* The brace behind "{word"; NULL: other braces are the file's own. */
static const char *word_end(const char *text) {
  const char *end = *text == '{' ? text + 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_") : NULL;
  return end && end > text + 1 && *end == '}' ? end : NULL;
}

/* *unknown: the first word that means nothing, interned. */
char *adapter_fill(const Filling *f, const char *text, const char **unknown) {
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
