/* pgbench.c - pgbench as a workload: -c clients, -j threads, -t transactions, -C, again and again without a restart.
 *
 * A run: the main process starts the threads; each connects its clients one after the other and waits for each; at the
 * barrier the initial connection time ends. Then transactions, then everybody leaves: PQfinish does not wait, so all
 * goodbyes are sent at once, in an order that the choices "exit-order" make, and the run is over when the last backend
 * has given its slot back. Between two runs some short connections take and give slots too. */
#include "model/postgres/pgbench.h"
#include <string.h>

enum { WARM_RUNS = 3 };

typedef struct {
  MachineHead head;
} Main;
enum {
  M_BEGIN,
  M_SPAWN,
  M_JOIN,
  M_LEAVE,
  M_GONE,
  M_BETWEEN,
  M_BETWEEN_SEND,
  M_BETWEEN_READY,
  M_BETWEEN_LEAVE,
  M_BETWEEN_GONE
};
/* A run begins at M_BETWEEN, with the short connections that come before the first iteration, if there are any. */

static ObjectId main_inbox(const Bench *be) {
  return be->inbox[be->config.threads];
}

/* Were all slots of the clients' pool handed out before? Where they are not in turn, one run has shuffled all there is.
 */
static bool begins_warm(const Bench *be) {
  const PgConfig *c = &be->sv->config;
  if (c->give == GIVE_HEAD || c->take == TAKE_LOWEST) return be->state->iteration >= 2;
  return pg_handed_out(be->sv->shared) == pg_shared_pools(be->sv->shared)->backends;
}

static Step m_begin(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  BenchState *st = be->state;
  *st = (BenchState){.iteration = st->iteration + 1, .warm_runs = st->warm_runs};
  st->warm = begins_warm(be);
  be->sv->state->born = 0;
  iteration_begin(be->sv);
  int64_t ns = server_cost(be->sv, COST_UNEXPLAINED_RUN, 1);
  return ns > 0 ? step_sleep(ns) : step_ran();
}

static Step m_spawn(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  int n = be->config.clients, threads = be->config.threads, first = 0;
  for (int i = 0; i < threads; i++) {
    int count = n / threads + (i < n % threads);
    pgbench_thread_spawn(be, i, first, count, server_cost(be->sv, COST_CLIENT_THREAD, i + 1));
    first += count;
  }
  return queue_wait(w, be->joined, self);
}

static Step m_join(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  g_assert(be->state->threads_done == be->config.threads);
  return step_ran();
}

static int exit_window(const PgbenchConfig *c, int n) {
  int window = c->exit_order == EXIT_RANDOM ? n : c->exit_order == EXIT_IN_ORDER ? 1 : c->exit_window;
  return CLAMP(window, 1, MAX(n, 1));
}

/* Who leaves next is drawn from a window over the order in which they came: all of them, one, or so many. The draw is
 * what reality decides, so each backend is told its turn: exits take unlike long (their faults differ), and who comes
 * to the proc array early waits there. A nanosecond lies between two goodbyes, so that they are no ties. */
static Step m_leave(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  PgServer *sv = be->sv;
  int32_t *order = sv->born;
  int n = MIN(sv->state->born, sv->n_conns), window = exit_window(&be->config, n);
  server_begin_turns(sv);
  for (int sent = 0, turn = 0, next = window; sent < n; sent++) {
    int pick = (int)world_choose(w, be->exit_order, (uint64_t)window), conn = order[pick];
    if (next < n)
      order[pick] = order[next++];
    else
      order[pick] = order[--window];
    if (sv->conn[conn].up) server_terminate(sv, conn, sent, ++turn);
  }
  memset(order, 0, (size_t)n * sizeof *order);
  sv->state->born = 0;
  return sv->state->out > 0 ? queue_wait(w, sv->gone, self) : step_ran();
}

static Step iteration_over(Bench *be) {
  BenchState *st = be->state;
  const PgbenchConfig *c = &be->config;
  st->warm_runs += st->warm;
  iteration_end(be->sv, st->iteration, st->warm, !c->reconnect);
  bool last = c->iterations ? st->iteration == c->iterations
                            : st->warm_runs == WARM_RUNS || st->iteration == be->iterations_most;
  if (!last) return step_ran();
  be->sv->state->done = 1;
  return step_done();
}

