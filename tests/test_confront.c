/* A real storm beside a simulated one, both made up: figures by closed form, what agrees and what does not by how
 * little; needs computed before a server is started. */
#include "sim/calibrate/confront.h"
#include "sim/calibrate/need.h"
#include "tests/harness.h"
#include "viz/backends_plot.h"
#include <unistd.h>

enum { N = 200, ITERATIONS = 2 };

/* Backend i of iteration k takes base + slope * i + step * k faults, and page tables of its own. */
static StormSeries *made_up(int64_t base, int64_t slope, int64_t step, int64_t own, double pagetable_kib) {
  StormSeries *s = storm_series_new(ITERATIONS);
  StormBackend alone = {.faults = base, .pagetable_kib = 16, .own_pages = 300};
  for (int i = 0; i < 3; i++) g_array_append_val(s->alone, alone);
  for (guint k = 0; k < ITERATIONS; k++) {
    StormIteration *it = storm_iteration(s, k);
    for (int i = 0; i < N; i++) {
      StormBackend b = {.faults = base + slope * i + step * k, .own_pages = 300 + own * k};
      g_array_append_val(it->backends, b);
    }
    it->pagetable_kib = pagetable_kib * N;
  }
  return s;
}

/* 400 faults of a real backend that is alone are not simulated. The second iteration takes `step` more. */
static Confrontation confronted(int64_t real_step, int64_t model_step, int64_t own, double model_kib) {
  Confrontation c = {.real = made_up(410, 1, real_step, own, 20), .model = made_up(10, 1, model_step, 0, model_kib)};
  c.real_alone = storm_alone(c.real);
  c.model_alone = storm_alone(c.model);
  return c;
}

static void figures_by_closed_form(void) {
  g_autoptr(StormSeries) s = made_up(10, 2, 5, 0, 20);
  StormFigures f = storm_figures(storm_iteration(s, 1), 100, 3);
  expect_near(f.mean, 100 + 10 + 5 + (N - 1), 1e-9); /* 2 * (N-1) / 2 */
  expect_near(f.first, 100 + 15 + 49, 1e-9);         /* mean of 2*0 .. 2*49 */
  expect_near(f.last - f.first, 2 * (N - 50), 1e-9);
  expect_near(f.tenth[9] - f.tenth[0], 2 * (N - N / 10), 1e-9);
  expect_near(f.pagetable_kib, 23 * N, 1e-9);
}

/* The first builds caches and is far off; the median is not. */
static void alone_is_the_median(void) {
  static const int64_t faults[] = {5000, 410, 408, 412, 411};
  g_autoptr(StormSeries) s = storm_series_new(1);
  for (guint i = 0; i < G_N_ELEMENTS(faults); i++) {
    StormBackend b = {.faults = faults[i], .own_pages = (int64_t)i};
    g_array_append_val(s->alone, b);
  }
  expect_int(storm_alone(s).faults, ==, 411);
  expect_int(storm_alone(s).own_pages, ==, 2);
}

static double named(const Confrontation *c, guint k, const char *name) {
  ConfrontFigure all[CONFRONT_FIGURES];
  for (guint i = 0, n = confront_named(c, k, true, all); i < n; i++)
    if (strcmp(all[i].name, name) == 0) return all[i].value;
  return -1;
}

/* Of 410 + i + 7 k faults: the first 50, the last 50, and the step from the first iteration. */
static void figures_have_names(void) {
  Confrontation c = confronted(7, 7, 0, 20);
  expect_near(named(&c, 1, "faults_first50"), 417 + 24.5, 1e-9);
  expect_near(named(&c, 1, "faults_last50"), 417 + (N - 50) + 24.5, 1e-9);
  expect_near(named(&c, 1, "faults_mean_minus_first"), 7, 1e-9);
  expect_near(named(&c, 1, "faults_tenth[10]"), 417 + (N - N / 10) + (N / 10 - 1) / 2.0, 1e-9);
  confrontation_clear(&c);
}

static bool agrees(Confrontation c) {
  g_autoptr(GArray) all = confront_judge(&c);
  bool yes = confront_all_agree(all);
  expect_int(all->len, ==, 3 * ITERATIONS - 1);
  confrontation_clear(&c);
  return yes;
}

/* One fault a backend, or 4 %, whichever is more; page tables 5 %. */
static void what_agrees(void) {
  expect(agrees(confronted(7, 7, 0, 20)));
  expect(agrees(confronted(7, 8, 0, 20)));
  expect(!agrees(confronted(7, 9, 0, 20)));
  expect(agrees(confronted(100, 104, 0, 20)));
  expect(!agrees(confronted(100, 105, 0, 20)));
  expect(agrees(confronted(7, 7, 0, 21)));
  expect(!agrees(confronted(7, 7, 0, 21.1)));
}

/* Private pages are measured on the real backend and belong to both: without them the second iteration is 8 off. */
static void private_pages_are_measured(void) {
  expect(agrees(confronted(15, 7, 8, 20)));
  expect(!agrees(confronted(15, 7, 0, 20)));
}

/* What another run's --json says of 2 clients that take 1, 2 and then 30, 40 pages beyond one alone. */
static const char another_run[] =
    "{\"command\": \"calibrate postgres\", \"server\": \"15.20\", \"seed\": 7, \"clients\": 2, \"iterations\": 2,"
    " \"max_connections\": 22, \"page_size\": 4096, \"plain_malloc\": true, \"private_pages\": [[1, 2], [30, 40]]}";

