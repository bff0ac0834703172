/* machine_step.c - a process that others let go on operation by operation (interleave.c): on a stack of its own, no
 * time passes; what it has can be kept and put back. */
#include "sim/subject/machine.h"
#include <string.h>

static void call_on_own(Subject *s, Proc *p, void (*fn)(int64_t), int64_t argument, const char *name) {
  g_assert(p->state != SUBJECT_EXITED);
  p->fn = fn;
  p->argument = argument;
  p->doing = name;
  p->state = SUBJECT_RUNS;
  p->stack = g_steal_pointer(&p->own_stack);
  if (!p->stack) p->stack = machine_take_stack(s, p);
  machine_begin(p);
}

static void end_on_own(Proc *p) {
  p->first_frame = NULL;
  p->own_stack = g_steal_pointer(&p->stack);
}

SubjectState subject_run_on(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name) {
  Proc *p = machine_process(s, process);
  if (!p->stack) call_on_own(s, p, fn, argument, name);
  machine_enter(s, p);
  p->asks_left = SUBJECT_ASKS(s->accesses); /* of an operation; a way back brings no count back */
  s->stops++;
  coro_resume(p->stack);
  if (G_UNLIKELY(s->broken)) machine_keep_fault(s);
  machine_leave(s);
  if (p->state != SUBJECT_RUNS) end_on_own(p);
  return p->state;
}

void subject_renew(Subject *s, int process) {
  Proc *p = machine_process(s, process);
  if (p->stack) end_on_own(p);
  if (s->loaded == p) s->loaded = NULL;
  memcpy(p->data, s->initial, image_data(s->image).bytes);
  p->state = SUBJECT_RETURNED;
}

typedef struct {
  void (*fn)(int64_t);
  int64_t argument;
  const char *doing;
  void *first_frame;
  SubjectState state;
  guint32 stack; /* bytes; 0: no call is under way */
} Saved;

void subject_save(const Subject *s, int process, GByteArray *to) {
  const Proc *p = machine_process(s, process);
  ImageRange data = image_data(s->image);
  Saved v = {p->fn, p->argument, p->doing, p->first_frame, p->state, 0};
  v.stack = p->stack ? (guint32)coro_saved_bytes(p->stack) : 0;
  guint at = to->len;
  g_byte_array_set_size(to, at + (guint)(sizeof v + data.bytes) + v.stack);
  memcpy(to->data + at, &v, sizeof v);
  memcpy(to->data + at + sizeof v, s->loaded == p ? data.start : p->data, data.bytes);
  if (v.stack) coro_save(p->stack, to->data + at + sizeof v + data.bytes);
}

size_t subject_saved_bytes(const Subject *s, const guint8 *from) {
  Saved v;
  memcpy(&v, from, sizeof v);
  return sizeof v + image_data(s->image).bytes + v.stack;
}

void subject_go_back(Subject *s, int process, const guint8 *from) {
  Proc *p = machine_process(s, process);
  ImageRange data = image_data(s->image);
  Saved v;
  memcpy(&v, from, sizeof v);
  p->fn = v.fn;
  p->argument = v.argument;
  p->doing = v.doing;
  p->state = v.state;
  memcpy(s->loaded == p ? data.start : p->data, from + sizeof v, data.bytes);
  if (!v.stack && p->stack) end_on_own(p);
  if (v.stack && !p->stack) p->stack = g_steal_pointer(&p->own_stack);
  if (v.stack) coro_go_back(p->stack, from + sizeof v + data.bytes, v.stack);
  p->first_frame = v.first_frame;
}
