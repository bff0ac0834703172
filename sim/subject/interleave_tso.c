/* interleave_tso.c - total store order, as x86 has it: Owens, Sarkar, Sewell, "A Better x86 Memory Model: x86-TSO",
 * TPHOLs 2009. A store goes into its process's buffer, first in, first out; writing it to memory is a step of its own,
 * by the buffer, at any time. A load is answered by the latest store in its own buffer that covers it, else by memory;
 * one that a store there covers in part waits until that is written (the paper leaves accesses of mixed size out;
 * processors stall). Locked instructions, fences and system calls wait until the buffer is empty.
 *
 * Code loads and stores memory itself. So while a process runs, memory shows what its buffer holds; what it stores is
 * taken out again when it stops, and the memory beneath put back. */
#include "sim/subject/interleave_parts.h"
#include <string.h>

void tso_init(Interleave *x, Runner *r) {
  r->buffered = g_array_new(FALSE, FALSE, sizeof(BufferedStore));
  r->values = g_byte_array_new();
  r->buffer_name = g_strdup_printf("%s's buffer", r->name);
  if (!x->under) x->under = g_array_new(FALSE, FALSE, sizeof(Store));
  if (!x->hidden) x->hidden = g_byte_array_new();
}

void tso_clear(Runner *r) {
  if (r->buffered) g_array_unref(r->buffered);
  if (r->values) g_byte_array_unref(r->values);
  g_free(r->buffer_name);
}

static const BufferedStore *buffered_at(const Runner *r, guint i) {
  return &g_array_index(r->buffered, BufferedStore, i);
}

/* ---- its own view of memory ---- */

static void hide_memory(Interleave *x, uint64_t at, uint32_t bytes) {
  Store st = {at, bytes, x->hidden->len};
  g_byte_array_append(x->hidden, (const guint8 *)x->s->base + at, bytes);
  g_array_append_val(x->under, st);
}

void tso_show(Interleave *x, Runner *r, const Operation *op) {
  g_assert(!x->under->len);
  for (guint i = r->written; i < r->buffered->len; i++) {
    const BufferedStore *b = buffered_at(r, i);
    hide_memory(x, b->at, b->bytes);
    memcpy(x->s->base + b->at, r->values->data + b->value, b->bytes);
  }
  if (op->kind == OPERATION_BUFFER) hide_memory(x, op->object, op->bytes);
}

void tso_hide(Interleave *x, Runner *r, const Operation *op) {
  if (op->kind == OPERATION_BUFFER) {
    BufferedStore b = {op->object, op->bytes, r->values->len, op->pc, op->atomic};
    g_byte_array_append(r->values, (const guint8 *)x->s->base + op->object, op->bytes);
    g_array_append_val(r->buffered, b);
  }
  for (guint i = x->under->len; i-- > 0;) {
    const Store *st = &g_array_index(x->under, Store, i);
    memcpy(x->s->base + st->at, x->hidden->data + st->saved, st->bytes);
  }
  g_array_set_size(x->under, 0);
  g_byte_array_set_size(x->hidden, 0);
}

/* ---- what comes next ---- */

static void look_into_buffer(const Runner *r, Operation *op) {
  for (guint i = r->buffered->len; i-- > r->written;) {
    const BufferedStore *b = buffered_at(r, i);
    if (op->object >= b->at + b->bytes || b->at >= op->object + op->bytes) continue;
    op->own = b->at <= op->object && op->object + op->bytes <= b->at + b->bytes;
    if (!op->own) op->store = i + 1;
    return;
  }
}

InterleaveState tso_pending(const Runner *r, Operation *op) {
  if (op->kind == OPERATION_READ) look_into_buffer(r, op);
  if (operation_drains(op->kind)) op->store = r->buffered->len;
  bool waits = op->store > r->written;
  if (op->kind == OPERATION_BUFFER) op->store = r->buffered->len + 1;
  return waits ? INTERLEAVE_WAITS : INTERLEAVE_READY;
}

InterleaveState tso_pending_write(const Runner *r, Operation *op) {
  *op = (Operation){.kind = OPERATION_LOCAL};
  if (r->written == r->buffered->len) return INTERLEAVE_ENDED;
  const BufferedStore *b = buffered_at(r, r->written);
  *op = (Operation){.kind = OPERATION_WRITE,
                    .bytes = b->bytes,
                    .object = b->at,
                    .pc = b->pc,
                    .store = r->written + 1,
                    .atomic = b->atomic};
  return INTERLEAVE_READY;
}

void tso_write(Interleave *x, Runner *r) {
  const BufferedStore *b = buffered_at(r, r->written++);
  interleave_log(x, b->at, b->bytes);
  memcpy(x->s->base + b->at, r->values->data + b->value, b->bytes);
}

void tso_undo(Runner *r, const Past *past) {
  if (past->op.kind == OPERATION_WRITE) {
    r->written--;
    return;
  }
  g_array_set_size(r->buffered, past->buffered);
  g_byte_array_set_size(r->values, past->values);
}
