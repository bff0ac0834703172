/* metrics.c - the figures of a run by name: NAME.max and so on of gauges and samples, counts, rates; over all, or of
 * pool[p], server[s], client[a]. */
#include "model/pooler/measure.h"
#include <stdlib.h>

static int by_ns(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Nearest rank: the least value that so many percent do not exceed. */
static double percentile(const GArray *sorted, guint percent) {
  guint rank = (sorted->len * percent + 99) / 100;
  return (double)g_array_index(sorted, int64_t, rank - 1) / 1e6;
}

static bool sample_stat(GArray *ns, const char *stat, double *value) {
  if (ns->len == 0) return false;
  qsort(ns->data, ns->len, sizeof(int64_t), by_ns);
  if (!strcmp(stat, "mean")) {
    double sum = 0;
    for (guint i = 0; i < ns->len; i++) sum += (double)g_array_index(ns, int64_t, i);
    return *value = sum / ns->len / 1e6, true;
  }
  static const struct {
    const char *word;
    guint percent;
  } ranks[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}, {"max", 100}};
  for (guint i = 0; i < G_N_ELEMENTS(ranks); i++)
    if (!strcmp(stat, ranks[i].word)) return *value = percentile(ns, ranks[i].percent), true;
  return false;
}

/* Of those that ended in [from, to]; row: pool of the configuration + 1, 0: any; def likewise. */
static GArray *chosen(const GArray *all, guint row, guint def, int64_t from, int64_t to) {
  GArray *ns = g_array_new(FALSE, FALSE, sizeof(int64_t));
  for (guint i = 0; i < all->len; i++) {
    const Sample *s = &g_array_index(all, Sample, i);
    if ((row && s->pool + 1u != row) || (def && s->def + 1u != def)) continue;
    if (s->t_ns >= from && (to < 0 || s->t_ns <= to)) g_array_append_val(ns, s->ns);
  }
  return ns;
}

/* Those who still wait count up to the end. */
static void add_waiting(const Pooler *p, GArray *ns, guint row, guint def, int64_t end) {
  for (guint i = 0; i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    if (p->measure->wait_since[i] < 0 || e->state == CL_NONE) continue;
    if ((row && e->pool % p->pools_each + 1u != row) || (def && p->clients[e->client].def + 1u != def)) continue;
    int64_t waited = end - p->measure->wait_since[i];
    g_array_append_val(ns, waited);
  }
}

static double jain(const double *x, guint n) {
  double sum = 0, squares = 0;
  for (guint i = 0; i < n; i++) sum += x[i], squares += x[i] * x[i];
  return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}

static double pool_size(const Pooler *p, guint row) {
  double n = 0;
  const PoolerConfig *c = config_of(p);
  for (guint i = 0; i < p->pools_each; i++)
    if (!row || row == i + 1) n += c->pools[i].size;
  return n * c->processes;
}

static double unfinished(const Pooler *p) {
  double n = 0;
  for (guint i = 0; i < p->n_sessions; i++) n += p->sessions[i].state != CL_NONE && p->sessions[i].request == REQ_QUERY;
  return n;
}

static bool gauge_metric(const Pooler *p, const char *name, guint row, int64_t from, int64_t to, int64_t end,
                         double *value) {
  for (guint g = 0; g < GAUGE_COUNT; g++) {
    size_t n = strlen(gauge_names[g]);
    if (strncmp(name, gauge_names[g], n) != 0 || name[n] != '.') continue;
    double mean, max, last;
    if (!gauge_over(&p->measure->gauges[g][row], from, to, end, &mean, &max, &last)) return false;
    const char *stat = name + n + 1;
    *value = !strcmp(stat, "mean") ? mean : !strcmp(stat, "max") ? max : last;
    return !strcmp(stat, "mean") || !strcmp(stat, "max") || !strcmp(stat, "last");
  }
  return false;
}

