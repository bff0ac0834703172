/* pools.c - a pooler's books as it tells them itself, against its sockets and against each other (poolers.md C.7). */
#include "sim/live/pools.h"
#include "sim/live/live.h"
#include <string.h>

static const char *cell(const GPtrArray *table, guint row, const char *column) {
  char **names = table->pdata[0], **cells = table->pdata[row];
  for (guint i = 0; names[i] && cells[i]; i++)
    if (strcmp(names[i], column) == 0) return cells[i];
  return "";
}

static bool has(const GPtrArray *table, const char *column) {
  char **names = table->len ? table->pdata[0] : NULL;
  for (guint i = 0; names && names[i]; i++)
    if (strcmp(names[i], column) == 0) return true;
  return false;
}

static guint number(const GPtrArray *table, guint row, const char *column) {
  return (guint)g_ascii_strtoull(cell(table, row, column), NULL, 10);
}

/* A1: the sets are disjoint, so they add up to the sockets; and these are not more than there may be. A pooler whose
 * cancels are beside its pools has no set for their carriers. */
static bool sets_wrong(const PoolTables *t, const PoolSeen *p, guint row, GString *why) {
  static const char *const sets[] = {"sv_active", "sv_active_cancel", "sv_being_canceled", "sv_idle",
                                     "sv_used",   "sv_tested",        "sv_login"};
  guint sum = 0, carriers = number(t->pools, row, "sv_active_cancel"),
        cancels =
            carriers + number(t->pools, row, "cl_waiting_cancel_req") + number(t->pools, row, "cl_active_cancel_req");
  for (guint i = 0; i < G_N_ELEMENTS(sets); i++) sum += number(t->pools, row, sets[i]);
  guint least = has(t->pools, "sv_active_cancel") ? p->sockets : p->sockets - p->carriers;
  guint most = (cancels || p->carriers ? 2 : 1) * (p->size + p->reserve);
  if (sum < least || sum > p->sockets + p->maybe)
    g_string_printf(why, "pool %s: its sets add up to %u server connections, %u are open", p->name, sum, p->sockets);
  else if (sum > most && p->size)
    g_string_printf(why, "pool %s: %u server connections, %u allowed", p->name, sum, most);
  else
    return false;
  return true;
}

static int row_of(const GPtrArray *table, const char *column, const char *value) {
  for (guint i = 1; i < table->len; i++)
    if (strcmp(cell(table, i, column), value) == 0) return (int)i;
  return -1;
}

/* A2: who holds a connection is held by it, and by no other; where the console tells who that is. */
static bool links_wrong(const PoolTables *t, GString *why) {
  if (!has(t->servers, "link") || !has(t->servers, "ptr")) return false;
  for (guint i = 1; t->servers->len && i < t->servers->len; i++) {
    const char *link = cell(t->servers, i, "link"), *self = cell(t->servers, i, "ptr");
    bool active = strcmp(cell(t->servers, i, "state"), "active") == 0;
    if (!*link && active) return g_string_printf(why, "an active server connection has no client"), true;
    if (!*link) continue;
    int client = t->clients->len ? row_of(t->clients, "ptr", link) : -1;
    if (client < 0) return g_string_printf(why, "a server connection has a client that is not there"), true;
    if (strcmp(cell(t->clients, (guint)client, "link"), self) != 0)
      return g_string_printf(why, "a server connection has a client that has another one"), true;
    if (row_of(t->servers, "link", link) != (int)i)
      return g_string_printf(why, "two server connections have one client"), true;
  }
  return false;
}

bool pools_wrong(const PoolTables *t, const PoolSeen *pools, guint n, GString *why) {
  for (guint i = 0; i < n; i++)
    for (guint row = 1; row < t->pools->len; row++) {
      bool it = strcmp(cell(t->pools, row, "database"), pools[i].database) == 0 &&
                strcmp(cell(t->pools, row, "user"), pools[i].user) == 0;
      if (it && sets_wrong(t, &pools[i], row, why)) return true;
    }
  return links_wrong(t, why);
}

/* ---- who is there ---- */

