/* start.c - the pooler's program: how it is started, when it is ready, which of its processes takes a connection, and
 * what it has left open at the end. */
#include "sim/live/live.h"
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, READY_ROUNDS = 1000, LOG_LINES = 5, LEAK_LEAST = 4 };

static char *adapter_name(const Live *l) {
  return l->o->adapter ? g_strdup(l->o->adapter) : adapter_for(l->o->program);
}

void pooler_name(Live *l) {
  g_autofree char *adapter = adapter_name(l), *base = g_path_get_basename(adapter);
  char *end = g_str_has_suffix(base, ".yaml") ? base + strlen(base) - strlen(".yaml") : NULL;
  if (end) *end = '\0';
  l->result->subject = g_strconcat("live:", base, NULL);
}

/* Where several could take a connection (processes that share a socket), it is the one that the scenario's order of
 * idle ones says: the one that has waited least, or longest. All others look before, in order of their numbers. */
static guint whose_turn(void *data, const GateTurn *turns, guint n) {
  const Live *l = data;
  bool fifo = l->config->pools[0].idle_order == IDLE_FIFO;
  guint best = n;
  for (guint i = 0; i < n; i++) {
    if (!turns[i].listens) return i;
    bool before = best == n ||
                  (fifo ? turns[i].went_on_at < turns[best].went_on_at : turns[i].went_on_at > turns[best].went_on_at);
    if (before) best = i;
  }
  return best;
}

/* A program that cannot be gated is driven all the same, and the result says what it is worth. */
static GateClockKind clock_for(Live *l) {
  const char *why = gate_why_not(l->o->program);
  if (!why && l->o->clock != GATE_CLOCK_REAL) return l->o->clock;
  g_autofree char *base = g_path_get_basename(l->o->program);
  l->result->caveat =
      g_strdup_printf("best effort: %s %s, so time passes and its order is its own; another run may differ", base,
                      why ? why : "is not gated, as --clock real asks");
  return GATE_CLOCK_REAL;
}

static bool write_files(Live *l, GError **error) {
  for (guint i = 0; i < l->adapter->files->len; i++) {
    const AdapterFile *f = &g_array_index(l->adapter->files, AdapterFile, i);
    if (!live_gate_write(l->gate, f->name, f->text, error)) return false;
  }
  return true;
}

bool pooler_start(Live *l, GError **error) {
  g_autofree char *name = adapter_name(l), *user = adapter_user(l->o->dirs, name, error);
  if (!user) return false;
  GateConfig config = {.user = user,
                       .library = l->o->library,
                       .seed = scenario_seed(l->scenario),
                       .patience_ms = PATIENCE_MS,
                       .clock = clock_for(l)};
  l->gate = live_gate_new(&config, error);
  if (!l->gate) return false;
  live_gate_choose(l->gate, whose_turn, l);
  g_autofree char *program = g_canonicalize_filename(l->o->program, NULL);
  AdapterPlace place = {.program = program, .dir = live_gate_dir(l->gate)};
  l->adapter = adapter_load(l->o->dirs, name, l->config, &place, error);
  return l->adapter && hosts_open(l, error) && write_files(l, error) &&
         live_gate_start(l->gate, (const char *const *)l->adapter->argv, (const char *const *)l->adapter->env, error);
}

/* Ready: it waits, and its socket is there. */
bool pooler_await_ready(Live *l, GError **error) {
  GateState s = live_gate_settle(l->gate);
  for (guint i = 0; s == GATE_QUIET && i < READY_ROUNDS; i++) {
    l->descriptors = live_gate_descriptors(l->gate);
    if (g_file_test(l->adapter->socket, G_FILE_TEST_EXISTS)) return true;
    if (live_gate_deadline(l->gate) == INT64_MAX) break;
    live_move_to(l, live_gate_deadline(l->gate));
    live_gate_go(l->gate);
    s = live_gate_settle(l->gate);
  }
  g_autofree char *log = live_gate_log_tail(l->gate, LOG_LINES);
  g_autofree char *what = s == GATE_QUIET ? g_strdup("does not open its socket") : live_gate_words(l->gate, s);
  g_set_error(error, GATE_ERROR, 0, "%s was never ready: it %s; its last words:\n%s", l->o->program, what,
              *log ? log : "(none)");
  return false;
}

/* What its first process has open beyond what it had when it was ready, and beyond the connections that are there. Some
 * are opened once for all (a log, a resolver): so few, or less than one for two connections, is no leak. */
void pooler_look_for_leaks(Live *l) {
  if (l->over || l->result->interrupted) return;
  guint open = 0, now = live_gate_descriptors(l->gate);
  for (guint i = 0; i < l->conns->len; i++) open += CONN(l, i)->fd >= 0;
  guint more = now > l->descriptors + open ? now - l->descriptors - open : 0;
  if (more < LEAK_LEAST || more * 2 < l->conns->len - open) return;
  g_autofree char *what = g_strdup_printf("leaks descriptors: %u of %u closed connections", more, l->conns->len - open);
  live_said(l, "pooler", NULL, "leaks", what);
  verdict_wrong(l, what);
}
