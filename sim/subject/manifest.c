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
}

void manifest_free(Manifest *m) {
  if (!m) return;
  char **texts[] = {&m->path, &m->folder, &m->subject, &m->about, &m->overlay};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(*texts[i]);
  GStrv lists[] = {m->sources, m->includes, m->glue, m->flags};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) g_strfreev(lists[i]);
  if (m->needs) g_array_unref(m->needs);
  g_free(m);
}

static bool wrong(GError **error, const Node *n, const char *what) {
  g_propagate_error(error, mark_error(&n->mark, n->key, "%s", what));
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

static bool take_need(Manifest *m, const Node *n, GError **error) {
  const Node *file = node_child(n, "file"), *by = node_child(n, "by");
  if (!file || file->kind != NODE_SCALAR) return wrong(error, n, "must be {file: PATH, by: COMMAND}");
  ManifestNeed need = {g_strdup(file->text), by && by->kind == NODE_SCALAR ? g_strdup(by->text) : NULL};
  g_array_append_val(m->needs, need);
  return true;
}

static bool take_needs(Manifest *m, const Node *n, GError **error) {
  if (n->kind != NODE_LIST) return wrong(error, n, "must be a list of {file: PATH, by: COMMAND}");
  for (guint i = 0; i < n->children->len; i++)
    if (!take_need(m, n->children->pdata[i], error)) return false;
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
  return wrong(error, n, "no such key; subject, about, sources, includes, glue, overlay, flags, needs would be right");
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
