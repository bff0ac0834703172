/* measure.c - the figures of a live run that the wire shows, by the names that runs of the model have (metrics.c of
 * model/pooler). */
#include "sim/live/live.h"
#include <string.h>

void measure_start(Live *l) {
  l->measure.waits = g_array_new(FALSE, FALSE, sizeof(LiveWait));
  l->measure.by_def = g_new0(double, (gsize)l->config->work.n_clients);
}

void measure_socket(Live *l, int by) {
  l->measure.sockets = (guint)((int)l->measure.sockets + by);
  l->measure.sockets_max = MAX(l->measure.sockets_max, l->measure.sockets);
}

static void waited(Live *l, guint client, guint session) {
  PlayerSession *e = &PLAYER(l, client)->sessions[session];
  LiveWait w = {PLAYER(l, client)->def_index, l->now - e->asked_ns};
  if (!e->waits) return;
  e->waits = false;
  g_array_append_val(l->measure.waits, w);
}

void measure_forwarded(Live *l, guint client, guint session) {
  const Player *p = PLAYER(l, client);
  const PlayerSession *e = &p->sessions[session];
  if (p->def->via_server != NONE || !e->waits) return;
  bool had = e->in_transaction && e->query != e->first_query;
  if (!had) waited(l, client, session), l->measure.served++;
  PLAYER(l, client)->sessions[session].waits = false;
}

/* PgBouncer and others name the limit in what they say. */
static bool is_timeout(const PlayerSession *e) {
  return e->told && (strstr(e->told, "timeout") || strstr(e->told, "timed out"));
}

void measure_answer(Live *l, guint client, guint session, int query) {
  PlayerSession *e = &PLAYER(l, client)->sessions[session];
  LiveMeasure *m = &l->measure;
  if (query == NONE) return;
  bool timeout = is_timeout(e);
  if (timeout) m->timeouts++;
  if (e->waits && PLAYER(l, client)->def->via_server == NONE) waited(l, client, session);
  if (query < 0) return;
  if (!e->failed)
    m->ok++, m->by_def[PLAYER(l, client)->def_index]++;
  else if (e->told && strstr(e->told, "canceling statement"))
    m->cancelled++;
  else if (timeout)
    m->timeout++;
  else
    m->error++;
}

/* ---- at the end ---- */

static void keep(Live *l, const char *name, double value) {
  Metric m = {g_strdup(name), value};
  g_array_append_val(l->result->metrics, m);
}

static int by_ns(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* def: of one entry of `clients`; -1: of all. */
static void keep_waits(Live *l, int def, const char *of) {
  g_autoptr(GArray) ns = g_array_new(FALSE, FALSE, sizeof(int64_t));
  double sum = 0;
  for (guint i = 0; i < l->measure.waits->len; i++) {
    const LiveWait *w = &g_array_index(l->measure.waits, LiveWait, i);
    if (def >= 0 && (int)w->def != def) continue;
    g_array_append_val(ns, w->ns);
    sum += (double)w->ns;
  }
  if (!ns->len) return;
  qsort(ns->data, ns->len, sizeof(int64_t), by_ns);
  double mean = sum / ns->len / 1e6, most = (double)g_array_index(ns, int64_t, ns->len - 1) / 1e6;
  g_autofree char *max = g_strconcat(of, "wait_ms.max", NULL), *all = g_strconcat(of, "wait_ms.mean", NULL),
                  *brief = g_strconcat(of, "wait_ms", NULL);
  keep(l, max, most);
  keep(l, all, mean);
  keep(l, brief, mean);
}

static double jain(const double *x, guint n) {
  double sum = 0, squares = 0;
  for (guint i = 0; i < n; i++) sum += x[i], squares += x[i] * x[i];
  return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}

static double unfinished(const Live *l) {
  double n = 0;
  for (guint i = 0; i < l->players->len; i++)
    for (guint k = 0; k < SESSIONS_MAX; k++) n += PLAYER(l, i)->sessions[k].query >= 0;
  return n;
}

/* Who still waits counts up to the end. */
static void end_waits(Live *l) {
  for (guint i = 0; i < l->players->len; i++)
    for (guint k = 0; k < SESSIONS_MAX; k++) {
      const PlayerSession *e = &PLAYER(l, i)->sessions[k];
      if (e->waits && e->query != NONE && e->conn >= 0 && PLAYER(l, i)->def->via_server == NONE) waited(l, i, k);
    }
}

void measure_end(Live *l) {
  const LiveMeasure *m = &l->measure;
  guint defs = (guint)l->config->work.n_clients;
  end_waits(l);
  const struct {
    const char *name;
    double value;
  } all[] = {{"served", m->served},
             {"timeouts", m->timeouts},
             {"queries.ok", m->ok},
             {"queries.error", m->error},
             {"queries.cancelled", m->cancelled},
             {"queries.timeout", m->timeout + m->deadlines},
             {"queries.refused", m->refused},
             {"queries.unfinished", unfinished(l)},
             {"opens", m->opens},
             {"opens_per_s", l->now > 0 ? m->opens / ((double)l->now / 1e9) : 0},
             {"sockets_max", m->sockets_max},
             {"jain", jain(m->by_def, defs)},
             {"live.clients_done", l->players_done},
             {"live.gate_steps", (double)live_gate_steps(l->gate)}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (strcmp(all[i].name, "jain") != 0 || defs > 1) keep(l, all[i].name, all[i].value);
  for (guint o = 0; o < OUT_COUNT; o++) {
    g_autofree char *word = g_ascii_strdown(outcome_word(o), -1), *name = g_strconcat("cancel.", word, NULL);
    keep(l, name, (double)l->counts[o]);
  }
  keep_waits(l, -1, "");
  for (guint i = 0; i < defs; i++) {
    g_autofree char *of = g_strdup_printf("client[%s].", l->config->work.clients[i].name),
                    *ok = g_strconcat(of, "queries.ok", NULL);
    keep_waits(l, (int)i, of);
    keep(l, ok, m->by_def[i]);
  }
}
