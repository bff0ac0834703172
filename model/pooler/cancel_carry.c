/* cancel_carry.c - a cancel on its carrier: connected to a server, its key written, matched with a pid there,
 * signalled; then the server closes, and the pooler is done with it, or goes on to the next pool. */
#include "model/pooler/cancel_stages.h"

static LinkFault fault_to(const Pooler *p, const Cancel *x) {
  return link_fault(p, LINK_CANCEL_TO_SERVER, x->host);
}

/* One address may hide several postmasters: the carrier reaches the one that the balancer picks. */
static void pick_host(Pooler *p, Cancel *x) {
  if (x->pool != DIRECT && pool_config(p, x->pool)->cancel_to_first) {
    x->host = 0;
    return;
  }
  if (x->pool == DIRECT) return;
  const PoolConfig *c = pool_config(p, x->pool);
  if (c->n_servers < 2) return;
  guint i = 0;
  if (c->balance == BALANCE_RANDOM) i = (guint)world_choose(p->w, p->ch_host, c->n_servers);
  if (c->balance == BALANCE_ROUND_ROBIN) i = (guint)pool_at(p, x->pool)->next_host++ % c->n_servers;
  pool_at(p, x->pool)->next_host = (uint16_t)(pool_at(p, x->pool)->next_host % c->n_servers);
  x->host = c->servers[i];
}

static Step carrier_failed(Pooler *p, Cancel *x) {
  Fanout f = config_of(p)->fanout;
  bool more = x->pool != DIRECT && (f == FANOUT_ALL || f == FANOUT_ALL_NODES);
  if (x->pool != DIRECT) pool_at(p, x->pool)->flags |= PLF_FAILED;
  if (!more) return cancel_ends(p, x, OUT_LOST);
  return cancel_next_pool(p, x);
}

/* carrier: twice. Another one carries the same key; nobody knows of it but the two servers. */
static void twin(Pooler *p, const Cancel *x) {
  Cancel *y = x->flags & XF_TWIN ? NULL : cancel_free_entry(p);
  if (!y) return;
  *y = *x;
  y->stage = X_DELIVER;
  y->flags = (uint16_t)((x->flags & (XF_STALE | XF_BY_SECRET)) | XF_TWIN | XF_TOLD | XF_CARRIER);
  y->server = 0;
  measure_carrier(p, y->pool, 1);
  y->proc = spawn_for(p, p->cancel_procs, cancel_id(p, y), link_connect(p, LINK_CANCEL_TO_SERVER, x->host));
}

Step cancel_connect(Pooler *p, Cancel *x, ProcId self) {
  if (x->pool != DIRECT && !fence_passes(p, x)) return cancel_ends(p, x, OUT_DROPPED);
  if (!(x->flags & XF_CARRIER)) measure_carrier(p, x->pool, 1);
  x->flags |= XF_CARRIER;
  if (step_is(p, x->pool, POOLSTEP_CLOSE_CARRIER, DO_EARLY)) { /* an EOF that lies: it has not been forwarded yet */
    fence_over(p, x);
    cancel_tell_sender(p, x);
  }
  if (step_is(p, x->pool, POOLSTEP_CARRIER, DO_TWICE)) twin(p, x);
  pick_host(p, x);
  LinkFault fault = fault_to(p, x);
  if (fault == FAULT_REFUSE || p->hosts[x->host]->down) return carrier_failed(p, x);
  bool link = x->flags & XF_LINKED;
  x->stage = link ? X_FORWARD : X_DELIVER;
  if (fault == FAULT_SILENT) {
    x->stage = X_STUCK;
    return cancel_waits(p, x, self, x->pool == DIRECT ? NO_LIMIT : pool_config(p, x->pool)->cancel_connect_timeout_ns);
  }
  return wait_connect(p, link_connect(p, LINK_CANCEL_TO_SERVER, x->host));
}

Step cancel_forward(Pooler *p, Cancel *x) {
  if (!lookup_key(p, x)) {
    carrier_connected(p, x);
    x->flags |= XF_FORWARDED;
    return cancel_ends(p, x, OUT_DROPPED);
  }
  fence_forwarded(p, x, &p->servers[x->server - 1]);
  x->stage = X_DELIVER;
  return step_ran();
}

/* Whichever of the pooler's limits comes first ends the waiting for an EOF. */
static int64_t eof_limit(const Pooler *p, const Cancel *x) {
  const PoolConfig *c = pool_config(p, x->pool);
  int64_t hold = c->fence == FENCE_HOLD_TIMEOUT ? c->fence_ns : NO_LIMIT;
  if (hold < 0 || c->ack_ns < 0) return MAX(hold, c->ack_ns);
  return MIN(hold, c->ack_ns);
}

