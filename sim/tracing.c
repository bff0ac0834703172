/* tracing.c - steps of the engine as steps of a trace. `changed` holds the variables of the state that have another
 * value than after the step before (all of them at step 0), as far as the model is small enough to describe itself. */
#include "sim/tracing.h"
#include <string.h>

enum { CHANGED_MAX = 512 };

struct Tracing {
  const RunOptions *o;
  TraceWriter *writer; /* NULL: no file */
  GError *error;
  bool stopped;
  int64_t k;
  GHashTable *variables; /* name -> value, as last seen; looked up only */
  NoteField changed[CHANGED_MAX];
  guint n_changed;
};

Tracing *tracing_new(const RunOptions *o, const TraceHeader *header, int64_t k, GError **error) {
  Tracing *t = g_new0(Tracing, 1);
  t->o = o;
  t->k = k;
  t->variables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (o->trace_path) t->writer = trace_writer_open(o->trace_path, header, error);
  if (!o->trace_path || t->writer) return t;
  tracing_free(t);
  return NULL;
}

void tracing_free(Tracing *t) {
  if (t->writer) trace_writer_free(t->writer);
  g_clear_error(&t->error);
  g_hash_table_unref(t->variables);
  g_free(t);
}

bool tracing_stopped(const Tracing *t) {
  return t->stopped;
}

/* The hash table owns both strings; a changed value stays valid until the next step, as no name comes twice in one. */
static void see(const char *name, const char *value, void *data) {
  Tracing *t = data;
  if (g_strcmp0(g_hash_table_lookup(t->variables, name), value) == 0 || t->n_changed == CHANGED_MAX) return;
  for (guint i = 0; i < t->n_changed; i++) g_assert_cmpstr(t->changed[i].name, !=, name);
  g_hash_table_replace(t->variables, g_strdup(name), g_strdup(value));
  gpointer key, val;
  g_hash_table_lookup_extended(t->variables, name, &key, &val);
  t->changed[t->n_changed++] = (NoteField){.name = key, .text = val};
}

void tracing_record(Tracing *t, TraceStep *step, const Model *m,
                    void (*describe)(const void *of, void (*each)(const char *name, const char *value, void *data),
                                     void *data),
                    const void *of) {
  if (t->stopped) return;
  t->n_changed = 0;
  describe(of, see, t);
  step->changed = t->changed;
  step->n_changed = t->n_changed;
  step->hashed = (step->i + 1) % t->k == 0;
  if (step->hashed) step->hash = model_hash(m);
  if (t->writer && !trace_writer_step(t->writer, step, &t->error)) t->stopped = true;
  if (t->o->saw && !t->o->saw(t->o->replay, step)) t->stopped = true;
}

static void describe_model(const void *of, void (*each)(const char *name, const char *value, void *data), void *data) {
  const Model *m = of;
  m->ops->describe(m, each, data);
}

void tracing_step(Tracing *t, const Model *m, const EngineStep *s) {
  char who[64];
  TraceStep step = {.i = (int64_t)s->i,
                    .t_ns = s->t_ns,
                    .who = trace_who(who, sizeof who, s->name, s->who),
                    .what = s->doing,
                    .args = s->args,
                    .n_args = s->n_args,
                    .choices = s->choices,
                    .n_choices = s->n_choices};
  tracing_record(t, &step, m, describe_model, m);
}

void tracing_footer(const RunResult *r, TraceEnd *end) {
  TraceCheck *checks = g_new0(TraceCheck, r->checks->len + 1);
  TraceMetric *metrics = g_new0(TraceMetric, r->metrics->len + 1);
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    checks[i] = (TraceCheck){c->check->name, check_verdict_word(c->verdict), c->step, c->why};
  }
  for (guint i = 0; i < r->metrics->len; i++) {
    const Metric *m = &g_array_index(r->metrics, Metric, i);
    metrics[i] = (TraceMetric){m->name, m->value};
  }
  *end = (TraceEnd){.steps = (int64_t)r->steps,
                    .verdict = run_verdict_word(r->verdict),
                    .checks = checks,
                    .n_checks = r->checks->len,
                    .metrics = metrics,
                    .n_metrics = r->metrics->len,
                    .lasso_from = r->lasso_from,
                    .t_ns = r->virtual_ns,
                    .hashed = true,
                    .state_hash = r->state_hash};
}

void tracing_footer_clear(TraceEnd *end) {
  g_free((gpointer)end->checks);
  g_free((gpointer)end->metrics);
}

bool tracing_end(Tracing *t, const RunResult *r, GError **error) {
  if (t->error) return g_propagate_error(error, g_steal_pointer(&t->error)), false;
  if (!t->writer) return true;
  TraceEnd end;
  tracing_footer(r, &end);
  bool ok = trace_writer_close(t->writer, &end, error);
  tracing_footer_clear(&end);
  return ok;
}

TraceHeader *run_trace_header(const Scenario *s, const char *command, const char *subject, int64_t k) {
  const GPtrArray *from = scenario_sources(s);
  TraceSource *sources = g_new0(TraceSource, from->len + 1);
  for (guint i = 0; i < from->len; i++) {
    const ScenarioSource *f = from->pdata[i];
    sources[i] = (TraceSource){f->kind, f->name, f->text, f->hash};
  }
  TraceHeader *h = g_new0(TraceHeader, 1);
  *h = (TraceHeader){.version = STAMPEDE_VERSION,
                     .command = command,
                     .scenario = scenario_name(s),
                     .text = scenario_text(s),
                     .overrides = scenario_overrides(s),
                     .sources = sources,
                     .n_sources = from->len,
                     .seed = scenario_seed(s),
                     .subject = subject,
                     .k = k};
  return h;
}

void run_trace_header_free(TraceHeader *h) {
  g_free((gpointer)h->sources);
  g_free(h);
}
