/* build.c - see build.h. Everything is made in a folder of its own under the temporary one, and goes with it. */
#include "sim/subject/build_parts.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/commands.h"
#include "sim/subject/entries.h"
#include "sim/subject/flags.h"
#include "sim/subject/include/stampede_subject.h"
#include "sim/subject/origin.h"
#include "sim/subject/traps.h"
#include "traces/output.h"
#include <glib/gstdio.h>
#include <string.h>

/* Calls of the sources that are ours instead. */
static const char *const renamed[] = {"memmove",    "memcpy",  "memset",        "memcmp",           "getpid",
                                      "kill",       "malloc",  "free",          "longjmp",          "_longjmp",
                                      "siglongjmp", "abort",   "__longjmp_chk", "strlen",           "strnlen",
                                      "strchr",     "strrchr", "memchr",        "strtol",           "strtoul",
                                      "strcmp",     "strncmp", "strspn",        "strcspn",          "strstr",
                                      "strcpy",     "strncpy", "strcat",        "vsnprintf",        "sprintf",
                                      "snprintf",   "qsort",   "__assert_fail", "__errno_location", "__stack_chk_fail",
                                      "__chk_fail", "raise"};

void build_report_free(BuildReport *r) {
  if (!r) return;
  g_free(r->flags_from);
  g_strfreev(r->entries);
  g_strfreev(r->modelled);
  g_strfreev(r->traps);
  g_strfreev(r->assembly);
  g_free(r);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A struct's members have no symbols; their names stand in the debug information. */
static bool sources_name(const Build *b, const char *name) {
  g_autofree char *quoted = g_strdup_printf("\"%s\"", name);
  bool named = false;
  for (guint i = 0; i + 1 < b->objects->len && !named; i++) {
    g_autofree char *path = build_object(b, "source", i, ".s"), *text = NULL;
    named = g_file_get_contents(path, &text, NULL, NULL) && strstr(text, quoted);
  }
  return named;
}

/* What a file of glue asks for by NAMES_x. */
static bool add_names(const Build *b, const char *path, GString *text, GError **error) {
  g_autofree char *glue = NULL;
  if (!g_file_get_contents(path, &glue, NULL, error)) return false;
  g_autoptr(GRegex) asked = g_regex_new("\\bNAMES_(\\w+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) found = NULL;
  for (g_regex_match(asked, glue, 0, &found); g_match_info_matches(found); g_match_info_next(found, NULL)) {
    g_autofree char *name = g_match_info_fetch(found, 1);
    if (sources_name(b, name)) g_string_append_printf(text, "#undef NAMES_%s\n#define NAMES_%s 1\n", name, name);
  }
  return true;
}

/* NEED_x: the sources use x and do not define it; HAS_x: they define it; NAMES_x: something in them is called x. */
static bool write_needs(const Build *b, const Symbols *s, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *path = g_build_filename(b->folder, "needs.h", NULL);
  guint n_defined;
  g_autofree gpointer *defined = g_hash_table_get_keys_as_array(s->defined, &n_defined);
  qsort(defined, n_defined, sizeof *defined, by_text);
  for (guint i = 0; i < s->needed->len; i++)
    g_string_append_printf(text, "#define NEED_%s 1\n", ((const NeededSymbol *)s->needed->pdata[i])->name);
  for (guint i = 0; i < n_defined; i++) g_string_append_printf(text, "#define HAS_%s 1\n", (const char *)defined[i]);
  for (guint i = 0; b->m->glue[i]; i++) {
    g_autofree char *glue = g_build_filename(b->m->folder, b->m->glue[i], NULL);
    if (!add_names(b, glue, text, error)) return false;
  }
  return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

static bool rename_calls(const Build *b, GError **error) {
  for (guint i = 0; i + 1 < b->objects->len; i++) {
    g_autoptr(GPtrArray) words = command_new();
    command_add(words, "objcopy");
    for (guint k = 0; k < G_N_ELEMENTS(renamed); k++)
      command_add(words, "--redefine-sym=%s=stm_%s", renamed[k], renamed[k]);
    command_add(words, "%s", (const char *)b->objects->pdata[i]);
    if (!build_run(b, words, "objcopy failed", error)) return false;
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
  g_autoptr(GPtrArray) words = command_new(), all = all_objects(b, more);
  static const char *const options[] = {"-shared", "-g", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-Bsymbolic", "-o", NULL};
  command_add(words, "%s", b->compiler);
  command_add_all(words, options);
  command_add(words, "%s", output);
  for (guint i = 0; i < all->len; i++) command_add(words, "%s", (const char *)all->pdata[i]);
  return build_run(b, words, "the subject does not link; the linker's words are above", error);
}

static char *origin_here(const Build *b) {
  g_autoptr(GStrvBuilder) flags = g_strv_builder_new();
  g_strv_builder_addv(flags, (const char **)b->m->flags);
  for (guint i = 0; b->flags[i]; i++) {
    g_autofree char *flag = tree_as_named(&b->tree, b->flags[i]);
    g_strv_builder_add(flags, flag);
  }
  g_auto(GStrv) all = g_strv_builder_end(flags);
  return origin_text(b->m, b->o, b->words, (const char *const *)all, b->report);
}

/* A variable as all others: each process has its own. */
static const char own_errno[] = "static int stm_errno;\n"
                                "int *stm___errno_location(void);\n"
                                "int *stm___errno_location(void) { return &stm_errno; }\n";

static bool make_traps(Build *b, char **object, GError **error) {
  g_autofree char *open = build_object(b, "open", 0, ".so"), *source = build_object(b, "traps", 0, ".c");
  g_autoptr(GPtrArray) all = all_objects(b, NULL), trapped = g_ptr_array_new_with_free_func(g_free);
  if (!link_to(b, NULL, open, error)) return false;
  g_ptr_array_add(all, NULL);
  g_autoptr(Symbols) s = symbols_of((const char *const *)all->pdata, error);
  g_autofree char *text = s ? traps_text(s, open, trapped) : NULL, *entries = entries_text(b->m);
  if (!text || !entries_callable(b->m, open, error)) return false;
  g_ptr_array_add(trapped, NULL);
  b->report->traps = (GStrv)g_ptr_array_free(g_steal_pointer(&trapped), FALSE);
  g_autofree char *origin = origin_here(b), *all_text = g_strconcat(text, own_errno, entries, origin, NULL);
  if (!g_file_set_contents(source, all_text, -1, error)) return false;
  *object = build_object(b, "traps", 0, ".o");
  return build_traps(b, source, *object, error);
}

static void tell_modelled(Build *b, const Symbols *sources, const Symbols *glue) {
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < sources->needed->len; i++) {
    const NeededSymbol *n = sources->needed->pdata[i];
    if (g_hash_table_contains(glue->defined, n->name)) g_strv_builder_add(names, n->name);
  }
  b->report->modelled = g_strv_builder_end(names);
}

static bool put_output(const Build *b, const char *made, GError **error) {
  g_autofree char *contents = NULL;
  gsize length;
  if (!g_file_get_contents(made, &contents, &length, error)) return false;
  g_autoptr(Output) out = output_open(b->o->output, error);
  if (!out) return false;
  g_autofree char *seal = origin_seal(contents, length);
  output_bytes(out, contents, length);
  output_bytes(out, seal, strlen(seal));
  return output_commit(out, error);
}

/* What would be found missing only when it is loaded. */
static bool can_be_loaded(const Symbols *sources, const Symbols *glue, GError **error) {
  for (guint i = 0; i < sources->needed->len; i++)
    if (g_str_has_prefix(((const NeededSymbol *)sources->needed->pdata[i])->name, "__tsan_atomic128_"))
      return scenario_wrong(error, "the sources use atomic operations of 16 bytes, which are not modelled: at most 8; "
                                   "leave -mcx16 out, or give a lock in their place");
  return g_hash_table_contains(sources->defined, STAMPEDE_SUBJECT_SYMBOL) ||
         g_hash_table_contains(glue->defined, STAMPEDE_SUBJECT_SYMBOL) ||
         scenario_wrong(error, "neither the sources nor the glue define " STAMPEDE_SUBJECT_SYMBOL
                               "; `stampede subject new NAME` writes an example");
}

/* Hooks that the glue has are meant to be called. */
static bool glue_has_hooks(const Manifest *m) {
  bool has = false;
  for (guint i = 0; m->glue[i] && !has; i++) {
    g_autofree char *path = g_build_filename(m->folder, m->glue[i], NULL), *text = NULL;
    has = g_file_get_contents(path, &text, NULL, NULL) && strstr(text, "__tsan_");
  }
  return has;
}

static bool make(Build *b, GError **error) {
  g_autofree char *traps = NULL, *linked = build_object(b, "subject", 0, ".so");
  if (!tree_has_all(&b->tree, b->m, error) || !build_ask_compiler(b, error)) return false;
  g_autofree char *from = NULL;
  b->flags = flags_of_build(b->tree.build, b->m->sources[0], &from);
  b->report->flags_from = from ? tree_as_named(&b->tree, from) : NULL;
  b->own_hooks = glue_has_hooks(b->m);
  if (!build_sources(b, error)) return false;
  g_autoptr(Symbols) sources = symbols_of((const char *const *)b->objects->pdata, error);
  if (!sources || !entries_found(b->m, sources, b->report, error) || !write_needs(b, sources, error) ||
      !build_glue(b, error))
    return false;
  g_autoptr(Symbols) glue = symbols_of((const char *const *)b->glue->pdata, error);
  if (!glue || !can_be_loaded(sources, glue, error)) return false;
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
  tree_open(&b.tree, o->tree, o->build);
  b.objects = g_ptr_array_new_with_free_func(g_free);
  b.glue = g_ptr_array_new_with_free_func(g_free);
  b.assembly = g_ptr_array_new_with_free_func(g_free);
  bool made = make(&b, error);
  remove_folder(b.folder);
  g_ptr_array_unref(b.objects);
  g_ptr_array_unref(b.glue);
  g_ptr_array_unref(b.assembly);
  g_strfreev(b.flags);
  tree_clear(&b.tree);
  char *texts[] = {b.folder, b.compiler, b.words};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  return made ? g_steal_pointer(&report) : NULL;
}
