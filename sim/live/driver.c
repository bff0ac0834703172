/* driver.c - see driver.h; the loop. */
#include "sim/expect.h"
#include "sim/live/live.h"
#include "sim/pooler_model.h"
#include "sim/tracing.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xxhash.h>

enum { CONN_BASE = 1 << 20, EVENTS_AT_ONCE = 64, SOCKET_BYTES = 8192 };
static const int64_t quiet_beyond = 60 * (int64_t)1000000000; /* past the longest limit of time that a pool has */

/* ---- sockets ---- */

static bool address_of(const char *path, struct sockaddr_un *at) {
  *at = (struct sockaddr_un){.sun_family = AF_UNIX};
  return g_strlcpy(at->sun_path, path, sizeof at->sun_path) < sizeof at->sun_path;
}

int unix_connect(const char *path) {
  struct sockaddr_un at;
  if (!address_of(path, &at)) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int unix_listen(const char *path) {
  struct sockaddr_un at;
  if (!address_of(path, &at)) return errno = ENAMETOOLONG, -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  int problem = errno;
  if (fd >= 0) close(fd);
  return errno = problem, -1;
}

guint conn_add(Live *l, ConnKind kind, int fd, guint owner) {
  Conn c = {.kind = kind, .fd = fd, .owner = owner, .client = -1, .query = -1, .cancel = -1};
  g_array_append_val(l->conns, c);
  struct epoll_event e = {.events = EPOLLIN, .data.u64 = CONN_BASE + l->conns->len - 1};
  int failed = epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &e);
  g_assert(!failed);
  l->dirty = true;
  return l->conns->len - 1;
}

/* What the other side has closed, or does not read, is seen when it is read. */
bool conn_send(Live *l, guint conn, GByteArray *out) {
  ssize_t n = send(CONN(l, conn)->fd, out->data, out->len, MSG_NOSIGNAL);
  bool whole = n == (ssize_t)out->len;
  g_byte_array_set_size(out, 0);
  l->dirty = true;
  return whole;
}

void conn_close(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  close(c->fd);
  c->fd = -1;
  l->dirty = true;
}

/* ---- reading what the pooler did ---- */

static void read_conn(Live *l, guint conn) {
  while (CONN(l, conn)->fd >= 0) {
    guint8 bytes[SOCKET_BYTES];
    bool server = CONN(l, conn)->kind == CONN_SERVER;
    ssize_t n = recv(CONN(l, conn)->fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0 && server) host_read(l, conn, bytes, (gsize)n);
    if (n > 0 && !server) player_read(l, conn, bytes, (gsize)n);
    if (n <= 0 && server) host_gone(l, conn);
    if (n <= 0 && !server) player_gone(l, conn);
  }
}

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const struct epoll_event *)a)->data.u64, y = ((const struct epoll_event *)b)->data.u64;
  return x < y ? -1 : x > y;
}

/* In order of their numbers, whatever order the kernel has them in; true: there was something. */
static bool collect(Live *l) {
  struct epoll_event ready[EVENTS_AT_ONCE];
  bool any = false;
  for (;;) {
    int n = epoll_wait(l->poll, ready, EVENTS_AT_ONCE, 0);
    if (n <= 0) return any;
    any = true;
    qsort(ready, (size_t)n, sizeof *ready, by_id);
    for (int i = 0; i < n; i++) {
      if (ready[i].data.u64 < CONN_BASE)
        host_accept(l, (guint)ready[i].data.u64);
      else
        read_conn(l, (guint)(ready[i].data.u64 - CONN_BASE));
    }
  }
}

void live_input(Live *l) {
  do {
    if (l->over) return;
    l->dirty = false;
    live_gate_go(l->gate);
    GateState s = live_gate_settle(l->gate);
    if (collect(l)) l->last = l->now;
    if (s != GATE_QUIET) verdict_pooler(l, s);
  } while (l->dirty);
}

/* ---- the trace ---- */

