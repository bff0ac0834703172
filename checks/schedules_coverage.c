/* schedules_coverage.c - see schedules_coverage.h. */
#include "checks/schedules_coverage.h"
#include <stdint.h>
#include <string.h>

enum { LEAST = 64 };

void tally_clear(Tally *t) {
  g_free(t->keys);
  g_free(t->values);
  *t = (Tally){0};
}

static guint slot_of(const Tally *t, guint64 key) {
  guint i = (guint)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->size - 1);
  while (t->keys[i] && t->keys[i] != key) i = (i + 1) & (t->size - 1);
  return i;
}

static void grow(Tally *t) {
  Tally bigger = {.size = t->size ? t->size * 2 : LEAST, .used = t->used};
  bigger.keys = g_new0(guint64, bigger.size);
  bigger.values = g_new0(guint32, bigger.size);
  for (guint i = 0; i < t->size; i++) {
    if (!t->keys[i]) continue;
    guint to = slot_of(&bigger, t->keys[i]);
    bigger.keys[to] = t->keys[i];
    bigger.values[to] = t->values[i];
  }
  tally_clear(t);
  *t = bigger;
}

guint32 *tally_at(Tally *t, guint64 key) {
  key = key ? key : 1;
  if (t->used * 2 >= t->size) grow(t);
  guint i = slot_of(t, key);
  t->used += t->keys[i] == 0;
  t->keys[i] = key;
  return &t->values[i];
}

guint tally_count(const Tally *t, guint32 value) {
  guint n = 0;
  for (guint i = 0; i < t->size; i++) n += t->keys[i] && t->values[i] == value;
  return n;
}

void tally_put(const Tally *t, GByteArray *out) {
  g_byte_array_append(out, (const guint8 *)&t->used, sizeof t->used);
  for (guint i = 0; i < t->size; i++) {
    if (!t->keys[i]) continue;
    g_byte_array_append(out, (const guint8 *)&t->keys[i], sizeof t->keys[i]);
    g_byte_array_append(out, (const guint8 *)&t->values[i], sizeof t->values[i]);
  }
}

void tally_take(Tally *t, const guint8 **at, bool add) {
  guint n;
  memcpy(&n, *at, sizeof n);
  *at += sizeof n;
  for (guint i = 0; i < n; i++) {
    guint64 key;
    guint32 value;
    memcpy(&key, *at, sizeof key);
    memcpy(&value, *at + sizeof key, sizeof value);
    *at += sizeof key + sizeof value;
    guint32 *mine = tally_at(t, key);
    *mine = add ? *mine + value : *mine | value;
  }
}

void coverage_clear(Coverage *c) {
  tally_clear(&c->classes);
  tally_clear(&c->points);
}

void coverage_put(const Coverage *c, GByteArray *out) {
  tally_put(&c->classes, out);
  tally_put(&c->points, out);
}

void coverage_take(Coverage *c, const guint8 **at) {
  tally_take(&c->classes, at, true);
  tally_take(&c->points, at, false);
}
