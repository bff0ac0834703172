/* verdict.c - what a live run shows, in the words and by the checks of the model. A check is judged when a mark is set,
 * by its own function, on a model that has not run: it sees the marks alone. So only those that see the wire can be
 * judged here; all others are unknown. */
#include "sim/expect.h"
#include "sim/live/live.h"
#include <string.h>

/* Judged at the end, and not by a mark: what has not come to its end. */
static bool by_marks(const Check *c) {
  return c->sees == SEES_WIRE && strcmp(c->name, "no-deadlock") != 0 && strcmp(c->name, "shutdown-ends") != 0;
}

/* Seen on the wire; pool-accounting by what a console tells of itself. */
static const char *unseen(const Live *l, const Check *c) {
  const Adapter *a = pooler_adapter(l);
  bool tells = a->console && a->say[ADAPTER_POOLS];
  if (c->sees == SEES_WIRE) return NULL;
  if (strcmp(c->name, "pool-accounting") == 0 && tells) return NULL;
  if (c->sees == SEES_POOLS) return "the pooler's console does not show it";
  return "nobody outside the pooler sees its inside";
}

void verdict_start(Live *l) {
  for (guint i = 0; i < l->result->checks->len; i++) {
    CheckResult *c = &g_array_index(l->result->checks, CheckResult, i);
    const char *why = unseen(l, c->check);
    l->watches_pools |= strcmp(c->check->name, "pool-accounting") == 0 && !why;
    if (!why) continue;
    c->verdict = CHECK_UNKNOWN;
    c->why = g_strdup(why);
  }
}

static void violate(CheckResult *c, int64_t step, const char *why) {
  c->verdict = CHECK_VIOLATED;
  c->step = step;
  c->why = g_strdup(why);
}

void verdict_mark(Live *l, uint64_t mark, const char *words) {
  if (l->resetting) return;
  world_marks_clear(l->model->world);
  pooler_observed(l->model->pooler, mark, words);
  for (guint i = 0; i < l->result->checks->len; i++) {
    CheckResult *c = &g_array_index(l->result->checks, CheckResult, i);
    g_autoptr(GString) why = g_string_new(NULL);
    if (c->verdict != CHECK_NOT_VIOLATED || !by_marks(c->check)) continue;
    if (c->check->judge(l->model, why) == JUDGED_BROKEN) violate(c, l->steps - 1, why->str);
  }
}

void verdict_check(Live *l, const char *check, const char *why) {
  if (l->resetting) return;
  for (guint i = 0; i < l->result->checks->len; i++) {
    CheckResult *c = &g_array_index(l->result->checks, CheckResult, i);
    if (strcmp(c->check->name, check) == 0 && c->verdict == CHECK_NOT_VIOLATED) violate(c, MAX(l->steps - 1, 0), why);
  }
}

void verdict_cancel(Live *l, guint sent, Outcome o, int hit_conn) {
  Sent *x = SENT(l, sent);
  if (x->judged) return;
  x->judged = true;
  l->counts[o]++;
  const Conn *hit = hit_conn >= 0 && o != OUT_NOOP ? CONN(l, (guint)hit_conn) : NULL;
  bool of_client = hit && hit->client >= 0;
  const char *meant = player_tag(l, (int)x->client, x->query);
  g_autofree char *words =
      outcome_words(o, meant, PLAYER(l, x->client)->name, of_client ? player_tag(l, hit->client, hit->query) : NULL,
                    of_client ? PLAYER(l, (guint)hit->client)->name : NULL);
  g_autofree char *at = hit_conn >= 0 ? host_name(l, (guint)hit_conn) : g_strdup("pooler");
  live_said(l, at, NULL, "cancel", words);
  if (outcome_mark(o)) verdict_mark(l, outcome_mark(o), words);
}

/* A packet at a server names no client. It is put down to the cancel that was aimed at this connection, the oldest of
 * several; to the oldest open one where none was. */
int verdict_attribute(Live *l, guint cancel_conn, int target) {
  (void)cancel_conn;
  int oldest = -1;
  for (guint i = 0; i < l->sent->len; i++) {
    const Sent *x = SENT(l, i);
    bool taken = x->judged || x->conn < 0;
    for (guint k = 0; k < l->conns->len && !taken; k++) {
      const Conn *c = CONN(l, k);
      taken = k != cancel_conn && c->kind == CONN_SERVER && c->cancel == (int)i;
    }
    if (taken) continue;
    if (target >= 0 && x->aimed == target) return (int)i;
    if (oldest < 0) oldest = (int)i;
  }
  return oldest;
}

/* With its pids and addresses, so it stands beside the cause, which is the same in every run. */
static void keep_last_words(Live *l) {
  g_autofree char *log = live_gate_log_tail(l->gate, 5);
  g_assert(!l->result->last_words);
  l->result->last_words = g_strdup(*log ? log : "(none)");
}

void verdict_wrong(Live *l, const char *what) {
  bool told = l->over || l->resetting;
  l->wrong = l->over = true;
  if (told) return;
  l->result->stopped = g_strdup_printf("the pooler %s", what);
  keep_last_words(l);
  verdict_mark(l, POOLER_CRASH, l->result->stopped);
}

/* Told to end, it may; else it is a crash, or it hangs. */
void verdict_pooler(Live *l, GateState s) {
  if (l->over || l->gone || (s == GATE_STUCK && live_interrupted(l))) return;
  guint process = live_gate_ended(l->gate);
  g_autofree char *what = live_gate_words(l->gate, s), *who = pooler_label(l, process);
  live_said(l, who, NULL, s == GATE_ENDED ? "ended" : "stuck", what);
  if (s == GATE_ENDED && MEMBER(l, process)->ending)
    pooler_is_gone(l, process);
  else
    verdict_wrong(l, what);
}

static const char *who_waits(const Live *l) {
  for (guint i = 0; i < l->players->len; i++)
    if (PLAYER(l, i)->stage != P_OVER) return PLAYER(l, i)->name;
  return "nobody";
}

void verdict_stuck(Live *l) {
  l->over = true;
  l->result->stopped = g_strdup_printf("nothing goes on; client %s waits", who_waits(l));
  keep_last_words(l);
  verdict_check(l, "no-deadlock", l->result->stopped);
}

void verdict_livelock(Live *l, guint client) {
  l->over = true;
  l->result->stopped = g_strdup_printf("livelock: client %s goes round, and no time passes", PLAYER(l, client)->name);
}

static void judge_open_cancels(Live *l) {
  for (guint i = 0; i < l->sent->len; i++) {
    const Sent *x = SENT(l, i);
    if (x->judged) continue;
    g_autofree char *words = g_strdup_printf("the cancel of %s by client %s is still under way, and nothing goes on",
                                             player_tag(l, (int)x->client, x->query), PLAYER(l, x->client)->name);
    verdict_mark(l, POOLER_CANCEL_LATE, words);
  }
}

bool verdict_conclude(Live *l, GError **error) {
  RunResult *r = l->result;
  if (!r->interrupted && !r->limited) judge_open_cancels(l);
  if (pooler_lingers(l)) verdict_check(l, "shutdown-ends", "the pooler was told to end, and has not");
  measure_end(l);
  r->steps = (uint64_t)l->steps;
  r->judged = r->steps;
  r->events = live_gate_steps(l->gate);
  r->ties = event_queue_ties(l->queue);
  r->virtual_ns = l->now;
  r->start_ms = live_gate_start_ms(l->gate);
  return expect_judge(l->scenario, l->pending ? EXPECT_LIVE_ORDERS : "live", r, error);
}
