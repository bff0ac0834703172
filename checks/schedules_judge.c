/* schedules_judge.c - see schedules_judge.h.
 *
 * Why the proc array is looked at when its lock is got: all that is written there is written under that lock, so what
 * one who gets it finds is the same in all orders that the reduction takes for one, and no order need be tried for the
 * look. Without the lock (--without-lock) who would have taken it looks then: a load of all memory. */
#include "checks/schedules_judge.h"
#include "checks/checks.h"
#include "sim/subject/plain.h"
#include <string.h>

static bool of_array(const Check *c) {
  return c->judge == check_proc_array_sorted || c->judge == check_pgxactoff_matches ||
         c->judge == check_dense_arrays_agree;
}

static const StampedeCheck *own_check(const ScheduleJudge *j, const Check *c) {
  const StampedeSubject *code = image_subject(j->model->image);
  for (guint i = 0; i < code->n_checks; i++)
    if (strcmp(code->checks[i].name, c->name) == 0) return &code->checks[i];
  return NULL;
}

static bool said_already(const ScheduleJudge *j, const char *check) {
  gsize n = strlen(check);
  for (guint i = 0; i < j->broken->len; i++)
    if (strncmp(j->broken->pdata[i], check, n) == 0 && ((const char *)j->broken->pdata[i])[n] == ':') return true;
  return false;
}

/* ---- those of the table that are about all processes ---- */

static bool held_at_end(const Interleave *x, GString *why) {
  for (int p = 0; p < interleave_processes(x); p++) {
    g_autofree char *held = interleave_ended(x, p) ? interleave_held(x, p) : NULL;
    if (!held) continue;
    g_string_printf(why, "%s has ended and still holds %s", interleave_name(x, p), held);
    return true;
  }
  return false;
}

/* An xid is stored in both places under XidGenLock, with ProcArrayLock shared or not at all. */
static bool array_may_differ(const ScheduleJudge *j, const Check *c) {
  return c->judge == check_dense_arrays_agree && interleave_is_held(j->code, j->xid_lock);
}

static bool told_anyway(const Check *c) {
  return c->judge == check_no_panic || c->judge == check_no_deadlock;
}

static bool of_all_processes(const Check *c) {
  return c->judge == check_locks_released || c->judge == check_semaphores_conserved;
}

bool judge_is_blind(const ScheduleJudge *j, const Check *c) {
  g_autoptr(GString) why = g_string_new(NULL);
  if (own_check(j, c) || told_anyway(c) || of_all_processes(c)) return false;
  return c->judge(j->model, why) == JUDGED_BLIND;
}

static bool ask_table(ScheduleJudge *j, const Check *c, GString *why) {
  if (told_anyway(c)) return false;
  if (c->judge == check_locks_released) return held_at_end(j->code, why);
  if (c->judge == check_semaphores_conserved) return subject_semaphore_off(model_subject(j->model), why);
  if (of_array(c) && array_may_differ(j, c)) return false;
  return c->judge(j->model, why) == JUDGED_BROKEN;
}

/* ---- asking ---- */

static void ask(ScheduleJudge *j, const Check *c) {
  const StampedeCheck *own = own_check(j, c);
  g_autoptr(GString) why = g_string_new(NULL);
  if (said_already(j, c->name)) return;
  bool broken = own ? subject_breaks(model_subject(j->model), own, why) : ask_table(j, c, why);
  if (broken) g_ptr_array_add(j->broken, g_strdup_printf("%s: %s", c->name, why->str));
}

static const Check *check_at(const ScheduleJudge *j, guint i) {
  return g_array_index(j->run->checks, CheckResult, i).check;
}

static bool in_every_state(const ScheduleJudge *j, const Check *c) {
  const StampedeCheck *own = own_check(j, c);
  return own && !own->at_end;
}

bool judge_looks_at_states(const ScheduleJudge *j) {
  for (guint i = 0; i < j->run->checks->len; i++)
    if (in_every_state(j, check_at(j, i))) return true;
  return false;
}

static void tell_owners(const ScheduleJudge *j) {
  for (int p = 0; p < interleave_processes(j->code); p++)
    plain_tell(j->model->plain, (guint)p, interleave_ended(j->code, p) ? -1 : interleave_process(j->code, p));
}

static void end(ScheduleJudge *j) {
  if (!interleave_over(j->code)) {
    g_autofree char *who = interleave_who_waits(j->code);
    g_ptr_array_add(j->broken, g_strdup_printf("deadlock: %s", who));
  }
  tell_owners(j);
}

void judge_state(ScheduleJudge *j, bool at_end) {
  if (subject_fault(model_subject(j->model))) return;
  if (at_end) end(j);
  for (guint i = 0; i < j->run->checks->len; i++)
    if (at_end || in_every_state(j, check_at(j, i))) ask(j, check_at(j, i));
}

static bool gets_array(const ScheduleJudge *j, const Operation *op) {
  if (!j->array_lock) return false;
  return operation_takes(op->kind) ? op->object == j->array_lock : op->left_out == j->array_lock;
}

void judge_step(ScheduleJudge *j, const Operation *op, bool failed) {
  if (!j->asks_array || failed || !gets_array(j, op) || subject_fault(model_subject(j->model))) return;
  for (guint i = 0; i < j->run->checks->len; i++)
    if (of_array(check_at(j, i))) ask(j, check_at(j, i));
}

const char *judge_broken(ScheduleJudge *j, guint nth) {
  const char *fault = subject_fault(model_subject(j->model));
  if (fault) return nth == 0 ? fault : NULL;
  return nth < j->broken->len ? j->broken->pdata[nth] : NULL;
}

/* ---- words ---- */

const char *judge_finding_of(const char *check) {
  return strcmp(check, "no-deadlock") == 0 ? "deadlock" : strcmp(check, "no-panic") == 0 ? "PANIC" : check;
}

const char *judge_words_of(const Check *c, const char *finding) {
  const char *begins = judge_finding_of(c->name);
  gsize n = strlen(begins);
  return strncmp(finding, begins, n) == 0 && g_str_has_prefix(finding + n, ": ") ? finding + n + 2 : NULL;
}

/* ---- life ---- */

void judge_forget(ScheduleJudge *j) {
  g_ptr_array_set_size(j->broken, 0);
}

void judge_init(ScheduleJudge *j, const Model *model, Interleave *code, RunResult *run) {
  *j = (ScheduleJudge){.model = model, .code = code, .run = run};
  j->broken = g_ptr_array_new_with_free_func(g_free);
  j->array_lock = interleave_lock_named(code, "ProcArrayLock");
  j->xid_lock = interleave_lock_named(code, "XidGenLock");
  for (guint i = 0; i < run->checks->len; i++) j->asks_array |= of_array(check_at(j, i));
  if (j->asks_array) interleave_looks_when_taken(code, j->array_lock);
}

void judge_clear(ScheduleJudge *j) {
  if (j->broken) g_ptr_array_unref(j->broken);
}
