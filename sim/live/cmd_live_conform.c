/* cmd_live_conform.c - stampede live --conform: the preset and the binary on every bundled scenario of poolers, or on
 * those that are named. */
#include "sim/live/cmd_live_parts.h"
#include "sim/live/conform.h"
#include "sim/metrics.h"
#include "sim/scenario/assets.h"
#include <string.h>

enum { MS = 1000000 };
/* Both start their clockwork with the run (tick_steady), but libevent waits whole milliseconds. */
static const int64_t most_apart_ns = MS;

static double queries_of(const Scenario *s) {
  GError *error = NULL;
  PoolerBinding *b = scenario_bind_pooler(s, NULL, &error);
  g_clear_error(&error);
  if (!b) return 0;
  const Workload *w = &pooler_binding_config(b)->work;
  double all = 0;
  for (int i = 0; i < w->n_clients; i++) {
    double times = 1;
    const Script *script = w->clients[i].script;
    for (int k = 0; k < script->n_ops; k++)
      if (script->ops[k].code == OP_LOOP) times *= MAX(script->ops[k].times, 1);
    all += times * MAX(w->clients[i].count, 1);
  }
  pooler_binding_free(b);
  return all;
}

typedef struct {
  const App *app;
  const CliOptions *cli;
  const LiveOptions *live;
  const char *preset;
  const AdapterAbout *about;
  bool chosen; /* by name: however long it takes */
  GArray *all; /* of Conformed */
} Table;

static bool one(const Table *t, const char *name, GError **error) {
  enum { QUERIES_MOST = 100000 };
  g_autoptr(Scenario) s = cli_scenario(t->app, name, t->cli, error);
  if (!s) return false;
  if (!scenario_has_pooler(s) || !scenario_given(s, "pooler")) return true; /* no pooler between */
  Conformed c;
  double queries = queries_of(s);
  if (!t->chosen && queries > QUERIES_MOST) {
    c = (Conformed){.scenario = g_strdup(scenario_name(s)), .verdict = CONFORM_NOT_DRIVEN};
    c.why = g_strdup_printf("%.0f queries, which take minutes, unless it is asked for by name", queries);
  } else {
    ScenarioOptions with = {.dirs = t->app->dirs, .checks = t->app->check_names, .metrics = metric_patterns()};
    c = conform(s, t->preset, t->about, t->live, &with, most_apart_ns);
  }
  g_array_append_val(t->all, c);
  return true; /* cppcheck-suppress memleak ; the array has it */
}

static bool every(Table *t, char **names, GError **error) {
  for (char **name = names; *name; name++)
    if (!one(t, *name, error)) return false;
  if (*names) return true;
  g_autoptr(GPtrArray) files = asset_list(t->app->dirs, "scenarios");
  for (guint i = 0; i < files->len && !cli_is_interrupted(); i++)
    if (!one(t, ((const Asset *)files->pdata[i])->name, error)) return false;
  return true;
}

/* ---- out ---- */

static guint count(const Table *t, ConformVerdict v) {
  guint n = 0;
  for (guint i = 0; i < t->all->len; i++) n += g_array_index(t->all, Conformed, i).verdict == v;
  return n;
}

static char *note(const Conformed *c) {
  const char *comma = c->but ? "; " : "", *but = c->but ? c->but : "";
  if (c->why) return g_strconcat(c->why, comma, but, NULL);
  if (c->late_ns == 0) return g_strdup_printf("%u events, each at the same instant%s%s", c->events, comma, but);
  return g_strdup_printf("%u events, at most %.3g ms apart%s%s", c->events, (double)c->late_ns / 1e6, comma, but);
}

static void append_totals(const Table *t, GString *out) {
  g_string_append_printf(out, "%u agree, %u differ, %u are not driven", count(t, CONFORM_AGREES),
                         count(t, CONFORM_DIFFERS), count(t, CONFORM_NOT_DRIVEN));
  if (count(t, CONFORM_FAILED)) g_string_append_printf(out, ", %u failed", count(t, CONFORM_FAILED));
  g_string_append_c(out, '\n');
}

