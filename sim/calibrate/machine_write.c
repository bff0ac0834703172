/* machine_write.c - what was measured, as text, JSON and a profile. See machine.h. */
#include "sim/calibrate/machine.h"
#include "sim/fit_report.h"
#include <math.h>
#include <string.h>

static char *ns_text(double ns) {
  return fit_cost_text(fit_round((int64_t)llround(MAX(ns, 0) * 1000), 3));
}

static void rows(const Machine *m, const char *lead, GString *out) {
  g_string_append_printf(out, "%s%-26s %10s   %-24s %7s %7s  %s\n", lead, "cost", "median", "quartiles", "spread",
                         "samples", "measured by");
  bool late = false;
  for (guint i = 0; i < m->all->len; i++) {
    const Measured *one = &g_array_index(m->all, Measured, i);
    const SampleStats *s = &one->stats;
    late |= one->name == m->late;
    if (!s->n) {
      g_string_append_printf(out, "%s%-26s %s: %s\n", lead, one->name, late ? "no time was left" : "not to be had here",
                             one->what);
      continue;
    }
    g_autofree char *median = ns_text(s->median), *low = ns_text(s->low), *high = ns_text(s->high),
                    *both = g_strdup_printf("%s .. %s", low, high);
    g_string_append_printf(out, "%s%-26s %10s   %-24s %5.0f %% %7u  %s\n", lead, one->name, median, both,
                           100 * sample_spread(s), s->n, one->what);
  }
}

static void head(const Machine *m, const char *lead, GString *out) {
  g_string_append_printf(out, "%skernel %s; CPU %s, %d cores; a read fault maps %" G_GINT64_FORMAT " pages\n", lead,
                         m->kernel, m->cpu, m->cores, m->fault_around);
  g_string_append_printf(
      out, "%seach sample is the fastest of %d batches; spread: distance of the quartiles by the median\n", lead,
      SAMPLE_BATCHES);
}

void machine_text(const Machine *m, GString *out) {
  g_string_append_printf(out, "stampede %s  calibrate machine\n", STAMPEDE_VERSION);
  head(m, "", out);
  g_string_append_c(out, '\n');
  rows(m, "", out);
}

static void json_number(Output *o, const char *key, double v) {
  output_str(o, ", ");
  output_key(o, key);
  output_double(o, v);
}

static void json_rows(const Machine *m, Output *o) {
  output_str(o, "\"measured\": [\n");
  for (guint i = 0; i < m->all->len; i++) {
    const Measured *one = &g_array_index(m->all, Measured, i);
    output_str(o, "    {\"name\": ");
    output_string(o, one->name);
    output_str(o, ", \"what\": ");
    output_string(o, one->what);
    output_str(o, ", \"samples\": ");
    output_uint(o, one->stats.n);
    if (one->stats.n) {
      json_number(o, "median_ns", one->stats.median);
      json_number(o, "low_ns", one->stats.low);
      json_number(o, "high_ns", one->stats.high);
    }
    output_str(o, i + 1 < m->all->len ? "},\n" : "}\n");
  }
  output_str(o, "  ]\n");
}

void machine_json(const Machine *m, const char *profile, const char *refused, Output *o) {
  output_str(o, "{\n  ");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", "calibrate machine");
  report_json_text(o, "kernel", m->kernel);
  report_json_text(o, "cpu", m->cpu);
  report_json_uint(o, "cores", (uint64_t)m->cores);
  report_json_uint(o, "fault_around_pages", (uint64_t)m->fault_around);
  report_json_text(o, "profile", profile);
  report_json_text(o, "refused", refused);
  json_rows(m, o);
  output_str(o, "}\n");
}

/* ---- the profile ---- */

static const Measured *measured_of(const Machine *m, CostId id) {
  for (guint i = 0; i < m->all->len; i++) {
    const Measured *one = &g_array_index(m->all, Measured, i);
    if (one->cost == id && one->stats.n) return one;
  }
  return NULL;
}

static void entry(const Machine *m, const Scenario *start, const Costs *costs, CostId id, GString *out) {
  const char *key = strchr(cost_info[id].key, '.') + 1;
  const Measured *one = measured_of(m, id);
  if (one) {
    g_autofree char *value = ns_text(one->stats.median), *low = ns_text(one->stats.low),
                    *high = ns_text(one->stats.high);
    g_string_append_printf(
        out, "  %s: {value: %s, from: measured, by: \"calibrate machine, %u samples: %s\", low: %s, high: %s}\n", key,
        value, one->stats.n, one->what, low, high);
    return;
  }
  CostSource source = scenario_cost_source(start, id);
  if (!strcmp(source.from, "unset")) return;
  g_autofree char *value = fit_cost_text(costs->ps[id]), *by = g_strdup(source.by);
  g_strdelimit(by, "\"\\", '\'');
  g_string_append_printf(out, "  %s: {value: %s, from: assumed, by: \"%s: %s\"}\n", key, value,
                         scenario_word(start, "machine.profile"), by);
}

void machine_profile(const Machine *m, const Scenario *start, const char *name, const char *command, GString *out) {
  Costs costs;
  scenario_costs(start, &costs);
  g_string_append_printf(out, "# Made by `%s`\n", command);
  head(m, "# ", out);
  g_string_append(out, "#\n");
  rows(m, "# ", out);
  g_string_append_printf(out,
                         "# What is not measured is profile %s's.\nprofile: %s\nabout: \"Measured on %s, %d cores.\"\n",
                         scenario_word(start, "machine.profile"), name, m->cpu, m->cores);
  const char *section = "";
  for (CostId id = 0; id < COST_COUNT; id++) {
    g_autoptr(GString) line = g_string_new(NULL);
    gsize n = (gsize)(strchr(cost_info[id].key, '.') - cost_info[id].key);
    entry(m, start, &costs, id, line);
    if (!line->len) continue;
    if (strncmp(section, cost_info[id].key, n + 1) != 0)
      g_string_append_printf(out, "%.*s:\n", (int)n, section = cost_info[id].key);
    g_string_append(out, line->str);
  }
}
