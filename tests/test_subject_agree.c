/* The built-in dense arrays against real code: the same random connects and disconnects, call by call. By default the
 * code is the shipped subject (tests/subjects/pgmini.c, the layout of 15's headers); with arguments, any:
 *   test_subject_agree SUBJECT.so VERSION
 * Compared exactly, over the PGPROC array: pages that a call is the first of its process to touch, in order; stores of
 * pgxactoff, in order; who gets which slot; the array; the free lists. */
#include "model/world/rng.h"
#include "sim/subject/build.h"
#include "sim/subject/pg_subject.h"
#include "sim/subject/subject.h"
#include "tests/pg_sample.h"
#include <glib/gstdio.h>

static const char *subject_file;
static int version = 15;

/* ---- what is seen of one side ---- */

typedef struct {
  uint64_t base, bytes, stride, offset; /* of the PGPROC array, its elements, pgxactoff in them */
  GHashTable *mapped;                   /* pages of the acting process */
  GArray *pages, *stores;               /* of this call */
} View;

static View view_new(uint64_t base, const PgConfig *c, int total) {
  return (View){base,
                (uint64_t)c->pgproc_size * (uint64_t)total,
                (uint64_t)c->pgproc_size,
                (uint64_t)c->off_pgxactoff,
                NULL,
                g_array_new(FALSE, FALSE, sizeof(uint64_t)),
                g_array_new(FALSE, FALSE, sizeof(uint64_t))};
}
static void view_clear(View *v) {
  g_array_unref(v->pages);
  g_array_unref(v->stores);
}
static void view_begin(View *v, GHashTable *mapped) {
  v->mapped = mapped;
  g_array_set_size(v->pages, 0);
  g_array_set_size(v->stores, 0);
}

static void view_access(View *v, uint64_t address, uint64_t bytes, bool write) {
  if (address < v->base || address + bytes > v->base + v->bytes) return;
  uint64_t at = address - v->base, phase = v->base % 4096;
  for (uint64_t page = (at + phase) / 4096; page <= (at + bytes - 1 + phase) / 4096; page++)
    if (g_hash_table_add(v->mapped, GSIZE_TO_POINTER(page))) g_array_append_val(v->pages, page);
  if (write && bytes == 4 && at % v->stride == v->offset) g_array_append_val(v->stores, at);
}
static void code_access(void *data, uint64_t address, uint64_t bytes, bool write) {
  view_access(data, address, bytes, write);
}
static void model_access(void *data, uint64_t address, uint64_t bytes, MemAccess access) {
  view_access(data, address, bytes, access == MEM_WRITE);
}

static char *words(const GArray *numbers) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < numbers->len; i++)
    g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, i ? " " : "", g_array_index(numbers, uint64_t, i));
  return g_string_free(out, FALSE);
}

static bool same_numbers(const char *what, const char *call, int procno, const GArray *code, const GArray *model) {
  if (code->len == model->len && (!code->len || memcmp(code->data, model->data, code->len * sizeof(uint64_t)) == 0))
    return true;
  g_autofree char *a = words(code), *b = words(model);
  fprintf(stderr, "%s of slot %d: %s: code %s; model %s\n", call, procno, what, a, b);
  return false;
}

/* ---- both sides ---- */

typedef struct {
  int process, procno; /* of the code; of both */
  AddressSpace *code_space, *model_space;
  GHashTable *code_pages, *model_pages;
} Backend;

typedef struct {
  World *w;
  PgSubject *subject;
  PgShared *code;
  Sample model;
  View code_view, model_view;
  GArray *live; /* of Backend */
  int steps, pid, compared_pages, compared_stores;
} Pair;

static Pair pair_new(Image *image, int max_connections, int phase) {
  static const Costs no_costs;
  const MemoryConfig m = {.page_size = 4096};
  Pair p = {.w = world_new(&no_costs, 1 << 20), .pid = 1000};
  g_autoptr(GError) error = NULL;
  PgConfig c = sample_config(version, max_connections), with_code = c;
  p.subject = pg_subject_new(image, 0);
  with_code.code = pg_subject_code(p.subject);
  with_code.array_phase = phase;
  p.code = pg_shared_new_in(p.w, &with_code, &m, &error);
  if (!p.code) g_error("%s", error->message);
  uint64_t base, bytes;
  with_code.code->pgprocs(with_code.code->data, &base, &bytes);
  expect_int(base % 65536, ==, phase); /* wherever the code puts what comes before it */
  c.array_phase = phase;
  p.model = sample_on(&c, &m);
  int total = pg_shared_pools(p.model.s)->total;
  expect_int(pg_shared_pools(p.code)->total, ==, total);
  expect_int(bytes, ==, (uint64_t)c.pgproc_size * (uint64_t)total);
  p.code_view = view_new(base, &c, total);
  uint64_t first, n;
  pg_pgproc_pages(p.model.s, &first, &n);
  p.model_view = view_new(first * 4096 + base % 4096, &c, total);
  p.live = g_array_new(FALSE, TRUE, sizeof(Backend));
  return p;
}

