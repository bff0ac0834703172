/* draw.c - how long things take, and which steps are done otherwise. Where nobody keeps time (an untimed exploration)
 * nothing is drawn: any order is tried anyway. */
#include "model/pooler/parts.h"
#include "model/world/rng.h"

enum { PARTS = 1 << 20 };

int64_t draw_ns(const Pooler *p, const Delay *d) {
  if (d->kind == DELAY_FIXED || !p->timed) return d->low;
  if (d->kind == DELAY_UNIFORM)
    return d->low + (int64_t)world_choose(p->w, p->ch_delay, (uint64_t)(d->high - d->low) + 1);
  return rng_exponential_of((uint32_t)world_choose(p->w, p->ch_delay, UINT64_C(1) << 32), d->low);
}

const LinkConfig *link_of(const Pooler *p, PoolerLink which, guint server) {
  const LinkConfig *links = config_of(p)->links[which];
  if (!links) return NULL;
  return which == LINK_POOLER_TO_SERVER || which == LINK_CANCEL_TO_SERVER ? &links[server] : links;
}

int64_t link_delay(const Pooler *p, PoolerLink which, guint server) {
  const LinkConfig *l = link_of(p, which, server);
  return l ? draw_ns(p, &l->delay) : 0;
}
int64_t link_connect(const Pooler *p, PoolerLink which, guint server) {
  const LinkConfig *l = link_of(p, which, server);
  return l ? draw_ns(p, &l->connect) : 0;
}

LinkFault link_fault(const Pooler *p, PoolerLink which, guint server) {
  const LinkConfig *l = link_of(p, which, server);
  bool one = which == LINK_CLIENT_TO_POOLER || which == LINK_CANCEL_TO_POOLER;
  if (p->cut[(guint)which * (guint)config_of(p)->n_servers + (one ? 0 : server)]) return FAULT_SILENT;
  return l ? l->fault : FAULT_NONE;
}

bool link_loses(const Pooler *p, PoolerLink which, guint server) {
  const LinkConfig *l = link_of(p, which, server);
  if (!l || l->loss <= 0) return false;
  if (!p->timed) return world_choose(p->w, p->ch_loss, 2) == 1;
  return (double)world_choose(p->w, p->ch_loss, PARTS) < l->loss * PARTS;
}

Step wait_ns(int64_t ns) {
  return ns > 0 ? step_sleep(ns) : step_ran();
}

Step wait_in_line(int64_t ns) {
  return ns > 0 ? step_sleep(ns) : step_in_line();
}

Step wait_connect(const Pooler *p, int64_t ns) {
  return config_of(p)->connect_at_once ? wait_ns(ns) : wait_in_line(ns);
}

Step wait_on(const Pooler *p, ObjectId q, ProcId self, bool limit, int64_t ns) {
  if (ns >= 0) timer_arm(p->w, self, limit, ns);
  return queue_wait(p->w, q, self);
}

guint step_times(const Pooler *p, guint pool, PoolStep s) {
  if (pool == DIRECT) return 1;
  switch ((Deviation)pool_config(p, pool)->steps[s].how) {
  case DO_SKIP: return 0;
  case DO_TWICE: return 2;
  default: return 1;
  }
}
int64_t step_late(const Pooler *p, guint pool, PoolStep s) {
  return step_is(p, pool, s, DO_LATE) ? pool_config(p, pool)->steps[s].late_ns : 0;
}

bool step_splits(Pooler *p, guint pool, PoolStep s) {
  if (!step_is(p, pool, s, DO_SPLIT)) return false;
  Process *pr = &p->processes[pool_process(p, pool)];
  if (pr->midway + 1 >= config_of(p)->workers) return false;
  pr->midway++;
  return true;
}

void step_joined(Pooler *p, guint pool) {
  Process *pr = &p->processes[pool_process(p, pool)];
  g_assert(pr->midway > 0);
  pr->midway--;
}

bool step_is(const Pooler *p, guint pool, PoolStep s, Deviation how) {
  return pool != DIRECT && pool_config(p, pool)->steps[s].how == how;
}
