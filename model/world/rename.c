/* rename.c - the same state with other ids (explore.h). */
#include "model/world/explore.h"
#include "model/world/world_private.h"

static void *scratch(World *w, size_t bytes) {
  if (w->scratch_bytes < bytes) {
    g_free(w->scratch);
    w->scratch = g_malloc(w->scratch_bytes = 2 * bytes);
  }
  return w->scratch;
}

static size_t locals_size(const World *w, guint type) {
  return MAX(((const ProcessType *)w->types->pdata[type])->locals_size, 16);
}

static bool moves(const Proc *pr, ProcId p, const ProcId *procs) {
  return procs[p] != p && (pr->state != PROC_FREE || pr->kept);
}

/* Behind the records as they were come the locals of those that move, in the same order. */
static size_t keep_procs(World *w, const ProcId *procs) {
  guint n = w->root->procs.count;
  size_t bytes = (n + 1) * sizeof(Proc);
  for (ProcId p = 1; p <= n; p++)
    if (moves(proc_at(w, p), p, procs)) bytes += locals_size(w, proc_at(w, p)->type);
  Proc *old = scratch(w, bytes);
  char *locals = (char *)(old + n + 1);
  for (ProcId p = 1; p <= n; p++) {
    old[p] = *proc_at(w, p);
    if (!moves(&old[p], p, procs)) continue;
    memcpy(locals, locals_at(w, old[p].locals), locals_size(w, old[p].type));
    locals += locals_size(w, old[p].type);
  }
  return bytes;
}

static void rename_procs(World *w, const ProcId *procs, const ObjectId *objects) {
  keep_procs(w, procs);
  guint n = w->root->procs.count;
  const Proc *old = w->scratch;
  const char *locals = (const char *)(old + n + 1);
  for (ProcId p = 1; p <= n; p++) {
    if (old[p].state == PROC_FREE && !old[p].kept) continue;
    Proc *pr = proc_at(w, procs[p]);
    uint32_t place = old[procs[p]].locals;
    g_assert(old[procs[p]].type == old[p].type);
    *pr = old[p];
    pr->locals = place;
    if (pr->state == PROC_BLOCKED) pr->waits_on = objects[pr->waits_on], pr->link = procs[pr->link];
    for (guint i = 0; i < pr->n_held; i++) pr->held[i] = objects[pr->held[i]];
    if (!moves(&old[p], p, procs)) continue;
    memcpy(locals_at(w, place), locals, locals_size(w, pr->type));
    locals += locals_size(w, pr->type);
  }
}

static void rename_objects(World *w, const ProcId *procs, const ObjectId *objects) {
  guint n = w->root->objects.count;
  Object *old = scratch(w, (n + 1) * sizeof *old);
  for (ObjectId o = 1; o <= n; o++) old[o] = *object_at(w, o);
  for (ObjectId o = 1; o <= n; o++) {
    if (old[o].kind == OBJECT_FREE) continue;
    g_assert(old[objects[o]].kind == old[o].kind);
    Object *ob = object_at(w, objects[o]);
    *ob = old[o];
    ob->head = procs[ob->head];
    ob->tail = procs[ob->tail];
  }
}

guint world_wait_place(const World *w, ProcId p) {
  ObjectId o = world_waits_on(w, p);
  guint place = 1;
  if (!o) return 0;
  for (ProcId q = object_at(w, o)->head; q != p; q = proc_at(w, q)->link) place++;
  return place;
}

void world_rename(World *w, const ProcId *procs, const ObjectId *objects) {
  g_assert(procs[0] == 0 && objects[0] == 0);
  rename_procs(w, procs, objects);
  rename_objects(w, procs, objects);
}
