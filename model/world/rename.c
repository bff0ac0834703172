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

/* ---- locals: those of one type are given to its processes by ascending id, the lowest places first ---- */

typedef struct {
  uint32_t at; /* offset in the arena */
  uint32_t from;
} Place;

static gint by_offset(gconstpointer a, gconstpointer b) {
  uint32_t x = ((const Place *)a)->at, y = ((const Place *)b)->at;
  return (x > y) - (x < y);
}

/* A type's processes and places are few; those in order already, which is most often so, are left alone. */
static void place_locals(World *w, guint type, Place *places, uint8_t *kept) {
  size_t size = MAX(((const ProcessType *)w->types->pdata[type])->locals_size, 16);
  guint used = 0, n = 0;
  bool sorted = true;
  for (ProcId p = 1; p <= w->root->procs.count; p++) {
    const Proc *pr = proc_at(w, p);
    if (pr->state == PROC_FREE || pr->type != type) continue;
    if (used) sorted &= places[used - 1].at < pr->locals;
    places[used++] = (Place){pr->locals, pr->locals};
  }
  n = used;
  for (uint32_t at = w->root->free_locals[type]; at; at = *(const uint32_t *)arena_at(w->arena, at)) {
    if (n) sorted &= places[n - 1].at < at;
    places[n++] = (Place){at, 0};
  }
  if (sorted) return;
  for (guint i = 0; i < used; i++) memcpy(kept + i * size, locals_at(w, places[i].at), size);
  qsort(places, n, sizeof *places, by_offset);
  guint i = 0;
  for (ProcId p = 1; p <= w->root->procs.count; p++) {
    Proc *pr = proc_at(w, p);
    if (pr->state == PROC_FREE || pr->type != type) continue;
    pr->locals = places[i].at;
    memcpy(locals_at(w, pr->locals), kept + i * size, size);
    i++;
  }
  w->root->free_locals[type] = 0;
  for (guint k = n; k-- > used;) {
    uint32_t *at = locals_at(w, places[k].at);
    memset(at, 0, size);
    *at = w->root->free_locals[type];
    w->root->free_locals[type] = places[k].at;
  }
}

static guint most_locals(const World *w, size_t *size) {
  guint most = 0;
  for (guint t = 0; t < w->types->len; t++) {
    guint n = w->root->procs.count;
    for (uint32_t at = w->root->free_locals[t]; at; at = *(const uint32_t *)arena_at(w->arena, at)) n++;
    most = MAX(most, n);
    *size = MAX(*size, ((const ProcessType *)w->types->pdata[t])->locals_size);
  }
  return most;
}

static void place_all_locals(World *w) {
  size_t size = 16;
  guint n = most_locals(w, &size);
  Place *places = scratch(w, n * (sizeof(Place) + size));
  for (guint t = 0; t < w->types->len; t++) place_locals(w, t, places, (uint8_t *)(places + n));
}

/* ---- processes and objects ---- */

static void rename_procs(World *w, const ProcId *procs, const ObjectId *objects) {
  guint n = w->root->procs.count, live = 0;
  Proc *old = scratch(w, (n + 1) * sizeof *old);
  for (ProcId p = 1; p <= n; p++) old[p] = *proc_at(w, p);
  for (ProcId p = 1; p <= n; p++) *proc_at(w, p) = (Proc){.state = PROC_FREE};
  for (ProcId p = 1; p <= n; p++) {
    if (old[p].state == PROC_FREE) continue;
    Proc *pr = proc_at(w, procs[p]);
    g_assert(pr->state == PROC_FREE);
    *pr = old[p];
    if (pr->waits_on) pr->waits_on = objects[pr->waits_on];
    if (pr->link) pr->link = procs[pr->link];
    for (guint i = 0; i < pr->n_held; i++) pr->held[i] = objects[pr->held[i]];
    live++;
  }
  g_assert(live == w->root->live);
  w->root->free_proc = 0;
  for (ProcId p = n; p; p--) {
    Proc *pr = proc_at(w, p);
    if (pr->state != PROC_FREE) continue;
    pr->link = w->root->free_proc;
    w->root->free_proc = p;
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
    if (ob->head) ob->head = procs[ob->head];
    if (ob->tail) ob->tail = procs[ob->tail];
  }
}

void world_rename(World *w, const ProcId *procs, const ObjectId *objects) {
  rename_procs(w, procs, objects);
  rename_objects(w, procs, objects);
  place_all_locals(w);
}

size_t world_locals_size(const World *w, TypeId type) {
  return ((const ProcessType *)w->types->pdata[type])->locals_size;
}
