/* fence.c - what keeps a server connection from changing hands while a cancel may still hit it (poolers.md C.4).
 *
 * A fence holds from the look-up for a copy (whoever has the key can hit from then on), from the forward for a link
 * (what is not forwarded yet can still be unlinked, and is). It ends with the EOF of the carrier: "signalled", not
 * "handled". So every fence that waits for EOF is complete only where a signal is handled in the step that sends it
 * (signal: prompt). retire_session and drain_57014 do not rest on that. */
#include "model/pooler/parts.h"

static const struct {
  /* Keeps it from being used; takes away what is not forwarded when its owner lets go; asks how many were meant for it.
   */
  bool holds, unlinks, counts;
} fences[] = {[FENCE_NONE] = {0},
              [FENCE_UNLINK] = {.unlinks = true},
              [FENCE_HOLD] = {.holds = true, .unlinks = true},
              [FENCE_HOLD_TIMEOUT] = {.holds = true, .unlinks = true},
              [FENCE_REFCOUNT] = {.holds = true, .unlinks = true},
              [FENCE_GENERATION] = {0},
              [FENCE_RETIRE] = {.unlinks = true, .counts = true},
              [FENCE_DRAIN] = {.holds = true, .unlinks = true, .counts = true},
              [FENCE_WAIT] = {.holds = true, .unlinks = true}};

static void hold(Pooler *p, Cancel *x, Server *s) {
  g_assert(x->server == server_id(p, s) + 1);
  x->flags |= XF_FENCE;
  s->fences++;
  if (fences[pool_config(p, s->pool)->fence].counts) s->directed++;
}

/* Its query has ended: by a cancel, if that is what it says. */
void fence_answered(const Pooler *p, Server *s) {
  bool counts = s->pool != DIRECT && fences[pool_config(p, s->pool)->fence].counts;
  if (counts && s->flags & SVF_CANCELLED) s->seen++;
}

void fence_looked_up(Pooler *p, Cancel *x, Server *s) {
  hold(p, x, s);
}
void fence_forwarded(Pooler *p, Cancel *x, Server *s) {
  hold(p, x, s);
}

bool fence_holds(const Pooler *p, const Server *s) {
  return s->fences > 0 && fences[pool_config(p, s->pool)->fence].holds;
}

/* A fixed time that runs from the forward. */
bool fence_goes_on(const Pooler *p, const Cancel *x) {
  return x->flags & XF_FENCE && x->flags & XF_FORWARDED && x->pool != DIRECT &&
         pool_config(p, x->pool)->fence == FENCE_WAIT;
}

/* The cancel has nothing to do with the connection any more. */
void fence_over(Pooler *p, Cancel *x) {
  if (!fence_goes_on(p, x)) fence_lift(p, x);
}

void fence_lift(Pooler *p, Cancel *x) {
  if (!(x->flags & XF_FENCE)) return;
  x->flags &= (uint16_t)~XF_FENCE;
  if (p->q_fence) queue_wake_all(p->w, p->q_fence[cancel_id(p, x)], 0);
  if (!x->server) return;
  Server *s = &p->servers[x->server - 1];
  int64_t late = step_late(p, s->pool, POOLSTEP_UNFENCE);
  x->server = 0;
  if (late > 0)
    watch_start(p, WATCH_UNFENCE, server_id(p, s), late, false, 0, 0);
  else if (step_times(p, s->pool, POOLSTEP_UNFENCE))
    fence_end(p, s);
}

void fence_end(Pooler *p, Server *s) {
  bool early = step_is(p, s->pool, POOLSTEP_UNFENCE, DO_EARLY);
  g_assert(s->fences > 0 || early);
  s->fences = early || s->fences == 0 ? 0 : (uint16_t)(s->fences - 1);
  if (s->fences > 0 || s->state != SV_FENCED || child_has(p, s)) return;
  for (guint n = step_times(p, s->pool, POOLSTEP_UNFENCE); n > 0; n--) pool_unfence(p, s);
}

static void unlink_one(Pooler *p, Cancel *x) {
  (void)p;
  x->server = 0;
  x->flags |=
      XF_UNLINKED; /* a parked one stays where it is: found out when a carrier has come up for it (poolers.md A.2) */
}

void fence_release(Pooler *p, Server *s) {
  int64_t late = step_late(p, s->pool, POOLSTEP_UNLINK);
  if (!fences[pool_config(p, s->pool)->fence].unlinks || step_is(p, s->pool, POOLSTEP_UNLINK, DO_SKIP)) return;
  if (late > 0)
    watch_start(p, WATCH_UNLINK, server_id(p, s), late, false, 0, 0);
  else
    fence_unlink(p, s);
}

void fence_unlink(Pooler *p, const Server *s) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->server == server_id(p, s) + 1 && x->flags & XF_LINKED && !(x->flags & XF_FENCE)) unlink_one(p, x);
  }
}

/* The connection is gone: links are cleared, what holds it holds nothing. */
void fence_closed(Pooler *p, const Server *s) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->server != server_id(p, s) + 1) continue;
    bool unforwarded = x->flags & XF_LINKED && !(x->flags & XF_FENCE);
    x->flags &= (uint16_t)~XF_FENCE;
    x->server = 0;
    if (unforwarded) unlink_one(p, x);
  }
}

/* generation_check: the pooler looks once more before it connects; retire_session's grace: likewise. */
bool fence_passes(const Pooler *p, const Cancel *x) {
  const PoolConfig *c = pool_config(p, x->pool);
  if (c->fence != FENCE_GENERATION || !x->server) return true;
  return p->servers[x->server - 1].tenancy == x->tenancy;
}

/* T of hold_until_eof_with_timeout, a limit, and of hold_until: [T], which is none, count from the forward. */
void fence_limit(Pooler *p, const Cancel *x) {
  if (!(x->flags & XF_FENCE) || !p->q_fence) return;
  Fence f = pool_config(p, x->pool)->fence;
  ObjectId on = p->q_fence[cancel_id(p, x)];
  if (f == FENCE_HOLD_TIMEOUT || f == FENCE_WAIT)
    watch_start(p, WATCH_FENCE, cancel_id(p, x), pool_config(p, x->pool)->fence_ns, f != FENCE_WAIT, on, 0);
}
