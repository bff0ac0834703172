/* reuse.c - a pooler that goes on from one run to the next (--reuse), where that makes no difference: see driver.h.
 *
 * All connections are closed, its console is told to forget (say: reset), and time goes on from one of its deadlines to
 * the next until its own figures are those of its start, and so is the time to its next deadline: its timers have the
 * phase that they had. What no console shows is ruled out beforehand: a login that failed, after which a pooler waits
 * before it tries again; events that pause, reload, set or end it. Where anything of that fails it is started anew. */
#include "sim/live/live.h"
#include "sim/live/pools.h"
#include <unistd.h>

struct LiveReuse {
  LiveGate *gate; /* NULL: none is kept */
  GArray *members, *listeners;
  bool tcp;
  char *fresh;         /* its figures at its start */
  int64_t to_deadline; /* then */
  guint64 kept;
};

LiveReuse *live_reuse_new(void) {
  return g_new0(LiveReuse, 1);
}

void live_reuse_drop(LiveReuse *r) {
  for (guint i = 0; r->members && i < r->members->len; i++) adapter_free(g_array_index(r->members, Member, i).adapter);
  for (guint i = 0; r->listeners && i < r->listeners->len; i++) close(g_array_index(r->listeners, Listener, i).fd);
  g_clear_pointer(&r->members, g_array_unref);
  g_clear_pointer(&r->listeners, g_array_unref);
  g_clear_pointer(&r->gate, live_gate_free);
  g_clear_pointer(&r->fresh, g_free);
}

void live_reuse_free(LiveReuse *r) {
  live_reuse_drop(r);
  g_free(r);
}
guint64 live_reuse_kept(const LiveReuse *r) {
  return r->kept;
}

/* ---- how fresh it is ---- */

/* Of all its processes; NULL: one does not tell. */
static char *figures(Live *l) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < l->members->len; i++) {
    g_autofree char *one = pools_figures(l, i);
    if (!one) return NULL;
    g_string_append(all, one);
  }
  return g_strdup(all->str);
}

static int64_t to_deadline(const Live *l) {
  int64_t at = live_gate_deadline(l->gate);
  return at == INT64_MAX ? INT64_MAX : at - l->now;
}

static void leave_consoles(Live *l) {
  for (guint i = 0; i < l->members->len; i++) {
    int conn = MEMBER(l, i)->console;
    if (conn >= 0) conn_close(l, (guint)conn);
    MEMBER(l, i)->console = -1;
  }
  live_look(l);
}

/* A run counts its connections from the first. */
static void forget_connections(Live *l) {
  for (guint i = 0; i < l->conns->len; i++) {
    g_assert(CONN(l, i)->kind == CONN_CONSOLE && CONN(l, i)->fd < 0);
    wired_free(CONN(l, i)->wired);
  }
  g_array_set_size(l->conns, 0);
}

bool reuse_first(Live *l, GError **error) {
  LiveReuse *r = l->o->reuse;
  if (!r) return true;
  l->resetting = true;
  bool knows = pooler_adapter(l)->console && pooler_adapter(l)->say[ADAPTER_RESET];
  g_free(r->fresh); /* of a pooler before this one, that did not go on */
  r->fresh = knows ? figures(l) : NULL;
  leave_consoles(l);
  forget_connections(l);
  l->resetting = false;
  r->to_deadline = to_deadline(l);
  if (r->fresh) return true;
  g_set_error(error, ADAPTER_ERROR, 0, "--reuse: the adapter %s does not say how its pooler forgets (say: reset)",
              pooler_adapter(l)->name);
  return false;
}

/* ---- from one run to the next ---- */

bool reuse_take(Live *l) {
  LiveReuse *r = l->o->reuse;
  if (!r || !r->gate) return false;
  g_array_unref(l->members);
  g_array_unref(l->listeners);
  l->gate = g_steal_pointer(&r->gate);
  l->members = g_steal_pointer(&r->members);
  l->listeners = g_steal_pointer(&r->listeners);
  l->tcp = r->tcp;
  pooler_taken(l);
  r->kept++;
  return true;
}

static bool tells_pooler(const Live *l) {
  for (int i = 0; i < l->config->work.n_events; i++) {
    const EventDef *e = &l->config->work.events[i];
    if (e->target.kind == PATH_POOLER || e->target.kind == PATH_POOL || e->verb == EVENT_SET) return true;
  }
  return false;
}

static bool is_sound(const Live *l) {
  bool sound = !l->wrong && !l->result->interrupted && !l->tls && live_gate_is_gated(l->gate) && !tells_pooler(l);
  for (guint i = 0; i < l->members->len; i++) sound = sound && !MEMBER(l, i)->gone;
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    if (c->kind == CONN_SERVER && c->direct < 0 && !c->welcome && !c->key_len) return false;
  }
  return sound;
}

/* Those who ask first, then cancels at servers, whose end a pooler may wait for before it lets their targets go. */
static void leave_all(Live *l) {
  for (guint pass = 0; pass < 3; pass++) {
    for (guint i = 0; i < l->conns->len; i++) {
      const Conn *c = CONN(l, i);
      bool asks = c->kind == CONN_CLIENT || c->kind == CONN_CANCEL, carries = c->kind == CONN_SERVER && c->key_len;
      bool now = pass == 0 ? asks : pass == 1 ? carries : c->kind == CONN_SERVER;
      if (now) conn_close(l, i);
    }
    live_look(l);
  }
}

static bool is_fresh(Live *l) {
  enum { DEADLINES = 8 };
  const LiveReuse *r = l->o->reuse;
  for (guint i = 0; i < DEADLINES && !l->over && !l->gone; i++) {
    g_autofree char *now = figures(l);
    if (now && to_deadline(l) == r->to_deadline && g_str_equal(now, r->fresh)) return true;
    if (live_gate_deadline(l->gate) == INT64_MAX) return false;
    live_move_to(l, live_gate_deadline(l->gate));
    live_look(l);
  }
  return false;
}

void reuse_keep(Live *l) {
  LiveReuse *r = l->o->reuse;
  if (!r || !is_sound(l)) return;
  l->resetting = true;
  l->over = false;
  guint before = l->conns->len;
  leave_all(l);
  for (guint i = 0; i < l->members->len; i++)
    if (!console_tell(l, i, ADAPTER_RESET)) return;
  if (!is_fresh(l)) return;
  leave_consoles(l);
  for (guint i = before; i < l->conns->len; i++)
    if (CONN(l, i)->kind == CONN_SERVER) return; /* it opens some by itself */
  if (l->over || l->gone) return;
  live_gate_restart_clock(l->gate);
  r->tcp = l->tcp;
  r->gate = g_steal_pointer(&l->gate);
  r->members = g_steal_pointer(&l->members);
  r->listeners = g_steal_pointer(&l->listeners);
  l->members = g_array_new(FALSE, TRUE, sizeof(Member));
  l->listeners = g_array_new(FALSE, TRUE, sizeof(Listener));
}
