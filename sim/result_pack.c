/* result_pack.c - see result_pack.h. One list of members serves both ways, so that they cannot drift apart. */
#include "sim/result_pack.h"
#include "model/world/costs.h"
#include <string.h>

typedef struct {
  GByteArray *out; /* NULL: reading */
  const guint8 *at, *end;
  bool broken;
} Pack;

static void bytes(Pack *p, void *data, gsize n) {
  if (p->out) {
    g_byte_array_append(p->out, data, (guint)n);
    return;
  }
  if (p->broken || (gsize)(p->end - p->at) < n) {
    p->broken = true;
    memset(data, 0, n);
    return;
  }
  memcpy(data, p->at, n);
  p->at += n;
}

#define VALUE(p, v) bytes(p, &(v), sizeof(v))

static void text(Pack *p, char **s) {
  int32_t length = p->out && *s ? (int32_t)strlen(*s) : -1;
  VALUE(p, length);
  if (length < 0) return;
  if (p->out) {
    bytes(p, *s, (gsize)length);
    return;
  }
  if (length > p->end - p->at) {
    p->broken = true;
    return;
  }
  *s = g_strndup((const char *)p->at, (gsize)length);
  p->at += length;
}

/* Makes room, when reading; how many there are. */
static guint entries(Pack *p, GArray *a) {
  guint n = a->len;
  VALUE(p, n);
  if (p->out) return n;
  if (n > (guint)(p->end - p->at)) p->broken = true;
  if (p->broken) return 0;
  g_array_set_size(a, n);
  return n;
}

/* A check that the model brought along: what is told of it. The few such names are kept for good. */
static const Check *own_check(const char *name, const char *about, Check *place) {
  g_assert(place);
  *place = (Check){.name = g_intern_string(name), .about = g_intern_string(about), .sees = SEES_INSIDE};
  return place;
}

static void checks(Pack *p, RunResult *r, const CheckTable *table) {
  guint n = entries(p, r->checks);
  Check *own = p->out ? NULL : g_atomic_rc_box_alloc0(sizeof(Check) * (n + 1));
  if (own) r->kept_checks = own;
  for (guint i = 0; i < n; i++) {
    CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    char *name = p->out ? (char *)c->check->name : NULL, *about = p->out ? (char *)c->check->about : NULL;
    text(p, &name);
    text(p, &about);
    VALUE(p, c->verdict);
    VALUE(p, c->step);
    text(p, &c->why);
    if (p->out) continue;
    c->check = name ? check_find(table, name) : NULL;
    if (!c->check) c->check = own_check(name ? name : "", about ? about : "", &own[i]);
    g_free(name);
    g_free(about);
  }
}

static void unexplained(Pack *p, GArray *a) {
  for (guint i = 0, n = entries(p, a); i < n; i++) {
    Unexplained *u = &g_array_index(a, Unexplained, i);
    guint id = 0;
    for (CostId c = 0; p->out && c < COST_COUNT; c++)
      if (strcmp(cost_info[c].key, u->key) == 0) id = c;
    VALUE(p, id);
    VALUE(p, u->ms);
    if (!p->out && id >= COST_COUNT) p->broken = true, id = 0;
    u->key = cost_info[id].key;
  }
}

static void lists(Pack *p, RunResult *r, const CheckTable *table) {
  checks(p, r, table);
  for (guint i = 0, n = entries(p, r->expectations); i < n; i++) {
    Expectation *e = &g_array_index(r->expectations, Expectation, i);
    text(p, &e->text);
    VALUE(p, e->met);
    VALUE(p, e->judged);
    text(p, &e->saw);
  }
  for (guint i = 0, n = entries(p, r->metrics); i < n; i++) {
    Metric *m = &g_array_index(r->metrics, Metric, i);
    text(p, &m->name);
    VALUE(p, m->value);
  }
  for (guint i = 0, n = entries(p, r->hotspots); i < n; i++) {
    HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
    text(p, &h->structure);
    text(p, &h->site);
    VALUE(p, h->faults);
    VALUE(p, h->share_of_faults);
    VALUE(p, h->ms);
    VALUE(p, h->under_lock_ms);
    VALUE(p, h->stores);
    text(p, &h->source);
    text(p, &h->path);
    VALUE(p, h->line);
  }
  for (guint i = 0, n = entries(p, r->stacks); i < n; i++) {
    StackRow *k = &g_array_index(r->stacks, StackRow, i);
    text(p, &k->frames);
    text(p, &k->structure);
    VALUE(p, k->faults);
    VALUE(p, k->stores);
    VALUE(p, k->ms);
  }
  unexplained(p, r->unexplained);
}

static void all(Pack *p, RunResult *r, const CheckTable *table) {
  char **texts[] = {&r->command, &r->scenario, &r->subject, &r->profile, &r->point, &r->stopped, &r->last_words};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) text(p, texts[i]);
  VALUE(p, r->seed);
  VALUE(p, r->verdict);
  VALUE(p, r->interrupted);
  VALUE(p, r->limited);
  VALUE(p, r->events);
  VALUE(p, r->ties);
  VALUE(p, r->steps);
  VALUE(p, r->seeded);
  VALUE(p, r->judged);
  VALUE(p, r->lasso_from);
  VALUE(p, r->virtual_ns);
  VALUE(p, r->state_hash);
  VALUE(p, r->wall_ms);
  VALUE(p, r->peak_rss_mb);
  lists(p, r, table);
}

void result_pack(const RunResult *r, GByteArray *out) {
  Pack p = {.out = out};
  all(&p, (RunResult *)r, NULL); /* only read */
}

RunResult *result_unpack(const guint8 *data, gsize length, const CheckTable *table) {
  Pack p = {.at = data, .end = data + length};
  g_autoptr(RunResult) r = run_result_new();
  all(&p, r, table);
  return p.broken || p.at != p.end ? NULL : g_steal_pointer(&r);
}
