/* fitness.c - what of a scenario is not driven: what means nothing to a binary, or is not built. */
#include "sim/live/live.h"
#include <string.h>

static const char *unfit_script(const Script *s) {
  for (int i = 0; i < s->n_queries; i++)
    if (s->queries[i].pools) return "a query over several pools (no pooler here shards)";
  return NULL;
}

/* What is listened at, and how, is settled at the start. */
static bool same_tls(const PoolerConfig *a, const PoolerConfig *b) {
  bool same = true;
  for (int i = 0; i < a->n_servers; i++) same &= a->servers[i].tls == b->servers[i].tls;
  for (int i = 0; i < a->work.n_clients; i++) same &= a->work.clients[i].tls == b->work.clients[i].tls;
  return same;
}

static const char *unfit_event(const PoolerConfig *c, const EventDef *e) {
  if (e->verb == EVENT_KILL && e->target.kind == PATH_QUERY) return "`kill` of a query";
  if (e->verb == EVENT_RELOAD && e->takes_ns > 0) return "a `reload` that takes time (the pooler's own is what it is)";
  if (e->config && !same_tls(c, e->config)) return "a change of `tls` in a run";
  return NULL;
}

static const char *unfit_client(const PoolerConfig *c, const ClientDef *d) {
  if (d->tls && d->via_server != NONE && !c->servers[d->via_server].tls)
    return "a client inside TLS at a server without (`tls`)";
  return unfit_script(d->script);
}

static const char *unfit_server(const ServerConfig *s) {
  if (s->cores) return "`cores` of a server";
  if (s->key_bytes == KEY_EMPTY || s->key_bytes > WIRE_KEY_MOST) return "a `key` of no right length";
  return NULL;
}

static const char *unfit(const PoolerConfig *c) {
  const char *what = NULL;
  for (int i = 0; i < c->work.n_events && !what; i++) what = unfit_event(c, &c->work.events[i]);
  for (int i = 0; i < c->n_servers && !what; i++) what = unfit_server(&c->servers[i]);
  for (int i = 0; i < c->work.n_clients && !what; i++) what = unfit_client(c, &c->work.clients[i]);
  return what;
}

GError *live_refuses(const Scenario *s, const PoolerConfig *c) {
  const char *what = unfit(c);
  return what ? scenario_complain(s, "pooler", "live does not drive %s", what) : NULL;
}
