/* confront_write.c - a confrontation as text, JSON and CSV. See confront.h. */
#include "sim/calibrate/confront.h"
#include "sim/result.h"

/* ---- text ---- */

static void head(const Confrontation *c, GString *out) {
  guint n = storm_iteration(c->real, 0)->backends->len;
  g_string_append_printf(out, "stampede %s  calibrate postgres  PostgreSQL %s  seed %" G_GUINT64_FORMAT "\n",
                         STAMPEDE_VERSION, c->version, c->seed);
  g_string_append_printf(out, "%u clients, %u iterations, exits %s, max_connections %d, pages of %s%s\n", n,
                         c->real->iterations->len, c->exit_order, c->facts.max_connections,
                         c->facts.page_size == 4096 ? "4 KiB" : "2 MiB",
                         c->huge_asked && c->facts.page_size == 4096 ? " (huge pages were asked for)" : "");
  g_string_append_printf(
      out, "PGPROC array at %" G_GINT64_FORMAT " of 65536%s; fault-around %" G_GUINT64_FORMAT " KiB%s\n",
      MAX(c->facts.phase, 0), c->phase_assumed ? " (assumed)" : ", read from the server", c->fault_around / 1024,
      c->fault_around_assumed ? " (Linux's default; not readable here)" : "");
  g_string_append_printf(
      out,
      "a backend alone: %" G_GINT64_FORMAT " faults, %" G_GINT64_FORMAT
      " KiB of page tables; of these %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " are simulated\n"
      "beside what is simulated, measured: the rest of these, and private pages that grow with a storm "
      "(%s%s%s)\n\n",
      c->real_alone.faults, c->real_alone.pagetable_kib, c->model_alone.faults, c->model_alone.pagetable_kib,
      c->beside ? "of another one: " : "of this one", c->beside ? c->beside->file : "",
      c->plain_malloc ? "; malloc without lists of freed pieces" : "");
}

static void cell(GString *out, double real, double model) {
  g_string_append_printf(out, " %9.1f %9.1f %+7.1f", real, model, model - real);
}

static void table(const Confrontation *c, GString *out) {
  g_string_append(out,
                  "           faults a backend            of them  last 50 - first 50           page tables, MiB   "
                  "          connecting, ms\n"
                  "iteration      real simulated     off  private       real simulated     off       real "
                  "simulated     off      real simulated\n");
  for (guint k = 0; k < c->real->iterations->len; k++) {
    StormFigures r = confront_figures(c, k, true), m = confront_figures(c, k, false);
    g_string_append_printf(out, "%9u", k + 1);
    cell(out, r.mean, m.mean);
    g_string_append_printf(out, " %+8.1f ", m.own_pages);
    cell(out, r.last - r.first, m.last - m.first);
    g_string_append(out, " ");
    cell(out, r.pagetable_kib / 1024, m.pagetable_kib / 1024);
    g_string_append_printf(out, " %9.1f %9.1f\n", r.connect_ms, m.connect_ms);
  }
  g_string_append_printf(
      out, "\nsimulated milliseconds are with the costs of profile %s, which is not of this machine\n", c->profile);
}

static void tenths(const Confrontation *c, GString *out) {
  if (!confront_figures(c, 0, true).tenths) return;
  g_string_append(out, "\nfaults a backend, by tenth of the connects\n");
  for (guint k = 0; k < c->real->iterations->len; k++)
    for (int real = 1; real >= 0; real--) {
      StormFigures f = confront_figures(c, k, real != 0);
      if (real)
        g_string_append_printf(out, "%9u  real     ", k + 1);
      else
        g_string_append(out, "           simulated");
      for (guint i = 0; i < STORM_TENTHS; i++) g_string_append_printf(out, " %7.1f", f.tenth[i]);
      g_string_append_c(out, '\n');
    }
}

static void verdicts(const GArray *all, GString *out) {
  g_string_append(out, "\n                                                  real  simulated    allowed\n");
  for (guint i = 0; i < all->len; i++) {
    const Agreement *a = &g_array_index(all, Agreement, i);
    g_string_append_printf(out, "%-40s %13.1f %10.1f %10.1f  %s\n", a->what, a->real, a->model, a->allowed,
                           a->agrees ? "agrees" : "DIFFERS");
  }
}

void confront_text(const Confrontation *c, const GArray *agreements, GString *out) {
  head(c, out);
  table(c, out);
  tenths(c, out);
  if (c->by_function)
    g_string_append_printf(out, "\nfaults of a backend by function (perf, five more that connect at the end)\n%s",
                           c->by_function->str);
  verdicts(agreements, out);
}

/* ---- JSON ---- */

static void member_double(Output *o, const char *key, double value, const char *end) {
  output_str(o, "    ");
  output_key(o, key);
  output_double(o, value);
  output_str(o, end);
}

