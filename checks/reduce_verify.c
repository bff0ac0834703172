/* reduce_verify.c - see reduce_verify.h. Depth-first over the plain model; states are known by a 128-bit hash, which is
 * enough for a test of declarations. */
#include "checks/reduce_verifier.h"
#include <string.h>

typedef struct {
  uint32_t from, to;
} Edge;

typedef struct {
  ArenaSnapshot *state;
  GArray *ways; /* of Way */
  guint next;
  uint32_t number;
} Frame;

void verifier_broken(Verifier *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!k->v->broken) k->v->broken = g_strdup_vprintf(format, args);
  va_end(args);
}

/* ---- what checks say ---- */

uint64_t verifier_verdicts(Verifier *k) {
  g_autoptr(GString) why = g_string_new(NULL);
  uint64_t bits = 0;
  for (guint i = 0; i < k->o->n_checks; i++) {
    const Check *c = k->o->checks[i];
    if (!c->steps_alone) bits |= (uint64_t)(c->judge(stepper_model(k->s), why) == JUDGED_BROKEN) << i;
  }
  return bits;
}

/* ---- a state ---- */

Hash128 verifier_form(Verifier *k) {
  k->canon(stepper_model(k->s), k->reducer);
  return arena_hash_whole(k->arena);
}

static Way way_now(Verifier *k) {
  Way w = {.branch = *stepper_branch(k->s), .marks = world_marks(k->w)};
  if (!(k->which & REDUCE_SYMMETRY)) return w;
  g_autoptr(ArenaSnapshot) there = arena_save(k->arena, NULL);
  w.form = verifier_form(k);
  arena_restore(k->arena, there);
  return w;
}

/* All branches of the state that stands in the stepper, which is there again afterwards. */
GArray *verifier_ways(Verifier *k) {
  g_autoptr(ArenaSnapshot) here = arena_save(k->arena, NULL);
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(k->s));
  GArray *ways = g_array_new(FALSE, FALSE, sizeof(Way));
  for (guint i = 0; i < moves->len; i++) do {
      arena_restore(k->arena, here);
      stepper_go(k->s, g_array_index(moves, Move, i));
      Way w = way_now(k);
      w.to = arena_hash_whole(k->arena);
      g_array_append_val(ways, w);
    } while (stepper_more(k->s));
  arena_restore(k->arena, here);
  return ways;
}

static void verify_state(Verifier *k, const ArenaSnapshot *here, GArray *ways) {
  if (k->which & REDUCE_POR) {
    g_autoptr(GArray) parties = verifier_parties(k);
    verify_owners(k, parties);
    verify_steps(k, parties, here, ways);
    verify_pairs(k, parties, here, ways);
  }
  if (k->which & REDUCE_SYMMETRY) verify_form(k, here, ways);
}

/* ---- all states ---- */

static uint32_t number_of(Verifier *k, Hash128 h, bool *fresh) {
  gpointer value;
  *fresh = !g_hash_table_lookup_extended(k->numbers, &h, NULL, &value);
  if (!*fresh) return GPOINTER_TO_UINT(value);
  guint n = g_hash_table_size(k->numbers);
  g_hash_table_insert(k->numbers, g_memdup2(&h, sizeof h), GUINT_TO_POINTER(n));
  return n;
}

static void enter(Verifier *k, uint32_t number) {
  Frame f = {.state = arena_save(k->arena, NULL), .ways = verifier_ways(k), .number = number};
  k->v->states++;
  k->v->transitions += f.ways->len;
  verify_state(k, f.state, f.ways);
  g_array_append_val(k->stack, f);
}

static void leave(Verifier *k) {
  Frame *f = &g_array_index(k->stack, Frame, k->stack->len - 1);
  arena_snapshot_free(f->state);
  g_array_unref(f->ways);
  g_array_set_size(k->stack, k->stack->len - 1);
}

static bool step_loops(Verifier *k, const Branch *b) {
  Footprint f;
  if (party_kind(b->move.kind) == MOVE_DELIVER) return false;
  world_footprint(k->w, b->move.subject, &f);
  return f.loops || f.everything;
}

