/* pgbench_thread.c - a thread of pgbench: connects its clients one after the other, waits at the barrier, then runs
 * their transactions side by side from one event loop. */
#include "model/postgres/pgbench.h"

typedef struct {
  MachineHead head;
  int32_t index, first, count; /* its clients: first .. first + count - 1 */
  int32_t next, ring_first, ring_count, running;
} Thread;
enum {
  T_CONNECT,
  T_SEND,
  T_CONNECTED,
  T_BARRIER,
  T_BENCH,
  T_NEXT,
  T_QUERY,
  T_RECONNECT,
  T_RECONNECTED,
  T_ANSWER,
  T_DONE
};

static Step t_connect(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  if (t->next < t->count && !be->config.reconnect) return connect_work(be);
  t->head.pc = T_BARRIER;
  return step_ran();
}

/* A full listen queue gives EAGAIN at once; the client stays away. */
static Step t_send(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  if (server_connect(be->sv, t->first + t->next, be->inbox[t->index], true))
    return channel_await(w, be->inbox[t->index], self);
  be->sv->sums.refused++;
  t->next++;
  t->head.pc = T_CONNECT;
  return step_ran();
}

static Step t_connected(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  Message m;
  bool arrived = channel_take(w, be->inbox[t->index], &m);
  g_assert(arrived && m.kind != MSG_RESULT);
  t->next++;
  t->head.pc = T_SEND;
  return t_connect(w, self, t);
}

static Step t_barrier(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  if (++be->state->threads_ready < be->config.threads) return queue_wait(w, be->barrier, self);
  be->sv->sums.connected_ns = server_now(be->sv);
  queue_wake_all(w, be->barrier, 0);
  return step_ran();
}

static void ring_put(const Bench *be, Thread *t, int client) {
  g_assert(t->ring_count < t->count);
  be->ring[t->first + (t->ring_first + t->ring_count++) % t->count] = client;
}

static int ring_take(const Bench *be, Thread *t) {
  int client = be->ring[t->first + t->ring_first];
  t->ring_first = (t->ring_first + 1) % t->count;
  t->ring_count--;
  return client;
}

static Step t_bench(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  if (be->config.transactions > 0)
    for (int i = t->first; i < t->first + t->count; i++) {
      be->left[i] = be->config.transactions;
      if (!be->config.reconnect && !be->sv->conn[i].up) continue;
      ring_put(be, t, i);
      be->sv->sums.clients++;
    }
  return step_ran();
}

static Step t_next(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  if (t->ring_count > 0) {
    t->next = ring_take(be, t);
    if (be->sv->conn[t->next].up) return work(server_cost(be->sv, COST_CLIENT_QUERY, 1));
    t->head.pc = T_RECONNECT;
    return connect_work(be);
  }
  t->head.pc = t->running > 0 ? T_ANSWER : T_DONE;
  return t->running > 0 ? channel_await(w, be->inbox[t->index], self) : step_ran();
}

static Step t_query(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  server_query(bench_of(w, self)->sv, t->next);
  t->running++;
  t->head.pc = T_NEXT;
  return step_ran();
}

/* -C: the thread stands still until the one connection is up, as pgbench does. */
static Step t_reconnect(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  if (server_connect(be->sv, t->next, be->inbox[t->index], true)) return channel_await(w, be->inbox[t->index], self);
  be->sv->sums.refused++;
  t->head.pc = T_NEXT;
  return step_ran();
}

static void answered(const Bench *be, Thread *t, int client) {
  t->running--;
  if (be->config.reconnect) server_terminate(be->sv, client, 0, 0);
  if (--be->left[client] > 0) ring_put(be, t, client);
}

/* Answers to other clients may come in between. */
static Step t_reconnected(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  Message m;
  bool arrived = channel_take(w, be->inbox[t->index], &m);
  g_assert(arrived);
  if (m.kind == MSG_RESULT) {
    answered(be, t, (int)m.from);
    t->head.pc = T_RECONNECTED;
    return channel_await(w, be->inbox[t->index], self);
  }
  t->head.pc = m.kind == MSG_READY ? T_QUERY : T_NEXT; /* refused: the client gives up */
  return m.kind == MSG_READY ? work(server_cost(be->sv, COST_CLIENT_QUERY, 1)) : step_ran();
}

static Step t_answer(World *w, ProcId self, void *locals) {
  Thread *t = locals;
  const Bench *be = bench_of(w, self);
  for (Message m; channel_take(w, be->inbox[t->index], &m);) answered(be, t, (int)m.from);
  t->head.pc = T_NEXT;
  return step_ran();
}

static Step t_done(World *w, ProcId self, void *locals) {
  (void)locals;
  Bench *be = bench_of(w, self);
  if (++be->state->threads_done == be->config.threads) {
    be->sv->sums.end_ns = server_now(be->sv);
    queue_wake_all(w, be->joined, 0);
  }
  return step_done();
}

static const Stage thread_stages[] = {
    [T_CONNECT] = {"PQconnectdb", t_connect},
    [T_SEND] = {"connect", t_send},
    [T_CONNECTED] = {"PQconnectPoll", t_connected},
    [T_BARRIER] = {"barrier", t_barrier},
    [T_BENCH] = {"start", t_bench},
    [T_NEXT] = {"advanceConnectionState", t_next},
    [T_QUERY] = {"PQsendQuery", t_query},
    [T_RECONNECT] = {"connect", t_reconnect},
    [T_RECONNECTED] = {"PQconnectPoll", t_reconnected},
    [T_ANSWER] = {"PQgetResult", t_answer},
    [T_DONE] = {"thread end", t_done},
};
static Step thread_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, thread_stages);
}
static const char *thread_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, thread_stages);
}
static void thread_stages_names(const World *w, void (*each)(const char *name, void *data), void *data) {
  (void)w;
  machine_stages(thread_stages, G_N_ELEMENTS(thread_stages), each, data);
}
const TypeGuide pgbench_thread_guide = {.stages = thread_stages_names};
const ProcessType pgbench_thread_type = {"pgbench thread", sizeof(Thread), thread_resume, thread_at};

void pgbench_thread_spawn(Bench *be, int index, int first, int count, int64_t after_ns) {
  ProcId p = world_spawn(be->sv->w, be->thread_type, after_ns);
  *(Thread *)world_locals(be->sv->w, p) = (Thread){.index = index, .first = first, .count = count};
}
