/* barrier-generation.c - a backend starts while another has every backend pass a barrier: a miniature of PostgreSQL's
 * ProcSignalInit, EmitProcSignalBarrier and WaitForProcSignalBarrier, from their public history (commit d79bf7612a).
 * Built three times: as it was; with its two steps in order but nothing that keeps them so (-DUNFENCED); mended
 * (-DMENDED).
 *
 * A barrier has a number, the generation. Who emits one advances the generation and asks those who are there, that is
 * whose slot has a pid, to pass; then it waits for everybody who has a pid to have come so far. As it was:
 *   B (starts)                               E (emits, waits)
 *   1. reads the generation, 0
 *                                            2. advances it to 1; B's slot has no pid: it is not asked
 *   3. publishes its pid, at generation 0
 *                                            4. waits for B, which nobody has asked, for ever
 * With 3 before 1 one of the two sees the other; but a store may wait in the processor's buffer while a later load is
 * done (Dekker), so that nothing has changed unless a barrier of memory stands between. Mended: it does. */
#include "stampede_subject.h"

enum { SLOTS = 2 };

typedef struct {
  int pid;        /* 0: nobody is there */
  int asked;      /* to pass a barrier */
  int generation; /* that it has come to */
} Slot;

static Slot *slots;
static int *generation, *emitters; /* emitters: who may yet ask */

static void start(void) {
  slots = stm_shared("slots", SLOTS * sizeof *slots, 64);
  generation = stm_shared("generation", sizeof *generation, 64);
  emitters = stm_shared("emitters", sizeof *emitters, 64);
  stm_structure("slots", slots, sizeof *slots, SLOTS, "Slot");
  *emitters = 1;
}

static int load(int *at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}
static void store(int *at, int value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static void publish(Slot *s) {
#ifdef MENDED
  __atomic_exchange_n(&s->pid, stm_self(), __ATOMIC_SEQ_CST);
#else
  store(&s->pid, stm_self());
#endif
}

/* Starts, and passes what barriers it is asked to, until nobody is left who may ask. */
static void serve(int64_t slot) {
  if (slot < 0 || slot >= SLOTS) stm_exit("no such slot");
  Slot *s = &slots[slot];
#if defined MENDED || defined UNFENCED
  publish(s);
  store(&s->generation, load(generation));
#else
  store(&s->generation, load(generation));
  publish(s);
#endif
  while (__atomic_load_n(emitters, __ATOMIC_SEQ_CST)) {
    if (__atomic_exchange_n(&s->asked, 0, __ATOMIC_SEQ_CST)) store(&s->generation, load(generation));
    stm_spin();
  }
}

static void emit(int64_t unused) {
  (void)unused;
  int mine = __atomic_add_fetch(generation, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < SLOTS; i++)
    if (load(&slots[i].pid)) __atomic_exchange_n(&slots[i].asked, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < SLOTS; i++)
    while (load(&slots[i].pid) && load(&slots[i].generation) < mine) stm_spin();
  __atomic_sub_fetch(emitters, 1, __ATOMIC_SEQ_CST);
}

static const StampedeEntry entries[] = {
    {"serve", "starts in the slot `with`, and passes the barriers that it is asked to", serve},
    {"emit", "emits a barrier, and waits until all have passed it", emit},
};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#if defined MENDED
    .name = "barrier-generation-mended",
#elif defined UNFENCED
    .name = "barrier-generation-unfenced",
#else
    .name = "barrier-generation",
#endif
    .about = "a backend starts while another has every backend pass a barrier",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
};
