/* schedules_walk.c - schedules drawn at random: each step anyone who can go on, or by priorities that change at a few
 * steps (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs", ASPLOS 2010). One whose spin gives way goes below all others, so that loops end. */
#include "checks/schedules_parts.h"
#include "model/world/rng.h"
#include <math.h>

enum { CHANGES_MOST = 64 };

typedef struct {
  Schedules *s;
  Rng rng;
  uint64_t rank[SCHEDULE_PROCESSES_MAX]; /* higher goes first */
  uint64_t lowest;
  guint at[CHANGES_MOST]; /* steps before which who goes on falls to rank `changes` - index */
  guint length;
} Walks;

static guint any(Walks *w, uint64_t ready) {
  uint64_t n = rng_below(&w->rng, (uint64_t)__builtin_popcountll(ready));
  while (n--) ready &= ready - 1;
  return (guint)__builtin_ctzll(ready);
}

static guint highest(const Walks *w, uint64_t ready) {
  guint best = (guint)__builtin_ctzll(ready);
  for (guint p = best; p < w->s->program->processes; p++)
    if ((ready >> p & 1) && w->rank[p] > w->rank[best]) best = p;
  return best;
}

/* Ranks from the top: a random order; then the changes'; then those who gave way, latest lowest. */
static void draw_priorities(Walks *w) {
  guint n = w->s->program->processes;
  const uint64_t top = UINT64_C(1) << 62;
  for (guint p = 0; p < n; p++) {
    guint other = (guint)rng_below(&w->rng, p + 1);
    w->rank[p] = w->rank[other];
    w->rank[other] = top + p;
  }
  w->lowest = top / 2;
  for (guint i = 0; i < w->s->options->changes; i++) w->at[i] = (guint)rng_below(&w->rng, w->length ? w->length : 1);
}

static guint by_priority(Walks *w, uint64_t ready, guint step) {
  guint p = highest(w, ready);
  for (guint i = 0; i < w->s->options->changes; i++)
    if (w->at[i] == step) w->rank[p] = (UINT64_C(1) << 62) - 1 - i, p = highest(w, ready);
  if (w->s->next[p].kind == OPERATION_SPIN) w->rank[p] = --w->lowest;
  return p;
}

static bool walk(Walks *w) {
  Schedules *s = w->s;
  order_truncate(&s->order, 0);
  schedules_restart(s);
  s->preemptions = 0;
  for (guint i = 0;; i++) {
    uint64_t ready = schedules_look(s);
    if (!ready) return true;
    if (schedules_judge(s, false)) return false;
    if (i >= s->options->max_steps) return s->result->cut++, false;
    guint p = s->options->strategy == SCHEDULES_PCT ? by_priority(w, ready, i) : any(w, ready);
    s->preemptions += schedules_preempts(s, i, ready, p);
    schedules_step(s, p);
  }
}

/* 1 / (n k^(d-1)), with d - 1 changes, n processes and k steps (the paper's theorem). */
static double bound_of(const Walks *w) {
  double n = w->s->program->processes, k = MAX(w->length, 1);
  return 1 / (n * pow(k, w->s->options->changes));
}

void schedules_walk(Schedules *s) {
  Walks w = {.s = s, .length = s->options->length};
  g_assert(s->options->max_schedules && s->options->changes <= CHANGES_MOST);
  rng_init(&w.rng, s->options->seed, "schedules");
  do {
    if (s->options->strategy == SCHEDULES_PCT) draw_priorities(&w);
    if (walk(&w)) {
      schedules_judge(s, true);
      s->result->schedules += 1;
      if (s->options->at_end) s->options->at_end(s->options->user, s->program->data);
    } else {
      s->result->schedules += s->result->findings->len > 0;
    }
    s->result->longest = MAX(s->result->longest, s->order.events->len);
    if (!s->options->length) w.length = s->result->longest;
  } while (!schedules_over(s));
  if (s->options->strategy == SCHEDULES_PCT) s->result->bound = bound_of(&w);
}
