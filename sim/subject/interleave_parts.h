/* interleave_parts.h - what the files of interleave.h know of each other; not for others. */
#pragma once
#include "sim/subject/interleave.h"
#include "sim/subject/runtime.h"

typedef struct {
  int process; /* of the subject */
  char *name;
  const InterleaveCall *calls;
  guint call; /* under way */
  bool ended;
  uint16_t left_out; /* for the next operation */
  uint8_t fences;    /* since the last one */
  uint64_t round;    /* of what it has of its own, at its last spin */
  Operation next;
  /* What was loaded by the first half of a copy. Code has a pointer to it on its stack, so it never moves; room that
   * was outgrown lives on. */
  char *kept;
  guint kept_bytes, kept_room, kept_stops; /* stops: since it was kept; it is needed over one */
  GPtrArray *outgrown;
  /* Total store order: its stores, of which the first `written` are in memory and the others in its buffer. */
  GArray *buffered; /* of BufferedStore */
  GByteArray *values;
  guint written;
  char *buffer_name;
} Runner;

typedef struct {
  uint64_t at;
  uint32_t bytes, value; /* value: where in `values` */
  const void *pc;
  uint8_t atomic;
} BufferedStore;

typedef struct {
  uint64_t at;
  uint32_t bytes, saved; /* saved: where in `old` */
} Store;

typedef struct {
  int exclusive; /* runner; -1: nobody */
  uint64_t shared;
} Holders;

/* What a step may have changed, as it was before. */
typedef struct {
  int runner;   /* process; beyond the runners: a store buffer */
  Operation op; /* that it did */
  guint call, stores, old, locks, semaphores;
  guint saved; /* where in `saved`: private memory, the process, what its copy had kept */
  guint buffered, values;
  guint kept_bytes, kept_stops;
  char *kept;
  size_t heap;
  Holders holders; /* of the operation's lock */
  int count;       /* of its semaphore */
} Past;

struct Interleave {
  Subject *s;
  GArray *runners; /* of Runner */
  Runner *running; /* NULL: none */
  GArray *stores;  /* of Store */
  GByteArray *old;
  GArray *holders;  /* of Holders, by lock */
  GArray *counts;   /* of int, by semaphore, in the first state */
  char *heap_first; /* contents of private memory in the first state */
  size_t heap_bytes;
  guint locks, semaphores; /* there in the first state */
  StmLock looked_when_taken;
  bool time_runs_out; /* of waits with a limit */
  char *first_fault;  /* before any operation; NULL: none */
  uint64_t watched_from, watched_to;
  bool failed, changed; /* by the operation just done */
  GArray *past;         /* of Past, by step */
  GByteArray *saved;
  bool tso;
  GArray *under; /* of Store: what of memory a process's own view of it hides */
  GByteArray *hidden;
  bool callers_wanted; /* of the next operation */
  const void *callers[CHAIN_MOST];
  guint n_callers;
  bool spins_on; /* a round of spinning waits for nothing */
  bool trying;   /* rounds, which will be undone */
  bool replays;  /* nothing is saved: a way back is gone again from the first state */
};

static inline Runner *runner_at(const Interleave *x, int p) {
  return &g_array_index(x->runners, Runner, p);
}
static inline int *semaphore_count(const Interleave *x, uint64_t semaphore) {
  return &g_array_index(x->s->semaphores, Semaphore, semaphore).count;
}
static inline bool lock_holds(const Holders *h, int p) {
  return h->exclusive == p || (h->shared >> p & 1);
}

/* ---- interleave.c ---- */
void interleave_go(Interleave *x, Runner *r);                    /* to before its next operation */
void interleave_log(Interleave *x, uint64_t at, uint64_t bytes); /* before a store to memory */

/* ---- interleave_tso.c ---- */
void tso_init(Interleave *x, Runner *r);
void tso_clear(Runner *r);
/* While r runs it sees its own stores. `op` is what it goes on to do. */
void tso_show(Interleave *x, Runner *r, const Operation *op);
void tso_hide(Interleave *x, Runner *r, const Operation *op);
/* What r's next operation waits for; of a buffer, what it would write. */
InterleaveState tso_pending(const Runner *r, Operation *op);
InterleaveState tso_pending_write(const Runner *r, Operation *op);
void tso_write(Interleave *x, Runner *r); /* the oldest store in r's buffer to memory */
void tso_undo(Runner *r, const Past *past);

/* ---- interleave_rounds.c ---- */
uint64_t interleave_own_state(const Interleave *x); /* of who runs, on its stack */
void interleave_try_rounds(Interleave *x, int p);   /* if p is about to spin: does the loop count its rounds? */

/* ---- interleave_past.c ---- */
void interleave_remember(Interleave *x, int p); /* before p's step */
void interleave_past_init(Interleave *x);
void interleave_past_clear(Interleave *x);
