/* cmd_viz.c - `stampede viz`. */
#include "viz/cmd_viz.h"
#include "checks/check_run.h"
#include "traces/export.h"
#include "viz/flame.h"
#include "viz/memory.h"
#include "viz/space.h"
#include "viz/sequence.h"
#include "viz/states.h"
#include "viz/sweep_plot.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { STATES_STEPS_MAX = 200, SPOOL_BYTES = 1 << 16 };

typedef enum { VIEW_STATES, VIEW_MEMORY, VIEW_PLOT, VIEW_SEQUENCE, VIEW_FLAME, VIEW_TIMELINE, VIEW_COUNT } View;

#define BIT(format) (1u << (format))
#define PICTURES    (BIT(FORMAT_SVG) | BIT(FORMAT_PNG) | BIT(FORMAT_PDF))

static const struct {
  const char *name;
  guint formats; /* bits */
  const char *formats_text;
  bool of_folder;
} views[VIEW_COUNT] = {
    [VIEW_STATES] = {"states", PICTURES | BIT(FORMAT_DOT), "svg, png, pdf or dot", false},
    [VIEW_MEMORY] = {"memory", PICTURES, "svg, png or pdf", false},
    [VIEW_PLOT] = {"plot", PICTURES, "svg, png or pdf", true},
    [VIEW_SEQUENCE] = {"sequence", PICTURES | BIT(FORMAT_DOT) | BIT(FORMAT_MERMAID), "svg, png, pdf, dot or mermaid",
                       false},
    [VIEW_FLAME] = {"flame", PICTURES, "svg, png or pdf", false},
    [VIEW_TIMELINE] = {"timeline", BIT(FORMAT_PERFETTO), "perfetto", false},
};
static const char *const suffixes[FORMAT_COUNT] = {"svg", "png", "pdf", "dot", "mmd", "json"};

typedef struct {
  char *view_word, *format_word, *weight_word, *out;
  char **metrics;
  int steps;       /* 0: as the view likes */
  gint64 from, to; /* -1: not said */
  const char *input;
  char *spooled; /* the file that holds what stdin said; NULL */
  View view;
  VizFormat format;
  FlameWeight weight;
} Request;

#define REFUSE(...) (cli_refuse(EXIT_INPUT, __VA_ARGS__), false)

static int fail(GError *e) {
  if (e->domain != VIZ_ERROR) return cli_fail(e);
  int status = cli_refuse(e->code == VIZ_ERROR_TOOL ? EXIT_ENVIRONMENT : EXIT_INPUT, "%s", e->message);
  g_error_free(e);
  return status;
}

static const char about[] =
    "Draws a trace or a result (- is stdin), or the folder of a sweep (DIR, as given to sweep --out).\n"
    "  plot    DIR: curves on logarithmic axes, with exponents and the published series\n"
    "  states  TRACE: the state step by step up to the violated check, changes marked\n"
    "  sequence  TRACE: who says what to whom, participants as columns; also as Mermaid text\n"
    "  memory  TRACE: which pages of the PGPROC array each connect maps: its faults, and what they map around\n"
    "  flame   RESULT, of run --json: time, faults or stores by call chain, source line and structure\n"
    "Formats: svg, png, pdf; dot of states and sequence; mermaid, a sequence diagram;\n"
    "perfetto, a timeline for ui.perfetto.dev (neither needs --view).";

