/* space.c - the whole state graph of a small model. States are kept and compared byte by byte. */
#include "checks/space.h"
#include "checks/search.h"
#include "checks/walk.h"
#include <string.h>

static void variable_free(gpointer data) {
  SpaceVariable *v = data;
  g_free(v->name);
  g_free(v->value);
  g_free(v);
}

static void state_free(gpointer data) {
  SpaceState *s = data;
  g_ptr_array_unref(s->variables);
  g_free(s->broken);
  g_free(s);
}

static void step_clear(gpointer data) {
  g_free(((SpaceStep *)data)->words);
}

void space_free(Space *s) {
  g_ptr_array_unref(s->states);
  g_array_unref(s->steps);
  g_free(s);
}

typedef struct {
  Space *space;
  Stepper *stepper;
  Model *model;
  Arena *arena;
  const Check *const *checks;
  guint n_checks, most;
  GArray *hashes;   /* of Hash128, by state */
  GPtrArray *saved; /* of ArenaSnapshot, by state */
} Exploring;

static bool is_state(const Exploring *x, guint i, Hash128 h) {
  Hash128 known = g_array_index(x->hashes, Hash128, i);
  const ArenaSnapshot *s = x->saved->pdata[i];
  return known.lo == h.lo && known.hi == h.hi && arena_snapshot_bytes(s) == arena_used(x->arena) &&
         memcmp(arena_snapshot_data(s), arena_words(x->arena), arena_used(x->arena)) == 0;
}

static void see(const char *name, const char *value, void *data) {
  SpaceVariable *v = g_new0(SpaceVariable, 1);
  *v = (SpaceVariable){g_strdup(name), g_strdup(value)};
  g_ptr_array_add(data, v);
}

/* What is broken where the stepper stands, or by the step that led there; NULL: nothing. g_free */
static char *judge(const Exploring *x) {
  for (guint i = 0; i < x->n_checks; i++) {
    g_autoptr(GString) why = g_string_new(NULL);
    if (x->checks[i]->judge(x->model, why) == JUDGED_BROKEN)
      return g_strdup_printf("%s: %s", x->checks[i]->name, why->str);
  }
  return NULL;
}

/* The number of the state that the stepper stands at; one that is not known yet is added, unless there are enough. */
static guint state_here(Exploring *x, char *broken) {
  Hash128 h = arena_hash_whole(x->arena);
  for (guint i = 0; i < x->saved->len; i++)
    if (is_state(x, i, h)) return g_free(broken), i;
  if (x->saved->len == x->most) {
    x->space->more = true;
    return g_free(broken), x->most;
  }
  SpaceState *s = g_new0(SpaceState, 1);
  *s = (SpaceState){.variables = g_ptr_array_new_with_free_func(variable_free), .broken = broken};
  x->model->ops->describe(x->model, see, s->variables);
  g_ptr_array_add(x->space->states, s);
  g_ptr_array_add(x->saved, arena_save(x->arena, NULL));
  g_array_append_val(x->hashes, h);
  return x->saved->len - 1;
}

static char *words(const Exploring *x, const char *who, const char *what) {
  const Branch *b = stepper_branch(x->stepper);
  GString *out = g_string_new(who);
  g_string_append_printf(out, " %s%s", what, b->move.kind == MOVE_FIRE ? " (timer)" : "");
  for (guint i = 0; i < b->n_answers; i++)
    g_string_append_printf(out, " (%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ")",
                           world_choice_name(x->model->world, b->answers[i].what), b->answers[i].took, b->answers[i].n);
  return g_string_free(out, FALSE);
}

/* Makes a move of state `from` with each answer to the choices within it. */
static void try_move(Exploring *x, guint from, Move m) {
  char buffer[WALK_WHO_MAX];
  g_autofree char *who = g_strdup(walk_who(x->model->world, m, buffer)),
                  *what = g_strdup(walk_doing(x->model->world, m));
  do {
    arena_restore(x->arena, x->saved->pdata[from]);
    stepper_go(x->stepper, m);
    char *broken = judge(x);
    SpaceStep step = {.from = from, .words = words(x, who, what), .broken = broken && world_marks(x->model->world)};
    step.to = state_here(x, broken);
    if (step.to < x->most)
      g_array_append_val(x->space->steps, step);
    else
      g_free(step.words);
  } while (stepper_more(x->stepper));
}

static void expand(Exploring *x, guint from) {
  arena_restore(x->arena, x->saved->pdata[from]);
  SpaceState *s = x->space->states->pdata[from];
  const GArray *listed = stepper_moves(x->stepper);
  g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
  if (listed->len) g_array_append_vals(moves, listed->data, listed->len);
  s->end = moves->len == 0 && x->model->ops->done(x->model);
  s->deadlock = moves->len == 0 && stepper_stuck(x->stepper);
  for (guint i = 0; i < moves->len; i++) try_move(x, from, g_array_index(moves, Move, i));
}

Space *space_explore(const StepperConfig *config, const Check *const *checks, guint n_checks, guint most,
                     GError **error) {
  g_assert(most > 0);
  g_autoptr(Stepper) stepper = search_stepper(config, error);
  if (!stepper) return NULL;
  Space *space = g_new0(Space, 1);
  space->states = g_ptr_array_new_with_free_func(state_free);
  space->steps = g_array_new(FALSE, FALSE, sizeof(SpaceStep));
  g_array_set_clear_func(space->steps, step_clear);
  g_autoptr(GArray) hashes = g_array_new(FALSE, FALSE, sizeof(Hash128));
  g_autoptr(GPtrArray) saved = g_ptr_array_new_with_free_func((GDestroyNotify)arena_snapshot_free);
  Model *m = stepper_model(stepper);
  Exploring x = {space, stepper, m, world_arena(m->world), checks, n_checks, most, hashes, saved};
  state_here(&x, judge(&x));
  for (guint i = 0; i < saved->len && !space->more; i++) expand(&x, i);
  return space;
}
