/* start.c - the pooler's program: how it is started, when it is ready, which of its processes takes a connection, and
 * what it has left open at the end. */
#include "sim/live/live.h"
#include <signal.h>
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

static Adapter *load_adapter(Live *l, guint process, GError **error) {
  g_autofree char *program = g_canonicalize_filename(l->o->program, NULL), *name = adapter_name(l);
  g_autofree guint *ports = g_new0(guint, l->listeners->len);
  g_autofree char *certificate = l->tls ? tls_certificate_pem(l->tls) : NULL,
                  *key = l->tls ? tls_key_pem(l->tls) : NULL;
  g_autofree AdapterPeer *peers = g_new0(AdapterPeer, l->members->len);
  guint n = 0;
  for (guint i = 0; i < l->listeners->len; i++) {
    const Listener *at = &g_array_index(l->listeners, Listener, i);
    if (at->process == process) ports[n++] = (guint)at->port;
  }
  for (guint i = 0; i < l->members->len; i++) peers[i] = (AdapterPeer){live_gate_dir(l->gate, i), MEMBER(l, i)->port};
  AdapterPlace place = {.program = program,
                        .dir = peers[process].dir,
                        .port = peers[process].port,
                        .server_ports = l->tcp ? ports : NULL,
                        .process = process,
                        .peers = peers,
                        .n_peers = l->members->len,
                        .certificate = certificate,
                        .private_key = key};
  return adapter_load(l->o->dirs, name, l->config, &place, error);
}

static bool write_files(Live *l, guint process, const Adapter *a, GError **error) {
  for (guint i = 0; i < a->files->len; i++) {
    const AdapterFile *f = &g_array_index(a->files, AdapterFile, i);
    if (!live_gate_write(l->gate, process, f->name, f->text, error)) return false;
  }
  return true;
}

static bool same_files(const Adapter *a, const Adapter *b) {
  for (guint i = 0; i < a->files->len; i++)
    if (strcmp(g_array_index(a->files, AdapterFile, i).text, g_array_index(b->files, AdapterFile, i).text) != 0)
      return false;
  return true;
}

static bool rewrite(Live *l, guint process) {
  g_autoptr(GError) error = NULL;
  Member *m = MEMBER(l, process);
  Adapter *a = load_adapter(l, process, &error);
  bool others = a && !same_files(a, m->adapter) && write_files(l, process, a, &error);
  g_autofree char *who = pooler_label(l, process);
  if (error) live_said(l, who, NULL, "its files cannot be written", error->message);
  if (!a) return false;
  adapter_free(m->adapter);
  m->adapter = a;
  return others;
}

bool pooler_rewrite(Live *l) {
  bool others = false;
  for (guint i = 0; i < l->members->len; i++) others |= rewrite(l, i);
  return others;
}

/* ---- its life ---- */

static void begin(Live *l) {
  const Adapter *a = pooler_adapter(l);
  live_gate_choose(l->gate, whose_turn, l);
  if (a->untried && !l->result->caveat)
    l->result->caveat = g_strdup_printf("the adapter %s is untried: no such pooler was there to try it", a->name);
  verdict_start(l);
}

void pooler_taken(Live *l) {
  hosts_taken(l);
  begin(l);
}

static bool prepare(Live *l, guint process, GError **error) {
  Adapter *a = MEMBER(l, process)->adapter = load_adapter(l, process, error);
  return a && write_files(l, process, a, error);
}

bool pooler_prepare(Live *l, GError **error) {
  bool tcp_alone;
  g_autofree char *name = adapter_name(l), *user = adapter_user(l->o->dirs, name, &tcp_alone, error);
  if (!user) return false;
  bool tls = adapter_wants_tls(l->config); /* which poolers do not speak over Unix sockets */
  l->tcp = l->o->tcp || tcp_alone || tls;
  if (tls) l->tls = tls_keys_new();
  GateConfig config = {.user = user,
                       .library = l->o->library,
                       .seed = scenario_seed(l->scenario),
                       .patience_ms = l->o->patience_ms ? l->o->patience_ms : 10000,
                       .interrupted = l->o->interrupted,
                       .members = (guint)l->config->processes,
                       .clock = clock_for(l)};
  l->gate = live_gate_new(&config, error);
  if (!l->gate || !hosts_open(l, error)) return false;
  for (guint i = 0; i < config.members; i++) {
    Member m = {.console = -1, .port = l->tcp ? free_port() : 0};
    g_array_append_val(l->members, m);
  }
  for (guint i = 0; i < l->members->len; i++)
    if (!prepare(l, i, error)) return false;
  begin(l);
  return true;
}

