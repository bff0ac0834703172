/* manifest.c - see manifest.h. */
#include "sim/subject/manifest.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include <string.h>

enum { MANIFEST_MOST = 1 << 20 };

static void clear_need(void *data) {
  ManifestNeed *n = data;
  g_free(n->file);
  g_free(n->by);
  g_free(n->ninja);
}

static void clear_entry(void *data) {
  ManifestEntry *e = data;
  g_free(e->at);
  g_strfreev(e->functions);
  g_free(e->word);
  g_free(e->about);
}

static void clear_race(void *data) {
  DeclaredRace *r = data;
  g_free(r->at);
  g_free(r->reason);
}

GArray *declared_races_new(void) {
  GArray *races = g_array_new(FALSE, TRUE, sizeof(DeclaredRace));
  g_array_set_clear_func(races, clear_race);
  return races;
}

void manifest_free(Manifest *m) {
  if (!m) return;
  char **texts[] = {&m->path, &m->folder, &m->subject, &m->about, &m->overlay};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(*texts[i]);
  GStrv lists[] = {m->sources, m->includes, m->glue, m->flags};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) g_strfreev(lists[i]);
  if (m->needs) g_array_unref(m->needs);
  if (m->races) g_array_unref(m->races);
  if (m->entries) g_array_unref(m->entries);
  g_free(m);
}

static bool wrong(GError **error, const Node *n, const char *what) {
  g_propagate_error(error, mark_error(&n->mark, n->key, "%s", what));
  return false;
}

static bool wrong_form(GError **error, const Node *n, const char *what, const char *form) {
  g_propagate_error(error, mark_error(&n->mark, n->key, "%s%s", what, form));
  return false;
}

static bool take_text(const Node *n, char **out, GError **error) {
  if (n->kind != NODE_SCALAR || !n->text[0]) return wrong(error, n, "must be a text");
  *out = g_strdup(n->text);
  return true;
}

static bool take_list(const Node *n, GStrv *out, GError **error) {
  g_autoptr(GStrvBuilder) b = g_strv_builder_new();
  if (n->kind == NODE_MAP) return wrong(error, n, "must be a list of texts");
  for (guint i = 0; n->kind == NODE_LIST && i < n->children->len; i++) {
    const Node *entry = n->children->pdata[i];
    if (entry->kind != NODE_SCALAR) return wrong(error, entry, "must be a text");
    g_strv_builder_add(b, entry->text);
  }
  if (n->kind == NODE_SCALAR) g_strv_builder_add(b, n->text);
  *out = g_strv_builder_end(b);
  return true;
}

/* A map of texts, with these keys and no others. */
static bool only_keys(const Node *n, const char *const *keys, const char *form, GError **error) {
  if (n->kind != NODE_MAP) return wrong_form(error, n, "must be ", form);
  for (guint i = 0; i < n->children->len; i++) {
    const Node *child = n->children->pdata[i];
    g_autofree char *known = g_strjoinv(", ", (char **)keys), *right = g_strconcat(known, " would be right", NULL);
    if (!g_strv_contains(keys, child->key)) return wrong_form(error, child, "no such key; ", right);
    if (child->kind != NODE_SCALAR) return wrong(error, child, "must be a text");
  }
  return true;
}

static char *text_at(const Node *n, const char *key) {
  const Node *child = node_child(n, key);
  return child ? g_strdup(child->text) : NULL;
}

#define NEED_FORM "{file: PATH, by: COMMAND, ninja: TARGET}"

static bool take_need(Manifest *m, const Node *n, GError **error) {
  static const char *const keys[] = {"file", "by", "ninja", NULL};
  if (!only_keys(n, keys, NEED_FORM, error)) return false;
  ManifestNeed need = {text_at(n, "file"), text_at(n, "by"), text_at(n, "ninja")};
  g_array_append_val(m->needs, need);
  return need.file || wrong(error, n, "`file` is missing: " NEED_FORM);
}

static bool take_needs(Manifest *m, const Node *n, GError **error) {
  if (n->kind != NODE_LIST) return wrong(error, n, "must be a list of " NEED_FORM);
  for (guint i = 0; i < n->children->len; i++)
    if (!take_need(m, n->children->pdata[i], error)) return false;
  return true;
}

/* ---- races ---- */

#define RACE_FORM "{at: FILE:LINE or NAME, reason: TEXT}"

static bool is_line_number(const char *text) {
  gsize digits = strspn(text, "0123456789");
  return digits > 0 && digits < 10 && !text[digits] && text[0] != '0';
}

/* What has a colon is meant for FILE:LINE. Reports know no folders, nor which element of an array, so that with these
 * nothing would ever be declared. */
static const char *wrong_place(const char *at) {
  const char *colon = strrchr(at, ':');
  if (!at[0]) return "must be FILE:LINE or a name";
  if (strchr(at, '/')) return "FILE stands without its folders: as a report of races has it";
  if (colon && (colon == at || !is_line_number(colon + 1))) return "must be FILE:LINE, LINE from 1, or a name";
  if (strchr(at, '[')) return "a name stands without an index: it is declared for all elements";
  return NULL;
}

static bool is_declared(const Manifest *m, const char *at) {
  for (guint i = 0; i < m->races->len; i++)
    if (strcmp(g_array_index(m->races, DeclaredRace, i).at, at) == 0) return true;
  return false;
}