static Beside *read_beside(const char *text, GError **error) {
  g_autofree char *file = NULL;
  int fd = g_file_open_tmp("stampede-test-XXXXXX", &file, NULL);
  expect(fd >= 0 && g_file_set_contents(file, text, -1, NULL));
  Beside *b = beside_read(file, error);
  close(fd);
  unlink(file);
  return b;
}

static void another_run_is_read(void) {
  g_autoptr(Beside) b = read_beside(another_run, NULL);
  expect(b != NULL);
  expect_int(beside_own(b, 0, 1), ==, 2);
  expect_int(beside_own(b, 1, 0), ==, 30);
  expect_int(beside_own(b, 5, 1), ==, 40); /* the last stands for later ones */
  expect(beside_fits(b, "15.20", 2, true, 22, 8, NULL));
}

static void another_run_must_fit(void) {
  g_autoptr(Beside) b = read_beside(another_run, NULL);
  g_autoptr(GError) error = NULL;
  expect(!beside_fits(b, "15.18", 2, true, 22, 8, NULL));
  expect(!beside_fits(b, "15.20", 3, true, 22, 8, NULL));
  expect(!beside_fits(b, "15.20", 2, false, 22, 8, NULL));
  expect(!beside_fits(b, "15.20", 2, true, 23, 8, NULL));
  expect(!beside_fits(b, "15.20", 2, true, 22, 7, &error)); /* its own seed: the same storm */
  expect(error && strstr(error->message, "of seed 7 too"));
}

/* Each word of the document put out of order is told in one line, with what is wrong. */
static void a_bad_document(void) {
  static const struct {
    const char *was, *is, *said;
  } bad[] = {{"{", "", "Parse error"},
             {"calibrate postgres", "run", "no document of calibrate postgres"},
             {"\"clients\": 2", "\"clients\": \"two\"", "0 clients"},
             {"\"clients\": 2", "\"clients\": 1e300", "no number \"clients\""},
             {"\"iterations\": 2", "\"iteration\": 2", "no number \"iterations\""},
             {"[30, 40]", "[30]", "are not 2 lists of 2"},
             {", [30, 40]", "", "are not 2 lists of 2"},
             {"[[1, 2], [30, 40]]", "7", "are not 2 lists of 2"}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_auto(GStrv) parts = g_strsplit(another_run, bad[i].was, 2);
    g_autofree char *text = g_strjoinv(bad[i].is, parts);
    g_autoptr(GError) error = NULL;
    g_autoptr(Beside) b = read_beside(text, &error);
    expect(!b && error);
    if (error && !strstr(error->message, bad[i].said)) expect_str(error->message, bad[i].said);
  }
  g_autoptr(GError) error = NULL;
  expect(!beside_read("/no/such/file.json", &error) && error && strstr(error->message, "/no/such/file.json"));
}

/* The run's own private pages are its own business: only what another run has measured is added. */
static Beside *another(int64_t own_in_second) {
  Beside *b = g_new0(Beside, 1);
  *b = (Beside){.clients = N, .iterations = ITERATIONS, .own = g_array_new(FALSE, TRUE, sizeof(int64_t))};
  g_array_set_size(b->own, N * ITERATIONS);
  for (guint i = N; i < N * ITERATIONS; i++) g_array_index(b->own, int64_t, i) = own_in_second;
  return b;
}

static void nothing_is_borrowed(void) {
  Confrontation own = confronted(15, 7, 8, 20), others = confronted(15, 7, 0, 20);
  own.beside = another(0);
  others.beside = another(8);
  expect(!agrees(own));
  expect(agrees(others));
}

static void needs(void) {
  Need need = need_of(1000, 1200), plenty = {INT64_MAX, INT64_MAX, INT64_MAX};
  g_autoptr(GError) error = NULL;
  expect(need_met(&need, &plenty, NULL));
  expect(need.memory_kib > 1000 * 2048 && need.memory_kib < 1000 * 8192);
  Need few = plenty;
  few.descriptors = 1000;
  expect(!need_met(&need, &few, &error));
  expect(error && strstr(error->message, "open files: 1032 are needed, 1000 are there"));
  few = plenty, few.processes = 999;
  expect(!need_met(&need, &few, NULL));
  few = plenty, few.memory_kib = 1000 * 1024;
  expect(!need_met(&need, &few, NULL));
  Need here = need_available(64);
  expect(here.memory_kib > 0 && here.descriptors >= 64 && here.processes > 0);
}

static void a_plot(void) {
  static const char csv[] =
      "iteration,connect,pid,real_faults,simulated_faults,more\n1,1,77,450,449,0\n2,1,78,460,461,0\n";
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) script = viz_backends_script(csv, "backends.csv", &error);
  expect(script && strstr(script->str, "1 450 449") && strstr(script->str, "title 'iteration 2'"));
  expect(!viz_backends_script("iteration\n1,x\n", "backends.csv", &error));
  expect(error && strstr(error->message, "backends.csv:2"));
  expect(!viz_backends_script("iteration\n", "backends.csv", NULL));
}

int main(void) {
  return suite_run("confront", (const Case[]){{"figures by closed form", figures_by_closed_form},
                                              {"alone is the median", alone_is_the_median},
                                              {"figures have names", figures_have_names},
                                              {"what agrees", what_agrees},
                                              {"private pages are measured", private_pages_are_measured},
                                              {"another run is read", another_run_is_read},
                                              {"another run must fit", another_run_must_fit},
                                              {"a bad document", a_bad_document},
                                              {"nothing is borrowed", nothing_is_borrowed},
                                              {"needs", needs},
                                              {"a plot", a_plot},
                                              {0}});
}
