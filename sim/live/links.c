/* links.c - the network between: how long things take, what is lost, which links are broken. */
#include "sim/live/live.h"

enum { PARTS = 1 << 20 };

/* Where time orders nothing it is not drawn either. */
int64_t live_draw(Live *l, const Delay *d) {
  if (d->kind == DELAY_FIXED || l->pending) return d->low;
  if (d->kind == DELAY_UNIFORM) return d->low + (int64_t)live_choose(l, LIVE_DELAY, (uint64_t)(d->high - d->low) + 1);
  return rng_exponential_of((uint32_t)live_choose(l, LIVE_DELAY, UINT64_C(1) << 32), d->low);
}

static guint entry(PoolerLink which, guint server) {
  return which == LINK_CLIENT_TO_POOLER || which == LINK_CANCEL_TO_POOLER ? 0 : server;
}

static const LinkConfig *link_of(const Live *l, PoolerLink which, guint server) {
  return l->config->links[which] ? &l->config->links[which][entry(which, server)] : NULL;
}

int64_t link_ns(Live *l, PoolerLink which, guint server, bool connect) {
  const LinkConfig *k = link_of(l, which, server);
  return k ? live_draw(l, connect ? &k->connect : &k->delay) : 0;
}

static guint8 *cut_of(const Live *l, PoolerLink which, guint server) {
  return &l->cut[which * (guint)l->config->n_servers + entry(which, server)];
}

LinkFault live_fault(const Live *l, PoolerLink which, guint server) {
  const LinkConfig *k = link_of(l, which, server);
  if (*cut_of(l, which, server)) return FAULT_SILENT;
  return k ? k->fault : FAULT_NONE;
}

bool live_loses(Live *l, PoolerLink which, guint server) {
  const LinkConfig *k = link_of(l, which, server);
  if (!k || k->loss <= 0) return false;
  if (l->pending) return live_choose(l, LIVE_LOSS, 2) == 1;
  return (double)live_choose(l, LIVE_LOSS, PARTS) < k->loss * PARTS;
}

/* server NONE: all of the kind. What waited on it goes on when it is back. */
void link_cut(Live *l, PoolerLink which, int server, bool cut) {
  for (guint i = 0; i < (guint)l->config->n_servers; i++) {
    if (server != NONE && (guint)server != i) continue;
    *cut_of(l, which, i) = cut;
    if (!cut && which == LINK_POOLER_TO_SERVER) host_link_back(l, i);
  }
}
