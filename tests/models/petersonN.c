/* petersonN.c - Peterson's mutual exclusion for N processes (1981): N - 1 levels, of which each lets all but one of
 * those that reach it go on. tests/promela/petersonN.pml is the same, step for step. */
#include "model/world/explore.h"
#include "model/world/plugin.h"

#ifndef N
#define N 4
#endif

typedef struct {
  uint8_t level[N], turn[N], inside;
} Shared;

typedef enum { IDLE, SET_LEVEL, SET_TURN, WAIT, NEXT_LEVEL, ENTER, LEAVE } Stages;
typedef struct {
  MachineHead head;
  uint8_t k, j;
} User;

static Shared *shared(const World *w, ProcId p) {
  return world_data(w, p);
}

static bool may_pass(const Shared *s, guint me, const User *u) {
  return u->j == me || s->level[u->j] < u->k || s->turn[u->k] != me;
}

static bool guard(const World *w, ProcId self, const void *locals) {
  const User *u = locals;
  return u->head.pc != WAIT || may_pass(shared(w, self), self - 1, u);
}

/* One more process need not be waited for at this level. */
static void pass(User *u) {
  if (++u->j < N) return;
  u->j = 0;
  u->head.pc = NEXT_LEVEL;
}

static Step resume(World *w, ProcId self, void *locals) {
  User *u = locals;
  Shared *s = shared(w, self);
  uint8_t me = (uint8_t)(self - 1);
  switch ((Stages)u->head.pc) {
  case IDLE: u->head.pc = SET_LEVEL; break;
  case SET_LEVEL:
    s->level[me] = u->k;
    u->head.pc = SET_TURN;
    break;
  case SET_TURN:
    s->turn[u->k] = me;
    u->head.pc = WAIT;
    break;
  case WAIT: pass(u); break;
  case NEXT_LEVEL: u->head.pc = ++u->k == N ? ENTER : SET_LEVEL; break;
  case ENTER:
    s->inside++;
    u->head.pc = LEAVE;
    break;
  case LEAVE:
    s->inside--;
    s->level[me] = 0;
    u->k = 1;
    u->head.pc = IDLE;
    break;
  }
  return step_ran();
}

static const char *at(const World *w, const void *locals) {
  static const char *const names[] = {"idle", "set level", "set turn", "wait", "next level", "enter", "leave"};
  (void)w;
  return names[((const User *)locals)->head.pc];
}

static void footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const User *u = locals;
  const Shared *s = shared(w, self);
  guint me = self - 1;
  switch ((Stages)u->head.pc) {
  case SET_LEVEL: return footprint_writes(f, &s->level[me], 1);
  case SET_TURN: return footprint_writes(f, &s->turn[u->k], 1);
  case WAIT:
    if (u->j == me) return;
    footprint_reads(f, &s->level[u->j], 1);
    return footprint_reads(f, &s->turn[u->k], 1);
  case LEAVE: /* here it goes round */
    f->loops = true;
    footprint_writes(f, &s->level[me], 1);
    return footprint_writes(f, &s->inside, 1);
  case ENTER: return footprint_writes(f, &s->inside, 1);
  case NEXT_LEVEL:
  case IDLE: break;
  }
}

/* It comes by everything again and again. */
static void future(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Shared *s = shared(w, self);
  (void)locals;
  footprint_writes(f, &s->level[self - 1], 1);
  footprint_reads(f, s->level, sizeof s->level);
  footprint_writes(f, s->turn, sizeof s->turn);
  footprint_writes(f, &s->inside, 1);
}

static const ProcessType user = {"user", sizeof(User), resume, at};
static const TypeGuide guide = {.guard = guard, .footprint = footprint, .future = future};

static void *build(World *w) {
  Shared *s = arena_alloc(world_arena(w), sizeof *s);
  TypeId type = world_type(w, &user);
  world_set_data(w, type, s);
  world_guide(w, type, &guide);
  for (guint i = 0; i < N; i++) ((User *)world_locals(w, world_spawn(w, type, 0)))->k = 1;
  return s;
}

static bool never_done(const World *w, const void *model) {
  (void)w;
  (void)model;
  return false;
}

static bool two_inside(const World *w, const void *model, GString *why) {
  const Shared *s = model;
  (void)w;
  if (s->inside < 2) return false;
  g_string_printf(why, "%d processes are in the critical section, not one", s->inside);
  return true;
}
static void reads_inside(const World *w, const void *model, guint i, Footprint *f) {
  const Shared *s = model;
  (void)w;
  (void)i;
  footprint_reads(f, &s->inside, 1);
}
static const PluginCheck checks[] = {{"one-at-a-time", "at most one process is in the critical section", two_inside}};

const ModelPlugin stampede_model = {.version = MODEL_PLUGIN_VERSION,
                                    .name = "petersonN",
                                    .about = "Peterson's mutual exclusion for N processes",
                                    .build = build,
                                    .done = never_done,
                                    .checks = checks,
                                    .n_checks = 1,
                                    .reads = reads_inside};
