/* build.c - see build.h. Everything is made in a folder of its own under the temporary one, and goes with it. */
#include "sim/subject/build.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/traps.h"
#include "sim/subject/flags.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

/* Instrumentation without its runtime; mem* as calls, so that they can be renamed to ours. */
static const char *const instrument[] = {"-fsanitize=thread",   "--param=tsan-instrument-func-entry-exit=0",
                                         "-fno-builtin-memset", "-fno-builtin-memmove",
                                         "-fno-builtin-memcpy", "-fno-builtin-memcmp",
                                         "-Wno-tsan",           NULL};
static const char *const always[] = {"-O2", "-g", "-fPIC", "-w", NULL};
/* Calls of the sources that are ours instead. */
static const char *const renamed[] = {"memmove", "memcpy", "memset", "memcmp", "getpid", "kill", "malloc", "free"};

typedef struct {
  const Manifest *m;
  const BuildOptions *o;
  BuildReport *report;
  char *folder, *tree, *build, *compiler;
  GStrv flags; /* of the tree's build */
  GPtrArray *objects, *glue;
} Build;

static bool wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, text);
  return false;
}

void build_report_free(BuildReport *r) {
  if (!r) return;
  g_free(r->flags_from);
  g_strfreev(r->modelled);
  g_strfreev(r->traps);
  g_strfreev(r->assembly);
  g_free(r);
}

/* ---- commands ---- */

static void add_all(GPtrArray *words, const char *const *more) {
  for (guint i = 0; more && more[i]; i++) g_ptr_array_add(words, g_strdup(more[i]));
}
static void add_word(GPtrArray *words, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_word(GPtrArray *words, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(words, g_strdup_vprintf(format, args));
  va_end(args);
}

/* What it says on stderr goes to ours. */
static bool command(GPtrArray *words, const char *what, GError **error) {
  g_autoptr(GError) problem = NULL;
  int status = 0;
  g_ptr_array_add(words, NULL);
  bool ran =
      g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, &problem);
  if (!ran) return wrong(error, "%s: %s", (const char *)words->pdata[0], problem->message);
  return g_spawn_check_wait_status(status, NULL) || wrong(error, "%s", what);
}

/* ---- the tree ---- */

/* A path of the tree, or of the build directory where it is not there. NULL: in neither. */
static char *find(const Build *b, const char *path) {
  char *in_tree = g_build_filename(b->tree, path, NULL);
  if (g_file_test(in_tree, G_FILE_TEST_EXISTS)) return in_tree;
  g_free(in_tree);
  char *in_build = g_build_filename(b->build, path, NULL);
  if (g_file_test(in_build, G_FILE_TEST_EXISTS)) return in_build;
  g_free(in_build);
  return NULL;
}

static bool tree_is_right(const Build *b, GError **error) {
  if (!g_file_test(b->tree, G_FILE_TEST_IS_DIR)) return wrong(error, "--tree %s: no such directory", b->o->tree);
  if (!g_file_test(b->build, G_FILE_TEST_IS_DIR)) return wrong(error, "--build %s: no such directory", b->o->build);
  for (guint i = 0; b->m->sources[i]; i++) {
    g_autofree char *found = find(b, b->m->sources[i]);
    if (!found)
      return wrong(error, "--tree %s: not a tree of %s: there is no %s", b->o->tree, b->m->about, b->m->sources[i]);
  }
  for (guint i = 0; i < b->m->needs->len; i++) {
    const ManifestNeed *n = &g_array_index(b->m->needs, ManifestNeed, i);
    g_autofree char *found = find(b, n->file);
    if (!found)
      return wrong(error, "%s: %s is missing; this makes it: cd %s && %s", b->o->tree, n->file, b->o->tree,
                   n->by ? n->by : "(the manifest does not say)");
  }
  return true;
}

/* ---- compiling ---- */

static void add_includes(const Build *b, GPtrArray *words) {
  for (guint i = 0; b->m->includes[i]; i++) {
    if (strcmp(b->build, b->tree) != 0) add_word(words, "-I%s/%s", b->build, b->m->includes[i]);
    add_word(words, "-I%s/%s", b->tree, b->m->includes[i]);
  }
}

