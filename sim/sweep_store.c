/* sweep_store.c - see sweep_store.h. */
#include "sim/sweep_store.h"
#include <errno.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <xxhash.h>

/* ---- the manifest: JSON with one member a line, so that two are compared line by line ---- */

static void member(GString *out, const char *key, JsonNode *value_taken) {
  g_autoptr(JsonNode) value = value_taken;
  g_autofree char *text = json_to_string(value, FALSE);
  g_string_append_printf(out, "%s\n  \"%s\": %s", out->len ? "," : "{", key, text);
}

static void member_text(GString *out, const char *key, const char *value) {
  member(out, key, json_node_init_string(json_node_alloc(), value));
}

static void hash_of(const char *text, gsize length, char hash[33]) {
  XXH128_hash_t h = XXH3_128bits(text, length);
  trace_hash_text((Hash128){.lo = h.low64, .hi = h.high64}, hash);
}

static void member_hash(GString *out, const char *kind, const char *name, const char *text) {
  char hash[33];
  hash_of(text, strlen(text), hash);
  g_autofree char *key = g_strdup_printf("text of %s %s", kind, name);
  member_text(out, key, hash);
}

static void member_list(GString *out, const char *key, const GPtrArray *values) {
  JsonArray *a = json_array_new();
  for (guint i = 0; i < values->len; i++) json_array_add_string_element(a, values->pdata[i]);
  JsonNode *node = json_node_init_array(json_node_alloc(), a);
  json_array_unref(a);
  member(out, key, node);
}

static void add_lists(GString *out, const SweepPlan *p) {
  member_list(out, "overrides", p->plain);
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    g_autofree char *key = g_strdup_printf("list %u, %s", i + 1, k->scenarios ? k->name : k->key);
    member_list(out, key, k->values);
  }
  member_list(out, "variants", p->variants);
  member(out, "variants of the scenario itself", json_node_init_boolean(json_node_alloc(), p->own_variant));
}

static void add_texts(GString *out, const SweepPlan *p) {
  for (guint i = 0; i < p->scenarios->len; i++) {
    const SweepScenario *s = p->scenarios->pdata[i];
    member_hash(out, "scenario", s->name, s->text);
  }
  for (guint i = 0; i < p->sources->len; i++) {
    const ScenarioSource *s = p->sources->pdata[i];
    member_hash(out, s->kind, s->name, s->text);
  }
  if (p->published) member_hash(out, "table", p->published->table, p->published->text);
}

char *sweep_manifest(const SweepPlan *p) {
  GString *out = g_string_new(NULL);
  g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, p->seed);
  member_text(out, "stampede", STAMPEDE_VERSION);
  member_text(out, "scenario", p->scenario);
  member_text(out, "job", p->job);
  add_lists(out, p);
  member_text(out, "first seed", seed);
  member(out, "seeds", json_node_init_int(json_node_alloc(), p->seeds));
  add_texts(out, p);
  g_string_append(out, "\n}\n");
  return g_string_free(out, FALSE);
}

void sweep_manifest_hash(const SweepPlan *p, char hash[33]) {
  g_autofree char *manifest = sweep_manifest(p);
  hash_of(manifest, strlen(manifest), hash);
}

/* "KEY": of a manifest's line; NULL: it has none. */
static char *line_key(const char *line) {
  const char *end = strstr(line, "\": ");
  return g_str_has_prefix(line, "  \"") && end ? g_strndup(line + 3, (gsize)(end - line) - 3) : NULL;
}

/* The value of `key`, as it is written there. */
static char *value_of(char **lines, const char *key) {
  for (; *lines; lines++) {
    g_autofree char *k = line_key(*lines);
    if (g_strcmp0(k, key) != 0) continue;
    const char *value = *lines + strlen(key) + 6; /* two blanks, two quotes, colon, blank */
    return g_strndup(value, strlen(value) - (g_str_has_suffix(value, ",") ? 1 : 0));
  }
  return g_strdup("nothing");
}

