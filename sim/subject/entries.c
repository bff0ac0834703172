/* entries.c - see entries.h. */
#include "sim/subject/entries.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/visible.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool wrong(const ManifestEntry *e, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool wrong(const ManifestEntry *e, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: entries: %s", e->at, what);
  return false;
}

/* ---- are they there ---- */

static const char *defined(const ManifestEntry *e, const Symbols *sources) {
  for (guint i = 0; e->functions[i]; i++)
    if (g_hash_table_contains(sources->defined, e->functions[i])) return e->functions[i];
  return NULL;
}

static gint by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool missing(const ManifestEntry *e, const Symbols *sources, GError **error) {
  g_autofree gpointer *names = g_hash_table_get_keys_as_array(sources->defined, NULL); /* NULL at its end */
  qsort(names, g_hash_table_size(sources->defined), sizeof *names, by_text);
  const char *near = nearest_name(e->functions[0], (const char *const *)names);
  g_autofree char *all = g_strjoinv(", ", e->functions);
  return wrong(e, error, "the sources define %s%s, or it is static%s%s%s", e->functions[1] ? "none of " : "no ", all,
               near ? "; " : "", near ? near : "", near ? " would be right" : "");
}

/* "InitProcGlobal (or ProcGlobalShmemCallbacks)" */
static char *in_words(const ManifestEntry *e, const char *found) {
  g_autoptr(GString) words = g_string_new(found);
  for (guint i = 0, n = 0; e->functions[i]; i++)
    if (strcmp(e->functions[i], found) != 0) g_string_append_printf(words, n++ ? ", %s" : " (or %s", e->functions[i]);
  if (e->functions[1]) g_string_append_c(words, ')');
  if (e->word) g_string_append_printf(words, ", by scripts as %s", e->word);
  return g_string_free(g_steal_pointer(&words), FALSE);
}

bool entries_found(const Manifest *m, const Symbols *sources, BuildReport *r, GError **error) {
  g_autoptr(GStrvBuilder) b = g_strv_builder_new();
  for (guint i = 0; i < m->entries->len; i++) {
    const ManifestEntry *e = &g_array_index(m->entries, ManifestEntry, i);
    const char *found = defined(e, sources);
    if (!found) return missing(e, sources, error);
    g_autofree char *words = in_words(e, found);
    g_strv_builder_add(b, words);
  }
  g_assert(!r->entries);
  r->entries = g_strv_builder_end(b);
  return true;
}

/* ---- may scripts call them ---- */

static bool is_number(Dwarf_Die *parameter) {
  Dwarf_Attribute attr;
  Dwarf_Die type, peeled;
  if (!dwarf_attr_integrate(parameter, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type)) return false;
  if (dwarf_peel_type(&type, &peeled) != 0) return false;
  Dwarf_Word encoding = 0;
  bool base = dwarf_tag(&peeled) == DW_TAG_base_type && dwarf_attr(&peeled, DW_AT_encoding, &attr) &&
              dwarf_formudata(&attr, &encoding) == 0;
  return dwarf_tag(&peeled) == DW_TAG_enumeration_type || (base && encoding != DW_ATE_float);
}

/* How many arguments; *numbers: all of them are numbers. */
static guint arguments(Dwarf_Die *function, bool *numbers) {
  Dwarf_Die child;
  guint n = 0;
  *numbers = true;
  if (dwarf_child(function, &child) != 0) return 0;
  do {
    int tag = dwarf_tag(&child);
    if (tag == DW_TAG_formal_parameter) n++, *numbers &= is_number(&child);
    if (tag == DW_TAG_unspecified_parameters) *numbers = false;
  } while (dwarf_siblingof(&child, &child) == 0);
  return n;
}

typedef struct {
  const ManifestEntry *e;
  const char *why; /* NULL: it may */
} Judged;

static int judge(Dwarf_Die *function, void *data) {
  Judged *j = data;
  const char *name = dwarf_diename(function);
  Dwarf_Attribute attr;
  if (!name || strcmp(name, j->e->functions[0]) != 0 || dwarf_attr(function, DW_AT_declaration, &attr))
    return DWARF_CB_OK;
  bool numbers;
  guint n = arguments(function, &numbers);
  j->why = n > 1 ? "takes several arguments" : numbers ? NULL : "takes something other than a number";
  return DWARF_CB_ABORT;
}

