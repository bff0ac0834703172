/* bench_core.c - speed of the core, one JSON line a measurement, in CPU time of one core: the best of a few rounds,
 * since other work on the machine only ever makes a round slower.
 *
 * Anchors: the rates of Cimba (C), measured on another machine (shared cores of the Zen 5 class); a hold model pops the
 * first event and adds one later by a random time. "exponential" pays for the draw too, "uniform" hardly. */
#include "model/world/arena.h"
#include "model/world/coro.h"
#include "model/world/ledger.h"
#include "model/world/rng.h"
#include "sim/event_queue.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3, MEAN_NS = 1000000 };

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Least seconds that work(data) took. */
static double best_of(void (*work)(void *data), void *data) {
  double best = 1e99;
  for (int i = 0; i < ROUNDS; i++) {
    double start = cpu_seconds();
    work(data);
    double took = cpu_seconds() - start;
    best = MIN(best, took);
  }
  return best;
}

static void report_ns(const char *bench, const char *what, long n, double seconds) {
  printf("{\"bench\":\"%s\",%s\"ns\":%.2f}\n", bench, what, seconds * 1e9 / (double)n);
}

/* ---- hold model, plain and with a coroutine resumed by each event ---- */
typedef struct Hold Hold;
typedef struct {
  Hold *hold;
  uint32_t self;
} Actor;
struct Hold {
  EventQueue *q;
  Rng r;
  uint32_t pending, events;
  bool exponential;
  int64_t now;
  Coro **coros;
};

static void hold_plan(Hold *h, uint32_t who) {
  int64_t after = h->exponential ? rng_exponential(&h->r, MEAN_NS) : (int64_t)rng_below(&h->r, 2 * MEAN_NS);
  event_queue_add(h->q, h->now + after, 0, (EventPayload){.subject = who});
}

static void hold_events(void *data) {
  Hold *h = data;
  Event e;
  for (uint32_t i = 0; i < h->events && event_queue_pop(h->q, &e); i++) {
    h->now = e.t;
    if (h->coros)
      coro_resume(h->coros[e.payload.subject]);
    else
      hold_plan(h, e.payload.subject);
  }
}

static void actor(Coro *self, void *arg) {
  Actor *a = arg;
  for (;; coro_yield(self)) hold_plan(a->hold, a->self);
}

static Coro **actors_new(Hold *h, Actor *actors) {
  Coro **coros = g_new(Coro *, h->pending);
  for (uint32_t i = 0; i < h->pending; i++) {
    actors[i] = (Actor){h, i};
    coros[i] = coro_new(actor, &actors[i], 16384);
    if (!coros[i]) g_error("no stack for coroutine %u", i);
  }
  return coros;
}

static void hold(uint32_t pending, bool coroutines, bool exponential, double anchor) {
  Hold h = {.q = event_queue_new(), .pending = pending, .events = 2000000, .exponential = exponential};
  rng_init(&h.r, 1, "hold");
  for (uint32_t i = 0; i < pending; i++) hold_plan(&h, i);
  g_autofree Actor *actors = g_new(Actor, pending);
  if (coroutines) h.coros = actors_new(&h, actors);
  double seconds = best_of(hold_events, &h);
  printf("{\"bench\":\"%s\",\"pending\":%u,\"times\":\"%s\",\"events_per_s\":%.0f,\"anchor_events_per_s\":%.0f}\n",
         coroutines ? "hold_coroutines" : "hold", pending, exponential ? "exponential" : "uniform", h.events / seconds,
         anchor * 1e6);
  for (uint32_t i = 0; coroutines && i < pending; i++) coro_free(h.coros[i]);
  g_free(h.coros);
  event_queue_free(h.q);
}

static void bench_hold(void) {
  static const struct {
    uint32_t pending;
    double anchor;
  } plain[] = {{1, 34}, {10, 14.5}, {100, 10.4}, {1000, 7.6}, {10000, 5.1}, {100000, 3.1}},
    coros[] = {{2, 14.6}, {10, 10.7}, {100, 7.5}, {1000, 5.3}, {10000, 1.2}};
  for (int exponential = 1; exponential >= 0; exponential--) {
    for (guint i = 0; i < G_N_ELEMENTS(plain); i++) hold(plain[i].pending, false, exponential, plain[i].anchor);
    for (guint i = 0; i < G_N_ELEMENTS(coros); i++) hold(coros[i].pending, true, exponential, coros[i].anchor);
  }
}

/* ---- coroutine switches: a resume and the yield that answers it are two ---- */
enum { SWITCHES = 10000000 };

