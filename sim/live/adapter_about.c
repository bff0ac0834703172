/* adapter_about.c - what an adapter's file says of its pooler without being filled in: the preset that is called after
 * it, how many pools it can have, and which of a scenario's settings it can be told. */
#include "sim/live/adapter_parts.h"
#include <string.h>

struct AdapterAbout {
  char *preset;
  guint64 most_pools;
  bool tcp_alone;
  GString *words; /* every text of the file, words in braces as they are */
};

static void gather(const Node *n, GString *words) {
  if (n->kind == NODE_SCALAR && n->text) g_string_append(words, n->text);
  for (guint i = 0; n->children && i < n->children->len; i++) gather(n->children->pdata[i], words);
}

AdapterAbout *adapter_about(const char *const *dirs, const char *name, GError **error) {
  g_autoptr(Node) root = adapter_read(dirs, name, error);
  if (!root) return NULL;
  AdapterAbout *a = g_new0(AdapterAbout, 1);
  const Node *preset = node_child(root, "preset"), *most = node_child(root, "most_pools");
  a->preset = preset ? g_strdup(preset->text) : NULL;
  a->most_pools = most && most->text ? g_ascii_strtoull(most->text, NULL, 10) : G_MAXUINT64;
  a->tcp_alone = !node_child(root, "socket");
  a->words = g_string_new(NULL);
  gather(root, a->words);
  return a;
}

void adapter_about_free(AdapterAbout *a) {
  g_free(a->preset);
  g_string_free(a->words, TRUE);
  g_free(a);
}

const char *adapter_preset(const AdapterAbout *a) {
  return a->preset;
}

bool adapter_tcp_alone(const AdapterAbout *a) {
  return a->tcp_alone;
}

guint64 adapter_most_pools(const AdapterAbout *a) {
  return a->most_pools;
}

/* Its word is its name, but of the order in which idle connections are taken; a time may be in milliseconds. */
bool adapter_tells(const AdapterAbout *a, const char *setting) {
  const char *name = strcmp(setting, "idle_order") == 0 ? "fifo" : setting;
  g_autofree char *word = g_strdup_printf("{%s}", name), *in_ms = g_strdup_printf("{%s_ms}", name);
  return strstr(a->words->str, word) || strstr(a->words->str, in_ms);
}
