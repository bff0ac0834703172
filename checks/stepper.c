/* stepper.c - see stepper.h. */
#include "checks/stepper.h"
#include "checks/timeline.h"
#include <string.h>

enum { WIDEST_CHOICE = 1024 };

struct Stepper {
  StepperConfig config;
  Model *model;
  World *w;
  Timeline *timeline; /* in the arena; NULL: untimed */
  GArray *moves;      /* of Move */
  Branch branch;      /* being made */
  guint forced;       /* how many of its answers are given */
  bool narrowed, mismatch;
  guintptr asked[256]; /* limits, by address: whether they may fire in the lowest bit */
  uint64_t (*choose)(void *data, ChoiceId what, uint64_t n);
  void *chooser;
  void (*note)(void *data, ProcId who, const char *what, const NoteField *fields, guint n);
  void *listener;
};

/* ---- what the world asks ---- */

static uint64_t on_choose(void *driver, ChoiceId what, uint64_t n) {
  Stepper *s = driver;
  Branch *b = &s->branch;
  if (b->n_answers == ANSWERS_MAX) g_error("limit: a step that asks for more than %d choices", ANSWERS_MAX);
  Answer *a = &b->answers[b->n_answers++];
  if (n > WIDEST_CHOICE) s->narrowed = true;
  if (b->n_answers > s->forced)
    *a = (Answer){what, n, s->choose ? s->choose(s->chooser, what, n) : 0};
  else if (a->what != what || a->n != n) {
    s->mismatch = true;
    *a = (Answer){what, n, 0};
  }
  return a->took;
}

static void on_ready(void *driver, ProcId p, int64_t after_ns) {
  Stepper *s = driver;
  if (s->timeline) timeline_add(s->timeline, TIMELINE_RESUME, p, after_ns);
}
static void on_sent(void *driver, ObjectId channel, int64_t after_ns) {
  Stepper *s = driver;
  if (s->timeline) timeline_add(s->timeline, TIMELINE_DELIVER, channel, after_ns);
}
static void on_timer(void *driver, ProcId p, bool limit, int64_t after_ns) {
  Stepper *s = driver;
  (void)limit;
  if (!s->timeline) return;
  timeline_drop(s->timeline, TIMELINE_FIRE, p);
  if (after_ns >= 0) timeline_add(s->timeline, TIMELINE_FIRE, p, after_ns);
}
static void on_note(void *driver, ProcId who, const char *what, const NoteField *fields, guint n) {
  Stepper *s = driver;
  s->note(s->listener, who, what, fields, n);
}

static void drive(Stepper *s) {
  DriverOps ops = {
      .choose = on_choose, .ready = on_ready, .sent = on_sent, .timer = on_timer, .note = s->note ? on_note : NULL};
  world_drive(s->w, &ops, s);
}

static void take_over(World *w, void *data) {
  Stepper *s = data;
  s->w = w;
  if (s->config.timed) s->timeline = timeline_new(world_arena(w), s->config.jitter_ns);
  drive(s);
}

/* ---- life ---- */

static void tidy(Stepper *s) {
  world_canon(s->w);
  if (s->config.canon) s->config.canon(s->model, s->config.reducer);
}

Stepper *stepper_new(const StepperConfig *config, const WorldPeak *room, GError **error) {
  Stepper *s = g_new0(Stepper, 1);
  s->config = *config;
  s->moves = g_array_new(FALSE, FALSE, sizeof(Move));
  s->model = config->build(take_over, s, config->source, error);
  if (!s->model) {
    stepper_free(s);
    return NULL;
  }
  if (room) world_reserve(s->w, room);
  tidy(s);
  return s;
}

void stepper_free(Stepper *s) {
  if (!s) return;
  g_clear_pointer(&s->model, model_free);
  g_array_unref(s->moves);
  g_free(s);
}

Model *stepper_model(const Stepper *s) {
  return s->model;
}

void stepper_listen(Stepper *s,
                    void (*note)(void *data, ProcId who, const char *what, const NoteField *fields, guint n),
                    void *data) {
  s->note = note;
  s->listener = data;
  drive(s);
}

void stepper_answer_with(Stepper *s, uint64_t (*choose)(void *data, ChoiceId what, uint64_t n), void *data) {
  s->choose = choose;
  s->chooser = data;
}

/* ---- moves ---- */

static bool word_named(const Stepper *s, const char *word) {
  return (s->config.fires && s->config.fires(word, s->config.source)) ||
         (s->config.fire && g_strv_contains(s->config.fire, word));
}

/* Texts of a model stay at their addresses, and there are few: what was asked for one before is known. */
static bool is_named(Stepper *s, const char *word) {
  guintptr key = (guintptr)word, *slot = &s->asked[(key >> 3) % G_N_ELEMENTS(s->asked)];
  if (*slot >> 1 != key) *slot = key << 1 | word_named(s, word);
  return *slot & 1;
}