/* Ready: it waits, and its socket is there. */
static bool is_ready(const Member *m) {
  if (m->adapter->socket) return g_file_test(m->adapter->socket, G_FILE_TEST_EXISTS);
  int fd = tcp_connect((int)m->port);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static bool never_ready(Live *l, GateState s, GError **error) {
  if (l->o->interrupted && g_atomic_int_get(l->o->interrupted)) {
    g_set_error(error, GATE_ERROR, 0, "interrupted, before %s was ready", l->o->program);
    return false;
  }
  g_autofree char *log = live_gate_log_tail(l->gate, LOG_LINES);
  g_autofree char *what = s == GATE_QUIET ? g_strdup("does not open its socket") : live_gate_words(l->gate, s);
  g_set_error(error, GATE_ERROR, 0, "%s was never ready: it %s; its last words:\n%s", l->o->program, what,
              *log ? log : "(none)");
  return false;
}

static bool start_one(Live *l, guint process, GError **error) {
  Member *m = MEMBER(l, process);
  const Adapter *a = m->adapter;
  if (!live_gate_start(l->gate, process, (const char *const *)a->argv, (const char *const *)a->env, error))
    return false;
  m->gone = m->ending = l->gone = false;
  m->console = -1;
  GateState s = live_gate_settle(l->gate);
  for (guint i = 0; s == GATE_QUIET && i < READY_ROUNDS; i++) {
    m->descriptors = live_gate_descriptors(l->gate, process);
    if (is_ready(m)) return true;
    if (live_gate_deadline(l->gate) == INT64_MAX) break;
    live_move_to(l, live_gate_deadline(l->gate));
    live_gate_go(l->gate);
    s = live_gate_settle(l->gate);
  }
  return never_ready(l, s, error);
}

bool pooler_start(Live *l, GError **error) {
  for (guint i = 0; i < l->members->len; i++)
    if (!start_one(l, i, error)) return false;
  return true;
}

void pooler_start_again(Live *l, int process) {
  for (guint i = 0; i < l->members->len && !l->over; i++) {
    const Member *m = MEMBER(l, i);
    g_autoptr(GError) error = NULL;
    g_autofree char *who = pooler_label(l, i);
    if (!m->gone || !pooler_meant(process, i)) continue;
    if (m->adapter->socket) unlink(m->adapter->socket);
    live_said(l, who, NULL, "starts again", NULL);
    if (!start_one(l, i, &error) && !live_interrupted(l)) verdict_wrong(l, error->message);
  }
}

void pooler_is_gone(Live *l, guint process) {
  MEMBER(l, process)->gone = l->gone = l->dirty = true;
  for (guint i = 0; i < l->members->len; i++) l->gone &= MEMBER(l, i)->gone;
}

void pooler_kill(Live *l, int process) {
  for (guint i = 0; i < l->members->len; i++) {
    g_autofree char *who = pooler_label(l, i);
    if (!pooler_meant(process, i)) continue;
    live_said(l, who, NULL, "is killed", NULL);
    live_gate_kill(l->gate, i);
    MEMBER(l, i)->ending = true;
    pooler_is_gone(l, i);
  }
}

void pooler_stop(Live *l, int process) {
  for (guint i = 0; i < l->members->len; i++) {
    int number = MEMBER(l, i)->adapter->signals[ADAPTER_STOP];
    g_autofree char *who = pooler_label(l, i);
    if (!pooler_meant(process, i)) continue;
    MEMBER(l, i)->ending = true;
    live_said(l, "console", who, adapter_wish_word(ADAPTER_STOP), NULL);
    live_gate_signal(l->gate, i, number ? number : SIGTERM);
  }
  l->dirty = true;
}

bool pooler_lingers(const Live *l) {
  for (guint i = 0; i < l->members->len; i++)
    if (MEMBER(l, i)->ending && !MEMBER(l, i)->gone) return true;
  return false;
}

/* ---- which of them ---- */

/* As the model's (session_new, cancel_accept): connections and cancels take turns alike. */
guint pooler_process(Live *l) {
  guint n = l->members->len;
  if (n == 1 || l->config->balance == BALANCE_FIRST) return 0;
  if (l->config->balance == BALANCE_RANDOM) return (guint)live_choose(l, LIVE_PROCESS, n);
  return l->next_process++ % n;
}

char *pooler_label(const Live *l, guint process) {
  return l->members->len > 1 ? g_strdup_printf("pooler %u", process) : g_strdup("pooler");
}

const Adapter *pooler_adapter(const Live *l) {
  return MEMBER(l, 0)->adapter;
}

/* ---- at the end ---- */

/* What its first process has open beyond what it had when it was ready, and beyond the connections that are there. Some
 * are opened once for all (a log, a resolver): so few, or less than one for two connections, is no leak. */
static void look_for_leaks(Live *l, guint process) {
  guint open = 0, closed = 0, now = live_gate_descriptors(l->gate, process);
  for (guint i = 0; i < l->conns->len; i++) {
    if (CONN(l, i)->process != process) continue;
    open += CONN(l, i)->fd >= 0;
    closed += CONN(l, i)->fd < 0;
  }
  guint before = MEMBER(l, process)->descriptors + open, more = now > before ? now - before : 0;
  if (more < LEAK_LEAST || more * 2 < closed) return;
  g_autofree char *what = g_strdup_printf("leaks descriptors: %u of %u closed connections", more, closed),
                  *who = pooler_label(l, process);
  live_said(l, who, NULL, "leaks", what);
  verdict_wrong(l, what);
}

void pooler_look_for_leaks(Live *l) {
  for (guint i = 0; i < l->members->len; i++)
    if (!l->over && !MEMBER(l, i)->gone && !l->result->interrupted) look_for_leaks(l, i);
}