static bool is_callable(const ManifestEntry *e, Dwarf *dwarf, GError **error) {
  Judged j = {.e = e};
  size_t header;
  for (Dwarf_Off at = 0, next; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
    Dwarf_Die unit;
    if (dwarf_offdie(dwarf, at + header, &unit) && dwarf_getfuncs(&unit, judge, &j, 0) != 0) break;
  }
  return !j.why || wrong(e, error, "%s %s; a script gives one number, so call it from a function of yours",
                         e->functions[0], j.why);
}

bool entries_callable(const Manifest *m, const char *linked, GError **error) {
  bool all = true;
  int fd = open(linked, O_RDONLY | O_CLOEXEC);
  Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
  for (guint i = 0; dwarf && all && i < m->entries->len; i++) {
    const ManifestEntry *e = &g_array_index(m->entries, ManifestEntry, i);
    all = !e->word || is_callable(e, dwarf, error);
  }
  if (dwarf) dwarf_end(dwarf);
  if (fd >= 0) close(fd);
  return all;
}

/* ---- for scripts ---- */

/* A function of no argument, or of a narrower one, leaves the rest of the register alone. */
char *entries_text(const Manifest *m) {
  g_autoptr(GString) functions = g_string_new(NULL), table = g_string_new(NULL);
  for (guint i = 0; i < m->entries->len; i++) {
    const ManifestEntry *e = &g_array_index(m->entries, ManifestEntry, i);
    if (!e->word) continue;
    g_autofree char *word = g_strescape(e->word, NULL), *about = g_strescape(e->about, NULL);
    g_string_append_printf(functions, "extern void %s();\n", e->functions[0]);
    g_string_append_printf(table, "  {\"%s\", \"%s\", (void (*)(long long))%s},\n", word, about, e->functions[0]);
  }
  return g_strdup_printf("%sconst struct { const char *name, *about; void (*run)(long long); } " ENTRIES_SYMBOL
                         "[] = {\n%s  {0, 0, 0}};\n",
                         functions->str, table->str);
}

/* ---- in the object ---- */

/* Of one list: each has a name that can be written down, no two the same, and something to call. */
static char *name_wrong(const char *list, const char *name, bool calls, guint i, GHashTable *names) {
  g_autofree char *shown = visible_text(name);
  if (!name || !*name) return g_strdup_printf("its %s number %u has no name", list, i + 1);
  if (strcmp(shown, name) != 0) return g_strdup_printf("the name of its %s \"%s\" cannot be shown", list, shown);
  if (!calls) return g_strdup_printf("its %s %s has no function", list, name);
  return g_hash_table_add(names, (char *)name) ? NULL : g_strdup_printf("it has two of %s %s", list, name);
}

char *entries_wrong(const StampedeSubject *s) {
  g_autoptr(GHashTable) entries = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) checks = g_hash_table_new(g_str_hash, g_str_equal);
  char *what = NULL;
  if ((s->n_entries && !s->entries) || (s->n_checks && !s->checks))
    return g_strdup("it has a number of entries or checks, and no list of them");
  for (guint i = 0; i < s->n_entries && !what; i++)
    what = name_wrong("entry", s->entries[i].name, s->entries[i].run != NULL, i, entries);
  for (guint i = 0; i < s->n_checks && !what; i++)
    what = name_wrong("check", s->checks[i].name, s->checks[i].broken != NULL, i, checks);
  return what;
}

StampedeEntry *entries_together(const StampedeSubject *code, const StampedeEntry *more, unsigned *n,
                                const char **twice) {
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(StampedeEntry));
  g_array_append_vals(all, code->entries, code->n_entries);
  *twice = NULL;
  for (; more && more->name; more++) {
    for (guint i = 0; i < code->n_entries; i++)
      if (strcmp(code->entries[i].name, more->name) == 0) *twice = more->name;
    g_array_append_vals(all, more, 1);
  }
  *n = all->len;
  return (StampedeEntry *)(void *)g_array_free(g_steal_pointer(&all), FALSE);
}
