/* Schedules: the reduced search runs each Mazurkiewicz trace once, as closed forms and published tables count them, and
 * reaches the final states of the unreduced search; random programs, mutants, bounds. */
#include "tests/abstract_shapes.h"
#include "tests/harness.h"
#include "model/world/rng.h"
#include <math.h>

/* ---- what a search saw: distinct traces and final states ---- */

typedef struct {
  Program *program;
  ScheduleProgram plain;
  guint length, who[512], number[512];
  Operation op[512];
  GHashTable *traces, *states;
  uint64_t ends;
} Seen;

static void seen_restart(void *data) {
  Seen *s = data;
  s->length = 0;
  abstract_restart(s->program);
}
static ProcessState seen_pending(void *data, guint p, Operation *out) {
  return abstract_pending(((Seen *)data)->program, p, out);
}
static void seen_step(void *data, guint p, bool *failed, bool *changed) {
  Seen *s = data;
  Operation op;
  g_assert(s->length < G_N_ELEMENTS(s->op));
  ProcessState state = abstract_pending(s->program, p, &op);
  g_assert(state == PROCESS_READY);
  guint number = 1;
  for (guint i = 0; i < s->length; i++) number += s->who[i] == p;
  s->op[s->length] = op, s->who[s->length] = p, s->number[s->length++] = number;
  abstract_step(s->program, p, failed, changed);
}
static const char *seen_broken(void *data, bool end, guint n) {
  return abstract_broken(((Seen *)data)->program, end, n);
}
static int seen_count(void *data, uint64_t semaphore) {
  return abstract_count(((Seen *)data)->program, semaphore);
}

static ScheduleProgram seen_program(Seen *s) {
  return (ScheduleProgram){.data = s,
                           .processes = abstract_all(s->program),
                           .buffers = s->program->tso ? s->program->processes : 0,
                           .restart = seen_restart,
                           .pending = seen_pending,
                           .step = seen_step,
                           .broken = seen_broken,
                           .count = seen_count};
}

/* Dependence once more, as the words of the literature have it. Rounds of spinning change nothing. */
static bool conflict(const Operation *a, const Operation *b) {
  bool locks = operation_lock(a->kind) && operation_lock(b->kind),
       memory = operation_memory(a->kind) && operation_memory(b->kind),
       sems = operation_semaphore(a->kind) && operation_semaphore(b->kind);
  if (a->object != b->object || !(locks || memory || sems)) return false;
  if (memory) return a->kind != OPERATION_READ || b->kind != OPERATION_READ;
  if (sems) return a->kind != OPERATION_UP || b->kind != OPERATION_UP;
  bool sa = a->kind == OPERATION_LOCK_SHARED || a->kind == OPERATION_UNLOCK_SHARED,
       sb = b->kind == OPERATION_LOCK_SHARED || b->kind == OPERATION_UNLOCK_SHARED;
  return !(sa && sb);
}

/* A trace is the set of its ordered conflicting pairs, and who did how much: a sum does not know the order. */
static uint64_t trace_of(const Seen *s) {
  uint64_t sum = s->length;
  for (guint j = 0; j < s->length; j++) {
    uint64_t b = s->who[j] * 1000 + s->number[j];
    sum += rng_mix(b, 7);
    for (guint i = 0; i < j; i++)
      if (s->who[i] != s->who[j] && conflict(&s->op[i], &s->op[j]))
        sum += rng_mix(s->who[i] * 1000 + s->number[i], b + 1000000);
  }
  return sum;
}

static uint64_t state_of(const Program *g) {
  uint64_t h = 1;
  for (int i = 0; i < VARS; i++) h = rng_mix(h, (uint64_t)g->var[i]);
  for (int i = 0; i < LOCKS; i++) h = rng_mix(h, (uint64_t)(g->lock[i] * 100 + g->shared[i]));
  for (int i = 0; i < 4; i++) h = rng_mix(h, (uint64_t)g->sem[i]);
  for (guint p = 0; p < g->processes; p++) {
    h = rng_mix(h, (uint64_t)g->pc[p]);
    for (int i = 0; i < REGS; i++) h = rng_mix(h, (uint64_t)g->reg[p][i]);
  }
  return h;
}

