/* cmd_subject.c - see cmd_subject.h. */
#include "sim/subject/cmd_subject.h"
#include "sim/scenario/assets.h"
#include "sim/subject/build.h"
#include "sim/subject/image.h"
#include <string.h>

typedef struct {
  char *tree, *build, *manifest, *output;
} SubjectOptions;

/* subject/ lies beside scenarios/. */
static char *subject_folder(const App *app) {
  for (guint i = 0; app->dirs[i]; i++) {
    char *path = g_build_filename(app->dirs[i], "subject", NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) return path;
    g_free(path);
  }
  return g_strdup("subject");
}

static void print_list(GString *out, const char *what, GStrv names) {
  g_string_append_printf(out, "%s: %u\n", what, g_strv_length(names));
  for (guint i = 0; names[i]; i++) g_string_append_printf(out, "  %s\n", names[i]);
}

static int build(const App *app, const SubjectOptions *o, bool quiet) {
  if (!o->tree) return cli_refuse(EXIT_INPUT, "subject build: --tree DIR is needed");
  if (!o->output) return cli_refuse(EXIT_INPUT, "subject build: -o FILE is needed");
  g_autofree char *folder = subject_folder(app), *include = g_build_filename(folder, "include", NULL);
  g_autofree char *bundled = g_build_filename(folder, "postgres", "manifest.yaml", NULL);
  GError *error = NULL;
  g_autoptr(Manifest) m = manifest_read(o->manifest ? o->manifest : bundled, &error);
  if (!m) return cli_fail(error);
  BuildOptions options = {.tree = o->tree, .build = o->build, .include = include, .output = o->output};
  g_autoptr(BuildReport) r = subject_build(m, &options, &error);
  if (!r) return cli_fail(error);
  if (quiet) return EXIT_MET;
  g_autoptr(GString) out = g_string_new(NULL);
  g_string_append_printf(out, "%s: %s\n", o->output, m->about);
  g_string_append_printf(out, "flags: %s\n", r->flags_from ? r->flags_from : "the manifest's alone");
  print_list(out, "modelled", r->modelled);
  print_list(out, "traps", r->traps);
  return cli_print(out->str);
}

int cmd_subject(const App *app, int argc, char **argv) {
  CliOptions common = {0};
  SubjectOptions o = {0};
  GOptionEntry own[] = {
      {"tree", 0, 0, G_OPTION_ARG_FILENAME, &o.tree, "the source tree, configured, with its generated headers", "DIR"},
      {"build", 0, 0, G_OPTION_ARG_FILENAME, &o.build, "its build directory, where that is another", "DIR"},
      {"manifest", 0, 0, G_OPTION_ARG_FILENAME, &o.manifest, "what to build (procarray.c and proc.c of PostgreSQL)",
       "FILE"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "the subject to write", "FILE"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left =
      cli_parse("subject", "build|info|new", "A user's C code as the model.", &common, own, argc, argv, 1, 2);
  int status = EXIT_INPUT;
  if (left && strcmp(left[0], "build") == 0)
    status = build(app, &o, common.quiet);
  else if (left)
    cli_refuse(EXIT_INPUT, "subject %s: no such kind; build, info or new would be right", left[0]);
  char *texts[] = {o.tree, o.build, o.manifest, o.output};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  cli_clear(&common);
  return status;
}
