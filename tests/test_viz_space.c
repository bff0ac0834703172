/* test_viz_space.c - the state graph of models small enough to be counted by hand, and its picture. */
#include "checks/space.h"
#include "tests/pictures.h"
#include "tests/small_models.h"
#include "viz/space.h"

/* As in test_viz_states.c. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "fast_unwind_on_malloc=0";
}

/* ---- two processes that add one to a counter of their own, three times: 4 x 4 states, a grid ---- */

typedef struct {
  uint8_t count[2];
} Grid;
typedef struct {
  MachineHead head;
  uint16_t me;
} Adder;

static Step add(World *w, ProcId self, void *locals) {
  Adder *a = locals;
  Grid *g = world_data(w, self);
  a->head.pc = 0;
  return ++g->count[a->me] == 3 ? step_done() : step_ran();
}
static const Stage adder_stages[] = {{"add", add}};
MACHINE(adder, Adder, adder_stages)

static void *grid_build(World *w) {
  Grid *g = arena_alloc(world_arena(w), sizeof *g);
  for (uint16_t i = 0; i < 2; i++) ((Adder *)world_locals(w, small_spawn(w, &adder, g)))->me = i;
  return g;
}
static bool both_two(const World *w, const void *model, GString *why) {
  const Grid *g = model;
  (void)w;
  if (g->count[0] != 2 || g->count[1] != 2) return false;
  g_string_assign(why, "2 = 2 <both>");
  return true;
}
static void grid_describe(const World *w, const void *model, void (*each)(const char *, const char *, void *),
                          void *data) {
  const Grid *g = model;
  (void)w;
  char text[] = {(char)('0' + g->count[0]), ' ', (char)('0' + g->count[1]), '\0'};
  each("counts", text, data);
  each("constant", "c", data);
}
static const PluginCheck grid_checks[] = {{"not-both-two", "", both_two}};
static const ModelPlugin grid = {.version = MODEL_PLUGIN_VERSION,
                                 .name = "grid",
                                 .build = grid_build,
                                 .describe = grid_describe,
                                 .checks = grid_checks,
                                 .n_checks = 1};

/* ---- two processes that take two locks in opposite order ---- */

typedef struct {
  MachineHead head;
  ObjectId first, second;
} Taker;

static Step take_first(World *w, ProcId self, void *locals) {
  return lock_acquire(w, ((Taker *)locals)->first, self, LOCK_EXCLUSIVE);
}
static Step take_second(World *w, ProcId self, void *locals) {
  return lock_acquire(w, ((Taker *)locals)->second, self, LOCK_EXCLUSIVE);
}
static Step leave(World *w, ProcId self, void *locals) {
  const Taker *t = locals;
  lock_release(w, t->second, self);
  lock_release(w, t->first, self);
  return step_done();
}
static const Stage taker_stages[] = {{"take first", take_first}, {"take second", take_second}, {"leave", leave}};
MACHINE(taker, Taker, taker_stages)

static void *takers_build(World *w) {
  ObjectId a = lock_new(w, "a"), b = lock_new(w, "b");
  Taker *one = world_locals(w, small_spawn(w, &taker, w));
  one->first = a, one->second = b;
  Taker *two = world_locals(w, small_spawn(w, &taker, w));
  two->first = b, two->second = a;
  return w;
}
static const ModelPlugin takers = {.version = MODEL_PLUGIN_VERSION, .name = "takers", .build = takers_build};

