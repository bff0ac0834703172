/* storm.c - sessions that arrive by themselves, whoever is served or not: a burst, one each so long, or a Poisson
 * process. A full listen queue refuses at once; who gets in waits for the postmaster. The wait is from the arrival to
 * ReadyForQuery. */
#include "model/postgres/backend.h"
#include "model/world/rng.h"

typedef struct {
  int32_t arrived, answered;
} StormState;

typedef struct {
  PgServer *sv;
  StormConfig config;
  ObjectId inbox;
  ChoiceId gap, stay;
  StormState *state;
  int64_t *arrived_ns; /* by session; then how long it waited. Beside the state */
  GArray *waits;       /* of int64_t ns, of those served */
} Storm;

static Storm *storm_of(const World *w, ProcId self) {
  return world_data(w, self);
}

static int64_t exponential(World *w, ChoiceId what, int64_t mean_ns) {
  return rng_exponential_of((uint32_t)world_choose(w, what, UINT64_C(1) << 32), mean_ns);
}

/* ---- arrivals ---- */
typedef struct {
  MachineHead head;
} Arrivals;
enum { A_WAIT, A_ARRIVE };

static int64_t gap_ns(World *w, const Storm *s) {
  const StormConfig *c = &s->config;
  int64_t i = s->state->arrived;
  if (c->burst_ns > 0) { /* evenly, without adding up what rounding leaves */
    __int128 burst = c->burst_ns;
    return i == 0 ? 0 : (int64_t)(burst * i / c->sessions - burst * (i - 1) / c->sessions);
  }
  if (c->arrival == ARRIVE_POISSON) return exponential(w, s->gap, c->gap_ns);
  return i == 0 ? 0 : c->gap_ns;
}

static Step a_wait(World *w, ProcId self, void *locals) {
  (void)locals;
  const Storm *s = storm_of(w, self);
  if (s->state->arrived == s->config.sessions) return step_done();
  int64_t ns = gap_ns(w, s);
  return ns > 0 ? step_sleep(ns) : step_ran();
}

static void finish_if_all(Storm *s);

static Step a_arrive(World *w, ProcId self, void *locals) {
  Arrivals *a = locals;
  Storm *s = storm_of(w, self);
  int i = s->state->arrived++;
  s->arrived_ns[i] = server_now(s->sv);
  if (!server_connect(s->sv, i, s->inbox, true)) {
    s->sv->sums.refused++;
    s->state->answered++;
    finish_if_all(s);
  }
  a->head.pc = A_WAIT;
  return step_ran();
}

static const Stage arrival_stages[] = {[A_WAIT] = {"next arrival", a_wait}, [A_ARRIVE] = {"connect", a_arrive}};
static Step arrivals_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, arrival_stages);
}
static const char *arrivals_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, arrival_stages);
}
static const ProcessType arrivals_type = {"arrivals", sizeof(Arrivals), arrivals_resume, arrivals_at};

/* ---- answers ---- */
enum { S_AWAIT, S_TAKE };

static gint by_value(gconstpointer a, gconstpointer b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void put_wait(Storm *s, const char *name, int64_t ns) {
  g_autofree char *key = g_strconcat("wait_ms.", name, NULL);
  ledger_set(world_ledger(s->sv->w), key, (double)ns / 1e6);
}

/* Nearest rank: the least wait that so many percent do not exceed. */
static int64_t percentile(const GArray *sorted, guint percent) {
  guint rank = (sorted->len * percent + 99) / 100;
  return g_array_index(sorted, int64_t, rank - 1);
}

static void put_waits(Storm *s) {
  const guint n = s->waits->len;
  if (n == 0) return;
  put_wait(s, "last", g_array_index(s->waits, int64_t, n - 1));
  g_array_sort(s->waits, by_value);
  int64_t sum = 0;
  for (guint i = 0; i < n; i++) sum = ns_sum(sum, g_array_index(s->waits, int64_t, i));
  put_wait(s, "mean", sum / n);
  put_wait(s, "p50", percentile(s->waits, 50));
  put_wait(s, "p95", percentile(s->waits, 95));
  put_wait(s, "p99", percentile(s->waits, 99));
  put_wait(s, "max", percentile(s->waits, 100));
}

static void finish_if_all(Storm *s) {
  if (s->state->answered < s->config.sessions) return;
  s->sv->sums.connected_ns = s->sv->sums.end_ns = server_now(s->sv);
  put_waits(s);
  iteration_end(s->sv, 1, false, true);
  s->sv->state->done = 1;
}

static int64_t stay_ns(World *w, const Storm *s) {
  const StormConfig *c = &s->config;
  if (c->hold == HOLD_FIXED) return c->hold_ns;
  if (c->hold == HOLD_EXPONENTIAL) return exponential(w, s->stay, c->hold_ns);
  return c->hold_ns + (int64_t)world_choose(w, s->stay, (uint64_t)(c->hold_most_ns - c->hold_ns) + 1);
}

static Step s_await(World *w, ProcId self, void *locals) {
  (void)locals;
  return channel_await(w, storm_of(w, self)->inbox, self);
}

static Step s_take(World *w, ProcId self, void *locals) {
  MachineHead *head = locals;
  Storm *s = storm_of(w, self);
  for (Message m; channel_take(w, s->inbox, &m);) {
    s->state->answered++;
    if (m.kind == MSG_READY) {
      int64_t waited = server_now(s->sv) - s->arrived_ns[m.from];
      g_array_append_val(s->waits, waited);
      if (s->config.hold != HOLD_EVER) server_terminate(s->sv, (int)m.from, stay_ns(w, s), 0);
    }
    finish_if_all(s);
  }
  head->pc = S_AWAIT;
  return s->state->answered == s->config.sessions ? step_done() : step_ran();
}

static const Stage answer_stages[] = {[S_AWAIT] = {"wait", s_await}, [S_TAKE] = {"PQconnectPoll", s_take}};
static Step answers_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, answer_stages);
}
static const char *answers_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, answer_stages);
}
static const ProcessType answers_type = {"sessions", sizeof(Arrivals), answers_resume, answers_at};

static void storm_free(gpointer data) {
  Storm *s = data;
  g_free(s->arrived_ns);
  g_array_unref(s->waits);
  g_free(s);
}

static void spawn(Storm *s, const ProcessType *type) {
  TypeId t = world_type(s->sv->w, type);
  world_set_data(s->sv->w, t, s);
  world_spawn(s->sv->w, t, 0);
}

void storm_start(PgServer *sv, const StormConfig *c) {
  g_assert(c->sessions > 0 && c->gap_ns >= 0 && c->burst_ns >= 0);
  g_assert(c->hold != HOLD_UNIFORM || c->hold_most_ns >= c->hold_ns);
  Storm *s = g_new0(Storm, 1);
  s->sv = sv;
  s->config = *c;
  server_open(sv, c->sessions);
  s->inbox = channel_new(sv->w, "libpq");
  s->gap = world_choice(sv->w, "arrival");
  s->stay = world_choice(sv->w, "session-length");
  s->state = arena_alloc(world_arena(sv->w), sizeof *s->state);
  s->arrived_ns = g_new0(int64_t, (gsize)c->sessions);
  s->waits = g_array_new(FALSE, FALSE, sizeof(int64_t));
  sv->workload = s;
  sv->workload_free = storm_free;
  iteration_begin(sv);
  spawn(s, &answers_type);
  spawn(s, &arrivals_type);
}