static bool simple_metric(const Pooler *p, const char *name, guint row, int64_t end, double *value) {
  const Measure *m = p->measure;
  double seconds = (double)end / 1e9;
  const struct {
    const char *name;
    double value;
  } all[] = {{"served", m->counts[COUNT_SERVED][row]},
             {"timeouts", m->counts[COUNT_TIMEOUTS][row]},
             {"overtakes", m->counts[COUNT_OVERTAKES][row]},
             {"collisions", m->counts[COUNT_COLLISIONS][row]},
             {"opens", m->counts[COUNT_OPENS][row]},
             {"opens_per_s", seconds > 0 ? m->counts[COUNT_OPENS][row] / seconds : 0},
             {"attempts_per_s", seconds > 0 ? m->counts[COUNT_ATTEMPTS][row] / seconds : 0},
             {"wakeups_per_s", seconds > 0 ? m->counts[COUNT_WAKEUPS][row] / seconds : 0},
             {"sockets_max", (double)m->gauges[GAUGE_SOCKETS][row].max},
             {"queries.ok", m->queries[RES_OK]},
             {"queries.error", m->queries[RES_ERROR]},
             {"queries.cancelled", m->queries[RES_CANCELLED]},
             {"queries.timeout", m->queries[RES_TIMEOUT] + m->deadlines},
             {"queries.refused", m->queries[RES_REFUSED] + m->refused},
             {"queries.unfinished", unfinished(p)},
             {"identity.bytes", m->bytes},
             {"tps", seconds > 0 ? m->queries[RES_OK] / seconds : 0},
             {"latency_avg_ms", m->answered > 0 ? m->latency_ns / m->answered / 1e6 : 0}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (!strcmp(name, all[i].name)) return *value = all[i].value, true;
  return false;
}

static bool derived_metric(const Pooler *p, const char *name, guint row, int64_t from, int64_t to, int64_t end,
                           double *value) {
  guint defs = (guint)config_of(p)->work.n_clients;
  if (!strcmp(name, "jain"))
    return *value = defs > 1 ? jain(p->measure->by_def, defs) : jain(p->measure->by_client, p->n_clients), true;
  if (strcmp(name, "utilisation") != 0) return false;
  double mean, max, last, size = pool_size(p, row);
  if (!gauge_over(&p->measure->gauges[GAUGE_SV_ACTIVE][row], from, to, end, &mean, &max, &last)) return false;
  *value = size > 0 ? mean / size : 0;
  return true;
}

/* Seconds that the longest waiter has waited, as in SHOW POOLS: most of the run, on average, and at its end. */
static bool longest_wait(const Pooler *p, const char *name, guint row, int64_t from, int64_t to, int64_t end,
                         double *value) {
  bool max = !strcmp(name, "maxwait.max");
  if (!strcmp(name, "maxwait.mean")) return *value = maxwait_mean(p, row, from, to, end), true;
  if (!max && strcmp(name, "maxwait.last") != 0) return false;
  g_autoptr(GArray) ns = max ? chosen(p->measure->waits, row, 0, from, to) : g_array_new(FALSE, FALSE, sizeof(int64_t));
  if (to < 0 || to >= end) add_waiting(p, ns, row, 0, end);
  *value = 0;
  for (guint i = 0; i < ns->len; i++) *value = MAX(*value, (double)g_array_index(ns, int64_t, i) / 1e9);
  return max || to < 0 || to >= end;
}

static bool sampled_metric(const Pooler *p, const char *name, guint row, guint def, int64_t from, int64_t to,
                           int64_t end, double *value) {
  bool wait = g_str_has_prefix(name, "wait_ms."), cancel = g_str_has_prefix(name, "cancel.ms.");
  if (!wait && !cancel) return false;
  g_autoptr(GArray) ns = chosen(wait ? p->measure->waits : p->measure->cancels, row, def, from, to);
  if (wait && (to < 0 || to >= end)) add_waiting(p, ns, row, def, end);
  return sample_stat(ns, strrchr(name, '.') + 1, value);
}

/* pool[p], server[s], client[a]: row or def. False: no such name. */
static bool place(const Pooler *p, const char *of, guint *row, guint *def) {
  const PoolerConfig *c = config_of(p);
  *row = *def = 0;
  if (!of || !strcmp(of, "pooler")) return true;
  const char *open = strchr(of, '[');
  if (!open) return false;
  size_t n = strcspn(open + 1, "]");
  g_autofree char *name = g_strndup(open + 1, n);
  bool pool = g_str_has_prefix(of, "pool["), server = g_str_has_prefix(of, "server["),
       client = g_str_has_prefix(of, "client[");
  for (int i = 0; pool && i < c->n_pools; i++)
    if (!strcmp(c->pools[i].name, name)) return *row = (guint)i + 1, true;
  for (int i = 0; server && i < c->n_servers; i++)
    if (!strcmp(c->servers[i].name, name)) return *row = (guint)i + 1, true;
  for (int i = 0; client && i < c->work.n_clients; i++)
    if (!strcmp(c->work.clients[i].name, name)) return *def = (guint)i + 1, true;
  return false;
}

bool pooler_metric(const Pooler *p, const char *metric, const char *of, int64_t from_ns, int64_t to_ns, double *value) {
  guint row, def;
  int64_t end = world_ledger_time(p->w);
  if (!place(p, of, &row, &def)) return false;
  if (def && !strcmp(metric, "queries.ok")) return *value = p->measure->by_def[def - 1], true;
  if (longest_wait(p, metric, row, from_ns, to_ns, end, value)) return true;
  return sampled_metric(p, metric, row, def, from_ns, to_ns, end, value) ||
         gauge_metric(p, metric, row, from_ns, to_ns, end, value) ||
         derived_metric(p, metric, row, from_ns, to_ns, end, value) || simple_metric(p, metric, row, end, value);
}

/* ---- all of them ---- */

static void write_one(Pooler *p, const char *metric, const char *of, const char *name) {
  double v;
  if (!pooler_metric(p, metric, of, 0, -1, &v)) return;
  g_autofree char *full = of ? g_strdup_printf("%s.%s", of, name) : g_strdup(name);
  ledger_set(world_ledger(p->w), full, v);
}

static void write_samples(Pooler *p, const char *of) {
  static const char *const stats[] = {"mean", "p50", "p95", "p99", "max"};
  for (guint i = 0; i < G_N_ELEMENTS(stats); i++) {
    g_autofree char *wait = g_strconcat("wait_ms.", stats[i], NULL),
                    *cancel = g_strconcat("cancel.ms.", stats[i], NULL);
    write_one(p, wait, of, wait);
    write_one(p, cancel, of, cancel);
  }
  g_autofree char *short_name = g_strdup("wait_ms");
  write_one(p, "wait_ms.mean", of, short_name);
}

static void write_gauges(Pooler *p, const char *of, guint row) {
  static const char *const stats[] = {"mean", "max", "last"};
  for (guint g = 0; g < GAUGE_COUNT; g++)
    for (guint i = 0; i < G_N_ELEMENTS(stats); i++) {
      if ((g == GAUGE_BACKENDS) != (of && g_str_has_prefix(of, "server[")) && of) continue;
      if (p->measure->gauges[g][row].max == 0) continue;
      g_autofree char *name = g_strdup_printf("%s.%s", gauge_names[g], stats[i]);
      write_one(p, name, of, name);
    }
}

static void write_of(Pooler *p, const char *kind, const char *name, guint row) {
  static const char *const pool_counts[] = {"served", "timeouts", "utilisation"};
  g_autofree char *of = g_strdup_printf("%s[%s]", kind, name);
  if (row) write_gauges(p, of, row);
  if (!strcmp(kind, "server")) return;
  write_samples(p, of);
  for (guint i = 0; i < G_N_ELEMENTS(pool_counts) && row; i++) write_one(p, pool_counts[i], of, pool_counts[i]);
  if (!row) write_one(p, "queries.ok", of, "queries.ok");
}

void pooler_write_metrics(Pooler *p) {
  static const char *const all[] = {"served",
                                    "timeouts",
                                    "queries.ok",
                                    "queries.error",
                                    "queries.cancelled",
                                    "queries.timeout",
                                    "queries.refused",
                                    "queries.unfinished",
                                    "overtakes",
                                    "collisions",
                                    "opens",
                                    "opens_per_s",
                                    "sockets_max",
                                    "utilisation",
                                    "jain",
                                    "tps",
                                    "latency_avg_ms",
                                    "identity.bytes"};
  static const char *const outcomes[] = {"hit",     "self_late", "misroute", "pooler_own", "noop",
                                         "foreign", "lost",      "dropped",  "unsent"};
  const PoolerConfig *c = config_of(p);
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) write_one(p, all[i], NULL, all[i]);
  for (guint i = 0; i < G_N_ELEMENTS(outcomes) && p->n_cancels; i++) {
    g_autofree char *name = g_strconcat("cancel.", outcomes[i], NULL);
    ledger_add(world_ledger(p->w), name, 0);
  }
  write_samples(p, NULL);
  write_gauges(p, NULL, 0);
  for (int i = 0; i < c->n_pools && c->n_pools > 1; i++) write_of(p, "pool", c->pools[i].name, (guint)i + 1);
  for (int i = 0; i < c->n_servers && c->n_servers > 1; i++) write_of(p, "server", c->servers[i].name, (guint)i + 1);
  for (int i = 0; i < c->work.n_clients && c->work.n_clients > 1; i++)
    write_of(p, "client", c->work.clients[i].name, 0);
}
