/* assembly.c - see assembly.h. A compiler puts inline assembly between #APP and #NO_APP. gcc says the place with a line
 * marker in front of it (# 539 "procarray.c" 1), clang only with the .loc directive before it. */
#include "sim/subject/assembly.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  GHashTable *files; /* number of a .file directive -> name */
  const char *source;
  char *file; /* of the last place */
  long line;
  bool within; /* between #APP and #NO_APP */
  GPtrArray *found;
} Scan;

static bool starts(const char *word, const char *const *prefixes) {
  for (; *prefixes; prefixes++)
    if (g_str_has_prefix(word, *prefixes)) return true;
  return false;
}

#if defined __x86_64__
/* Operands but the last are sources, in AT&T's order; these only read even there. */
static const char *const readers[] = {"cmp",    "test",   "ucomi",  "comi", "prefetch", "clflush", "clwb", "nop",
                                      "lea",    "j",      "push",   "mul",  "imul",     "div",     "idiv", "ldmxcsr",
                                      "lfence", "mfence", "sfence", "bt\t", "btl",      "btq",     "btw",  NULL};
static const char *const prefixes[] = {"lock", "rep", "repe", "repne", "repz", "repnz", "xacquire", "xrelease", NULL};
static const char *const strings[] = {"stosb", "stosw", "stosl", "stosq", "movsb", "movsw", NULL};

static bool in_memory(const char *operand) {
  return strchr(operand, '(') || (operand[0] && operand[0] != '%' && operand[0] != '$') || strstr(operand, ":");
}

/* The commas within parentheses part no operands. */
static const char *last_operand(const char *operands) {
  const char *last = operands;
  int depth = 0;
  for (const char *p = operands; *p; p++) {
    depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    if (*p == ',' && depth == 0) last = p + 1 + strspn(p + 1, " \t");
  }
  return last;
}

static bool is_prefix(const char *mnemonic, size_t length) {
  for (guint i = 0; prefixes[i]; i++)
    if (strlen(prefixes[i]) == length && strncmp(mnemonic, prefixes[i], length) == 0) return true;
  return false;
}

static bool writes(const char *mnemonic) {
  size_t length = strcspn(mnemonic, " \t");
  const char *operands = mnemonic + length + strspn(mnemonic + length, " \t");
  if (is_prefix(mnemonic, length)) return *operands && writes(operands);
  if (g_str_has_prefix(mnemonic, "call")) return true;
  if (!*operands) return starts(mnemonic, strings) || strcmp(mnemonic, "movsl") == 0 || strcmp(mnemonic, "movsq") == 0;
  if (g_str_has_prefix(mnemonic, "xchg")) return in_memory(operands) || in_memory(last_operand(operands));
  return !starts(mnemonic, readers) && in_memory(last_operand(operands));
}
#else
static const char *const writers[] = {"st", "cas", "swp", "ldadd", "ldclr", "ldeor", "ldset", "bl", "dc", NULL};
static bool writes(const char *mnemonic) {
  return starts(mnemonic, writers);
}
#endif

/* ---- lines ---- */

/* Several instructions stand in a line, apart by semicolons. */
static bool line_writes(const char *line) {
  g_auto(GStrv) parts = g_strsplit_set(line, ";\n", -1);
  for (guint i = 0; parts[i]; i++) {
    const char *part = g_strstrip(parts[i]), *colon = strchr(part, ':');
    if (colon && strcspn(part, " \t%") > (size_t)(colon - part)) part = colon + 1 + strspn(colon + 1, " \t");
    if (!*part || *part == '#' || *part == '.' || g_str_has_prefix(part, "//")) continue;
    if (writes(part)) return true;
  }
  return false;
}

static void set_place(Scan *s, const char *file, long line) {
  g_autofree char *base = g_path_get_basename(file);
  g_free(s->file);
  s->file = g_steal_pointer(&base);
  s->line = line;
}

/* .file 1 "folder" "name", or .file 1 "name" */
static void take_file(Scan *s, const char *line) {
  char *end;
  long number = strtol(line, &end, 10);
  const char *last = strrchr(line, '"');
  if (end == line || !last) return; /* .file "name" is the unit's own */
  g_auto(GStrv) parts = g_strsplit(end, "\"", -1);
  guint n = g_strv_length(parts);
  const char *name = n >= 5 ? parts[3] : n >= 3 ? parts[1] : NULL;
  if (name) g_hash_table_insert(s->files, GINT_TO_POINTER((int)number), g_strdup(name));
}

static void take_loc(Scan *s, const char *line) {
  char *end;
  int number = (int)strtol(line, &end, 10);
  const char *file = g_hash_table_lookup(s->files, GINT_TO_POINTER(number));
  set_place(s, file ? file : s->source, strtol(end, NULL, 10));
}

/* # 539 "procarray.c" 1; the one after the assembly is # 0 "" 2. */
static void take_marker(Scan *s, const char *line) {
  char *end;
  long number = strtol(line, &end, 10);
  g_auto(GStrv) parts = g_strsplit(end, "\"", 3);
  if (number > 0 && g_strv_length(parts) == 3) set_place(s, parts[1], number);
}

static void add(Scan *s, const char *line) {
  g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; words[i]; i++)
    if (*words[i]) g_string_append_printf(text, "%s%s", text->len ? " " : "", words[i]);
  g_autofree char *entry = g_strdup_printf("%s:%ld: %s", s->file ? s->file : s->source, s->line, text->str);
  for (guint i = 0; i < s->found->len; i++)
    if (strcmp(s->found->pdata[i], entry) == 0) return;
  g_ptr_array_add(s->found, g_steal_pointer(&entry));
}

static void take_line(Scan *s, char *line) {
  const char *text = g_strstrip(line);
  if (g_str_has_prefix(text, ".file")) return take_file(s, text + strlen(".file"));
  if (g_str_has_prefix(text, ".loc\t") || g_str_has_prefix(text, ".loc ")) return take_loc(s, text + strlen(".loc"));
  const char *mark = text + strspn(text, "#/");
  if (mark != text && g_str_has_prefix(mark, "APP")) s->within = true;
  if (mark != text && g_str_has_prefix(mark, "NO_APP")) s->within = false;
  if (!s->within) return;
  if (text[0] == '#' && text[1] == ' ') return take_marker(s, text + 2);
  if (line_writes(text)) add(s, text);
}

void assembly_scan(const char *text, const char *source, GPtrArray *found) {
  g_autofree char *base = g_path_get_basename(source);
  Scan s = {.source = base, .found = found};
  s.files = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) take_line(&s, lines[i]);
  g_hash_table_unref(s.files);
  g_free(s.file);
}
