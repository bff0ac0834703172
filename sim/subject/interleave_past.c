/* interleave_past.c - the way back; see interleave.h.
 *
 * Stores are logged with what was there before. A restart undoes them, last first, and begins every process anew with
 * variables as `start` left them. Going back a few steps undoes the last ones, and puts each process that made one of
 * them back to what it was before its first of these: its variables, its stack, what a copy had kept of it. Where that
 * cannot be done (coro_can_go_back, or much private memory) the way is gone again from the first state. */
#include "sim/subject/interleave_parts.h"
#include <string.h>

enum { HEAP_MOST = 16 << 10 /* of private memory: more is not copied at each step */ };

void interleave_past_init(Interleave *x) {
  Subject *s = x->s;
  x->heap_bytes = (size_t)(s->heap_next - s->heap);
  x->heap_first = g_memdup2(s->heap, x->heap_bytes);
  x->locks = s->locks->len;
  x->semaphores = s->semaphores->len;
  x->past = g_array_new(FALSE, FALSE, sizeof(Past));
  x->saved = g_byte_array_new();
  interleave_way_back(x, true);
}

void interleave_way_back(Interleave *x, bool wanted) {
  x->replays = !wanted || !coro_can_go_back();
}

void interleave_past_clear(Interleave *x) {
  g_array_unref(x->past);
  g_byte_array_unref(x->saved);
  g_free(x->heap_first);
  g_free(x->first_fault);
}

/* ---- before a step ---- */

static Past past_of(const Interleave *x, int p) {
  Past past = {.runner = p, .stores = x->stores->len, .old = x->old->len, .saved = x->saved->len};
  past.locks = x->s->locks->len, past.semaphores = x->s->semaphores->len;
  past.heap = (size_t)(x->s->heap_next - x->s->heap);
  return past;
}

static void remember_buffer(Interleave *x, int p) {
  Past past = past_of(x, p);
  past.op.kind = OPERATION_WRITE;
  if (!x->replays) g_byte_array_append(x->saved, (const guint8 *)x->s->heap, (guint)past.heap);
  g_array_append_val(x->past, past);
}

static void save_own(Interleave *x, const Runner *r, size_t heap) {
  g_byte_array_append(x->saved, (const guint8 *)x->s->heap, (guint)heap);
  subject_save(x->s, r->process, x->saved);
  g_byte_array_append(x->saved, (const guint8 *)r->kept, r->kept_bytes);
}

void interleave_remember(Interleave *x, int p) {
  if (p >= (int)x->runners->len) return remember_buffer(x, p);
  const Runner *r = runner_at(x, p);
  Past past = past_of(x, p);
  past.op = r->next, past.call = r->call;
  past.kept = r->kept, past.kept_bytes = r->kept_bytes, past.kept_stops = r->kept_stops;
  past.holders = (Holders){-1, 0};
  if (x->tso) past.buffered = r->buffered->len, past.values = r->values->len;
  if (operation_lock(r->next.kind) && r->next.object < x->holders->len)
    past.holders = g_array_index(x->holders, Holders, r->next.object);
  if (operation_semaphore(r->next.kind)) past.count = *semaphore_count(x, r->next.object);
  x->replays |= past.heap > HEAP_MOST;
  if (!x->replays) save_own(x, r, past.heap);
  g_array_append_val(x->past, past);
}

/* ---- back ---- */

static void undo_stores(Interleave *x, guint stores, guint old) {
  for (guint i = x->stores->len; i-- > stores;) {
    const Store *st = &g_array_index(x->stores, Store, i);
    memcpy(x->s->base + st->at, x->old->data + st->saved, st->bytes);
  }
  g_array_set_size(x->stores, stores);
  g_byte_array_set_size(x->old, old);
}

static void restore_private(Interleave *x, const guint8 *from, size_t bytes) {
  Subject *s = x->s;
  size_t used = (size_t)(s->heap_next - s->heap);
  if (bytes) memcpy(s->heap, from, bytes);
  if (used > bytes) memset(s->heap + bytes, 0, used - bytes);
  s->heap_next = s->heap + bytes;
}

/* To before its first operation. What breaks on the way does so each time, and may take its time (a loop without an
 * end); it is not waited for again. */
static void begin_anew(Interleave *x, Runner *r) {
  subject_renew(x->s, r->process);
  r->call = 0;
  r->kept_bytes = 0;
  if (x->tso) tso_undo(r, &(Past){0}), r->written = 0;
  r->next = (Operation){.kind = OPERATION_LOCAL};
  if (x->first_fault)
    subject_fail(x->s, x->first_fault);
  else
    interleave_go(x, r);
}

