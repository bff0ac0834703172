/* start.c - the pooler's program: how it is started, when it is ready, which of its processes takes a connection, and
 * what it has left open at the end. */
#include "sim/live/live.h"
#include <string.h>
#include <unistd.h>

enum { READY_ROUNDS = 1000, LOG_LINES = 5, LEAK_LEAST = 4 };

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
  l->result->real_clock = true;
  l->result->caveat =
      g_strdup_printf("best effort: %s %s, so time passes and its order is its own; another run may differ", base,
                      why ? why : "is not gated, as --clock real asks");
  return GATE_CLOCK_REAL;
}

/* ---- its files ---- */

/* Free a moment ago: whoever else takes it in between makes the pooler's start fail, and its log says so. */
static guint free_port(void) {
  int port = 0, fd = tcp_listen(&port);
  if (fd >= 0) close(fd);
  return (guint)port;
}

static Adapter *load_adapter(Live *l, GError **error) {
  g_autofree char *program = g_canonicalize_filename(l->o->program, NULL), *name = adapter_name(l);
  g_autofree guint *ports = g_new0(guint, l->listeners->len);
  for (guint i = 0; i < l->listeners->len; i++) ports[i] = (guint)g_array_index(l->listeners, Listener, i).port;
  AdapterPlace place = {
      .program = program, .dir = live_gate_dir(l->gate), .port = l->port, .server_ports = l->tcp ? ports : NULL};
  return adapter_load(l->o->dirs, name, l->config, &place, error);
}

static bool write_files(Live *l, const Adapter *a, GError **error) {
  for (guint i = 0; i < a->files->len; i++) {
    const AdapterFile *f = &g_array_index(a->files, AdapterFile, i);
    if (!live_gate_write(l->gate, f->name, f->text, error)) return false;
  }
  return true;
}

static bool same_files(const Adapter *a, const Adapter *b) {
  for (guint i = 0; i < a->files->len; i++)
    if (strcmp(g_array_index(a->files, AdapterFile, i).text, g_array_index(b->files, AdapterFile, i).text) != 0)
      return false;
  return true;
}

bool pooler_rewrite(Live *l) {
  g_autoptr(GError) error = NULL;
  Adapter *a = load_adapter(l, &error);
  bool others = a && !same_files(a, l->adapter) && write_files(l, a, &error);
  if (error) live_said(l, "pooler", NULL, "its files cannot be written", error->message);
  if (!a) return false;
  adapter_free(l->adapter);
  l->adapter = a;
  return others;
}

/* ---- its life ---- */

static bool launch(Live *l, GError **error) {
  return live_gate_start(l->gate, (const char *const *)l->adapter->argv, (const char *const *)l->adapter->env, error);
}

bool pooler_start(Live *l, GError **error) {
  bool tcp_alone;
  g_autofree char *name = adapter_name(l), *user = adapter_user(l->o->dirs, name, &tcp_alone, error);
  if (!user) return false;
  l->tcp = l->o->tcp || tcp_alone;
  GateConfig config = {.user = user,
                       .library = l->o->library,
                       .seed = scenario_seed(l->scenario),
                       .patience_ms = l->o->patience_ms ? l->o->patience_ms : 10000,
                       .interrupted = l->o->interrupted,
                       .clock = clock_for(l)};
  l->gate = live_gate_new(&config, error);
  if (!l->gate || !hosts_open(l, error)) return false;
  live_gate_choose(l->gate, whose_turn, l);
  if (l->tcp) l->port = free_port();
  l->adapter = load_adapter(l, error);
  if (!l->adapter || !write_files(l, l->adapter, error)) return false;
  if (l->adapter->untried && !l->result->caveat)
    l->result->caveat = g_strdup_printf("the adapter %s is untried: no such pooler was there to try it", name);
  verdict_start(l);
  return launch(l, error);
}

static bool is_ready(const Live *l) {
  if (l->adapter->socket) return g_file_test(l->adapter->socket, G_FILE_TEST_EXISTS);
  int fd = tcp_connect((int)l->port);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Ready: it waits, and its socket is there. */
bool pooler_await_ready(Live *l, GError **error) {
  GateState s = live_gate_settle(l->gate);
  for (guint i = 0; s == GATE_QUIET && i < READY_ROUNDS; i++) {
    l->descriptors = live_gate_descriptors(l->gate);
    if (is_ready(l)) return true;
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

void pooler_start_again(Live *l) {
  g_autoptr(GError) error = NULL;
  if (l->adapter->socket) unlink(l->adapter->socket);
  l->gone = l->ending = false;
  l->console = -1;
  live_said(l, "pooler", NULL, "starts again", NULL);
  if (!launch(l, &error) || !pooler_await_ready(l, &error)) verdict_wrong(l, error->message);
}

/* What its first process has open beyond what it had when it was ready, and beyond the connections that are there. Some
 * are opened once for all (a log, a resolver): so few, or less than one for two connections, is no leak. */
void pooler_look_for_leaks(Live *l) {
  if (l->over || l->gone || l->result->interrupted) return;
  guint open = 0, now = live_gate_descriptors(l->gate);
  for (guint i = 0; i < l->conns->len; i++) open += CONN(l, i)->fd >= 0;
  guint more = now > l->descriptors + open ? now - l->descriptors - open : 0;
  if (more < LEAK_LEAST || more * 2 < l->conns->len - open) return;
  g_autofree char *what = g_strdup_printf("leaks descriptors: %u of %u closed connections", more, l->conns->len - open);
  live_said(l, "pooler", NULL, "leaks", what);
  verdict_wrong(l, what);
}