/* The first key of `keys` whose value the two have not alike. */
static char *differing(char **keys, char **there, char **now) {
  for (; *keys; keys++) {
    g_autofree char *key = line_key(*keys);
    g_autofree char *a = key ? value_of(there, key) : NULL, *b = key ? value_of(now, key) : NULL;
    if (key && strcmp(a, b) != 0) return g_strdup_printf("%s: %s there, %s now", key, a, b);
  }
  return NULL;
}

char *sweep_manifest_difference(const char *there, const char *now) {
  if (!strcmp(there, now)) return NULL;
  if (!g_utf8_validate(there, -1, NULL) || !g_str_has_prefix(there, "{\n"))
    return g_strdup("its manifest.json is none");
  g_auto(GStrv) old = g_strsplit(there, "\n", -1), new = g_strsplit(now, "\n", -1);
  char *difference = differing(new, old, new);
  if (!difference) difference = differing(old, old, new);
  return difference ? difference : g_strdup("its manifest.json was edited");
}

/* ---- the folder ---- */

static bool refuse(GError **error, const char *dir, const char *what) {
  g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: %s", dir, what));
  return false;
}

char *sweep_store_path(const char *dir, guint point) {
  g_autofree char *file = g_strdup_printf("%04u.json", point);
  return g_build_filename(dir, "points", file, NULL);
}

static bool make_folder(const char *path, GError **error) {
  if (g_mkdir_with_parents(path, 0777) == 0 && g_file_test(path, G_FILE_TEST_IS_DIR)) return true;
  int saved = errno;
  g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(saved), "%s: cannot make this folder: %s", path,
              g_strerror(saved));
  return false;
}

static bool write_text(const char *path, const char *text, GError **error) {
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  output_str(out, text);
  return output_commit(out, error);
}

/* Points of a sweep whose manifest is gone would be taken for this one's. */
static bool no_points(const char *dir, const char *points, GError **error) {
  g_autoptr(GDir) d = g_dir_open(points, 0, NULL);
  const char *name;
  while (d && (name = g_dir_read_name(d)))
    if (g_str_has_suffix(name, ".json"))
      return refuse(error, dir, "holds the points of a sweep without its manifest; give another directory");
  return true;
}

static bool begin(const char *dir, const char *manifest, const char *path, GError **error) {
  g_autofree char *points = g_build_filename(dir, "points", NULL);
  return no_points(dir, points, error) && make_folder(points, error) && write_text(path, manifest, error);
}

static bool go_on(const char *dir, const char *there, const char *manifest, GError **error) {
  g_autofree char *points = g_build_filename(dir, "points", NULL),
                  *difference = sweep_manifest_difference(there, manifest);
  if (!difference) return make_folder(points, error);
  g_autofree char *what = g_strdup_printf("holds another sweep; %s", difference);
  return refuse(error, dir, what);
}

bool sweep_store_open(const char *dir, const SweepPlan *p, bool resume, GError **error) {
  g_autofree char *path = g_build_filename(dir, "manifest.json", NULL), *manifest = sweep_manifest(p), *there = NULL;
  if (!make_folder(dir, error)) return false;
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) return begin(dir, manifest, path, error);
  if (!resume) return refuse(error, dir, "holds a sweep already; --resume goes on, or give another directory");
  return g_file_get_contents(path, &there, NULL, error) && go_on(dir, there, manifest, error);
}

char *sweep_store_key(const SweepPlan *p, guint point) {
  g_autofree char *name = sweep_point_name(p, point);
  return g_strdup_printf("%s of sweep %s", name, p->hash);
}

bool sweep_store_keep(const char *dir, const SweepPlan *p, guint point, RunResult *r, GError **error) {
  g_autofree char *path = sweep_store_path(dir, point);
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  g_free(r->point);
  r->point = sweep_store_key(p, point);
  report_json(r, out);
  return output_commit(out, error);
}