static void restart(Interleave *x) {
  undo_stores(x, 0, 0);
  restore_private(x, (const guint8 *)x->heap_first, x->heap_bytes);
  subject_forget_fault(x->s);
  g_array_set_size(x->holders, 0);
  g_array_set_size(x->s->locks, x->locks);
  g_array_set_size(x->s->semaphores, x->semaphores);
  g_byte_array_set_size(x->saved, 0);
  for (guint i = 0; i < x->counts->len; i++) *semaphore_count(x, i) = g_array_index(x->counts, int, i);
  for (guint i = 0; i < x->runners->len; i++) begin_anew(x, runner_at(x, (int)i));
  if (x->s->fault && !x->first_fault) {
    x->first_fault = g_strdup(x->s->fault);
    restart(x); /* to the state that all later ones come to */
    return;
  }
  for (guint i = 0; i < x->runners->len; i++) interleave_try_rounds(x, (int)i);
}

void interleave_restart(Interleave *x) {
  g_array_set_size(x->past, 0);
  restart(x);
}

/* The first process that can go on, up to its end; spinning gives way. */
static void go_through(Interleave *x, guint steps) {
  int n = interleave_processes(x) + (int)interleave_buffers(x);
  bool failed, changed;
  Operation op;
  for (int p = 0, gave_way = 0; p < n && gave_way < n && steps; p++) {
    if (interleave_pending(x, p, &op) != INTERLEAVE_READY) continue;
    gave_way = op.kind == OPERATION_SPIN ? gave_way + 1 : 0;
    interleave_step(x, p, &failed, &changed);
    steps--;
    p = op.kind == OPERATION_SPIN && p + 1 < n ? p : -1;
  }
}

bool interleave_comes_back(Interleave *x, guint steps, GString *where) {
  uint64_t bytes = segment_size(x->s->segment), at = 0;
  g_autofree char *first = g_memdup2(x->s->base, bytes);
  interleave_restart(x);
  go_through(x, steps);
  interleave_restart(x);
  if (memcmp(first, x->s->base, bytes) == 0) return true;
  while (first[at] == x->s->base[at]) at++;
  g_autofree char *name = interleave_at(x, at);
  g_string_assign(where, name);
  return false;
}

/* All that one step changed, but for memory. */
static void undo(Interleave *x, const Past *past) {
  int n = (int)x->runners->len;
  Runner *r = runner_at(x, past->runner % n);
  if (x->tso) tso_undo(r, past);
  if (past->runner >= n) return;
  r->next = past->op;
  r->call = past->call;
  r->ended = false;
  if (operation_lock(past->op.kind) && past->op.object < x->holders->len)
    g_array_index(x->holders, Holders, past->op.object) = past->holders;
  if (operation_semaphore(past->op.kind)) *semaphore_count(x, past->op.object) = past->count;
}

/* Of several steps of a process, what it was before the first. */
static void put_process_back(Interleave *x, const Past *past) {
  Runner *r = runner_at(x, past->runner);
  const guint8 *from = x->saved->data + past->saved + past->heap;
  subject_go_back(x->s, r->process, from);
  r->kept_bytes = past->kept_bytes;
  r->kept_stops = past->kept_stops;
  if (past->kept_bytes) memcpy(past->kept, from + subject_saved_bytes(x->s, from), past->kept_bytes);
}

static void go_again(Interleave *x, guint steps) {
  bool failed, changed;
  g_autofree int *who = g_new(int, MAX(steps, 1));
  for (guint i = 0; i < steps; i++) who[i] = g_array_index(x->past, Past, i).runner;
  interleave_restart(x);
  for (guint i = 0; i < steps; i++) interleave_step(x, who[i], &failed, &changed);
}

void interleave_back(Interleave *x, guint steps) {
  guint n = x->past->len;
  g_assert(steps <= n);
  if (steps == n) return;
  if (x->replays) return go_again(x, steps);
  Past first = g_array_index(x->past, Past, steps);
  uint64_t done = 0;
  for (guint i = n; i-- > steps;) undo(x, &g_array_index(x->past, Past, i));
  for (guint i = steps; i < n; i++) {
    const Past *past = &g_array_index(x->past, Past, i);
    if (past->runner < (int)x->runners->len && !(done >> past->runner & 1)) put_process_back(x, past);
    done |= UINT64_C(1) << past->runner;
  }
  restore_private(x, x->saved->data + first.saved, first.heap);
  undo_stores(x, first.stores, first.old);
  g_array_set_size(x->s->locks, first.locks);
  g_array_set_size(x->s->semaphores, first.semaphores);
  g_byte_array_set_size(x->saved, first.saved);
  g_array_set_size(x->past, steps);
  if (subject_fault(x->s)) subject_forget_fault(x->s);
}
