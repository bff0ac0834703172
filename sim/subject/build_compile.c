/* build_compile.c - what runs the compiler for build.c, with which flags. */
#include "sim/scenario/scenario.h"
#include "sim/subject/assembly.h"
#include "sim/subject/build_parts.h"
#include "sim/subject/commands.h"
#include "sim/subject/front.h"
#include <gio/gio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* Instrumentation without its runtime, and without calls at a function's begin and end; mem* as calls, so that they can
 * be renamed to ours. */
static const char *const instrument[] = {"-fsanitize=thread",   "-fno-builtin-memset", "-fno-builtin-memmove",
                                         "-fno-builtin-memcpy", "-fno-builtin-memcmp", NULL};
/* Equal functions, and equal ends of branches, made one would be told at the line of another. */
static const char *const instrument_gcc[] = {"--param=tsan-instrument-func-entry-exit=0",
                                             "-Wno-tsan",
                                             "-fno-ipa-icf",
                                             "-fno-crossjumping",
                                             "-fno-tree-tail-merge",
                                             NULL};
/* Of equal stores in two branches it would make one, which has no line. */
static const char *const instrument_clang[] = {"-mllvm", "-tsan-instrument-func-entry-exit=0",
                                               "-mllvm", "-tsan-instrument-memintrinsics=0",
                                               "-mllvm", "-enable-tail-merge=0",
                                               "-mllvm", "-simplifycfg-sink-common=false",
                                               NULL};
/* A call in place of a return would leave nothing to name its place by. */
static const char *const always[] = {"-O2", "-g", "-fPIC", "-w", "-fno-optimize-sibling-calls", NULL};
/* A compiler that cannot write fails as one that does not understand. So little room that it may have been that: -1
 * there is more. */
static int64_t scarce_room(const Build *b) {
  enum { ENOUGH = 4 << 20 };
  struct rlimit most;
  struct statvfs disk;
  uint64_t room = UINT64_MAX;
  if (statvfs(b->folder, &disk) == 0) room = (uint64_t)disk.f_bavail * disk.f_frsize;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0) room = MIN(room, (uint64_t)most.rlim_cur);
  return room < ENOUGH ? (int64_t)room : -1;
}

bool build_run(const Build *b, GPtrArray *words, const char *what, GError **error) {
  g_autoptr(GError) problem = NULL;
  if (command_run(words, b->o->interrupted, what, &problem)) return true;
  int64_t room = g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? -1 : scarce_room(b);
  if (room < 0) return g_propagate_error(error, g_steal_pointer(&problem)), false;
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC,
              "%s; a file may have no more than %" G_GINT64_FORMAT
              " KiB in %s (a full disk, or ulimit -f): there should be "
              "some MiB for the compiler",
              problem->message, room >> 10, b->folder);
  return false;
}

bool build_ask_compiler(Build *b, GError **error) {
  const char *argv[] = {b->compiler, "--version", NULL};
  g_autofree char *out = NULL;
  g_autoptr(GError) problem = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL,
                    &status, &problem))
    return scenario_wrong(error, "compiler: %s", problem->message);
  g_autofree char *valid = g_utf8_make_valid(out, -1);
  b->words = g_strndup(valid, strcspn(valid, "\n"));
  b->clang = strstr(b->words, "clang") != NULL;
  return g_spawn_check_wait_status(status, NULL) ||
         scenario_wrong(error, "%s: --version fails; is it a C compiler?", b->compiler);
}

/* ---- compiling ---- */

static void add_includes(const Build *b, GPtrArray *words) {
  for (guint i = 0; b->m->includes[i]; i++) {
    if (strcmp(b->tree.build, b->tree.path) != 0) command_add(words, "-I%s/%s", b->tree.build, b->m->includes[i]);
    command_add(words, "-I%s/%s", b->tree.path, b->m->includes[i]);
  }
}

