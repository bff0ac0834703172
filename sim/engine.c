/* engine.c - virtual time: events, draws, steps. Cores: engine_cores.c.
 *
 * What is here is outside the model's state: which event is pending decides when things happen, the world knows what.
 */
#include "sim/engine_parts.h"
#include <string.h>

/* ---- events ---- */

/* Of one instant with TIES_EVENT_FIRST: what follows an input at once, then whoever's event it is, then the next input
 * in the order of planning, and limits last. So an input is followed by all that it sets going, as with a program that
 * reads it and runs until it has nothing to do (sim/live: one input per GO). */
enum { RANK_FOLLOWS, RANK_GOES_ON, RANK_INPUT, RANK_LIMIT };

static uint64_t rank_of(Engine *e, EventKind kind, bool limit) {
  switch (e->config.ties) {
  case TIES_TIMEOUT_FIRST: return kind == EVENT_TIMER && limit ? 0 : 1;
  case TIES_EVENT_FIRST: return kind == EVENT_TIMER && limit ? RANK_LIMIT : RANK_INPUT;
  case TIES_SEEDED: break;
  }
  return rng_mix(e->config.seed, ++e->n_ranked);
}

EventHandle engine_plan(Engine *e, EventKind kind, uint32_t subject, int64_t after_ns, bool limit) {
  g_assert(after_ns >= 0);
  int64_t t = after_ns > INT64_MAX - e->now ? INT64_MAX : e->now + after_ns;
  return event_queue_add(e->events, t, rank_of(e, kind, limit), (EventPayload){.kind = kind, .subject = subject});
}

/* Now. */
static EventHandle plan_at_once(Engine *e, EventKind kind, ProcId p, uint64_t rank) {
  return event_queue_add(e->events, e->now, rank, (EventPayload){.kind = kind, .subject = p});
}

/* Of a process that may follow what sets it going; NULL: of another. */
static const TypeGuide *follower_guide(const Engine *e, ProcId p) {
  const TypeGuide *g = world_guide_of(e->w, world_type_of(e->w, p));
  return g && g->at_once ? g : NULL;
}

/* What is planned as following may turn out not to (stands_back): a process is spawned before its locals are set. */
static bool may_follow(const Engine *e, ProcId p, int64_t after_ns) {
  return e->config.ties == TIES_EVENT_FIRST && after_ns == 0 && follower_guide(e, p);
}

static void on_ready(void *driver, ProcId p, int64_t after_ns) {
  Engine *e = driver;
  if (may_follow(e, p, after_ns))
    plan_at_once(e, EVENT_RESUME, p, RANK_FOLLOWS);
  else
    engine_plan(e, EVENT_RESUME, p, after_ns, false);
}
static void on_sent(void *driver, ObjectId channel, int64_t after_ns) {
  engine_plan(driver, EVENT_DELIVER, channel, after_ns, false);
}

static void on_timer(void *driver, ProcId p, bool limit, int64_t after_ns) {
  Engine *e = driver;
  Task *t = engine_task(e, p);
  event_queue_cancel(e->events, t->timer);
  if (!limit && may_follow(e, p, after_ns))
    t->timer = plan_at_once(e, EVENT_TIMER, p, RANK_FOLLOWS);
  else
    t->timer = after_ns < 0 ? (EventHandle)0 : engine_plan(e, EVENT_TIMER, p, after_ns, limit);
}

static int64_t on_now(void *driver) {
  return ((Engine *)driver)->now;
}

/* What is pending, as a set: order in the heap must not matter, so the parts are added up. */
static void add_pending(int64_t t_ns, EventPayload payload, void *data) {
  struct {
    Engine *e;
    Hash128 h;
  } *sum = data;
  uint64_t what = (uint64_t)payload.kind << 32 | payload.subject;
  uint64_t part = rng_mix(rng_mix((uint64_t)(t_ns - sum->e->now), what), 0x73746d7065646521u);
  sum->h.lo += part;
  sum->h.hi += rng_mix(part, what);
}

