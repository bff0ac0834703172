/* children.c - the postmaster's children: a list with the newest first, walked to count them (to 17) and to find a dead
 * one by its pid (always), and the slots of PMChildFlags.
 *
 * How far a walk comes is counted without walking: each child has a place, places grow with age of the server, and a
 * Fenwick tree counts the children from a place on. When places run out they are dealt anew in the same order. */
#include "model/postgres/backend.h"
#include <string.h>

enum { SMALL = 1024 };

static void count(PgServer *sv, int place, int by) {
  for (int i = place + 1; i <= sv->n_places; i += i & -i) sv->place_count[i] += by;
}

static int up_to(const PgServer *sv, int place) {
  int n = 0;
  for (int i = place + 1; i > 0; i -= i & -i) n += sv->place_count[i];
  return n;
}

void children_open(PgServer *sv, int connections) {
  Arena *a = world_arena(sv->w);
  int flags = pg_pmchild_flags(sv->shared);
  sv->children_max = pg_children_max(&sv->config);
  sv->n_children = flags + connections + 64; /* with slots, and dead-end children: no more than there are connections */
  sv->n_places = 2 * sv->n_children;
  sv->child = arena_alloc(a, (size_t)sv->n_children * sizeof *sv->child);
  sv->place_count = arena_alloc(a, (size_t)(sv->n_places + 1) * sizeof *sv->place_count);
  sv->place_child = arena_alloc(a, (size_t)sv->n_places * sizeof *sv->place_child);
  for (int i = 0; i < sv->n_children; i++) sv->child[i].next = i + 1 < sv->n_children ? i + 1 : -1;
  for (int i = 0; i < sv->n_places; i++) sv->place_child[i] = -1;
  sv->state->next_slot = sv->children_max;
  sv->slot_used = arena_alloc(a, (size_t)flags);
  sv->slot_stack = arena_alloc(a, (size_t)flags * sizeof *sv->slot_stack);
  sv->state->free_slots = sv->children_max;
  for (int i = 0; i < sv->children_max; i++) sv->slot_stack[i] = sv->children_max - 1 - i; /* the lowest is on top */
}

/* All children keep their order. */
static void deal_places(PgServer *sv) {
  int place = 0;
  memset(sv->place_count, 0, (size_t)(sv->n_places + 1) * sizeof *sv->place_count);
  for (int i = 0; i < sv->n_places; i++) {
    int child = sv->place_child[i];
    if (child < 0) continue;
    sv->place_child[i] = -1;
    sv->place_child[place] = child;
    sv->child[child].place = place;
    count(sv, place++, 1);
  }
  g_assert(place == sv->state->children && place < sv->n_places);
  sv->state->place = place;
}

/* To 17: AssignPostmasterChildSlot looks downwards from the slot given last, around the end. Later: a pool, last in
 * first out. */
static int slot_assign(PgServer *sv) {
  ServerState *st = sv->state;
  if (st->free_slots == 0) return -1;
  if (sv->config.child_list == CHILD_LIST_POOLED) {
    int slot = sv->slot_stack[--st->free_slots];
    sv->slot_stack[st->free_slots] = 0;
    return slot;
  }
  do st->next_slot = st->next_slot == 0 ? sv->children_max - 1 : st->next_slot - 1;
  while (sv->slot_used[st->next_slot]);
  sv->slot_used[st->next_slot] = 1;
  st->free_slots--;
  return st->next_slot;
}

static void slot_release(PgServer *sv, int slot) {
  if (sv->config.child_list == CHILD_LIST_POOLED)
    sv->slot_stack[sv->state->free_slots] = slot;
  else
    sv->slot_used[slot] = 0;
  sv->state->free_slots++;
}

/* Since 18 background children have pools of their own, which are never short here. To 17 the limit is on all children.
 */
int child_add(PgServer *sv, bool background) {
  ServerState *st = sv->state;
  int i = st->free_child;
  g_assert(i >= 0);
  if (st->place == sv->n_places) deal_places(sv);
  bool pooled = sv->config.child_list == CHILD_LIST_POOLED;
  bool none = pooled ? background : st->children >= sv->children_max;
  st->free_child = sv->child[i].next;
  sv->child[i] = (Child){.place = st->place++, .slot = none ? -1 : slot_assign(sv), .next = -1};
  sv->place_child[sv->child[i].place] = i;
  count(sv, sv->child[i].place, 1);
  st->children++;
  return i;
}

int child_walk(const PgServer *sv, int child) {
  return sv->state->children - up_to(sv, sv->child[child].place) + 1;
}

void child_remove(PgServer *sv, int child) {
  Child *c = &sv->child[child];
  if (c->slot >= 0) slot_release(sv, c->slot);
  sv->place_child[c->place] = -1;
  count(sv, c->place, -1);
  *c = (Child){.slot = -1, .next = sv->state->free_child};
  sv->state->free_child = child;
  sv->state->children--;
  if (sv->n_places <= SMALL) deal_places(sv); /* so that a small model's state does not tell how old it is */
}