static void keep(GHashTable *set, uint64_t value) {
  if (!g_hash_table_contains(set, &value)) g_hash_table_add(set, g_memdup2(&value, sizeof value));
}

static void at_end(void *user, void *program) {
  (void)program;
  Seen *s = user;
  s->ends++;
  keep(s->traces, trace_of(s));
  keep(s->states, state_of(s->program));
}

static void seen_clear(Seen *s) {
  g_hash_table_unref(s->traces);
  g_hash_table_unref(s->states);
}

static SchedulesResult *search(Program *g, Seen *s, SchedulesOptions o) {
  *s = (Seen){.program = g,
              .traces = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
              .states = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
  ScheduleProgram p = seen_program(s);
  if (!o.max_steps) o.max_steps = 500;
  o.at_end = at_end;
  o.user = s;
  return schedules_search(&p, &o);
}

static const SchedulesOptions reduced = {.strategy = SCHEDULES_DPOR, .preemptions = -1, .delays = -1};
static const SchedulesOptions unreduced = {.strategy = SCHEDULES_DFS, .preemptions = -1, .delays = -1};

static uint64_t factorial(guint n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}
static uint64_t power(uint64_t base, guint n) {
  return n ? base * power(base, n - 1) : 1;
}

/* ---- known numbers ---- */

static void counts(Program g, uint64_t traces, uint64_t redundant) {
  Seen s;
  g_autoptr(SchedulesResult) r = search(&g, &s, reduced);
  if (r->schedules != traces || r->redundant != redundant) fprintf(stderr, "%s of %u:\n", g.name, g.processes);
  expect_int(r->schedules, ==, traces);
  expect_int(g_hash_table_size(s.traces), ==, traces);
  expect_int(r->redundant, ==, redundant);
  seen_clear(&s);
}

static void exactly(Program g, uint64_t traces) {
  counts(g, traces, 0);
}

/* Each number by its own argument: n! orders of n stores; 2^n: each reader before or after the store, (k+1)^n with k
 * loads each; (nk)!/k!^n orders of k stores each; sections as stores; n shared sections before or after. */
static void counted_by_hand(void) {
  for (guint n = 1; n <= 6; n++) exactly(writers(n), factorial(n));
  for (guint n = 1; n <= 8; n++) exactly(readers(n), power(2, n));
  for (guint n = 1; n <= 5; n++) exactly(twice_read(n), power(3, n));
  for (guint n = 1; n <= 10; n++) exactly(apart(n), 1);
  exactly(stores(2, 4), factorial(8) / factorial(4) / factorial(4));
  exactly(stores(3, 2), factorial(6) / 8);
  for (guint n = 1; n <= 5; n++) exactly(sections(n), factorial(n));
  for (guint n = 1; n <= 5; n++) exactly(shared_sections(n), power(2, n));
}

/* A ring of forks, each taken by its left or its right neighbour first: 2^n orientations, of which the one way round is
 * the deadlock, and the other way round cannot be (each would have its second fork before its first). */
static void philosophers_in_a_ring(void) {
  for (guint n = 2; n <= 6; n++) {
    exactly(philosophers(n), power(2, n) - 1);
    Program g = philosophers(n);
    Seen s;
    g_autoptr(SchedulesResult) r = search(&g, &s, reduced);
    expect_int(r->findings->len, ==, 1);
    seen_clear(&s);
  }
}

/* Pairs that conflict may fall either way unless that makes a cycle with the programs' own order: 2^2 - 1 each, and
 * 2^4 - 1 of IRIW. */
static void memory_model_shapes(void) {
  exactly(shape("SB", (Op[]){STORE(0, 1), LOAD(1, 0)}, (Op[]){STORE(1, 1), LOAD(0, 0)}), 3);
  exactly(shape("MP", (Op[]){STORE(0, 1), STORE(1, 1)}, (Op[]){LOAD(1, 0), LOAD(0, 1)}), 3);
  exactly(shape("LB", (Op[]){LOAD(0, 0), STORE(1, 1)}, (Op[]){LOAD(1, 0), STORE(0, 1)}), 3);
  exactly(shape("2+2W", (Op[]){STORE(0, 1), STORE(1, 2)}, (Op[]){STORE(1, 1), STORE(0, 2)}), 3);
  exactly(shape("R", (Op[]){STORE(0, 1), STORE(1, 1)}, (Op[]){STORE(1, 2), LOAD(0, 0)}), 3);
  exactly(shape("S", (Op[]){STORE(0, 2), STORE(1, 1)}, (Op[]){LOAD(1, 0), STORE(0, 1)}), 3);
  exactly(iriw(), 15);
}

/* Table 1 of Abdulla, Aronsson, Jonsson, Sagonas, "Optimal Dynamic Partial Order Reduction", POPL 2014: filesystem(14)
 * 2, (16) 8, (18) 32, (19) 64; indexer(12) 8, (15) 4096 (here 14: 512, by the same doubling of three collisions). */
static void published(void) {
  exactly(filesystem(14), 2);
  exactly(filesystem(16), 8);
  exactly(filesystem(18), 32);
  exactly(indexer(12), 8);
  exactly(indexer(13), 64);
}

/* The same table: last-zero has 64 traces with 5, 3,328 with 10, which is (n + 3) 2^(n-2). Source sets begin some more
 * that turn out redundant, how many depends on whom they try first: with 10 the table's tool begins 7,204 in all. */
static void last_zeros(void) {
  for (guint n = 2; n <= 9; n++) {
    Program g = last_zero(n);
    Seen s;
    g_autoptr(SchedulesResult) r = search(&g, &s, reduced);
    expect_int(r->schedules, ==, (n + 3) * power(2, n) / 4);
    expect_int(g_hash_table_size(s.traces), ==, r->schedules);
    seen_clear(&s);
  }
}

/* ---- against the unreduced search ---- */

static bool same_set(GHashTable *a, GHashTable *b) {
  GHashTableIter i;
  gpointer key;
  if (g_hash_table_size(a) != g_hash_table_size(b)) return false;
  g_hash_table_iter_init(&i, a);
  while (g_hash_table_iter_next(&i, &key, NULL))
    if (!g_hash_table_contains(b, key)) return false;
  return true;
}

static bool agrees(Program g, SchedulesOptions o) {
  Seen a, b;
  g_autoptr(SchedulesResult) r = search(&g, &a, o), all = search(&g, &b, unreduced);
  bool same = same_set(a.states, b.states) && same_set(a.traces, b.traces) &&
              r->schedules == g_hash_table_size(a.traces) && r->findings->len == all->findings->len && !all->cut;
  seen_clear(&a);
  seen_clear(&b);
  return same;
}

static void as_unreduced(void) {
  Program all[] = {writers(4),         readers(5),      twice_read(3), apart(3),     stores(2, 4),  sections(3),
                   shared_sections(2), philosophers(3), iriw(),        last_zero(3), handed_over(2)};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    bool same = agrees(all[i], reduced);
    if (!same) fprintf(stderr, "%s\n", all[i].name);
    expect(same);
  }
}

