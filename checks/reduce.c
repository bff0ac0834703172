/* reduce.c - which reductions are sound for a search, and paths of a reduced search told as plain ones. */
#include "checks/reduce.h"
#include <string.h>

/* ---- what is sound ---- */

static const char *no_reduction(const SearchOptions *o) {
  if (o->strategy == STRATEGY_RANDOM || o->strategy == STRATEGY_PCT)
    return "--reduce is for searches; a random walk leaves nothing out that it could have seen";
  if (search_has_liveness(o))
    return "--reduce with a check of liveness: the cycle it looks for may go through what is left out; use --reduce "
           "none";
  if (o->stepper.timed)
    return "--reduce with explore.time: timed: every step moves the clock of all others, and what is under way is kept "
           "by "
           "its number; use --reduce none";
  return NULL;
}

/* Such a check sees every step, so that nothing could be left out but where it would be wrong. */
static bool sees_everything(const Check *c) {
  return !c->steps_alone && !c->reads;
}

static bool has_footprints(const Model *m) {
  for (guint i = 0; i < world_types(m->world); i++) {
    const TypeGuide *g = world_guide_of(m->world, (TypeId)i);
    if (g && g->footprint) return true;
  }
  return false;
}

static const char *no_por(const Model *m, const SearchOptions *o) {
  (void)m;
  for (guint i = 0; i < o->n_checks; i++)
    if (sees_everything(o->checks[i]))
      return "--reduce por with a check that does not say what it looks at: it might see what is left out; use "
             "--reduce "
             "none or symmetry";
  return NULL;
}

guint reduce_sound(guint wanted, const Model *m, const SearchOptions *o, const char **why) {
  const char *none = no_reduction(o), *por = no_por(m, o);
  if (why) *why = NULL;
  if (why && wanted) *why = none ? none : wanted & REDUCE_POR ? por : NULL;
  if (none) return 0;
  guint sound = 0;
  if (!por && has_footprints(m)) sound |= REDUCE_POR;
  if (m->ops->canon) sound |= REDUCE_SYMMETRY;
  return wanted & sound;
}

void reduce_symmetry(Model *m, void *data) {
  (void)data;
  m->ops->canon(m);
}

void reduce_hooks(StepperConfig *c, guint which, const Reduction *r) {
  c->reduce = which & REDUCE_POR ? reduce_por : NULL;
  c->canon = which & REDUCE_SYMMETRY ? reduce_symmetry : NULL;
  c->reducer = (gpointer)r;
}

const char *reduce_word(guint which, guint i) {
  static const char *const words[] = {"por", "symmetry"};
  for (guint k = 0; k < G_N_ELEMENTS(words); k++)
    if (which >> k & 1 && i-- == 0) return words[k];
  return NULL;
}

/* ---- paths ---- */

/* A stepper with hooks, that stands where the reduced path has come to, and one without, that stands at a state of
 * which that is the form. */
typedef struct {
  const SearchOptions *o;
  Stepper *reduced, *plain;
  Arena *image, *arena;
  ArenaSnapshot *here, *there; /* of the plain one: before a move, and behind it */
} Lift;

static bool is_image(Lift *l) {
  g_assert(l->o->stepper.canon);
  l->there = arena_save(l->arena, l->there);
  l->o->stepper.canon(stepper_model(l->plain), l->o->stepper.reducer);
  bool same = arena_used(l->arena) == arena_used(l->image) &&
              memcmp(arena_words(l->arena), arena_words(l->image), arena_used(l->image)) == 0;
  arena_restore(l->arena, l->there);
  return same && world_marks(stepper_model(l->plain)->world) == world_marks(stepper_model(l->reduced)->world);
}

/* The move that leads to what the reduced path leads to: there is one, since a form has the moves of all it stands for.
 */
static bool lift_step(Lift *l, Branch *b) {
  if (!stepper_follow(l->reduced, b)) return false;
  l->here = arena_save(l->arena, l->here);
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(l->plain));
  for (guint i = 0; i < moves->len; i++) do {
      arena_restore(l->arena, l->here);
      stepper_go(l->plain, g_array_index(moves, Move, i));
      if (!is_image(l)) continue;
      *b = *stepper_branch(l->plain);
      return true;
    } while (stepper_more(l->plain));
  return false;
}

static bool lift_steps(Lift *l, const GArray *reduced, GArray *path, GError **error) {
  for (guint i = 0; i < reduced->len; i++) {
    Branch b = g_array_index(reduced, Branch, i);
    if (!lift_step(l, &b)) {
      g_set_error(
          error, REDUCE_ERROR, 0,
          "step %u of what the reduced search found has no counterpart in the plain model: a form of a state is "
          "wrong, which is a fault of the model's reductions; use --reduce none",
          i);
      return false;
    }
    g_array_append_val(path, b);
  }
  return true;
}

static bool lift_path(Lift *l, Finding *f, GError **error) {
  g_autoptr(VectorLayout) first = vector_layout_new(l->arena), image = vector_layout_new(l->image);
  GArray *path = g_array_new(FALSE, FALSE, sizeof(Branch));
  if (!lift_steps(l, f->path, path, error)) return g_array_unref(path), false;
  g_autoptr(GString) why = g_string_new(NULL);
  if (f->check >= 0 && l->o->checks[f->check]->judge(stepper_model(l->plain), why) == JUDGED_BROKEN) {
    g_free(f->why);
    f->why = g_strdup(why->str);
  }
  g_array_unref(f->path);
  f->path = path;
  vector_reset(first, l->arena);
  vector_reset(image, l->image);
  return true;
}

bool reduce_lift(const SearchOptions *o, SearchResult *r, GError **error) {
  if (!o->stepper.canon || r->findings->len == 0) return true;
  StepperConfig plain = o->stepper;
  plain.reduce = NULL;
  plain.canon = NULL;
  Lift l = {.o = o, .reduced = search_stepper(&o->stepper, error)};
  l.plain = l.reduced ? search_stepper(&plain, error) : NULL;
  bool lifted = l.plain != NULL;
  if (l.plain) {
    l.image = world_arena(stepper_model(l.reduced)->world);
    l.arena = world_arena(stepper_model(l.plain)->world);
    for (guint i = 0; i < r->findings->len && lifted; i++) lifted = lift_path(&l, r->findings->pdata[i], error);
  }
  arena_snapshot_free(l.here);
  arena_snapshot_free(l.there);
  stepper_free(l.plain);
  stepper_free(l.reduced);
  return lifted;
}
