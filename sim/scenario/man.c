/* man.c - the table of keys as stampede-scenario(5), and one key in a few lines. */
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include <string.h>

static const char head[] =
    ".TH STAMPEDE-SCENARIO 5 \"\" \"stampede\" \"stampede\"\n"
    ".SH NAME\nstampede-scenario \\- scenario, preset and profile files of stampede\n"
    ".SH DESCRIPTION\n"
    "A scenario is a YAML file that says what connects to what, and what should come of it. One file means the same "
    "to\n"
    "every way of running it. A key with dots is short for nested maps:\n"
    ".B machine.cores: 16\nis\n.BR \"machine: {cores: 16}\" .\n"
    ".PP\nDurations, sizes and rates carry a unit, without a blank:\n"
    ".B 2.05us\n(ns us ms s min h d),\n.B 64KiB\n(B KiB MiB GiB, and KB MB GB for powers of 1000),\n.BR 500/s .\n"
    "A fraction must come out whole in nanoseconds, bytes, or for costs in picoseconds. Integers are decimal.\n"
    "Unknown and duplicate keys, anchors, aliases, tags and further documents are errors; each names file, line and\n"
    "column, and what would be right.\n"
    ".PP\nWhere a list may stand, a single value is a list of one. A policy with arguments is a map of one key:\n"
    ".BR \"exit_order: {window: 64}\" .\n"
    ".SS Layers\nLater ones win: defaults, the version's preset\n.RI (presets/postgres- VERSION .yaml),\n"
    "the variants' presets\n.RI (presets/variant- NAME .yaml),\n"
    "the pooler's preset\n.RI (presets/ NAME .yaml, of pooler.preset),\n"
    "the scenario, variants named on the command line,\n.BR \"--set KEY=VALUE\" .\n"
    "Maps are joined key by key; all else replaces what was there. In\n.B --set\n"
    "an entry of a list is\n.BR \"expect[0].within=[1,2]\" ,\nor by its name\n.BR servers[s].signal=delayed .\n"
    ".SS Paths\nEvents and expectations name what they are about:\n"
    ".BR pooler , \" pooler[0]\" , \" pool[p]\" , \" server[s]\" , \" client[a]\" , \" client[a].server\" , \" "
    "query[q]\" ,\n"
    ".BR link.cancel_to_server[s] .\n"
    "An entry with a count stands for copies a.1, a.2, ...; its name means all of them.\n";

/* Text fit for troff: no request at the start of a line, no escapes, hyphens that stay hyphens. */
static void append_troff(GString *out, const char *text) {
  if (*text == '.' || *text == '\'') g_string_append(out, "\\&");
  for (; *text; text++) {
    if (*text == '\\')
      g_string_append(out, "\\e");
    else if (*text == '-')
      g_string_append(out, "\\-");
    else
      g_string_append_c(out, *text);
  }
}

static void append_line(GString *out, const char *label, const char *text) {
  g_string_append_printf(out, ".br\n%s: ", label);
  append_troff(out, text);
  g_string_append_c(out, '\n');
}

/* A value that the row takes. */
static const char *sample(const KeyInfo *k) {
  static const struct {
    guint type;
    const char *text;
  } of[] = {{K_TIME, "10ms"},  {K_COST, "2.05us"}, {K_PER_BYTE, "2.05us"}, {K_SIZE, "64KiB"}, {K_RATE, "500/s"},
            {K_NUMBER, "7.5"}, {K_BOOL, "true"},   {K_INT, "1"},           {K_NAME, "NAME"},  {K_TEXT, "TEXT"}};
  if (k->dflt && *k->dflt) return k->dflt;
  for (guint i = 0; i < G_N_ELEMENTS(of); i++)
    if (k->types & of[i].type) return of[i].text;
  return k->words ? k->words : "{}";
}

