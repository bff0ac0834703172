/* timeline.c - see timeline.h. */
#include "checks/timeline.h"
#include <string.h>

enum { PENDING_MAX = 192 };

typedef struct {
  int64_t least, most; /* ns left */
  uint32_t kind, subject;
} Pending;

struct Timeline {
  int64_t jitter_ns;
  guint n, spare;
  Pending pending[PENDING_MAX];
};

Timeline *timeline_new(Arena *a, int64_t jitter_ns) {
  Timeline *t = arena_alloc(a, sizeof *t);
  t->jitter_ns = jitter_ns;
  return t;
}

static bool before(const Pending *a, const Pending *b) {
  if (a->least != b->least) return a->least < b->least;
  if (a->most != b->most) return a->most < b->most;
  if (a->kind != b->kind) return a->kind < b->kind;
  return a->subject < b->subject;
}

/* Insertion sort: almost sorted always, and clamping at 0 may have made equals out of order. */
static void sort(Timeline *t) {
  for (guint i = 1; i < t->n; i++) {
    Pending p = t->pending[i];
    guint j = i;
    for (; j > 0 && before(&p, &t->pending[j - 1]); j--) t->pending[j] = t->pending[j - 1];
    t->pending[j] = p;
  }
}

void timeline_add(Timeline *t, TimelineKind kind, uint32_t subject, int64_t after_ns) {
  if (t->n == PENDING_MAX)
    g_error("limit: a timed exploration holds no more than %d things under way at once; take fewer clients",
            PENDING_MAX);
  int64_t jitter = after_ns ? t->jitter_ns : 0;
  t->pending[t->n++] = (Pending){MAX(after_ns - jitter, 0), ns_sum(after_ns, jitter), kind, subject};
  sort(t);
}

static void take_out(Timeline *t, guint i) {
  memmove(&t->pending[i], &t->pending[i + 1], (t->n - i - 1) * sizeof(Pending));
  t->pending[--t->n] = (Pending){0};
}

void timeline_drop(Timeline *t, TimelineKind kind, uint32_t subject) {
  for (guint i = t->n; i-- > 0;)
    if (t->pending[i].kind == kind && t->pending[i].subject == subject) take_out(t, i);
}

/* A process whose guard holds it back waits for others, not for time. */
static bool counts(const World *w, const Pending *p) {
  return p->kind != TIMELINE_RESUME || world_enabled(w, p->subject);
}

static int64_t least_upper_bound(const Timeline *t, const World *w) {
  int64_t least = INT64_MAX;
  for (guint i = 0; i < t->n; i++)
    if (counts(w, &t->pending[i])) least = MIN(least, t->pending[i].most);
  return least;
}

static void add_once(GArray *out, Move m) {
  for (guint i = 0; i < out->len; i++) {
    const Move *o = &g_array_index(out, Move, i);
    if (o->kind == m.kind && o->subject == m.subject) return; /* messages of one channel arrive in order */
  }
  g_array_append_val(out, m);
}

void timeline_moves(const Timeline *t, const World *w, GArray *out) {
  static const MoveKind kinds[] = {MOVE_RESUME, MOVE_DELIVER, MOVE_FIRE};
  int64_t bound = least_upper_bound(t, w);
  g_array_set_size(out, 0);
  for (guint i = 0; i < t->n && t->pending[i].least <= bound; i++) {
    const Pending *p = &t->pending[i];
    if (!counts(w, p)) continue;
    add_once(out, (Move){kinds[p->kind], p->subject});
    if (p->kind == TIMELINE_DELIVER && channel_lossy(w, p->subject)) add_once(out, (Move){MOVE_LOSE, p->subject});
  }
}

static guint find(const Timeline *t, Move m) {
  TimelineKind kind = m.kind == MOVE_RESUME ? TIMELINE_RESUME : m.kind == MOVE_FIRE ? TIMELINE_FIRE : TIMELINE_DELIVER;
  for (guint i = 0; i < t->n; i++)
    if (t->pending[i].kind == kind && t->pending[i].subject == m.subject) return i;
  g_error("a move that is not pending");
}

void timeline_take(Timeline *t, const World *w, Move m) {
  int64_t most = least_upper_bound(t, w);
  guint i = find(t, m);
  int64_t least = t->pending[i].least;
  take_out(t, i);
  for (guint j = 0; j < t->n; j++) {
    t->pending[j].least = MAX(t->pending[j].least - most, 0);
    t->pending[j].most = MAX(t->pending[j].most - least, 0);
  }
  sort(t);
}