static bool parse(Request *r, int argc, char ***args) {
  const GOptionEntry entries[] = {
      {"view", 0, 0, G_OPTION_ARG_STRING, &r->view_word,
       "plot, states, sequence, memory or flame (plot for DIR, states for TRACE)", "VIEW"},
      {"format", 0, 0, G_OPTION_ARG_STRING, &r->format_word,
       "svg, png, pdf, dot, mermaid or perfetto (as FILE ends, else svg)", "FORMAT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &r->out, "the file to write, - for stdout (VIEW.FORMAT)", "FILE"},
      {"weight", 0, 0, G_OPTION_ARG_STRING, &r->weight_word, "flame: what widths tell: ns, faults or stores (ns)",
       "WHAT"},
      {"metric", 0, 0, G_OPTION_ARG_STRING_ARRAY, &r->metrics, "plot: draw only this metric; may be repeated", "NAME"},
      {"steps", 0, 0, G_OPTION_ARG_INT, &r->steps, "states, sequence: how many steps to show (15, 100)", "N"},
      {"from", 0, 0, G_OPTION_ARG_INT64, &r->from, "states, sequence: the first step to show", "STEP"},
      {"to", 0, 0, G_OPTION_ARG_INT64, &r->to, "states, sequence: the last one (that which broke a check)", "STEP"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new("TRACE|RESULT|DIR");
  g_option_context_set_summary(context, about);
  g_option_context_add_main_entries(context, entries, NULL);
  g_set_prgname("stampede viz");
  g_autoptr(GError) why = NULL;
  if (!g_option_context_parse_strv(context, args, &why)) return REFUSE("%s; see stampede viz --help", why->message);
  (void)argc;
  if (g_strv_length(*args) != 2)
    return REFUSE(
        "usage: stampede viz TRACE|RESULT|DIR [--view VIEW] [--format FORMAT] [-o FILE]; see stampede viz --help");
  r->input = (*args)[1];
  return true;
}

/* "svg" of "out/states.svg"; NULL: an ending that says nothing. */
static const char *format_of_file(const char *path) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  for (guint f = 0; dot && f < FORMAT_COUNT; f++)
    if (f != FORMAT_PERFETTO && strcmp(dot + 1, suffixes[f]) == 0) return viz_format_word((VizFormat)f);
  return NULL;
}

static bool choose_format(Request *r) {
  const char *word = r->format_word ? r->format_word : format_of_file(r->out);
  r->format = FORMAT_SVG;
  if (word && !viz_format_parse(word, &r->format))
    return REFUSE("unknown format \"%s\"; there are svg, png, pdf, dot, mermaid and perfetto", word);
  return true;
}

static bool choose_view(Request *r) {
  bool folder = g_file_test(r->input, G_FILE_TEST_IS_DIR);
  r->view = folder ? VIEW_PLOT : VIEW_STATES;
  if (!folder && r->format == FORMAT_MERMAID) r->view = VIEW_SEQUENCE;
  if (!folder && r->format == FORMAT_PERFETTO) r->view = VIEW_TIMELINE;
  if (!r->view_word) return true;
  guint v = 0;
  while (v < VIEW_TIMELINE && strcmp(r->view_word, views[v].name) != 0) v++;
  if (v == VIEW_TIMELINE)
    return REFUSE("unknown view \"%s\"; there are plot, states, sequence, memory and flame", r->view_word);
  r->view = (View)v;
  return true;
}

static bool choose_weight(Request *r) {
  if (!r->weight_word || flame_weight_parse(r->weight_word, &r->weight)) return true;
  return REFUSE("unknown weight \"%s\"; there are ns, faults and stores", r->weight_word);
}

static bool check_steps(const Request *r) {
  bool chosen = r->steps || r->from >= 0 || r->to >= 0;
  guint most = r->view == VIEW_STATES ? STATES_STEPS_MAX : SEQUENCE_STEPS_MAX;
  if (r->from < -1 || r->to < -1 || r->steps < 0) return REFUSE("--steps, --from and --to take no negative number");
  if (chosen && r->view != VIEW_STATES && r->view != VIEW_SEQUENCE)
    return REFUSE("--steps, --from and --to are for --view states and sequence");
  if (r->steps && r->from >= 0 && r->to >= 0) return REFUSE("--from and --to say already how many steps");
  if (r->steps > (int)most) return REFUSE("--steps takes 1 to %u", most);
  return true;
}

static bool check(const Request *r) {
  bool folder = g_file_test(r->input, G_FILE_TEST_IS_DIR);
  const char *name = views[r->view].name;
  if (!g_file_test(r->input, G_FILE_TEST_EXISTS)) return REFUSE("%s: there is no such file or folder", r->input);
  if (folder && !views[r->view].of_folder) return REFUSE("--view %s draws a trace, and %s is a folder", name, r->input);
  if (!folder && views[r->view].of_folder)
    return REFUSE("--view plot draws the folder of a sweep, and %s is a file", r->input);
  if (!(views[r->view].formats & BIT(r->format)))
    return REFUSE("--view %s has no format %s; it has %s", name, viz_format_word(r->format),
                  views[r->view].formats_text);
  if (r->metrics && r->view != VIEW_PLOT) return REFUSE("--metric is for --view plot");
  if (r->weight_word && r->view != VIEW_FLAME) return REFUSE("--weight is for --view flame");
  return check_steps(r);
}

/* A picture takes two looks at a trace; one from stdin is kept in a file for that. NULL and *error. */
static char *spool(GError **error) {
  g_autofree char *path = NULL, *buffer = g_malloc(SPOOL_BYTES);
  int fd = g_file_open_tmp("stampede-trace-XXXXXX", &path, error);
  if (fd < 0) return NULL;
  ssize_t n;
  bool ok = true;
  while (ok && (n = read(STDIN_FILENO, buffer, SPOOL_BYTES)) > 0) ok = write(fd, buffer, (size_t)n) == n;
  ok = close(fd) == 0 && ok && n == 0;
  if (ok) return g_steal_pointer(&path);
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_TOOL, "-: cannot keep what stdin says in %s: %s", path, g_strerror(errno));
  remove(path);
  return NULL;
}

static SpanWish wish(const Request *r) {
  bool states = r->view == VIEW_STATES;
  guint usual = states ? STATES_STEPS : r->format == FORMAT_MERMAID ? SEQUENCE_STEPS_MAX : SEQUENCE_STEPS;
  return (SpanWish){.from = r->from,
                    .to = r->to,
                    .last = r->steps ? (guint)r->steps : usual,
                    .most = states ? STATES_STEPS_MAX : SEQUENCE_STEPS_MAX};
}

static bool timeline(const Request *r, GError **error) {
  g_autoptr(TraceReader) reader = trace_reader_open(r->input, error);
  return reader && trace_export_perfetto(reader, r->out, NULL, error);
}

static bool sequence(const Request *r, GError **error) {
  SpanWish w = wish(r);
  if (r->format != FORMAT_MERMAID) return viz_sequence(r->input, &w, r->out, r->format, error);
  g_autoptr(Chart) c = chart_read(r->input, &w, error);
  return c && trace_export_mermaid(c, r->out, error);
}

static bool states(const Request *r, GError **error) {
  SpanWish w = wish(r);
  return viz_states(r->input, &w, r->out, r->format, error);
}

static bool draw(const Request *r, GError **error) {
  switch (r->view) {
  case VIEW_STATES: return states(r, error);
  case VIEW_SEQUENCE: return sequence(r, error);
  case VIEW_MEMORY: return viz_memory(r->input, r->out, r->format, error);
  case VIEW_FLAME: return viz_flame(r->input, r->weight, r->out, r->format, error);
  case VIEW_PLOT: return viz_plot_sweep(r->input, (const char *const *)r->metrics, r->out, r->format, error);
  default: return timeline(r, error);
  }
}

static int run(Request *r) {
  GError *error = NULL;
  if (strcmp(r->input, "-") == 0 && !(r->input = r->spooled = spool(&error))) return fail(error);
  if (!choose_format(r) || !choose_view(r) || !choose_weight(r) || !check(r)) return EXIT_INPUT;
  if (!r->out) r->out = g_strdup_printf("%s.%s", views[r->view].name, suffixes[r->format]);
  if (!draw(r, &error)) return fail(error);
  if (!output_is_stdout(r->out)) printf("wrote %s\n", r->out);
  return EXIT_MET;
}

int viz_draw_space(const void *app, const Scenario *s, const char *path) {
  const char *word = format_of_file(path);
  VizFormat format = FORMAT_SVG;
  if (word && (!viz_format_parse(word, &format) || !(BIT(format) & (PICTURES | BIT(FORMAT_DOT)))))
    return cli_refuse(EXIT_INPUT, "--view space has no format %s; it has svg, png, pdf or dot", word);
  GError *error = NULL;
  g_autoptr(RunResult) r = check_run_begin(app, s, &error);
  if (!r) return fail(error);
  g_autoptr(GPtrArray) checks = check_run_judged(r);
  StepperConfig config = {0};
  walk_config(s, &config);
  g_autoptr(Space) space =
      space_explore(&config, (const Check *const *)checks->pdata, checks->len, SPACE_STATES_MAX, &error);
  if (!space || !viz_space(space, scenario_name(s), path, format, &error)) return fail(error);
  return EXIT_MET;
}

int cmd_viz(const App *app, int argc, char **argv) {
  (void)app;
  Request r = {.from = -1, .to = -1};
  g_auto(GStrv) args = g_new0(char *, (gsize)argc + 1);
  for (int i = 0; i < argc; i++) args[i] = g_strdup(argv[i]);
  int status = parse(&r, argc, &args) ? run(&r) : EXIT_INPUT;
  if (r.spooled) remove(r.spooled);
  g_free(r.spooled);
  g_free(r.view_word);
  g_free(r.format_word);
  g_free(r.weight_word);
  g_free(r.out);
  g_strfreev(r.metrics);
  return status;
}
