/* wire_log.c - see wire_log.h. */
#include "sim/live/wire_log.h"
#include "model/pooler/outcome.h"
#include <stdlib.h>
#include <string.h>

struct WireLog {
  GArray *events;      /* of WireEvent */
  GHashTable *numbers; /* connection -> its number + 1; looked up only */
  GHashTable *pids;    /* cancel -> pid, likewise */
  GHashTable *errors;  /* client -> how it failed, "cancelled" */
  GHashTable *living;  /* server -> itself: the model's, while it has a backend that told its pid */
  guint ready;
  bool deaf;
};

void wire_log_deaf(WireLog *w) {
  w->deaf = true;
}

static void clear_event(gpointer data) {
  WireEvent *e = data;
  g_free(e->lane);
  g_free(e->what);
}

WireLog *wire_log_new(void) {
  WireLog *w = g_new0(WireLog, 1);
  w->events = g_array_new(FALSE, FALSE, sizeof(WireEvent));
  g_array_set_clear_func(w->events, clear_event);
  w->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GHashTable **texts[] = {&w->pids, &w->errors, &w->living};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    *texts[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  return w;
}

void wire_log_free(WireLog *w) {
  g_array_unref(w->events);
  GHashTable *maps[] = {w->numbers, w->pids, w->errors, w->living};
  for (guint i = 0; i < G_N_ELEMENTS(maps); i++) g_hash_table_unref(maps[i]);
  g_free(w);
}

static void add(WireLog *w, int64_t t, const char *lane, const char *format, ...) G_GNUC_PRINTF(4, 5);
static void add(WireLog *w, int64_t t, const char *lane, const char *format, ...) {
  va_list args;
  va_start(args, format);
  WireEvent e = {t, g_strdup(lane), g_strdup_vprintf(format, args), w->events->len};
  va_end(args);
  g_array_append_val(w->events, e);
}

static const char *arg(const TraceStep *s, const char *name) {
  for (guint i = 0; i < s->n_args; i++)
    if (strcmp(s->args[i].name, name) == 0) return s->args[i].text ? s->args[i].text : "";
  return "";
}

static void keep(GHashTable *map, const char *key, const char *value) {
  g_hash_table_replace(map, g_strdup(key), g_strdup(value));
}

static guint number_of(const WireLog *w, const char *server) {
  return GPOINTER_TO_UINT(g_hash_table_lookup(w->numbers, server));
}

static void is_ready(WireLog *w, int64_t t, const char *server) {
  g_hash_table_replace(w->numbers, g_strdup(server), GUINT_TO_POINTER(++w->ready));
  add(w, t, "servers", "#%u ready", w->ready);
}

static void is_closed(WireLog *w, int64_t t, const char *server) {
  guint n = number_of(w, server);
  if (n) add(w, t, "servers", "#%u closed", n);
  g_hash_table_remove(w->numbers, server);
}

static bool is_client(const char *who) {
  return g_str_has_prefix(who, "client ");
}
static bool is_server(const char *who) {
  return g_str_has_prefix(who, "server ");
}

/* ---- a run of the model: model/pooler/said.c says what its messages are ---- */

/* "q1: time-out" and the like are errors that no server gave. */
static void model_answers(WireLog *w, const TraceStep *s, const char *client, const char *message) {
  static const char *const servers[] = {"done", "error", "cancelled"};
  const char *how = strrchr(message, ':');
  if (!how) return;
  g_autofree char *what = g_strndup(message, (gsize)(how - message));
  const char *as = "refused";
  for (guint i = 0; i < G_N_ELEMENTS(servers); i++)
    if (strcmp(how + 2, servers[i]) == 0) as = servers[i];
  add(w, s->t_ns, client, "%s: %s", what, as);
}

static void model_message(WireLog *w, const TraceStep *s, const char *from, const char *to, const char *message) {
  bool asks = is_client(from) && g_str_has_prefix(to, "pooler");
  if (asks && strcmp(message, "connect") != 0)
    add(w, s->t_ns, from, "sends %s",
        strcmp(message, "commit") == 0 || strcmp(message, "rollback") == 0 ? "the end of its transaction" : message);
  if (is_server(from) && g_str_has_prefix(to, "pooler") && strcmp(message, "ready") == 0) is_ready(w, s->t_ns, from);
  if (g_str_has_prefix(from, "pooler") && is_server(to) && strcmp(message, "connect") != 0)
    add(w, s->t_ns, "servers", "%s to #%u", message, number_of(w, to));
  if (is_client(to) && (is_server(from) || g_str_has_prefix(from, "pooler"))) model_answers(w, s, to, message);
  if (g_str_has_prefix(message, "CancelRequest for pid ")) {
    keep(w->pids, from, message + strlen("CancelRequest for pid "));
    add(w, s->t_ns, "cancels", "pid %s: sent on", message + strlen("CancelRequest for pid "));
  }
  const char *pid = !w->deaf && strcmp(message, "EOF") == 0 ? g_hash_table_lookup(w->pids, to) : NULL;
  if (pid) add(w, s->t_ns, "cancels", "pid %s: EOF", pid);
}

/* Nobody is told what becomes of a cancel that was closed at once and never came to a server. */
static bool is_told(const WireLog *w, const char *outcome) {
  if (g_str_equal(outcome, outcome_word(OUT_UNSENT))) return false;
  return !w->deaf || !(g_str_equal(outcome, outcome_word(OUT_LOST)) || g_str_equal(outcome, outcome_word(OUT_DROPPED)));
}

/* A server that dies has closed then, whenever the pooler does: "server 0": "idle, pid 1000" has become "idle". */
static void model_changes(WireLog *w, int64_t t, const char *server, const char *state) {
  static const char *const open[] = {"idle", "taken", "fenced", "cleaning"};
  bool lives = strstr(state, ", pid ") != NULL, there = false;
  for (guint i = 0; i < G_N_ELEMENTS(open); i++) there |= g_str_has_prefix(state, open[i]);
  if (lives)
    keep(w->living, server, server);
  else if (g_hash_table_remove(w->living, server) && there)
    is_closed(w, t, server);
}

/* A step may hold several messages: from, from_2, ... */
void wire_log_model(WireLog *w, const TraceStep *s) {
  for (guint i = 1;; i++) {
    g_autofree char *tail = i == 1 ? g_strdup("") : g_strdup_printf("_%u", i);
    g_autofree char *from = g_strconcat("from", tail, NULL), *to = g_strconcat("to", tail, NULL),
                    *message = g_strconcat("message", tail, NULL);
    if (!*arg(s, from)) break;
    model_message(w, s, arg(s, from), arg(s, to), arg(s, message));
  }
  if (*arg(s, "outcome") && is_told(w, arg(s, "outcome")))
    add(w, s->t_ns, "cancels", "%s: %s", arg(s, "cancel_of"), arg(s, "outcome"));
  if (s->what && strcmp(s->what, "close") == 0 && is_server(arg(s, "on"))) is_closed(w, s->t_ns, arg(s, "on"));
  for (guint i = 0; i < s->n_changed; i++)
    if (is_server(s->changed[i].name))
      model_changes(w, s->t_ns, s->changed[i].name, s->changed[i].text ? s->changed[i].text : "");
}

/* ---- a run of a real pooler: live_said says what these are ---- */

/* What stands in the last brackets of "Query (q1)"; g_free. */
static char *about(const char *message) {
  const char *open = strstr(message, " (");
  return open ? g_strndup(open + 2, strlen(open + 2) - 1) : g_strdup("");
}

/* A query's message, by whatever protocol. */
static bool asks(const char *message) {
  static const char *const starts[] = {"Query (", "Parse, Execute (", "Execute ("};
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++)
    if (g_str_has_prefix(message, starts[i])) return true;
  return false;
}