static void backend_clear(Pair *p, Backend *b) {
  pg_subject_code(p->subject)->reap(p->subject, b->process);
  address_space_free(b->code_space);
  address_space_free(b->model_space);
  g_hash_table_unref(b->code_pages);
  g_hash_table_unref(b->model_pages);
}

static void pair_clear(Pair *p) {
  for (guint i = 0; i < p->live->len; i++) backend_clear(p, &g_array_index(p->live, Backend, i));
  g_array_unref(p->live);
  view_clear(&p->code_view);
  view_clear(&p->model_view);
  sample_clear(&p->model);
  pg_subject_free(p->subject);
  pg_shared_free(p->code);
  world_free(p->w);
}

static bool same_call(Pair *p, const char *call, int procno) {
  p->compared_pages += (int)p->model_view.pages->len;
  p->compared_stores += (int)p->model_view.stores->len;
  return same_numbers("pages first touched", call, procno, p->code_view.pages, p->model_view.pages) &&
         same_numbers("stores of pgxactoff", call, procno, p->code_view.stores, p->model_view.stores);
}

static void both_begin(Pair *p, Backend *b) {
  view_begin(&p->code_view, b->code_pages);
  view_begin(&p->model_view, b->model_pages);
}

static PgCodeState code_call(Pair *p, const Backend *b, PgCall call) {
  PgCodeState s = pg_subject_code(p->subject)->at_once(p->subject, b->process, call);
  const char *fault = subject_fault(pg_subject_runtime(p->subject));
  if (fault) g_error("the code: %s", fault);
  return s;
}

static bool same_slot(Pair *p, const Backend *b) {
  const PgCode *code = pg_subject_code(p->subject);
  int got = code->procno(p->subject, b->process);
  expect_int(got, ==, b->procno);
  return got == b->procno;
}

/* ---- steps; false: they differ ---- */

static bool take_slot(Pair *p, Backend *b, PgPool pool) {
  PgCost cost = {0};
  both_begin(p, b);
  PgCodeState s = code_call(p, b, PGCALL_INIT_PROCESS);
  b->procno = slot_take(p->model.s, pool, 1, b->model_space, &cost);
  expect_int(s == PGCODE_ENDED, ==, b->procno < 0); /* sorry, too many clients already */
  if (b->procno < 0) return s == PGCODE_ENDED;
  slot_initialize(p->model.s, b->procno, p->pid, b->model_space, &cost);
  return same_slot(p, b) && same_call(p, "InitProcess", b->procno);
}

static bool connect_one(Pair *p, PgPool pool) {
  const PgCode *code = pg_subject_code(p->subject);
  PgCost cost = {0};
  subject_record(pg_subject_runtime(p->subject), code_access, &p->code_view);
  Backend b = {.code_space = address_space_new(pg_segment(p->code), (guint)++p->pid),
               .model_space = sample_process(&p->model),
               .code_pages = g_hash_table_new(NULL, NULL),
               .model_pages = g_hash_table_new(NULL, NULL)};
  b.process = code->fork(p->subject, b.code_space, pool, p->pid);
  address_space_observe(b.model_space, model_access, &p->model_view);
  if (!take_slot(p, &b, pool) || b.procno < 0) {
    bool full = b.procno < 0;
    backend_clear(p, &b);
    return full;
  }
  g_array_append_val(p->live, b);
  both_begin(p, &b);
  code_call(p, &b, PGCALL_JOIN);
  procarray_add(p->model.s, b.procno, b.model_space, &cost);
  return same_call(p, "ProcArrayAdd", b.procno);
}

static bool disconnect_one(Pair *p, guint which) {
  Backend b = g_array_index(p->live, Backend, which);
  PgCost cost = {0};
  g_array_remove_index(p->live, which);
  both_begin(p, &b);
  code_call(p, &b, PGCALL_LEAVE);
  procarray_remove(p->model.s, b.procno, b.model_space, &cost);
  slot_give(p->model.s, b.procno, false, b.model_space, &cost);
  bool same = same_call(p, "ProcArrayRemove and ProcKill", b.procno);
  backend_clear(p, &b);
  return same;
}

/* ---- order ---- */

