/* footprint.c - what steps touch (explore.h). */
#include "model/world/explore.h"
#include "model/world/world_private.h"

void footprint_touches(Footprint *f, TouchKind how, const void *at, size_t bytes) {
  g_assert(bytes > 0);
  if (f->n == FOOTPRINT_MAX)
    f->everything = true;
  else
    f->ranges[f->n++] = (FootprintRange){at, (uint32_t)bytes, how};
}
void footprint_everything(Footprint *f) {
  f->everything = true;
}
void footprint_reads(Footprint *f, const void *at, size_t bytes) {
  footprint_touches(f, TOUCH_READ, at, bytes);
}
void footprint_writes(Footprint *f, const void *at, size_t bytes) {
  footprint_touches(f, TOUCH_WRITE, at, bytes);
}

void footprint_object(Footprint *f, const World *w, ObjectId o, TouchKind how) {
  footprint_touches(f, how, object_at(w, o), sizeof(Object));
}

/* Ids are given out lowest first, so who comes first decides who is called what; those given back are sorted. */
void footprint_spawns(Footprint *f, const World *w) {
  footprint_touches(f, TOUCH_WRITE, &w->root->free_proc, sizeof w->root->free_proc);
}
void footprint_ends(Footprint *f, const World *w) {
  footprint_touches(f, TOUCH_ADD, &w->root->free_proc, sizeof w->root->free_proc);
}

/* Which two of the same place commute. TOUCH_OWN says that nobody else comes there: two that meet contradict that. */
static bool commute(TouchKind a, TouchKind b) {
  bool queue_a = a >= TOUCH_SEND && a <= TOUCH_TAKE, queue_b = b >= TOUCH_SEND && b <= TOUCH_TAKE;
  if (queue_a && queue_b) return a != b;
  return a == b && (a == TOUCH_READ || a == TOUCH_ADD || a == TOUCH_BITS);
}

static bool ranges_meet(const FootprintRange *a, const FootprintRange *b) {
  const char *x = a->at, *y = b->at;
  return x < y + b->bytes && y < x + a->bytes && !commute(a->how, b->how);
}

bool footprint_only_owns(const Footprint *f) {
  for (guint i = 0; i < f->n; i++)
    if (f->ranges[i].how < TOUCH_OWN) return false;
  return !f->everything;
}

bool footprints_meet(const Footprint *a, const Footprint *b) {
  if ((a->everything && !footprint_only_owns(b)) || (b->everything && !footprint_only_owns(a))) return true;
  for (guint i = 0; i < a->n; i++)
    for (guint j = 0; j < b->n; j++)
      if (ranges_meet(&a->ranges[i], &b->ranges[j])) return true;
  return false;
}

typedef void (*Says)(const World *w, ProcId self, const void *locals, Footprint *f);

static bool owns(const Footprint *f, const void *at) {
  for (guint i = 0; i < f->n; i++)
    if (f->ranges[i].how == TOUCH_OWN && f->ranges[i].at == at) return true;
  return false;
}

static void ask(const World *w, ProcId p, Footprint *f, Says says) {
  const Proc *pr = proc_at(w, p);
  f->n = 0;
  f->everything = !says;
  f->loops = !says;
  if (says) says(w, p, locals_at(w, pr->locals), f);
  if (pr->waits_on && !owns(f, object_at(w, pr->waits_on))) footprint_object(f, w, pr->waits_on, TOUCH_WRITE);
}

void world_footprint(const World *w, ProcId p, Footprint *f) {
  const TypeGuide *g = w->guides[proc_at(w, p)->type];
  ask(w, p, f, g ? g->footprint : NULL);
}
void world_future(const World *w, ProcId p, Footprint *f) {
  const TypeGuide *g = w->guides[proc_at(w, p)->type];
  ask(w, p, f, g ? g->future : NULL);
}

/* What is lost changes what is behind it, so only a sure channel carries; with nothing under way it waits for who
 * sends.
 */
void channel_footprint(const World *w, ObjectId channel, bool future, Footprint *f) {
  const Object *ob = object_at(w, channel);
  bool carries = !ob->exclusive && (future || ob->under_way);
  *f = (Footprint){.n = 0};
  if (ob->kind == OBJECT_CHANNEL) footprint_object(f, w, channel, carries ? TOUCH_CARRY : TOUCH_WRITE);
}

guint world_objects(const World *w) {
  return w->root->objects.count + 1;
}

static bool within(const World *w, const void *at, uint32_t offset, size_t bytes) {
  const char *from = locals_at(w, offset), *x = at;
  return x >= from && x < from + bytes;
}

static bool in_table(const World *w, const Table *t, size_t size, const void *at) {
  for (guint k = 0; k < TABLE_BLOCKS && t->block[k]; k++)
    if (within(w, at, t->block[k], size * ((size_t)TABLE_FIRST << k))) return true;
  return false;
}

static size_t locals_size(const World *w, guint type) {
  return MAX(((const ProcessType *)w->types->pdata[type])->locals_size, 16);
}

static bool in_free_locals(const World *w, const void *at) {
  for (guint t = 0; t < w->types->len; t++)
    for (uint32_t f = w->root->free_locals[t]; f; f = *(const uint32_t *)locals_at(w, f))
      if (within(w, at, f, locals_size(w, t))) return true;
  return false;
}

bool world_is_table(const World *w, const void *at) {
  const char *root = (const char *)w->root, *x = at;
  if (x >= root && x < root + sizeof(Root)) return true;
  return in_table(w, &w->root->procs, sizeof(Proc), at) || in_table(w, &w->root->objects, sizeof(Object), at) ||
         in_table(w, &w->root->nodes, sizeof(Node), at) || in_free_locals(w, at);
}

ProcId world_locals_owner(const World *w, const void *at) {
  for (ProcId p = 1; p <= w->root->procs.count; p++) {
    const Proc *pr = proc_at(w, p);
    if (pr->state != PROC_FREE && within(w, at, pr->locals, locals_size(w, pr->type))) return p;
  }
  return 0;
}
