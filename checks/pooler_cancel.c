/* pooler_cancel.c - whom cancels hit, and whether the map that they are looked up in is right. */
#include "checks/checks.h"

/* What a step did is a mark of the world; the pooler says it in words. */
Judgement pooler_marked(const Model *m, uint64_t marks, GString *why) {
  if (!m->pooler) return JUDGED_BLIND;
  uint64_t seen = world_marks(m->world) & marks;
  if (!seen) return JUDGED_FINE;
  g_string_assign(why, pooler_words(m->pooler, seen));
  return JUDGED_BROKEN;
}

Judgement check_cancel_hits_its_query(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_MISROUTE | POOLER_FOREIGN, why);
}

Judgement check_cancel_hits_only_its_query(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_MISROUTE | POOLER_FOREIGN | POOLER_SELF_LATE | POOLER_POOLER_OWN, why);
}

typedef bool (*Wrong)(const Pooler *p, const MapView *v, GString *why);

static Judgement judge_map(const Model *m, Wrong wrong, GString *why) {
  if (!m->pooler) return JUDGED_BLIND;
  for (guint pool = 0; pool < pooler_pools(m->pooler); pool++)
    for (guint s = 0; s < pooler_sessions(m->pooler); s++) {
      MapView v = pooler_map(m->pooler, pool, s);
      if (wrong(m->pooler, &v, why)) return JUDGED_BROKEN;
    }
  return JUDGED_FINE;
}

static bool incomplete(const Pooler *p, const MapView *v, GString *why) {
  if (v->runs_on < 0 || v->server == v->runs_on) return false;
  const char *name = pooler_session_name(p, v->client);
  if (v->server == -1)
    g_string_printf(why, "%s runs a query on server %d and has no entry in the cancel map", name, v->runs_on);
  else
    g_string_printf(why, "%s runs a query on server %d, but its entry in the cancel map names %s", name, v->runs_on,
                    v->server < 0 ? "one that is gone" : "another server");
  return true;
}

Judgement check_cancel_map_complete(const Model *m, GString *why) {
  return judge_map(m, incomplete, why);
}

static bool unsound(const Pooler *p, const MapView *v, GString *why) {
  if (v->server == -1 || v->names_it) return false;
  const char *name = pooler_session_name(p, v->client);
  if (v->server == POOLER_NAMES_NOTHING)
    g_string_printf(why, "the cancel map's entry of %s names a server connection that is gone", name);
  else if (!v->live)
    g_string_printf(why, "the cancel map's entry of %s names server %d, which is not checked out", name, v->server);
  else
    g_string_printf(why, "the cancel map's entry of %s names server %d, which it does not own", name, v->server);
  return true;
}

Judgement check_cancel_map_sound(const Model *m, GString *why) {
  return judge_map(m, unsound, why);
}

Judgement check_row_from_one_shard(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_ROW_TWICE, why);
}
