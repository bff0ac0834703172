/* limits.c - code that would not end by itself: what it is told by, beside the clock of crash.c.
 *
 * Each access to shared memory counts, as long as no other process goes on; each call of the runtime, as long as the
 * code's call lasts, for a lock may be taken and given back for ever without a wait. Rounds of spinning that change
 * nothing are found out by whoever runs the code (sim/rounds.h), from what is said here. */
#include "sim/cli.h"
#include "sim/result.h"
#include "sim/subject/runtime.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(at, bytes) ((void)0)
#endif

/* The dynamic linker is at work, whose locks nobody gives back: the process ends, as one that cannot load its subject.
 */
void subject_too_early(const char *what) {
  fprintf(stderr, "stampede: a constructor of the subject %s; only start and what runs after it may\n", what);
  _exit(EXIT_INPUT);
}

/* crash.c takes all that is left when the user loses patience; the accesses that were made stay what they were. */
static void end_if_interrupted(const void *pc) {
  if (!cli_is_interrupted()) return;
  hooks_set_left(subject_here->left_before);
  subject_broken(pc, "interrupted");
}

void subject_endless(const void *pc) {
  end_if_interrupted(pc);
  subject_broken(pc, "endless: %" G_GINT64_FORMAT " accesses to shared memory in one call", subject_here->accesses);
}

void subject_asked_too_often(const void *pc) {
  end_if_interrupted(pc);
  subject_broken(pc, "endless: %" G_GINT64_FORMAT " calls of stm_ functions in one call",
                 SUBJECT_ASKS(subject_here->accesses));
}

/* ---- rounds of spinning ---- */

/* Whoever keeps books of the stack. */
__attribute__((noinline, no_sanitize("address"))) uint64_t subject_mix(uint64_t h, const char *from, const char *to) {
  for (; from + sizeof(uint64_t) <= to; from += sizeof(uint64_t)) {
    uint64_t word = *(const uint64_t *)(const void *)from;
    VALGRIND_MAKE_MEM_DEFINED(&word, sizeof word);
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return h;
}

/* What callers keep in registers setjmp writes down; from there on upwards the stack is theirs. */
__attribute__((noinline, no_sanitize("address"))) uint64_t subject_stack_state(void) {
  jmp_buf registers;
  memset(&registers, 0, sizeof registers);
  if (setjmp(registers)) return 0; /* nobody jumps */
  return subject_mix(0, (const char *)&registers, subject_here->running->first_frame);
}

uint64_t subject_spins(const Subject *s) {
  return s->spins;
}

Hash128 subject_spin_state(const Subject *s) {
  Hash128 h = subject_hash(s);
  for (guint i = 0; i < s->procs->len; i++) {
    const Proc *p = s->procs->pdata[i];
    const uint64_t *round = p ? &p->round : NULL;
    if (round) h.lo = subject_mix(h.lo, (const char *)round, (const char *)(round + 1));
  }
  return h;
}

size_t subject_state_bytes(const Subject *s) {
  size_t variables = s->procs->len * image_data(s->image).bytes;
  return segment_size(s->segment) + (size_t)(s->heap_next - s->heap) + variables;
}

char *subject_spin_place(const Subject *s) {
  return subject_place_words(s, s->spun_at);
}
