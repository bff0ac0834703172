/* lasso.c - see lasso.h. Written from the definition, beside the search in the state graph: the two check each other.
 */
#include "checks/lasso.h"

typedef struct {
  const Check *check;
  guint subject;
} Pending;

struct Lasso {
  Stepper *s;
  Hash128 first;
  guint steps;
  GArray *owed;    /* of Move: who could move all along, and has not */
  GArray *pending; /* of Pending: all along */
};

static bool of_network(Move m) {
  return m.kind == MOVE_DELIVER || m.kind == MOVE_LOSE;
}
static bool same_mover(Move a, Move b) {
  return a.subject == b.subject && of_network(a) == of_network(b);
}

static bool forced_here(Stepper *s, Move mover) {
  const GArray *moves = stepper_moves(s);
  for (guint i = 0; i < moves->len; i++) {
    Move m = g_array_index(moves, Move, i);
    if (same_mover(m, mover) && stepper_forced(s, m)) return true;
  }
  return false;
}

Lasso *lasso_new(Stepper *s) {
  Lasso *l = g_new(Lasso, 1);
  *l = (Lasso){.s = s,
               .first = arena_hash_whole(world_arena(stepper_model(s)->world)),
               .owed = g_array_copy((GArray *)stepper_moves(s)),
               .pending = g_array_new(FALSE, FALSE, sizeof(Pending))};
  for (guint i = l->owed->len; i-- > 0;)
    if (!stepper_forced(s, g_array_index(l->owed, Move, i))) g_array_remove_index(l->owed, i);
  return l;
}

void lasso_free(Lasso *l) {
  if (!l) return;
  g_array_unref(l->owed);
  g_array_unref(l->pending);
  g_free(l);
}

void lasso_watch(Lasso *l, const Check *c) {
  g_assert(l->steps == 0);
  const Model *m = stepper_model(l->s);
  for (guint i = 0, n = check_is_liveness(c) ? c->subjects(m) : 0; i < n; i++) {
    Pending p = {c, i};
    if (c->pending(m, i, NULL)) g_array_append_val(l->pending, p);
  }
}

void lasso_step(Lasso *l, Move m) {
  l->steps++;
  for (guint i = l->owed->len; i-- > 0;) {
    Move o = g_array_index(l->owed, Move, i);
    if (same_mover(o, m) || !forced_here(l->s, o)) g_array_remove_index(l->owed, i);
  }
  for (guint i = l->pending->len; i-- > 0;) {
    const Pending *p = &g_array_index(l->pending, Pending, i);
    if (!p->check->pending(stepper_model(l->s), p->subject, NULL)) g_array_remove_index(l->pending, i);
  }
}

static bool closes(const Lasso *l) {
  Hash128 now = arena_hash_whole(world_arena(stepper_model(l->s)->world));
  return l->steps > 0 && l->owed->len == 0 && now.hi == l->first.hi && now.lo == l->first.lo;
}

char *lasso_confirms(Lasso *l, const Check *c) {
  if (!closes(l)) return NULL;
  for (guint i = 0; i < l->pending->len; i++) {
    const Pending *p = &g_array_index(l->pending, Pending, i);
    if (p->check != c) continue;
    g_autoptr(GString) why = g_string_new(NULL);
    c->pending(stepper_model(l->s), p->subject, why);
    g_string_append_printf(why, ", while %u step(s) go round for ever", l->steps);
    return g_string_free(g_steal_pointer(&why), FALSE);
  }
  return NULL;
}