static bool same_array(const Pair *p) {
  int n = pg_members(p->model.s);
  expect_int(pg_members(p->code), ==, n);
  bool same = pg_members(p->code) == n;
  for (int i = 0; same && i < n; i++) {
    int procno = pg_entry(p->model.s, i).procno;
    expect_int(pg_entry(p->code, i).procno, ==, procno);
    same = pg_entry(p->code, i).procno == procno && pg_slot(p->code, procno).offset == i &&
           pg_slot(p->model.s, procno).offset == i;
    expect(same);
  }
  return same;
}

static bool same_lists(const Pair *p) {
  static const PgPool pools[] = {PG_BACKENDS, PG_AUTOVACUUM, PG_BGWORKERS, PG_WALSENDERS};
  bool same = true;
  for (guint i = 0; i < G_N_ELEMENTS(pools); i++) {
    int a = pg_free_first(p->code, pools[i]), b = pg_free_first(p->model.s, pools[i]), left = 10000;
    for (; a >= 0 && a == b && left > 0; left--) a = pg_free_next(p->code, a), b = pg_free_next(p->model.s, b);
    expect_int(a, ==, b);
    same = same && a == b && left > 0;
  }
  return same;
}

/* ---- sequences ---- */

static PgPool any_pool(Rng *r) {
  uint64_t n = rng_below(r, 20);
  return n == 0 ? PG_WALSENDERS : n == 1 ? PG_BGWORKERS : n == 2 ? PG_AUTOVACUUM : PG_BACKENDS;
}

static bool step(Pair *p, Rng *r, guint most) {
  guint live = p->live->len;
  bool comes = !live || rng_below(r, 2 * most) >= live; /* keeps some most/2..most alive */
  if (live >= most) comes = false;
  bool same = comes ? connect_one(p, any_pool(r)) : disconnect_one(p, (guint)rng_below(r, live));
  p->steps++;
  return same && same_array(p) && (p->steps % 16 != 0 || same_lists(p));
}

static void sequence(Image *image, uint64_t seed, int slots, guint most, int steps) {
  Rng r;
  rng_init(&r, seed, "agree");
  Pair p = pair_new(image, slots, (int)rng_below(&r, 512) * 128);
  bool same = true;
  for (int i = 0; i < steps && same; i++) same = step(&p, &r, most);
  if (!same) fprintf(stderr, "seed %d, step %d, %d slots\n", (int)seed, p.steps, slots);
  expect(same);
  expect(same_lists(&p));
  expect_int(p.compared_pages, >, steps); /* each connect touches its own slot's pages, most others' */
  expect_int(p.compared_stores, >, steps);
  pair_clear(&p);
}

static Image *image;

static void storms(void) {
  for (uint64_t seed = 1; seed <= 12; seed++) sequence(image, seed, 300, 200, 500);
}
static void crowded(void) {
  for (uint64_t seed = 101; seed <= 108; seed++) sequence(image, seed, 20, 40, 300);
}
static void ordered(void) {
  Pair p = pair_new(image, 300, 0);
  bool same = true;
  for (int round = 0; round < 3 && same; round++) {
    for (int i = 0; i < 120 && same; i++) same = connect_one(&p, PG_BACKENDS) && same_array(&p);
    while (p.live->len && same) same = disconnect_one(&p, 0) && same_array(&p);
    same = same && same_lists(&p);
  }
  expect(same);
  pair_clear(&p);
}

/* ---- building the shipped one ---- */

static char *build_shipped(void) {
  GError *error = NULL;
  g_autoptr(Manifest) m = manifest_read("tests/subjects/pgmini.yaml", &error);
  char *folder = g_dir_make_tmp("stampede-agree-XXXXXX", NULL);
  char *output = g_build_filename(folder, "pgmini.so", NULL);
  BuildOptions o = {.tree = "tests/subjects", .include = "sim/subject/include", .output = output};
  g_autoptr(BuildReport) r = m ? subject_build(m, &o, &error) : NULL;
  if (!r) g_error("%s", error->message);
  g_free(folder);
  return output;
}

static void remove_shipped(char *file) {
  g_autofree char *folder = g_path_get_dirname(file);
  g_unlink(file);
  g_rmdir(folder);
  g_free(file);
}

int main(int argc, char **argv) {
  char *shipped = argc < 3 ? build_shipped() : NULL;
  subject_file = shipped ? shipped : argv[1];
  if (!shipped) version = atoi(argv[2]);
  g_autoptr(GError) error = NULL;
  image = image_load(subject_file, &error);
  if (!image) g_error("%s", error->message);
  int status = suite_run("subject agreement", (const Case[]){{"random connects and disconnects", storms},
                                                             {"more clients than slots", crowded},
                                                             {"in order", ordered},
                                                             {0}});
  image_free(image);
  if (shipped) remove_shipped(shipped);
  return status;
}
