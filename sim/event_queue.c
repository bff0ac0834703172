/* event_queue.c - a heap of four children a node over (time, slot), with everything else in a table of slots.
 *
 * The node is 16 bytes, so the four children of a node are one cache line, and finding the least of them is one miss.
 * What breaks a tie (rank, handle) stays in the slot and is looked at only when times are equal. `where` maps a slot
 * to its place in the heap, so that cancel and move need no search; a free slot's entry is the next free slot instead,
 * last freed first, which keeps a queue of few events within few lines.
 *
 * Places start at ROOT = 3: then the children of p are 4p-8 .. 4p-5, always a whole aligned line. */
#include "sim/event_queue.h"
#include <stdlib.h>

enum { ROOT = 3, WAYS = 4, LINE = 64, FIRST_CAPACITY = 64, SLOT_BITS = 22, SEQUENCE_BITS = 64 - SLOT_BITS };

typedef struct {
  int64_t t;
  uint32_t slot;
} Node;

typedef struct {
  uint64_t rank;
  EventHandle handle; /* sequence, then slot: of two handles the one added first is less. 0: the slot is free */
  EventPayload payload;
} Slot;

struct EventQueue {
  Node *heap; /* places ROOT .. end-1 */
  Slot *slots;
  uint32_t *where;        /* by slot: its place; of a free slot: the next free one */
  uint32_t end, capacity; /* of slots; the heap holds `capacity + ROOT` places */
  uint32_t used, free;    /* slots ever used; first free one, NO_SLOT: none */
  uint64_t sequence, ties;
};

static const uint32_t NO_SLOT = UINT32_MAX;

static uint32_t child_of(uint32_t p) {
  return WAYS * p - 8;
}
static uint32_t parent_of(uint32_t p) {
  return p / WAYS + 2;
}

static void grow(EventQueue *q) {
  g_assert(q->capacity < 1u << SLOT_BITS);
  uint32_t capacity = q->capacity ? 2 * q->capacity : FIRST_CAPACITY;
  /* A multiple of LINE, as aligned_alloc wants: capacity is, and one line covers ROOT. */
  Node *heap = aligned_alloc(LINE, capacity * sizeof(Node) + LINE);
  if (!heap) g_error("event queue: no memory for %u events", capacity);
  for (uint32_t p = ROOT; p < q->end; p++) heap[p] = q->heap[p];
  free(q->heap);
  q->heap = heap;
  q->slots = g_renew(Slot, q->slots, capacity);
  q->where = g_renew(uint32_t, q->where, capacity);
  q->capacity = capacity;
}

EventQueue *event_queue_new(void) {
  EventQueue *q = g_new0(EventQueue, 1);
  q->end = ROOT;
  q->free = NO_SLOT;
  grow(q);
  return q;
}

void event_queue_free(EventQueue *q) {
  if (!q) return;
  free(q->heap);
  g_free(q->slots);
  g_free(q->where);
  g_free(q);
}

/* Handles differ, so this is a strict total order. */
static bool tie_before(const EventQueue *q, uint32_t a, uint32_t b) {
  const Slot *x = &q->slots[a], *y = &q->slots[b];
  return x->rank != y->rank ? x->rank < y->rank : x->handle < y->handle;
}

static inline bool before(const EventQueue *q, Node a, Node b) {
  if (G_UNLIKELY(a.t == b.t)) return tie_before(q, a.slot, b.slot);
  return a.t < b.t;
}

static inline void put(EventQueue *q, uint32_t p, Node n) {
  q->heap[p] = n;
  q->where[n.slot] = p;
}

/* n goes to p or above it. */
static void sift_up(EventQueue *q, uint32_t p, Node n) {
  for (uint32_t up; p > ROOT && before(q, n, q->heap[up = parent_of(p)]); p = up) put(q, p, q->heap[up]);
  put(q, p, n);
}

/* The least child of p, 0 when it has none. */
static inline uint32_t least_child(const EventQueue *q, uint32_t p) {
  uint32_t c = child_of(p);
  const Node *h = q->heap;
  if (G_LIKELY(c + WAYS <= q->end)) { /* a knock-out of four: its sums leave the compiler no branch to mispredict */
    uint32_t a = c + before(q, h[c + 1], h[c]), b = c + 2 + before(q, h[c + 3], h[c + 2]);
    return before(q, h[b], h[a]) ? b : a;
  }
  if (c >= q->end) return 0;
  uint32_t least = c;
  for (c++; c < q->end; c++)
    if (before(q, h[c], h[least])) least = c;
  return least;
}

