/* test_shrink.c - counterexamples are as short as can be, and of those of a length with as few processes as can be. */
#include "checks/shrink.h"
#include "sim/own_checks.h"
#include "tests/small_models.h"

/* ---- a sum that must stay below two: `once` adds one, `twice` adds one and one. Three ways of two steps: once and
 * twice in either order, or twice alone ---- */
typedef struct {
  int64_t sum;
} Sum;
typedef struct {
  MachineHead head;
  uint16_t left;
} Adder;
static Step add_one(World *w, ProcId p, void *l) {
  Adder *a = l;
  ((Sum *)world_data(w, p))->sum++;
  a->head.pc = 0;
  return a->left-- > 1 ? step_ran() : step_done();
}
static const Stage once_stages[] = {{"add", add_one}}, twice_stages[] = {{"add", add_one}};
MACHINE(once, Adder, once_stages)
MACHINE(twice, Adder, twice_stages)

static void *sum_build(World *w) {
  Sum *s = arena_alloc(world_arena(w), sizeof *s);
  ((Adder *)world_locals(w, small_spawn(w, &once, s)))->left = 1;
  ((Adder *)world_locals(w, small_spawn(w, &twice, s)))->left = 2;
  return s;
}
static bool two(const World *w, const void *model, GString *why) {
  (void)w;
  (void)why;
  return ((const Sum *)model)->sum >= 2;
}
static const PluginCheck sum_checks[] = {{"below-two", "the sum stays below two", two}};
static const ModelPlugin sums = {
    .version = MODEL_PLUGIN_VERSION, .name = "sums", .build = sum_build, .checks = sum_checks, .n_checks = 1};

static guint processes_of(const Finding *f) {
  guint seen = 0;
  for (guint i = 0; i < f->path->len; i++) seen |= 1u << g_array_index(f->path, Branch, i).move.subject;
  return (guint)__builtin_popcount(seen);
}

static void shrunk(Strategy strategy, bool bfs) {
  SearchOptions o = {.strategy = strategy, .findings_max = 1, .walks = 200, .bits_log2 = 20, .jobs = 1, .seed = 1};
  o.stepper = (StepperConfig){.build = small_build, .source = (gpointer)&sums};
  g_autoptr(Stepper) s = search_stepper(&o.stepper, NULL);
  const Check *check = own_checks(stepper_model(s)).checks;
  o.checks = &check;
  o.n_checks = 1;
  g_autoptr(SearchResult) r = search_run(&o, NULL);
  const Finding *f = r->findings->pdata[0];
  if (bfs) expect_int(processes_of(f), ==, 2); /* the first way that it comes to: else nothing is shown here */
  expect(shrink_findings(&o, r, NULL));
  f = r->findings->pdata[0];
  expect_int(f->path->len, ==, 2);
  expect_int(processes_of(f), ==, 1);
}

static void fewest_processes_of_the_shortest(void) {
  shrunk(STRATEGY_BFS, true);
}
static void fewest_processes_of_other_strategies(void) {
  shrunk(STRATEGY_DFS, false);
  shrunk(STRATEGY_RANDOM, false);
}

int main(void) {
  static const Case cases[] = {{"fewest processes of the shortest", fewest_processes_of_the_shortest},
                               {"fewest processes of other strategies", fewest_processes_of_other_strategies},
                               {0}};
  return suite_run("shrink", cases);
}
