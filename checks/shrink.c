/* shrink.c - see shrink.h. A path with a step left out is walked as far as it goes: moves that are no longer possible
 * are left out too, and it ends where the check is first broken. What is kept is always the path that was really
 * walked. */
#include "checks/shrink.h"
#include "checks/reduce.h"
#include <string.h>

typedef struct {
  const SearchOptions *o;
  Stepper *s;
  VectorLayout *first; /* the first state, to begin again from */
  gint check;
} Shrinker;

static bool possible(Stepper *s, Move m) {
  const GArray *moves = stepper_moves(s);
  for (guint i = 0; i < moves->len; i++) {
    const Move *o = &g_array_index(moves, Move, i);
    if (o->kind == m.kind && o->subject == m.subject) return true;
  }
  return false;
}

static bool broken(const Shrinker *k, GString *why) {
  Model *m = stepper_model(k->s);
  if (k->check >= 0) {
    if (k->o->checks[k->check]->judge(m, why) == JUDGED_BROKEN) return true;
    g_autofree char *rests = stepper_rests_pending(k->s, k->o->checks[k->check]);
    if (rests) g_string_assign(why, rests);
    return rests != NULL;
  }
  return stepper_moves(k->s)->len == 0 && stepper_stuck(k->s);
}

/* Walks `path` without steps [from, to); NULL: nothing breaks. Choices that a move no longer meets as recorded end the
 * attempt: what came of them would be another path. */
static GArray *walk_without(Shrinker *k, const GArray *path, guint from, guint to) {
  g_autoptr(GString) why = g_string_new(NULL);
  g_autoptr(GArray) walked = g_array_new(FALSE, FALSE, sizeof(Branch));
  vector_reset(k->first, world_arena(stepper_model(k->s)->world));
  for (guint i = 0; i < path->len; i++) {
    const Branch *b = &g_array_index(path, Branch, i);
    if ((i >= from && i < to) || !possible(k->s, b->move)) continue;
    if (!stepper_follow(k->s, b)) return NULL;
    g_array_append_val(walked, *b);
    if (broken(k, why)) return g_steal_pointer(&walked);
  }
  return NULL;
}

/* Ever smaller pieces are left out, from the end on, until no single step can be. */
static GArray *thin_out(Shrinker *k, GArray *path) {
  for (guint size = MAX(path->len / 2, 1); size > 0; size /= 2) {
    for (guint to = path->len; to > 0 && !(k->o->deadline_us && g_get_monotonic_time() >= k->o->deadline_us);) {
      guint from = to > size ? to - size : 0;
      GArray *less = walk_without(k, path, from, to);
      if (less && less->len < path->len) {
        g_array_unref(path);
        path = less;
        to = MIN(from, path->len);
        continue;
      }
      if (less) g_array_unref(less);
      to = from;
    }
  }
  return path;
}

/* The shortest, if it is found within the budget: symmetry, unlike partial order, keeps lengths. */
static bool search_shorter(const SearchOptions *o, Finding *f, GError **error) {
  SearchOptions again = *o;
  const Check *only = f->check >= 0 ? o->checks[f->check] : NULL;
  again.checks = &only;
  again.n_checks = only ? 1 : 0;
  again.strategy = STRATEGY_BFS;
  again.store = STORE_FULL;
  again.jobs = again.findings_max = 1;
  again.max_depth = f->path->len - 1;
  again.max_states = SHRINK_STATES;
  again.max_seconds = SHRINK_SECONDS;
  gint64 most = g_get_monotonic_time() + (gint64)SHRINK_SECONDS * G_USEC_PER_SEC;
  again.deadline_us = o->deadline_us ? MIN(o->deadline_us, most) : most;
  again.progress = NULL;
  again.stepper.reduce = NULL;
  g_autoptr(SearchResult) r = search_run(&again, error);
  if (!r || !reduce_lift(&again, r, error)) return false;
  for (guint i = 0; i < r->findings->len; i++) {
    Finding *better = r->findings->pdata[i];
    if ((better->check < 0) != (f->check < 0) || better->path->len >= f->path->len) continue;
    g_array_unref(f->path);
    f->path = g_array_ref(better->path);
    f->lasso_from = better->lasso_from;
    g_free(f->why);
    f->why = g_strdup(better->why);
  }
  return true;
}

/* ---- fewest processes ---- */

/* Processes that never move: what is left is a part of the model's behaviour, so a way found in it is one of the
 * model's. Not so for what ends because nobody can go on: deadlocks and what is pending for ever are left as they are.
 */