/* n goes to p or below it. The hole goes down to a leaf first and n up from there: n was a leaf, so it nearly always
 * belongs near one, and asking at each level whether to stop would cost more (Wegener, "Bottom-up heapsort", 1993). */
static void sift_down(EventQueue *q, uint32_t p, Node n) {
  uint32_t top = p;
  for (uint32_t c; (c = least_child(q, p)) != 0; p = c) put(q, p, q->heap[c]);
  for (uint32_t up; p > top && before(q, n, q->heap[up = parent_of(p)]); p = up) put(q, p, q->heap[up]);
  put(q, p, n);
}

/* Either way: n is new at place p. */
static void sift(EventQueue *q, uint32_t p, Node n) {
  if (p > ROOT && before(q, n, q->heap[parent_of(p)]))
    sift_up(q, p, n);
  else
    sift_down(q, p, n);
}

static uint32_t slot_take(EventQueue *q) {
  uint32_t slot = q->free;
  if (slot != NO_SLOT) {
    q->free = q->where[slot];
    return slot;
  }
  if (q->used == q->capacity) grow(q);
  return q->used++;
}

static void slot_give(EventQueue *q, uint32_t slot) {
  q->slots[slot].handle = 0;
  q->where[slot] = q->free;
  q->free = slot;
}

EventHandle event_queue_add(EventQueue *q, int64_t t, uint64_t rank, EventPayload payload) {
  uint32_t slot = slot_take(q);
  g_assert(q->sequence < ((uint64_t)1 << SEQUENCE_BITS) - 1);
  EventHandle h = ++q->sequence << SLOT_BITS | slot;
  q->slots[slot] = (Slot){.rank = rank, .handle = h, .payload = payload};
  sift_up(q, q->end++, (Node){.t = t, .slot = slot});
  return h;
}

static uint32_t slot_of(EventHandle h) {
  return (uint32_t)h & ((1u << SLOT_BITS) - 1);
}

bool event_queue_pending(const EventQueue *q, EventHandle h) {
  if (h == 0) return false;
  g_assert(slot_of(h) < q->used); /* a handle of another queue */
  return q->slots[slot_of(h)].handle == h;
}

bool event_queue_cancel(EventQueue *q, EventHandle h) {
  if (!event_queue_pending(q, h)) return false;
  uint32_t p = q->where[slot_of(h)];
  g_assert(q->heap[p].slot == slot_of(h));
  Node last = q->heap[--q->end];
  if (p != q->end) sift(q, p, last);
  slot_give(q, slot_of(h));
  return true;
}

bool event_queue_move(EventQueue *q, EventHandle h, int64_t t, uint64_t rank) {
  if (!event_queue_pending(q, h)) return false;
  q->slots[slot_of(h)].rank = rank;
  sift(q, q->where[slot_of(h)], (Node){.t = t, .slot = slot_of(h)});
  return true;
}

bool event_queue_peek(const EventQueue *q, Event *event) {
  if (q->end == ROOT) return false;
  Node first = q->heap[ROOT];
  const Slot *s = &q->slots[first.slot];
  *event = (Event){.t = first.t, .rank = s->rank, .payload = s->payload};
  return true;
}

bool event_queue_pop(EventQueue *q, Event *event) {
  if (!event_queue_peek(q, event)) return false;
  slot_give(q, q->heap[ROOT].slot);
  Node last = q->heap[--q->end];
  if (q->end == ROOT) return true;
  sift_down(q, ROOT, last);
  q->ties += q->heap[ROOT].t == event->t;
  return true;
}

guint event_queue_size(const EventQueue *q) {
  return q->end - ROOT;
}
uint64_t event_queue_ties(const EventQueue *q) {
  return q->ties;
}

void event_queue_each(const EventQueue *q, void (*fn)(int64_t t, EventPayload payload, void *data), void *data) {
  for (uint32_t p = ROOT; p < q->end; p++) fn(q->heap[p].t, q->slots[q->heap[p].slot].payload, data);
}
