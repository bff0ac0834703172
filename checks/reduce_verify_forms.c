/* reduce_verify_forms.c - does the form of a state stand for it? Both are judged alike, and lead to the same states, up
 * to form. */
#include "checks/reduce_verifier.h"

static gint by_form(gconstpointer a, gconstpointer b) {
  const Way *x = a, *y = b;
  if (x->form.hi != y->form.hi) return x->form.hi < y->form.hi ? -1 : 1;
  if (x->form.lo != y->form.lo) return x->form.lo < y->form.lo ? -1 : 1;
  return (x->marks > y->marks) - (x->marks < y->marks);
}

/* Sorted, each once: several branches may come to one form. */
static void take_set(GArray *ways) {
  guint n = 0;
  g_array_sort(ways, by_form);
  for (guint i = 0; i < ways->len; i++) {
    Way w = g_array_index(ways, Way, i);
    if (n && by_form(&w, &g_array_index(ways, Way, n - 1)) == 0) continue;
    g_array_index(ways, Way, n++) = w;
  }
  g_array_set_size(ways, n);
}

void verify_form(Verifier *k, const ArenaSnapshot *here, GArray *ways) {
  uint64_t plain = verifier_verdicts(k);
  Hash128 form = verifier_form(k);
  uint64_t formed = verifier_verdicts(k);
  g_autoptr(ArenaSnapshot) image = arena_save(k->arena, NULL);
  Hash128 again = verifier_form(k);
  k->v->forms++;
  if (plain != formed) verifier_broken(k, "a check judges a state otherwise than its form");
  if (again.lo != form.lo || again.hi != form.hi) verifier_broken(k, "the form of a form is another state");
  arena_restore(k->arena, image);
  g_autoptr(GArray) theirs = verifier_ways(k), ours = g_array_copy(ways);
  take_set(theirs);
  take_set(ours);
  bool same = ours->len == theirs->len;
  for (guint i = 0; same && i < ours->len; i++)
    same = by_form(&g_array_index(ours, Way, i), &g_array_index(theirs, Way, i)) == 0;
  if (!same)
    verifier_broken(k, "a state and its form lead to different states (%u and %u, up to form)", ours->len, theirs->len);
  arena_restore(k->arena, here);
}
