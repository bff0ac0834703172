/* sweep_csv.c - what all points together come to, and results.csv. */
#include "sim/sweep_report.h"
#include <string.h>

guint sweep_with_verdict(const SweepReport *r, RunVerdict v) {
  guint n = 0;
  for (guint i = 0; i < r->curves->results->len; i++) {
    const RunResult *res = r->curves->results->pdata[i];
    n += res && res->verdict == v;
  }
  return n;
}

guint sweep_finished(const SweepReport *r) {
  return sweep_with_verdict(r, RUN_PASS) + sweep_with_verdict(r, RUN_FAIL) + sweep_with_verdict(r, RUN_INCOMPLETE);
}

guint sweep_refusals(const SweepPlan *p) {
  guint n = 0;
  for (guint i = 0; i < p->refused->len; i++) n += p->refused->pdata[i] != NULL;
  return n * p->seeds;
}

int sweep_exit(const SweepReport *r) {
  if (r->interrupted) return EXIT_INTERRUPTED;
  if (sweep_with_verdict(r, RUN_FAIL)) return EXIT_UNMET;
  return sweep_with_verdict(r, RUN_INCOMPLETE) ? EXIT_LIMIT : EXIT_MET;
}

GArray *sweep_unexplained(const SweepReport *r) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Unexplained));
  for (guint i = 0; i < r->curves->results->len; i++) {
    const RunResult *res = r->curves->results->pdata[i];
    for (guint j = 0; res && j < res->unexplained->len; j++) {
      Unexplained u = g_array_index(res->unexplained, Unexplained, j);
      bool known = false;
      for (guint k = 0; k < all->len; k++) known |= !strcmp(g_array_index(all, Unexplained, k).key, u.key);
      if (!known) g_array_append_val(all, u);
    }
  }
  return all;
}

/* ---- CSV ---- */

/* In order of first appearance over all points. */
static GPtrArray *metric_names(const GPtrArray *results) {
  GPtrArray *names = g_ptr_array_new();
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < results->len; i++) {
    const RunResult *r = results->pdata[i];
    for (guint m = 0; r && m < r->metrics->len; m++) {
      char *name = g_array_index(r->metrics, Metric, m).name;
      if (g_hash_table_add(seen, name)) g_ptr_array_add(names, name);
    }
  }
  return names;
}

static void csv_text(Output *o, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) return output_str(o, text);
  g_auto(GStrv) parts = g_strsplit(text, "\"", -1);
  g_autofree char *doubled = g_strjoinv("\"\"", parts);
  output_str(o, "\"");
  output_str(o, doubled);
  output_str(o, "\"");
}

/* Likewise: of an exploration's checks. */
static GPtrArray *check_names(const SweepPlan *p, const GPtrArray *results) {
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; p->explores && i < results->len; i++) {
    const RunResult *r = results->pdata[i];
    for (guint k = 0; r && k < r->checks->len; k++) {
      const char *name = g_array_index(r->checks, CheckResult, k).check->name;
      if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) g_ptr_array_add(names, (gpointer)name);
    }
  }
  return names;
}

static void csv_header(const SweepPlan *p, const GPtrArray *checks, const GPtrArray *names, Output *o) {
  for (guint i = 0; i < p->keys->len; i++) {
    csv_text(o, ((SweptKey *)p->keys->pdata[i])->name);
    output_str(o, ",");
  }
  output_str(o, "variant,seed,verdict");
  for (guint i = 0; i < checks->len; i++) {
    output_str(o, ",");
    output_str(o, checks->pdata[i]);
    output_str(o, ",");
    output_str(o, checks->pdata[i]);
    output_str(o, ".steps");
  }
  for (guint i = 0; i < names->len; i++) {
    output_str(o, ",");
    csv_text(o, names->pdata[i]);
  }
  output_str(o, "\n");
}

static void csv_check(const RunResult *r, const char *name, Output *o) {
  for (guint i = 0; r && i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (strcmp(c->check->name, name) != 0) continue;
    output_str(o, ",");
    output_str(o, check_verdict_word(c->verdict));
    output_str(o, ",");
    if (c->verdict == CHECK_VIOLATED) output_int(o, c->step + 1);
    return;
  }
  output_str(o, ",,");
}

static void csv_metrics(const RunResult *r, const GPtrArray *names, Output *o) {
  g_autoptr(GHashTable) values = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint m = 0; r && m < r->metrics->len; m++) {
    Metric *metric = &g_array_index(r->metrics, Metric, m);
    g_hash_table_insert(values, metric->name, &metric->value);
  }
  for (guint i = 0; i < names->len; i++) {
    const double *value = g_hash_table_lookup(values, names->pdata[i]);
    output_str(o, ",");
    if (value) output_double(o, *value);
  }
}

void sweep_csv(const SweepReport *r, Output *o) {
  const SweepPlan *p = r->curves->plan;
  const GPtrArray *results = r->curves->results;
  g_autoptr(GPtrArray) names = metric_names(results), checks = check_names(p, results);
  csv_header(p, checks, names, o);
  for (guint point = 0; point < results->len; point++) {
    const RunResult *res = results->pdata[point];
    if (!res && !sweep_refused(p, point)) continue;
    for (guint i = 0; i < p->keys->len; i++) {
      csv_text(o, sweep_value(p, i, sweep_combination(p, point)));
      output_str(o, ",");
    }
    csv_text(o, sweep_variant(p, point));
    output_str(o, ",");
    output_uint(o, sweep_seed(p, point));
    output_str(o, ",");
    output_str(o, res ? run_verdict_word(res->verdict) : "refused");
    for (guint i = 0; i < checks->len; i++) csv_check(res, checks->pdata[i], o);
    csv_metrics(res, names, o);
    output_str(o, "\n");
  }
}
