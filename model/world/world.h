/* world.h - what every model stands on, in one page.
 *
 * A model is a set of PROCESSES over shared OBJECTS. Whatever reality decides is a CHOICE that model code asks for and
 * never makes: which process goes on, when, what a draw gives. The DRIVER answers: the simulator from virtual time and
 * seeded streams, the explorer by branching, replay from a trace, live by imposing it on a binary. A model has no
 * clock: it says how long something takes, the driver says when it is over (the explorer: at any time later).
 *
 * Life: world_new, world_drive, then types, objects and processes (a spawn tells the driver), then the driver resumes
 * processes until none can go on, then world_free. All state is in the arena (world_arena); the ledger beside it is no
 * part of the state's identity. Everything here asserts on misuse; nothing here fails otherwise. */
#pragma once
#include "model/world/arena.h"
#include "model/world/costs.h"
#include "model/world/ledger.h"
#include <stdbool.h>

typedef struct World World;
typedef uint32_t ProcId;   /* a process; 0 is nobody. Ids of ended processes are used again, last first */
typedef uint32_t ObjectId; /* a lock, wait queue or channel; 0 is none */
typedef uint16_t TypeId;   /* a kind of process */
typedef uint16_t ChoiceId; /* a named choice = a random stream under the simulator */

/* ---- a step: how far resume came, and what the process needs before it can go on ---- */
typedef enum {
  STEP_RAN,     /* nothing: it may go on at once, and so may anybody else */
  STEP_WORK,    /* a core for ns */
  STEP_SLEEP,   /* ns without a core */
  STEP_BLOCKED, /* object `on`; whoever grants it makes it resumable */
  STEP_DONE     /* it has ended; its locals are gone */
} StepKind;
typedef struct {
  StepKind kind;
  ObjectId on;
  int64_t ns;
  bool in_line; /* RAN: what comes next is somebody else's answer, which took no time; see step_in_line */
} Step;

/* ---- a process: a machine with its program counter and locals in the arena, or code on a coroutine ---- */
typedef struct {
  const char *name;                                      /* "backend"; processes are shown as backend[ID] */
  size_t locals_size;                                    /* zeroed at spawn */
  Step (*resume)(World *w, ProcId self, void *locals);   /* to the next point where something else could matter */
  const char *(*at)(const World *w, const void *locals); /* what the next resume does: "ProcArrayAdd" */
} ProcessType;

/* A machine written as a list of stages: pc is kept in the first member of the locals. A stage runs and says what is
 * needed before the NEXT one; it may set pc itself to go elsewhere (pc already names the next stage when it runs). */
typedef struct {
  uint16_t pc;
} MachineHead;
typedef struct {
  const char *name;
  Step (*run)(World *w, ProcId self, void *locals);
} Stage;
Step machine_resume(World *w, ProcId self, void *locals, const Stage *stages);
const char *machine_at(const void *locals, const Stage *stages);
/* Tells `each` the names of n stages: for TypeGuide.stages of a machine. */
void machine_stages(const Stage *stages, guint n, void (*each)(const char *name, void *data), void *data);
Step step_ran(void), step_done(void), step_work(int64_t ns), step_sleep(int64_t ns), step_blocked(ObjectId on);
/* As step_ran; but where time orders things and each input is followed by all that it sets going (`ties: event_first`),
 * what was due at this instant before comes first. */
Step step_in_line(void);

/* ---- the driver: who answers ---- */
typedef struct {
  const char *name;
  int64_t value;    /* when text is NULL */
  const char *text; /* read during the call only */
} NoteField;
typedef struct {
  uint64_t (*choose)(void *driver, ChoiceId what, uint64_t n);         /* 0..n-1 */
  void (*ready)(void *driver, ProcId p, int64_t after_ns);             /* blocked before; may go on after_ns from now */
  void (*sent)(void *driver, ObjectId channel, int64_t after_ns);      /* one more message under way on it */
  void (*timer)(void *driver, ProcId p, bool limit, int64_t after_ns); /* armed (after_ns >= 0) or dropped (-1) */
  void (*note)(void *driver, ProcId who, const char *what, const NoteField *fields, guint n); /* NULL: nobody listens */
  int64_t (*now)(void *driver);     /* ns, for the ledger alone; NULL: always 0 */
  Hash128 (*pending)(void *driver); /* identity of what is under way, relative to now; NULL: order is all there is */
} DriverOps;