static GPtrArray *compile_words(const Build *b, bool source) {
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  add_word(words, "%s", b->compiler);
  add_all(words, (const char *const *)b->m->flags);
  add_all(words, (const char *const *)b->flags);
  add_all(words, always);
  if (source) add_all(words, instrument);
  if (source && b->m->overlay) add_word(words, "-I%s/%s", b->m->folder, b->m->overlay);
  if (!source) add_word(words, "-I%s", b->folder);
  add_word(words, "-I%s", b->o->include);
  add_includes(b, words);
  return words;
}

static char *object_for(const Build *b, const char *kind, guint i, const char *suffix) {
  return g_strdup_printf("%s/%s%u%s", b->folder, kind, i, suffix);
}

static bool compile(Build *b, const char *path, bool source, guint i, GError **error) {
  g_autoptr(GPtrArray) words = compile_words(b, source);
  char *object = object_for(b, source ? "source" : "glue", i, ".o");
  g_ptr_array_add(source ? b->objects : b->glue, object);
  add_word(words, "-c");
  add_word(words, "%s", path);
  add_word(words, "-o");
  add_word(words, "%s", object);
  g_autofree char *what = g_strdup_printf("%s does not compile; the compiler's words are above", path);
  return command(words, what, error);
}

static bool compile_sources(Build *b, GError **error) {
  for (guint i = 0; b->m->sources[i]; i++) {
    g_autofree char *path = find(b, b->m->sources[i]);
    if (!compile(b, path, true, i, error)) return false;
  }
  g_ptr_array_add(b->objects, NULL);
  return true;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* NEED_x: the sources use x and do not define it; HAS_x: they define it. */
static bool write_needs(const Build *b, const Symbols *s, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *path = g_build_filename(b->folder, "needs.h", NULL);
  guint n_defined;
  g_autofree gpointer *defined = g_hash_table_get_keys_as_array(s->defined, &n_defined);
  qsort(defined, n_defined, sizeof *defined, by_text);
  for (guint i = 0; i < s->needed->len; i++)
    g_string_append_printf(text, "#define NEED_%s 1\n", ((const NeededSymbol *)s->needed->pdata[i])->name);
  for (guint i = 0; i < n_defined; i++) g_string_append_printf(text, "#define HAS_%s 1\n", (const char *)defined[i]);
  return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

static bool compile_glue(Build *b, GError **error) {
  for (guint i = 0; b->m->glue[i]; i++) {
    g_autofree char *path = g_build_filename(b->m->folder, b->m->glue[i], NULL);
    if (!compile(b, path, false, i, error)) return false;
  }
  g_ptr_array_add(b->glue, NULL);
  return true;
}

static bool rename_calls(const Build *b, GError **error) {
  for (guint i = 0; i + 1 < b->objects->len; i++) {
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    add_word(words, "objcopy");
    for (guint k = 0; k < G_N_ELEMENTS(renamed); k++)
      add_word(words, "--redefine-sym=%s=stm_%s", renamed[k], renamed[k]);
    add_word(words, "%s", (const char *)b->objects->pdata[i]);
    if (!command(words, "objcopy failed", error)) return false;
  }
  return true;
}

/* ---- linking ---- */

static GPtrArray *all_objects(const Build *b, const char *more) {
  GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i + 1 < b->objects->len; i++) g_ptr_array_add(all, g_strdup(b->objects->pdata[i]));
  for (guint i = 0; i + 1 < b->glue->len; i++) g_ptr_array_add(all, g_strdup(b->glue->pdata[i]));
  if (more) g_ptr_array_add(all, g_strdup(more));
  return all;
}

/* Its own symbols are bound within it: the program has some of the same names. */
static bool link_to(const Build *b, const char *more, const char *output, GError **error) {
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free), all = all_objects(b, more);
  static const char *const options[] = {"-shared", "-g", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-Bsymbolic", "-o", NULL};
  add_word(words, "%s", b->compiler);
  add_all(words, options);
  add_word(words, "%s", output);
  for (guint i = 0; i < all->len; i++) add_word(words, "%s", (const char *)all->pdata[i]);
  return command(words, "the subject does not link; the linker's words are above", error);
}

static bool make_traps(Build *b, char **object, GError **error) {
  g_autofree char *open = object_for(b, "open", 0, ".so"), *source = object_for(b, "traps", 0, ".c");
  g_autoptr(GPtrArray) all = all_objects(b, NULL), trapped = g_ptr_array_new();
  if (!link_to(b, NULL, open, error)) return false;
  g_ptr_array_add(all, NULL);
  g_autoptr(Symbols) s = symbols_of((const char *const *)all->pdata, error);
  g_autofree char *text = s ? traps_text(s, open, trapped) : NULL;
  if (!text || !g_file_set_contents(source, text, -1, error)) return false;
  g_ptr_array_add(trapped, NULL);
  b->report->traps = (GStrv)g_ptr_array_free(g_steal_pointer(&trapped), FALSE);
  *object = object_for(b, "traps", 0, ".o");
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
  add_word(words, "%s", b->compiler);
  add_all(words, always);
  static const char *const options[] = {"-fno-builtin", "-c", NULL};
  add_all(words, options);
  add_word(words, "%s", source);
  add_word(words, "-o");
  add_word(words, "%s", *object);
  return command(words, "traps do not compile", error);
}

static void tell_modelled(Build *b, const Symbols *sources, const Symbols *glue) {
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < sources->needed->len; i++) {
    const NeededSymbol *n = sources->needed->pdata[i];
    if (g_hash_table_contains(glue->defined, n->name)) g_strv_builder_add(names, n->name);
  }
  b->report->modelled = g_strv_builder_end(names);
}