typedef struct {
  bool silent[FEWER_MOST];
} Silence;

static void keep_silent(Model *m, GArray *moves, void *data) {
  const Silence *s = data;
  (void)m;
  guint kept = 0;
  for (guint i = 0; i < moves->len; i++) {
    Move move = g_array_index(moves, Move, i);
    bool own = move.kind == MOVE_RESUME || move.kind == MOVE_FIRE;
    if (!own || move.subject >= FEWER_MOST || !s->silent[move.subject]) g_array_index(moves, Move, kept++) = move;
  }
  g_array_set_size(moves, kept);
}

static bool takes_part(const GArray *path, ProcId p) {
  for (guint i = 0; i < path->len; i++) {
    const Move *m = &g_array_index(path, Branch, i).move;
    if (m->subject == p && (m->kind == MOVE_RESUME || m->kind == MOVE_FIRE)) return true;
  }
  return false;
}

static void take_path(Finding *f, const Finding *from) {
  g_array_unref(f->path);
  f->path = g_array_ref(from->path);
  g_free(f->why);
  f->why = g_strdup(from->why);
}

/* True: f has a way of the same length, or a shorter one, without these. */
static bool found_without(const SearchOptions *o, Finding *f, Silence *silence, GError **error) {
  SearchOptions again = *o;
  const Check *only = o->checks[f->check];
  again.checks = &only;
  again.n_checks = again.jobs = again.findings_max = 1;
  again.strategy = STRATEGY_BFS;
  again.store = STORE_FULL;
  again.max_depth = f->path->len;
  again.max_states = FEWER_STATES;
  again.progress = NULL;
  again.stepper.reduce = keep_silent;
  again.stepper.reducer = silence;
  g_autoptr(SearchResult) r = search_run(&again, error);
  for (guint i = 0; r && i < r->findings->len; i++) {
    const Finding *other = r->findings->pdata[i];
    if (other->check < 0 || other->path->len > f->path->len) continue;
    take_path(f, other);
    return true;
  }
  return false;
}

static bool fewer_processes(const SearchOptions *o, const Shrinker *k, Finding *f, GError **error) {
  if (f->check < 0 || check_is_liveness(o->checks[f->check])) return true;
  Silence silence = {{false}};
  vector_reset(k->first, world_arena(stepper_model(k->s)->world));
  guint there = MIN(world_processes(stepper_model(k->s)->world), (guint)FEWER_MOST);
  gint64 until = g_get_monotonic_time() + (gint64)SHRINK_SECONDS * G_USEC_PER_SEC;
  for (ProcId p = 1; p < there; p++) {
    if (o->deadline_us && g_get_monotonic_time() >= o->deadline_us) return true;
    if (g_get_monotonic_time() >= until || !takes_part(f->path, p)) continue;
    GError *problem = NULL;
    silence.silent[p] = true;
    if (!found_without(o, f, &silence, &problem)) silence.silent[p] = false;
    if (problem) return g_propagate_error(error, problem), false;
  }
  return true;
}

static void thin(Shrinker *k, Finding *f) {
  k->check = f->check;
  f->path = thin_out(k, f->path);
  g_autoptr(GString) why = g_string_new(NULL);
  GArray *walked = walk_without(k, f->path, f->path->len, f->path->len);
  if (walked && f->check >= 0 && broken(k, why)) {
    g_free(f->why);
    f->why = g_strdup(why->str);
  }
  if (walked) g_array_unref(walked);
}

bool shrink_findings(const SearchOptions *search, SearchResult *r, GError **error) {
  SearchOptions plain = *search;
  const SearchOptions *o = &plain;
  bool shortest = o->strategy == STRATEGY_BFS && !o->stepper.reduce;
  if (r->findings->len == 0) return true;
  reduce_hooks(&plain.stepper, 0, NULL); /* paths are those of the plain model (reduce_lift) */
  Shrinker k = {.o = o, .s = search_stepper(&o->stepper, error)};
  if (!k.s) return false;
  k.first = vector_layout_new(world_arena(stepper_model(k.s)->world));
  bool ok = true;
  for (guint i = 0; ok && i < r->findings->len; i++) {
    Finding *f = r->findings->pdata[i];
    if (f->path->len == 0) continue;
    if (!shortest) thin(&k, f);
    ok = (shortest || search_shorter(search, f, error)) && fewer_processes(o, &k, f, error);
  }
  vector_layout_free(k.first);
  stepper_free(k.s);
  return ok;
}