static Hash128 on_pending(void *driver) {
  struct {
    Engine *e;
    Hash128 h;
  } sum = {driver, {0, 0}};
  event_queue_each(sum.e->events, add_pending, &sum);
  return sum.h;
}

/* ---- choices and notes ---- */

/* The stream of a name is seeded when it is first drawn from; entry 0 is no choice. */
static Rng *stream(Engine *e, ChoiceId what) {
  for (guint i = e->streams->len; i <= what; i++) {
    Rng r = {{0}};
    if (i) rng_init(&r, e->config.seed, world_choice_name(e->w, (ChoiceId)i));
    g_array_append_val(e->streams, r);
  }
  return &g_array_index(e->streams, Rng, what);
}

static uint64_t on_choose(void *driver, ChoiceId what, uint64_t n) {
  Engine *e = driver;
  uint64_t took;
  if (!e->listener.chosen || !e->listener.chosen(e->listening, what, n, &took)) {
    took = rng_below(stream(e, what), n);
    e->n_drawn += n > 1;
  }
  if (e->listener.step) {
    TraceChoice c = {world_choice_name(e->w, what), (int64_t)n, (int64_t)took};
    g_array_append_val(e->choices, c);
  }
  return took;
}

static const NoteField *arg_named(const Engine *e, const char *name) {
  for (guint i = 0; i < e->n_args; i++)
    if (strcmp(e->args[i].name, name) == 0) return &e->args[i];
  return NULL;
}

/* A step may note several things. Each name stands once: the same again with another value is told as "what.name". */
static void on_note(void *driver, ProcId who, const char *what, const NoteField *fields, guint n) {
  Engine *e = driver;
  (void)who;
  for (guint i = 0; i < n && e->n_args < ARGS_MAX; i++) {
    const NoteField *before = arg_named(e, fields[i].name);
    if (before && before->value == fields[i].value && g_strcmp0(before->text, fields[i].text) == 0) continue;
    g_autofree char *name = before ? g_strconcat(what, ".", fields[i].name, NULL) : g_strdup(fields[i].name);
    if (arg_named(e, name)) continue;
    NoteField *arg = &e->args[e->n_args++];
    *arg = (NoteField){g_steal_pointer(&name), fields[i].value, g_strdup(fields[i].text)};
  }
}

static void forget_notes(Engine *e) {
  for (guint i = 0; i < e->n_args; i++) {
    g_free((gpointer)e->args[i].name);
    g_free((gpointer)e->args[i].text);
  }
  e->n_args = 0;
  g_array_set_size(e->choices, 0);
}

static void drive(Engine *e) {
  DriverOps ops = {.choose = on_choose,
                   .ready = on_ready,
                   .sent = on_sent,
                   .timer = on_timer,
                   .note = e->listener.step ? on_note : NULL,
                   .now = on_now,
                   .pending = on_pending};
  world_drive(e->w, &ops, e);
}

Engine *engine_new(World *w, const EngineConfig *config) {
  Engine *e = g_new0(Engine, 1);
  e->w = w;
  e->config = *config;
  e->events = event_queue_new();
  e->tasks = g_array_new(FALSE, TRUE, sizeof(Task));
  e->streams = g_array_new(FALSE, FALSE, sizeof(Rng));
  e->choices = g_array_new(FALSE, FALSE, sizeof(TraceChoice));
  e->parked = g_array_new(FALSE, FALSE, sizeof(ProcId));
  e->cores_free = config->cores;
  drive(e);
  return e;
}

void engine_free(Engine *e) {
  forget_notes(e);
  event_queue_free(e->events);
  g_array_unref(e->tasks);
  g_array_unref(e->streams);
  g_array_unref(e->choices);
  g_array_unref(e->parked);
  g_free(e);
}

void engine_listen(Engine *e, const EngineListener *l, void *listener) {
  e->listener = *l;
  e->listening = listener;
  drive(e);
}

