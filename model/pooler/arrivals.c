/* arrivals.c - clients that come by themselves, whoever is served or not: all together, one each so long, or a Poisson
 * process, in phases. Where no number is given as many come as arrive; one that finds all of the entry's places in use
 * is refused. */
#include "model/pooler/parts.h"

typedef struct {
  uint16_t def, phase;
  uint32_t first, slots, came;
  uint32_t waiting, spare;
  int64_t left_ns; /* of the phase */
} Arrivals;

void arrivals_start(Pooler *p, guint def, guint first, guint slots) {
  const ClientDef *d = &config_of(p)->work.clients[def];
  Arrivals *a = world_locals(p->w, world_spawn(p->w, p->t_arrivals, draw_ns(p, &d->start)));
  *a = (Arrivals){.def = (uint16_t)def, .first = first, .slots = slots, .left_ns = d->arrive[0].for_ns};
  p->shared->clients_left++; /* itself: more may come */
}

static void arrive(Pooler *p, Arrivals *a) {
  const ClientDef *d = &config_of(p)->work.clients[a->def];
  a->came++;
  for (guint i = 0; i < a->slots; i++) {
    guint slot = d->count > 0 ? a->first + a->came - 1 : a->first + i;
    Client *c = &p->clients[slot];
    if (c->proc || c->cancels) {
      if (d->count > 0) break;
      continue;
    }
    *c = (Client){.def = a->def, .copy = (uint16_t)(slot - a->first + 1)};
    p->shared->clients_left++;
    client_start(p, slot, 0);
    return;
  }
  measure_refused(p, &p->clients[a->first]);
}

static Step leave(Pooler *p) {
  p->shared->clients_left--;
  if (p->shared->clients_left == 0) watches_end(p);
  return step_done();
}

static int64_t gap(const Pooler *p, const ArrivalPhase *ph) {
  if (ph->kind == CLIENTS_TOGETHER) return 0;
  Delay d = {ph->kind == CLIENTS_POISSON ? DELAY_EXP : DELAY_FIXED, ph->gap_ns, ph->gap_ns};
  return draw_ns(p, &d);
}

/* The next one comes after a gap; one that would come after its phase's end comes in the next phase, if at all. */
static Step arrivals_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  Arrivals *a = locals;
  const ClientDef *d = &config_of(p)->work.clients[a->def];
  if (a->waiting) arrive(p, a);
  a->waiting = 0;
  if (a->phase >= d->n_arrive || (d->count > 0 && a->came >= (uint32_t)d->count)) return leave(p);
  const ArrivalPhase *ph = &d->arrive[a->phase];
  int64_t ns = a->came == 0 && ph->kind == CLIENTS_EVERY ? 0 : gap(p, ph);
  if (ph->for_ns >= 0 && ns > a->left_ns) {
    int64_t rest = a->left_ns;
    if (++a->phase < d->n_arrive) a->left_ns = d->arrive[a->phase].for_ns;
    return wait_ns(rest);
  }
  a->left_ns -= ns;
  a->waiting = 1;
  return wait_ns(ns);
}

static const char *arrivals_at(const World *w, const void *locals) {
  (void)w;
  return ((const Arrivals *)locals)->waiting ? "arrive" : "next";
}
static bool unforced(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return true;
}
const TypeGuide arrivals_guide = {.unforced = unforced};
const ProcessType arrivals_type = {"arrivals", sizeof(Arrivals), arrivals_resume, arrivals_at};
