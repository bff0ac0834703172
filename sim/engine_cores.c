/* engine_cores.c - cores and the queue for them: first come, first served, by quanta where there are any. A process
 * keeps its core from step to step until it needs none, or others wait when its quantum is used up. */
#include "sim/engine_parts.h"

static void core_queue(Engine *e, ProcId p) {
  engine_task(e, p)->next = 0;
  if (e->run_tail)
    engine_task(e, e->run_tail)->next = p;
  else
    e->run_head = p;
  e->run_tail = p;
}

/* Runs p on its core until its work or its quantum is over. */
static void core_compute(Engine *e, ProcId p) {
  Task *t = engine_task(e, p);
  int64_t ns = t->left_ns;
  if (e->config.quantum_ns && ns < INT64_MAX) ns = MIN(ns, MAX(e->config.quantum_ns - t->slice_ns, 1));
  t->left_ns -= ns;
  t->slice_ns = ns > INT64_MAX - t->slice_ns ? INT64_MAX : t->slice_ns + ns;
  engine_plan(e, EVENT_WORKED, p, ns, false);
}

static void core_give(Engine *e) {
  ProcId p = e->run_head;
  if (!p) {
    e->cores_free++;
    return;
  }
  Task *t = engine_task(e, p);
  e->run_head = t->next;
  if (!e->run_head) e->run_tail = 0;
  t->on_core = true;
  t->slice_ns = 0;
  core_compute(e, p);
}

void core_leave(Engine *e, ProcId p) {
  Task *t = engine_task(e, p);
  if (!t->on_core) return;
  t->on_core = false;
  core_give(e);
}

void core_work(Engine *e, ProcId p, int64_t ns) {
  if (e->config.cores == 0) {
    engine_plan(e, EVENT_WORKED, p, ns, false);
    return;
  }
  Task *t = engine_task(e, p);
  t->left_ns = ns;
  if (!t->on_core && e->cores_free == 0) {
    core_queue(e, p);
    return;
  }
  if (!t->on_core) {
    e->cores_free--;
    t->on_core = true;
    t->slice_ns = 0;
  }
  core_compute(e, p);
}

bool core_worked(Engine *e, ProcId p) {
  if (e->config.cores == 0) return true;
  Task *t = engine_task(e, p);
  bool used_up = e->config.quantum_ns && t->slice_ns >= e->config.quantum_ns, done = t->left_ns == 0;
  if (used_up && e->run_head) {
    core_leave(e, p);
    if (!done) core_queue(e, p);
  } else {
    if (used_up) t->slice_ns = 0;
    if (!done) core_compute(e, p);
  }
  return done;
}
