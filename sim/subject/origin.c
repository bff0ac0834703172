/* origin.c - see origin.h. */
#include "sim/subject/origin.h"
#include "sim/result.h"
#include <elf.h>
#include <gelf.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <xxhash.h>

/* ---- written ---- */

static void add_text(JsonBuilder *b, const char *key, const char *value) {
  json_builder_set_member_name(b, key);
  if (value)
    json_builder_add_string_value(b, value);
  else
    json_builder_add_null_value(b);
}

static void add_texts(JsonBuilder *b, const char *key, const char *const *values) {
  json_builder_set_member_name(b, key);
  json_builder_begin_array(b);
  for (; values && *values; values++) json_builder_add_string_value(b, *values);
  json_builder_end_array(b);
}

static void add_races(JsonBuilder *b, const GArray *races) {
  json_builder_set_member_name(b, "races");
  json_builder_begin_array(b);
  for (guint i = 0; i < races->len; i++) {
    const DeclaredRace *r = &g_array_index(races, DeclaredRace, i);
    json_builder_begin_object(b);
    add_text(b, "at", r->at);
    add_text(b, "reason", r->reason);
    json_builder_end_object(b);
  }
  json_builder_end_array(b);
}

static char *text_of(JsonBuilder *b) {
  g_autoptr(JsonNode) root = json_builder_get_root(b);
  return json_to_string(root, FALSE);
}

static char *json_of(const Manifest *m, const BuildOptions *o, const char *compiler, const char *const *flags,
                     const BuildReport *r) {
  g_autoptr(JsonBuilder) b = json_builder_new();
  json_builder_begin_object(b);
  add_text(b, "stampede", STAMPEDE_VERSION);
  add_text(b, "subject", m->subject);
  add_text(b, "about", m->about);
  add_text(b, "tree", o->tree);
  add_text(b, "build", o->build);
  add_text(b, "manifest", o->manifest);
  add_text(b, "compiler", compiler);
  add_texts(b, "flags", flags);
  add_text(b, "flags_from", r->flags_from);
  add_texts(b, "sources", (const char *const *)m->sources);
  add_texts(b, "entries", (const char *const *)r->entries);
  add_texts(b, "modelled", (const char *const *)r->modelled);
  add_texts(b, "traps", (const char *const *)r->traps);
  add_texts(b, "assembly", (const char *const *)r->assembly);
  add_races(b, m->races);
  json_builder_end_object(b);
  return text_of(b);
}

char *origin_text(const Manifest *m, const BuildOptions *o, const char *compiler, const char *const *flags,
                  const BuildReport *r) {
  g_autofree char *json = json_of(m, o, compiler, flags, r);
  g_autofree char *escaped = g_strescape(json, NULL);
  return g_strdup_printf("const char stampede_subject_build[] __attribute__((used, section(\"" ORIGIN_SECTION
                         "\"))) = \"%s\";\n",
                         escaped);
}

/* ---- read ---- */

static char *take_text(JsonObject *o, const char *key) {
  return g_strdup(json_object_get_string_member_with_default(o, key, NULL));
}

static GStrv take_texts(JsonObject *o, const char *key) {
  g_autoptr(GStrvBuilder) b = g_strv_builder_new();
  JsonNode *node = json_object_get_member(o, key);
  JsonArray *a = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  for (guint i = 0; a && i < json_array_get_length(a); i++) {
    const char *text = json_node_get_string(json_array_get_element(a, i));
    if (text) g_strv_builder_add(b, text);
  }
  return g_strv_builder_end(b);
}

/* An object may be anybody's: what is no declaration is none. */
static GArray *take_races(JsonObject *o) {
  GArray *races = declared_races_new();
  JsonNode *node = json_object_get_member(o, "races");
  JsonArray *a = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  for (guint i = 0; a && i < json_array_get_length(a); i++) {
    JsonNode *entry = json_array_get_element(a, i);
    if (!JSON_NODE_HOLDS_OBJECT(entry)) continue;
    JsonObject *of = json_node_get_object(entry);
    DeclaredRace race = {take_text(of, "at"), take_text(of, "reason")};
    if (race.at && race.reason) g_array_append_val(races, race);
    if (!race.at || !race.reason) g_free(race.at), g_free(race.reason);
  }
  return races;
}

static Origin *origin_of(JsonObject *from) {
  Origin *o = g_new0(Origin, 1);
  *o = (Origin){.stampede = take_text(from, "stampede"),
                .tree = take_text(from, "tree"),
                .build = take_text(from, "build"),
                .manifest = take_text(from, "manifest"),
                .compiler = take_text(from, "compiler"),
                .flags_from = take_text(from, "flags_from"),
                .about = take_text(from, "about"),
                .flags = take_texts(from, "flags"),
                .sources = take_texts(from, "sources"),
                .entries = take_texts(from, "entries"),
                .modelled = take_texts(from, "modelled"),
                .traps = take_texts(from, "traps"),
                .assembly = take_texts(from, "assembly"),
                .races = take_races(from)};
  return o;
}

static Elf_Data *section_named(Elf *elf, const char *name) {
  size_t strings;
  if (elf_getshdrstrndx(elf, &strings) != 0) return NULL;
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
    GElf_Shdr header;
    const char *own = gelf_getshdr(scn, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;
    if (own && strcmp(own, name) == 0) return elf_rawdata(scn, NULL);
  }
  return NULL;
}

static char *json_in(const char *contents, gsize length) {
  elf_version(EV_CURRENT);
  Elf *elf = elf_memory((char *)contents, length); /* only read */
  Elf_Data *data = elf ? section_named(elf, ORIGIN_SECTION) : NULL;
  char *json = data && data->d_buf ? g_strndup(data->d_buf, data->d_size) : NULL;
  if (elf) elf_end(elf);
  return json;
}

Origin *origin_read(const char *contents, gsize length) {
  g_autofree char *json = json_in(contents, length);
  g_autoptr(JsonNode) root = json ? json_from_string(json, NULL) : NULL;
  return root && JSON_NODE_HOLDS_OBJECT(root) ? origin_of(json_node_get_object(root)) : NULL;
}

void declared_race_json(const char *at, const char *reason, Output *o) {
  output_str(o, "{");
  output_key(o, "at");
  output_string(o, at);
  output_str(o, ", ");
  output_key(o, "reason");
  output_string(o, reason);
  output_str(o, "}");
}

void origin_free(Origin *o) {
  if (!o) return;
  char *texts[] = {o->stampede, o->tree, o->build, o->manifest, o->compiler, o->flags_from, o->about};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  g_array_unref(o->races);
  GStrv lists[] = {o->flags, o->sources, o->entries, o->modelled, o->traps, o->assembly};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) g_strfreev(lists[i]);
  g_free(o);
}

/* ---- the seal ---- */

#define SEAL_WORD "stampede-seal:"
enum { SEAL_BYTES = sizeof SEAL_WORD - 1 + 32 };

char *origin_seal(const char *contents, gsize length) {
  XXH128_hash_t h = XXH3_128bits(contents, length);
  return g_strdup_printf(SEAL_WORD "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", (guint64)h.high64,
                         (guint64)h.low64);
}

bool origin_is_sealed(const char *contents, gsize length) {
  if (length < SEAL_BYTES) return false;
  g_autofree char *seal = origin_seal(contents, length - SEAL_BYTES);
  return memcmp(contents + length - SEAL_BYTES, seal, SEAL_BYTES) == 0;
}
