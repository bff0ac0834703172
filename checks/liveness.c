/* liveness.c - see liveness.h. Every state is expanded once more, which gives the edges: the workers take blocks of
 * states, each into its own place of the graph, so who was faster changes nothing. Then one subject after the other. */
#include "checks/liveness.h"
#include "checks/fair_cycle.h"

/* A subject of one of the checks. */
typedef struct {
  gint check;
  guint subject;
} Subject;

typedef struct {
  const LivenessSearch *l;
  GArray *subjects; /* of Subject */
  StateGraph *graph;
  gint next, stopped; /* block; SearchStop */
  gsize bytes;        /* of blocks filled */
} Liveness;

/* ---- who moves ---- */

static uint16_t mover_of(const Stepper *s, Move m) {
  bool network = m.kind == MOVE_DELIVER || m.kind == MOVE_LOSE;
  guint mover = m.subject * 2 + network;
  if (mover >= GRAPH_MOVERS)
    g_error("limit: more than %d processes or channels for a check of liveness", GRAPH_MOVERS / 2);
  return (uint16_t)(mover | (stepper_forced(s, m) ? 0 : GRAPH_UNFORCED));
}

/* ---- edges ---- */

typedef struct {
  Liveness *v;
  Worker *k;
  GraphFill *fill;
  uint64_t *vector;
} Filler;

static uint32_t find(const Filler *f, bool fits) {
  uint32_t number = fits ? store_find(f->v->l->store, f->vector) : STORE_NONE;
  g_assert(number != STORE_NONE); /* the search has seen every state */
  return number;
}

/* Of the state that stands in the arena. */
static uint32_t number_of(const Filler *f) {
  return find(f, vector_encode(f->k->layout, f->k->arena, f->vector));
}

static void fill_pending(Filler *f) {
  const Model *m = stepper_model(f->k->stepper);
  for (guint i = 0; i < f->v->subjects->len; i++) {
    const Subject *s = &g_array_index(f->v->subjects, Subject, i);
    if (f->v->l->o->checks[s->check]->pending(m, s->subject, NULL)) graph_fill_pending(f->fill, i);
  }
}

static void fill_state(Filler *f, uint32_t state) {
  Worker *k = f->k;
  graph_fill_state(f->fill);
  vector_stand_at(k->stand, store_vector(f->v->l->store, state));
  fill_pending(f);
  const GArray *moves = stepper_moves(k->stepper);
  for (guint i = 0; i < moves->len; i++) {
    Move m = g_array_index(moves, Move, i);
    uint16_t mover = mover_of(k->stepper, m);
    do {
      stepper_go(k->stepper, m);
      graph_fill_edge(f->fill, find(f, vector_stand_leave(k->stand, f->vector, k->gaps)), mover);
    } while (stepper_more(k->stepper));
  }
}

/* ---- limits ---- */

static void stop(Liveness *v, SearchStop why) {
  g_atomic_int_compare_and_exchange(&v->stopped, STOP_EXHAUSTED, (gint)why);
}

static bool limited(Liveness *v) {
  const SearchOptions *o = v->l->o;
  if (o->interrupted && g_atomic_int_get(o->interrupted)) stop(v, STOP_INTERRUPTED);
  if (o->max_bytes && g_atomic_pointer_get(&v->bytes) > o->max_bytes) stop(v, STOP_MEMORY);
  if (search_late(o)) stop(v, STOP_TIME);
  return g_atomic_int_get(&v->stopped) != STOP_EXHAUSTED;
}

static gpointer fill_main(gpointer data) {
  Filler *f = data;
  Liveness *v = f->v;
  for (guint b; (b = (guint)g_atomic_int_add(&v->next, 1)) < state_graph_blocks(v->graph) && !limited(v);) {
    vector_stand_start(f->k->stand, f->k->layout);
    uint32_t from = b * GRAPH_BLOCK, to = MIN(from + GRAPH_BLOCK, state_graph_states(v->graph));
    for (uint32_t s = from; s < to; s++) fill_state(f, s);
    gsize bytes = graph_fill_block(f->fill, b);
    g_atomic_pointer_add(&v->bytes, (gssize)bytes);
  }
  return NULL;
}

static void fill_graph(Liveness *v) {
  Crew *c = v->l->crew;
  g_autofree Filler *f = g_new0(Filler, c->n);
  g_autofree GThread **threads = g_new0(GThread *, c->n);
  for (guint i = 0; i < c->n; i++) {
    f[i] = (Filler){.v = v, .k = &c->workers[i], .fill = graph_fill_new(v->graph)};
    f[i].vector = g_new(uint64_t, vector_words(c->layout));
  }
  for (guint i = 1; i < c->n; i++) threads[i] = g_thread_new("edges", fill_main, &f[i]);
  fill_main(&f[0]);
  for (guint i = 1; i < c->n; i++) g_thread_join(threads[i]);
  for (guint i = 0; i < c->n; i++) {
    graph_fill_free(f[i].fill);
    g_free(f[i].vector);
  }
}

/* ---- a lasso ---- */

enum { ENTRIES = 32, EDGES_LOOKED_AT = 4000000 };

static guint depth_of(const StateStore *store, uint32_t state) {
  guint depth = 0;
  for (; state != 0; state = store_parent(store, state)) depth++;
  return depth;
}

