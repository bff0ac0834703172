/* pgbench.h - what pgbench.c (the main process) and pgbench_thread.c share; not for others. */
#pragma once
#include "model/postgres/backend.h"

typedef struct {
  int32_t iteration, threads_ready, threads_done, between_left, warm_runs;
  uint8_t warm;
} BenchState;

typedef struct {
  PgServer *sv;
  PgbenchConfig config;
  int iterations_most; /* of a warm run: what a FIFO needs, and a few; only a broken free list comes that far */
  ObjectId barrier, joined, *inbox; /* inbox: by thread, the main process's last */
  ChoiceId exit_order;
  TypeId thread_type;
  BenchState *state; /* this and the next in the arena */
  int64_t *left;     /* transactions, by client */
  int32_t *ring;     /* by thread: clients that may act, within the thread's part */
} Bench;

extern const ProcessType pgbench_thread_type;
extern const TypeGuide pgbench_thread_guide;
/* Clients first .. first + count - 1, which connect at once. */
void pgbench_thread_spawn(Bench *be, int index, int first, int count, int64_t after_ns);

static inline Bench *bench_of(const World *w, ProcId self) {
  return world_data(w, self);
}
static inline Step connect_work(const Bench *be) {
  return work(server_cost(be->sv, COST_CLIENT_CONNECT, 1));
}