/* Orders of n processes of k operations each: (nk)!/k!^n. */
static void unreduced_is_everything(void) {
  Program g = stores(3, 3);
  Seen s;
  g_autoptr(SchedulesResult) r = search(&g, &s, unreduced);
  expect_int(r->schedules, ==, factorial(9) / 216);
  seen_clear(&s);
}

static Op draw_op(Rng *r) {
  int v = (int)rng_below(r, 2);
  switch (rng_below(r, 8)) {
  case 0: return (Op){DO_STORE, v, 0, 1 + (int)rng_below(r, 2), 0, (int)rng_below(r, 3)};
  case 1: return (Op){DO_ADD, v, (int)rng_below(r, 2), 1, 0, 0};
  case 2: return (Op){DO_CAS, v, 0, 3, 0, 0};
  case 3: return (Op){DO_DOWN, v, 0, 0, 0, 0};
  case 4: return (Op){DO_UP, v, 0, 0, 0, 0};
  default: return (Op)LOAD(v, (int)rng_below(r, 2));
  }
}

/* Loads, stores, sums and compare-and-swaps among semaphores, within sections of either kind or of a try. */
static Program draw_program(Rng *r) {
  Program g = program("random", 2 + (guint)rng_below(r, 2));
  g.semaphores[0] = 1 + (int)rng_below(r, 2);
  g.semaphores[1] = (int)rng_below(r, 2);
  for (guint p = 0; p < g.processes; p++) {
    guint n = 0, inside = 1 + (guint)rng_below(r, g.processes == 2 ? 3 : 1), kind = (guint)rng_below(r, 4);
    int l = (int)rng_below(r, 2);
    if (g.processes == 2) g.ops[p][n++] = draw_op(r);
    if (kind == 1) g.ops[p][n++] = (Op)LOCKED(l);
    if (kind == 2) g.ops[p][n++] = (Op){DO_LOCK_SHARED, l, 0, 0, 0, 0};
    guint try = n;
    if (kind == 3) g.ops[p][n++] = (Op){DO_TRY, l, 3, 0, 0, 0}, n++;
    for (guint i = 0; i < inside; i++) g.ops[p][n++] = draw_op(r);
    if (kind == 1 || kind == 3) g.ops[p][n++] = (Op)UNLOCKED(l);
    if (kind == 2) g.ops[p][n++] = (Op){DO_UNLOCK_SHARED, l, 0, 0, 0, 0};
    if (kind == 3) g.ops[p][try + 1] = (Op){DO_JUMP_IF, (int)n, 3, 0, 0, 0};
  }
  return g;
}

