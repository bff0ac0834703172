/* A subject's processes operation by operation: total store order by the shapes of the literature, as compiled code has
 * them; a way back is the same as all steps again. */
#include "checks/schedules.h"
#include "model/world/rng.h"
#include "sim/engine.h"
#include "sim/model.h"
#include "sim/subject/interleave.h"
#include "sim/subject/plain.h"
#include "tests/harness.h"
#include "tests/subjects/litmus.h"

#ifndef SUBJECTS
#define SUBJECTS "build/tests/subjects"
#endif

typedef struct {
  Engine *engine;
  Model *model;
  Interleave *code;
  GPtrArray *calls;
} Bound;

static void make_engine(World *w, void *data) {
  ((Bound *)data)->engine = engine_new(w, &(EngineConfig){.seed = 1});
}

static Bound bind_subject(bool tso) {
  g_autofree char *path = g_canonicalize_filename(SUBJECTS "/litmus.so", NULL);
  g_autofree char *text =
      g_strdup_printf("scenario: t\nsubject: \"%s\"\nprocesses:\n  - {name: p, script: [fence]}\n", path);
  static const ScenarioOptions opt = {0};
  static const Costs free_of_charge;
  GError *error = NULL;
  g_autoptr(Scenario) s = scenario_from_text(text, strlen(text), "t.yaml", &opt, &error);
  Bound b = {.calls = g_ptr_array_new_with_free_func(g_free)};
  if (s) b.model = model_build(s, &free_of_charge, make_engine, &b, &error);
  if (!b.model) g_error("%s", error->message);
  b.code = interleave_new(model_subject(b.model), tso);
  return b;
}

static void unbind(Bound *b) {
  interleave_free(b->code);
  g_ptr_array_unref(b->calls);
  engine_free(b->engine);
  model_free(b->model);
}

/* "store_x 1, load_y 0" */
static void add_process(Bound *b, const char *script) {
  const StampedeSubject *code = image_subject(b->model->image);
  g_auto(GStrv) words = g_strsplit(script, ", ", -1);
  guint n = g_strv_length(words);
  InterleaveCall *calls = g_new0(InterleaveCall, n + 1);
  for (guint i = 0; i < n; i++) {
    g_auto(GStrv) word = g_strsplit(words[i], " ", 2);
    for (guint k = 0; k < code->n_entries; k++)
      if (strcmp(code->entries[k].name, word[0]) == 0)
        calls[i] = (InterleaveCall){code->entries[k].run, word[1] ? atoi(word[1]) : 0, code->entries[k].name};
    if (!calls[i].run) g_error("litmus has no %s", word[0]);
  }
  g_ptr_array_add(b->calls, calls);
  interleave_add(b->code, "p", calls);
}

static const Litmus *memory(const Bound *b) {
  return subject_at(model_subject(b->model), 0);
}

/* ---- as a program for the search ---- */

static void program_restart(void *data) {
  interleave_restart(((Bound *)data)->code);
}
static void program_back(void *data, guint steps) {
  interleave_back(((Bound *)data)->code, steps);
}
static ProcessState program_pending(void *data, guint p, Operation *out) {
  static const ProcessState states[] = {
      [INTERLEAVE_READY] = PROCESS_READY, [INTERLEAVE_WAITS] = PROCESS_WAITS, [INTERLEAVE_ENDED] = PROCESS_ENDED};
  return states[interleave_pending(((Bound *)data)->code, (int)p, out)];
}
static void program_step(void *data, guint p, bool *failed, bool *changed) {
  interleave_step(((Bound *)data)->code, (int)p, failed, changed);
}
static ScheduleProgram program_of(Bound *b) {
  return (ScheduleProgram){.data = b,
                           .processes = (guint)interleave_processes(b->code) + interleave_buffers(b->code),
                           .buffers = interleave_buffers(b->code),
                           .restart = program_restart,
                           .back = program_back,
                           .pending = program_pending,
                           .step = program_step};
}

