/* test_event_queue.c - the order by hand-made ties; everything against a list kept sorted by insertion. */
#include "model/world/rng.h"
#include "sim/event_queue.h"
#include "tests/harness.h"

static EventPayload tag(uint64_t data) {
  return (EventPayload){.kind = 1, .subject = 2, .data = data};
}

/* Pops all; the payloads' data as text. */
static char *drain(EventQueue *q) {
  GString *out = g_string_new(NULL);
  for (Event e; event_queue_pop(q, &e);)
    g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, out->len ? " " : "", e.payload.data);
  return g_string_free(out, FALSE);
}

static void orders_by_time_rank_and_adding(void) {
  g_autoptr(EventQueue) q = event_queue_new();
  event_queue_add(q, 20, 0, tag(6));
  event_queue_add(q, 10, 7, tag(3));
  event_queue_add(q, 10, 5, tag(2));
  event_queue_add(q, -5, UINT64_MAX, tag(1));
  event_queue_add(q, 10, 7, tag(4));
  event_queue_add(q, 10, UINT64_MAX, tag(5));
  event_queue_add(q, INT64_MAX, 0, tag(7));
  event_queue_add(q, INT64_MIN, 0, tag(0));
  g_autofree char *order = drain(q);
  expect_str(order, "0 1 2 3 4 5 6 7");
}

/* First in, first out among a thousand equals: the heap's shape must not show. */
static void equals_come_in_order_of_adding(void) {
  g_autoptr(EventQueue) q = event_queue_new();
  for (uint64_t i = 0; i < 1000; i++) event_queue_add(q, 5, 1, tag(i));
  Event e;
  for (uint64_t i = 0; event_queue_pop(q, &e); i++) expect_int(e.payload.data, ==, i);
  expect_int(event_queue_ties(q), ==, 999);
}

static void counts_ties(void) {
  g_autoptr(EventQueue) q = event_queue_new();
  const int64_t times[] = {1, 2, 2, 3, 4, 4, 4, 5}; /* a pair and a triple: 1 + 2 */
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) event_queue_add(q, times[i], i, tag(i));
  Event e;
  while (event_queue_pop(q, &e)) {
  }
  expect_int(event_queue_ties(q), ==, 3);
}

static void a_moved_event_keeps_its_place_among_equals(void) {
  g_autoptr(EventQueue) q = event_queue_new();
  EventHandle first = event_queue_add(q, 1, 0, tag(1));
  event_queue_add(q, 9, 0, tag(2));
  EventHandle third = event_queue_add(q, 12, 0, tag(3));
  expect(event_queue_move(q, third, 9, 0));
  expect(event_queue_move(q, first, 9, 0));
  g_autofree char *order = drain(q);
  expect_str(order, "1 2 3");
}

static void stale_handles_do_nothing(void) {
  g_autoptr(EventQueue) q = event_queue_new();
  Event e;
  expect(!event_queue_pop(q, &e));
  expect(!event_queue_peek(q, &e));
  expect(!event_queue_cancel(q, 0));
  EventHandle fired = event_queue_add(q, 1, 0, tag(1));
  expect(event_queue_pending(q, fired));
  expect(event_queue_pop(q, &e));
  EventHandle again = event_queue_add(q, 2, 0, tag(2)); /* takes the same slot */
  expect(fired != again);
  expect(!event_queue_pending(q, fired));
  expect(!event_queue_cancel(q, fired));
  expect(!event_queue_move(q, fired, 0, 0));
  expect(event_queue_cancel(q, again));
  expect(!event_queue_cancel(q, again));
  expect_int(event_queue_size(q), ==, 0);
}

/* ---- the second implementation: a list kept in order ---- */
typedef struct {
  Event e;
  EventHandle h;
  uint64_t added;
} Entry;

typedef struct {
  GArray *list; /* of Entry, sorted */
  uint64_t added, ties;
} Sorted;

static gboolean entry_before(const Entry *a, const Entry *b) {
  if (a->e.t != b->e.t) return a->e.t < b->e.t;
  if (a->e.rank != b->e.rank) return a->e.rank < b->e.rank;
  return a->added < b->added;
}

static void sorted_insert(Sorted *s, Entry entry) {
  guint i = 0;
  while (i < s->list->len && entry_before(&g_array_index(s->list, Entry, i), &entry)) i++;
  g_array_insert_val(s->list, i, entry);
}

static void sorted_pop(Sorted *s) {
  int64_t t = g_array_index(s->list, Entry, 0).e.t;
  g_array_remove_index(s->list, 0);
  s->ties += s->list->len > 0 && g_array_index(s->list, Entry, 0).e.t == t;
}

static gboolean same_event(const Event *a, const Event *b) {
  return a->t == b->t && a->rank == b->rank && a->payload.kind == b->payload.kind &&
         a->payload.subject == b->payload.subject && a->payload.data == b->payload.data;
}

