/* walk.c - see walk.h. */
#include "checks/walk.h"
#include "checks/schedules_path.h"
#include "checks/lasso.h"
#include "sim/expect.h"
#include "sim/tracing.h"
#include <string.h>

enum { NOTES_MAX = 64 };

/* The model of a scenario, for steppers: `source` is the Scenario. */
static Model *walk_build(void (*driver)(World *w, void *data), void *data, void *source, GError **error) {
  Costs costs;
  scenario_costs(source, &costs);
  return model_build_saved(source, &costs, driver, data, error);
}

/* explore.fire names it. */
static bool fires(const char *limit, void *source) {
  const Scenario *s = source;
  for (guint i = 0, n = scenario_count(s, "explore.fire"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.fire[%u]", i);
    if (!strcmp(scenario_word(s, key), limit)) return true;
  }
  return false;
}

void walk_config(const Scenario *s, StepperConfig *c) {
  c->build = walk_build;
  c->source = (gpointer)s;
  c->timed = scenario_is(s, "explore.time", "timed");
  c->jitter_ns = scenario_ns(s, "explore.jitter");
  if (scenario_count(s, "explore.fire")) c->fires = fires;
}

/* ---- a step in names ---- */

typedef struct {
  NoteField fields[NOTES_MAX];
  guint n;
} Notes;

static bool noted(const Notes *n, const char *name) {
  for (guint i = 0; i < n->n; i++)
    if (strcmp(n->fields[i].name, name) == 0) return true;
  return false;
}

static void note(Notes *n, const char *name, int64_t value, const char *text) {
  if (n->n < NOTES_MAX && !noted(n, name)) n->fields[n->n++] = (NoteField){g_strdup(name), value, g_strdup(text)};
}

/* Each name once in a step: the same again is told as "what.name". */
static void on_note(void *data, ProcId who, const char *what, const NoteField *fields, guint n) {
  Notes *notes = data;
  (void)who;
  for (guint i = 0; i < n; i++) {
    g_autofree char *longer = g_strconcat(what, ".", fields[i].name, NULL);
    note(notes, noted(notes, fields[i].name) ? longer : fields[i].name, fields[i].value, fields[i].text);
  }
}

static void forget(Notes *n) {
  for (guint i = 0; i < n->n; i++) {
    g_free((gpointer)n->fields[i].name);
    g_free((gpointer)n->fields[i].text);
  }
  n->n = 0;
}

static bool of_network(MoveKind kind) {
  return kind == MOVE_DELIVER || kind == MOVE_LOSE;
}
static const char *name_of(const World *w, Move m) {
  return of_network(m.kind) ? object_name(w, m.subject) : world_name_of(w, m.subject);
}
const char *walk_who(const World *w, Move m, char buffer[WALK_WHO_MAX]) {
  return trace_who(buffer, WALK_WHO_MAX, name_of(w, m), m.subject);
}
const char *walk_doing(const World *w, Move m) {
  if (of_network(m.kind)) return m.kind == MOVE_LOSE ? "lose" : "deliver";
  return world_at(w, m.subject);
}

bool walk_next(void *cursor, Stepper *s, Branch *b) {
  WalkCursor *c = cursor;
  (void)s;
  if (c->at == c->path->len) return false;
  *b = g_array_index(c->path, Branch, c->at++);
  return true;
}

/* ---- replay ---- */

static bool is_recorded(const World *w, Move m, const TraceStep *step) {
  char who[WALK_WHO_MAX];
  if (g_strcmp0(step->who, walk_who(w, m, who)) != 0) return false;
  if (strcmp(step->what, walk_doing(w, m)) != 0) return false;
  bool fired = false;
  for (guint i = 0; i < step->n_args; i++)
    fired |= strcmp(step->args[i].name, "timer") == 0 && g_strcmp0(step->args[i].text, "fires") == 0;
  return of_network(m.kind) || fired == (m.kind == MOVE_FIRE);
}

static ChoiceId choice_named(World *w, const char *name) {
  return world_choice(w, name);
}

static bool walk_recorded(Stepper *s, const TraceStep *step, Branch *b) {
  World *w = stepper_model(s)->world;
  const GArray *moves = stepper_moves(s);
  for (guint i = 0; i < moves->len; i++) {
    Move m = g_array_index(moves, Move, i);
    if (!is_recorded(w, m, step)) continue;
    *b = (Branch){.move = m, .n_answers = MIN(step->n_choices, (guint)ANSWERS_MAX)};
    for (guint j = 0; j < b->n_answers; j++)
      b->answers[j] = (Answer){choice_named(w, step->choices[j].name), (uint64_t)step->choices[j].n,
                               (uint64_t)step->choices[j].took};
    return true;
  }
  return false;
}

/* ---- a walk ---- */

typedef struct {
  const RunOptions *o;
  const WalkPath *p;
  Stepper *s;
  World *w;
  RunResult *result;
  Tracing *tracing;
  Notes notes;
  bool broken;
  Lasso *lasso; /* from the step on where it begins */
} Walk;

static void judge(Walk *k) {
  Model *m = stepper_model(k->s);
  for (guint i = 0; i < k->result->checks->len; i++) {
    CheckResult *c = &g_array_index(k->result->checks, CheckResult, i);
    g_autoptr(GString) why = g_string_new(NULL);
    if (c->verdict != CHECK_NOT_VIOLATED) continue;
    Judgement j = c->check->judge(m, why);
    if (j == JUDGED_BLIND) c->verdict = CHECK_UNKNOWN;
    if (j != JUDGED_BROKEN) continue;
    c->verdict = CHECK_VIOLATED;
    c->step = (int64_t)k->result->steps - 1;
    c->why = g_strdup(why->str);
    k->broken = true;
  }
}

static void tell_step(Walk *k, const char *name, uint32_t subject, const char *what) {
  const Branch *b = stepper_branch(k->s);
  TraceChoice choices[ANSWERS_MAX];
  for (guint i = 0; i < b->n_answers; i++)
    choices[i] = (TraceChoice){world_choice_name(k->w, b->answers[i].what), (int64_t)b->answers[i].n,
                               (int64_t)b->answers[i].took};
  EngineStep step = {.i = k->result->steps,
                     .t_ns = -1,
                     .who = subject,
                     .name = name,
                     .doing = what,
                     .args = k->notes.fields,
                     .n_args = k->notes.n,
                     .choices = choices,
                     .n_choices = b->n_answers};
  if (k->tracing) tracing_step(k->tracing, stepper_model(k->s), &step);
  if (!k->p->text) return;
  char who[WALK_WHO_MAX];
  TraceStep words = {.i = (int64_t)step.i,
                     .t_ns = -1,
                     .who = trace_who(who, sizeof who, name, subject),
                     .what = what,
                     .args = step.args,
                     .n_args = step.n_args,
                     .choices = choices,
                     .n_choices = b->n_answers};
  g_string_append_printf(k->p->text, "  %3" G_GUINT64_FORMAT "  ", step.i);
  trace_step_words(&words, k->p->text);
  g_string_append_c(k->p->text, '\n');
}

/* Names are taken before the step: it may end the process. */
static bool take_step(Walk *k, const Branch *b) {
  g_autofree char *name = g_strdup(name_of(k->w, b->move)), *what = g_strdup(walk_doing(k->w, b->move));
  forget(&k->notes);
  if (b->move.kind == MOVE_FIRE) note(&k->notes, "timer", 0, "fires");
  bool same = stepper_follow(k->s, b);
  tell_step(k, name, b->move.subject, what);
  k->result->steps++;
  if (k->lasso) lasso_step(k->lasso, b->move);
  judge(k);
  return same;
}

static void begin_lasso(Walk *k) {
  if (!k->p->lasso || k->result->steps != k->p->lasso_from) return;
  k->lasso = lasso_new(k->s);
  for (guint i = 0; i < k->result->checks->len; i++)
    lasso_watch(k->lasso, g_array_index(k->result->checks, CheckResult, i).check);
  if (k->p->text) g_string_append(k->p->text, "       -- from here for ever:\n");
}

/* Pending for ever: where nothing need go on, or on a round. */
static char *for_ever(Walk *k, const Check *c) {
  char *why = k->lasso ? lasso_confirms(k->lasso, c) : NULL;
  if (why) k->result->lasso_from = (int64_t)k->p->lasso_from;
  return why ? why : stepper_rests_pending(k->s, c);
}

static void judge_rest(Walk *k) {
  for (guint i = 0; i < k->result->checks->len; i++) {
    CheckResult *c = &g_array_index(k->result->checks, CheckResult, i);
    g_autofree char *why = for_ever(k, c->check);
    if (!why || c->verdict != CHECK_NOT_VIOLATED) continue;
    c->why = g_steal_pointer(&why);
    c->verdict = CHECK_VIOLATED;
    c->step = (int64_t)k->result->steps - 1;
    k->broken = true;
  }
}

static void judge_end(Walk *k) {
  const Model *m = stepper_model(k->s);
  bool stuck = !k->broken && stepper_moves(k->s)->len == 0 && stepper_stuck(k->s);
  if (stuck) k->result->stopped = model_deadlock_words(k->w);
  k->broken |= stuck;
  judge_rest(k);
  if (m->ops->done(m) && k->p->text) g_string_append(k->p->text, "       all is done\n");
}

static void walk_steps(Walk *k) {
  Branch b;
  judge(k);
  while (!(k->p->stop_at_once && k->broken) && !(k->tracing && tracing_stopped(k->tracing))) {
    begin_lasso(k);
    stepper_moves(k->s);
    if (!k->p->next(k->p->data, k->s, &b) || !take_step(k, &b)) break;
  }
  judge_end(k);
  k->result->verdict = k->broken ? RUN_FAIL : RUN_PASS;
  k->result->state_hash = arena_hash_whole(world_arena(k->w));
  k->result->virtual_ns = -1;
}

static bool start(Walk *k, const Scenario *s, GError **error) {
  StepperConfig config = {0};
  walk_config(s, &config);
  k->s = search_stepper(&config, error);
  if (!k->s) return false;
  Model *m = stepper_model(k->s);
  k->w = m->world;
  stepper_listen(k->s, on_note, &k->notes);
  k->result->subject = g_strdup(m->subject);
  if (!expect_checks(s, m, &k->o->checks, k->result, error)) return false;
  if (!k->o->trace_path && !k->o->saw) return true;
  TraceHeader *h = run_trace_header(s, k->o->command, m->subject, 1);
  k->tracing = tracing_new(k->o, h, 1, error);
  run_trace_header_free(h);
  return k->tracing != NULL;
}

RunResult *walk(const Scenario *s, const RunOptions *o, const WalkPath *p, GError **error) {
  Walk k = {.o = o, .p = p, .result = run_result_new()};
  k.result->command = g_strdup(o->command);
  k.result->scenario = g_strdup(scenario_name(s));
  k.result->seed = scenario_seed(s);
  bool ok = start(&k, s, error);
  if (ok) {
    walk_steps(&k);
    ok = !k.tracing || tracing_end(k.tracing, k.result, error);
  }
  forget(&k.notes);
  lasso_free(k.lasso);
  if (k.tracing) tracing_free(k.tracing);
  stepper_free(k.s);
  if (ok) return k.result;
  run_result_free(k.result);
  return NULL;
}

/* ---- replay of a trace ---- */

typedef struct {
  const RunOptions *o;
  const TraceStep *(*recorded)(void *replay);
} Recorded;

static bool next_recorded(void *data, Stepper *s, Branch *b) {
  const Recorded *r = data;
  const TraceStep *step = r->recorded(r->o->replay);
  return step && walk_recorded(s, step, b);
}

RunResult *walk_replay(const Scenario *s, const RunOptions *o, const TraceStep *(*recorded)(void *replay),
                       GError **error) {
  if (scenario_given(s, "subject")) return schedule_replay(s, o, recorded, error);
  Recorded r = {o, recorded};
  WalkPath p = {.next = next_recorded, .data = &r, .lasso = o->lasso, .lasso_from = (uint64_t)o->lasso_from};
  return walk(s, o, &p, error);
}
