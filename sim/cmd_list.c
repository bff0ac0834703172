/* cmd_list.c - stampede list: what there is by name, and what a name means. */
#include "sim/cli.h"
#include "sim/metrics.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/keys.h"
#include <string.h>

typedef enum {
  KIND_SCENARIO,
  KIND_SUITE,
  KIND_PRESET,
  KIND_VARIANT,
  KIND_PROFILE,
  KIND_CHECK,
  KIND_METRIC,
  KIND_KEY,
  KIND_COUNT
} Kind;
static const char *const kind_words[] = {"scenario", "suite", "preset", "variant", "profile", "check", "metric", "key"};
#define VARIANT "variant-" /* how the preset files of variants begin */

typedef struct {
  Kind kind;
  char *name, *about, *more; /* more: further lines for who asks for this one, of a key its words; NULL: none */
} Entry;

static void entry_free(gpointer p) {
  Entry *e = p;
  g_free(e->name);
  g_free(e->about);
  g_free(e->more);
  g_free(e);
}

static void add(GPtrArray *all, Kind kind, const char *name, const char *about, char *more_taken) {
  Entry *e = g_new0(Entry, 1);
  *e = (Entry){kind, g_strdup(name), g_strdup(about), more_taken};
  g_ptr_array_add(all, e);
}

/* ---- each kind ---- */

/* A variant is a preset with a name that says so. */
static void add_files(GPtrArray *all, const App *app, const char *folder, Kind kind) {
  g_autoptr(GPtrArray) files = asset_list(app->dirs, folder);
  for (guint i = 0; i < files->len; i++) {
    const Asset *a = files->pdata[i];
    const bool variant = g_str_has_prefix(a->name, VARIANT);
    if ((kind == KIND_VARIANT && !variant) || (kind == KIND_PRESET && variant)) continue;
    const char *name = kind == KIND_VARIANT ? a->name + strlen(VARIANT) : a->name;
    add(all, kind, name, a->about, g_strdup_printf("  file: %s\n", a->path));
  }
}

static const char *sees_words(CheckSees sees) {
  if (sees & SEES_INSIDE) return "the inside of the model, or of the code";
  return sees & SEES_POOLS ? "the pooler's own tables" : "the wire";
}

static void add_checks(GPtrArray *all, const App *app) {
  for (guint i = 0; i < app->checks.n; i++) {
    const Check *c = &app->checks.checks[i];
    add(all, KIND_CHECK, c->name, c->about, g_strdup_printf("  sees: %s\n", sees_words(c->sees)));
  }
}

static void add_metrics(GPtrArray *all) {
  for (guint i = 0; i < metric_info_len; i++) {
    const MetricInfo *m = &metric_info[i];
    add(all, KIND_METRIC, m->pattern, m->about, g_strdup_printf("  unit: %s\n", m->unit));
  }
}

/* Rows of profiles (@profile...) are told in stampede-scenario(5); a second row of a path is not used. */
static void add_keys(GPtrArray *all) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    g_autofree char *path = key_public_path(k);
    if (*path != '@' && !k->hint && !k->alias && key_find(k->path) == k)
      add(all, KIND_KEY, path, k->about, g_strdup(k->words));
  }
}

static void add_kind(GPtrArray *all, const App *app, Kind kind) {
  static const char *const folders[] = {"scenarios", "suites", "presets", "presets", "profiles"};
  if (kind <= KIND_PROFILE) add_files(all, app, folders[kind], kind);
  if (kind == KIND_CHECK) add_checks(all, app);
  if (kind == KIND_METRIC) add_metrics(all);
  if (kind == KIND_KEY) add_keys(all);
}

/* KIND_COUNT: no kind. A kind is its plural. */
static Kind kind_of(const char *word) {
  Kind kind = KIND_SCENARIO;
  while (kind < KIND_COUNT && (strncmp(word, kind_words[kind], strlen(kind_words[kind])) != 0 ||
                               strcmp(word + strlen(kind_words[kind]), "s") != 0))
    kind++;
  return kind;
}

/* ---- one name ---- */

static bool named(const Entry *e, const char *name) {
  if (!strcmp(e->name, name)) return true;
  if (e->kind == KIND_VARIANT) return g_str_has_prefix(name, VARIANT) && !strcmp(name + strlen(VARIANT), e->name);
  if (e->kind != KIND_METRIC && e->kind != KIND_KEY) return false;
  g_autofree char *plain = key_without_indexes(name); /* iteration[3].connect_ms */
  return !strcmp(e->name, plain);
}

/* Who read `fence: hold_until_eof` somewhere may ask for either word: keys that end so, or else that take it. */
static char *part_of_key(const GPtrArray *all, const char *name) {
  g_autofree char *end = g_strconcat(".", name, NULL);
  g_autoptr(GString) keys = g_string_new(NULL), takers = g_string_new(NULL);
  for (guint i = 0; i < all->len; i++) {
    const Entry *e = all->pdata[i];
    if (e->kind != KIND_KEY) continue;
    if (g_str_has_suffix(e->name, end)) g_string_append_printf(keys, "%s%s", keys->len ? ", " : "", e->name);
    g_auto(GStrv) words = g_strsplit(e->more ? e->more : "", " ", -1);
    if (g_strv_contains((const char *const *)words, name))
      g_string_append_printf(takers, "%s%s", takers->len ? ", " : "", e->name);
  }
  if (keys->len) return g_strconcat("there is ", keys->str, NULL);
  return takers->len ? g_strconcat("it is a value of ", takers->str, NULL) : NULL;
}