/* Times and ranks from few values, so that most steps meet ties. */
static void step_add(EventQueue *q, Sorted *s, Rng *r) {
  Entry n = {.e = {(int64_t)rng_below(r, 40) - 20, rng_below(r, 3), {(uint32_t)rng_next(r), 7, rng_next(r)}},
             .added = s->added++};
  n.h = event_queue_add(q, n.e.t, n.e.rank, n.e.payload);
  sorted_insert(s, n);
}

static gboolean step_pop(EventQueue *q, Sorted *s) {
  Event saw, first;
  gboolean some = s->list->len > 0;
  if (event_queue_peek(q, &first) != some || event_queue_pop(q, &saw) != some) return FALSE;
  if (!some) return TRUE;
  gboolean same = same_event(&saw, &first) && same_event(&saw, &g_array_index(s->list, Entry, 0).e);
  sorted_pop(s);
  return same;
}

static gboolean step_change(EventQueue *q, Sorted *s, Rng *r, gboolean cancel) {
  if (s->list->len == 0) return TRUE;
  guint i = (guint)rng_below(r, s->list->len);
  Entry n = g_array_index(s->list, Entry, i);
  g_array_remove_index(s->list, i);
  if (cancel) return event_queue_cancel(q, n.h) && !event_queue_cancel(q, n.h);
  n.e.t = (int64_t)rng_below(r, 40) - 20;
  n.e.rank = rng_below(r, 3);
  sorted_insert(s, n);
  return event_queue_move(q, n.h, n.e.t, n.e.rank);
}

static void add_data(int64_t t, EventPayload payload, void *data) {
  *(uint64_t *)data += payload.data ^ (uint64_t)t;
}

static gboolean same_set(EventQueue *q, const Sorted *s) {
  uint64_t saw = 0, want = 0;
  event_queue_each(q, add_data, &saw);
  for (guint i = 0; i < s->list->len; i++) {
    const Event *e = &g_array_index(s->list, Entry, i).e;
    add_data(e->t, e->payload, &want);
  }
  return saw == want;
}

/* `adds` of 10 steps add: above 3 the queue grows to hundreds, below it hovers around empty. */
static void agrees_with_a_sorted_list(uint64_t seed, uint64_t adds, int steps) {
  g_autoptr(EventQueue) q = event_queue_new();
  Sorted s = {.list = g_array_new(FALSE, FALSE, sizeof(Entry))};
  Rng r;
  rng_init(&r, seed, "event queue");
  gboolean ok = TRUE;
  for (int i = 0; ok && i < steps; i++) {
    uint64_t what = rng_below(&r, 10);
    if (what < adds)
      step_add(q, &s, &r);
    else
      ok = what % 3 == 0 ? step_pop(q, &s) : step_change(q, &s, &r, what % 3 == 1);
    ok = ok && event_queue_size(q) == s.list->len && event_queue_ties(q) == s.ties;
    if (i % 64 == 0) ok = ok && same_set(q, &s);
    if (!ok) fprintf(stderr, "seed %d, step %d: differs from the sorted list\n", (int)seed, i);
  }
  while (ok && s.list->len > 0) ok = step_pop(q, &s);
  expect(ok);
  expect_int(event_queue_ties(q), ==, s.ties);
  g_array_unref(s.list);
}

static void agrees_when_few(void) {
  for (uint64_t seed = 0; seed < 50; seed++) agrees_with_a_sorted_list(seed, 4, 1000);
}
static void agrees_when_many(void) {
  for (uint64_t seed = 0; seed < 4; seed++) agrees_with_a_sorted_list(100 + seed, 7, 4000);
}

/* Heap sort of distinct times, through several doublings of the table. */
static void a_hundred_thousand(void) {
  enum { N = 100000 };
  g_autoptr(EventQueue) q = event_queue_new();
  for (uint64_t i = 0; i < N; i++) event_queue_add(q, (int64_t)(i * 7919 % N), 0, tag(i)); /* 7919 is prime to N */
  int64_t wrong = 0, n = 0;
  for (Event e; event_queue_pop(q, &e); n++) wrong += e.t != n || e.payload.data * 7919 % N != (uint64_t)n;
  expect_int(n, ==, N);
  expect_int(wrong, ==, 0);
  expect_int(event_queue_ties(q), ==, 0);
}

int main(void) {
  return suite_run("event queue", (const Case[]){{"orders by time, rank and adding", orders_by_time_rank_and_adding},
                                                 {"equals come in order of adding", equals_come_in_order_of_adding},
                                                 {"counts ties", counts_ties},
                                                 {"a moved event keeps its place among equals",
                                                  a_moved_event_keeps_its_place_among_equals},
                                                 {"stale handles do nothing", stale_handles_do_nothing},
                                                 {"agrees with a sorted list when few", agrees_when_few},
                                                 {"agrees with a sorted list when many", agrees_when_many},
                                                 {"a hundred thousand", a_hundred_thousand},
                                                 {0}});
}
