/* philosophers.c - N philosophers, of whom the last takes his right fork first, so that there is no deadlock.
 * tests/promela/philosophers.pml is the same, step for step. */
#include "model/world/explore.h"
#include "model/world/plugin.h"

#ifndef N
#define N 10
#endif

typedef struct {
  uint8_t taken[N]; /* fork i lies left of philosopher i */
} Table;

typedef enum { THINK, TAKE_FIRST, TAKE_SECOND, PUT_FIRST, PUT_SECOND } Stages;

static Table *table(const World *w, ProcId p) {
  return world_data(w, p);
}

static guint first_fork(guint me) {
  return me == N - 1 ? 0 : me;
}
static guint second_fork(guint me) {
  return me == N - 1 ? N - 1 : me + 1;
}

static bool guard(const World *w, ProcId self, const void *locals) {
  const MachineHead *h = locals;
  if (h->pc == TAKE_FIRST) return !table(w, self)->taken[first_fork(self - 1)];
  if (h->pc == TAKE_SECOND) return !table(w, self)->taken[second_fork(self - 1)];
  return true;
}

static Step resume(World *w, ProcId self, void *locals) {
  MachineHead *h = locals;
  Table *t = table(w, self);
  switch ((Stages)h->pc) {
  case TAKE_FIRST: t->taken[first_fork(self - 1)] = 1; break;
  case TAKE_SECOND: t->taken[second_fork(self - 1)] = 1; break;
  case PUT_FIRST: t->taken[first_fork(self - 1)] = 0; break;
  case PUT_SECOND: t->taken[second_fork(self - 1)] = 0; break;
  case THINK: break;
  }
  h->pc = h->pc == PUT_SECOND ? THINK : h->pc + 1u;
  return step_ran();
}

static const char *at(const World *w, const void *locals) {
  static const char *const names[] = {"think", "take first", "take second", "put first", "put second"};
  (void)w;
  return names[((const MachineHead *)locals)->pc];
}

static void footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const MachineHead *h = locals;
  const Table *t = table(w, self);
  bool first = h->pc == TAKE_FIRST || h->pc == PUT_FIRST;
  f->loops = h->pc == PUT_SECOND; /* and thinks again */
  if (h->pc != THINK) footprint_writes(f, &t->taken[first ? first_fork(self - 1) : second_fork(self - 1)], 1);
}

static void future(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Table *t = table(w, self);
  (void)locals;
  footprint_writes(f, &t->taken[first_fork(self - 1)], 1);
  footprint_writes(f, &t->taken[second_fork(self - 1)], 1);
}

static const ProcessType philosopher = {"philosopher", sizeof(MachineHead), resume, at};
static const TypeGuide guide = {.guard = guard, .footprint = footprint, .future = future};

static void *build(World *w) {
  Table *t = arena_alloc(world_arena(w), sizeof *t);
  TypeId type = world_type(w, &philosopher);
  world_set_data(w, type, t);
  world_guide(w, type, &guide);
  for (guint i = 0; i < N; i++) world_spawn(w, type, 0);
  return t;
}

static bool never_done(const World *w, const void *model) {
  (void)w;
  (void)model;
  return false;
}

const ModelPlugin stampede_model = {.version = MODEL_PLUGIN_VERSION,
                                    .name = "philosophers",
                                    .about = "N philosophers, one of them left-handed",
                                    .build = build,
                                    .done = never_done};