void live_said(Live *l, const char *from, const char *to, const char *message, const char *about) {
  g_autofree char *text = about ? g_strdup_printf("%s (%s)", message, about) : g_strdup(message);
  NoteField fields[] = {{"from", 0, from}, {"to", 0, to}, {"message", 0, text}}, alone = {"what", 0, text};
  TraceStep step = {.i = l->steps,
                    .t_ns = l->now,
                    .who = from,
                    .what = message,
                    .args = to ? fields : &alone,
                    .n_args = to ? G_N_ELEMENTS(fields) : 1};
  g_autoptr(GString) words = g_string_new(NULL);
  trace_step_words(&step, words);
  g_string_append_printf(words, "@%" G_GINT64_FORMAT "\n", l->now);
  XXH3_128bits_update(l->hash, words->str, words->len);
  if (l->trace && !l->trace_error) trace_writer_step(l->trace, &step, &l->trace_error);
  l->steps++;
  l->last = l->now;
}

/* ---- the loop ---- */

void live_at(Live *l, int64_t ns, Doing what, guint subject, guint64 data) {
  event_queue_add(l->queue, ns, 0, (EventPayload){.kind = what, .subject = subject, .data = data});
}

static bool all_done(const Live *l) {
  if (event_queue_size(l->queue)) return false;
  for (guint i = 0; i < l->players->len; i++)
    if (!PLAYER(l, i)->done) return false;
  for (guint i = 0; i < l->sent->len; i++)
    if (!SENT(l, i)->judged) return false;
  return true;
}

void live_move_to(Live *l, int64_t ns) {
  if (ns > l->now) l->now = ns;
  live_gate_set_time(l->gate, l->now);
}

