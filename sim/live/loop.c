/* loop.c - lockstep: an event, what the pooler does with it, the next event. */
#include "sim/live/live.h"
#include <string.h>
#include <xxhash.h>

static const int64_t quiet_beyond = 60 * (int64_t)1000000000; /* past the longest limit of time that a pool has */

/* ---- the pooler's turn ---- */

/* A pooler that does something again and again without any time passing goes round for ever. */
static bool goes_round(Live *l, guint rounds) {
  enum { ROUNDS = 20000 };
  if (rounds < ROUNDS) return false;
  g_autofree char *what = g_strdup_printf("goes round: %u inputs, and no time passes", rounds);
  verdict_wrong(l, what);
  return true;
}

void live_look(Live *l) {
  guint rounds = 0;
  do {
    l->dirty = false;
    if (l->over || goes_round(l, rounds++) || live_interrupted(l)) return;
    GateState s = GATE_QUIET;
    if (!l->gone) {
      live_gate_go(l->gate);
      s = live_gate_settle(l->gate);
    }
    sockets_read(l);
    if (s != GATE_QUIET) verdict_pooler(l, s);
  } while (l->dirty);
}

/* Its figures cost as much as a step each: in a long run they are asked for now and then. */
static bool looks_now(Live *l) {
  enum { EACH_UP_TO = 2000, THEN_EVERY = 64 };
  l->inputs++;
  return l->inputs < EACH_UP_TO || l->inputs % THEN_EVERY == 0;
}

void live_input(Live *l) {
  live_look(l);
  if (l->unsettled) cancels_settle(l);
  if (l->watches_pools && !l->over && !l->gone && looks_now(l)) pools_look(l);
}

/* ---- the trace ---- */

/* What tells two histories apart, whether they are written or not. */
static void hash_step(Live *l, const TraceStep *step) {
  XXH3_128bits_update(l->hash, &step->t_ns, sizeof step->t_ns);
  for (guint i = 0; i < step->n_args; i++)
    XXH3_128bits_update(l->hash, step->args[i].text, strlen(step->args[i].text) + 1);
}

static void keep_step(Live *l, const TraceStep *step) {
  if (l->resetting) return;
  hash_step(l, step);
  if (l->trace && !l->trace_error) trace_writer_step(l->trace, step, &l->trace_error);
  const LiveChooser *c = l->o->chooser;
  if (c && c->saw && !c->saw(c->data, step)) l->over = true;
}

/* What a pooler and its servers say to each other may go on for ever (logins that are refused, checks) while a client
 * waits; what becomes of a client or of a cancel, or is done to them, has no other side or is a client's. */
static bool is_progress(const char *from, const char *to) {
  return !to || g_str_has_prefix(from, "client ") || g_str_has_prefix(to, "client ") || g_str_equal(from, "console");
}

void live_said(Live *l, const char *from, const char *to, const char *message, const char *about) {
  g_autofree char *both = about ? g_strdup_printf("%s (%s)", message, about) : NULL;
  const char *text = both ? both : message;
  NoteField fields[] = {{"from", 0, from}, {"to", 0, to}, {"message", 0, text}}, alone = {"what", 0, text};
  TraceStep step = {.i = l->steps,
                    .t_ns = l->now,
                    .who = from,
                    .what = message,
                    .args = to ? fields : &alone,
                    .n_args = to ? G_N_ELEMENTS(fields) : 1,
                    .choices = (const TraceChoice *)(const void *)l->choices->data,
                    .n_choices = l->choices->len};
  keep_step(l, &step);
  g_array_set_size(l->choices, 0);
  l->steps++;
  if (is_progress(from, to)) l->last = l->now;
}

/* ---- events ---- */

static bool is_environment(Doing what) {
  return what == DO_EVENT || what == DO_AFTER || what == DO_UNDO || what == DO_LIMIT;
}

static bool is_of_run(Doing what) {
  return what == DO_START || what == DO_END || what == DO_REPLY;
}

void live_at(Live *l, int64_t ns, Doing what, guint subject, guint64 data) {
  Event e = {.t = MAX(ns, l->now), .payload = {.kind = what, .subject = subject, .data = data}};
  l->environment += is_environment(what);
  if (is_of_run(what)) {
    CONN(l, subject)->planned++;
    l->vain += CONN(l, subject)->fd < 0;
  }
  l->planned++;
  if (l->pending)
    g_array_append_val(l->pending, e);
  else
    event_queue_add(l->queue, e.t, 0, e.payload);
}

void live_move_to(Live *l, int64_t ns) {
  if (ns <= l->now) return;
  l->now = ns;
  l->turns_before = l->turns;
  live_gate_set_time(l->gate, l->now);
}