static void advance(Verifier *k) {
  Frame *f = &g_array_index(k->stack, Frame, k->stack->len - 1);
  if (f->next == f->ways->len) return leave(k);
  const Way *way = &g_array_index(f->ways, Way, f->next++);
  bool fresh, loops;
  uint32_t to = number_of(k, way->to, &fresh), from = f->number;
  arena_restore(k->arena, f->state);
  loops = !(k->which & REDUCE_POR) || step_loops(k, &way->branch);
  if (!loops) g_array_append_vals(k->edges, &(Edge){from, to}, 1);
  if (!fresh) return;
  stepper_follow(k->s, &way->branch);
  enter(k, to);
}

/* States that no such edge comes from any more are taken away until none is left: else there is a cycle. */
static bool has_cycle(const Verifier *k) {
  guint n = g_hash_table_size(k->numbers), gone = 0;
  g_autofree guint *out = g_new0(guint, n), *first = g_new0(guint, n + 1), *list = g_new(guint, n);
  g_autofree guint *into = g_new(guint, k->edges->len + 1);
  for (guint i = 0; i < k->edges->len; i++) {
    const Edge *e = &g_array_index(k->edges, Edge, i);
    out[e->from]++;
    first[e->to + 1]++;
  }
  for (guint i = 0; i < n; i++) first[i + 1] += first[i];
  g_autofree guint *at = g_memdup2(first, (n + 1) * sizeof *first);
  for (guint i = 0; i < k->edges->len; i++) {
    const Edge *e = &g_array_index(k->edges, Edge, i);
    into[at[e->to]++] = e->from;
  }
  for (guint i = 0; i < n; i++)
    if (!out[i]) list[gone++] = i;
  for (guint i = 0; i < gone; i++)
    for (guint j = first[list[i]]; j < first[list[i] + 1]; j++)
      if (--out[into[j]] == 0) list[gone++] = into[j];
  return gone < n;
}

static guint hash_of(gconstpointer h) {
  return (guint)((const Hash128 *)h)->lo;
}
static gboolean hash_equal(gconstpointer a, gconstpointer b) {
  return memcmp(a, b, sizeof(Hash128)) == 0;
}

/* Who waits no longer is told what was tried till then. */
static bool ended_early(Verifier *k) {
  const SearchOptions *o = k->o;
  k->v->interrupted = o->interrupted && g_atomic_int_get(o->interrupted);
  return k->v->interrupted || (o->deadline_us && g_get_monotonic_time() >= o->deadline_us) ||
         (k->max_states && k->v->states >= k->max_states);
}

static void walk_all(Verifier *k) {
  bool fresh;
  enter(k, number_of(k, arena_hash_whole(k->arena), &fresh));
  while (k->stack->len && !k->v->broken && !ended_early(k)) advance(k);
  k->v->exhausted = k->stack->len == 0;
  while (k->stack->len) leave(k);
  if (!k->v->broken && has_cycle(k)) verifier_broken(k, "steps that are said not to loop close a cycle");
}

bool reduce_verify(const SearchOptions *o, guint which, const Reduction *r, uint64_t max_states, Verified *v,
                   GError **error) {
  StepperConfig plain = o->stepper, hooks = o->stepper;
  reduce_hooks(&plain, 0, NULL);
  if (!hooks.canon) reduce_hooks(&hooks, which, r);
  *v = (Verified){.which = which};
  Verifier k = {.o = o,
                .which = which,
                .v = v,
                .max_states = max_states,
                .canon = hooks.canon,
                .reducer = hooks.reducer,
                .reduction = r};
  k.s = search_stepper(&plain, error);
  if (!k.s) return false;
  k.w = stepper_model(k.s)->world;
  k.arena = world_arena(k.w);
  k.numbers = g_hash_table_new_full(hash_of, hash_equal, g_free, NULL);
  k.edges = g_array_new(FALSE, FALSE, sizeof(Edge));
  k.stack = g_array_new(FALSE, FALSE, sizeof(Frame));
  walk_all(&k);
  g_hash_table_unref(k.numbers);
  g_array_unref(k.edges);
  g_array_unref(k.stack);
  stepper_free(k.s);
  return true;
}

void verified_clear(Verified *v) {
  g_clear_pointer(&v->broken, g_free);
}