/* What a client without a pooler asks its server the model does not say. */
static void live_asks(WireLog *w, const TraceStep *s, const char *client, const char *message, bool direct) {
  g_autofree char *text = about(message);
  bool end = strcmp(text, "COMMIT") == 0 || strcmp(text, "ROLLBACK") == 0;
  const char *what = end ? "the end of its transaction" : text;
  g_hash_table_remove(w->errors, client);
  if (!direct) add(w, s->t_ns, client, "sends %s", what);
}

/* A login is no answer. */
static void live_answers(WireLog *w, const TraceStep *s, const char *client, const char *message) {
  const char *how = g_hash_table_lookup(w->errors, client);
  g_autofree char *what = about(message);
  if (*what) add(w, s->t_ns, client, "%s: %s", what, how ? how : "done");
  g_hash_table_remove(w->errors, client);
}

static void live_error(WireLog *w, const char *client, const char *message) {
  g_autofree char *text = about(message);
  const char *as = g_str_has_prefix(text, "57014")   ? "cancelled"
                   : g_str_has_prefix(text, "22012") ? "error"
                                                     : "refused";
  keep(w->errors, client, as);
}

static void live_to_client(WireLog *w, const TraceStep *s, const char *client, const char *message) {
  const char *how = g_hash_table_lookup(w->errors, client);
  if (g_str_has_prefix(message, "ErrorResponse")) live_error(w, client, message);
  if (g_str_has_prefix(message, "ReadyForQuery")) live_answers(w, s, client, message);
  if (!g_str_has_prefix(message, "closes")) return;
  if (!how) keep(w->errors, client, "refused");
  live_answers(w, s, client, message);
}

