/* runtime.h - what the files of this folder that make up subject.h know of each other; not for others. */
#pragma once
#include "model/world/coro.h"
#include "sim/subject/hooks.h"
#include "sim/subject/subject.h"

typedef struct {
  char *name, *type;
  uint64_t base, bytes, size; /* size: of an element */
} Structure;

enum { CHAIN_MOST = 12 };

/* A place in the code that touched something costly: what of which structure. */
typedef struct {
  const void *pc;
  const void *callers[CHAIN_MOST]; /* when it was first touched; the innermost first */
  guint n_callers;
  const char *call; /* of the process: "InitProcess" */
  Charge all;       /* since the start */
  guint structure;  /* 0: none */
  uint64_t offset;  /* in its element */
  Touch touch;      /* since it was last charged */
  int64_t moved, followers, stores;
  FieldId field;
  SiteId site;
  ImagePlace place; /* with the site */
  bool dirty;
} Row;

enum { SUBJECT_STACK_BYTES = 64 << 10, SUBJECT_PRIVATE_MIB = 256 };
/* Calls of the runtime in one call of the code before it counts as endless: each costs some twenty accesses. */
#define SUBJECT_ASKS(accesses) ((accesses) / 20)

typedef struct Proc Proc;
struct Proc {
  int number, pid;
  ProcId self; /* of the world, while it runs */
  AddressSpace *as;
  size_t private_bytes;    /* that it has asked for */
  char *data;              /* its variables while another's are in place */
  Coro *stack, *own_stack; /* own: kept between calls, so that it is always the same one; NULL: any will do */
  void *first_frame;       /* of the call under way, on its stack */
  void (*fn)(int64_t);
  int64_t argument;
  const char *doing;
  Step step;           /* what it waits for, when it has stopped */
  bool settles, truth; /* settles: it has stopped only so that time passes */
  SubjectState state;
  char *words;
  uint64_t own_word, last_line;
  uint32_t owner;       /* of cache lines */
  StmSemaphore signals; /* that have come and were not looked at; 0: none yet */
  int64_t asks_left;    /* calls of the runtime until the limit, in the call under way */
  uint64_t round;       /* what it had on its stack when it last spun */
  int64_t extra_ns;     /* to be paid at the next point where time passes */
  SubjectUse use;
  int64_t faults_in;
};

typedef struct {
  ObjectId lock; /* of the world; 0 before it is first asked for */
  char *name;
  int64_t taken; /* in time: how often */
  bool spin;     /* spinlocks.c */
  bool left_out; /* operation by operation: as if it were not there */
} Lock;
typedef struct {
  ObjectId queue;   /* 0 before anybody waits */
  int count, first; /* first: as it was made with */
  bool signals;     /* signals.c: those that a process has not looked at */
  char *name;
} Semaphore;

struct Subject {
  Image *image;
  const StampedeSubject *code;
  World *w;
  Segment *segment;
  char *base;      /* of shared memory */
  size_t reserved; /* bytes of addresses */
  char *heap, *heap_end, *heap_next;
  GArray *structures; /* of Structure, [0] nothing, by address */
  GArray *rows;       /* of Row */
  GHashTable *row_of; /* of RowKey -> index + 1 */
  GArray *dirty;      /* of guint: rows to be charged */
  GPtrArray *procs;   /* of Proc by number; NULL: reaped */
  GPtrArray *stacks;  /* Coro, idle */
  GArray *free_numbers;
  Proc *running, *loaded;
  uint64_t spins; /* rounds in a row, everybody's, in which nobody did anything else */
  const void *spun_at;
  uint64_t stops;           /* times that a process has stopped, or ended */
  const void *entered_from; /* where the code last called one of our functions */
  guint last_row;           /* index + 1 of the row touched last */
  int64_t left_before;      /* hooks_left when accesses were last taken */
  char *initial;            /* variables as `start` left them */
  char *pristine;           /* as they were when the object was loaded */
  void (*before)(void *data);
  void *before_data;
  GArray *locks, *semaphores;
  GHashTable *spinlocks; /* address in the segment -> number among the locks */
  bool trapped;          /* the fault is a trap's: something is missing in the manifest */
  bool lines;            /* cache lines are counted */
  uint32_t *line_owner, *word_owner, owners;
  struct Interleave *interleave; /* others decide who goes on, operation by operation; NULL: time does */
  bool alone, starting;          /* nobody else is there; `start` runs */
  bool looking;                  /* a check or `describe` runs: shared memory is looked at, and nothing is counted */
  int looker;                    /* the process that ran `start`, and then looks; -1: none yet */
  int64_t accesses;
  uint64_t faults_base, faults_bytes, moves_base, moves_bytes;
  uint32_t moves_width;
  int64_t (*told)(void *data, ProcId p, const char *lock, SubjectLockEvent e);
  void *told_data;
  void (*record)(void *data, uint64_t address, uint64_t bytes, bool write);
  void *record_data;
  char *fault, *broken;                          /* broken: the fault before its place is put to it */
  const void *broken_at, *broken_by[CHAIN_MOST]; /* the place, and its callers */
  guint n_broken_by;
  FieldId other_field; /* of accesses that belong to no row */
};

