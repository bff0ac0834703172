/* engine.h - drives a world in virtual time: the driver of run, sweep, compare and replay.
 *
 * Time is int64 ns and moves from event to event. Events at one instant are ordered by rank, then by order of making;
 * the rank comes from the rule for ties (below) and the seed, and ties are counted. With TIES_EVENT_FIRST limits come
 * last, and an input is followed by all that it sets going (TypeGuide.at_once, step_in_line) before the next. Cores: a
 * process computes (STEP_WORK) on a core of `cores`, first come first served; it keeps the core until it blocks,
 * sleeps, ends, or has used a quantum while others wait. Cores 0: as many as asked for. Draws: one seeded stream a name
 * (rng.h). Life: engine_new (takes over as the world's driver), spawn the processes, engine_run, engine_free before the
 * world. */
#pragma once
#include "model/world/world.h"
#include "traces/trace.h"

typedef struct Engine Engine;
typedef enum { TIES_SEEDED, TIES_TIMEOUT_FIRST, TIES_EVENT_FIRST } Ties;
typedef struct {
  uint64_t seed;
  guint cores;        /* 0: none are counted */
  int64_t quantum_ns; /* 0: none */
  Ties ties;
  uint64_t max_steps, max_steps_at_once; /* on the whole; without time going on. 0: no limit */
} EngineConfig;

/* One step, told to the listener when it is over. Texts live during the call. */
typedef struct {
  uint64_t i;
  int64_t t_ns;
  ProcId who;
  const char *name, *doing; /* "backend", "ProcArrayAdd" */
  const NoteField *args;    /* what the model noted during it */
  guint n_args;
  const TraceChoice *choices; /* made during it */
  guint n_choices;
} EngineStep;
typedef struct {
  void (*step)(void *listener, const EngineStep *s); /* may be NULL; then the model's notes are not asked for */
  bool (*after)(void *listener);                     /* after each step; true stops the run. May be NULL */
  bool (*cut)(void *listener); /* work was cut by a quantum, which is no step; true stops the run. May be NULL */
  bool (*chosen)(void *listener, ChoiceId what, uint64_t n,
                 uint64_t *took); /* answers in place of the streams; may be NULL */
} EngineListener;

Engine *engine_new(World *w, const EngineConfig *config);
void engine_free(Engine *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Engine, engine_free)
void engine_listen(Engine *e, const EngineListener *l, void *listener);

typedef enum { ENGINE_IDLE, ENGINE_TIME, ENGINE_STOPPED, ENGINE_STEPS, ENGINE_STUCK, ENGINE_CLOCK } EngineEnd;
/* Until nothing is pending (IDLE), the clock would pass until_ns (TIME; < 0: no limit), `after` or
 * `cut` said stop (STOPPED), max_steps were taken (STEPS), max_steps_at_once without time going on (STUCK), or what
 * comes next is later than int64 ns can say (CLOCK; 292 years). */
EngineEnd engine_run(Engine *e, int64_t until_ns);
int64_t engine_now(const Engine *e);
int64_t engine_next(const Engine *e); /* time of what comes next; INT64_MAX: nothing */
uint64_t engine_events(const Engine *e);
uint64_t engine_steps(const Engine *e);
uint64_t engine_ties(const Engine *e); /* events that had an equal in time when they were taken */
/* The seed decided something: a draw among several, or the order of a tie. False: every seed gives this very run, since
 * up to its end no two seeds had anything to differ in. */
bool engine_seeded(const Engine *e);
/* How often the seed could decide something so far; of two states that are equal the same follows only if it is asked
 * for nothing in between. */
uint64_t engine_chances(const Engine *e);
uint64_t engine_drawn(const Engine *e); /* of those, the draws: all but the ties */
/* Appends who has taken the last few steps, each kind once, in order: "server[3] connect, server[3] log in". */
void engine_place(const Engine *e, GString *out);
