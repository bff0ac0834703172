/* explore.c - see explore.h. */
#include "model/world/explore.h"
#include "model/world/world_private.h"

G_STATIC_ASSERT(TYPES_MAX == G_N_ELEMENTS(((WorldPeak *)0)->locals));

/* ---- moves ---- */

static bool guard_lets(const World *w, ProcId p, const Proc *pr) {
  const TypeGuide *g = w->guides[pr->type];
  return !g || !g->guard || g->guard(w, p, locals_at(w, pr->locals));
}

static bool can_fire(const World *w, ProcId p, const Proc *pr, MayFire limits, void *data) {
  if (pr->state != PROC_BLOCKED || !pr->timer) return false;
  return pr->timer == 1 || (limits && limits(w, p, data));
}

/* Tables are walked block by block: entries of one lie side by side. */
#define EACH(w, table, Type, id, entry)                                                                                \
  for (uint32_t id = 1, k_ = 0, left_ = 0; id <= (table)->count; k_++)                                                 \
    for (Type *entry = (left_ = (uint32_t)TABLE_FIRST << k_, locals_at((w), (table)->block[k_]));                      \
         left_ && id <= (table)->count; left_--, id++, entry++)

/* There are at most two moves a process and two an object. */
void world_moves(const World *w, MayFire limits, void *data, GArray *out) {
  g_array_set_size(out, 2 * (w->root->procs.count + w->root->objects.count));
  Move *first = (Move *)(void *)out->data, *m = first;
  EACH(w, &w->root->procs, const Proc, p, pr) {
    if (pr->state == PROC_READY && guard_lets(w, p, pr)) *m++ = (Move){MOVE_RESUME, p};
    if (can_fire(w, p, pr, limits, data)) *m++ = (Move){MOVE_FIRE, p};
  }
  EACH(w, &w->root->objects, const Object, o, ob) {
    if (ob->kind != OBJECT_CHANNEL || !ob->under_way) continue;
    *m++ = (Move){MOVE_DELIVER, o};
    if (ob->exclusive) *m++ = (Move){MOVE_LOSE, o};
  }
  g_array_set_size(out, (guint)(m - first));
}

void world_move(World *w, Move m) {
  switch (m.kind) {
  case MOVE_RESUME: world_resume(w, m.subject); break;
  case MOVE_FIRE:
    timer_fire(w, m.subject);
    world_resume(w, m.subject);
    break;
  case MOVE_DELIVER: channel_deliver(w, m.subject); break;
  case MOVE_LOSE: channel_lose(w, m.subject); break;
  }
}

/* ---- one form ---- */

/* The free list once more, lowest id first: walking down from the highest and pushing each free one does it. */
static void sort_free_procs(World *w) {
  Root *r = w->root;
  if (!r->free_proc) return;
  r->free_proc = 0;
  for (ProcId p = r->procs.count; p; p--) {
    Proc *pr = proc_at(w, p);
    if (pr->state != PROC_FREE || pr->kept) continue;
    *pr = (Proc){.state = PROC_FREE, .link = r->free_proc}; /* what it was is forgotten */
    r->free_proc = p;
  }
}

static void sort_free_objects(World *w) {
  Root *r = w->root;
  if (!r->free_object) return;
  r->free_object = 0;
  for (ObjectId o = r->objects.count; o; o--) {
    Object *ob = object_at(w, o);
    if (ob->kind != OBJECT_FREE) continue;
    *ob = (Object){.kind = OBJECT_FREE, .link = r->free_object};
    r->free_object = o;
  }
}

/* Insertion sort of a list of arena offsets that is almost sorted and short: the free locals of one type. */
static void sort_free_locals(World *w, guint type) {
  uint32_t sorted = 0, next;
  for (uint32_t at = w->root->free_locals[type]; at; at = next) {
    uint32_t *place = &sorted;
    next = *(uint32_t *)arena_at(w->arena, at);
    while (*place && *place < at) place = arena_at(w->arena, *place);
    *(uint32_t *)arena_at(w->arena, at) = *place;
    *place = at;
  }
  w->root->free_locals[type] = sorted;
}

