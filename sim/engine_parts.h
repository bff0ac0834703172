/* engine_parts.h - what engine.c and engine_cores.c share. Private to them. */
#pragma once
#include "model/world/rng.h"
#include "sim/engine.h"
#include "sim/event_queue.h"

enum { ARGS_MAX = 64, RECENT = 16 };
typedef enum { EVENT_RESUME, EVENT_DELIVER, EVENT_TIMER, EVENT_WORKED } EventKind;

/* What the simulator knows of a process beside the world. */
typedef struct {
  int64_t left_ns;  /* of the work it is at, when it waits for a core or was cut at a quantum */
  int64_t slice_ns; /* used of its quantum */
  guint next;       /* in the run queue */
  bool on_core;
  bool in_line; /* once what it has set going is over */
  EventHandle timer;
} Task;

struct Engine {
  World *w;
  EngineConfig config;
  EventQueue *events;
  GArray *tasks;   /* of Task, by ProcId */
  GArray *streams; /* of Rng, by ChoiceId */
  GArray *choices; /* of TraceChoice: made in this step */
  GArray *parked;  /* of ProcId: could go on, but for a guard (world.h, TypeGuide) */
  int64_t now;
  uint64_t n_events, n_steps, n_ranked;
  uint64_t instant; /* steps before this instant */
  uint64_t n_drawn; /* from a stream, among more than one */
  struct {
    ProcId who;
    const char *name, *doing;
  } recent[RECENT]; /* step i at i % RECENT */
  guint cores_free, run_head, run_tail;
  EngineListener listener;
  void *listening;
  const char *current_name, *current_doing;
  NoteField args[ARGS_MAX];
  guint n_args;
};

static inline Task *engine_task(Engine *e, ProcId p) {
  if (p >= e->tasks->len) g_array_set_size(e->tasks, p + 1);
  return &g_array_index(e->tasks, Task, p);
}

/* ---- engine.c ---- */
EventHandle engine_plan(Engine *e, EventKind kind, uint32_t subject, int64_t after_ns, bool limit);

/* ---- engine_cores.c: who computes. Without a limit of cores everybody does at once ---- */
void core_work(Engine *e, ProcId p, int64_t ns); /* EVENT_WORKED comes when it is done, or at the end of a quantum */
bool core_worked(Engine *e, ProcId p);           /* that event; true: all is done, and p goes on with its next step */
void core_leave(Engine *e, ProcId p);            /* it needs none; the next in line gets it */
