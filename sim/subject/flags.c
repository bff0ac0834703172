/* flags.c - see flags.h. Optimisation, warnings, sanitizers and outputs stay behind: they are ours. */
#include "sim/subject/flags.h"
#include <json-glib/json-glib.h>
#include <string.h>

static gboolean decides(const char *flag) {
  static const char *const kinds[] = {"-D", "-U", "-I", "-std=", "-f", "-m"};
  static const char *const never[] = {"-fsanitize",     "-fPIC",         "-fpic",         "-fdiagnostics",
                                      "-flto",          "-fprofile",     "-fplugin",      "-fmax-errors",
                                      "-fmacro-prefix", "-ffile-prefix", "-fdebug-prefix"};
  for (guint i = 0; i < G_N_ELEMENTS(never); i++)
    if (g_str_has_prefix(flag, never[i])) return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (g_str_has_prefix(flag, kinds[i])) return TRUE;
  return FALSE;
}

static void add_flag(GStrvBuilder *b, const char *flag, const char *folder) {
  if (!decides(flag)) return;
  gboolean include = g_str_has_prefix(flag, "-I") && flag[2] && !g_path_is_absolute(flag + 2);
  g_autofree char *path = include ? g_build_filename(folder, flag + 2, NULL) : NULL;
  g_autofree char *absolute = include ? g_strconcat("-I", path, NULL) : NULL;
  g_strv_builder_add(b, include ? absolute : flag);
}

/* A line with a variable of make in it says nothing without make: such words stay behind. */
static void add_words(GStrvBuilder *b, const char *words, const char *folder) {
  g_auto(GStrv) parsed = NULL;
  if (!g_shell_parse_argv(words, NULL, &parsed, NULL)) return;
  for (guint i = 0; parsed[i]; i++)
    if (!strchr(parsed[i], '$')) add_flag(b, parsed[i], folder);
}

static void from_makefile(GStrvBuilder *b, const char *text, const char *folder) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  static const char *const names[] = {"CPPFLAGS", "CFLAGS"};
  for (guint n = 0; n < G_N_ELEMENTS(names); n++)
    for (guint i = 0; lines[i]; i++) {
      const char *line = lines[i];
      size_t length = strlen(names[n]);
      if (strncmp(line, names[n], length) != 0) continue;
      const char *rest = line + length + strspn(line + length, " \t");
      if (rest[0] == '=') add_words(b, rest + 1, folder);
    }
}

/* "../src/list.c" is src/list.c, "xlist.c" no list.c. */
static gboolean is_file(const char *file, const char *source) {
  if (!g_str_has_suffix(file, source)) return FALSE;
  size_t before = strlen(file) - strlen(source);
  return before == 0 || file[before - 1] == '/';
}

/* FALSE: they have no command for it. */
static gboolean from_commands(GStrvBuilder *b, JsonArray *commands, const char *source) {
  for (guint i = 0; i < json_array_get_length(commands); i++) {
    JsonNode *node = json_array_get_element(commands, i);
    JsonObject *entry = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
    if (!entry || !is_file(json_object_get_string_member_with_default(entry, "file", ""), source)) continue;
    add_words(b, json_object_get_string_member_with_default(entry, "command", ""),
              json_object_get_string_member_with_default(entry, "directory", "."));
    return TRUE;
  }
  return FALSE;
}

static gboolean from_commands_file(GStrvBuilder *b, const char *path, const char *source) {
  g_autoptr(JsonParser) parser = json_parser_new();
  if (!json_parser_load_from_file(parser, path, NULL)) return FALSE;
  JsonNode *root = json_parser_get_root(parser);
  return root && JSON_NODE_HOLDS_ARRAY(root) && from_commands(b, json_node_get_array(root), source);
}

/* The command itself before what a makefile says: meson writes a Makefile.global too, for extensions, with less in it.
 */
GStrv flags_of_build(const char *build, const char *source, char **from) {
  g_autoptr(GStrvBuilder) b = g_strv_builder_new();
  g_autofree char *makefile = g_build_filename(build, "src", "Makefile.global", NULL), *text = NULL;
  g_autofree char *commands = g_build_filename(build, "compile_commands.json", NULL);
  *from = NULL;
  if (from_commands_file(b, commands, source)) {
    *from = g_steal_pointer(&commands);
  } else if (g_file_get_contents(makefile, &text, NULL, NULL)) {
    g_autofree char *folder = g_build_filename(build, "src", "backend", NULL);
    from_makefile(b, text, folder);
    *from = g_steal_pointer(&makefile);
  }
  return g_strv_builder_end(b);
}