static GPtrArray *compile_words(const Build *b, bool source) {
  GPtrArray *words = command_new();
  command_add(words, "%s", b->compiler);
  if (source && b->m->overlay) command_add(words, "-I%s/%s", b->m->folder, b->m->overlay); /* before any of the flags */
  command_add_all(words, (const char *const *)b->m->flags);
  command_add_all(words, (const char *const *)b->flags);
  command_add_all(words, always);
  if (b->clang) command_add(words, "-gdwarf-aranges"); /* places are found by these; gcc writes them anyhow */
  if (source) command_add_all(words, instrument);
  if (source) command_add_all(words, b->clang ? instrument_clang : instrument_gcc);
  if (!source) command_add(words, "-I%s", b->folder);
  command_add(words, "-I%s", b->o->include);
  add_includes(b, words);
  return words;
}

char *build_object(const Build *b, const char *kind, guint i, const char *suffix) {
  return g_strdup_printf("%s/%s%u%s", b->folder, kind, i, suffix);
}

/* The folder of this build is in no debug information: the same sources make the same subject. */
static void add_job(const Build *b, GPtrArray *words, const char *kind, const char *from, const char *to) {
  command_add(words, "-ffile-prefix-map=%s/=", b->folder);
  command_add(words, "%s", kind);
  command_add(words, "%s", from);
  command_add(words, "-o");
  command_add(words, "%s", to);
}

static bool compile_to(const Build *b, const char *path, bool source, const char *kind, const char *to,
                       GError **error) {
  g_autoptr(GPtrArray) words = compile_words(b, source);
  add_job(b, words, kind, path, to);
  g_autofree char *what = g_strdup_printf("%s does not compile; the compiler's words are above", path);
  return build_run(b, words, what, error);
}

static bool assemble(const Build *b, const char *text, const char *object, GError **error) {
  g_autoptr(GPtrArray) words = command_new();
  command_add(words, "%s", b->compiler);
  for (guint i = 0; b->flags[i]; i++)
    if (g_str_has_prefix(b->flags[i], "-m")) command_add(words, "%s", b->flags[i]);
  add_job(b, words, "-c", text, object);
  return build_run(b, words, "what the compiler wrote cannot be assembled", error);
}

/* By way of assembly, where inline assembly is seen. */
static bool compile_source(Build *b, const char *path, guint i, GError **error) {
  g_autofree char *text_path = build_object(b, "source", i, ".s"), *text = NULL;
  char *object = build_object(b, "source", i, ".o");
  g_ptr_array_add(b->objects, object);
  if (!compile_to(b, path, true, "-S", text_path, error)) return false;
  if (!g_file_get_contents(text_path, &text, NULL, error)) return false;
  assembly_scan(text, path, b->assembly);
  g_autofree char *fronted = b->own_hooks ? NULL : front_put(text);
  if (fronted && !g_file_set_contents(text_path, fronted, -1, error)) return false;
  return assemble(b, text_path, object, error);
}

bool build_sources(Build *b, GError **error) {
  for (guint i = 0; b->m->sources[i]; i++) {
    g_autofree char *path = tree_find(&b->tree, b->m->sources[i]);
    if (!compile_source(b, path, i, error)) return false;
  }
  g_ptr_array_add(b->objects, NULL);
  g_ptr_array_add(b->assembly, NULL);
  b->report->assembly = g_strdupv((char **)b->assembly->pdata);
  return true;
}

bool build_glue(Build *b, GError **error) {
  for (guint i = 0; b->m->glue[i]; i++) {
    g_autofree char *path = g_build_filename(b->m->folder, b->m->glue[i], NULL);
    char *object = build_object(b, "glue", i, ".o");
    g_ptr_array_add(b->glue, object);
    if (!compile_to(b, path, false, "-c", object, error)) return false;
  }
  g_ptr_array_add(b->glue, NULL);
  return true;
}

bool build_traps(const Build *b, const char *source, const char *object, GError **error) {
  g_autoptr(GPtrArray) words = command_new();
  command_add(words, "%s", b->compiler);
  command_add_all(words, always);
  command_add(words, "-fno-builtin");
  add_job(b, words, "-c", source, object);
  return build_run(b, words, "traps do not compile", error);
}
