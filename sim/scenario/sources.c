/* sources.c - presets and profiles: found, read, validated, and kept with their hash for traces. */
#include "sim/scenario/sources.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/keys.h"
#include <string.h>
#include <xxhash.h>

void scenario_source_free(gpointer source) {
  ScenarioSource *s = source;
  g_free(s->kind);
  g_free(s->name);
  g_free(s->text);
  g_free(s);
}

ScenarioSource *scenario_source_copy(const ScenarioSource *s) {
  ScenarioSource *copy = g_memdup2(s, sizeof *s); /* the hash, too */
  copy->kind = g_strdup(s->kind);
  copy->name = g_strdup(s->name);
  copy->text = g_strdup(s->text);
  return copy;
}

static const char *kind_word(DocumentKind kind) {
  return kind == DOCUMENT_PROFILE ? "profile" : "preset";
}
static const char *kind_folder(DocumentKind kind) {
  return kind == DOCUMENT_PROFILE ? "profiles" : "presets";
}

char *scenario_source_hash(const char *text) {
  const XXH128_hash_t h = XXH3_128bits(text, strlen(text));
  return g_strdup_printf("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", (guint64)h.high64, (guint64)h.low64);
}

static ScenarioSource *source_new(DocumentKind kind, const char *name, const char *text) {
  ScenarioSource *s = g_new0(ScenarioSource, 1);
  g_autofree char *hash = scenario_source_hash(text);
  s->kind = g_strdup(kind_word(kind));
  s->name = g_strdup(name);
  s->text = g_strdup(text);
  g_strlcpy(s->hash, hash, sizeof s->hash);
  return s;
}

/* Names of this kind that there are, for the message. NULL-terminated. */
static GPtrArray *names_of(const ScenarioOptions *opt, DocumentKind kind) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) files = opt->embedded ? NULL : asset_list(opt->dirs, kind_folder(kind));
  for (guint i = 0; files && i < files->len; i++) g_ptr_array_add(names, g_strdup(((Asset *)files->pdata[i])->name));
  for (guint i = 0; opt->embedded && i < opt->embedded->len; i++) {
    const ScenarioSource *s = opt->embedded->pdata[i];
    if (!strcmp(s->kind, kind_word(kind))) g_ptr_array_add(names, g_strdup(s->name));
  }
  g_ptr_array_add(names, NULL);
  return names;
}

/* Presets of three kinds share a folder: variants, which a user names without the word, versions, and poolers. */
static const char *family(const char *name) {
  static const char *const prefixes[] = {"variant-", "postgres-"};
  for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
    if (g_str_has_prefix(name, prefixes[i])) return prefixes[i];
  return "";
}

static Node *not_found(const ScenarioOptions *opt, DocumentKind kind, const char *name, const Mark *at, const char *key,
                       GError **error) {
  g_autoptr(GPtrArray) names = names_of(opt, kind), alike = g_ptr_array_new();
  const char *kin = family(name), *what = *kin == 'v' ? "variant" : kind_word(kind);
  const gsize skip = *kin == 'v' ? strlen(kin) : 0;
  for (guint i = 0; i + 1 < names->len; i++)
    if (family(names->pdata[i]) == kin) g_ptr_array_add(alike, (char *)names->pdata[i] + skip);
  g_ptr_array_add(alike, NULL);
  const char *near = nearest_name(name + skip, (const char *const *)alike->pdata);
  g_autofree char *all = g_strjoinv(", ", (char **)alike->pdata);
  if (near)
    g_propagate_error(error, mark_error(at, key, "no %s %s; the nearest is %s", what, name + skip, near));
  else
    g_propagate_error(error, mark_error(at, key, "no %s %s; there %s %s", what, name + skip,
                                        alike->len == 1 ? "is" : "are", alike->len == 1 ? "none at all" : all));
  return NULL;
}

/* A profile may be one that nobody has bundled: what `calibrate machine` wrote. */
static bool is_path(DocumentKind kind, const char *name) {
  return kind == DOCUMENT_PROFILE && (strchr(name, '/') || g_str_has_suffix(name, ".yaml"));
}

/* *text NULL: there is none. False: it is there and cannot be read. */
static bool text_of(const ScenarioOptions *opt, DocumentKind kind, const char *name, char **text, char **file,
                    GError **error) {
  gsize length = 0;
  for (guint i = 0; opt->embedded && i < opt->embedded->len; i++) {
    const ScenarioSource *s = opt->embedded->pdata[i];
    if (strcmp(s->kind, kind_word(kind)) != 0 || strcmp(s->name, name) != 0) continue;
    *file = g_strdup_printf("%s %s", s->kind, s->name);
    *text = g_strdup(s->text);
    return true;
  }
  if (opt->embedded) return true;
  *file = is_path(kind, name) ? g_strdup(name) : asset_path(opt->dirs, kind_folder(kind), name);
  if (!*file) return true;
  if (!(*text = asset_read(*file, NODE_MAX_BYTES, &length, error))) return false;
  if (strlen(*text) == length) return true;
  g_propagate_error(error, mark_error(&(Mark){.file = *file}, NULL, "byte 0x00: not a text file in UTF-8"));
  return false;
}

/* A document says its own name, so that a renamed copy is noticed. */
static bool named_right(const Node *root, DocumentKind kind, const char *name, GError **error) {
  const Node *own = node_child(root, kind_word(kind));
  g_assert(own); /* required by the table */
  g_autofree char *base = g_path_get_basename(name);
  if (is_path(kind, name) && g_str_has_suffix(base, ".yaml")) base[strlen(base) - strlen(".yaml")] = '\0';
  if (!strcmp(own->text, base)) return true;
  g_propagate_error(error, mark_error(&own->mark, own->key, "is %s; the file is named %s", own->text, name));
  return false;
}

Node *source_open(const ScenarioOptions *opt, DocumentKind kind, const char *name, GPtrArray *used, const Mark *at,
                  const char *key, GError **error) {
  g_autofree char *text = NULL, *file = NULL;
  if (!text_of(opt, kind, name, &text, &file, error)) return NULL;
  if (!text) return not_found(opt, kind, name, at, key, error);
  g_autoptr(Node) root = node_parse(text, strlen(text), file, error);
  if (!root || !validate_document(root, kind, opt, error) || !named_right(root, kind, name, error)) return NULL;
  g_ptr_array_add(used, source_new(kind, name, text));
  return g_steal_pointer(&root);
}