static void note_outcome(void *user, void *program) {
  const Litmus *m = memory(program);
  g_hash_table_add(user,
                   g_strdup_printf("%d%d%d%d x%d y%d", m->noted[0], m->noted[1], m->noted[2], m->noted[3], m->x, m->y));
}

static GHashTable *outcomes_of(const char *const *scripts, bool tso, SchedulesStrategy strategy) {
  Bound b = bind_subject(tso);
  GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; scripts[i]; i++) add_process(&b, scripts[i]);
  ScheduleProgram p = program_of(&b);
  SchedulesOptions o = {
      .strategy = strategy, .preemptions = -1, .delays = -1, .max_steps = 200, .at_end = note_outcome, .user = seen};
  g_autoptr(SchedulesResult) r = schedules_search(&p, &o);
  expect_int(r->stop, ==, SCHEDULES_EXHAUSTED);
  unbind(&b);
  return seen;
}

/* How many outcomes there are, and whether `weak` is among them. */
static void allows(const char *name, const char *const *scripts, const char *weak, bool sc, bool tso) {
  for (int mode = 0; mode < 4; mode++) {
    g_autoptr(GHashTable) seen = outcomes_of(scripts, mode & 1, mode & 2 ? SCHEDULES_DFS : SCHEDULES_DPOR);
    bool saw = g_hash_table_contains(seen, weak);
    if (saw != (mode & 1 ? tso : sc)) fprintf(stderr, "%s, %s:\n", name, mode & 1 ? "TSO" : "SC");
    expect_int(saw, ==, mode & 1 ? tso : sc);
  }
}
#define SHAPE(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The outcome of each shape that has a name, as in tests/test_schedules.c, of compiled code. */
static void shapes(void) {
  allows("SB", SHAPE("store_x 1, load_y 0", "store_y 1, load_x 1"), "0000 x1 y1", false, true);
  allows("MP", SHAPE("store_x 1, store_y 1", "load_y 0, load_x 1"), "1000 x1 y1", false, false);
  allows("LB", SHAPE("load_x 0, store_y 1", "load_y 1, store_x 1"), "1100 x1 y1", false, false);
  allows("2+2W", SHAPE("store_x 1, store_y 2", "store_y 1, store_x 2"), "0000 x1 y1", false, false);
  allows("R", SHAPE("store_x 1, store_y 1", "store_y 2, load_x 0"), "0000 x1 y2", false, true);
  allows("S", SHAPE("store_x 2, store_y 1", "load_y 0, store_x 1"), "1000 x2 y1", false, false);
  allows("n6", SHAPE("store_x 1, load_x 0, load_y 1", "store_y 2, store_x 2"), "1000 x1 y2", false, true);
  allows("IRIW", SHAPE("store_x 1", "store_y 1", "load_x 0, load_y 1", "load_y 2, load_x 3"), "1010 x1 y1", false,
         false);
}

/* What drains the buffer on x86 forbids SB's outcome; what is a plain store or nothing there does not. */
static void what_drains(void) {
  const char *weak = "0000 x1 y1";
  allows("fences", SHAPE("store_x 1, fence, load_y 0", "store_y 1, fence, load_x 1"), weak, false, false);
  allows("a fence", SHAPE("store_x 1, fence, load_y 0", "store_y 1, load_x 1"), weak, false, true);
  allows("light fences", SHAPE("store_x 1, light_fence, load_y 0", "store_y 1, light_fence, load_x 1"), weak, false,
         true);
  allows("strong stores", SHAPE("strong_x 1, load_y 0", "strong_y 1, load_x 1"), weak, false, false);
  allows("release", SHAPE("release_x 1, load_y 0", "strong_y 1, load_x 1"), weak, false, true);
  allows("locked", SHAPE("store_x 1, add_z 1, load_y 0", "store_y 1, add_z 1, load_x 1"), weak, false, false);
  allows("lock", SHAPE("store_x 1, take_turn, load_y 0", "store_y 1, take_turn, load_x 1"), weak, false, false);
}

