/* locks.c - a backend that waits for anything but a lock (its client, most of all) with an LWLock in hand stops the
 * server; so does one that waits for a lock it holds itself; one that ended with a lock stops it for good. */
#include "checks/checks.h"

static bool waits_in_vain(const World *w, ProcId p, GString *why) {
  ObjectId on = world_waits_on(w, p);
  SiteId held;
  if (!on || lock_held_by(w, p, &held, 1) == 0) return false;
  if (object_is_lock(w, on) && !lock_held(w, on, p)) return false;
  g_string_printf(why, "%s[%u] holds %s while it waits for %s", world_name_of(w, p), p,
                  ledger_site_name(world_ledger((World *)w), held), object_name(w, on));
  return true;
}

Judgement check_locks_released(const Model *m, GString *why) {
  const World *w = m->world;
  if (lock_ended_holding(w)) {
    g_string_printf(why, "%u process(es) ended with a lock still held", lock_ended_holding(w));
    return JUDGED_BROKEN;
  }
  for (ProcId p = 1; p < world_processes(w); p++)
    if (world_alive(w, p) && waits_in_vain(w, p, why)) return JUDGED_BROKEN;
  return JUDGED_FINE;
}