static void live_server(WireLog *w, const TraceStep *s, const char *from, const char *to, const char *message) {
  static const char *const ends[] = {"Terminate", "closes", "dies"};
  if (is_server(from) && strcmp(message, "ReadyForQuery") == 0) is_ready(w, s->t_ns, from);
  if (is_server(to) && asks(message)) {
    g_autofree char *what = about(message);
    bool end = strcmp(what, "the end of a transaction") == 0;
    add(w, s->t_ns, "servers", "%s to #%u", end ? "the end of its transaction" : what, number_of(w, to));
  }
  for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
    if (strcmp(message, ends[i]) == 0) is_closed(w, s->t_ns, is_server(to) ? to : from);
}

static void live_cancel(WireLog *w, const TraceStep *s, const char *message) {
  g_autofree char *text = about(message);
  const char *pid = g_str_has_prefix(text, "pid ") ? text + 4 : NULL;
  if (pid && g_str_has_prefix(message, "CancelRequest")) add(w, s->t_ns, "cancels", "pid %s: sent on", pid);
  if (pid && g_str_has_prefix(message, "closes the cancel")) add(w, s->t_ns, "cancels", "pid %s: EOF", pid);
}

/* "NOOP: the cancel of q1 by client a hits ..." */
static void live_outcome(WireLog *w, const TraceStep *s) {
  g_autofree char *text = about(arg(s, "what"));
  static const char of[] = ": the cancel of ";
  const char *colon = strstr(text, of), *by = colon ? strstr(colon, " by client ") : NULL;
  g_autofree char *outcome = by ? g_strndup(text, (gsize)(colon - text)) : NULL;
  if (!by || !is_told(w, outcome)) return;
  g_autofree char *query = g_strndup(colon + strlen(of), (gsize)(by - colon) - strlen(of));
  add(w, s->t_ns, "cancels", "%s: %s", query, outcome);
}

