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

static void csv_header(const SweepPlan *p, const GPtrArray *names, Output *o) {
  for (guint i = 0; i < p->keys->len; i++) {
    csv_text(o, ((SweptKey *)p->keys->pdata[i])->name);
    output_str(o, ",");
  }
  output_str(o, "variant,seed,verdict");
  for (guint i = 0; i < names->len; i++) {
    output_str(o, ",");
    csv_text(o, names->pdata[i]);
  }
  output_str(o, "\n");
}

static void csv_metrics(const RunResult *r, const GPtrArray *names, Output *o) {
  g_autoptr(GHashTable) values = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint m = 0; m < r->metrics->len; m++) {
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
  g_autoptr(GPtrArray) names = metric_names(r->curves->results);
  csv_header(p, names, o);
  for (guint point = 0; point < r->curves->results->len; point++) {
    const RunResult *res = r->curves->results->pdata[point];
    if (!res) continue;
    for (guint i = 0; i < p->keys->len; i++) {
      csv_text(o, sweep_value(p, i, sweep_combination(p, point)));
      output_str(o, ",");
    }
    csv_text(o, sweep_variant(p, point));
    output_str(o, ",");
    output_uint(o, sweep_seed(p, point));
    output_str(o, ",");
    output_str(o, run_verdict_word(res->verdict));
    csv_metrics(res, names, o);
    output_str(o, "\n");
  }
}
