/* machine.c - a subject's processes: stacks, variables, calls (subject.h). */
#include "sim/subject/runtime.h"
#include "sim/scenario/scenario.h"
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

/* Addresses; memory is taken when it is touched. Always the same ones, so that pointers kept in shared memory, and with
 * them hashes and whatever code decides by an address, are the same in every run. They lie where Linux puts nothing by
 * itself (programs are near 0x55.., mappings below 0x7f..) and ASan keeps no shadow (it ends at 0x10007fff8000). */
#define SHARED_AT   UINT64_C(0x200000000000)
#define SHARED_MOST (UINT64_C(1) << 38)
#define HEAP_AT     UINT64_C(0x300000000000)
#define HEAP_MOST   (UINT64_C(1) << 40)

Subject *subject_here;

/* ---- life ---- */

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
static void free_proc(void *data) {
  Proc *p = data;
  if (!p) return;
  g_clear_pointer(&p->stack, coro_free);
  g_clear_pointer(&p->own_stack, coro_free);
  g_free(p->data);
  g_free(p->words);
  g_free(p);
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
  s->procs = g_ptr_array_new_with_free_func(free_proc);
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

/* ---- variables: each process's are copied in when another's are in place ---- */

static void load(Subject *s, Proc *p) {
  if (s->loaded == p) return;
  ImageRange data = image_data(s->image);
  if (s->loaded) memcpy(s->loaded->data, data.start, data.bytes);
  memcpy(data.start, p->data, data.bytes);
  s->loaded = p;
}

/* ---- stopping and ending, on the subject's stack ---- */

void subject_stop(Step step) {
  Proc *p = subject_here->running;
  p->step = step;
  coro_yield(p->stack);
}

void subject_end(SubjectState state) {
  Proc *p = subject_here->running;
  p->state = state;
  p->step = step_done();
  coro_yield(p->stack);
  g_assert_not_reached();
}

void subject_broken(const void *pc, const char *format, ...) {
  Subject *s = subject_here;
  va_list args;
  va_start(args, format);
  if (!s->broken && !s->fault) {
    s->broken = g_strdup_vprintf(format, args);
    s->broken_at = pc;
    if (!s->n_broken_by) s->n_broken_by = subject_chain(pc, s->broken_by, CHAIN_MOST); /* a crash has its own */
  }
  va_end(args);
  subject_end(SUBJECT_EXITED);
}

/* ---- calls ---- */

static Coro *stack_take(Subject *s, void (*fn)(Coro *self, void *arg), void *arg) {
  if (!s->stacks->len) {
    Coro *c = coro_new(fn, arg, SUBJECT_STACK_BYTES);
    if (!c) g_error("no memory left for a subject's stack");
    return c;
  }
  Coro *c = g_ptr_array_steal_index(s->stacks, s->stacks->len - 1);
  coro_reset(c, fn, arg);
  return c;
}

static void run_call(Coro *self, void *data) {
  (void)self;
  Proc *p = data;
  p->first_frame = __builtin_frame_address(0);
  p->fn(p->argument);
  p->first_frame = NULL;
  p->state = SUBJECT_RETURNED;
}

static Proc *proc_of(const Subject *s, int process) {
  g_assert(process >= 0 && (guint)process < s->procs->len && s->procs->pdata[process]);
  return s->procs->pdata[process];
}

void subject_call(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name) {
  Proc *p = proc_of(s, process);
  g_assert(!p->stack && p->state != SUBJECT_EXITED);
  p->fn = fn;
  p->argument = argument;
  p->doing = name;
  p->state = SUBJECT_RUNS;
  p->asks_left = SUBJECT_ASKS(s->accesses);
  s->spins = 0;
  p->stack = stack_take(s, run_call, p);
}

static void stack_give(Subject *s, Proc *p) {
  p->first_frame = NULL;
  g_ptr_array_add(s->stacks, g_steal_pointer(&p->stack));
}

static void enter(Subject *s, Proc *p) {
  load(s, p);
  s->running = p;
  hooks.base = (uintptr_t)s->base;
  hooks.image = (uintptr_t)image_code(s->image).start;
  hooks.image_bytes = image_code(s->image).bytes;
  hooks_count(s->starting || s->looking ? 0 : segment_size(s->segment));
  static MemoryHot never = {.of = {[0 ... HOT_TABLES - 1] = {UINT64_MAX, NULL}}};
  hooks.as = p->as;
  hooks.hot = p->as && !s->record && !s->interleave ? (MemoryHot *)p->as : &never;
  hooks.page_shift = p->as ? ((const MemoryHot *)p->as)->page_shift : 12;
  hooks.line_owner = s->starting ? NULL : s->line_owner;
  hooks.word_owner = hooks.line_owner ? s->word_owner : NULL;
  hooks.owner = p->owner;
  hooks.last_line = p->last_line;
  hooks.own_word = hooks.base + p->own_word;
  hooks_set_left(s->left_before = s->accesses);
  hooks_forget();
}

static void leave(Subject *s) {
  hooks_settle();
  s->running->last_line = hooks.last_line;
  s->running = NULL;
  hooks_count(0);
}

static void keep_fault(Subject *s) {
  if (!s->broken) return;
  g_autofree char *said = g_steal_pointer(&s->broken), *what = g_utf8_make_valid(said, -1);
  g_autofree char *where = s->broken_at ? subject_place_words(s, s->broken_at) : NULL;
  g_autoptr(GString) words = g_string_new(what);
  bool known = where && s->n_broken_by ? strcmp(where, "unknown place") != 0 : true; /* between two functions: a stub */
  if (where && known) g_string_append_printf(words, " at %s", where);
  for (guint i = 0; i < s->n_broken_by; i++) {
    g_autofree char *by = subject_place_words(s, s->broken_by[i]);
    g_string_append_printf(words, known || i ? ", called at %s" : " at %s", by);
  }
  s->fault = g_string_free(g_steal_pointer(&words), FALSE);
}

/* A process that stops only for time to pass goes on at once when none has. */
static int64_t run(Subject *s, Proc *p) {
  int64_t ns = 0;
  do {
    p->settles = false;
    s->stops++;
    coro_resume(p->stack);
    keep_fault(s);
    ns = p->settles || p->state != SUBJECT_RUNS ? subject_charge(s, p) : 0;
  } while (p->settles && !ns);
  return ns;
}

Step subject_go(Subject *s, int process, ProcId self, SubjectState *state) {
  Proc *p = proc_of(s, process);
  p->self = self;
  enter(s, p);
  int64_t ns = run(s, p);
  leave(s);
  *state = p->state;
  if (p->state != SUBJECT_RUNS) s->spins = 0;
  if (p->state == SUBJECT_RUNS && !p->settles) return p->step;
  if (p->state != SUBJECT_RUNS) stack_give(s, p);
  return ns > 0 ? step_work(ns) : step_ran();
}

SubjectState subject_at_once(Subject *s, int process, void (*fn)(int64_t), int64_t argument) {
  SubjectState state = SUBJECT_RUNS;
  subject_call(s, process, fn, argument, "start");
  s->alone = true;
  while (state == SUBJECT_RUNS) subject_go(s, process, 0, &state);
  s->alone = false;
  return state;
}

/* ---- operation by operation (interleave.c) ---- */

static void call_on_own(Subject *s, Proc *p, void (*fn)(int64_t), int64_t argument, const char *name) {
  g_assert(p->state != SUBJECT_EXITED);
  p->fn = fn;
  p->argument = argument;
  p->doing = name;
  p->state = SUBJECT_RUNS;
  p->stack = g_steal_pointer(&p->own_stack);
  if (p->stack)
    coro_reset(p->stack, run_call, p);
  else
    p->stack = stack_take(s, run_call, p);
}

static void end_on_own(Proc *p) {
  p->first_frame = NULL;
  p->own_stack = g_steal_pointer(&p->stack);
}

SubjectState subject_run_on(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name) {
  Proc *p = proc_of(s, process);
  if (!p->stack) call_on_own(s, p, fn, argument, name);
  enter(s, p);
  p->asks_left = SUBJECT_ASKS(s->accesses); /* of an operation; a way back brings no count back */
  s->stops++;
  coro_resume(p->stack);
  if (G_UNLIKELY(s->broken)) keep_fault(s);
  leave(s);
  if (p->state != SUBJECT_RUNS) end_on_own(p);
  return p->state;
}

void subject_renew(Subject *s, int process) {
  Proc *p = proc_of(s, process);
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
  const Proc *p = proc_of(s, process);
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
  Proc *p = proc_of(s, process);
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

void subject_fail(Subject *s, const char *fault) {
  if (!s->fault) s->fault = g_strdup(fault);
}

void subject_forget_fault(Subject *s) {
  g_clear_pointer(&s->fault, g_free);
  s->trapped = false;
}

/* ---- processes ---- */

int subject_fork(Subject *s, AddressSpace *as, int pid) {
  ImageRange data = image_data(s->image);
  int number = (int)s->procs->len;
  if (s->free_numbers->len) {
    number = g_array_index(s->free_numbers, int, s->free_numbers->len - 1);
    g_array_set_size(s->free_numbers, s->free_numbers->len - 1);
  } else {
    g_ptr_array_add(s->procs, NULL);
  }
  Proc *p = g_new0(Proc, 1);
  *p = (Proc){.number = number,
              .owner = ++s->owners,
              .last_line = 1, /* no line follows it */
              .pid = pid,
              .as = as,
              .state = SUBJECT_RETURNED,
              .own_word = UINT64_MAX};
  p->data = g_memdup2(s->initial ? s->initial : data.start, data.bytes);
  s->procs->pdata[number] = p;
  return number;
}

void subject_reap(Subject *s, int process) {
  Proc *p = proc_of(s, process);
  if (p->stack) stack_give(s, p);
  if (s->loaded == p) s->loaded = NULL;
  free_proc(p);
  s->procs->pdata[process] = NULL;
  g_array_append_val(s->free_numbers, process);
}

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
  Proc *proc = proc_of(s, p);
  load(s, proc);
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

/* ---- what others ask ---- */

int subject_ask(Subject *s, int process, int (*fn)(void)) {
  load(s, proc_of(s, process));
  return fn();
}
void subject_own_word(Subject *s, int process, uint64_t address) {
  proc_of(s, process)->own_word = address;
}
const char *subject_exit_words(const Subject *s, int process) {
  return proc_of(s, process)->words;
}
bool subject_truth(const Subject *s, int process) {
  return proc_of(s, process)->truth;
}
void subject_set_truth(Subject *s, bool truth) {
  s->running->truth = truth;
}
SubjectUse subject_take_use(Subject *s, int process) {
  Proc *p = proc_of(s, process);
  SubjectUse use = p->use;
  p->use = (SubjectUse){0};
  return use;
}
int64_t subject_take_faults_in(Subject *s, int process) {
  Proc *p = proc_of(s, process);
  int64_t n = p->faults_in;
  p->faults_in = 0;
  return n;
}
const char *subject_fault(const Subject *s) {
  return s->fault;
}

bool subject_trapped(const Subject *s) {
  return s->trapped;
}

uint64_t subject_stops(const Subject *s) {
  return s->stops;
}

void subject_record(Subject *s, void (*access)(void *data, uint64_t address, uint64_t bytes, bool write), void *data) {
  s->record = access;
  s->record_data = data;
}
