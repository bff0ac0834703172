/* measure.c - what the steps of the model report. Nothing is kept where nobody keeps time: an exploration pays nothing.
 */
#include "model/pooler/measure.h"

Measure *measure_new(const Pooler *p) {
  const PoolerConfig *c = config_of(p);
  Measure *m = g_new0(Measure, 1);
  m->rows = 1 + MAX(p->pools_each, (guint)c->n_servers);
  for (guint g = 0; g < GAUGE_COUNT; g++) {
    m->gauges[g] = g_new0(Gauge, m->rows);
    for (guint i = 0; i < m->rows && c->keep_series; i++)
      m->gauges[g][i].series = g_array_new(FALSE, FALSE, sizeof(Point));
  }
  for (guint k = 0; k < COUNT_COUNT; k++) m->counts[k] = g_new0(double, m->rows);
  m->waits = g_array_new(FALSE, FALSE, sizeof(Sample));
  m->cancels = g_array_new(FALSE, FALSE, sizeof(Sample));
  m->wait_since = g_new0(int64_t, p->n_sessions + 1);
  for (guint i = 0; i < p->n_sessions; i++) m->wait_since[i] = -1;
  m->asked_at = g_new0(int64_t, p->n_sessions + 1);
  m->sent_at = g_new0(int64_t, p->n_cancels + 1);
  m->cancel_forwarded = g_new0(bool, p->n_cancels + 1);
  m->by_def = g_new0(double, (gsize)c->work.n_clients);
  m->by_client = g_new0(double, p->n_clients);
  for (guint i = 0; i < WORDS_MAX; i++) m->last[i] = g_string_new(NULL);
  m->name = g_string_new(NULL);
  return m;
}

void measure_free(Measure *m) {
  for (guint g = 0; g < GAUGE_COUNT; g++) {
    for (guint i = 0; i < m->rows; i++) g_clear_pointer(&m->gauges[g][i].series, g_array_unref);
    g_free(m->gauges[g]);
  }
  for (guint k = 0; k < COUNT_COUNT; k++) g_free(m->counts[k]);
  gpointer parts[] = {m->wait_since, m->asked_at, m->sent_at, m->cancel_forwarded, m->by_def, m->by_client};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) g_free(parts[i]);
  g_array_unref(m->waits);
  g_array_unref(m->cancels);
  for (guint i = 0; i < WORDS_MAX; i++) g_string_free(m->last[i], TRUE);
  g_string_free(m->name, TRUE);
  g_free(m);
}

static guint row_of(const Pooler *p, guint pool) {
  return pool == DIRECT ? 0 : 1 + pool % p->pools_each;
}

void measure_count(Pooler *p, guint pool, Count what, guint n) {
  if (!p->timed) return;
  p->measure->counts[what][0] += n;
  if (row_of(p, pool)) p->measure->counts[what][row_of(p, pool)] += n;
}

void measure_bytes(Pooler *p, guint n) {
  if (p->timed) p->measure->bytes += n;
}

/* ---- gauges ---- */

static GaugeId server_gauge(ServerState s, uint32_t flags) {
  if (s == SV_IDLE && flags & SVF_STALE) return GAUGE_SV_USED;
  static const GaugeId gauges[] = {
      [SV_FREE] = GAUGE_NONE,       [SV_OPENING] = GAUGE_SV_LOGIN,         [SV_IDLE] = GAUGE_SV_IDLE,
      [SV_TAKEN] = GAUGE_SV_ACTIVE, [SV_FENCED] = GAUGE_SV_BEING_CANCELED, [SV_CLEANING] = GAUGE_SV_TESTED,
      [SV_CLOSING] = GAUGE_NONE};
  return gauges[s];
}

void measure_server(Pooler *p, const Server *s, int was) {
  if (!p->timed) return;
  guint row = row_of(p, s->pool);
  if (was == SV_FREE) gauge_add(p, GAUGE_SOCKETS, row, 1);
  if (s->state == SV_FREE) gauge_add(p, GAUGE_SOCKETS, row, -1);
  if (s->pool == DIRECT) return;
  GaugeId from = server_gauge((ServerState)was, s->flags), to = server_gauge((ServerState)s->state, s->flags);
  if (from != GAUGE_NONE) gauge_add(p, from, row, -1);
  if (to != GAUGE_NONE) gauge_add(p, to, row, 1);
}

void measure_used(Pooler *p, const Server *s) {
  if (!p->timed) return;
  gauge_add(p, GAUGE_SV_IDLE, row_of(p, s->pool), -1);
  gauge_add(p, GAUGE_SV_USED, row_of(p, s->pool), 1);
}

static GaugeId session_gauge(SessionState s) {
  if (s == CL_NONE || s == CL_GONE) return GAUGE_NONE;
  return s == CL_QUEUED ? GAUGE_CL_WAITING : GAUGE_CL_ACTIVE;
}

void measure_session(Pooler *p, const Session *e, int was) {
  if (!p->timed || e->pool == DIRECT) return;
  GaugeId from = session_gauge((SessionState)was), to = session_gauge((SessionState)e->state);
  if (from == to) return;
  if (from != GAUGE_NONE) gauge_add(p, from, row_of(p, e->pool), -1);
  if (to != GAUGE_NONE) gauge_add(p, to, row_of(p, e->pool), 1);
}

void measure_carrier(Pooler *p, guint pool, int by) {
  if (!p->timed) return;
  gauge_add(p, GAUGE_SOCKETS, row_of(p, pool), by);
  if (by > 0) measure_count(p, pool, COUNT_ATTEMPTS, 1);
  if (pool != DIRECT) gauge_add(p, GAUGE_SV_ACTIVE_CANCEL, row_of(p, pool), by);
}

