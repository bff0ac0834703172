/* deadlock.c - nothing can go on although not all is done. An exploration reports that in any case; as a check it can
 * be expected, and is judged in virtual time too. A limit that could still fire is a way on. */
#include "checks/checks.h"
#include "model/world/explore.h"

static bool any_limit(const World *w, ProcId p, void *data) {
  (void)w;
  (void)p;
  (void)data;
  return true;
}

Judgement check_no_deadlock(const Model *m, GString *why) {
  if (m->ops->done(m)) return JUDGED_FINE;
  g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
  world_moves(m->world, any_limit, NULL, moves);
  if (moves->len) return JUDGED_FINE;
  g_autofree char *words = model_deadlock_words(m->world);
  g_string_assign(why, words);
  return JUDGED_BROKEN;
}