/* Written; under way. With fire_and_forget the pooler is done with it. */
Step cancel_deliver(Pooler *p, Cancel *x, ProcId self) {
  if (!(x->flags & XF_FORWARDED)) {
    x->flags |= XF_FORWARDED;
    carrier_connected(p, x);
    if (!(x->flags & XF_TWIN)) measure_cancel_forwarded(p, x);
    said(p, self, party_cancel(p, x), (Party){PARTY_HOST, x->host}, "CancelRequest for pid %u", x->pid);
    fence_limit(p, x);
    if (x->pool != DIRECT && pool_config(p, x->pool)->ack == ACK_NONE) {
      cancel_forgets(p, x);
      fence_over(p, x);
      if (x->child)
        watch_start(p, WATCH_CHILD, cancel_id(p, x), config_of(p)->node_gap_ns, false, 0, 0);
      else
        cancel_tell_sender(p, x);
    }
    if (fault_to(p, x) == FAULT_RESET || link_loses(p, LINK_CANCEL_TO_SERVER, x->host)) {
      outcome_keep(p, x, OUT_LOST, NULL);
      x->stage = fault_to(p, x) == FAULT_RESET ? X_EOF : X_STUCK;
      return x->stage == X_EOF ? step_ran() : cancel_waits(p, x, self, x->pool == DIRECT ? NO_LIMIT : eof_limit(p, x));
    }
    int64_t ns = link_delay(p, LINK_CANCEL_TO_SERVER, x->host);
    if (ns > 0) return step_sleep(ns);
    x->stage = X_MATCH;
    return step_in_line();
  }
  x->stage = X_MATCH;
  return step_ran();
}

/* The server closes; when the pooler sees that. */
static Step eof(Pooler *p, Cancel *x, ProcId self) {
  bool unseen = fault_to(p, x) == FAULT_NO_EOF || step_is(p, x->pool, POOLSTEP_CLOSE_CARRIER, DO_SKIP);
  x->stage = unseen ? X_STUCK : X_EOF;
  if (unseen) return cancel_waits(p, x, self, x->pool == DIRECT ? NO_LIMIT : eof_limit(p, x));
  int64_t late = step_late(p, x->pool, POOLSTEP_CLOSE_CARRIER);
  return wait_in_line(link_delay(p, LINK_CANCEL_TO_SERVER, x->host) + late);
}

/* The server's child finds the backend by pid, and its key; what it keeps of it is the pid. */
Step cancel_match(Pooler *p, Cancel *x, ProcId self) {
  PgHost *h = p->hosts[x->host];
  int b = h->down ? -1 : host_match(h, x->pid, x->secret, x->flags & XF_BY_SECRET);
  if (b < 0) {
    if (!(x->flags & XF_JUDGED))
      outcome_keep(p, x, OUT_LOST, NULL); /* logged by the server: wrong key, or no such pid */
    x->stage = X_EOF;
    return eof(p, x, self);
  }
  x->stage = X_SIGNAL;
  return step_ran();
}

static int64_t handled_after(Pooler *p, const ServerConfig *s) {
  if (s->signal != SIGNAL_BOUNDED || !p->timed) return MAX(s->signal_ns, 0);
  return (int64_t)world_choose(p->w, p->ch_signal, (uint64_t)s->signal_ns + 1);
}

Step cancel_signal(Pooler *p, Cancel *x, ProcId self) {
  int b = host_signal(p->hosts[x->host], x->pid);
  x->stage = X_EOF;
  if (b < 0) {
    outcome_keep(p, x, OUT_LOST, NULL);
  } else {
    x->backend = (uint16_t)(b + 1);
    x->flags |= XF_SIGNALLED;
    uint16_t conn = p->hosts[x->host]->backends[b].conn;
    if (conn) said(p, self, (Party){PARTY_HOST, x->host}, (Party){PARTY_SERVER, conn - 1u}, "SIGINT to pid %u", x->pid);
    const ServerConfig *s = &config_of(p)->servers[x->host];
    if (s->signal == SIGNAL_PROMPT) {
      cancel_handle(p, x, false);
    } else {
      x->signal = spawn_for(p, p->signal_procs, cancel_id(p, x), handled_after(p, s));
    }
  }
  return eof(p, x, self);
}

static void next_from(Cancel *x) {
  x->flags &= (uint16_t) ~(XF_FORWARDED | XF_TURN | XF_LINKED | XF_UNLINKED | XF_CARRIER | XF_SIGNALLED | XF_HANDLED);
  x->server = x->backend = 0;
  x->cursor++;
  x->stage = X_LOOKUP;
}

static void go_on_as_another(Pooler *p, Cancel *x) {
  Cancel *y = cancel_free_entry(p);
  if (!y) return;
  *y = *x;
  y->signal = 0;
  next_from(y);
  x->flags |= XF_TOLD; /* its sender is told when the other one is done */
  measure_cancel_goes_on(p, x, y);
  int64_t gap = config_of(p)->fanout == FANOUT_ALL_NODES ? config_of(p)->node_gap_ns : 0;
  y->proc = spawn_for(p, p->cancel_procs, cancel_id(p, y), gap);
}

/* all_nodes and all_pools go on to what else the client holds; the others are done. */
Step cancel_next_pool(Pooler *p, Cancel *x) {
  Fanout f = config_of(p)->fanout;
  bool failed = x->pool != DIRECT && fault_to(p, x) == FAULT_RESET; /* what was written came back as an error */
  fence_over(p, x);
  carrier_done(p, x, true);
  if (f == FANOUT_ALL_STOP && failed) return cancel_finish(p, x);
  if (f == FANOUT_FIRST || x->flags & XF_TWIN || x->pool == DIRECT || x->cursor + 1u >= p->pools_each)
    return cancel_finish(p, x);
  if (x->signal) { /* it waits for its signal; another one goes on */
    go_on_as_another(p, x);
    return cancel_finish(p, x);
  }
  next_from(x);
  return wait_ns(f == FANOUT_ALL_NODES ? config_of(p)->node_gap_ns : 0);
}

Step cancel_stuck(Pooler *p, Cancel *x) {
  if (x->flags & XF_SIGNALLED || x->flags & XF_JUDGED) return cancel_next_pool(p, x);
  return carrier_failed(p, x);
}
