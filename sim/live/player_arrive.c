/* player_arrive.c - which clients are there: all from the start, or one after another (model/pooler/arrivals.c). */
#include "sim/live/live.h"

/* Who comes where no number is given takes the first free place. */
static guint free_place(const Live *l, guint def) {
  g_autofree guint8 *taken = g_new0(guint8, (gsize)l->config->work.clients[def].at_once + 2);
  for (guint i = l->arrivals[def].oldest; i < l->players->len; i++) {
    const Player *p = PLAYER(l, i);
    if (p->def_index == def && p->stage != P_OVER) taken[p->place] = 1;
  }
  guint place = 1;
  while (taken[place]) place++;
  return place;
}

static guint player_add(Live *l, guint def, guint copy) {
  const ClientDef *d = &l->config->work.clients[def];
  Player p = {.def = d, .def_index = def, .began = l->now};
  for (guint k = 0; k < SESSIONS_MAX; k++)
    p.sessions[k] = (PlayerSession){.conn = -1, .query = NONE, .server_conn = -1};
  if (d->count == 0) copy = free_place(l, def);
  p.place = copy;
  p.name = d->count == 1 ? g_strdup(d->name) : g_strdup_printf("%s.%u", d->name, copy);
  g_array_append_val(l->players, p);
  return l->players->len - 1;
}

void players_new(Live *l) {
  for (guint d = 0; d < (guint)l->config->work.n_clients; d++) {
    const ClientDef *def = &l->config->work.clients[d];
    if (def->n_arrive) {
      live_at(l, live_draw(l, &def->start), DO_ARRIVE, d, 0);
      continue;
    }
    for (guint k = 0; k < (guint)def->count; k++) {
      guint client = player_add(l, d, k + 1);
      PLAYER(l, client)->began = 0;
      live_at(l, live_draw(l, &def->start), DO_SCRIPT, client, 0);
    }
  }
}

static int64_t gap_ns(Live *l, const ArrivalPhase *ph) {
  if (ph->kind == CLIENTS_TOGETHER) return 0;
  Delay d = {ph->kind == CLIENTS_POISSON ? DELAY_EXP : DELAY_FIXED, ph->gap_ns, ph->gap_ns};
  return live_draw(l, &d);
}

static bool more_come(const ClientDef *d, const Arrivals *a) {
  return a->phase < (guint)d->n_arrive && !(d->count > 0 && a->came >= (guint)d->count);
}

/* After a gap; one that would come after its phase's end comes in the next phase, if at all. */
static void plan_arrival(Live *l, guint def) {
  const ClientDef *d = &l->config->work.clients[def];
  Arrivals *a = &l->arrivals[def];
  for (int64_t waited = 0; more_come(d, a);) {
    const ArrivalPhase *ph = &d->arrive[a->phase];
    int64_t ns = a->came == 0 && ph->kind == CLIENTS_EVERY ? 0 : gap_ns(l, ph);
    if (ph->for_ns < 0 || ns <= ph->for_ns - a->spent_ns) {
      a->spent_ns += ns;
      a->waits = true;
      live_at(l, l->now + waited + ns, DO_ARRIVE, def, 0);
      return;
    }
    waited += ph->for_ns - a->spent_ns;
    a->spent_ns = 0;
    a->phase++;
  }
}

static bool room_for(const Live *l, guint def) {
  const ClientDef *d = &l->config->work.clients[def];
  return d->count > 0 || l->arrivals[def].there < (guint)d->at_once;
}

/* The players before it have left: nobody need look at them again. */
static void oldest_is(Live *l, guint def) {
  Arrivals *a = &l->arrivals[def];
  while (a->oldest < l->players->len &&
         (PLAYER(l, a->oldest)->def_index != def || PLAYER(l, a->oldest)->stage == P_OVER))
    a->oldest++;
}

void player_arrives(Live *l, guint def) {
  Arrivals *a = &l->arrivals[def];
  bool one = a->waits;
  a->waits = false;
  if (one && room_for(l, def))
    a->there++, oldest_is(l, def), live_at(l, l->now, DO_SCRIPT, player_add(l, def, ++a->came), 0);
  else if (one)
    a->came++, l->measure.refused++;
  plan_arrival(l, def);
}