static void random_programs(void) {
  Rng r;
  rng_init(&r, 1, "programs");
  for (int i = 0; i < 1500; i++) {
    Program g = draw_program(&r);
    bool same = agrees(g, reduced);
    if (!same) fprintf(stderr, "random program %d\n", i);
    expect(same);
    if (!same) break;
  }
}

/* ---- total store order ---- */

enum { OUTCOMES = 64 };
typedef struct {
  bool seen[OUTCOMES];
  int (*outcome)(const Program *g);
  Program *g;
} Outcomes;

static void note_outcome(void *user, void *program) {
  (void)program;
  Outcomes *o = user;
  int k = o->outcome(o->g);
  g_assert(k >= 0 && k < OUTCOMES);
  o->seen[k] = true;
}

/* "00 01 11": final values as the shape lists them. */
static char *outcomes(Program g, int (*outcome)(const Program *g), guint digits, bool tso, SchedulesOptions how) {
  Outcomes o = {.g = &g, .outcome = outcome};
  g.tso = tso;
  ScheduleProgram p = abstract_program(&g);
  how.max_steps = 200;
  how.at_end = note_outcome;
  how.user = &o;
  schedules_result_free(schedules_search(&p, &how));
  GString *out = g_string_new(NULL);
  for (int k = 0; k < OUTCOMES; k++) {
    if (!o.seen[k]) continue;
    if (out->len) g_string_append_c(out, ' ');
    for (guint d = digits; d-- > 0;) g_string_append_c(out, (char)('0' + (k >> 2 * d & 3)));
  }
  return g_string_free(out, FALSE);
}

static void allows(const char *name, Program g, int (*outcome)(const Program *g), guint digits, const char *sc,
                   const char *tso) {
  for (int mode = 0; mode < 4; mode++) {
    g_autofree char *saw = outcomes(g, outcome, digits, mode & 1, mode & 2 ? unreduced : reduced);
    const char *wanted = mode & 1 ? tso : sc;
    if (strcmp(saw, wanted) != 0) fprintf(stderr, "%s, %s:\n", name, mode & 1 ? "TSO" : "SC");
    expect_str(saw, wanted);
  }
}

