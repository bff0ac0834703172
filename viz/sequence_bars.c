/* sequence_bars.c - the bars of a sequence chart, read from the states of its participants. */
#include "viz/sequence_bars.h"
#include <string.h>

void chart_bars_free(ChartBars *b) {
  g_array_unref(b->bars);
  g_ptr_array_unref(b->locks);
  g_free(b);
}

/* What is open on a lane: a bar of each kind and owner at most. */
typedef struct {
  const Chart *c;
  ChartBars *b;
  guint lane;
  GArray *open; /* of ChartBar; `last` unused */
} Lane;

/* The participant "KIND a" that "by a" means: a client first, as they stand first. */
static int owner_named(const Chart *c, const char *name, gsize length) {
  for (guint i = 0; i < c->lanes->len; i++) {
    const char *lane = c->lanes->pdata[i], *word = strchr(lane, ' ');
    if (word && strlen(word + 1) == length && strncmp(word + 1, name, length) == 0) return (int)i;
  }
  return -1;
}

static int owner_in(const Chart *c, const char *state) {
  const char *by = strstr(state, " by ");
  if (!by) return -1;
  by += 4;
  return owner_named(c, by, strcspn(by, ","));
}

static bool runs_in(const char *state) {
  const char *runs = strstr(state, " runs");
  return runs && (runs[5] == '\0' || runs[5] == ',');
}

static guint lock_number(ChartBars *b, const char *name, gsize length) {
  for (guint i = 0; i < b->locks->len; i++)
    if (strlen(b->locks->pdata[i]) == length && strncmp(b->locks->pdata[i], name, length) == 0) return i;
  g_ptr_array_add(b->locks, g_strndup(name, length));
  return b->locks->len - 1;
}

static void wants(GArray *now, BarKind kind, guint of) {
  ChartBar bar = {.kind = kind, .of = of};
  g_array_append_val(now, bar);
}

/* The bars that a state asks for. */
static GArray *bars_of(const Chart *c, ChartBars *b, const char *state) {
  GArray *now = g_array_new(FALSE, FALSE, sizeof(ChartBar));
  int owner = owner_in(c, state);
  if (owner >= 0) wants(now, BAR_OF, (guint)owner);
  if (owner >= 0 && runs_in(state)) wants(now, BAR_RUNS, (guint)owner);
  const char *at = strstr(state, "; holds ");
  for (at = at ? at + strlen("; holds ") : NULL; at && *at;) {
    gsize length = strcspn(at, ",");
    wants(now, BAR_LOCK, lock_number(b, at, length));
    at += length;
    at += strspn(at, ", ");
  }
  return now;
}

static bool has(const GArray *bars, const ChartBar *bar) {
  for (guint i = 0; i < bars->len; i++) {
    const ChartBar *other = &g_array_index(bars, ChartBar, i);
    if (other->kind == bar->kind && other->of == bar->of) return true;
  }
  return false;
}

static void close_bar(Lane *l, guint i, guint row) {
  ChartBar bar = g_array_index(l->open, ChartBar, i);
  bar.last = row;
  g_array_append_val(l->b->bars, bar);
  g_array_remove_index(l->open, i);
}

static void take_state(Lane *l, const char *state, guint row) {
  g_autoptr(GArray) now = bars_of(l->c, l->b, state);
  for (guint i = l->open->len; i-- > 0;)
    if (!has(now, &g_array_index(l->open, ChartBar, i))) close_bar(l, i, row);
  for (guint i = 0; i < now->len; i++) {
    ChartBar bar = g_array_index(now, ChartBar, i);
    if (has(l->open, &bar)) continue;
    bar.lane = l->lane;
    bar.first = row;
    g_array_append_val(l->open, bar);
  }
}

static gint compare(gconstpointer pa, gconstpointer pb) {
  const ChartBar *a = pa, *b = pb;
  if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return a->of < b->of ? -1 : a->of > b->of;
}

static void bars_of_lane(const Chart *c, ChartBars *b, guint lane) {
  g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(ChartBar));
  Lane l = {c, b, lane, open};
  for (guint row = 0; row < c->steps->len; row++) {
    const ChartStep *s = c->steps->pdata[row];
    for (guint i = 0; i < s->changed->len; i++) {
      const ChartVariable *v = s->changed->pdata[i];
      if (strcmp(v->name, c->lanes->pdata[lane]) == 0) take_state(&l, v->value, row);
    }
  }
  while (open->len) close_bar(&l, open->len - 1, c->steps->len);
}

ChartBars *chart_bars(const Chart *c) {
  ChartBars *b = g_new0(ChartBars, 1);
  b->bars = g_array_new(FALSE, FALSE, sizeof(ChartBar));
  b->locks = g_ptr_array_new_with_free_func(g_free);
  for (guint lane = 0; lane < c->lanes->len; lane++) bars_of_lane(c, b, lane);
  g_array_sort(b->bars, compare);
  return b;
}
