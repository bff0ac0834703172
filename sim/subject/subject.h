/* subject.h - a subject's code as processes: each call runs on a stack and with variables of its own, and stops where
 * it waits or where time passes. What it touches of shared memory goes to the process's address space, what that costs
 * to the ledger, by source line.
 *
 * One subject at a time in a process: the compiler's hooks have no argument that says whose they are, and a shared
 * object has its variables at one place. Life: subject_new, subject_start (before the segment's first address space),
 * subject_fork and so on, subject_free before world and segment. Faults of the code never return to it: they end the
 * run, and subject_fault says what they were. */
#pragma once
#include "model/memory/memory.h"
#include "model/world/world.h"
#include "sim/subject/image.h"

typedef struct Subject Subject;

/* The segment counts no cache lines: `lines` says whether the subject's are counted, here. `accesses` is how many a
 * call may make of shared memory before it counts as endless; 0: SUBJECT_ACCESSES. */
#define SUBJECT_ACCESSES INT64_C(200000000)
Subject *subject_new(Image *image, World *w, Segment *segment, bool lines, int64_t accesses);
void subject_free(Subject *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Subject, subject_free)
/* before(data) is called first in subject_start, for a subject that must be configured. */
void subject_before_start(Subject *s, void (*before)(void *data), void *data);
/* Runs the subject's `start`. False and *error: it failed (SCENARIO_ERROR_INPUT). */
bool subject_start(Subject *s, GError **error);

/* ---- structures, for hot spots ---- */
void subject_name_structure(Subject *s, const char *name, const void *at, uint64_t size, uint64_t count,
                            const char *type);
void subject_name_spinlock(Subject *s, const void *word, const char *name); /* if there is one */
uint64_t subject_address(const Subject *s, const void *at);                 /* in the segment */
const void *subject_at(const Subject *s, uint64_t address);
/* Stores of `size` bytes at `offset` of each element are counted apart (followers), those of the running process's own
 * element (subject_own_word) not. bytes 0: none. */
void subject_watch(Subject *s, uint64_t base, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size);
void subject_own_word(Subject *s, int process, uint64_t address);
void subject_watch_moves(Subject *s, uint64_t base, uint64_t bytes, uint32_t width); /* of one array, in entries */

/* ---- processes ---- */
typedef enum { SUBJECT_RUNS, SUBJECT_RETURNED, SUBJECT_EXITED } SubjectState; /* exited: stm_exit; no call any more */
int subject_fork(Subject *s, AddressSpace *as, int pid);                      /* variables as `start` left them */
void subject_reap(Subject *s, int process);
void subject_call(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name);
Step subject_go(Subject *s, int process, ProcId self, SubjectState *state);
/* The whole call, while nobody else is there: locks are free, nothing is waited for, no time passes. */
SubjectState subject_at_once(Subject *s, int process, void (*fn)(int64_t), int64_t argument);
int subject_ask(Subject *s, int process, int (*fn)(void)); /* fn() with its variables in place; nothing is counted */
const char *subject_exit_words(const Subject *s, int process); /* what stm_exit said; NULL */
bool subject_truth(const Subject *s, int process);             /* what the last call of a bool function said */
void subject_set_truth(Subject *s, bool truth);                /* by such a function's wrapper */

/* Told when a process asks for a lock, gets it, has given it up; returns ns that getting it costs beside. */
typedef enum { SUBJECT_LOCK_ASKED, SUBJECT_LOCK_GOT, SUBJECT_LOCK_RELEASED } SubjectLockEvent;
void subject_on_lock(Subject *s, int64_t (*told)(void *data, ProcId p, const char *lock, SubjectLockEvent e),
                     void *data);

void subject_measure_locks(const Subject *s); /* lock[NAME].taken, to the ledger */

typedef struct {
  int64_t faults, followers, moved;
} SubjectUse;
SubjectUse subject_take_use(Subject *s, int process);
/* Faults on the pages that [base, base + bytes) lies on, what else is on them included. */
void subject_count_faults_in(Subject *s, uint64_t base, uint64_t bytes, uint64_t page_size);
int64_t subject_take_faults_in(Subject *s, int process);

/* fn(data) as a process that nobody sees, between two steps: with variables as `start` left them, shared memory as it
 * is, and nothing counted. False: the code broke (subject_fault). */
bool subject_look(Subject *s, void (*fn)(void *data), void *data);

/* What ended the run: "PANIC: ...", "endless: ...", with file:line of the subject; NULL: nothing. */
const char *subject_fault(const Subject *s);
/* For when all processes have ended: a count that is not what its semaphore was made with, in words. */
bool subject_semaphore_off(const Subject *s, GString *why);
bool subject_trapped(const Subject *s); /* it was a call of what nothing models: a fault of the manifest */
/* Rounds of spinning since anybody's code has done anything else, or asked for the time. Those that bring the same
 * state back, with the same on the stacks of who spins, have no end. */
uint64_t subject_spins(const Subject *s);
Hash128 subject_spin_state(const Subject *s);
size_t subject_state_bytes(const Subject *s); /* that are hashed then, about */
char *subject_spin_place(const Subject *s);   /* of the last round: "wait w.c:12"; g_free */
uint64_t subject_stops(const Subject *s);     /* goes up whenever its code has run */
/* Identity of its state: shared and private memory, each process's variables, semaphores, which call is under way. The
 * same in every run, wherever the loader has put the object and its stacks. What a call has on its stack is not in it.
 */
Hash128 subject_hash(const Subject *s);

/* Every access, for tests that compare orders; NULL: none. */
void subject_record(Subject *s, void (*access)(void *data, uint64_t address, uint64_t bytes, bool write), void *data);

/* ---- what it cost, by place ---- */
/* "site" of the ledger -> the file, as the compiler was told, and the line. False: none of its code's. */
bool subject_source(const Subject *s, const char *site, const char **path, int *line);
/* The calls that led to what was touched: names from the process's call to "procarray.c:539", the innermost last, with
 * what was touched there; as at the first time. In order of first use. */
typedef struct {
  const char *const *frames;
  guint n_frames;
  const char *structure, *site; /* as in the ledger */
  Charge charge;
} SubjectStack;
void subject_each_stack(const Subject *s, void (*each)(const SubjectStack *stack, void *data), void *data);