void measure_backend(Pooler *p, guint host, int by) {
  if (p->timed) gauge_add(p, GAUGE_BACKENDS, 1 + host, by);
}

void measure_map(Pooler *p, guint pool, guint entries) {
  if (p->timed) gauge_set(p, GAUGE_MAP_ENTRIES, row_of(p, pool), entries);
}

/* ---- cancels ---- */

void measure_cancel(Pooler *p, const Cancel *x, Outcome o) {
  static const char *const names[OUT_COUNT] = {"cancel.hit",        "cancel.self_late", "cancel.misroute",
                                               "cancel.pooler_own", "cancel.noop",      "cancel.foreign",
                                               "cancel.lost",       "cancel.dropped",   "cancel.unsent"};
  (void)x;
  if (p->timed) ledger_add(world_ledger(p->w), names[o], 1);
}

void measure_cancel_sent(Pooler *p, const Cancel *x) {
  if (!p->timed) return;
  p->measure->sent_at[cancel_id(p, x)] = world_ledger_time(p->w);
  p->measure->cancel_forwarded[cancel_id(p, x)] = false;
  gauge_add(p, GAUGE_CL_WAITING_CANCEL, 0, 1);
}

void measure_cancel_forwarded(Pooler *p, const Cancel *x) {
  if (!p->timed || p->measure->cancel_forwarded[cancel_id(p, x)]) return;
  p->measure->cancel_forwarded[cancel_id(p, x)] = true;
  gauge_add(p, GAUGE_CL_WAITING_CANCEL, 0, -1);
  gauge_add(p, GAUGE_CL_ACTIVE_CANCEL, 0, 1);
}

void measure_cancel_goes_on(Pooler *p, const Cancel *x, const Cancel *y) {
  Measure *m = p->measure;
  m->sent_at[cancel_id(p, y)] = m->sent_at[cancel_id(p, x)];
  m->cancel_forwarded[cancel_id(p, y)] = m->cancel_forwarded[cancel_id(p, x)];
}

void measure_cancel_over(Pooler *p, const Cancel *x) {
  Measure *m = p->measure;
  if (!p->timed || x->stage == X_SENT) return;
  guint i = cancel_id(p, x);
  gauge_add(p, m->cancel_forwarded[i] ? GAUGE_CL_ACTIVE_CANCEL : GAUGE_CL_WAITING_CANCEL, 0, -1);
  int64_t now = world_ledger_time(p->w);
  Sample s = {now, now - m->sent_at[i], (uint16_t)(x->pool == DIRECT ? 0 : x->pool % p->pools_each),
              p->clients[x->client].def};
  g_array_append_val(m->cancels, s);
}

/* ---- waits and queries ---- */

void measure_wait_begin(Pooler *p, const Session *e) {
  if (p->timed) p->measure->wait_since[session_id(p, e)] = world_ledger_time(p->w);
}

void measure_wait_end(Pooler *p, const Session *e, bool served) {
  Measure *m = p->measure;
  guint i = session_id(p, e);
  if (!p->timed || m->wait_since[i] < 0) return;
  int64_t now = world_ledger_time(p->w);
  guint pool = e->pool;
  Sample s = {now, now - m->wait_since[i], (uint16_t)(pool % p->pools_each), session_client(p, e)->def};
  g_array_append_val(m->waits, s);
  m->wait_since[i] = -1;
  if (served) measure_count(p, pool, COUNT_SERVED, 1);
}

void measure_asked(Pooler *p, const Session *e) {
  if (p->timed) p->measure->asked_at[session_id(p, e)] = world_ledger_time(p->w);
}

void measure_query(Pooler *p, const Session *e, QueryResult r) {
  Measure *m = p->measure;
  if (r == RES_TIMEOUT) measure_count(p, e->pool, COUNT_TIMEOUTS, 1);
  if (!p->timed || e->request != REQ_QUERY) return;
  m->queries[r]++;
  m->answered++;
  m->latency_ns += (double)(world_ledger_time(p->w) - m->asked_at[session_id(p, e)]);
  if (r != RES_OK) return;
  m->by_def[session_client(p, e)->def]++;
  m->by_client[e->client]++;
}

void measure_reset(Pooler *p) {
  if (p->timed) p->measure->queries[RES_ERROR]++;
}
void measure_refused(Pooler *p, const Client *c) {
  (void)c;
  if (p->timed) p->measure->refused++;
}
void measure_deadline(Pooler *p, const Client *c) {
  (void)c;
  if (p->timed) p->measure->deadlines++;
}

/* ---- words ---- */

void pooler_mark(Pooler *p, uint64_t mark, const char *format, ...) {
  guint bit = (guint)__builtin_ctzll(mark);
  g_assert(bit < WORDS_MAX);
  world_mark(p->w, mark);
  va_list args;
  va_start(args, format);
  g_string_vprintf(p->measure->last[bit], format, args);
  va_end(args);
}

void pooler_observed(Pooler *p, uint64_t mark, const char *words) {
  pooler_mark(p, mark, "%s", words);
}

const char *pooler_words(const Pooler *p, uint64_t marks) {
  g_assert(marks && (guint)__builtin_ctzll(marks) < WORDS_MAX);
  return p->measure->last[__builtin_ctzll(marks)]->str;
}

const char *pooler_client_name(const Pooler *p, guint client) {
  const Client *c = &p->clients[client];
  const ClientDef *d = client_def(p, c);
  if (d->count == 1)
    g_string_assign(p->measure->name, d->name);
  else
    g_string_printf(p->measure->name, "%s.%u", d->name, c->copy);
  return p->measure->name->str;
}