static void ping(Coro *self, void *arg) {
  for (;; coro_yield(self)) ++*(long *)arg;
}
static void switch_rounds(void *data) {
  for (int i = 0; i < SWITCHES / 2; i++) coro_resume(data);
}
static void reset_rounds(void *data) {
  static long n;
  for (int i = 0; i < SWITCHES / 10; i++) {
    coro_reset(data, ping, &n);
    coro_resume(data);
  }
}
static void bench_coro(void) {
  long n = 0;
  g_autoptr(Coro) c = coro_new(ping, &n, 0);
  report_ns("coro_switch", "\"limit_ns\":20,", SWITCHES, best_of(switch_rounds, c));
  report_ns("coro_reset_and_resume", "", SWITCHES / 10, best_of(reset_rounds, c));
}

/* ---- arena ---- */
typedef struct {
  Arena *a;
  uint8_t *bytes;
  size_t size;
  ArenaSnapshot *s;
  long times;
  uint64_t sink;
} Store;

static void save_new(void *data) {
  Store *s = data;
  for (long i = 0; i < s->times; i++) arena_snapshot_free(arena_save(s->a, NULL));
}
static void save_into(void *data) {
  Store *s = data;
  for (long i = 0; i < s->times; i++) s->s = arena_save(s->a, s->s);
}
static void restore(void *data) {
  Store *s = data;
  for (long i = 0; i < s->times; i++) arena_restore(s->a, s->s);
}
static void hash_changed(void *data) {
  Store *s = data;
  for (long i = 0; i < s->times; i++) {
    s->bytes[(size_t)i * 7919 % s->size]++;
    s->sink += arena_hash(s->a).lo;
  }
}
static void hash_whole(void *data) {
  Store *s = data;
  for (long i = 0; i < s->times; i++) s->sink += arena_hash_whole(s->a).lo;
}

static void bench_arena(size_t size, long times) {
  Store s = {.a = arena_new(size), .size = size, .times = times};
  s.bytes = arena_alloc(s.a, size);
  for (size_t i = 0; i < size; i++) s.bytes[i] = (uint8_t)(i * i >> 3);
  s.s = arena_save(s.a, NULL);
  arena_hash(s.a);
  g_autofree char *what = g_strdup_printf("\"bytes\":%zu,", size);
  report_ns("arena_save_new", what, times, best_of(save_new, &s));
  report_ns("arena_save_into", what, times, best_of(save_into, &s));
  report_ns("arena_restore", what, times, best_of(restore, &s));
  report_ns("arena_hash_one_byte_changed", what, times, best_of(hash_changed, &s));
  report_ns("arena_hash_whole", what, times, best_of(hash_whole, &s));
  arena_snapshot_free(s.s);
  arena_free(s.a);
}

/* ---- random streams, ledger ---- */
enum { DRAWS = 10000000 };
typedef struct {
  Rng r;
  uint64_t sink;
} Draws;
static void draw_next(void *data) {
  Draws *d = data;
  for (int i = 0; i < DRAWS; i++) d->sink += rng_next(&d->r);
}
static void draw_below(void *data) {
  Draws *d = data;
  for (int i = 0; i < DRAWS; i++) d->sink += rng_below(&d->r, 1000);
}
static void draw_exponential(void *data) {
  Draws *d = data;
  for (int i = 0; i < DRAWS; i++) d->sink += (uint64_t)rng_exponential(&d->r, MEAN_NS);
}
static void bench_rng(void) {
  Draws d = {0};
  rng_init(&d.r, 1, "bench");
  report_ns("rng_next", "", DRAWS, best_of(draw_next, &d));
  report_ns("rng_below", "", DRAWS, best_of(draw_below, &d));
  report_ns("rng_exponential", "", DRAWS, best_of(draw_exponential, &d));
}

static void charge(void *data) {
  Ledger *l = data;
  SiteId locks[] = {1, 2};
  for (guint i = 0; i < DRAWS; i++)
    ledger_charge(l, (FieldId)(1 + i % 16), (SiteId)(1 + i % 24), locks, 2,
                  (Charge){.faults = 1, .stores = 1, .ns = 250});
}
static void bench_ledger(void) {
  g_autoptr(Ledger) l = ledger_new();
  for (int i = 0; i < 32; i++) {
    g_autofree char *name = g_strdup_printf("n%d", i);
    ledger_field(l, name);
    ledger_site(l, name);
  }
  report_ns("ledger_charge", "\"locks\":2,", DRAWS, best_of(charge, l));
}

int main(void) {
  bench_hold();
  bench_coro();
  bench_arena(100, 1000000);
  bench_arena(4096, 200000);
  bench_arena(16 << 20, 10);
  bench_rng();
  bench_ledger();
  return 0;
}
