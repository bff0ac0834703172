/* members.c - see members.h. */
#include "traces/members.h"

static bool store_hash(const JsonValue *v, const Member *m, char *into) {
  if (v->kind != JSON_STRING || !trace_hash_parse(v->text, (Hash128 *)(void *)(into + m->offset))) return false;
  *(bool *)(into + m->flag) = true;
  return true;
}

/* What the member should be, in words, when it is not; else stores it. */
static const char *store(const JsonValue *v, guint index, const Member *m, char *into) {
  void *at = into + m->offset;
  switch (m->kind) {
  case MEMBER_INT:
  case MEMBER_COUNT:
    if (v->kind != JSON_INT) return "an integer";
    *(int64_t *)at = v->integer;
    return m->kind == MEMBER_COUNT && v->integer < 0 ? "an integer, not negative" : NULL;
  case MEMBER_TEXT:
    if (v->kind == JSON_STRING) *(const char **)at = v->text;
    return v->kind == JSON_STRING ? NULL : "a string";
  case MEMBER_TRUE: *(bool *)at = v->kind == JSON_TRUE; return v->kind == JSON_TRUE ? NULL : "true or absent";
  case MEMBER_HASH: return store_hash(v, m, into) ? NULL : "32 lower-case hex digits";
  case MEMBER_OBJECT:
  case MEMBER_ARRAY:
  case MEMBER_VALUE:
    *(guint *)at = index;
    if (m->kind == MEMBER_OBJECT && v->kind != JSON_OBJECT) return "an object";
    return m->kind == MEMBER_ARRAY && v->kind != JSON_ARRAY ? "an array" : NULL;
  }
  g_assert_not_reached();
}

static char *missing(guint32 seen, const Member *table) {
  for (const Member *m = table; m->name; m++)
    if (m->required && !(seen & 1u << (m - table))) return g_strdup_printf("member \"%s\" is missing", m->name);
  return NULL;
}

char *members_read(const GArray *values, guint object, const Member *table, void *into) {
  const JsonValue *all = (const JsonValue *)(const void *)values->data;
  guint32 seen = 0; /* a bit for each of the table */
  for (guint i = 0, at = object + 1; i < all[object].n; i++, at = all[at].next) {
    const Member *m = table;
    while (m->name && strcmp(m->name, all[at].name) != 0) m++;
    g_assert(m - table < 32);
    if (!m->name) return g_strdup_printf("member \"%s\" is unknown here", all[at].name);
    const char *should = store(&all[at], at, m, into);
    if (should) return g_strdup_printf("member \"%s\" should be %s", m->name, should);
    seen |= 1u << (m - table);
  }
  return missing(seen, table);
}