static Space *space_of(const ModelPlugin *plugin, guint most) {
  StepperConfig config = {.build = small_build, .source = (gpointer)plugin};
  g_autoptr(Stepper) s = search_stepper(&config, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[PLUGIN_CHECKS_MAX];
  for (guint i = 0; i < own.n; i++) checks[i] = &own.checks[i];
  return space_explore(&config, checks, own.n, most, NULL);
}

static guint count(const Space *s, bool (*is)(const SpaceState *)) {
  guint n = 0;
  for (guint i = 0; i < s->states->len; i++) n += is(s->states->pdata[i]);
  return n;
}
static bool is_broken(const SpaceState *s) {
  return s->broken != NULL;
}
static bool is_deadlock(const SpaceState *s) {
  return s->deadlock;
}
static bool is_end(const SpaceState *s) {
  return s->end;
}

static void a_grid_is_counted(void) {
  g_autoptr(Space) s = space_of(&grid, 100);
  expect(!s->more);
  expect_int(s->states->len, ==, 16);    /* 4 x 4 */
  expect_int(s->steps->len, ==, 2 * 12); /* 3 x 4 each way */
  expect_int(count(s, is_broken), ==, 1);
  expect_int(count(s, is_deadlock), ==, 0);
  expect_int(count(s, is_end), ==, 1);
}

/* Each step raises one of the counters by one. */
static void steps_lead_where_they_say(void) {
  g_autoptr(Space) s = space_of(&grid, 100);
  for (guint i = 0; i < s->steps->len; i++) {
    const SpaceStep *step = &g_array_index(s->steps, SpaceStep, i);
    const SpaceState *from = s->states->pdata[step->from], *to = s->states->pdata[step->to];
    const char *a = ((SpaceVariable *)from->variables->pdata[0])->value,
               *b = ((SpaceVariable *)to->variables->pdata[0])->value;
    bool first = !strcmp(step->words, "adder[1] add");
    expect(first || !strcmp(step->words, "adder[2] add"));
    expect_int(b[0] - a[0], ==, first ? 1 : 0);
    expect_int(b[2] - a[2], ==, first ? 0 : 1);
  }
}

static void a_deadlock_is_one(void) {
  g_autoptr(Space) s = space_of(&takers, 100);
  expect_int(count(s, is_deadlock), ==, 1);
  expect_int(count(s, is_end), ==, 1);
}

static void there_may_be_more(void) {
  g_autoptr(Space) s = space_of(&grid, 15);
  expect(s->more);
  expect_int(s->states->len, ==, 15);
  g_autoptr(Space) all = space_of(&grid, 16);
  expect(!all->more);
}

/* ---- the picture ---- */

static char *drawn(const Space *s, const char *name, VizFormat format) {
  g_autofree char *path = picture_path(name);
  g_autoptr(GError) error = NULL;
  expect(viz_space(s, "grid \"<&>\"", path, format, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  return picture_read(path);
}

static void each_state_and_step_once(void) {
  g_autoptr(Space) s = space_of(&grid, 100);
  g_autofree char *dot = drawn(s, "grid.dot", FORMAT_DOT), *svg = drawn(s, "grid.svg", FORMAT_SVG);
  g_autofree char *path = picture_path("grid.svg");
  expect_int(picture_count(dot, " -> "), ==, 24);
  expect_int(picture_count(svg, "class=\"node "), ==, 16);
  expect_int(picture_count(svg, "class=\"edge "), ==, 24);
  expect_int(picture_count(svg, "class=\"node broken\""), ==, 1);
  expect_int(picture_count(svg, "class=\"node initial\""), ==, 1);
  expect_int(picture_count(svg, "2 = 2 &lt;both&gt;"), ==, 1);
  expect_int(picture_count(svg, ">constant<"), ==, 1); /* in the initial state alone */
  expect_int(picture_count(svg, ">counts<"), ==, 16);
  expect(picture_is_xml(path));
}

static void deadlocks_are_marked(void) {
  g_autoptr(Space) s = space_of(&takers, 100);
  g_autofree char *svg = drawn(s, "takers.svg", FORMAT_SVG);
  expect_int(picture_count(svg, "class=\"node deadlock\""), ==, 1);
  expect_int(picture_count(svg, "deadlock</text>"), ==, 1);
}

static void the_same_twice(void) {
  g_autoptr(Space) a = space_of(&takers, 100), b = space_of(&takers, 100);
  g_autofree char *one = drawn(a, "one.svg", FORMAT_SVG), *two = drawn(b, "two.svg", FORMAT_SVG);
  expect(!strcmp(one, two));
  g_autofree char *png = drawn(a, "one.png", FORMAT_PNG), *pdf = drawn(a, "one.pdf", FORMAT_PDF);
  expect(g_str_has_prefix(png, "\x89PNG"));
  expect(g_str_has_prefix(pdf, "%PDF-"));
}

static void too_many_are_refused(void) {
  g_autoptr(Space) s = space_of(&grid, 15);
  g_autofree char *path = picture_path("never.svg");
  g_autoptr(GError) error = NULL;
  expect(!viz_space(s, "grid", path, FORMAT_SVG, &error));
  expect(g_error_matches(error, VIZ_ERROR, VIZ_ERROR_INPUT));
  expect(error && strstr(error->message, "grid has more than 15 states"));
  expect(!g_file_test(path, G_FILE_TEST_EXISTS));
}

static void full_disk(void) {
  g_autoptr(Space) s = space_of(&takers, 100);
  g_autoptr(GError) error = NULL;
  expect(!viz_space(s, "takers", "/dev/full", FORMAT_SVG, &error));
  expect_str(error ? error->message : NULL, "/dev/full: cannot write: No space left on device");
}

int main(void) {
  pictures_begin();
  int status = suite_run("viz space", (const Case[]){{"a grid is counted", a_grid_is_counted},
                                                     {"steps lead where they say", steps_lead_where_they_say},
                                                     {"a deadlock is one", a_deadlock_is_one},
                                                     {"there may be more", there_may_be_more},
                                                     {"each state and step once", each_state_and_step_once},
                                                     {"deadlocks are marked", deadlocks_are_marked},
                                                     {"the same twice", the_same_twice},
                                                     {"too many are refused", too_many_are_refused},
                                                     {"a full disk", full_disk},
                                                     {0}});
  pictures_end();
  return status;
}
