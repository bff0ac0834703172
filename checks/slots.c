/* slots.c - every PGPROC slot is somewhere exactly once: on its pool's free list or in the hands of one live backend. A
 * slot twice on a list is handed out twice later (the double return of a lock-group leader's slot, 2026); one that is
 * nowhere is a connection lost for good. */
#include "checks/checks.h"
#include "model/postgres/server.h"

/* Marks each slot on the pool's list; a list longer than all slots runs in a circle. */
static bool walk(const PgShared *s, PgPool pool, guint8 *times, int total, GString *why) {
  int steps = 0;
  for (int p = pg_free_first(s, pool); p >= 0; p = pg_free_next(s, p)) {
    if (steps++ > total) return g_string_printf(why, "the free list of pool %d runs in a circle", (int)pool), false;
    if (++times[p] > 1) return g_string_printf(why, "slot %d is on a free list twice", p), false;
  }
  return true;
}

static bool owner_lives(const Model *m, int owner) {
  return owner == PG_BACKGROUND || (owner > 0 && world_alive(m->world, (ProcId)owner));
}

static Judgement judge_slots(const Model *m, const PgShared *s, const guint8 *times, int total, GString *why) {
  for (int p = 0; p < total; p++) {
    PgSlot slot = pg_slot(s, p);
    if (slot.pool == PG_AUXILIARY) continue; /* no free list: found by a search */
    bool owned = owner_lives(m, slot.owner) || slot.kept;
    if (times[p] + owned == 1) continue;
    if (owned)
      g_string_printf(why, "slot %d is on a free list, but process %d owns it", p, slot.owner);
    else
      g_string_printf(why, "slot %d is lost: on no free list, and no live backend owns it", p);
    return JUDGED_BROKEN;
  }
  return JUDGED_FINE;
}

Judgement check_slot_owned_once(const Model *m, GString *why) {
  if (!m->server) return JUDGED_BLIND;
  const PgShared *s = pg_server_shared(m->server);
  int total = pg_shared_pools(s)->total;
  g_autofree guint8 *times = g_new0(guint8, (gsize)total);
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++)
    if (!walk(s, pool, times, total, why)) return JUDGED_BROKEN;
  return judge_slots(m, s, times, total, why);
}
