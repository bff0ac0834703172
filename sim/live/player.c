/* player.c - the clients' scripts (model/pooler/script.h), op by op, as model/pooler/client.c walks them: a script
 * looks whether it can go on, and if not it is looked at again when something of it has changed. */
#include "sim/live/live.h"
#include <string.h>

char *player_name(const Player *p) {
  return g_strconcat("client ", p->name, NULL);
}

const char *player_tag(const Live *l, int client, int query) {
  if (query < 0) return "the end of a transaction";
  return PLAYER(l, (guint)client)->def->script->queries[query].tag;
}

/* ---- coming ---- */

/* Who comes where no number is given takes the first free place. */
static guint free_place(const Live *l, guint def) {
  g_autofree guint8 *taken = g_new0(guint8, (gsize)l->config->work.clients[def].at_once + 2);
  for (guint i = l->arrivals[def].oldest; i < l->players->len; i++) {
    const Player *p = PLAYER(l, i);
    if (p->def_index == def && p->stage != P_OVER) taken[p->place] = 1;
  }
  guint place = 1;
  while (taken[place]) place++;
  return place;
}

static guint player_add(Live *l, guint def, guint copy) {
  const ClientDef *d = &l->config->work.clients[def];
  Player p = {.def = d, .def_index = def, .began = l->now};
  for (guint k = 0; k < SESSIONS_MAX; k++)
    p.sessions[k] = (PlayerSession){.conn = -1, .query = NONE, .server_conn = -1};
  if (d->count == 0) copy = free_place(l, def);
  p.place = copy;
  p.name = d->count == 1 ? g_strdup(d->name) : g_strdup_printf("%s.%u", d->name, copy);
  g_array_append_val(l->players, p);
  return l->players->len - 1;
}

void players_new(Live *l) {
  for (guint d = 0; d < (guint)l->config->work.n_clients; d++) {
    const ClientDef *def = &l->config->work.clients[d];
    if (def->n_arrive) {
      live_at(l, live_draw(l, &def->start), DO_ARRIVE, d, 0);
      continue;
    }
    for (guint k = 0; k < (guint)def->count; k++) {
      guint client = player_add(l, d, k + 1);
      PLAYER(l, client)->began = 0;
      live_at(l, live_draw(l, &def->start), DO_SCRIPT, client, 0);
    }
  }
}

static int64_t gap_ns(Live *l, const ArrivalPhase *ph) {
  if (ph->kind == CLIENTS_TOGETHER) return 0;
  Delay d = {ph->kind == CLIENTS_POISSON ? DELAY_EXP : DELAY_FIXED, ph->gap_ns, ph->gap_ns};
  return live_draw(l, &d);
}

/* After a gap; one that would come after its phase's end comes in the next phase, if at all (model/pooler/arrivals.c).
 */
static void plan_arrival(Live *l, guint def) {
  const ClientDef *d = &l->config->work.clients[def];
  Arrivals *a = &l->arrivals[def];
  int64_t waited = 0;
  while (a->phase < (guint)d->n_arrive && !(d->count > 0 && a->came >= (guint)d->count)) {
    const ArrivalPhase *ph = &d->arrive[a->phase];
    int64_t ns = a->came == 0 && ph->kind == CLIENTS_EVERY ? 0 : gap_ns(l, ph);
    if (ph->for_ns < 0 || ns <= ph->for_ns - a->spent_ns) {
      a->spent_ns += ns;
      a->waits = true;
      live_at(l, l->now + waited + ns, DO_ARRIVE, def, 0);
      return;
    }
    waited += ph->for_ns - a->spent_ns;
    a->spent_ns = 0;
    a->phase++;
  }
}

static bool room_for(const Live *l, guint def) {
  const ClientDef *d = &l->config->work.clients[def];
  return d->count > 0 || l->arrivals[def].there < (guint)d->at_once;
}

/* The players before it have left: nobody need look at them again. */
static void oldest_is(Live *l, guint def) {
  Arrivals *a = &l->arrivals[def];
  while (a->oldest < l->players->len &&
         (PLAYER(l, a->oldest)->def_index != def || PLAYER(l, a->oldest)->stage == P_OVER))
    a->oldest++;
}

void player_arrives(Live *l, guint def) {
  Arrivals *a = &l->arrivals[def];
  bool one = a->waits;
  a->waits = false;
  if (one && room_for(l, def))
    a->there++, oldest_is(l, def), live_at(l, l->now, DO_SCRIPT, player_add(l, def, ++a->came), 0);
  else if (one)
    a->came++, l->measure.refused++;
  plan_arrival(l, def);
}

void player_wake(Live *l, guint client, int64_t after_ns) {
  live_at(l, l->now + after_ns, DO_SCRIPT, client, 0);
}