/* A load of which a store in the buffer covers half waits until that is written. */
static void half_a_store(void) {
  allows("half", SHAPE("store_half 1, load_x 0, load_y 1", "store_y 1, fence, load_x 2"), "1000 x1 y1", false, false);
  allows("whole", SHAPE("store_x 1, load_x 0, load_y 1", "store_y 1, fence, load_x 2"), "1000 x1 y1", false, true);
}

/* ---- the way back ---- */

static GArray *ready(Bound *b) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(int));
  Operation op;
  for (int p = 0; p < interleave_processes(b->code) + (int)interleave_buffers(b->code); p++)
    if (interleave_pending(b->code, p, &op) == INTERLEAVE_READY) g_array_append_val(out, p);
  return out;
}

/* All that there is to know: memory, variables and calls by the subject's own hash, and what each would do next. */
static char *state(Bound *b) {
  Hash128 h = subject_hash(model_subject(b->model));
  GString *out = g_string_new(NULL);
  g_string_printf(out, "%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x", h.lo, h.hi);
  for (int p = 0; p < interleave_processes(b->code) + (int)interleave_buffers(b->code); p++) {
    Operation op;
    int state = (int)interleave_pending(b->code, p, &op);
    g_autofree char *held = interleave_held(b->code, p);
    g_string_append_printf(out, "; %d %d %" G_GINT64_MODIFIER "x+%u %p %u %s", state, (int)op.kind, op.object, op.bytes,
                           op.pc, op.store, held ? held : "");
  }
  return g_string_free(out, FALSE);
}

static bool random_step(Bound *b, Rng *r, GArray *order) {
  g_autoptr(GArray) can = ready(b);
  bool failed, changed;
  if (!can->len) return false;
  int p = g_array_index(can, int, rng_below(r, can->len));
  interleave_step(b->code, p, &failed, &changed);
  g_array_append_val(order, p);
  return true;
}

static void same_as_all_again(Bound *b, const GArray *order) {
  bool failed, changed;
  g_autofree char *gone_back = state(b);
  interleave_restart(b->code);
  for (guint i = 0; i < order->len; i++) interleave_step(b->code, g_array_index(order, int, i), &failed, &changed);
  g_autofree char *again = state(b);
  expect_str(gone_back, again);
}

static void back_is_all_again(void) {
  for (int tso = 0; tso < 2; tso++) {
    Bound b = bind_subject(tso);
    Rng r;
    rng_init(&r, 5, "back");
    add_process(&b, "store_x 1, copy_block, take_turn 1, load_y 0, wait_for_bell, copy_block, store_half 3, load_x 1");
    add_process(&b, "take_turn 2, store_y 1, ring, copy_block, store_x 2, take_turn 3");
    add_process(&b, "store_y 7, load_x 2, strong_x 5, add_z 3, copy_block, leave, store_x 9");
    for (int i = 0; i < 300; i++) {
      g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(int));
      interleave_restart(b.code);
      for (int turn = 0; turn < 4; turn++) {
        for (guint n = (guint)rng_below(&r, 30); n > 0 && random_step(&b, &r, order); n--) {
        }
        guint to = order->len - (guint)rng_below(&r, order->len + 1) / (turn % 2 ? 1 : 3);
        interleave_back(b.code, to);
        g_array_set_size(order, to);
        if (turn == 3) same_as_all_again(&b, order);
      }
    }
    unbind(&b);
  }
}

int main(void) {
  return suite_run("interleave", (const Case[]){{"shapes of memory models", shapes},
                                                {"what drains a store buffer", what_drains},
                                                {"half a store", half_a_store},
                                                {"back is all steps again", back_is_all_again},
                                                {NULL, NULL}});
}