static Step m_gone(World *w, ProcId self, void *locals) {
  Bench *be = bench_of(w, self);
  (void)locals;
  be->state->between_left = be->config.between;
  return iteration_over(be);
}

static Step m_between(World *w, ProcId self, void *locals) {
  Main *m = locals;
  Bench *be = bench_of(w, self);
  if (be->state->between_left-- > 0) return connect_work(be);
  m->head.pc = M_BEGIN;
  return step_ran();
}

static Step m_between_send(World *w, ProcId self, void *locals) {
  Main *m = locals;
  Bench *be = bench_of(w, self);
  if (server_connect(be->sv, be->config.clients, main_inbox(be), false)) return channel_await(w, main_inbox(be), self);
  m->head.pc = M_BETWEEN;
  return step_ran();
}

static Step m_between_ready(World *w, ProcId self, void *locals) {
  Main *m = locals;
  Bench *be = bench_of(w, self);
  Message msg;
  bool arrived = channel_take(w, main_inbox(be), &msg);
  g_assert(arrived);
  if (msg.kind == MSG_READY) return work(server_cost(be->sv, COST_SESSION_BETWEEN, 1));
  m->head.pc = M_BETWEEN;
  return step_ran();
}

static Step m_between_leave(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  server_terminate(be->sv, be->config.clients, 0, 0);
  return queue_wait(w, be->sv->gone, self);
}

static Step m_between_gone(World *w, ProcId self, void *locals) {
  Main *m = locals;
  m->head.pc = M_BETWEEN_SEND;
  return m_between(w, self, locals);
}

static const Stage main_stages[] = {
    [M_BEGIN] = {"main", m_begin},
    [M_SPAWN] = {"pthread_create", m_spawn},
    [M_JOIN] = {"pthread_join", m_join},
    [M_LEAVE] = {"disconnect_all", m_leave},
    [M_GONE] = {"end of run", m_gone},
    [M_BETWEEN] = {"PQconnectdb", m_between},
    [M_BETWEEN_SEND] = {"connect", m_between_send},
    [M_BETWEEN_READY] = {"PQconnectPoll", m_between_ready},
    [M_BETWEEN_LEAVE] = {"PQfinish", m_between_leave},
    [M_BETWEEN_GONE] = {"next", m_between_gone},
};
static Step main_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, main_stages);
}
static const char *main_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, main_stages);
}
static const ProcessType main_type = {"pgbench", sizeof(Main), main_resume, main_at};

/* ---- starting it ---- */

static void bench_free(gpointer data) {
  Bench *be = data;
  g_free(be->inbox);
  g_free(be);
}

static TypeId type_for(Bench *be, const ProcessType *type) {
  TypeId t = world_type(be->sv->w, type);
  world_set_data(be->sv->w, t, be);
  return t;
}

void pgbench_start(PgServer *sv, const PgbenchConfig *c) {
  World *w = sv->w;
  g_assert(c->clients > 0 && c->threads > 0 && c->threads <= c->clients && c->iterations >= 0 && c->between >= 0);
  g_assert(c->exit_order != EXIT_WINDOW || c->exit_window > 0);
  Bench *be = g_new0(Bench, 1);
  be->sv = sv;
  be->config = *c;
  be->iterations_most = pg_shared_pools(sv->shared)->backends / MAX(c->clients + c->between, 1) + 2 + 2 * WARM_RUNS;
  server_open(sv, c->clients + 1);
  be->barrier = queue_new(w, "barrier");
  be->joined = queue_new(w, "pthread_join");
  be->inbox = g_new(ObjectId, (gsize)c->threads + 1);
  for (int i = 0; i <= c->threads; i++) be->inbox[i] = channel_new(w, "libpq");
  be->exit_order = world_choice(w, "exit-order");
  be->state = arena_alloc(world_arena(w), sizeof *be->state);
  be->left = arena_alloc(world_arena(w), (size_t)c->clients * sizeof *be->left);
  be->ring = arena_alloc(world_arena(w), (size_t)c->clients * sizeof *be->ring);
  be->thread_type = type_for(be, &pgbench_thread_type);
  world_guide(w, be->thread_type, &pgbench_thread_guide);
  sv->workload = be;
  sv->workload_free = bench_free;
  be->state->between_left = c->before;
  Main *m = world_locals(w, world_spawn(w, type_for(be, &main_type), 0));
  m->head.pc = c->before > 0 ? M_BETWEEN : M_BEGIN;
}