/* ---- waiting ---- */

/* True: it waits, and is looked at again. */
static bool waits(Player *p, PlayerStage stage) {
  p->stage = stage;
  return true;
}

static bool went(Player *p) {
  p->stage = P_OP;
  p->pc++;
  return false;
}

static void stop(Player *p) {
  p->pc = (guint)p->def->script->n_ops - 1;
}

/* What it waited for has come, well or not. */
static bool answered(Player *p, bool well) {
  AfterError after = p->def->after_error;
  went(p);
  if (well || after == AFTER_ERROR_GO_ON) return false;
  if (after == AFTER_ERROR_STOP) stop(p);
  if (after == AFTER_ERROR_RECONNECT) p->stage = P_RECONNECT;
  return false;
}

static const Op *op_of(const Player *p) {
  return &p->def->script->ops[p->pc];
}

/* ---- the fences of a driver, before its own next query ---- */

static bool fence_waits(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const ClientFence *f = &p->def->fence;
  if (!p->fence || f->kind == FENCE_NONE) return false;
  bool limit = p->timed_out;
  if ((f->kind == FENCE_WAIT && !limit) || (p->open_cancels && !limit && f->kind != FENCE_WAIT)) {
    if (p->stage != P_FENCED && f->limit_ns >= 0) live_at(l, l->now + f->limit_ns, DO_WAITED, client, ++p->turn);
    return waits(p, P_FENCED);
  }
  bool seen = p->saw_57014;
  p->fence = p->timed_out = p->saw_57014 = false;
  p->stage = P_OP;
  if (f->kind != FENCE_RETIRE || seen) return false;
  session_leave(l, client, (guint)op->session, true);
  PLAYER(l, client)->stage = P_RECONNECT;
  return false;
}

/* ---- ops: each true when it waits ---- */

static bool connect_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const PlayerSession *e = &p->sessions[op->session];
  if (p->stage == P_OP) {
    p->stage = P_CONNECT;
    session_connect(l, client, (guint)op->session);
    return true;
  }
  if (e->connecting) return true;
  if (e->conn < 0) return stop(p), p->stage = P_OP, false; /* refused: nothing of the script can go on */
  return went(p);
}

static bool reconnect(Live *l, guint client) {
  session_leave(l, client, 0, true);
  Player *p = PLAYER(l, client);
  p->stage = P_OP;
  p->sessions[0].connecting = true;
  p->pausing = true; /* what it waits for is no op */
  session_connect(l, client, 0);
  return true;
}

static bool query_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const QueryDef *q = &p->def->script->queries[op->index];
  const PlayerSession *e = &p->sessions[op->session];
  guint64 bit = UINT64_C(1) << op->index;
  if (p->stage == P_OP || p->stage == P_FENCED) {
    if (fence_waits(l, client, op)) return true;
    p = PLAYER(l, client);
    if (p->stage == P_RECONNECT) return false;
    p->stage = P_OP;
    if (!session_here(l, p, (guint)op->session)) return answered(p, false);
    if (e->query != NONE) return true; /* an earlier one is still under way */
    p->sent |= bit;
    p->answered &= ~bit;
    p->turn++;
    guint turn = p->turn;
    p->stage = P_ANSWER;
    session_query(l, client, (guint)op->session, op->index);
    p = PLAYER(l, client);
    if (q->async) return went(p);
    if (q->deadline_ns != NO_LIMIT && (!l->pending || live_fires(l, "deadline")))
      live_at(l, l->now + q->deadline_ns, DO_DEADLINE, client, turn);
    return true;
  }
  if (p->answered & bit) return answered(p, !e->failed);
  if (!session_here(l, p, (guint)op->session)) return answered(p, false);
  if (p->timed_out && p->stage == P_ANSWER) {
    p->timed_out = false;
    p->stage = P_LATE;
    l->measure.deadlines++;
    if (q->on_deadline & ON_DEADLINE_CANCEL) cancel_now(l, client, (guint)op->session, op->index);
    if (q->on_deadline & ON_DEADLINE_DISCONNECT) session_leave(l, client, (guint)op->session, false);
    if (!(q->on_deadline & ON_DEADLINE_WAIT)) return went(PLAYER(l, client));
  }
  return true;
}

static bool end_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const PlayerSession *e = &p->sessions[op->session];
  if (p->stage == P_OP) {
    if (!session_here(l, p, (guint)op->session)) return went(p);
    if (e->query != NONE) return true;
    p->stage = P_ANSWER;
    session_end_transaction(l, client, (guint)op->session, op->code == OP_COMMIT ? "COMMIT" : "ROLLBACK");
    return true;
  }
  if (e->query == QUERY_OTHER && session_here(l, p, (guint)op->session)) return true;
  return went(p);
}