static void do_event(Live *l) {
  Event e;
  bool there = event_queue_pop(l->queue, &e);
  g_assert(there);
  live_move_to(l, e.t);
  switch ((Doing)e.payload.kind) {
  case DO_SCRIPT: player_go_on(l, e.payload.subject); break;
  case DO_CANCEL: player_cancel(l, e.payload.subject); break;
  default: host_do(l, (Doing)e.payload.kind, e.payload.subject, e.payload.data);
  }
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

/* Ours before the pooler's own timeouts where both are due. */
static void loop(Live *l) {
  int64_t until = scenario_is(l->scenario, "end", "none") ? INT64_MAX : scenario_ns(l->scenario, "end");
  const int64_t patience = longest_limit(l);
  while (!l->over && !(all_done(l) && until == INT64_MAX)) {
    Event e;
    int64_t ours = event_queue_peek(l->queue, &e) ? e.t : INT64_MAX, theirs = live_gate_deadline(l->gate);
    if (l->o->interrupted && g_atomic_int_get(l->o->interrupted)) {
      l->result->interrupted = true;
      break;
    }
    if (l->dirty) {
      live_input(l);
    } else if (MIN(ours, theirs) > until) {
      l->result->limited = !all_done(l);
      live_move_to(l, until);
      break;
    } else if (ours == INT64_MAX && until == INT64_MAX && (theirs == INT64_MAX || theirs - l->last > patience)) {
      verdict_stuck(l);
    } else if (ours <= theirs) {
      do_event(l);
    } else {
      live_move_to(l, theirs);
      live_input(l);
    }
  }
  if (l->result->interrupted) l->result->stopped = g_strdup("interrupted");
}

/* ---- start and end ---- */

static uint64_t choose_first(void *driver, ChoiceId what, uint64_t n) {
  (void)driver, (void)what, (void)n;
  return 0;
}
static void ready_nothing(void *driver, ProcId p, int64_t after_ns) {
  (void)driver, (void)p, (void)after_ns;
}
static void sent_nothing(void *driver, ObjectId channel, int64_t after_ns) {
  (void)driver, (void)channel, (void)after_ns;
}
static void timer_nothing(void *driver, ProcId p, bool limit, int64_t after_ns) {
  (void)driver, (void)p, (void)limit, (void)after_ns;
}
static void never_driven(World *w, void *data) {
  static const DriverOps ops = {
      .choose = choose_first, .ready = ready_nothing, .sent = sent_nothing, .timer = timer_nothing};
  world_drive(w, &ops, data);
}

static bool build(Live *l, GError **error) {
  Costs costs;
  scenario_costs(l->scenario, &costs);
  if (!scenario_has_pooler(l->scenario)) {
    g_propagate_error(error,
                      scenario_complain(l->scenario, "pooler", "live drives a pooler, and this scenario has none"));
    return false;
  }
  l->model = pooler_model_build(l->scenario, &costs, never_driven, NULL, error);
  if (!l->model) return false;
  l->config = pooler_binding_config(l->model->bound);
  GError *refused = players_refuse(l);
  if (refused) return g_propagate_error(error, refused), false;
  if (!expect_checks(l->scenario, l->model, &l->o->checks, l->result, error)) return false;
  verdict_start(l);
  l->pids = g_new0(guint, (gsize)l->config->n_servers);
  l->numbers = g_new0(guint, (gsize)l->config->n_servers);
  for (int i = 0; i < l->config->n_servers; i++) l->pids[i] = (guint)l->config->servers[i].pid_start;
  return true;
}

static bool open_trace(Live *l, GError **error) {
  if (!l->o->trace_path) return true;
  TraceHeader *h = run_trace_header(l->scenario, "live", l->result->subject, 0);
  l->trace = trace_writer_open(l->o->trace_path, h, error);
  run_trace_header_free(h);
  return l->trace != NULL;
}

static bool close_trace(Live *l, GError **error) {
  XXH128_hash_t h = XXH3_128bits_digest(l->hash);
  l->result->state_hash = (Hash128){.hi = h.high64, .lo = h.low64};
  if (l->trace_error) return g_propagate_error(error, g_steal_pointer(&l->trace_error)), false;
  if (!l->trace) return true;
  TraceEnd end;
  tracing_footer(l->result, &end);
  bool ok = trace_writer_close(l->trace, &end, error);
  tracing_footer_clear(&end);
  return ok;
}

static bool run(Live *l, GError **error) {
  pooler_name(l);
  if (!build(l, error) || !pooler_start(l, error) || !pooler_await_ready(l, error) || !open_trace(l, error))
    return false;
  players_new(l);
  loop(l);
  pooler_look_for_leaks(l);
  return verdict_conclude(l, error) && close_trace(l, error);
}

static void clear(Live *l) {
  for (guint i = 0; i < l->conns->len; i++) {
    Conn *c = CONN(l, i);
    if (c->fd >= 0) close(c->fd);
    g_clear_pointer(&c->wired, wired_free);
    g_clear_pointer(&c->backend, backend_free);
  }
  for (guint i = 0; i < l->listeners->len; i++) close(g_array_index(l->listeners, Listener, i).fd);
  for (guint i = 0; i < l->players->len; i++) g_free(PLAYER(l, i)->name);
  g_clear_pointer(&l->gate, live_gate_free);
  g_clear_pointer(&l->adapter, adapter_free);
  g_clear_pointer(&l->trace, trace_writer_free);
  g_clear_error(&l->trace_error);
  g_clear_pointer(&l->model, model_free);
  GArray *arrays[] = {l->conns, l->players, l->sent, l->listeners};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_array_unref(arrays[i]);
  event_queue_free(l->queue);
  XXH3_freeState(l->hash);
  close(l->poll);
  g_free(l->pids);
  g_free(l->numbers);
}

static RunResult *result_of(const Scenario *s) {
  RunResult *r = run_result_new();
  r->command = g_strdup("live");
  r->scenario = g_strdup(scenario_name(s));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->seed = scenario_seed(s);
  return r;
}

RunResult *live_run(const Scenario *s, const LiveOptions *o, GError **error) {
  gint64 started = g_get_monotonic_time();
  Live l = {.scenario = s,
            .o = o,
            .result = result_of(s),
            .queue = event_queue_new(),
            .poll = epoll_create1(EPOLL_CLOEXEC),
            .conns = g_array_new(FALSE, TRUE, sizeof(Conn)),
            .players = g_array_new(FALSE, TRUE, sizeof(Player)),
            .sent = g_array_new(FALSE, TRUE, sizeof(Sent)),
            .listeners = g_array_new(FALSE, TRUE, sizeof(Listener)),
            .hash = XXH3_createState()};
  g_assert(l.poll >= 0 && l.hash);
  XXH3_128bits_reset(l.hash);
  bool ok = run(&l, error);
  clear(&l);
  l.result->wall_ms = (double)(g_get_monotonic_time() - started) / 1e3;
  if (ok) return l.result;
  run_result_free(l.result);
  return NULL;
}