static int of_two_loads(const Program *g) {
  return g->reg[0][0] << 2 | g->reg[1][0];
}
static int of_second(const Program *g) {
  return g->reg[1][0] << 2 | g->reg[1][1];
}
static int of_memory(const Program *g) {
  return g->var[0] << 2 | g->var[1];
}
static int of_r(const Program *g) {
  return g->var[1] << 2 | g->reg[1][0];
}
static int of_s(const Program *g) {
  return g->reg[1][0] << 2 | g->var[0];
}
static int of_n6(const Program *g) {
  return g->reg[0][0] << 4 | g->reg[0][1] << 2 | g->var[0];
}
/* Only whether the two readers disagree. */
static int of_iriw(const Program *g) {
  return g->reg[2][0] == 1 && g->reg[2][1] == 0 && g->reg[3][0] == 1 && g->reg[3][1] == 0;
}

#define FENCE                                                                                                          \
  { DO_FENCE, 0, 0, 0, 0, 0 }

/* Alglave, Maranget, Tautschnig, "Herding Cats", TOPLAS 36(2), 2014: of these shapes TSO allows what sequential
 * consistency forbids in SB and R alone, and there not with fences between store and load on both sides. n6: Owens,
 * Sarkar, Sewell (2009), allowed: 1, 0 loaded and 1 left in x, as a process sees its own store early. */
static void litmus_tests(void) {
  Op sb[2][2] = {{STORE(0, 1), LOAD(1, 0)}, {STORE(1, 1), LOAD(0, 0)}};
  allows("SB", shape("SB", sb[0], sb[1]), of_two_loads, 2, "01 10 11", "00 01 10 11");
  allows("MP", shape("MP", (Op[]){STORE(0, 1), STORE(1, 1)}, (Op[]){LOAD(1, 0), LOAD(0, 1)}), of_second, 2, "00 01 11",
         "00 01 11");
  allows("LB", shape("LB", (Op[]){LOAD(0, 0), STORE(1, 1)}, (Op[]){LOAD(1, 0), STORE(0, 1)}), of_two_loads, 2,
         "00 01 10", "00 01 10");
  allows("2+2W", shape("2+2W", (Op[]){STORE(0, 1), STORE(1, 2)}, (Op[]){STORE(1, 1), STORE(0, 2)}), of_memory, 2,
         "12 21 22", "12 21 22");
  allows("R", shape("R", (Op[]){STORE(0, 1), STORE(1, 1)}, (Op[]){STORE(1, 2), LOAD(0, 0)}), of_r, 2, "10 11 21",
         "10 11 20 21");
  allows("S", shape("S", (Op[]){STORE(0, 2), STORE(1, 1)}, (Op[]){LOAD(1, 0), STORE(0, 1)}), of_s, 2, "01 02 11",
         "01 02 11");
  allows("IRIW", iriw(), of_iriw, 1, "0", "0");
  Program n6 = program("n6", 2);
  PUT(&n6, 0, STORE(0, 1), LOAD(0, 0), LOAD(1, 1));
  PUT(&n6, 1, STORE(1, 2), STORE(0, 2));
  allows("n6", n6, of_n6, 3, "102 121 122 222", "101 102 121 122 222");
}

static void fences_restore_order(void) {
  Program both = program("SB, fences", 2), one = program("SB, a fence", 2), locked = program("SB, locked", 2);
  PUT(&both, 0, STORE(0, 1), FENCE, LOAD(1, 0));
  PUT(&both, 1, STORE(1, 1), FENCE, LOAD(0, 0));
  allows("SB, fences", both, of_two_loads, 2, "01 10 11", "01 10 11");
  PUT(&one, 0, STORE(0, 1), FENCE, LOAD(1, 0));
  PUT(&one, 1, STORE(1, 1), LOAD(0, 0));
  allows("SB, a fence", one, of_two_loads, 2, "01 10 11", "00 01 10 11");
  for (guint p = 0; p < 2; p++) PUT(&locked, p, {DO_ADD, (int)p, 1, 1, 0, 0}, LOAD(1 - (int)p, 0));
  allows("SB, locked", locked, of_two_loads, 2, "01 10 11", "01 10 11");
}

/* Reduced and unreduced: the same final states, of random programs with stores, loads, fences, locks, semaphores and
 * locked instructions; spinners among them. */