void wire_log_live(WireLog *w, const TraceStep *s) {
  const char *from = arg(s, "from"), *to = arg(s, "to"), *message = arg(s, "message");
  bool pooler = g_str_has_prefix(from, "pooler") || g_str_has_prefix(to, "pooler");
  if (is_client(from) && asks(message) && !is_server(to)) live_asks(w, s, from, message, !pooler);
  if (is_client(to) && !is_server(from)) live_to_client(w, s, to, message);
  if (*message && pooler && !is_client(from) && !is_client(to)) live_server(w, s, from, to, message);
  live_cancel(w, s, message);
  if (s->what && strcmp(s->what, "cancel") == 0) live_outcome(w, s);
}

/* ---- both ---- */

/* What a client sees has an order; of servers and of cancels one instant has none. */
static int by_lane(const void *a, const void *b) {
  const WireEvent *x = a, *y = b;
  int lane = strcmp(x->lane, y->lane);
  if (lane) return lane;
  if (x->t_ns != y->t_ns) return x->t_ns < y->t_ns ? -1 : 1;
  int what = g_str_has_prefix(x->lane, "client ") ? 0 : strcmp(x->what, y->what);
  return what ? what : x->order < y->order ? -1 : x->order > y->order;
}

static const WireEvent *at(const WireLog *w, guint i) {
  return i < w->events->len ? &g_array_index(w->events, WireEvent, i) : NULL;
}

static void say(GString *out, const char *who, const WireEvent *e, const char *lane) {
  if (!e || strcmp(e->lane, lane) != 0)
    g_string_append_printf(out, "%s: nothing more", who);
  else
    g_string_append_printf(out, "%s: %s at %.3f ms", who, e->what, (double)e->t_ns / 1e6);
}

static char *difference(const WireEvent *a, const WireEvent *b) {
  const char *lane = !a ? b->lane : !b ? a->lane : strcmp(a->lane, b->lane) <= 0 ? a->lane : b->lane;
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "%s; ", lane);
  say(out, "model", a, lane);
  say(out, "; binary", b, lane);
  return g_string_free(out, FALSE);
}

/* The last that a client or a cancel has to do with. What a pooler does with its servers from then on (closes them,
 * opens some for clients that have left) is not the model's, which is at its end. */
static int64_t last_of_clients(const WireLog *w) {
  int64_t last = 0;
  for (guint i = 0; at(w, i); i++)
    if (strcmp(at(w, i)->lane, "servers") != 0) last = MAX(last, at(w, i)->t_ns);
  return last;
}

/* The earliest of the first differences of the lanes. */
WireCompared wire_logs_compare(WireLog *model, WireLog *live, int64_t most_ns) {
  WireCompared c = {.same = true};
  const int64_t end = MAX(last_of_clients(model), last_of_clients(live));
  int64_t first = INT64_MAX;
  g_array_sort(model->events, by_lane);
  g_array_sort(live->events, by_lane);
  for (guint i = 0, k = 0; at(model, i) || at(live, k);) {
    const WireEvent *a = at(model, i), *b = at(live, k);
    int order = !a ? 1 : !b ? -1 : strcmp(a->lane, b->lane);
    int64_t apart = order ? 0 : ABS(a->t_ns - b->t_ns);
    bool same = !order && strcmp(a->what, b->what) == 0 && apart <= most_ns;
    if (same) {
      c.late_ns = MAX(c.late_ns, apart);
      c.events++;
      i++, k++;
      continue;
    }
    int64_t when = MIN(a && order <= 0 ? a->t_ns : INT64_MAX, b && order >= 0 ? b->t_ns : INT64_MAX);
    const char *lane = g_strdup(order <= 0 ? a->lane : b->lane);
    bool behind = strcmp(lane, "servers") == 0 && when >= end;
    if (!behind && when < first) {
      g_free(c.where);
      c.where = difference(a, b);
      first = when;
    }
    c.same &= behind;
    while (at(model, i) && strcmp(at(model, i)->lane, lane) == 0) i++;
    while (at(live, k) && strcmp(at(live, k)->lane, lane) == 0) k++;
    g_free((char *)lane);
  }
  return c;
}