static bool take_race(Manifest *m, const Node *n, GError **error) {
  static const char *const keys[] = {"at", "reason", NULL};
  if (!only_keys(n, keys, RACE_FORM, error)) return false;
  const Node *at = node_child(n, "at"), *reason = node_child(n, "reason");
  if (!at) return wrong(error, n, "`at` is missing: " RACE_FORM);
  if (!reason) return wrong(error, n, "`reason` is missing: " RACE_FORM);
  const char *why = wrong_place(at->text);
  if (why) return wrong(error, at, why);
  if (is_declared(m, at->text)) return wrong(error, at, "is declared already");
  if (!reason->text[strspn(reason->text, " \t")]) return wrong(error, reason, "must say why the race is right");
  DeclaredRace race = {g_strdup(at->text), g_strdup(reason->text)};
  g_array_append_val(m->races, race);
  return true;
}

static bool take_races(Manifest *m, const Node *n, GError **error) {
  if (n->kind != NODE_LIST) return wrong(error, n, "must be a list of " RACE_FORM);
  for (guint i = 0; i < n->children->len; i++)
    if (!take_race(m, n->children->pdata[i], error)) return false;
  return true;
}

/* ---- entries ---- */

#define ENTRY_FORM "NAME, a list of names of which one is there, or {name: WORD, calls: NAME, about: TEXT}"

static bool is_word(const char *text) {
  if (!g_ascii_isalpha(*text)) return false;
  for (; *text; text++)
    if (!g_ascii_isalnum(*text) && *text != '-' && *text != '_') return false;
  return true;
}

static bool take_called(ManifestEntry *e, const Node *n, GError **error) {
  static const char *const keys[] = {"name", "calls", "about", NULL};
  if (!only_keys(n, keys, ENTRY_FORM, error)) return false;
  e->word = text_at(n, "name");
  e->about = node_child(n, "about") ? text_at(n, "about") : g_strdup("");
  const Node *calls = node_child(n, "calls");
  if (!e->word || !calls) return wrong(error, n, "`name` and `calls` are needed");
  if (!is_word(e->word)) return wrong(error, node_child(n, "name"), "must be a word: letters, digits, - and _");
  if (calls->kind != NODE_SCALAR || !calls->text[0]) return wrong(error, calls, "must be the name of a function");
  return take_list(calls, &e->functions, error);
}

static bool take_entry(Manifest *m, const Node *n, GError **error) {
  ManifestEntry e = {.at = mark_text(&n->mark)};
  bool ok = n->kind == NODE_MAP ? take_called(&e, n, error) : take_list(n, &e.functions, error);
  g_array_append_val(m->entries, e);
  if (ok && !e.functions[0]) return wrong(error, n, "names no function");
  for (guint i = 0; ok && i + 1 < m->entries->len; i++)
    if (e.word && g_strcmp0(g_array_index(m->entries, ManifestEntry, i).word, e.word) == 0)
      return wrong(error, n, "an entry of this name is declared already");
  return ok;
}

static bool take_entries(Manifest *m, const Node *n, GError **error) {
  if (n->kind != NODE_LIST) return wrong(error, n, "must be a list; each is " ENTRY_FORM);
  for (guint i = 0; i < n->children->len; i++)
    if (!take_entry(m, n->children->pdata[i], error)) return false;
  return true;
}

static bool take_key(Manifest *m, const Node *n, GError **error) {
  const struct {
    const char *key;
    char **text;
    GStrv *list;
  } keys[] = {{"subject", &m->subject, NULL}, {"about", &m->about, NULL},       {"overlay", &m->overlay, NULL},
              {"sources", NULL, &m->sources}, {"includes", NULL, &m->includes}, {"glue", NULL, &m->glue},
              {"flags", NULL, &m->flags}};
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
    if (strcmp(n->key, keys[i].key) == 0)
      return keys[i].text ? take_text(n, keys[i].text, error) : take_list(n, keys[i].list, error);
  if (strcmp(n->key, "needs") == 0) return take_needs(m, n, error);
  if (strcmp(n->key, "races") == 0) return take_races(m, n, error);
  if (strcmp(n->key, "entries") == 0) return take_entries(m, n, error);
  return wrong(error, n,
               "no such key; subject, about, sources, includes, entries, glue, overlay, flags, needs, races would be "
               "right");
}

Manifest *manifest_read(const char *path, GError **error) {
  gsize length;
  g_autofree char *text = asset_read(path, MANIFEST_MOST, &length, error);
  g_autoptr(Node) root = text ? node_parse(text, length, path, error) : NULL;
  if (!root) return NULL;
  g_autoptr(Manifest) m = g_new0(Manifest, 1);
  m->path = g_strdup(path);
  m->folder = g_path_get_dirname(path);
  m->needs = g_array_new(FALSE, TRUE, sizeof(ManifestNeed));
  g_array_set_clear_func(m->needs, clear_need);
  m->races = declared_races_new();
  m->entries = g_array_new(FALSE, TRUE, sizeof(ManifestEntry));
  g_array_set_clear_func(m->entries, clear_entry);
  if (root->kind != NODE_MAP) return wrong(error, root, "a manifest is a map of keys"), NULL;
  for (guint i = 0; i < root->children->len; i++)
    if (!take_key(m, root->children->pdata[i], error)) return NULL;
  if (!m->subject) return wrong(error, root, "a manifest needs `subject`, its name"), NULL;
  if (!m->sources || !m->sources[0]) return wrong(error, root, "a manifest needs `sources`"), NULL;
  GStrv *lists[] = {&m->includes, &m->glue, &m->flags};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
    if (!*lists[i]) *lists[i] = g_new0(char *, 1);
  if (!m->about) m->about = g_strdup("");
  return g_steal_pointer(&m);
}