World *world_new(const Costs *costs, size_t arena_limit); /* costs are copied */
void world_free(World *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)
void world_drive(World *w, const DriverOps *ops, void *driver);
Arena *world_arena(World *w);
Ledger *world_ledger(World *w);
int64_t world_cost(const World *w, CostId id, int64_t count); /* ns */
int64_t world_ledger_time(const World *w); /* ns now, to measure with; nothing a model decides may depend on it */
bool world_has_clock(const World *w);      /* false: an untimed exploration; what things take decides nothing */
Hash128 world_hash(World *w);              /* identity of the state; what is under way counts by what is left of it */

/* ---- choices ---- */
ChoiceId world_choice(World *w, const char *name); /* interns; "exit-order" */
const char *world_choice_name(const World *w, ChoiceId c);
uint64_t world_choose(World *w, ChoiceId what, uint64_t n);

/* ---- processes ---- */
TypeId world_type(World *w, const ProcessType *type); /* the type must outlive the world */
void world_set_data(World *w, TypeId type,
                    void *data); /* what its processes find by world_data; no part of the state */
void *world_data(const World *w, ProcId p);
void *world_type_data(const World *w, const ProcessType *type); /* NULL: not of this world */
ProcId world_spawn(World *w, TypeId type, int64_t after_ns);
/* For a model whose processes stand for entries of its tables: `n` ids in a row that only world_spawn_as gives out, so
 * that who came first is no part of the state. The first of them; before anything runs. */
ProcId world_keep_ids(World *w, TypeId type, guint n);
void world_spawn_as(World *w, ProcId kept, int64_t after_ns);
void *world_locals(World *w, ProcId p);
Step world_resume(World *w, ProcId p); /* for drivers; only of a resumable process */
bool world_resumable(const World *w, ProcId p);
bool world_alive(const World *w, ProcId p);
guint world_processes(const World *w);             /* ids are below this */
guint world_live(const World *w);                  /* how many have not ended */
ObjectId world_waits_on(const World *w, ProcId p); /* 0: on nothing */
guint world_types(const World *w);                 /* ids are below this */
const char *world_type_name(const World *w, TypeId type);
TypeId world_type_of(const World *w, ProcId p);
const char *world_name_of(const World *w, ProcId p); /* "backend" */
const char *world_at(const World *w, ProcId p);      /* stage it will run next */

/* ---- what a type may say of its processes beside: for machines that are explored. All members may be NULL ---- */
typedef struct Footprint Footprint; /* explore.h */
typedef struct {
  /* False: it cannot go on now, though it waits for no object (a condition on shared memory). A driver asks again after
   * each step. */
  bool (*guard)(const World *w, ProcId self, const void *locals);
  /* What its next resume may read and write, its own locals aside, and what its guard reads; and what all resumes from
   * now on may, with those of what it spawns. For partial-order reduction; NULL: everything. */
  void (*footprint)(const World *w, ProcId self, const void *locals, Footprint *f);
  void (*future)(const World *w, ProcId self, const void *locals, Footprint *f);
  /* Name of the limit that its timer is now, as `explore.fire` says it: "query_wait_timeout". */
  const char *(*limit)(const World *w, ProcId self, const void *locals);
  /* True: its next step is the environment's, which may as well never take it (a kill, an arrival): fairness does not
   * force it in an untimed exploration. */
  bool (*unforced)(const World *w, ProcId self, const void *locals);
  /* True: what it does next, woken without delay, belongs to the input that woke it (a program that has read
   * something): with `ties: event_first` it comes before whatever else is due at that instant. */
  bool (*at_once)(const World *w, ProcId self, const void *locals);
  /* All names that `at` can give in this world: an explorer says which were never run. */
  void (*stages)(const World *w, void (*each)(const char *name, void *data), void *data);
  /* Whom its next step belongs to in a sequence chart, where that is not the process: lane "pooler", of "client a" (may
   * stay empty). Told as a note "lane" {on, of} before each step. */
  void (*lane)(const World *w, ProcId self, const void *locals, GString *on, GString *of);
} TypeGuide;
void world_guide(World *w, TypeId type, const TypeGuide *guide); /* the guide must outlive the world */
const TypeGuide *world_guide_of(const World *w, TypeId type);    /* NULL: none */
bool world_enabled(const World *w, ProcId p);                    /* resumable, and its guard lets it */