/* Messages are copied out in the order of channels and put back from node 1 on. */
static void number_messages(World *w) {
  Root *r = w->root;
  Message kept[256];
  g_autofree Message *many = r->nodes.count > G_N_ELEMENTS(kept) ? g_new(Message, r->nodes.count) : NULL;
  Message *m = many ? many : kept;
  guint n = 0, back = 0;
  EACH(w, &r->objects, Object, o, ob)
  if (ob->kind == OBJECT_CHANNEL)
    for (uint32_t i = ob->first; i; i = message_node(w, i)->next) m[n++] = message_node(w, i)->m;
  EACH(w, &r->objects, Object, o2, of) {
    guint length = of->kind == OBJECT_CHANNEL ? of->arrived + of->under_way : 0;
    if (length == 0) continue;
    of->first = back + 1;
    for (guint i = 0; i < length; i++, back++)
      *message_node(w, back + 1) = (Node){.m = m[back], .next = i + 1 < length ? back + 2 : 0};
    of->last = back;
  }
  g_assert(back == n);
  r->free_node = 0;
  for (uint32_t i = r->nodes.count; i > n; i--) {
    *message_node(w, i) = (Node){.next = r->free_node};
    r->free_node = i;
  }
}

void world_canon(World *w) {
  if (!w->reshaped) return;
  w->reshaped = false;
  sort_free_procs(w);
  sort_free_objects(w);
  for (guint i = 0; i < w->types->len; i++) sort_free_locals(w, i);
  if (w->root->nodes.count) number_messages(w);
}

/* ---- room ---- */

static void raise_to(guint *peak, guint n) {
  *peak = MAX(*peak, n);
}

/* Tables only grow, so their counts are the peaks; locals in use are those of the live processes of a type. */
void world_peak_note(const World *w, WorldPeak *peak) {
  const Root *r = w->root;
  guint locals[TYPES_MAX] = {0};
  EACH(w, &r->procs, const Proc, p, pr) locals[pr->type] += pr->state != PROC_FREE && !pr->kept;
  for (guint i = 0; i < TYPES_MAX; i++) raise_to(&peak->locals[i], locals[i]);
  raise_to(&peak->procs, r->procs.count);
  raise_to(&peak->objects, r->objects.count);
  raise_to(&peak->nodes, r->nodes.count);
}

static guint free_locals_count(const World *w, guint type) {
  guint n = 0;
  for (uint32_t at = w->root->free_locals[type]; at; at = *(const uint32_t *)arena_at(w->arena, at)) n++;
  return n;
}

static void reserve_locals(World *w, guint type, guint wanted) {
  const ProcessType *t = w->types->pdata[type];
  guint have = free_locals_count(w, type);
  EACH(w, &w->root->procs, const Proc, p, pr) have += pr->state != PROC_FREE && !pr->kept && pr->type == type;
  for (; have < wanted; have++) {
    uint32_t *at = arena_alloc(w->arena, MAX(t->locals_size, 16));
    *at = w->root->free_locals[type];
    w->root->free_locals[type] = arena_offset(w->arena, at);
  }
}

void world_reserve(World *w, const WorldPeak *peak) {
  Root *r = w->root;
  for (guint i = 0; i < w->types->len; i++) reserve_locals(w, i, peak->locals[i]);
  while (r->procs.count < peak->procs) {
    uint32_t p = table_add(w, &r->procs, sizeof(Proc));
    proc_at(w, p)->link = r->free_proc;
    r->free_proc = p;
  }
  while (r->objects.count < peak->objects) {
    uint32_t o = table_add(w, &r->objects, sizeof(Object));
    object_at(w, o)->link = r->free_object;
    r->free_object = o;
  }
  while (r->nodes.count < peak->nodes) {
    uint32_t n = table_add(w, &r->nodes, sizeof(Node));
    message_node(w, n)->next = r->free_node;
    r->free_node = n;
  }
  w->reshaped = true;
  world_canon(w);
}
