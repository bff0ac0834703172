/* machine.c - a subject's processes: stacks, variables, calls (subject.h). Its life is machine_life.c's, going on
 * operation by operation machine_step.c's. */
#include "sim/subject/machine.h"
#include "sim/subject/visible.h"
#include <stdarg.h>
#include <string.h>

Subject *subject_here;

void machine_free_process(void *data) {
  Proc *p = data;
  if (!p) return;
  g_clear_pointer(&p->stack, coro_free);
  g_clear_pointer(&p->own_stack, coro_free);
  g_free(p->data);
  g_free(p->words);
  g_free(p);
}

/* ---- variables: each process's are copied in when another's are in place ---- */

void machine_load(Subject *s, Proc *p) {
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

static _Noreturn void too_early(const char *format, va_list args) G_GNUC_PRINTF(1, 0);
static _Noreturn void too_early(const char *format, va_list args) {
  g_autofree char *words = g_strdup_vprintf(format, args),
                  *what = g_strconcat("does what no subject may: ", words, NULL);
  subject_too_early(what);
}

void subject_broken(const void *pc, const char *format, ...) {
  Subject *s = subject_here;
  va_list args;
  va_start(args, format);
  if (!s) {
    too_early(format, args);
  } else if (!s->broken && !s->fault) {
    s->broken = g_strdup_vprintf(format, args);
    s->broken_at = pc;
    if (!s->n_broken_by) s->n_broken_by = subject_chain(pc, s->broken_by, CHAIN_MOST); /* a crash has its own */
  }
  va_end(args);
  subject_end(SUBJECT_EXITED);
}

/* ---- calls ---- */

static void run_call(Coro *self, void *data) {
  (void)self;
  Proc *p = data;
  p->first_frame = __builtin_frame_address(0);
  p->fn(p->argument);
  p->first_frame = NULL;
  p->state = SUBJECT_RETURNED;
}

void machine_begin(Proc *p) {
  coro_reset(p->stack, run_call, p);
}

Coro *machine_take_stack(Subject *s, Proc *p) {
  if (s->stacks->len) return g_ptr_array_steal_index(s->stacks, s->stacks->len - 1);
  Coro *c = coro_new(run_call, p, SUBJECT_STACK_BYTES);
  if (!c) g_error("no memory left for a subject's stack");
  return c;
}

Proc *machine_process(const Subject *s, int process) {
  g_assert(process >= 0 && (guint)process < s->procs->len && s->procs->pdata[process]);
  return s->procs->pdata[process];
}

void subject_call(Subject *s, int process, void (*fn)(int64_t), int64_t argument, const char *name) {
  Proc *p = machine_process(s, process);
  g_assert(!p->stack && p->state != SUBJECT_EXITED);
  p->fn = fn;
  p->argument = argument;
  p->doing = name;
  p->state = SUBJECT_RUNS;
  p->asks_left = SUBJECT_ASKS(s->accesses);
  s->spins = 0;
  p->stack = machine_take_stack(s, p);
  machine_begin(p);
}

static void stack_give(Subject *s, Proc *p) {
  p->first_frame = NULL;
  g_ptr_array_add(s->stacks, g_steal_pointer(&p->stack));
}

void machine_enter(Subject *s, Proc *p) {
  machine_load(s, p);
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

void machine_leave(Subject *s) {
  hooks_settle();
  s->running->last_line = hooks.last_line;
  s->running = NULL;
  hooks_count(0);
}

void machine_keep_fault(Subject *s) {
  if (!s->broken) return;
  g_autofree char *said = g_steal_pointer(&s->broken),
                  *what = visible_text(said); /* it may hold texts of the subject's */
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
    machine_keep_fault(s);
    ns = p->settles || p->state != SUBJECT_RUNS ? subject_charge(s, p) : 0;
  } while (p->settles && !ns);
  return ns;
}

Step subject_go(Subject *s, int process, ProcId self, SubjectState *state) {
  Proc *p = machine_process(s, process);
  p->self = self;
  machine_enter(s, p);
  int64_t ns = run(s, p);
  machine_leave(s);
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
  Proc *p = machine_process(s, process);
  if (p->stack) stack_give(s, p);
  if (s->loaded == p) s->loaded = NULL;
  machine_free_process(p);
  s->procs->pdata[process] = NULL;
  g_array_append_val(s->free_numbers, process);
}

/* ---- what others ask ---- */

void subject_fail(Subject *s, const char *fault) {
  if (!s->fault) s->fault = g_strdup(fault);
}

void subject_forget_fault(Subject *s) {
  g_clear_pointer(&s->fault, g_free);
  s->trapped = false;
}

int subject_ask(Subject *s, int process, int (*fn)(void)) {
  machine_load(s, machine_process(s, process));
  return fn();
}
void subject_own_word(Subject *s, int process, uint64_t address) {
  machine_process(s, process)->own_word = address;
}
const char *subject_exit_words(const Subject *s, int process) {
  return machine_process(s, process)->words;
}
bool subject_truth(const Subject *s, int process) {
  return machine_process(s, process)->truth;
}
void subject_set_truth(Subject *s, bool truth) {
  s->running->truth = truth;
}
SubjectUse subject_take_use(Subject *s, int process) {
  Proc *p = machine_process(s, process);
  SubjectUse use = p->use;
  p->use = (SubjectUse){0};
  return use;
}
int64_t subject_take_faults_in(Subject *s, int process) {
  Proc *p = machine_process(s, process);
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