/* ---- steps ---- */

static EngineEnd limit_reached(const Engine *e) {
  const EngineConfig *c = &e->config;
  if (c->max_steps_at_once && e->n_steps - e->instant >= c->max_steps_at_once) return ENGINE_STUCK;
  return c->max_steps && e->n_steps >= c->max_steps ? ENGINE_STEPS : ENGINE_IDLE;
}

/* ENGINE_IDLE: go on. */
static EngineEnd step_over(Engine *e, ProcId p) {
  if (e->listener.step) {
    EngineStep s = {.i = e->n_steps,
                    .t_ns = e->now,
                    .who = p,
                    .name = e->current_name,
                    .doing = e->current_doing,
                    .args = e->args,
                    .n_args = e->n_args,
                    .choices = (const TraceChoice *)e->choices->data,
                    .n_choices = e->choices->len};
    e->listener.step(e->listening, &s);
    forget_notes(e);
  }
  e->n_steps++;
  if (e->listener.after && e->listener.after(e->listening)) return ENGINE_STOPPED;
  return limit_reached(e);
}

/* Guards are asked again after each event: whoever's lets him go on does so at once, in the order they were parked. */
static void unpark(Engine *e) {
  for (guint i = 0; i < e->parked->len;) {
    ProcId p = g_array_index(e->parked, ProcId, i);
    if (world_enabled(e->w, p)) {
      g_array_remove_index(e->parked, i);
      engine_plan(e, EVENT_RESUME, p, 0, false);
    } else
      i++;
  }
}

static bool follows(const Engine *e, ProcId p) {
  const TypeGuide *g = follower_guide(e, p);
  return g && g->at_once(e->w, p, world_locals(e->w, p));
}

/* p has run and could go on: with TIES_EVENT_FIRST others may have to come before, what it set going itself first of
 * all; and whoever's input it was stands in line only then. own: the step was of a program that follows its input: what
 * that does comes about in the order of its doing. True: it is planned. */
static bool gives_way(Engine *e, ProcId p, bool in_line, bool own) {
  Event next;
  if (e->config.ties != TIES_EVENT_FIRST || !event_queue_peek(e->events, &next) || next.t > e->now) return false;
  bool waits = next.rank == RANK_FOLLOWS && !(in_line && own);
  if (!in_line && !waits) return false;
  engine_task(e, p)->in_line = in_line && waits;
  plan_at_once(e, EVENT_RESUME, p, !waits ? RANK_INPUT : !in_line && follows(e, p) ? RANK_FOLLOWS : RANK_GOES_ON);
  return true;
}

/* Resumes p until it needs something. */
static EngineEnd go_on(Engine *e, ProcId p) {
  e->current_name = world_name_of(e->w, p);
  for (;;) {
    if (world_resumable(e->w, p) && !world_enabled(e->w, p)) {
      core_leave(e, p);
      g_array_append_val(e->parked, p);
      return ENGINE_IDLE;
    }
    e->current_doing = world_at(e->w, p);
    e->recent[e->n_steps % RECENT].who = p;
    e->recent[e->n_steps % RECENT].name = e->current_name;
    e->recent[e->n_steps % RECENT].doing = e->current_doing;
    bool own = e->config.ties == TIES_EVENT_FIRST && follows(e, p);
    Step s = world_resume(e->w, p);
    if (s.kind == STEP_WORK && s.ns == 0) s.kind = STEP_RAN;
    if (s.kind != STEP_RAN && s.kind != STEP_WORK) core_leave(e, p);
    if (s.kind == STEP_WORK) core_work(e, p, s.ns);
    if (s.kind == STEP_SLEEP) engine_plan(e, EVENT_RESUME, p, s.ns, false);
    EngineEnd end = step_over(e, p);
    if (end != ENGINE_IDLE || s.kind != STEP_RAN || gives_way(e, p, s.in_line, own)) return end;
  }
}