static void text(const Table *t, GString *out) {
  for (guint i = 0; i < t->all->len; i++) {
    const Conformed *c = &g_array_index(t->all, Conformed, i);
    g_autofree char *why = note(c);
    g_string_append_printf(out, "  %-32s %-10s  %s\n", c->scenario, conform_word(c->verdict), why);
  }
  g_string_append_c(out, '\n');
  append_totals(t, out);
}

static void markdown(const Table *t, GString *out) {
  g_autofree char *base = g_path_get_basename(t->live->program);
  g_string_append_printf(out,
                         "# The preset %s and the program %s on every bundled scenario\n\n"
                         "Made by `make conform`. Compared on the wire, lane by lane; hidden steps are free. ",
                         t->preset, base);
  append_totals(t, out);
  g_string_append(out, "\n| scenario | | |\n| --- | --- | --- |\n");
  for (guint i = 0; i < t->all->len; i++) {
    const Conformed *c = &g_array_index(t->all, Conformed, i);
    g_autofree char *why = note(c);
    g_string_append_printf(out, "| %s | %s | %s |\n", c->scenario, conform_word(c->verdict), why);
  }
}

static void json(Output *o, const void *data) {
  const Table *t = data;
  output_str(o, "{\n  \"command\": \"live --conform\",\n");
  report_json_text(o, "preset", t->preset);
  output_str(o, "  \"scenarios\": [");
  for (guint i = 0; i < t->all->len; i++) {
    const Conformed *c = &g_array_index(t->all, Conformed, i);
    output_str(o, i ? ",\n    {" : "\n    {");
    output_key(o, "name");
    output_string(o, c->scenario);
    output_str(o, ", ");
    output_key(o, "verdict");
    output_string(o, conform_word(c->verdict));
    output_str(o, ", ");
    output_key(o, "why");
    output_nullable(o, c->why);
    output_str(o, ", ");
    output_key(o, "but");
    output_nullable(o, c->but);
    output_str(o, ", ");
    output_key(o, "events");
    output_uint(o, c->events);
    output_str(o, ", ");
    output_key(o, "apart_ns");
    output_int(o, c->late_ns);
    output_str(o, "}");
  }
  output_str(o, "\n  ]\n}\n");
}

static int print(const Table *t, bool as_markdown) {
  if (t->cli->json) return cli_write("-", json, t);
  if (t->cli->quiet) return EXIT_MET;
  g_autoptr(GString) out = g_string_new(NULL);
  if (as_markdown)
    markdown(t, out);
  else
    text(t, out);
  return cli_print(out->str);
}

int live_conform(const App *app, char **names, const LiveOptions *o, const LiveFlags *f, const CliOptions *cli) {
  GError *error = NULL;
  g_autofree char *adapter = o->adapter ? g_strdup(o->adapter) : adapter_for(o->program);
  g_autoptr(AdapterAbout) about = adapter_about(o->dirs, adapter, &error);
  if (!about) return live_fail(error);
  const char *preset = f->preset ? f->preset : adapter_preset(about);
  if (!preset) return cli_refuse(EXIT_INPUT, "--conform: the adapter %s names no preset; --preset does", adapter);
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Conformed));
  g_array_set_clear_func(all, conformed_clear);
  Table t = {app, cli, o, preset, about, names[0] != NULL, all};
  if (!every(&t, names, &error)) return live_fail(error);
  int status = print(&t, f->markdown);
  if (status != EXIT_MET) return status;
  if (cli_is_interrupted()) return EXIT_INTERRUPTED;
  if (count(&t, CONFORM_FAILED)) return EXIT_ENVIRONMENT;
  return count(&t, CONFORM_DIFFERS) ? EXIT_UNMET : EXIT_MET;
}
