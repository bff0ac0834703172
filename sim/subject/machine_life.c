/* machine_life.c - a subject's life: its memory, its start, looks at it, its end (subject.h). */
#include "sim/scenario/scenario.h"
#include "sim/subject/machine.h"
#include <string.h>
#include <sys/mman.h>

/* Addresses; memory is taken when it is touched. Always the same ones, so that pointers kept in shared memory, and with
 * them hashes and whatever code decides by an address, are the same in every run. They lie where Linux puts nothing by
 * itself (programs are near 0x55.., mappings below 0x7f..) and ASan keeps no shadow (it ends at 0x10007fff8000). */
#define SHARED_AT   UINT64_C(0x200000000000)
#define SHARED_MOST (UINT64_C(1) << 38)
#define HEAP_AT     UINT64_C(0x300000000000)
#define HEAP_MOST   (UINT64_C(1) << 40)

/* A kernel that does not know MAP_FIXED_NOREPLACE (before 4.17) takes the address as a wish. */
static char *addresses(uint64_t at, uint64_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  char *got = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == (char *)(uintptr_t)at) return got;
  g_error("no address space for a subject's memory at %#" G_GINT64_MODIFIER "x", at);
}

static void clear_structure(void *data) {
  Structure *st = data;
  g_free(st->name);
  g_free(st->type);
}
static void clear_lock(void *data) {
  g_free(((Lock *)data)->name);
}
static void clear_semaphore(void *data) {
  g_free(((Semaphore *)data)->name);
}
Subject *subject_new(Image *image, World *w, Segment *segment, bool lines, int64_t accesses) {
  g_assert(!subject_here);
  Subject *s = g_new0(Subject, 1);
  *s = (Subject){.image = image, .code = image_subject(image), .w = w, .segment = segment};
  s->lines = lines;
  s->looker = -1;
  s->accesses = accesses ? accesses : SUBJECT_ACCESSES;
  s->reserved = SHARED_MOST;
  s->base = addresses(SHARED_AT, SHARED_MOST);
  s->heap = s->heap_next = addresses(HEAP_AT, HEAP_MOST);
  s->heap_end = s->heap + HEAP_MOST;
  s->structures = g_array_new(FALSE, TRUE, sizeof(Structure));
  g_array_set_clear_func(s->structures, clear_structure);
  g_array_set_size(s->structures, 1);
  s->rows = g_array_new(FALSE, TRUE, sizeof(Row));
  s->row_of = subject_row_table();
  s->dirty = g_array_new(FALSE, FALSE, sizeof(guint));
  s->procs = g_ptr_array_new_with_free_func(machine_free_process);
  s->stacks = g_ptr_array_new_with_free_func((GDestroyNotify)coro_free);
  s->free_numbers = g_array_new(FALSE, FALSE, sizeof(int));
  s->locks = g_array_new(FALSE, TRUE, sizeof(Lock));
  g_array_set_clear_func(s->locks, clear_lock);
  g_array_set_size(s->locks, 1);
  s->spinlocks = g_hash_table_new(NULL, NULL);
  s->semaphores = g_array_new(FALSE, TRUE, sizeof(Semaphore));
  g_array_set_clear_func(s->semaphores, clear_semaphore);
  g_array_set_size(s->semaphores, 1);
  subject_watch_crashes();
  s->other_field = ledger_field(world_ledger(w), "shared memory");
  subject_here = s;
  return s;
}

void subject_free(Subject *s) {
  if (!s) return;
  g_assert(subject_here == s);
  hooks = (Hooks){0};
  subject_here = NULL;
  g_ptr_array_unref(s->procs);
  g_ptr_array_unref(s->stacks);
  g_array_unref(s->free_numbers);
  g_array_unref(s->structures);
  g_array_unref(s->rows);
  g_array_unref(s->dirty);
  g_hash_table_unref(s->row_of);
  g_array_unref(s->locks);
  g_hash_table_unref(s->spinlocks);
  g_array_unref(s->semaphores);
  munmap(s->base, s->reserved);
  munmap(s->heap, HEAP_MOST);
  ImageRange data = image_data(s->image); /* as they were: the object stays loaded */
  if (s->pristine) memcpy(data.start, s->pristine, data.bytes);
  g_free(s->pristine);
  g_free(s->line_owner);
  g_free(s->word_owner);
  g_free(s->initial);
  g_free(s->fault);
  g_free(s->broken);
  g_free(s);
}

/* ---- its start ---- */

static void run_start(int64_t unused) {
  (void)unused;
  subject_here->code->start();
}

bool subject_start(Subject *s, GError **error) {
  ImageRange data = image_data(s->image);
  s->pristine = g_memdup2(data.start, data.bytes);
  if (s->before) s->before(s->before_data);
  int p = s->looker = subject_fork(s, NULL, 0);
  s->starting = true;
  SubjectState state = subject_at_once(s, p, run_start, 0);
  s->starting = false;
  Proc *proc = machine_process(s, p);
  machine_load(s, proc);
  s->initial = g_memdup2(data.start, data.bytes);
  if (s->lines) s->line_owner = g_new0(uint32_t, segment_size(s->segment) / 64 + 1);
  if (state == SUBJECT_RETURNED && !s->fault) return true;
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: its start failed: %s", image_path(s->image),
              s->fault      ? s->fault
              : proc->words ? proc->words
                            : "it ended");
  return false;
}

void subject_before_start(Subject *s, void (*before)(void *data), void *data) {
  s->before = before;
  s->before_data = data;
}

/* ---- looking ---- */

typedef struct {
  void (*fn)(void *data);
  void *data;
} Look;

static void run_look(int64_t look) {
  const Look *l = (const void *)(intptr_t)look;
  l->fn(l->data);
}

bool subject_look(Subject *s, void (*fn)(void *data), void *data) {
  Look look = {fn, data};
  g_assert(!s->running && s->looker >= 0);
  if (s->fault) return false;
  s->looking = true;
  SubjectState state = subject_at_once(s, s->looker, run_look, (int64_t)(intptr_t)&look);
  s->looking = false;
  return state == SUBJECT_RETURNED && !s->fault;
}
