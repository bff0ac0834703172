/* interleave_rounds.c - does a spin loop count its rounds?
 *
 * Whoever chooses lets a process that spins go on only when something that it looked at has changed: another round
 * would come to the same. So it is where a round leaves its process, and memory, as they were. A loop that counts its
 * rounds, or gives up, is another thing at each. Here a few more rounds are made on trial, by this process alone, and
 * undone: where each leaves something new of what the process has of its own (variables, stack, registers) or in
 * memory, or the loop ends by itself, it counts. One that has to wait within a round says nothing either way. */
#include "sim/subject/interleave_parts.h"
#include <setjmp.h>
#include <string.h>
enum { ROUNDS = 4 /* on trial */, STEPS_MOST = 1000 /* in one */ };

/* ---- what a process has of its own ---- */

/* On its stack. What callers keep in registers setjmp writes down; from there on upwards the stack is theirs. In one
 * function: a sum so far that another left in its frame would be part of the next one. */
__attribute__((noinline, no_sanitize("address"))) uint64_t interleave_own_state(const Interleave *x) {
  const Subject *s = x->s;
  ImageRange data = image_data(s->image);
  jmp_buf registers;
  memset(&registers, 0, sizeof registers);
  if (setjmp(registers)) return 0; /* nobody jumps */
  uint64_t h = subject_mix(0, (const char *)&registers, s->running->first_frame);
  h = subject_mix(h, data.start, data.start + data.bytes);
  return subject_mix(h, s->heap, s->heap_next);
}

/* ---- on trial ---- */

typedef enum { ROUND_MADE, ROUND_WAITS, ROUND_WAS_THE_LAST } Round;

/* To its next round. */
static Round make_round(Interleave *x, int p) {
  bool failed, changed;
  Operation op;
  for (int i = 0; i < STEPS_MOST; i++) {
    InterleaveState state = interleave_pending(x, p, &op);
    if (state == INTERLEAVE_ENDED || (i && op.kind == OPERATION_SPIN)) break;
    if (state == INTERLEAVE_WAITS) return ROUND_WAITS;
    interleave_step(x, p, &failed, &changed);
  }
  if (runner_at(x, p)->ended || x->s->fault) return ROUND_WAS_THE_LAST;
  return runner_at(x, p)->next.kind == OPERATION_SPIN ? ROUND_MADE : ROUND_WAITS;
}

/* Is memory other than before the stores from `first` on? Of several to a place the first knows what was there. */
static bool memory_differs(const Interleave *x, guint first) {
  for (guint i = first; i < x->stores->len; i++) {
    const Store *st = &g_array_index(x->stores, Store, i);
    bool again = false;
    for (guint k = first; k < i; k++) again |= g_array_index(x->stores, Store, k).at == st->at;
    if (!again && memcmp(x->s->base + st->at, x->old->data + st->saved, st->bytes) != 0) return true;
  }
  return false;
}

static bool counts(Interleave *x, int p) {
  uint64_t seen[ROUNDS + 1] = {runner_at(x, p)->round};
  guint stores = x->stores->len;
  for (int n = 1; n <= ROUNDS; n++) {
    Round round = make_round(x, p);
    if (round != ROUND_MADE) return round == ROUND_WAS_THE_LAST;
    if (memory_differs(x, stores)) return true;
    seen[n] = runner_at(x, p)->round;
    for (int k = 0; k < n; k++)
      if (seen[k] == seen[n]) return false;
  }
  return true;
}

/* What led here need not be undone: a way back from here on is enough, wherever there is one at all. */
void interleave_try_rounds(Interleave *x, int p) {
  Runner *r = runner_at(x, p);
  if (x->trying || r->ended || r->next.kind != OPERATION_SPIN || x->s->fault) return;
  bool replays = x->replays, known[INTERLEAVE_PROCESSES_MAX];
  guint steps = x->past->len;
  for (guint i = 0; i < x->runners->len; i++) known[i] = runner_at(x, (int)i)->next.counts;
  x->trying = true;
  x->replays &= !coro_can_go_back();
  known[p] = counts(x, p);
  interleave_back(x, steps);
  x->replays = replays;
  x->trying = false;
  for (guint i = 0; i < x->runners->len; i++) runner_at(x, (int)i)->next.counts = known[i];
}
