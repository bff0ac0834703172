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

/* True: the script waits; false: the query is sent, or the answer is that it cannot be. */
static bool query_goes(Live *l, guint client, const Op *op) {
  if (fence_waits(l, client, op)) return true;
  Player *p = PLAYER(l, client);
  if (p->stage == P_RECONNECT) return false;
  p->stage = P_OP;
  if (!session_here(l, p, (guint)op->session)) return answered(p, false);
  if (p->sessions[op->session].query != NONE) return true; /* an earlier one is still under way */
  const QueryDef *q = &p->def->script->queries[op->index];
  guint64 bit = UINT64_C(1) << op->index;
  p->sent |= bit;
  p->answered &= ~bit;
  guint turn = ++p->turn;
  p->stage = P_ANSWER;
  session_query(l, client, (guint)op->session, op->index);
  if (q->async) return went(PLAYER(l, client));
  if (q->deadline_ns != NO_LIMIT && (!l->pending || live_fires(l, "deadline")))
    live_at(l, l->now + q->deadline_ns, DO_DEADLINE, client, turn);
  return true;
}

/* Its patience is over before the answer has come. */
static bool query_late(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  const QueryDef *q = &p->def->script->queries[op->index];
  p->timed_out = false;
  p->stage = P_LATE;
  l->measure.deadlines++;
  if (q->on_deadline & ON_DEADLINE_CANCEL) cancel_now(l, client, (guint)op->session, op->index);
  if (q->on_deadline & ON_DEADLINE_DISCONNECT) session_leave(l, client, (guint)op->session, false);
  return q->on_deadline & ON_DEADLINE_WAIT ? true : went(PLAYER(l, client));
}

static bool query_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  if (p->stage == P_OP || p->stage == P_FENCED) return query_goes(l, client, op);
  if (p->answered >> op->index & 1) return answered(p, !p->sessions[op->session].failed);
  if (!session_here(l, p, (guint)op->session)) return answered(p, false);
  return p->timed_out && p->stage == P_ANSWER ? query_late(l, client, op) : true;
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

static bool end_of_script(Live *l, guint client, const Op *op) {
  (void)op;
  for (guint k = 0; k < SESSIONS_MAX; k++) session_leave(l, client, k, true);
  Player *p = PLAYER(l, client);
  p->stage = P_OVER;
  l->players_done++;
  if (p->def->n_arrive) l->arrivals[p->def_index].there--;
  return true;
}

static bool begin_op(Live *l, guint client, const Op *op) {
  Player *p = PLAYER(l, client);
  if (session_here(l, p, (guint)op->session)) p->sessions[op->session].begun = true;
  return went(p);
}

static bool leave_op(Live *l, guint client, const Op *op) {
  session_leave(l, client, (guint)op->session, op->code == OP_DISCONNECT);
  return went(PLAYER(l, client));
}

typedef bool (*OpOfScript)(Live *l, guint client, const Op *op);
static const OpOfScript op_table[] = {
    [OP_CONNECT] = connect_op,  [OP_BEGIN] = begin_op,   [OP_QUERY] = query_op, [OP_COMMIT] = end_op,
    [OP_ROLLBACK] = end_op,     [OP_CANCEL] = cancel_op, [OP_AWAIT] = await_op, [OP_WAIT] = wait_op,
    [OP_DISCONNECT] = leave_op, [OP_VANISH] = leave_op,  [OP_LOOP] = loop_op,   [OP_END_LOOP] = loop_op,
    [OP_END] = end_of_script};

static bool step(Live *l, guint client) {
  Player *p = PLAYER(l, client);
  if (p->pausing) {
    if (p->sessions[0].connecting) return true;
    p->pausing = false;
  }
  if (p->stage == P_RECONNECT) return reconnect(l, client);
  const Op *op = op_of(p);
  g_assert((guint)op->code < G_N_ELEMENTS(op_table) && op_table[op->code]);
  return op_table[op->code](l, client, op);
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