/* From the entry that makes way and round the shortest, among the first few. */
static GArray *best_round(const Liveness *v, FairSearch *f, const GArray *component) {
  uint64_t budget = EDGES_LOOKED_AT;
  GArray *best = NULL;
  guint best_steps = 0;
  for (guint i = 0; i < MIN(component->len, (guint)ENTRIES) && budget > 0; i++) {
    uint32_t entry = g_array_index(component, uint32_t, i);
    g_autoptr(GArray) round = fair_round_shortest(f, component, entry, &budget);
    guint steps = round ? depth_of(v->l->store, entry) + round->len : 0;
    if (!round || (best && steps >= best_steps)) continue;
    if (best) g_array_unref(best);
    best = g_steal_pointer(&round);
    best_steps = steps;
  }
  return best ? best : fair_round(f, component, g_array_index(component, uint32_t, 0));
}

/* The branch that an edge stands for, from where the first worker stands: the first that leads there. */
static void follow(const Liveness *v, GraphStep step, GArray *path) {
  Worker *k = &v->l->crew->workers[0];
  GraphEdges e = state_graph_edges_of(v->graph, step.from);
  g_autofree uint64_t *vector = g_new(uint64_t, vector_words(k->layout));
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(k->stepper));
  Filler f = {.v = (Liveness *)v, .k = k, .vector = vector};
  g_assert(number_of(&f) == step.from);
  for (guint i = 0; i < moves->len; i++) {
    Move m = g_array_index(moves, Move, i);
    if (mover_of(k->stepper, m) != e.movers[step.edge]) continue;
    do {
      stepper_go(k->stepper, m);
      if (number_of(&f) == e.to[step.edge]) {
        g_array_append_vals(path, stepper_branch(k->stepper), 1);
        return;
      }
      vector_decode(k->layout, k->arena, store_vector(v->l->store, step.from));
    } while (stepper_more(k->stepper));
  }
  g_assert_not_reached();
}

static void add_lasso(const Liveness *v, FairSearch *f, const Subject *s, const GArray *component) {
  const LivenessSearch *l = v->l;
  Worker *k = &l->crew->workers[0];
  g_autoptr(GArray) round = best_round(v, f, component);
  GArray *path = l->path_to(l->data, g_array_index(round, GraphStep, 0).from);
  g_assert(path);
  guint stem = path->len;
  g_autoptr(GString) why = g_string_new(NULL);
  bool pending = l->o->checks[s->check]->pending(stepper_model(k->stepper), s->subject, why);
  g_assert(pending);
  g_string_append_printf(why, ", while %u step(s) go round for ever", round->len);
  for (guint i = 0; i < round->len; i++) follow(v, g_array_index(round, GraphStep, i), path);
  if (!search_add_finding(l->r, l->o, k, s->check, why->str, path)) return;
  Finding *added = l->r->findings->pdata[l->r->findings->len - 1];
  added->lasso_from = (gint)stem;
}

/* ---- all subjects ---- */

typedef struct {
  const Subject *subject;
  GArray *component;
} Lasso;

/* By check, then by who is nearest to the first state. */
static gint nearest(gconstpointer a, gconstpointer b) {
  const Lasso *x = a, *y = b;
  if (x->subject->check != y->subject->check) return x->subject->check - y->subject->check;
  uint32_t at = g_array_index(x->component, uint32_t, 0), other = g_array_index(y->component, uint32_t, 0);
  if (at != other) return at < other ? -1 : 1;
  return (x->subject->subject > y->subject->subject) - (x->subject->subject < y->subject->subject);
}

static void judge_subjects(Liveness *v) {
  g_autoptr(FairSearch) f = fair_search_new(v->graph);
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Lasso));
  for (guint i = 0; i < v->subjects->len && !limited(v); i++) {
    Lasso c = {&g_array_index(v->subjects, Subject, i), fair_component(f, i)};
    if (c.component) g_array_append_val(found, c);
  }
  g_array_sort(found, nearest);
  for (guint i = 0; i < found->len; i++) {
    const Lasso *c = &g_array_index(found, Lasso, i);
    if (search_wants(v->l->r, v->l->o, c->subject->check)) add_lasso(v, f, c->subject, c->component);
    g_array_unref(c->component);
  }
}

/* What has been found broken already need not be looked for again. */
static GArray *subjects_of(const LivenessSearch *l) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Subject));
  const Model *m = stepper_model(l->crew->workers[0].stepper);
  for (guint i = 0; i < l->o->n_checks; i++) {
    const Check *c = l->o->checks[i];
    if (!check_is_liveness(c) || !search_wants(l->r, l->o, (gint)i)) continue;
    for (guint j = 0, n = c->subjects(m); j < n; j++) {
      Subject s = {(gint)i, j};
      g_array_append_val(all, s);
    }
  }
  return all;
}

void liveness_search(const LivenessSearch *l) {
  g_autoptr(GArray) subjects = subjects_of(l);
  uint32_t n = store_states(l->store);
  Liveness v = {.l = l, .subjects = subjects, .stopped = STOP_EXHAUSTED};
  v.bytes = store_bytes(l->store) + fair_search_bytes(n);
  v.graph = state_graph_new(n, subjects->len);
  if (subjects->len && !limited(&v)) fill_graph(&v);
  if (subjects->len && !limited(&v)) judge_subjects(&v);
  l->r->graph_bytes = subjects->len ? state_graph_bytes(v.graph) + fair_search_bytes(n) : 0;
  l->r->graph_edges = state_graph_edges(v.graph);
  l->r->loops_stop = (SearchStop)v.stopped;
  l->r->loops = l->r->loops_stop == STOP_EXHAUSTED;
  state_graph_free(v.graph);
}