static gint by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rows without the columns that name no state: "database|user|state". */
static void add_rows(const GPtrArray *table, GPtrArray *lines) {
  for (guint i = 1; i < table->len; i++)
    g_ptr_array_add(lines, g_strdup_printf("%s|%s|%s", cell(table, i, "database"), cell(table, i, "user"),
                                           cell(table, i, "state")));
}

/* Pools that have anybody in them. */
static void add_sets(const GPtrArray *pools, GPtrArray *lines) {
  char **names = pools->len ? pools->pdata[0] : NULL;
  for (guint row = 1; row < pools->len; row++)
    for (guint i = 0; names[i]; i++) {
      bool set = g_str_has_prefix(names[i], "cl_") || g_str_has_prefix(names[i], "sv_");
      if (!set || number(pools, row, names[i]) == 0) continue;
      g_ptr_array_add(lines, g_strdup_printf("%s|%s %s=%u", cell(pools, row, "database"), cell(pools, row, "user"),
                                             names[i], number(pools, row, names[i])));
    }
}

char *pools_text(const PoolTables *t) {
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  add_sets(t->pools, lines);
  add_rows(t->servers, lines);
  add_rows(t->clients, lines);
  g_ptr_array_sort(lines, by_text);
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("\n", (char **)lines->pdata);
}

/* ---- in lockstep ---- */

static const AdapterWish wishes[] = {ADAPTER_POOLS, ADAPTER_SERVERS, ADAPTER_CLIENTS};

static bool ask(Live *l, guint process, GPtrArray *tables[G_N_ELEMENTS(wishes)]) {
  bool all = true;
  for (guint i = 0; all && i < G_N_ELEMENTS(wishes); i++)
    all = (tables[i] = console_rows(l, process, wishes[i])) != NULL;
  return all;
}

char *pools_figures(Live *l, guint process) {
  GPtrArray *tables[G_N_ELEMENTS(wishes)] = {0};
  char *text = ask(l, process, tables) ? pools_text(&(PoolTables){tables[0], tables[1], tables[2]}) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) g_clear_pointer(&tables[i], g_ptr_array_unref);
  return text;
}

/* Not until it has said who it is, where several share a database. */
static bool is_surely_of(const Live *l, const Conn *x, guint pool) {
  for (guint i = 0; i < (guint)l->config->n_pools; i++)
    if (i != pool && host_may_be_of(l, x, i)) return false;
  return true;
}

static PoolSeen seen(const Live *l, guint process, guint pool) {
  const PoolConfig *c = &l->config->pools[pool];
  PoolSeen p = {.name = c->name,
                .database = l->config->pools[adapter_database(l->config, pool)].name,
                .user = adapter_login(l->config, pool),
                .size = (guint)c->size,
                .reserve = (guint)c->reserve};
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *x = CONN(l, i);
    if (x->kind != CONN_SERVER || x->fd < 0 || x->direct >= 0 || x->process != process) continue;
    if (!host_may_be_of(l, x, pool)) continue;
    bool sure = is_surely_of(l, x, pool);
    p.sockets += sure;
    p.carriers += sure && x->carrier;
    p.maybe += !sure;
  }
  return p;
}

static void look(Live *l, guint process) {
  GPtrArray *tables[G_N_ELEMENTS(wishes)] = {0};
  bool all = ask(l, process, tables);
  g_autoptr(GString) why = g_string_new(NULL);
  g_autofree PoolSeen *pools = g_new(PoolSeen, (gsize)l->config->n_pools);
  for (guint i = 0; i < (guint)l->config->n_pools; i++) pools[i] = seen(l, process, i);
  PoolTables t = {tables[0], tables[1], tables[2]};
  if (all && pools_wrong(&t, pools, (guint)l->config->n_pools, why)) verdict_check(l, "pool-accounting", why->str);
  l->pools_seen |= all;
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) g_clear_pointer(&tables[i], g_ptr_array_unref);
}

void pools_look(Live *l) {
  for (guint i = 0; i < l->members->len; i++)
    if (!MEMBER(l, i)->gone) look(l, i);
}