static EngineEnd handle(Engine *e, EventPayload ev) {
  switch ((EventKind)ev.kind) {
  case EVENT_RESUME: return go_on(e, ev.subject);
  case EVENT_WORKED:
    if (core_worked(e, ev.subject)) return go_on(e, ev.subject);
    return e->listener.cut && e->listener.cut(e->listening) ? ENGINE_STOPPED : ENGINE_IDLE;
  case EVENT_DELIVER: channel_deliver(e->w, ev.subject); return ENGINE_IDLE;
  case EVENT_TIMER: break;
  }
  engine_task(e, ev.subject)->timer = (EventHandle)0;
  bool waited = world_waits_on(e->w, ev.subject) != 0;
  timer_fire(e->w, ev.subject);
  return waited ? go_on(e, ev.subject) : ENGINE_IDLE;
}

/* Planned as following, and it is an input like others; or it was to stand in line once what it set going is over. */
static bool stands_back(Engine *e, const Event *ev) {
  if (e->config.ties != TIES_EVENT_FIRST || ev->rank > RANK_GOES_ON) return false;
  ProcId p = ev->payload.subject;
  EventKind kind = (EventKind)ev->payload.kind;
  g_assert(kind == EVENT_RESUME || (kind == EVENT_TIMER && ev->rank == RANK_FOLLOWS));
  bool back = ev->rank == RANK_FOLLOWS ? !follows(e, p) : engine_task(e, p)->in_line;
  if (!back) return false;
  EventHandle h = plan_at_once(e, kind, p, RANK_INPUT);
  if (kind == EVENT_TIMER) engine_task(e, p)->timer = h;
  engine_task(e, p)->in_line = false;
  return true;
}

EngineEnd engine_run(Engine *e, int64_t until_ns) {
  Event ev;
  while (event_queue_peek(e->events, &ev)) {
    if (until_ns >= 0 && ev.t > until_ns) {
      e->now = until_ns;
      return ENGINE_TIME;
    }
    if (ev.t == INT64_MAX) return ENGINE_CLOCK; /* engine_plan() could go no further */
    event_queue_pop(e->events, &ev);
    g_assert(ev.t >= e->now);
    if (ev.t > e->now) e->instant = e->n_steps;
    e->now = ev.t;
    if (stands_back(e, &ev)) continue;
    e->n_events++;
    EngineEnd end = handle(e, ev.payload);
    if (end != ENGINE_IDLE) return end;
    if (e->parked->len) unpark(e);
  }
  return ENGINE_IDLE;
}

int64_t engine_now(const Engine *e) {
  return e->now;
}
int64_t engine_next(const Engine *e) {
  Event ev;
  return event_queue_peek(e->events, &ev) ? ev.t : INT64_MAX;
}
uint64_t engine_events(const Engine *e) {
  return e->n_events;
}
uint64_t engine_steps(const Engine *e) {
  return e->n_steps;
}
uint64_t engine_ties(const Engine *e) {
  return event_queue_ties(e->events);
}
uint64_t engine_drawn(const Engine *e) {
  return e->n_drawn;
}
uint64_t engine_chances(const Engine *e) {
  return e->n_drawn + (e->config.ties == TIES_SEEDED ? engine_ties(e) : 0);
}
bool engine_seeded(const Engine *e) {
  return engine_chances(e) > 0;
}

void engine_place(const Engine *e, GString *out) {
  uint64_t first = e->n_steps > RECENT ? e->n_steps - RECENT : 0;
  for (uint64_t i = first; i < e->n_steps; i++) {
    guint at = (guint)(i % RECENT);
    bool said = false;
    for (uint64_t k = first; k < i && !said; k++)
      said = e->recent[k % RECENT].who == e->recent[at].who &&
             g_strcmp0(e->recent[k % RECENT].doing, e->recent[at].doing) == 0;
    if (said) continue;
    g_string_append_printf(out, "%s%s[%u] %s", i > first ? ", " : "", e->recent[at].name, e->recent[at].who,
                           e->recent[at].doing);
  }
}