static bool same_states(Program g) {
  Seen a, b;
  g.tso = true;
  g_autoptr(SchedulesResult) few = search(&g, &a, reduced), all = search(&g, &b, unreduced);
  bool same = same_set(a.states, b.states) && few->findings->len == all->findings->len && !few->cut && !all->cut;
  seen_clear(&a);
  seen_clear(&b);
  return same;
}

static Op draw_buffered(Rng *r) {
  int v = (int)rng_below(r, 2);
  switch (rng_below(r, 8)) {
  case 0:
  case 1:
  case 2: return (Op)STORE(v, 1 + (int)rng_below(r, 2));
  case 3: return rng_below(r, 2) ? (Op)FENCE : draw_op(r);
  default: return (Op)LOAD(v, (int)rng_below(r, 3));
  }
}

static void random_buffered(void) {
  Rng r;
  rng_init(&r, 3, "buffered");
  for (int i = 0; i < 150; i++) {
    Program g = program("random, buffered", 2 + (rng_below(&r, 8) == 0));
    g.semaphores[0] = g.semaphores[1] = 1;
    for (guint p = 0; p < g.processes; p++)
      for (guint k = 0; k < (g.processes == 2 ? 3 + (p == 0) : 1 + (p == 0)); k++) g.ops[p][k] = draw_buffered(&r);
    bool same = same_states(g);
    if (!same) fprintf(stderr, "random buffered program %d\n", i);
    expect(same);
    if (!same) break;
  }
}

/* ---- spinning ---- */

static void spinning_ends(void) {
  Seen s;
  Program right = peterson(false), wrong = peterson(true);
  g_autoptr(SchedulesResult) r = search(&right, &s, reduced);
  expect_int(r->findings->len, ==, 0);
  expect_int(r->cut, ==, 0);
  seen_clear(&s);
  g_autoptr(SchedulesResult) bad = search(&wrong, &s, reduced);
  expect_int(bad->findings->len, ==, 1);
  seen_clear(&s);
  expect(agrees(right, reduced));
  expect(agrees(spin_lock(2), reduced));
}

/* A process or two that waits for a variable by spinning, among others that set it. */
static Program draw_spinner(Rng *r) {
  Program g = program("random spinner", 2 + (guint)rng_below(r, 2));
  for (guint p = 0; p < g.processes; p++) {
    guint n = 0;
    if (p == 0 || rng_below(r, 3) == 0) {
      int v = (int)rng_below(r, 2), top = (int)rng_below(r, 2);
      if (top) g.ops[p][n++] = draw_op(r);
      g.ops[p][n++] = (Op)LOAD(v, 2);
      g.ops[p][n] = (Op){DO_JUMP_UNLESS, (int)n + 3, 2, 0, 0, 0};
      n++;
      g.ops[p][n++] = (Op){DO_SPIN, 0, 0, 0, 0, 0};
      g.ops[p][n++] = (Op){DO_JUMP_UNLESS, top, 3, 9, 0, 0};
    }
    for (guint i = 0; i < 2; i++) g.ops[p][n++] = draw_op(r);
  }
  g.semaphores[0] = g.semaphores[1] = 1;
  return g;
}

/* Final states only: two rounds of spinning may see the same, which is one trace more. */
static void random_spinners(void) {
  Rng r;
  rng_init(&r, 2, "spinners");
  for (int i = 0; i < 1000; i++) {
    Program g = draw_spinner(&r);
    Seen a, b;
    g_autoptr(SchedulesResult) few = search(&g, &a, reduced), all = search(&g, &b, unreduced);
    bool same = same_set(a.states, b.states) && few->findings->len == all->findings->len && !few->cut && !all->cut;
    seen_clear(&a);
    seen_clear(&b);
    if (!same) fprintf(stderr, "random spinner %d\n", i);
    expect(same);
    if (!same) break;
  }
}

/* ---- bounds, chance ---- */

/* Interleavings of two processes of k operations with at most c preemptions, one by one. */
static uint64_t bounded(guint k, guint c) {
  uint64_t n = 0;
  for (guint order = 0; order < 1u << 2 * k; order++) {
    guint left[2] = {k, k}, preempted = 0;
    if ((guint)__builtin_popcount(order) != k) continue;
    for (guint i = 0; i < 2 * k; i++) {
      guint p = order >> i & 1;
      preempted += i && p != (order >> (i - 1) & 1) && left[1 - p];
      left[p]--;
    }
    n += preempted <= c;
  }
  return n;
}

