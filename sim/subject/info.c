/* info.c - see info.h. */
#include "sim/subject/info.h"
#include "sim/result.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/shape.h"
#include <string.h>

enum { LINE = 64 };

static const char *const *structs_of(const Image *i, const InfoWish *w) {
  return w->structs && w->structs[0] ? w->structs : shape_structs(i);
}

bool info_check(const Image *i, const InfoWish *w, GError **error) {
  uint64_t size;
  for (guint k = 0; w->structs && w->structs[k]; k++) {
    if (image_type_size(i, w->structs[k], &size)) continue;
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: it has no struct %s", image_path(i), w->structs[k]);
    return false;
  }
  return true;
}

/* ---- members, for both ---- */

typedef struct {
  const char *type;
  bool all;
  GString *text;
  Output *json;
  guint n; /* told */
} Members;

static bool is_wanted(const Members *m, const char *member) {
  return m->all || shape_matters(m->type, member);
}

/* ---- text ---- */

static void text_list(GString *out, const char *what, const char *const *names) {
  g_string_append_printf(out, "%s: %u\n", what, g_strv_length((char **)names));
  for (guint i = 0; names[i]; i++) g_string_append_printf(out, "  %s\n", names[i]);
}

static void text_races(const Origin *b, GString *out) {
  g_string_append_printf(out, "races on purpose: %u\n", b->races->len);
  for (guint i = 0; i < b->races->len; i++) {
    const DeclaredRace *r = &g_array_index(b->races, DeclaredRace, i);
    g_string_append_printf(out, "  %s: %s\n", r->at, r->reason);
  }
}

static void text_built(const Origin *b, GString *out) {
  g_autofree char *flags = g_strjoinv(" ", b->flags), *sources = g_strjoinv(" ", b->sources);
  g_string_append_printf(out, "built by     stampede %s, %s\n", b->stampede, b->compiler);
  if (b->tree) g_string_append_printf(out, "tree         %s\n", b->tree);
  if (b->build) g_string_append_printf(out, "build        %s\n", b->build);
  if (b->manifest) g_string_append_printf(out, "manifest     %s\n", b->manifest);
  g_string_append_printf(out, "sources      %s\n", sources);
  g_string_append_printf(out, "flags        %s\n", flags);
  g_string_append_printf(out, "flags from   the manifest%s%s\n", b->flags_from ? ", " : "",
                         b->flags_from ? b->flags_from : "");
}

static void text_found(const char *what, const char *found, void *data) {
  g_string_append_printf(data, "%-12s %s\n", what, found);
}

/* Where in its struct, and in which line of cache, were the struct to begin with one. */
static void text_member(const char *member, const ImageField *f, void *data) {
  Members *m = data;
  if (!is_wanted(m, member)) return;
  g_string_append_printf(m->text, "  %6" G_GUINT64_FORMAT " %6" G_GUINT64_FORMAT " %5" G_GUINT64_FORMAT "  %s\n",
                         f->offset, f->size, f->offset / LINE, member);
}

static void text_struct(const Image *i, const char *type, bool all, GString *out) {
  uint64_t size = 0;
  if (!image_type_size(i, type, &size)) return;
  g_string_append_printf(out,
                         "\nstruct %s: %" G_GUINT64_FORMAT " bytes, %" G_GUINT64_FORMAT
                         " cache lines\n  offset   size  line  member\n",
                         type, size, (size + LINE - 1) / LINE);
  Members m = {.type = type, .all = all, .text = out};
  image_each_field(i, type, text_member, &m);
}

static void text_code(const StampedeSubject *s, GString *out) {
  for (guint k = 0; k < s->n_entries; k++)
    g_string_append_printf(out, "entry        %s: %s\n", s->entries[k].name, s->entries[k].about);
  for (guint k = 0; k < s->n_checks; k++)
    g_string_append_printf(out, "check        %s: %s\n", s->checks[k].name, s->checks[k].about);
}

void info_text(const Image *i, const InfoWish *w, GString *out) {
  const StampedeSubject *s = image_subject(i);
  const Origin *b = image_origin(i);
  g_string_append_printf(out, "%s: %s\n", s->name, b->about && b->about[0] ? b->about : s->about);
  text_built(b, out);
  shape_each(i, text_found, out);
  text_code(s, out);
  for (const char *const *type = structs_of(i, w); *type; type++) text_struct(i, *type, w->all, out);
  g_string_append_c(out, '\n');
  text_races(b, out);
  text_list(out, "called from outside", (const char *const *)b->entries);
  text_list(out, "modelled", (const char *const *)b->modelled);
  text_list(out, "traps", (const char *const *)b->traps);
  text_list(out, "inline assembly that writes memory, unseen", (const char *const *)b->assembly);
}

/* ---- JSON ---- */

