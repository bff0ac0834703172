/* event_queue.h - the pending events of a simulation, in a total order that no implementation detail decides.
 *
 * Order: time, then rank (the caller's rule for ties: 0 for all, or rng_mix of who it is for), then the order of
 * adding. A pending event is known by a handle, never by a pointer: cancel and move are safe at any time, also after
 * the event was popped or cancelled, when they say false. Pops count the ties, because a result that depends on how
 * ties fall is one the explorer should look at. The queue owns no payload. Asserts on misuse; nothing here fails
 * otherwise. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct EventQueue EventQueue;

/* Never used again: a stale handle stays stale for the life of the queue. 0 is no event. */
typedef uint64_t EventHandle;

typedef struct {
  uint32_t kind, subject;
  uint64_t data;
} EventPayload;

typedef struct {
  int64_t t; /* ns */
  uint64_t rank;
  EventPayload payload;
} Event;

/* At most 2^22 events pending at once and 2^42 added in all (days of the fastest simulation). */
EventQueue *event_queue_new(void);
void event_queue_free(EventQueue *q);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventQueue, event_queue_free)

/* Any time may be added, also one before the last pop: whether that is an error is for the clock's owner to say. */
EventHandle event_queue_add(EventQueue *q, int64_t t, uint64_t rank, EventPayload payload);
/* False, and nothing happens, when the event is pending no more. */
bool event_queue_cancel(EventQueue *q, EventHandle h);
/* To another time and rank; among equals it keeps its place in the order of adding. */
bool event_queue_move(EventQueue *q, EventHandle h, int64_t t, uint64_t rank);
bool event_queue_pending(const EventQueue *q, EventHandle h);

/* The first event of the order; false when there is none. */
bool event_queue_pop(EventQueue *q, Event *event);
bool event_queue_peek(const EventQueue *q, Event *event);
guint event_queue_size(const EventQueue *q);
uint64_t event_queue_ties(const EventQueue *q); /* pops that left another event of the same time pending */
/* All pending events, in no order worth knowing: what is computed from them must not depend on it. */
void event_queue_each(const EventQueue *q, void (*fn)(int64_t t, EventPayload payload, void *data), void *data);