static void preemptions_are_bounded(void) {
  for (guint c = 0; c <= 5; c++) {
    Program g = stores(2, 4);
    SchedulesOptions o = unreduced;
    o.preemptions = (int)c;
    Seen s;
    g_autoptr(SchedulesResult) r = search(&g, &s, o);
    expect_int(r->schedules, ==, bounded(4, c));
    seen_clear(&s);
  }
}

/* x := x + 1 twice, not as one: 1 in the end if one was lost, a bug of depth 2. */
static void count_lost(void *user, void *data) {
  (void)data;
  Seen *s = user;
  s->ends += s->program->var[0] == 1;
}

static void pct_keeps_its_promise(void) {
  enum { RUNS = 4000 };
  Program g = program("lost update", 2);
  for (guint p = 0; p < 2; p++) PUT(&g, p, LOAD(0, 0), {DO_STORE, 0, 0, 1, 0, 1});
  Seen s = {.program = &g};
  ScheduleProgram p = seen_program(&s);
  SchedulesOptions o = {.strategy = SCHEDULES_PCT,
                        .changes = 1,
                        .max_schedules = RUNS,
                        .max_steps = 50,
                        .at_end = count_lost,
                        .user = &s,
                        .seed = 3};
  g_autoptr(SchedulesResult) r = schedules_search(&p, &o);
  expect_near(r->bound, 1.0 / (2 * 4), 1e-12); /* n = 2, k = 4, d = 2 */
  expect_int(s.ends, >=, (uint64_t)(RUNS * r->bound));
}

/* The 6 orders of two processes of two stores: the rarest has a chance of 1/8, so that 2000 draws miss none. */
static void random_meets_all(void) {
  Program g = stores(2, 2);
  Seen s;
  SchedulesOptions o = {.strategy = SCHEDULES_RANDOM, .max_schedules = 2000, .seed = 1};
  g_autoptr(SchedulesResult) r = search(&g, &s, o);
  expect_int(r->schedules, ==, 2000);
  expect_int(g_hash_table_size(s.traces), ==, 6);
  seen_clear(&s);
}

/* The shortest schedule that fails with so many preemptions, by trying all words of 0 and 1 by length; G_MAXUINT: none
 * of up to 14 steps. */
static guint fewest_steps(Program *g, guint preemptions) {
  for (guint n = 1; n <= 14; n++)
    for (guint word = 0; word < 1u << n; word++) {
      guint preempted = 0;
      bool could = true, failed, changed;
      Operation op;
      abstract_restart(g);
      for (guint i = 0; i < n && could && !g->failed; i++) {
        guint p = word >> i & 1, last = i ? word >> (i - 1) & 1 : p;
        preempted += p != last && abstract_pending(g, last, &op) == PROCESS_READY && op.kind != OPERATION_SPIN;
        could = abstract_pending(g, p, &op) == PROCESS_READY;
        if (could) abstract_step(g, p, &failed, &changed);
      }
      if (could && g->failed && preempted <= preemptions) return n;
    }
  return G_MAXUINT;
}

/* Peterson's with its stores swapped: one is left between its two stores, the other within its section. With one
 * preemption there is none. */
static void few_preemptions(void) {
  Program g = peterson(true);
  Seen s;
  SchedulesOptions o = {.strategy = SCHEDULES_RANDOM, .max_schedules = 10000, .seed = 4, .findings_max = 1};
  g_autoptr(SchedulesResult) r = search(&g, &s, o);
  ScheduleProgram p = seen_program(&s);
  expect_int(r->findings->len, ==, 1);
  if (!r->findings->len) return;
  ScheduleFinding *f = r->findings->pdata[0];
  schedules_shrink(&p, f, &(ShrinkLimits){.max_steps = 500, .budget = 10000});
  seen_clear(&s);
  expect_int(f->preemptions, ==, 2);
  expect(f->fewest);
  expect_int(f->order->len, ==, fewest_steps(&g, 2));
  SchedulesOptions once = unreduced;
  once.preemptions = 1;
  g_autoptr(SchedulesResult) none = search(&g, &s, once);
  expect_int(none->findings->len, ==, 0);
  seen_clear(&s);
}

