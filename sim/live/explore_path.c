/* explore_path.c - the path of choices that makes a run: depth first with what sleeps (Godefroid 1996), at random, or
 * by priorities (PCT). */
#include "sim/live/explore_parts.h"
#include <string.h>

static void clear_place(gpointer data) {
  Place *p = data;
  g_array_unref(p->options);
  g_array_unref(p->asleep);
}

static Place *place_at(const Search *q, guint i) {
  return &g_array_index(q->path, Place, i);
}

static bool sleeps(const Place *p, uint64_t id) {
  for (guint i = 0; i < p->asleep->len; i++)
    if (g_array_index(p->asleep, LiveOption, i).id == id) return true;
  return false;
}

/* What sleeps above and commutes with what was done there still sleeps. */
static GArray *asleep_below(const Place *above) {
  GArray *a = g_array_new(FALSE, FALSE, sizeof(LiveOption));
  if (!above->options->len) {
    g_array_append_vals(a, above->asleep->data, above->asleep->len);
    return a;
  }
  const LiveOption *done = &g_array_index(above->options, LiveOption, above->took);
  for (guint i = 0; i < above->asleep->len; i++) {
    const LiveOption *o = &g_array_index(above->asleep, LiveOption, i);
    if (!(o->touches & done->touches)) g_array_append_val(a, *o);
  }
  return a;
}

static void new_place(Search *q, uint64_t n, const LiveOption *options) {
  Place p = {.n = n, .options = g_array_new(FALSE, FALSE, sizeof(LiveOption))};
  if (options) g_array_append_vals(p.options, options, (guint)n);
  p.asleep = q->path->len ? asleep_below(place_at(q, q->path->len - 1)) : g_array_new(FALSE, FALSE, sizeof(LiveOption));
  g_array_append_val(q->path, p);
}

/* The first from `from` on that does not sleep; n: all do. */
static uint64_t first_awake(const Place *p, uint64_t from) {
  uint64_t i = from;
  while (i < p->n && p->options->len && sleeps(p, g_array_index(p->options, LiveOption, i).id)) i++;
  return i;
}

/* ---- choosing ---- */

static uint64_t by_priority(Search *q, uint64_t n, const LiveOption *options) {
  uint64_t best = 0, most = 0;
  for (uint64_t i = 0; i < n; i++) {
    const bool low = g_hash_table_contains(q->lowered, &options[i].lane);
    uint64_t rank = rng_mix(q->run_seed, options[i].lane) >> (low ? 33 : 1);
    if (i == 0 || rank > most) best = i, most = rank;
  }
  for (guint i = 0; i < q->drops->len; i++)
    if (g_array_index(q->drops, guint, i) == q->depth)
      g_hash_table_add(q->lowered, g_memdup2(&options[best].lane, sizeof options[best].lane));
  return best;
}

static uint64_t decide(Search *q, const Place *p, const LiveOption *options) {
  if (q->fixed) return q->depth <= q->wanted->len ? g_array_index(q->wanted, uint64_t, q->depth - 1) : 0;
  switch (q->o->strategy) {
  case EXPLORE_RANDOM: return rng_below(&q->rng, p->n);
  case EXPLORE_PCT: return options ? by_priority(q, p->n, options) : rng_below(&q->rng, p->n);
  default: return first_awake(p, 0);
  }
}

/* What may be next is not what it was when the same was chosen before. */
static bool is_another(const Place *p, const LiveOption *options) {
  if (!options != !p->options->len) return true;
  for (guint i = 0; i < p->options->len; i++)
    if (g_array_index(p->options, LiveOption, i).id != options[i].id) return true;
  return false;
}

uint64_t path_choose(void *data, LiveChoice what, uint64_t n, const LiveOption *options) {
  Search *q = data;
  (void)what;
  if (q->redundant || q->differed) return 0;
  guint at = q->depth++;
  q->orders *= (double)n;
  if (at == q->path->len) {
    new_place(q, n, options);
    uint64_t took = decide(q, place_at(q, at), options);
    q->redundant = !q->fixed && took == n;
    place_at(q, at)->took = q->redundant ? 0 : took;
  }
  Place *p = place_at(q, at);
  q->differed |= p->n != n || p->took >= n || is_another(p, options);
  q->x->longest = MAX(q->x->longest, q->depth);
  return q->differed ? 0 : p->took;
}

/* ---- from run to run ---- */

bool path_next(Search *q) {
  if (q->o->strategy != EXPLORE_DFS) return g_array_set_size(q->path, 0), true;
  while (q->path->len) {
    Place *p = place_at(q, q->path->len - 1);
    if (p->options->len) g_array_append_val(p->asleep, g_array_index(p->options, LiveOption, p->took));
    p->took = first_awake(p, p->took + 1);
    if (p->took < p->n) return true;
    g_array_set_size(q->path, q->path->len - 1);
  }
  return false;
}

void path_before_run(Search *q) {
  enum { STEPS_ABOUT = 64 };
  q->run_seed = rng_next(&q->rng);
  g_array_set_size(q->drops, 0);
  g_hash_table_remove_all(q->lowered);
  guint within = MAX(q->x->longest, STEPS_ABOUT);
  for (guint i = 1; i < q->o->depth; i++) {
    guint at = (guint)rng_below(&q->rng, within) + 1;
    g_array_append_val(q->drops, at);
  }
}

GArray *path_choices(const Search *q) {
  GArray *t = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (guint i = 0; i < q->path->len; i++) g_array_append_val(t, place_at(q, i)->took);
  return t;
}

void path_follow(Search *q, const GArray *choices) {
  g_array_set_size(q->path, 0);
  g_array_set_size(q->wanted, 0);
  g_array_append_vals(q->wanted, choices->data, choices->len);
}

/* ---- from the search's start to its end ---- */

static guint hash_of(gconstpointer key) {
  return (guint)((const Hash128 *)key)->lo;
}
static gboolean same_hash(gconstpointer a, gconstpointer b) {
  return memcmp(a, b, sizeof(Hash128)) == 0;
}

void path_start(Search *q) {
  q->path = g_array_new(FALSE, TRUE, sizeof(Place));
  q->wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  q->drops = g_array_new(FALSE, FALSE, sizeof(guint));
  q->lowered = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  q->histories = g_hash_table_new_full(hash_of, same_hash, g_free, NULL);
  g_array_set_clear_func(q->path, clear_place);
  rng_init(&q->rng, scenario_seed(q->scenario), "explore");
}

void path_end(Search *q) {
  GArray *arrays[] = {q->path, q->wanted, q->drops};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_array_unref(arrays[i]);
  g_hash_table_unref(q->lowered);
  g_hash_table_unref(q->histories);
}