/* Where the code called the function that asks. */
#define PC __builtin_return_address(0)

extern Subject *subject_here; /* the one in this process; the functions that subjects call have no argument for it */
_Noreturn void subject_too_early(const char *what); /* limits.c: there is none yet; what: "a constructor of it ..." */
static inline bool subject_is_searched(void) {
  return subject_here && subject_here->interleave;
}
static inline Subject *subject_running(void) {
  if (G_UNLIKELY(!subject_here)) subject_too_early("calls an stm_ function");
  g_assert(subject_here->running);
  return subject_here;
}

/* ---- machine.c ---- */
void subject_stop(Step step);                   /* on a subject's stack: until the driver goes on with it */
_Noreturn void subject_end(SubjectState state); /* on a subject's stack: for good */
_Noreturn void subject_broken(const void *pc, const char *format, ...) G_GNUC_PRINTF(2, 3); /* likewise: a fault */
char *subject_place_words(const Subject *s, const void *pc);

/* ---- chain.c ---- */
/* On a subject's stack: the callers of the place `pc` (a return address), the innermost first; how many there are. */
guint subject_chain(const void *pc, const void **out, guint most);

/* On the driver's stack: the call under way, or else this one, until it stops, returns or ends. No time passes. */
SubjectState subject_run_on(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name);
void subject_renew(Subject *s, int process); /* as forked anew; what was under way is dropped */
void subject_forget_fault(Subject *s);
void subject_fail(Subject *s, const char *fault); /* unless it has one */
/* What a process has of its own, appended: its variables, its stack, the call under way; put back from there. Only of
 * one that is driven by subject_run_on, and where coro_can_go_back. */
void subject_save(const Subject *s, int process, GByteArray *to);
size_t subject_saved_bytes(const Subject *s, const guint8 *from);
void subject_go_back(Subject *s, int process, const guint8 *from);

/* ---- interleave*.c, on a subject's stack: what objects.c, touch.c and hooks.c leave to it ---- */
void interleave_access(const void *pc, uint64_t at, uint64_t bytes, MemAccess access);
void interleave_fence(int order, const void *pc);
void interleave_exchange_failed(void);                         /* the access just made: a compare that did not hold */
void interleave_looked(uint64_t at);                           /* by a check */
const void *interleave_keep(const void *from, uint64_t bytes); /* a copy, until the next; `from` while nobody runs */
void interleave_lock(StmLock lock, bool shared, const void *pc);
bool interleave_try(StmLock lock, bool shared, const void *pc);
void interleave_unlock(StmLock lock, const void *pc);
bool interleave_holds(StmLock lock, const void *pc);
void interleave_down(StmSemaphore sem, const void *pc);
bool interleave_try_down(StmSemaphore sem, const void *pc);
bool interleave_down_within(StmSemaphore sem, const void *pc);
void interleave_up(StmSemaphore sem, const void *pc);
void interleave_reset(StmSemaphore sem, const void *pc);
bool interleave_take_all(StmSemaphore sem, const void *pc); /* were there any? */
void interleave_spin(const void *pc);
bool interleave_is_buffered(void);                         /* total store order */
void interleave_store(volatile void *word, uint8_t value); /* with what was done last: nobody comes in between */

/* ---- limits.c, on a subject's stack ---- */
_Noreturn void subject_endless(const void *pc);                     /* accesses, or the user's patience, are used up */
_Noreturn void subject_asked_too_often(const void *pc);             /* the same of calls */
uint64_t subject_mix(uint64_t h, const char *from, const char *to); /* words of a stack, or of what else is private */
uint64_t subject_stack_state(void);                                 /* of who runs: registers and stack */

/* What each stm_ function begins with. */
static inline Subject *subject_asked(const void *pc) {
  Subject *s = subject_running();
  if (G_UNLIKELY(--s->running->asks_left < 0)) subject_asked_too_often(pc);
  return s;
}
/* And one that does something which others, or its own process, may have waited for; spinning in vain is none. */
static inline Subject *subject_goes_on(const void *pc) {
  Subject *s = subject_asked(pc);
  s->spins = 0;
  return s;
}

/* ---- signals.c ---- */
StmSemaphore subject_make_signals(Subject *s, int process, const char *name); /* of one that has none yet */

/* ---- ends.c, atomics.c, for spinlocks.c ---- */
void subject_spin(const void *pc);
void subject_touch_atomic(const volatile void *at, uint64_t bytes, MemAccess access, bool update, int order,
                          const void *pc);

/* ---- crash.c ---- */
void subject_watch_loading(bool on); /* its signals are the file's, and the end of the process (exit 2) */
void subject_watch_crashes(void);    /* once a process; from then on its signals are looked at */

/* ---- charge.c ---- */
GHashTable *subject_row_table(void);
Row *subject_row(Subject *s, const void *pc, uint64_t address);
int64_t subject_charge(Subject *s, Proc *p); /* on the driver's stack: what has piled up goes to the ledger; ns */
void subject_settle(void);                   /* on a subject's stack: lets the time pass that has piled up */