static bool limit_named(const World *w, ProcId p, void *data) {
  Stepper *s = data;
  const TypeGuide *guide = world_guide_of(w, world_type_of(w, p));
  const char *limit = guide && guide->limit ? guide->limit(w, p, world_locals((World *)w, p)) : NULL;
  if (limit && is_named(s, limit)) return true;
  return is_named(s, world_at(w, p)) || (s->config.fire && g_strv_contains(s->config.fire, world_name_of(w, p)));
}

const GArray *stepper_moves(Stepper *s) {
  if (s->timeline)
    timeline_moves(s->timeline, s->w, s->moves);
  else
    world_moves(s->w, limit_named, s, s->moves);
  if (s->config.reduce) s->config.reduce(s->model, s->moves, s->config.reducer);
  return s->moves;
}

/* The process goes on once what its step asked for is over. Untimed that may be at once, and nothing need be kept. */
static void plan(Stepper *s, ProcId p, Step step) {
  if (step.kind == STEP_RAN || step.kind == STEP_WORK || step.kind == STEP_SLEEP)
    timeline_add(s->timeline, TIMELINE_RESUME, p, step.kind == STEP_RAN ? 0 : step.ns);
}

static void move_timed(Stepper *s, Move m) {
  timeline_take(s->timeline, s->w, m);
  if (m.kind == MOVE_DELIVER) return channel_deliver(s->w, m.subject);
  if (m.kind == MOVE_LOSE) return (void)channel_lose(s->w, m.subject);
  if (m.kind == MOVE_FIRE) {
    bool waited = world_waits_on(s->w, m.subject) != 0;
    timer_fire(s->w, m.subject);
    if (!waited) return;
  }
  plan(s, m.subject, world_resume(s->w, m.subject));
}

static void make(Stepper *s, Move m) {
  s->branch.move = m;
  s->branch.n_answers = 0;
  s->mismatch = false;
  world_marks_clear(s->w);
  if (s->timeline)
    move_timed(s, m);
  else
    world_move(s->w, m);
  tidy(s);
}

void stepper_go(Stepper *s, Move m) {
  make(s, m);
  s->forced = 0;
}

/* An odometer: the last answer that can go up does, those behind it start again. */
bool stepper_more(Stepper *s) {
  Branch *b = &s->branch;
  for (guint i = b->n_answers; i-- > 0;) {
    if (b->answers[i].took + 1 >= MIN(b->answers[i].n, WIDEST_CHOICE)) continue;
    b->answers[i].took++;
    s->forced = i + 1;
    return true;
  }
  s->forced = 0;
  return false;
}

bool stepper_follow(Stepper *s, const Branch *b) {
  if (b->n_answers == ANSWERS_FIRST) return stepper_go(s, b->move), true;
  s->branch = *b;
  s->forced = b->n_answers;
  make(s, b->move);
  s->forced = 0;
  return !s->mismatch && s->branch.n_answers == b->n_answers;
}

const Branch *stepper_branch(const Stepper *s) {
  return &s->branch;
}
bool stepper_narrowed(const Stepper *s) {
  return s->narrowed;
}

/* ---- fairness ---- */

bool stepper_forced(const Stepper *s, Move m) {
  if (m.kind == MOVE_LOSE) return false;
  if (s->timeline || m.kind == MOVE_DELIVER) return true;
  const TypeGuide *g = world_guide_of(s->w, world_type_of(s->w, m.subject));
  return !g || !g->unforced || !g->unforced(s->w, m.subject, world_locals(s->w, m.subject));
}

bool stepper_may_rest(Stepper *s) {
  const GArray *moves = stepper_moves(s);
  for (guint i = 0; i < moves->len; i++)
    if (stepper_forced(s, g_array_index(moves, Move, i))) return false;
  return true;
}

char *stepper_rests_pending(Stepper *s, const Check *c) {
  if (!check_is_liveness(c) || !stepper_may_rest(s)) return NULL;
  g_autoptr(GString) why = g_string_new(NULL);
  if (!check_any_pending(c, s->model, why)) return NULL;
  g_string_append(why, ", and nothing need go on");
  return g_string_free(g_steal_pointer(&why), FALSE);
}

/* ---- the end of the road ---- */

bool stepper_waits_for_limit(const Stepper *s) {
  for (ProcId p = 1; p < world_processes(s->w); p++)
    if (world_alive(s->w, p) && world_waits_on(s->w, p) && world_timer_armed(s->w, p)) return true;
  return false;
}

bool stepper_stuck(Stepper *s) {
  return !s->model->ops->done(s->model) && !stepper_waits_for_limit(s);
}
