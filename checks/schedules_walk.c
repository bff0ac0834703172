/* schedules_walk.c - schedules drawn at random: each step anyone who can go on, or by priorities that change at a few
 * steps (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs", ASPLOS 2010). One whose spin gives way goes below all others, so that loops end. */
#include "checks/schedules_workers.h"
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
    if (i >= s->options->max_steps) return schedules_note_cut(s), s->result->cut++, false;
    guint p = s->options->strategy == SCHEDULES_PCT ? by_priority(w, ready, i) : any(w, ready);
    s->preemptions += schedules_preempts(s, i, ready, p);
    schedules_cover_step(s, i, ready, p);
    schedules_step(s, p);
  }
}

/* 1 / (n k^(d-1)), with d - 1 changes, n processes and k steps (the paper's theorem). */
static double bound_of(const Walks *w) {
  double n = w->s->program->processes, k = MAX(MAX(w->length, w->s->result->longest), 1);
  return 1 / (n * pow(k, w->s->options->changes));
}

/* Each walk's draws are its own, so that it is the same whoever goes it. */
static void one(Walks *w, uint64_t number) {
  Schedules *s = w->s;
  rng_init(&w->rng, rng_mix(s->options->seed, number), "schedules");
  if (s->options->strategy == SCHEDULES_PCT) draw_priorities(w);
  if (walk(w)) {
    schedules_judge(s, true);
    s->result->schedules += 1;
    schedules_cover_end(s);
    if (s->options->at_end) s->options->at_end(s->options->user, s->program->data);
  } else {
    s->result->schedules += s->result->findings->len > 0;
  }
  schedules_races(s);
  s->result->longest = MAX(s->result->longest, s->order.events->len);
}

/* True: it is over. */
static bool several(Walks *w, uint64_t from, uint64_t to, bool learning) {
  for (uint64_t i = from; i < to; i++) {
    one(w, i);
    if (learning && !w->s->options->length) w->length = w->s->result->longest;
    if (schedules_over(w->s)) return true;
  }
  return false;
}

/* ---- several processes: each goes a portion of the walks; their results are taken over in the order of the walks ----
 */

typedef struct {
  uint64_t from, to;
  SchedulesResult *result; /* NULL: not there yet */
  GByteArray *told;
  int worker;
} Portion;

static void portion_free(void *data) {
  Portion *p = data;
  schedules_result_free(p->result);
  if (p->told) g_byte_array_unref(p->told);
  g_free(p);
}

static void work(void *data, const GByteArray *in, GByteArray *out) {
  const Walks *parent = data;
  uint64_t range[2];
  MessageReader r = {in->data, in->data + in->len};
  message_take(&r, range, sizeof range);
  SchedulesOptions o = *parent->s->options;
  g_autoptr(SchedulesResult) result = schedules_result_new();
  o.findings_max = 0, o.max_schedules = 0, o.all_cut = NULL;
  Search x;
  schedules_search_init(&x, parent->s->program, &o, result);
  Walks w = *parent;
  w.s = &x.s;
  several(&w, range[0], range[1], false);
  message_put_result(out, parent->s->program, result);
  schedules_search_clear(&x);
}

static bool news(const SchedulesResult *all, const SchedulesResult *part) {
  for (guint i = 0; i < part->findings->len; i++)
    if (!schedules_known(all, ((const ScheduleFinding *)part->findings->pdata[i])->words)) return true;
  return false;
}

/* Where one process might have stopped within it, the portion is gone again here. */
static bool take_over(Walks *w, Portion *p) {
  SchedulesResult *all = w->s->result;
  if (news(all, p->result)) return several(w, p->from, p->to, false);
  schedules_add(all, p->result);
  if (w->s->program->learn) w->s->program->learn(w->s->program->data, p->told->data, p->told->len);
  return schedules_over(w->s);
}

static void send_portion(Workers *crew, int worker, Portion *p) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  message_put(out, (uint64_t[]){p->from, p->to}, 2 * sizeof(uint64_t));
  p->worker = worker;
  workers_send(crew, worker, out);
}

static void take_answer(Workers *crew, GQueue *portions) {
  g_autoptr(GByteArray) in = g_byte_array_new();
  int worker = workers_wait(crew, in);
  MessageReader r = {in->data, in->data + in->len};
  for (GList *l = portions->head; l; l = l->next) {
    Portion *p = l->data;
    if (p->result || p->worker != worker) continue;
    p->told = g_byte_array_new();
    p->result = message_take_result(&r, p->told);
  }
}

static void together(Walks *w, Workers *crew, uint64_t next, uint64_t end) {
  enum { PORTION = 500 };
  GQueue portions = G_QUEUE_INIT;
  bool over = false;
  while (!over && (next < end || portions.length)) {
    int worker;
    while (next < end && (worker = workers_idle(crew)) >= 0) {
      Portion *p = g_new0(Portion, 1);
      p->from = next, p->to = next = MIN(next + PORTION, end);
      send_portion(crew, worker, p);
      g_queue_push_tail(&portions, p);
    }
    take_answer(crew, &portions);
    while (!over && portions.length && ((Portion *)portions.head->data)->result) {
      Portion *p = g_queue_pop_head(&portions);
      over = take_over(w, p);
      portion_free(p);
    }
  }
  g_queue_clear_full(&portions, portion_free);
}

/* PCT draws the places of its changes from as many steps as the longest of the first few walks had. */
void schedules_walk(Schedules *s) {
  enum { LEARNING = 32 };
  Walks w = {.s = s, .length = s->options->length};
  uint64_t end = s->options->max_schedules, first = MIN(end, LEARNING);
  g_assert(end && s->options->changes <= CHANGES_MOST);
  bool over = several(&w, 0, first, true);
  Workers *crew = !over && s->options->jobs > 1 ? workers_new(s->options->jobs, work, &w) : NULL;
  if (crew)
    together(&w, crew, first, end);
  else if (!over)
    several(&w, first, end, false);
  if (crew) s->result->cpu += workers_end(crew);
  workers_free(crew);
  if (s->options->strategy == SCHEDULES_PCT) s->result->bound = bound_of(&w);
}
