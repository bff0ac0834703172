/* chain.c - who called whom when something was touched or went wrong: the compiler's own tables unwind the subject's
 * stack, no frame pointers are needed. Addresses only; their names are looked up later, on the driver's stack. */
#include "sim/subject/runtime.h"
#include <unwind.h>

typedef struct {
  const void *pc; /* callers are those after it; NULL: all */
  const void **out;
  guint n, most;
  ImageRange code;
  bool seen, began;
} Walk;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *c, void *data) {
  Walk *w = data;
  const char *at = (const char *)_Unwind_GetIP(c);
  bool ours = at < w->code.start || at >= w->code.start + w->code.bytes;
  bool over = (const char *)_Unwind_GetCFA(c) > (const char *)subject_here->running->first_frame;
  if (ours) return w->began && over ? _URC_END_OF_STACK : _URC_NO_REASON; /* a handler's stack may lie anywhere */
  w->began = true;
  if (w->seen && w->n < w->most) w->out[w->n++] = at;
  w->seen |= at == w->pc;
  return w->n < w->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

guint subject_chain(const void *pc, const void **out, guint most) {
  const Subject *s = subject_here;
  if (!s->running || !s->running->first_frame) return 0;
  Walk w = {.pc = pc, .seen = !pc, .out = out, .most = most, .code = image_code(s->image)};
  _Unwind_Backtrace(on_frame, &w);
  return w.n;
}