/* The row's own example, or one made of what it takes, below its section: "free_list: {give: tail}". */
static char *example_of(const KeyInfo *k) {
  if (k->example) return g_strdup(k->example);
  const char *entry = g_strrstr(k->path, "[]."), *value = sample(k);
  g_autofree char *below = g_strdup(entry ? entry + 3 : strchr(k->path, '.') ? strchr(k->path, '.') + 1 : k->path);
  const bool element = g_str_has_suffix(below, "[]");
  if (element) return g_strndup(value, strcspn(value, " "));
  g_auto(GStrv) parts = g_strsplit(below, ".", -1);
  GString *out = g_string_new(NULL);
  for (guint i = 0; parts[i]; i++) g_string_append_printf(out, "%s%s: ", i ? "{" : "", parts[i]);
  if (!g_strcmp0(k->like, "@cost"))
    g_string_append(out, "{value: 2.05us, from: assumed, by: TEXT}");
  else
    g_string_append_len(out, value, (gssize)strcspn(value, " "));
  for (guint i = 1; parts[i]; i++) g_string_append_c(out, '}');
  return g_string_free(out, FALSE);
}

static void append_row(GString *out, const KeyInfo *k, const char *shown) {
  if (k->alias) {
    g_string_append_printf(out, ".TP\n.B %s\n%s\n", shown, k->about);
    return;
  }
  g_autofree char *expected = key_expected(k), *example = example_of(k);
  g_string_append(out, ".TP\n.B ");
  append_troff(out, shown);
  g_string_append_c(out, '\n');
  append_troff(out, k->about);
  g_string_append_c(out, '\n');
  append_line(out, "Value", !g_strcmp0(k->like, "@cost") ? "a map, as a cost below" : expected);
  append_line(out, "Default", k->dflt && *k->dflt ? k->dflt : k->types & K_REQUIRED ? "none; required" : "not set");
  append_line(out, "Example", example);
}

/* The part of the path that names the section it is told under: "" for keys without one. */
static char *section_of(const char *path) {
  const size_t len = strcspn(path, ".[");
  return path[len] || key_is_group(path) ? g_strndup(path, len) : g_strdup("");
}

static void append_section(GString *out, const char *section) {
  if (!strcmp(section, "@profile"))
    g_string_append(out, ".SH PROFILE FILES\n");
  else if (!strcmp(section, "@pool"))
    g_string_append(out, ".SS pooler, for all pools; and each entry of pooler.pools, for that one\n");
  else if (!strcmp(section, "@step"))
    g_string_append(out, ".SS Steps of clients' scripts and loops\n");
  else if (!strcmp(section, "@link"))
    g_string_append(out, ".SS Each entry of network\n");
  else if (!strcmp(section, "@cost"))
    g_string_append(out, ".SS Each cost of a profile\n");
  else
    g_string_append_printf(out, ".SS %s\n", *section ? section : "Every scenario");
}

static const char *shown_path(const char *path) {
  return *path == '@' ? strchr(path, '.') + 1 : path;
}

char *scenario_man_page(void) {
  GString *out = g_string_new(head);
  g_autofree char *last = NULL;
  g_string_append(out, ".SH KEYS\n");
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    g_autofree char *section = section_of(k->path);
    if (key_find(k->path) != k || k->hint || !strcmp(k->path, "@profile")) continue; /* second rows are not used */
    if (g_strcmp0(section, last)) append_section(out, section);
    append_row(out, k, shown_path(k->path));
    g_free(last);
    last = g_steal_pointer(&section);
  }
  g_string_append(out, ".SH SEE ALSO\n.BR stampede (1)\n");
  return g_string_free(out, FALSE);
}

char *scenario_explain(const char *key) {
  g_autofree char *plain = key_without_indexes(key);
  const KeyInfo *k = key_find(plain);
  if (!k || *plain == '@' || k->hint) return NULL;
  g_autofree char *expected = key_expected(k), *path = key_public_path(k);
  GString *out = g_string_new(NULL);
  if (k->alias) return g_string_free(out, TRUE), g_strdup_printf("%s: %s\n", path, k->about);
  g_string_append_printf(out, "%s: %s\n  value: %s\n", path, k->about, expected);
  g_autofree char *example = example_of(k);
  g_string_append_printf(out, "  default: %s\n  example: %s\n", k->dflt && *k->dflt ? k->dflt : "not set", example);
  return g_string_free(out, FALSE);
}