static bool await_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  guint64 bit = UINT64_C(1) << op->index;
  if (!(p->sent & bit) || p->answered & bit || !session_here(l, p, 0)) return went(p);
  return true;
}

static bool wait_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  if (p->stage == P_PAUSE) return p->timed_out ? p->timed_out = false, went(p) : true;
  p->stage = P_PAUSE;
  p->turn++;
  int64_t ns = live_draw(l, &op->delay);
  live_at(l, l->now + ns, DO_WAITED, client, PLAYER(l, client)->turn);
  return true;
}

static bool cancel_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const CancelDef *d = &p->def->script->cancels[op->index];
  p->pc++;
  for (int i = 0; d->when == CANCEL_HERE && i < d->times; i++) cancel_now(l, client, (guint)op->session, d->query);
  return false;
}

static bool loop_ends(const Live *l, const Player *p, const Op *head) {
  if (head->moment >= 0) return l->now >= l->config->work.moments[head->moment];
  return p->loops[p->depth - 1] >= (guint)head->times;
}

static bool loop_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const Op *head = op->code == OP_LOOP ? op : &p->def->script->ops[op->target];
  if (op->code == OP_LOOP) {
    g_assert(p->depth < LOOPS_MAX);
    p->loops[p->depth++] = 0;
  } else if (head->moment < 0) {
    p->loops[p->depth - 1]++;
  }
  if (!loop_ends(l, p, head)) return p->pc = (guint)(head - p->def->script->ops) + 1, false;
  p->depth--;
  p->pc = (guint)head->target + 1;
  return false;
}

static bool end_of_script(Live *l, guint client) {
  for (guint k = 0; k < SESSIONS_MAX; k++) session_leave(l, client, k, true);
  Player *p = PLAYER(l, client);
  p->stage = P_OVER;
  l->players_done++;
  if (p->def->n_arrive) l->arrivals[p->def_index].there--;
  return true;
}

static bool step(Live *l, guint client) {
  Player *p = PLAYER(l, client);
  if (p->pausing) {
    if (p->sessions[0].connecting) return true;
    p->pausing = false;
  }
  if (p->stage == P_RECONNECT) return reconnect(l, client);
  const Op *op = op_of(p);
  switch (op->code) {
  case OP_CONNECT: return connect_op(l, client, op);
  case OP_BEGIN:
    if (session_here(l, p, (guint)op->session)) p->sessions[op->session].begun = true;
    return went(p);
  case OP_QUERY: return query_op(l, client, op);
  case OP_COMMIT:
  case OP_ROLLBACK: return end_op(l, client, op);
  case OP_CANCEL: return cancel_op(l, client, op);
  case OP_AWAIT: return await_op(l, client, op);
  case OP_WAIT: return wait_op(l, client, op);
  case OP_DISCONNECT:
  case OP_VANISH:
    session_leave(l, client, (guint)op->session, op->code == OP_DISCONNECT);
    return went(PLAYER(l, client));
  case OP_LOOP:
  case OP_END_LOOP: return loop_op(l, client, op);
  default: return end_of_script(l, client);
  }
}

/* Back at the same entry with nothing said and nothing planned in between (a loop whose connection is gone): what comes
 * next depends on nothing else, so it never ends. */
typedef struct {
  guint pc, loops[LOOPS_MAX];
  int64_t said;
  guint64 planned;
} Place;

static Place place_of(const Live *l, guint client) {
  const Player *p = PLAYER(l, client);
  Place at = {.pc = p->pc, .said = l->steps, .planned = l->planned};
  memcpy(at.loops, p->loops, sizeof at.loops);
  return at;
}

static bool same_place(const Place *a, const Place *b) {
  return a->pc == b->pc && a->said == b->said && a->planned == b->planned &&
         memcmp(a->loops, b->loops, sizeof a->loops) == 0;
}

void player_go_on(Live *l, guint client) {
  Place head = {.pc = G_MAXUINT};
  while (PLAYER(l, client)->stage != P_OVER && live_takes_turn(l)) {
    guint before = PLAYER(l, client)->pc;
    if (step(l, client)) return;
    Place at = place_of(l, client);
    if (at.pc > before) continue; /* a round ends where it goes back */
    if (same_place(&at, &head)) {
      verdict_livelock(l, client);
      return;
    }
    head = at;
  }
}

void player_waited(Live *l, Doing what, guint client, guint64 turn) {
  Player *p = PLAYER(l, client);
  bool waits_still = what == DO_DEADLINE ? p->stage == P_ANSWER : p->stage == P_PAUSE || p->stage == P_FENCED;
  if (p->turn != turn || !waits_still) return;
  p->timed_out = true;
  player_go_on(l, client);
}
