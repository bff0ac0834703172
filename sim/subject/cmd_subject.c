/* cmd_subject.c - see cmd_subject.h. */
#include "sim/subject/cmd_subject.h"
#include "sim/scenario/assets.h"
#include "sim/subject/build.h"
#include "sim/subject/child.h"
#include "sim/subject/info.h"
#include <gio/gio.h>
#include <string.h>

typedef struct {
  char *tree, *build, *manifest, *output;
  char **structs;
  gboolean all, json;
  const char *file; /* info */
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

static int interrupted_build(GError *error) {
  g_error_free(error);
  return cli_refuse(EXIT_INTERRUPTED, "interrupted; nothing was built");
}

static int build(const App *app, const SubjectOptions *o, bool quiet) {
  if (!o->tree && !o->manifest)
    return cli_refuse(EXIT_INPUT, "subject build: --tree DIR is needed, or --manifest FILE");
  if (!o->output) return cli_refuse(EXIT_INPUT, "subject build: -o FILE is needed");
  if (output_is_stdout(o->output)) return cli_refuse(EXIT_INPUT, "subject build: -o needs the name of a file");
  if (cli_writable(o->output) != EXIT_MET) return EXIT_ENVIRONMENT;
  g_autofree char *folder = subject_folder(app), *include = g_build_filename(folder, "include", NULL);
  g_autofree char *bundled = g_build_filename(folder, "postgres", "manifest.yaml", NULL);
  GError *error = NULL;
  g_autoptr(Manifest) m = manifest_read(o->manifest ? o->manifest : bundled, &error);
  if (!m) return cli_fail(error);
  BuildOptions options = {.tree = o->tree ? o->tree : m->folder,
                          .build = o->build,
                          .include = include,
                          .output = o->output,
                          .manifest = o->manifest,
                          .interrupted = cli_interrupted()};
  g_autoptr(BuildReport) r = subject_build(m, &options, &error);
  if (!r && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) return interrupted_build(error);
  if (!r) return cli_fail(error);
  if (quiet) return EXIT_MET;
  g_autoptr(GString) out = g_string_new(NULL);
  g_string_append_printf(out, "%s: %s\n", o->output, m->about);
  g_string_append_printf(out, "flags: %s\n", r->flags_from ? r->flags_from : "the manifest's alone");
  print_list(out, "called from outside", r->entries);
  print_list(out, "modelled", r->modelled);
  print_list(out, "traps", r->traps);
  print_list(out, "inline assembly that writes memory, unseen", r->assembly);
  return cli_print(out->str);
}

/* ---- info ---- */

typedef struct {
  const Image *image;
  InfoWish wish;
} Telling;

static void fill_info(Output *o, const void *data) {
  const Telling *t = data;
  info_json(t->image, &t->wish, o);
}

/* In a child: a shared object runs code when it is loaded. */
static int tell_info(void *data) {
  const SubjectOptions *o = data;
  GError *error = NULL;
  g_autoptr(Image) image = image_load(o->file, &error);
  Telling t = {image, {(const char *const *)o->structs, o->all}};
  if (!image || !info_check(image, &t.wish, &error)) return cli_fail(error);
  if (o->json) return cli_write("-", fill_info, &t);
  g_autoptr(GString) out = g_string_new(NULL);
  info_text(image, &t.wish, out);
  return cli_print(out->str);
}

static int info(SubjectOptions *o) {
  if (!o->file) return cli_refuse(EXIT_INPUT, "subject info: the subject is needed: stampede subject info FILE");
  return child_command(tell_info, o);
}

/* ---- new ---- */

static const struct {
  const char *template, *suffix;
} files[] = {{"subject.c", ".c"}, {"manifest.yaml", ".yaml"}, {"scenario.yaml", "-scenario.yaml"}};

/* A word of scenarios, and of file names. */
static bool is_name(const char *name) {
  if (!g_ascii_isalpha(*name) || strlen(name) > 60) return false;
  for (; *name; name++)
    if (!g_ascii_isalnum(*name) && *name != '-' && *name != '_') return false;
  return true;
}

static void fill(Output *out, const void *text) {
  output_str(out, text);
}

static int write_file(const char *folder, const char *name, guint i) {
  g_autofree char *from = g_build_filename(folder, "template", files[i].template, NULL), *text = NULL;
  g_autofree char *to = g_strconcat(name, files[i].suffix, NULL);
  GError *error = NULL;
  if (!g_file_get_contents(from, &text, NULL, &error)) return cli_fail(error);
  g_autoptr(GString) filled = g_string_new(text);
  g_string_replace(filled, "@NAME@", name, 0);
  return cli_write(to, fill, filled->str);
}

static int make_new(const App *app, const char *name, bool quiet) {
  g_autofree char *folder = subject_folder(app);
  if (!name) return cli_refuse(EXIT_INPUT, "subject new: NAME is needed");
  if (!is_name(name))
    return cli_refuse(EXIT_INPUT, "subject new %s: a name starts with a letter, and has letters, digits, - and _",
                      name);
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *to = g_strconcat(name, files[i].suffix, NULL);
    if (g_file_test(to, G_FILE_TEST_EXISTS)) return cli_refuse(EXIT_INPUT, "subject new: %s is there already", to);
  }
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    int status = write_file(folder, name, i);
    if (status != EXIT_MET) return status;
  }
  if (!quiet)
    printf("wrote %s.c, %s.yaml, %s-scenario.yaml; now\n"
           "  stampede subject build --manifest %s.yaml -o %s.so\n"
           "  stampede run %s-scenario.yaml\n"
           "  stampede check %s-scenario.yaml\n",
           name, name, name, name, name, name, name);
  return EXIT_MET;
}

static const char about[] =
    "Your own C code as the model: compiled so that each load and store of shared memory is seen, with its line.\n"
    "  build  a tree's sources into the subject FILE (-o); without --manifest procarray.c and proc.c of PostgreSQL\n"
    "  info FILE  what was found in it, sizes and offsets, what it was built from, what is modelled and what is not\n"
    "  new NAME   a subject, its manifest and a scenario to begin with\n"
    "Run it with run, sweep or compare: --subject FILE, or the scenario's key `subject`. $CC is the compiler.";

/* Common options that mean nothing here. */
static bool are_for_runs(const CliOptions *o, bool json) {
  if (!o->seed && !o->sets && !o->trace && !o->junit && (json || !o->json)) return false;
  cli_refuse(EXIT_INPUT, "subject takes no --seed, --set, --trace or --junit, and --json with info only");
  return true;
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
      {"struct", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.structs, "info: this struct's members; may be repeated", "NAME"},
      {"all", 0, 0, G_OPTION_ARG_NONE, &o.all, "info: every member, not those that matter", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left = cli_parse("subject", "build|info|new", about, &common, own, argc, argv, 1, 2);
  int status = EXIT_INPUT;
  if (left && are_for_runs(&common, strcmp(left[0], "info") == 0)) g_clear_pointer(&left, g_strfreev);
  if (left && strcmp(left[0], "build") == 0)
    status = build(app, &o, common.quiet);
  else if (left && strcmp(left[0], "info") == 0)
    o.file = left[1], o.json = common.json, status = info(&o);
  else if (left && strcmp(left[0], "new") == 0)
    status = make_new(app, left[1], common.quiet);
  else if (left)
    cli_refuse(EXIT_INPUT, "subject %s: no such kind; build, info or new would be right", left[0]);
  char *texts[] = {o.tree, o.build, o.manifest, o.output};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  g_strfreev(o.structs);
  cli_clear(&common);
  return status;
}
