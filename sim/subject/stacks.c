/* stacks.c - what a subject's accesses cost, by the calls that led to them (subject.h). */
#include "sim/subject/runtime.h"
#include <string.h>

bool subject_source(const Subject *s, const char *site, const char **path, int *line) {
  for (guint i = 0; i < s->rows->len; i++) {
    const Row *r = &g_array_index(s->rows, Row, i);
    if (!r->site || !r->place.path || strcmp(ledger_site_name(world_ledger(s->w), r->site), site) != 0) continue;
    *path = r->place.path;
    *line = r->place.line;
    return true;
  }
  return false;
}

enum { FUNCTIONS_MOST = 16 };

/* The functions of one frame of the machine: inlined ones are frames of their own. */
static void add_functions(const Subject *s, const void *pc, GPtrArray *frames) {
  const char *functions[FUNCTIONS_MOST];
  guint n = image_functions(s->image, (const char *)pc - 1, functions, FUNCTIONS_MOST);
  while (n) g_ptr_array_add(frames, (char *)functions[--n]);
}

static void tell_row(const Subject *s, const Row *r, void (*each)(const SubjectStack *stack, void *data), void *data) {
  g_autoptr(GPtrArray) frames = g_ptr_array_new();
  g_autofree char *place = r->place.file ? g_strdup_printf("%s:%d", r->place.file, r->place.line) : NULL;
  for (guint i = r->n_callers; i > 0; i--) add_functions(s, r->callers[i - 1], frames);
  add_functions(s, r->pc, frames);
  bool begins = r->call && !(frames->len && strcmp(frames->pdata[0], r->call) == 0); /* "shmem_exit", then ProcKill */
  if (begins) g_ptr_array_insert(frames, 0, (char *)r->call);
  if (place) g_ptr_array_add(frames, place);
  SubjectStack stack = {(const char *const *)frames->pdata, frames->len,
                        ledger_field_name(world_ledger(s->w), r->field), ledger_site_name(world_ledger(s->w), r->site),
                        r->all};
  each(&stack, data);
}

void subject_each_stack(const Subject *s, void (*each)(const SubjectStack *stack, void *data), void *data) {
  for (guint i = 0; i < s->rows->len; i++) {
    const Row *r = &g_array_index(s->rows, Row, i);
    if (r->site) tell_row(s, r, each, data);
  }
}