static void json_nullable(Output *o, const char *key, const char *value) {
  output_key(o, key);
  output_nullable(o, value);
  output_str(o, ", ");
}

static void json_list(Output *o, const char *key, const char *const *values) {
  output_key(o, key);
  output_strings(o, values, g_strv_length((GStrv)values));
}

static void json_built(Output *o, const Origin *b) {
  output_str(o, "  \"built\": {");
  json_nullable(o, "stampede", b->stampede);
  json_nullable(o, "compiler", b->compiler);
  json_nullable(o, "tree", b->tree);
  json_nullable(o, "build", b->build);
  json_nullable(o, "manifest", b->manifest);
  json_list(o, "sources", (const char *const *)b->sources);
  output_str(o, ", ");
  json_list(o, "flags", (const char *const *)b->flags);
  output_str(o, ", ");
  output_key(o, "flags_from");
  output_nullable(o, b->flags_from);
  output_str(o, "},\n");
}

static void json_found(const char *what, const char *found, void *data) {
  Members *m = data;
  if (m->n++) output_str(m->json, ", ");
  output_key(m->json, what);
  output_string(m->json, found);
}

static void json_member(const char *member, const ImageField *f, void *data) {
  Members *m = data;
  if (!is_wanted(m, member)) return;
  output_str(m->json, m->n++ ? ",\n      {\"name\": " : "\n      {\"name\": ");
  output_string(m->json, member);
  output_str(m->json, ", \"offset\": ");
  output_uint(m->json, f->offset);
  output_str(m->json, ", \"size\": ");
  output_uint(m->json, f->size);
  output_str(m->json, "}");
}

static void json_struct(const Image *i, const char *type, bool all, Output *o) {
  uint64_t size = 0;
  image_type_size(i, type, &size);
  output_key(o, type);
  output_str(o, "{\"size\": ");
  output_uint(o, size);
  output_str(o, ", \"members\": [");
  Members m = {.type = type, .all = all, .json = o};
  image_each_field(i, type, json_member, &m);
  output_str(o, "]}");
}

static void json_structs(const Image *i, const InfoWish *w, Output *o) {
  output_str(o, "  \"structs\": {");
  guint n = 0;
  uint64_t size;
  for (const char *const *type = structs_of(i, w); *type; type++) {
    if (!image_type_size(i, *type, &size)) continue;
    output_str(o, n++ ? ",\n    " : "\n    ");
    json_struct(i, *type, w->all, o);
  }
  output_str(o, "},\n");
}

static void json_code(const StampedeSubject *s, Output *o) {
  g_autoptr(GPtrArray) entries = g_ptr_array_new(), checks = g_ptr_array_new();
  for (guint k = 0; k < s->n_entries; k++) g_ptr_array_add(entries, (char *)s->entries[k].name);
  for (guint k = 0; k < s->n_checks; k++) g_ptr_array_add(checks, (char *)s->checks[k].name);
  g_ptr_array_add(entries, NULL);
  g_ptr_array_add(checks, NULL);
  output_str(o, "  ");
  json_list(o, "entries", (const char *const *)entries->pdata);
  output_str(o, ",\n  ");
  json_list(o, "checks", (const char *const *)checks->pdata);
  output_str(o, ",\n");
}

static void json_races(Output *o, const GArray *races) {
  output_str(o, ",\n  \"races\": [");
  for (guint i = 0; i < races->len; i++) {
    const DeclaredRace *r = &g_array_index(races, DeclaredRace, i);
    if (i) output_str(o, ", ");
    declared_race_json(r->at, r->reason, o);
  }
  output_str(o, "]");
}

void info_json(const Image *i, const InfoWish *w, Output *o) {
  const StampedeSubject *s = image_subject(i);
  const Origin *b = image_origin(i);
  output_str(o, "{\n  ");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "subject", s->name);
  report_json_text(o, "about", b->about && b->about[0] ? b->about : s->about);
  report_json_text(o, "hash", image_hash(i));
  output_str(o, "\"kind\": ");
  output_nullable(o, s->kind);
  output_str(o, ",\n");
  json_built(o, b);
  output_str(o, "  \"detected\": {");
  Members found = {.json = o};
  shape_each(i, json_found, &found);
  output_str(o, "},\n");
  json_code(s, o);
  json_structs(i, w, o);
  const struct {
    const char *key;
    GStrv values;
  } lists[] = {{"called", b->entries}, {"modelled", b->modelled}, {"traps", b->traps}, {"assembly", b->assembly}};
  for (guint k = 0; k < G_N_ELEMENTS(lists); k++) {
    output_str(o, k ? ",\n  " : "  ");
    json_list(o, lists[k].key, (const char *const *)lists[k].values);
  }
  json_races(o, b->races);
  output_str(o, "\n}\n");
}