static void do_it(Live *l, const EventPayload *e) {
  l->environment -= is_environment((Doing)e->kind);
  if (is_of_run((Doing)e->kind)) {
    Conn *c = CONN(l, e->subject);
    c->planned--;
    l->vain -= c->fd < 0;
  }
  switch ((Doing)e->kind) {
  case DO_SCRIPT: player_go_on(l, e->subject); break;
  case DO_WAITED:
  case DO_DEADLINE: player_waited(l, (Doing)e->kind, e->subject, e->data); break;
  case DO_ARRIVE: player_arrives(l, e->subject); break;
  case DO_PACKET: player_packet(l, e->subject); break;
  case DO_HEARD: player_heard(l, e->subject, (Heard)e->data); break;
  case DO_CANCEL: cancel_send(l, e->subject); break;
  case DO_CANCEL_IN: cancel_comes(l, e->subject); break;
  case DO_GIVE_UP: cancel_given_up(l, e->subject); break;
  case DO_EVENT:
  case DO_AFTER:
  case DO_UNDO: event_do(l, (Doing)e->kind, e->subject); break;
  case DO_LIMIT:
    live_move_to(l, l->now + (int64_t)e->data);
    l->dirty = true;
    break;
  default: host_do(l, (Doing)e->kind, e->subject, e->data);
  }
}

static void do_next(Live *l) {
  Event e;
  if (l->pending) {
    guint i = live_next(l);
    e = g_array_index(l->pending, Event, i);
    g_array_remove_index(l->pending, i);
  } else {
    bool there = event_queue_pop(l->queue, &e);
    g_assert(there);
    live_move_to(l, e.t);
  }
  do_it(l, &e.payload);
}

static guint planned(const Live *l) {
  return l->pending ? l->pending->len : event_queue_size(l->queue);
}

/* What only the environment would still do keeps nobody waiting. */
static bool all_done(const Live *l) {
  if (l->players_done < l->players->len || planned(l) > l->environment + l->vain) return false;
  for (guint i = 0; i < l->sent->len; i++)
    if (!SENT(l, i)->judged) return false;
  return true;
}

static int64_t longest_limit(const Live *l) {
  int64_t most = 0;
  for (int i = 0; i < l->config->n_pools; i++) {
    const PoolConfig *p = &l->config->pools[i];
    const int64_t limits[] = {p->query_wait_timeout_ns, p->server_connect_timeout_ns, p->server_login_retry_ns,
                              p->cancel_wait_timeout_ns, p->reserve_timeout_ns};
    for (guint k = 0; k < G_N_ELEMENTS(limits); k++) most = MAX(most, limits[k]);
  }
  return most + quiet_beyond;
}

/* Ours before the pooler's own timeouts where both are due; where time orders nothing, as long as there are any. */
static int64_t ours_next(const Live *l) {
  Event e;
  if (l->pending) return l->pending->len ? l->now : INT64_MAX;
  return event_queue_peek(l->queue, &e) ? e.t : INT64_MAX;
}

bool live_interrupted(Live *l) {
  if (l->over || !l->o->interrupted || !g_atomic_int_get(l->o->interrupted)) return false;
  l->over = l->result->interrupted = true;
  l->result->stopped = g_strdup("interrupted");
  return true;
}

/* A script, or poolers and clients together, may go round without end, and without that any time passes. */
bool live_takes_turn(Live *l) {
  bool once = l->max_turns_at_once && l->turns - l->turns_before >= l->max_turns_at_once;
  bool all = l->max_turns && l->turns >= l->max_turns;
  if (l->over || live_interrupted(l)) return false;
  l->turns++;
  if (!once && !all) return true;
  l->over = l->result->limited = true;
  l->result->stopped =
      g_strdup_printf("the limit of %s%" G_GUINT64_FORMAT " steps (%s)", once ? "one instant, " : "",
                      once ? l->max_turns_at_once : l->max_turns, once ? "max_steps_at_once" : "max_steps");
  return false;
}

static void step(Live *l, int64_t patience) {
  int64_t ours = ours_next(l), theirs = l->gone ? INT64_MAX : live_gate_deadline(l->gate);
  if (l->dirty) {
    live_input(l);
  } else if (MIN(ours, theirs) > l->until) {
    l->result->limited = !all_done(l);
    live_move_to(l, l->until);
    l->over = true;
  } else if (ours == INT64_MAX && l->until == INT64_MAX && (theirs == INT64_MAX || theirs - l->last > patience)) {
    verdict_stuck(l);
  } else if (ours <= theirs) {
    do_next(l);
  } else {
    live_move_to(l, theirs);
    live_input(l);
  }
}

static guint64 turns_of(const Live *l, const char *key) {
  return scenario_is(l->scenario, key, "none") ? 0 : (guint64)scenario_int(l->scenario, key);
}

void live_loop(Live *l) {
  const int64_t patience = longest_limit(l);
  l->max_turns = turns_of(l, "max_steps");
  l->max_turns_at_once = turns_of(l, "max_steps_at_once");
  bool timed_end = !l->pending && !scenario_is(l->scenario, "end", "none");
  l->until = timed_end ? scenario_ns(l->scenario, "end") : INT64_MAX;
  while (!l->over && !(!l->dirty && all_done(l) && l->until == INT64_MAX) && live_takes_turn(l)) {
    step(l, patience);
    if (l->config->work.n_events) environment_look(l);
  }
}