/* Beside its place, then renamed. */
static bool put_output(const Build *b, const char *made, GError **error) {
  g_autofree char *aside = g_strdup_printf("%s.new", b->o->output);
  g_autoptr(GFile) from = g_file_new_for_path(made);
  g_autoptr(GFile) to = g_file_new_for_path(aside);
  g_autoptr(GError) problem = NULL;
  if (g_file_copy(from, to, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, &problem) && g_rename(aside, b->o->output) == 0)
    return true;
  g_unlink(aside);
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: cannot be written: %s", b->o->output,
              problem ? problem->message : g_strerror(errno));
  return false;
}

static bool make(Build *b, GError **error) {
  g_autofree char *traps = NULL, *linked = object_for(b, "subject", 0, ".so");
  if (!tree_is_right(b, error)) return false;
  b->flags = flags_of_build(b->build, b->m->sources[0], &b->report->flags_from);
  if (!compile_sources(b, error)) return false;
  g_autoptr(Symbols) sources = symbols_of((const char *const *)b->objects->pdata, error);
  if (!sources || !write_needs(b, sources, error) || !compile_glue(b, error)) return false;
  g_autoptr(Symbols) glue = symbols_of((const char *const *)b->glue->pdata, error);
  if (!glue) return false;
  tell_modelled(b, sources, glue);
  return rename_calls(b, error) && make_traps(b, &traps, error) && link_to(b, traps, linked, error) &&
         put_output(b, linked, error);
}

/* ---- the folder ---- */

static void remove_folder(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
}

BuildReport *subject_build(const Manifest *m, const BuildOptions *o, GError **error) {
  g_autoptr(BuildReport) report = g_new0(BuildReport, 1);
  const char *cc = o->compiler ? o->compiler : g_getenv("CC");
  Build b = {.m = m, .o = o, .report = report, .compiler = g_strdup(cc && cc[0] ? cc : "cc")};
  b.folder = g_dir_make_tmp("stampede-subject-XXXXXX", error);
  if (!b.folder) return g_free(b.compiler), NULL;
  b.tree = g_canonicalize_filename(o->tree, NULL);
  b.build = g_canonicalize_filename(o->build ? o->build : o->tree, NULL);
  b.objects = g_ptr_array_new_with_free_func(g_free);
  b.glue = g_ptr_array_new_with_free_func(g_free);
  bool made = make(&b, error);
  remove_folder(b.folder);
  g_ptr_array_unref(b.objects);
  g_ptr_array_unref(b.glue);
  g_strfreev(b.flags);
  char *texts[] = {b.folder, b.tree, b.build, b.compiler};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  return made ? g_steal_pointer(&report) : NULL;
}