/* ---- marks: what a STEP did that a check must know and that is no part of the state (the outcome of a cancel). Bits
 * mean what the model says. They pile up until the driver clears them: the explorer before each step, others never.
 * ---- */
void world_mark(World *w, uint64_t bits);
uint64_t world_marks(const World *w);
void world_marks_clear(World *w); /* for drivers */

/* ---- LWLock-like locks: FIFO, exclusive or shared, handed over on release (cost COST_LOCK_HANDOVER). As in PostgreSQL
 * a shared request joins shared holders even when others wait, and a release that wakes a shared waiter wakes all of
 * them. Unlike there a lock given up with waiters is theirs at once: nobody can slip in while they wake. ---- */
typedef enum { LOCK_SHARED, LOCK_EXCLUSIVE } LockMode;
ObjectId lock_new(World *w, const char *name);
/* STEP_RAN: granted. STEP_BLOCKED: queued; when it is resumed it owns the lock. The stage returns what it gets. */
Step lock_acquire(World *w, ObjectId lock, ProcId self, LockMode mode);
bool lock_try(World *w, ObjectId lock, ProcId self, LockMode mode);
bool lock_release(World *w, ObjectId lock,
                  ProcId self); /* false: it did not hold it (a fault of the model's subject) */
bool lock_held(const World *w, ObjectId lock, ProcId self);
enum { LOCKS_HELD_MAX = 6 }; /* by one process; a seventh asserts */
guint lock_held_by(const World *w, ProcId p, SiteId *sites,
                   guint max);            /* ledger sites of the locks p holds, oldest first */
guint lock_ended_holding(const World *w); /* processes that ended with a lock still held */
guint lock_waiters(const World *w, ObjectId lock);

/* ---- wait queues: FIFO; a wake-up is not remembered when nobody waits ---- */
ObjectId queue_new(World *w, const char *name);
Step queue_wait(World *w, ObjectId queue, ProcId self);
bool queue_wake_one(World *w, ObjectId queue, int64_t after_ns);
guint queue_wake_all(World *w, ObjectId queue, int64_t after_ns);
bool queue_leave(World *w, ObjectId queue, ProcId p); /* a waiter gives up; false: it was not there */

/* ---- channels: messages under way, then arrived, in order; one reader ---- */
typedef struct {
  uint32_t kind, from;
  int64_t value;
} Message;
ObjectId channel_new(World *w, const char *name);
void channel_free(World *w, ObjectId channel); /* what is in it is dropped */
void channel_send(World *w, ObjectId channel, Message m, int64_t after_ns);
bool channel_take(World *w, ObjectId channel, Message *m);   /* false: none has arrived */
Step channel_await(World *w, ObjectId channel, ProcId self); /* STEP_RAN when one has arrived already */
guint channel_arrived(const World *w, ObjectId channel);
guint channel_under_way(const World *w, ObjectId channel);
void channel_deliver(World *w, ObjectId channel); /* for drivers: the first under way arrives */
bool channel_lose(World *w, ObjectId channel);    /* for drivers: the first under way is lost; false: none was */
void channel_may_lose(World *w, ObjectId channel, bool lossy); /* an explorer then also tries what losing does */
bool channel_lossy(const World *w, ObjectId channel);

/* ---- timers: one a process. A limit (timeout, deadline) never fires in an untimed exploration unless asked for ----
 */
void timer_arm(World *w, ProcId self, bool limit, int64_t after_ns);
void timer_drop(World *w, ProcId self);
void timer_fire(
    World *w,
    ProcId p); /* for drivers: p stops waiting and may go on (resume it then); nothing when it no longer waits */
bool world_timer_armed(const World *w, ProcId p);
bool timer_fired(const World *w, ProcId self); /* was the last resume due to it? */

/* ---- what happened, for traces; costs nothing when nobody listens ---- */
bool world_noted(const World *w);
void world_note(World *w, ProcId who, const char *what, const NoteField *fields, guint n);
/* One says something to another, both as sequence charts name them: a note {from, to, message}; the second one of a
 * step has {from_2, ...}, and so on to MESSAGES_NOTED. */
enum { MESSAGES_NOTED = 6 };
void world_note_message(World *w, ProcId who, const char *from, const char *to, const char *message);
const char *object_name(const World *w, ObjectId o);
bool object_is_lock(const World *w, ObjectId o);
