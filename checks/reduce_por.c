/* reduce_por.c - partial-order reduction by persistent sets of processes.
 *
 * A set T of processes (and of channels, for what the network does) is closed when no process outside T can ever touch,
 * as long as those in T stand still, what the next steps of T touch: `next` of each in T meets `future` of none
 * outside. Then whatever the others do first, T's moves stay as they are, and come to the same when made before
 * (README, C1). The moves of T alone are tried if none of them changes what a check reads (C2) or may close a cycle
 * (C3). All this is seen from the state, so the search may come to it in any order, with any number of jobs. */
#include "checks/reduce.h"

enum { ACTORS_MAX = 64 };

typedef struct {
  MoveKind kind; /* MOVE_RESUME: a process; MOVE_DELIVER: a channel */
  uint32_t id;
  guint moves; /* that it has now */
  Footprint next, future;
  bool hidden; /* no check sees its next step, and it closes no cycle */
} Actor;

typedef struct {
  const World *w;
  guint n;
  Actor actors[ACTORS_MAX];
  Footprint reads; /* of the checks */
} Scene;

static MoveKind actor_kind(MoveKind k) {
  return k == MOVE_DELIVER || k == MOVE_LOSE ? MOVE_DELIVER : MOVE_RESUME;
}

static bool is_of(const Actor *a, const Move *m) {
  return a->id == m->subject && a->kind == actor_kind(m->kind);
}

/* ---- what checks see ---- */

void reduce_reads(const Model *m, const Reduction *r, Footprint *f) {
  *f = (Footprint){.n = 0};
  for (guint i = 0; i < r->n_checks; i++)
    if (!r->checks[i]->steps_alone) r->checks[i]->reads(m, f);
}

bool reduce_hides(const Footprint *step, const Footprint *reads) {
  return !step->loops && !footprints_meet(step, reads);
}

/* ---- one process that nobody meddles with ---- */

static bool same_actor(const Move *a, const Move *b) {
  return a->subject == b->subject && actor_kind(a->kind) == actor_kind(b->kind);
}

static guint keep_one(GArray *moves, const Move *of) {
  guint n = 0;
  Move own = *of;
  for (guint i = 0; i < moves->len; i++) {
    Move m = g_array_index(moves, Move, i);
    if (same_actor(&m, &own)) g_array_index(moves, Move, n++) = m;
  }
  g_array_set_size(moves, n);
  return n;
}

static bool keep_owner(const World *w, const Footprint *reads, GArray *moves) {
  for (guint i = 0; i < moves->len; i++) {
    const Move *m = &g_array_index(moves, Move, i);
    Footprint next;
    if (actor_kind(m->kind) != MOVE_RESUME) continue;
    world_footprint(w, m->subject, &next);
    if (footprint_only_owns(&next) && reduce_hides(&next, reads)) return keep_one(moves, m) > 0;
  }
  return false;
}

/* ---- sets ---- */

static bool add_actor(Scene *s, MoveKind kind, uint32_t id) {
  if (s->n == ACTORS_MAX) return false;
  Actor *a = &s->actors[s->n++];
  a->kind = kind;
  a->id = id;
  a->moves = 0;
  if (kind == MOVE_RESUME) {
    world_footprint(s->w, id, &a->next);
    world_future(s->w, id, &a->future);
  } else {
    channel_footprint(s->w, id, false, &a->next);
    channel_footprint(s->w, id, true, &a->future);
  }
  a->hidden = reduce_hides(&a->next, &s->reads);
  return true;
}

/* False: too many, or nobody says anything of what is to come. */
static bool take_scene(Scene *s, const GArray *moves) {
  bool known = false;
  for (ProcId p = 1; p < world_processes(s->w); p++) {
    if (!world_alive(s->w, p)) continue;
    const TypeGuide *g = world_guide_of(s->w, world_type_of(s->w, p));
    known |= g && g->future;
    if (!g || !g->future) return false; /* it may do anything to anybody */
    if (!add_actor(s, MOVE_RESUME, p)) return false;
  }
  for (ObjectId o = 1; o < world_objects(s->w); o++) {
    Footprint f;
    channel_footprint(s->w, o, true, &f);
    if (f.n && !add_actor(s, MOVE_DELIVER, o)) return false;
  }
  for (guint i = 0; i < moves->len; i++)
    for (guint k = 0; k < s->n; k++) s->actors[k].moves += is_of(&s->actors[k], &g_array_index(moves, Move, i));
  return known;
}

/* The least closed set with `seed`, as bits; 0: a move in it is seen. *n: how many moves it has. */
static uint64_t close_set(const Scene *s, guint seed, guint *n) {
  uint64_t in = UINT64_C(1) << seed, done = 0;
  *n = 0;
  while (in != done) {
    guint i = (guint)__builtin_ctzll(in & ~done);
    const Actor *a = &s->actors[i];
    done |= UINT64_C(1) << i;
    if (a->moves && !a->hidden) return 0;
    *n += a->moves;
    for (guint k = 0; k < s->n; k++)
      if (!(in >> k & 1) && footprints_meet(&a->next, &s->actors[k].future)) in |= UINT64_C(1) << k;
  }
  return in;
}

static uint64_t smallest_set(const Scene *s, guint all) {
  uint64_t best = 0;
  guint least = all;
  for (guint i = 0; i < s->n && least > 1; i++) {
    guint n;
    if (!s->actors[i].moves || !s->actors[i].hidden) continue;
    uint64_t set = close_set(s, i, &n);
    if (set && n < least) best = set, least = n;
  }
  return best;
}

static bool in_set(const Scene *s, uint64_t set, const Move *m) {
  for (guint i = 0; i < s->n; i++)
    if (set >> i & 1 && is_of(&s->actors[i], m)) return true;
  return false;
}

void reduce_por(Model *m, GArray *moves, void *data) {
  Scene s;
  s.w = m->world;
  s.n = 0;
  if (moves->len < 2) return;
  reduce_reads(m, data, &s.reads);
  if (keep_owner(s.w, &s.reads, moves) || !take_scene(&s, moves)) return;
  uint64_t set = smallest_set(&s, moves->len);
  if (!set) return;
  guint n = 0;
  for (guint i = 0; i < moves->len; i++) {
    Move move = g_array_index(moves, Move, i);
    if (in_set(&s, set, &move)) g_array_index(moves, Move, n++) = move;
  }
  g_assert(n > 0);
  g_array_set_size(moves, n);
}