/* Keeps those of that name; none: says so, with the nearest. */
static bool keep_named(GPtrArray *all, const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < all->len; i++) g_ptr_array_add(names, g_strdup(((Entry *)all->pdata[i])->name));
  for (Kind k = KIND_SCENARIO; k < KIND_COUNT; k++) g_ptr_array_add(names, g_strconcat(kind_words[k], "s", NULL));
  g_ptr_array_add(names, NULL);
  g_autofree char *part = part_of_key(all, name);
  for (guint i = all->len; i-- > 0;)
    if (!named(all->pdata[i], name)) g_ptr_array_remove_index(all, i);
  if (all->len) return true;
  const char *near = nearest_name(name, (const char *const *)names->pdata);
  if (part)
    cli_refuse(EXIT_INPUT, "nothing is called %.100s; %s", name, part);
  else if (near)
    cli_refuse(EXIT_INPUT, "nothing is called %.100s; the nearest is %s", name, near);
  else
    cli_refuse(EXIT_INPUT, "nothing is called %.100s; stampede list names everything", name);
  return false;
}

/* ---- output ---- */

static void print_explained(const GPtrArray *all, GString *out) {
  for (guint i = 0; i < all->len; i++) {
    const Entry *e = all->pdata[i];
    g_autofree char *told = e->kind == KIND_KEY ? scenario_explain(e->name) : NULL;
    if (i) g_string_append_c(out, '\n');
    if (told)
      g_string_append_printf(out, "%s%s", told, g_str_has_suffix(told, "\n") ? "" : "\n");
    else
      g_string_append_printf(out, "%s (%s)\n  %s\n%s", e->name, kind_words[e->kind], *e->about ? e->about : "-",
                             e->more ? e->more : "");
  }
}

static void print_list(const GPtrArray *all, GString *out, bool headings) {
  int width = 0;
  for (guint i = 0; i < all->len; i++) width = MAX(width, (int)strlen(((Entry *)all->pdata[i])->name));
  for (guint i = 0; i < all->len; i++) {
    const Entry *e = all->pdata[i];
    if (headings && (i == 0 || ((Entry *)all->pdata[i - 1])->kind != e->kind))
      g_string_append_printf(out, "%s%ss:\n", i ? "\n" : "", kind_words[e->kind]);
    g_string_append_printf(out, "%s%-*s  %s\n", headings ? "  " : "", width, e->name, e->about);
  }
}

static void fill_json(Output *o, const void *data) {
  const GPtrArray *all = data;
  output_str(o, "[");
  for (guint i = 0; i < all->len; i++) {
    const Entry *e = all->pdata[i];
    output_str(o, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
    output_string(o, e->name);
    output_str(o, ", \"kind\": ");
    output_string(o, kind_words[e->kind]);
    output_str(o, ", \"about\": ");
    output_string(o, e->about);
    output_str(o, "}");
  }
  output_str(o, all->len ? "\n]\n" : "]\n");
}

static int list(const App *app, const char *word, bool json) {
  const Kind kind = word ? kind_of(word) : KIND_COUNT;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(entry_free);
  g_autoptr(GString) text = g_string_new(NULL);
  for (Kind k = KIND_SCENARIO; k < KIND_COUNT; k++)
    if (kind == KIND_COUNT || kind == k) add_kind(all, app, k);
  const bool explains = word && kind == KIND_COUNT;
  if (explains && !keep_named(all, word)) return EXIT_INPUT;
  if (json) return cli_write("-", fill_json, all);
  if (explains)
    print_explained(all, text);
  else
    print_list(all, text, !word);
  return cli_print(text->str);
}

static int man_page(void) {
  g_autofree char *page = scenario_man_page();
  return cli_print(page);
}

int cmd_list(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  gboolean man = FALSE;
  GOptionEntry own[] = {{"man-scenario", 0, 0, G_OPTION_ARG_NONE, &man,
                         "print stampede-scenario(5), the manual page of scenario files", NULL},
                        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left = cli_parse(
      "list", "[KIND|NAME]",
      "Names what there is: scenarios, suites of them, presets, variants, profiles, checks, metrics, keys. A KIND "
      "lists that kind, a NAME is explained.",
      &o, own, argc, argv, 0, 1);
  int status = EXIT_INPUT;
  if (left && (o.seed || o.sets || o.trace || o.junit))
    cli_refuse(EXIT_INPUT, "list takes a name, --json and --man-scenario, nothing else");
  else if (left && man && (left[0] || o.json))
    cli_refuse(EXIT_INPUT, "--man-scenario stands alone");
  else if (left)
    status = man ? man_page() : list(app, left[0], o.json);
  cli_clear(&o);
  return status;
}