/* Delays one by one, by another way: the process that is due goes on unless it is passed over; each one passed over
 * costs one. Two processes of k operations, at most d delays. */
static uint64_t delayed(guint left0, guint left1, guint due, guint d) {
  const guint left[2] = {left0, left1};
  if (!left0 && !left1) return 1;
  if (!left[due]) return delayed(left0, left1, 1 - due, d);
  uint64_t n = delayed(left0 - (due == 0), left1 - (due == 1), due, d);
  if (d && left[1 - due]) n += delayed(left0 - (due == 1), left1 - (due == 0), 1 - due, d - 1);
  return n;
}

static void delays_are_bounded(void) {
  for (guint d = 0; d <= 6; d++) {
    Program g = stores(2, 4);
    SchedulesOptions o = unreduced;
    o.delays = (int)d;
    Seen s;
    g_autoptr(SchedulesResult) r = search(&g, &s, o);
    expect_int(r->schedules, ==, delayed(4, 4, 0, d));
    seen_clear(&s);
  }
}

/* ---- mutants ---- */

/* A store that is buffered and a load elsewhere: their order matters only through the write. Taken to commute with
 * everything, the write misses what TSO adds. */
static void missed_write_is_seen(void) {
  SchedulesOptions o = reduced;
  o.mutant_commute[0] = OPERATION_READ, o.mutant_commute[1] = OPERATION_WRITE;
  Op sb[2][2] = {{STORE(0, 1), LOAD(1, 0)}, {STORE(1, 1), LOAD(0, 0)}};
  g_autofree char *saw = outcomes(shape("SB", sb[0], sb[1]), of_two_loads, 2, true, o);
  expect(strcmp(saw, "00 01 10 11") != 0);
}

static void missed_dependence_is_seen(void) {
  static const unsigned pairs[][2] = {
      {OPERATION_READ, OPERATION_WRITE}, {OPERATION_WRITE, OPERATION_WRITE}, {OPERATION_LOCK, OPERATION_LOCK}};
  Program programs[] = {readers(3), writers(3), philosophers(3)};
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
    SchedulesOptions o = reduced;
    o.mutant_commute[0] = pairs[i][0], o.mutant_commute[1] = pairs[i][1];
    expect(!agrees(programs[i], o));
    expect(agrees(programs[i], reduced));
  }
}

static void dropped_try_is_seen(void) {
  for (unsigned every = 1; every <= 3; every++) {
    SchedulesOptions o = reduced;
    o.mutant_drop = every;
    expect(!agrees(writers(4), o));
  }
}

int main(void) {
  return suite_run("schedules", (const Case[]){{"counted by hand", counted_by_hand},
                                               {"philosophers in a ring", philosophers_in_a_ring},
                                               {"shapes of memory models", memory_model_shapes},
                                               {"published tables", published},
                                               {"last-zero", last_zeros},
                                               {"unreduced is everything", unreduced_is_everything},
                                               {"as the unreduced search", as_unreduced},
                                               {"random programs", random_programs},
                                               {"litmus tests", litmus_tests},
                                               {"fences restore order", fences_restore_order},
                                               {"random programs with store buffers", random_buffered},
                                               {"spinning ends", spinning_ends},
                                               {"random spinners", random_spinners},
                                               {"preemptions are bounded", preemptions_are_bounded},
                                               {"delays are bounded", delays_are_bounded},
                                               {"PCT keeps its promise", pct_keeps_its_promise},
                                               {"random meets all", random_meets_all},
                                               {"few preemptions", few_preemptions},
                                               {"a missed write is seen", missed_write_is_seen},
                                               {"a missed dependence is seen", missed_dependence_is_seen},
                                               {"a dropped try is seen", dropped_try_is_seen},
                                               {NULL, NULL}});
}