static void figures(const Confrontation *c, bool real, Output *o) {
  ConfrontFigure f[CONFRONT_FIGURES];
  guint iterations = c->real->iterations->len;
  output_str(o, real ? "\"real\": {\n" : "\"model\": {\n");
  for (guint k = 0; k < iterations; k++)
    for (guint i = 0, n = confront_named(c, k, real, f); i < n; i++) {
      g_autofree char *key = g_strdup_printf("iteration[%u].%s", k + 1, f[i].name);
      member_double(o, key, f[i].value, k + 1 == iterations && i + 1 == n ? "\n" : ",\n");
    }
  output_str(o, "  },\n  ");
}

static void number(Output *o, const char *key, int64_t value) {
  output_key(o, key);
  output_int(o, value);
  output_str(o, ",\n  ");
}

static void alone(const Confrontation *c, Output *o) {
  const StormBackend *r = &c->real_alone, *m = &c->model_alone;
  output_str(o, "\"alone\": {\n");
  member_double(o, "real.faults", (double)r->faults, ",\n");
  member_double(o, "real.pagetable_kib", (double)r->pagetable_kib, ",\n");
  member_double(o, "real.own_pages", (double)r->own_pages, ",\n");
  member_double(o, "real.resident_kib", (double)r->resident_kib, ",\n");
  member_double(o, "model.faults", (double)m->faults, ",\n");
  member_double(o, "model.pagetable_kib", (double)m->pagetable_kib, "\n");
  output_str(o, "  },\n  ");
}

static void agreements_json(const GArray *all, Output *o) {
  output_str(o, "\"agreement\": [\n");
  for (guint i = 0; i < all->len; i++) {
    const Agreement *a = &g_array_index(all, Agreement, i);
    output_str(o, "    {\"what\": ");
    output_string(o, a->what);
    output_str(o, ", \"real\": ");
    output_double(o, a->real);
    output_str(o, ", \"model\": ");
    output_double(o, a->model);
    output_str(o, ", \"allowed\": ");
    output_double(o, a->allowed);
    output_str(o, a->agrees ? ", \"agrees\": true}" : ", \"agrees\": false}");
    output_str(o, i + 1 < all->len ? ",\n" : "\n");
  }
  output_str(o, "  ],\n  ");
}

/* Real: by iteration, in the order of connecting. What --beside reads. */
static void private_pages(const Confrontation *c, Output *o) {
  output_str(o, "\"private_pages\": [");
  for (guint k = 0; k < c->real->iterations->len; k++) {
    output_str(o, k ? ",\n    [" : "\n    [");
    for (guint i = 0; i < storm_iteration(c->real, k)->backends->len; i++) {
      if (i) output_str(o, ", ");
      output_int(o, confront_own(c, k, i));
    }
    output_str(o, "]");
  }
  output_str(o, "],\n  ");
}

void confront_json(const Confrontation *c, const GArray *agreements, Output *o) {
  output_str(o, "{\n  ");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", "calibrate postgres");
  report_json_text(o, "scenario", c->scenario);
  report_json_text(o, "server", c->version);
  number(o, "version", c->major);
  report_json_text(o, "profile", c->profile);
  number(o, "seed", (int64_t)c->seed);
  number(o, "clients", storm_iteration(c->real, 0)->backends->len);
  number(o, "iterations", c->real->iterations->len);
  number(o, "max_connections", c->facts.max_connections);
  report_json_text(o, "exit_order", c->exit_order);
  number(o, "page_size", (int64_t)c->facts.page_size);
  number(o, "fault_around", (int64_t)c->fault_around);
  number(o, "pgproc_phase", c->facts.phase);
  output_str(o, c->plain_malloc ? "\"plain_malloc\": true,\n  " : "\"plain_malloc\": false,\n  ");
  report_json_text(o, "beside", c->beside ? c->beside->file : NULL);
  alone(c, o);
  private_pages(c, o);
  figures(c, true, o);
  figures(c, false, o);
  agreements_json(agreements, o);
  report_json_text(o, "faults_by_function", c->by_function ? c->by_function->str : NULL);
  output_str(o, "\"measured\": {\"wall_ms\": ");
  output_double(o, c->wall_ms);
  output_str(o, "}\n}\n");
}

/* ---- CSV ---- */

void confront_csv(const Confrontation *c, Output *o) {
  int64_t beside = c->real_alone.faults - c->model_alone.faults;
  output_str(
      o, "iteration,connect,pid,real_faults,simulated_faults,private_pages,pagetable_kib,resident_kib,connect_ms\n");
  for (guint k = 0; k < c->real->iterations->len; k++) {
    const GArray *real = storm_iteration(c->real, k)->backends, *model = storm_iteration(c->model, k)->backends;
    for (guint i = 0; i < real->len; i++) {
      const StormBackend *r = &g_array_index(real, StormBackend, i), *m = &g_array_index(model, StormBackend, i);
      const int64_t row[] = {k + 1,
                             i + 1,
                             r->pid,
                             r->faults,
                             m->faults + beside + confront_added(c, k, i),
                             confront_own(c, k, i),
                             r->pagetable_kib,
                             r->resident_kib};
      for (guint j = 0; j < G_N_ELEMENTS(row); j++) {
        output_int(o, row[j]);
        output_str(o, ",");
      }
      output_double(o, r->connect_ms);
      output_str(o, "\n");
    }
  }
}
