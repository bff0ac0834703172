/* plain_told.c - what the code says of its state, and its checks: asked between two steps, on a stack of their own. */
#include "model/world/explore.h"
#include "sim/own_checks.h"
#include "sim/subject/plain.h"
#include "sim/subject/visible.h"
#include <string.h>

enum { WHY_BYTES = 256 };

typedef struct {
  const Model *m;
  void (*each)(const char *name, const char *value, void *data);
  void *data;
  GPtrArray *texts; /* name, value, name, value */
} Telling;

static void collect(const char *name, const char *value, void *data) {
  Telling *t = data;
  g_ptr_array_add(t->texts, visible_text(name));
  g_ptr_array_add(t->texts, visible_text(value));
}

/* On the code's stack, which is small: what is told goes on from ours. */
static void run_describe(void *data) {
  const Telling *t = data;
  image_subject(t->m->image)->describe(collect, data);
}

/* One that has left by stm_exit says so; its number was its own. */
static void tell_process(const char *name, const char *value, void *data) {
  const Telling *t = data;
  const char *number = strrchr(name, '['), *words = NULL;
  if (number && strcmp(value, "ended") == 0)
    words = plain_exit_words(t->m->plain, (ProcId)g_ascii_strtoull(number + 1, NULL, 10));
  g_autofree char *said = words ? g_strdup_printf("exited%s%s", *words ? ": " : "", words) : NULL;
  t->each(name, said ? said : value, t->data);
}

void plain_describe_code(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  Telling t = {m, each, data, texts};
  if (image_subject(m->image)->describe && subject_look(plain_subject(m->plain), run_describe, &t))
    for (guint i = 0; i + 1 < texts->len; i += 2) each(texts->pdata[i], texts->pdata[i + 1], data);
}

void plain_describe(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data) {
  Telling t = {m, each, data, NULL};
  plain_describe_code(m, each, data);
  model_describe_processes(m->world, tell_process, &t);
}

/* ---- checks ---- */

typedef struct {
  const StampedeCheck *check;
  char why[WHY_BYTES];
  bool broken;
} Asking;

static void run_check(void *data) {
  Asking *a = data;
  char why[WHY_BYTES] = ""; /* where the code may write: its stack */
  a->broken = a->check->broken(why, sizeof why);
  memcpy(a->why, why, sizeof why);
}

bool subject_breaks(Subject *s, const StampedeCheck *check, GString *why) {
  Asking a = {.check = check};
  if (!subject_look(s, run_check, &a) || !a.broken) return false;
  a.why[WHY_BYTES - 1] = 0;
  g_autofree char *shown = visible_text(a.why);
  g_string_assign(why, shown);
  return true;
}

static bool any_limit(const World *w, ProcId p, void *data) {
  (void)w, (void)p, (void)data;
  return true;
}

/* All have ended, or nobody will go on any more. */
static bool is_over(const Model *m) {
  if (plain_done(m->plain)) return true;
  g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
  world_moves(m->world, any_limit, NULL, moves);
  return !moves->len;
}

static Judgement judge(const Model *m, guint i, GString *why) {
  const StampedeCheck *check = &image_subject(m->image)->checks[i];
  if (check->at_end && !is_over(m)) return JUDGED_FINE;
  return subject_breaks(plain_subject(m->plain), check, why) ? JUDGED_BROKEN : JUDGED_FINE;
}

void plain_take_checks(Model *m) {
  static const OwnChecksOps ops = {.judge = judge};
  const StampedeSubject *code = image_subject(m->image);
  own_checks_open(m, &ops);
  for (guint i = 0; i < code->n_checks; i++) own_checks_put(m, code->checks[i].name, code->checks[i].about, false);
}
