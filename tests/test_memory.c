/* test_memory.c - model/memory against a brute-force second implementation, closed forms and hand-computed examples. */
#include "model/memory/memory.h"
#include "tests/harness.h"
#include "tests/memory_reference.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t KIB = 1024, MIB = 1024 * 1024, GIB = 1024 * 1024 * 1024;

/* splitmix64 (S. Vigna, public domain): the test draws its own numbers. */
static uint64_t draw(uint64_t *state, uint64_t below) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

static void expect_touch(const Touch *saw, const Touch *want) {
  expect_int(saw->read_faults, ==, want->read_faults);
  expect_int(saw->write_faults, ==, want->write_faults);
  expect_int(saw->around, ==, want->around);
  expect_int(saw->tables, ==, want->tables);
  expect_int(saw->lines, ==, want->lines);
  expect_int(saw->seq_lines, ==, want->seq_lines);
}

/* One machine three times: words touched as ranges, word by word, and by the reference. */
enum { PROCESSES = 5 };
typedef struct {
  MemoryConfig config;
  Segment *segment[2];
  WordSet *set[2];
  AddressSpace *space[2][PROCESSES];
  RefMachine machine;
  RefProcess ref[PROCESSES];
  StructureId array, beside;
  uint64_t slots, offset, len;
} Trio;

static void trio_init(Trio *m, MemoryConfig config, uint64_t size, uint64_t slots, uint64_t phase, uint64_t offset) {
  *m = (Trio){.config = config, .slots = slots, .offset = offset, .len = MIN(4, size)};
  for (int i = 0; i < 2; i++) {
    m->segment[i] = segment_new(&config);
    m->array = segment_add(m->segment[i], "PGPROC", size, slots, 4096, phase);
    m->beside = segment_add(m->segment[i], "xids", 4, slots, 4, 0);
    m->set[i] = word_set_new(m->segment[i], m->array, offset, m->len);
    for (guint p = 0; p < PROCESSES; p++) m->space[i][p] = address_space_new(m->segment[i], p + 1);
  }
  m->machine = (RefMachine){config.page_size, config.fault_around, segment_size(m->segment[0]), NULL};
  if (config.lines) m->machine.line_owner = g_hash_table_new(NULL, NULL);
  for (guint p = 0; p < PROCESSES; p++) m->ref[p] = ref_process(&m->machine, p + 1);
}

static void trio_clear(Trio *m) {
  for (int i = 0; i < 2; i++) {
    for (guint p = 0; p < PROCESSES; p++) address_space_free(m->space[i][p]);
    word_set_free(m->set[i]);
    segment_free(m->segment[i]);
  }
  for (guint p = 0; p < PROCESSES; p++) ref_process_clear(&m->ref[p]);
  if (m->machine.line_owner) g_hash_table_destroy(m->machine.line_owner);
}

static void pass(Trio *m, guint p, uint64_t first, MemAccess access) {
  Touch t[3] = {{0}, {0}, {0}};
  word_set_touch(m->set[0], m->space[0][p], first, access, &t[0]);
  for (uint64_t i = first; i < m->slots; i++) {
    if (!word_set_has(m->set[1], i)) continue;
    uint64_t address = segment_address(m->segment[1], m->array, i) + m->offset;
    memory_touch(m->space[1][p], address, m->len, access, &t[1]);
    ref_touch(&m->ref[p], address, m->len, access, &t[2]);
  }
  expect_touch(&t[0], &t[2]);
  expect_touch(&t[1], &t[2]);
}

/* A load and a store of each word in turn = a pass of loads, then a pass of stores. */
static void pass_load_store(Trio *m, guint p, uint64_t first) {
  Touch t[3] = {{0}, {0}, {0}};
  word_set_touch(m->set[0], m->space[0][p], first, MEM_READ, &t[0]);
  word_set_touch(m->set[0], m->space[0][p], first, MEM_WRITE, &t[0]);
  for (uint64_t i = first; i < m->slots; i++) {
    if (!word_set_has(m->set[1], i)) continue;
    uint64_t address = segment_address(m->segment[1], m->array, i) + m->offset;
    for (int access = MEM_READ; access <= MEM_WRITE; access++) {
      memory_touch(m->space[1][p], address, m->len, (MemAccess)access, &t[1]);
      ref_touch(&m->ref[p], address, m->len, (MemAccess)access, &t[2]);
    }
  }
  expect_touch(&t[0], &t[2]);
  expect_touch(&t[1], &t[2]);
}

static void point(Trio *m, guint p, uint64_t address, uint64_t len, MemAccess access) {
  Touch t[3] = {{0}, {0}, {0}};
  for (int i = 0; i < 2; i++) memory_touch(m->space[i][p], address, len, access, &t[i]);
  ref_touch(&m->ref[p], address, len, access, &t[2]);
  expect_touch(&t[0], &t[2]);
  expect_touch(&t[1], &t[2]);
}

static void restart(Trio *m, guint p) {
  for (int i = 0; i < 2; i++) address_space_reset(m->space[i][p], p + 1);
  ref_process_clear(&m->ref[p]);
  m->ref[p] = ref_process(&m->machine, p + 1);
}

static void one_step(Trio *m, uint64_t *seed) {
  guint p = (guint)draw(seed, PROCESSES);
  uint64_t slot = draw(seed, m->slots), size = segment_size(m->segment[0]), address = draw(seed, size);
  MemAccess access = draw(seed, 2) ? MEM_WRITE : MEM_READ;
  switch (draw(seed, 16)) {
  case 0: restart(m, p); break;
  case 1: point(m, p, address, 1 + draw(seed, MIN(size - address, 9000)), access); break;
  case 2: point(m, p, segment_address(m->segment[0], m->array, slot) + m->offset, m->len, access); break;
  case 3: point(m, p, segment_address(m->segment[0], m->beside, slot), 4, access); break;
  case 4: pass_load_store(m, p, slot); break;
  case 5:
  case 6:
  case 7: pass(m, p, slot, access); break;
  default:
    for (int i = 0; i < 2; i++)
      if (word_set_has(m->set[i], slot))
        word_set_remove(m->set[i], slot);
      else
        word_set_add(m->set[i], slot);
  }
}

static void final_state(Trio *m) {
  for (guint p = 0; p < PROCESSES; p++)
    for (int i = 0; i < 2; i++) {
      expect_int(address_space_pages(m->space[i][p]), ==, g_hash_table_size(m->ref[p].pages));
      expect_int(address_space_table_bytes(m->space[i][p]), ==, 4096 * g_hash_table_size(m->ref[p].tables));
      for (uint64_t page = 0; page < segment_pages(m->segment[i]); page++)
        if (address_space_mapped(m->space[i][p], page) != g_hash_table_contains(m->ref[p].pages, ref_key(0, page)))
          expect_int(page, ==, -1);
    }
}

static void random_run(MemoryConfig config, uint64_t size, uint64_t slots, uint64_t phase, uint64_t offset,
                       uint64_t *seed) {
  Trio m;
  unsigned before = CU_get_number_of_failures();
  trio_init(&m, config, size, slots, phase, offset);
  expect(word_set_ranges(m.set[0]));
  for (int step = 0; step < 120; step++) one_step(&m, seed);
  final_state(&m);
  trio_clear(&m);
  if (CU_get_number_of_failures() > before)
    fprintf(stderr, "with page %lu, around %lu, lines %d, size %lu, slots %lu, phase %lu, offset %lu\n",
            (gulong)config.page_size, (gulong)config.fault_around, config.lines, (gulong)size, (gulong)slots,
            (gulong)phase, (gulong)offset);
}

/* Every size of PGPROC, every phase of 4 bytes and odd ones, where words straddle pages and lines. */
static void ranges_equal_words(void) {
  static const uint64_t sizes[] = {832, 880, 888, 896, 64, 36, 4, 1}, around[] = {0, 16, 64, 512, 4096};
  static const uint64_t pages[] = {4096, 4096, 4096, 2 * 1024 * 1024, 1024 * 1024 * 1024};
  uint64_t seed = 1, runs = 0;
  for (uint64_t phase = 0; phase < 4096; phase += 1 + draw(&seed, 6), runs++) {
    uint64_t size = sizes[draw(&seed, G_N_ELEMENTS(sizes))];
    uint64_t slots = size >= 832 && runs % 64 == 0 ? 3000 : 1 + draw(&seed, 300);
    MemoryConfig config = {pages[draw(&seed, G_N_ELEMENTS(pages))], around[draw(&seed, G_N_ELEMENTS(around))] * KIB, 0,
                           0, draw(&seed, 2)};
    random_run(config, size, slots, phase, size > 4 ? draw(&seed, size - 3) : 0, &seed);
  }
  expect_int(runs, >, 1000);
}

/* Facts section 5: N backends connect in an order of slots; each stores into the slots after its own. */
static Touch storm(uint64_t n, uint64_t size, const uint64_t *order, bool load_first, bool ranges) {
  MemoryConfig config = {4096, 64 * KIB, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  StructureId procs = segment_add(s, "PGPROC", size, n, 4096, 0);
  g_autoptr(WordSet) live = word_set_new(s, procs, 44, 4);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  for (uint64_t i = 0; i < n; i++) {
    address_space_reset(as, 1);
    if (load_first) word_set_touch(live, as, order[i], MEM_READ, &t);
    if (ranges)
      word_set_touch(live, as, order[i], MEM_WRITE, &t);
    else
      for (uint64_t j = order[i]; j < n; j++)
        if (word_set_has(live, j)) memory_touch(as, segment_address(s, procs, j) + 44, 4, MEM_WRITE, &t);
    word_set_add(live, order[i]);
  }
  return t;
}

static uint64_t *slots_in_order(uint64_t n, uint64_t seed) {
  uint64_t *order = g_new(uint64_t, n);
  for (uint64_t i = 0; i < n; i++) order[i] = seed ? i : n - 1 - i; /* seed 0: descending */
  for (uint64_t i = n; seed && i > 1; i--) {
    uint64_t j = draw(&seed, i), slot = order[i - 1];
    order[i - 1] = order[j];
    order[j] = slot;
  }
  return order;
}

static const uint64_t pgproc_sizes[] = {832, 880, 888, 896};

static void descending_total(void) {
  double n = 2048;
  for (guint i = 0; i < G_N_ELEMENTS(pgproc_sizes); i++) {
    g_autofree uint64_t *order = slots_in_order(2048, 0);
    Touch ranges = storm(2048, pgproc_sizes[i], order, false, true);
    Touch words = storm(2048, pgproc_sizes[i], order, false, false);
    expect_near(ranges.write_faults, n * n * (double)pgproc_sizes[i] / 8192, 0.01);
    expect_int(ranges.write_faults, ==, words.write_faults);
    expect_int(ranges.read_faults, ==, 0);
  }
}

static double random_mean(uint64_t n, uint64_t size, bool load_first) {
  int64_t faults = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    g_autofree uint64_t *order = slots_in_order(n, seed);
    Touch t = storm(n, size, order, load_first, true);
    faults += t.write_faults + t.read_faults;
  }
  return (double)faults / 10;
}

static double closed_form(double n, double g) {
  return n * n / (2 * g) * (1 - 1 / (g + 1));
}

static void random_total(void) {
  for (guint i = 0; i < G_N_ELEMENTS(pgproc_sizes); i++)
    expect_near(random_mean(2048, pgproc_sizes[i], false), closed_form(2048, 4096 / (double)pgproc_sizes[i]), 0.03);
}

/* The closed form leaves out the window that the own slot cuts in two, about half a window a connect: g/N of the total.
 * With g = 65536/S that is 4 % at N = 2048 and 1 % here. */
static void random_total_load_first(void) {
  for (guint i = 0; i < G_N_ELEMENTS(pgproc_sizes); i++)
    expect_near(random_mean(8192, pgproc_sizes[i], true), closed_form(8192, 65536 / (double)pgproc_sizes[i]), 0.03);
}

/* "1/16 of the faults in descending order", and the same half a window. */
static void descending_load_first(void) {
  g_autofree uint64_t *order = slots_in_order(8192, 0);
  Touch t = storm(8192, 896, order, true, true), plain = storm(8192, 896, order, false, true);
  expect_int(t.write_faults, ==, 0);
  expect_near(t.read_faults, (double)plain.write_faults / 16, 0.02);
}

/* The measurement of facts section 5: 32 MiB, one word a page: 8192 store faults; 512 load faults, then none by stores.
 */
static void measured_on_linux(void) {
  MemoryConfig config = {4096, 64 * KIB, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  StructureId pages = segment_add(s, "pages", 4096, 8192, 4096, 0);
  g_autoptr(AddressSpace) store = address_space_new(s, 1);
  g_autoptr(AddressSpace) load = address_space_new(s, 2);
  Touch stores = {0}, loads = {0}, then = {0};
  for (uint64_t i = 0; i < 8192; i++) memory_touch(store, segment_address(s, pages, i), 8, MEM_WRITE, &stores);
  for (uint64_t i = 0; i < 8192; i++) memory_touch(load, segment_address(s, pages, i), 8, MEM_READ, &loads);
  for (uint64_t i = 0; i < 8192; i++) memory_touch(load, segment_address(s, pages, i), 8, MEM_WRITE, &then);
  expect_int(stores.write_faults, ==, 8192);
  expect_int(loads.read_faults, ==, 512);
  expect_int(loads.around, ==, 8192 - 512);
  expect_int(then.write_faults, ==, 0);
}

static int64_t tables_of(uint64_t page_size, uint64_t pieces, const uint64_t *at) {
  MemoryConfig config = {page_size, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "all", MIB, 1024 * KIB, 4096, 0); /* 1 TiB */
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  for (uint64_t i = 0; i < pieces; i++) memory_touch(as, at[i], 1, MEM_WRITE, &t);
  expect_int(address_space_table_bytes(as), ==, t.tables * 4096);
  return t.tables;
}

/* By hand. One byte at 0, 1 MiB, 2 MiB, 1 GiB, 512 GiB.
 * 4 KiB pages: PTE pages for the 2 MiB at 0, 2 MiB, 1 GiB, 512 GiB (4), PMD pages for the GiB at 0, 1 GiB, 512 GiB (3),
 * PUD pages for the 512 GiB at 0 and 512 GiB (2). 2 MiB pages: those 3 PMD pages, 2 PUD pages. 1 GiB: 2 PUD pages. */
static void page_table_pages(void) {
  const uint64_t at[] = {0, MIB, 2 * MIB, GIB, 512 * GIB};
  expect_int(tables_of(4096, 1, at), ==, 3);
  expect_int(tables_of(4096, 2, at), ==, 3);
  expect_int(tables_of(4096, 5, at), ==, 9);
  expect_int(tables_of(2 * MIB, 1, at), ==, 2);
  expect_int(tables_of(2 * MIB, 5, at), ==, 5);
  expect_int(tables_of(GIB, 5, at), ==, 2);
}

/* 16384 slots of 896 bytes: 14.1 MiB, "7-8 huge pages", "3601 pages" with the 16458 slots of version 19. */
static void pages_of_the_array(void) {
  MemoryConfig small = {4096, 0, 0, 0, false}, huge = {2 * MIB, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&small);
  g_autoptr(Segment) h = segment_new(&huge);
  segment_add(s, "PGPROC", 896, 16458, 128, 0);
  segment_add(h, "PGPROC", 896, 16458, 128, 0);
  expect_int(segment_pages(s), ==, 3601);
  expect_int(segment_pages(h), ==, 8);
}

static void window_ends_with_segment(void) {
  MemoryConfig config = {4096, 64 * KIB, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "pages", 4096, 21, 4096, 0); /* windows 0-15 and 16-20 */
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  address_space_record(as, true);
  memory_touch(as, 18 * 4096, 4, MEM_READ, &t);
  g_autofree char *first = address_space_take_record(as);
  expect_str(first, "16-20");
  expect_int(t.around, ==, 4);
  memory_touch(as, 7 * 4096, 4, MEM_WRITE, &t);
  memory_touch(as, 3 * 4096, 4, MEM_WRITE, &t);
  memory_touch(as, 8 * 4096 - 2, 4, MEM_WRITE, &t); /* 7, there already, and 8 */
  g_autofree char *second = address_space_take_record(as), *third = address_space_take_record(as);
  expect_str(second, "3,7-8");
  expect_str(third, NULL);
}

/* Huge pages are not mapped by fault-around: one page a fault, however large the window. */
static void no_fault_around_huge_pages(void) {
  MemoryConfig config = {2 * MIB, 16 * MIB, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "pages", 2 * MIB, 16, 2 * MIB, 0);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  memory_touch(as, 5 * 2 * MIB, 4, MEM_READ, &t);
  expect_int(t.read_faults, ==, 1);
  expect_int(address_space_pages(as), ==, 1);
}

/* What was mapped before recording began is not in the record, what follows is, next to it or not. */
static void record_begins_late(void) {
  MemoryConfig config = {4096, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "pages", 4096, 8, 4096, 0);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  memory_touch(as, 0, 4, MEM_WRITE, &t);
  address_space_record(as, true);
  memory_touch(as, 4096, 4, MEM_WRITE, &t);
  g_autofree char *record = address_space_take_record(as);
  expect_str(record, "1");
}

/* A touch past the end stops the program, on a mapped page too: the page's rest belongs to nobody. */
static void past_the_end_asserts(void) {
  MemoryConfig config = {4096, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "bytes", 1, 100, 1, 0);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  memory_touch(as, 96, 4, MEM_WRITE, &t);
  pid_t child = fork();
  if (child == 0) {
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    memory_touch(as, 97, 4, MEM_WRITE, &t);
    _exit(0);
  }
  int status = 0;
  expect_int(waitpid(child, &status, 0), ==, child);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void layout(void) {
  MemoryConfig config = {4096, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  StructureId a = segment_add(s, "a", 10, 3, 128, 5), b = segment_add(s, "b", 8, 2, 128, 40), c;
  c = segment_add(s, "c", 8, 1, 128, 40);
  expect_int(segment_address(s, a, 0), ==, 5);
  expect_int(segment_address(s, b, 1), ==, 48); /* 35 is the end of a, 40 is free */
  expect_int(segment_address(s, c, 0), ==, 168);
  expect_str(segment_structure_at(s, 34), "a");
  expect_str(segment_structure_at(s, 35), NULL);
  expect_str(segment_structure_at(s, 4), NULL);
  expect_str(segment_structure_at(s, 168), "c");
  expect_int(segment_size(s), ==, 176);
}

/* ---- the TLB against lists: newest first, four a set ---- */
static bool list_touch(GQueue *set, uint64_t page, uint64_t *out) {
  GList *found = g_queue_find(set, GSIZE_TO_POINTER(page + 1));
  *out = 0;
  if (found)
    g_queue_delete_link(set, found);
  else if (set->length == 4)
    *out = GPOINTER_TO_SIZE(g_queue_pop_tail(set));
  g_queue_push_head(set, GSIZE_TO_POINTER(page + 1));
  return found;
}

static void tlb_against_lists(guint l1, guint l2, uint64_t seed) {
  MemoryConfig config = {4096, 0, l1, l2, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "pages", 4096, 200, 4096, 0);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  GQueue *one = g_new0(GQueue, l1), *two = g_new0(GQueue, l2 + 1);
  Touch t = {0}, want = {0};
  for (int i = 0; i < 20000; i++) {
    uint64_t page = draw(&seed, draw(&seed, 2) ? 200 : 12), out;
    memory_touch(as, page * 4096, 4, MEM_READ, &t);
    if (list_touch(&one[page % (l1 / 4)], page, &out)) continue;
    if (l2 && list_touch(&two[page % (l2 / 4)], page, &out))
      want.tlb_l2_hits++;
    else
      want.tlb_misses++;
    if (l2 && out) g_queue_remove(&one[(out - 1) % (l1 / 4)], GSIZE_TO_POINTER(out));
  }
  expect_int(t.tlb_l2_hits, ==, want.tlb_l2_hits);
  expect_int(t.tlb_misses, ==, want.tlb_misses);
  for (guint i = 0; i < l1; i++) g_queue_clear(&one[i]);
  for (guint i = 0; i < l2; i++) g_queue_clear(&two[i]);
  g_free(one);
  g_free(two);
}

static void tlb(void) {
  tlb_against_lists(4, 0, 1);
  tlb_against_lists(16, 64, 2);
  tlb_against_lists(64, 64, 3);
  tlb_against_lists(8, 48, 4); /* 12 sets: not a power of two */
}

/* Where ranges are refused the words are visited, and the numbers are right all the same. */
static void ranges_refused(void) {
  MemoryConfig with_tlb = {4096, 0, 16, 64, false}, with_lines = {4096, 0, 0, 0, true};
  g_autoptr(Segment) a = segment_new(&with_tlb);
  g_autoptr(Segment) b = segment_new(&with_lines);
  StructureId x = segment_add(a, "PGPROC", 896, 100, 128, 0), y = segment_add(b, "PGPROC", 896, 100, 128, 0);
  g_autoptr(WordSet) tlb_set = word_set_new(a, x, 44, 4);
  g_autoptr(WordSet) first = word_set_new(b, y, 44, 4);
  g_autoptr(WordSet) second = word_set_new(b, y, 24, 4);
  expect(!word_set_ranges(tlb_set));
  expect(word_set_ranges(first));
  expect(!word_set_ranges(second));
  g_autoptr(AddressSpace) as = address_space_new(a, 1);
  Touch t = {0};
  for (uint64_t i = 0; i < 100; i += 10) word_set_add(tlb_set, i);
  word_set_touch(tlb_set, as, 35, MEM_WRITE, &t); /* 40, 50 .. 90: each on a page of its own */
  expect_int(t.tlb_misses, ==, 6);
  expect_int(t.write_faults, ==, 6);
}

/* Two processes and one line: a fetch each time it changes hands, none while it does not. */
static void lines_change_hands(void) {
  MemoryConfig config = {4096, 0, 0, 0, true};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "bytes", 1, 4096, 64, 0);
  g_autoptr(AddressSpace) a = address_space_new(s, 1);
  g_autoptr(AddressSpace) b = address_space_new(s, 2);
  Touch t = {0}, u = {0};
  memory_touch(a, 0, 256, MEM_WRITE, &t); /* nobody had them */
  memory_touch(a, 0, 4, MEM_READ, &t);
  expect_int(t.lines, ==, 0);
  memory_touch(b, 0, 256, MEM_READ, &u);
  expect_int(u.lines, ==, 4);
  expect_int(u.seq_lines, ==, 3);
  memory_touch(b, 0, 256, MEM_WRITE, &u); /* fetched already */
  expect_int(u.lines, ==, 4);
  memory_touch(a, 130, 4, MEM_WRITE, &t);
  expect_int(t.lines, ==, 1);
  expect_int(t.seq_lines, ==, 0);
}

static void counts_from(void) {
  MemoryConfig config = {4096, 0, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  StructureId id = segment_add(s, "PGPROC", 832, 1000, 128, 0);
  g_autoptr(WordSet) set = word_set_new(s, id, 64, 4);
  bool live[1001] = {false};
  uint64_t seed = 7;
  for (int step = 0; step < 3000; step++) {
    uint64_t i = draw(&seed, 1000), first = draw(&seed, 1001), n = 0;
    if (live[i])
      word_set_remove(set, i);
    else
      word_set_add(set, i);
    live[i] = !live[i];
    for (uint64_t j = first; j < 1000; j++) n += live[j];
    expect_int(word_set_from(set, first), ==, n);
  }
}

static void complaints(void) {
  MemoryConfig good = {2 * MIB, 64 * KIB, 64, 2048, true}, page = good, around = good, ways = good, within = good;
  page.page_size = 8192;
  around.fault_around = 3 * KIB;
  ways.tlb_l1 = 6;
  within.tlb_l2 = 32;
  expect_str(memory_config_complaint(&good), NULL);
  expect(g_str_has_prefix(memory_config_complaint(&page), "page_size"));
  expect(g_str_has_prefix(memory_config_complaint(&around), "fault_around"));
  expect(g_str_has_prefix(memory_config_complaint(&ways), "tlb"));
  expect(g_str_has_prefix(memory_config_complaint(&within), "tlb"));
}

int main(void) {
  static const Case cases[] = {{"ranges equal words equal the reference", ranges_equal_words},
                               {"descending order: N^2 S / 8192", descending_total},
                               {"random order: closed form", random_total},
                               {"random order, load before store: closed form, g = 65536/S", random_total_load_first},
                               {"descending order, load before store: one sixteenth", descending_load_first},
                               {"as measured on Linux", measured_on_linux},
                               {"page-table pages by hand", page_table_pages},
                               {"pages of the PGPROC array", pages_of_the_array},
                               {"window ends with the segment; record", window_ends_with_segment},
                               {"no fault-around with huge pages", no_fault_around_huge_pages},
                               {"record begins late", record_begins_late},
                               {"past the end asserts", past_the_end_asserts},
                               {"layout", layout},
                               {"TLB against lists", tlb},
                               {"ranges refused", ranges_refused},
                               {"lines change hands", lines_change_hands},
                               {"members from", counts_from},
                               {"complaints", complaints},
                               {0}};
  return suite_run("memory", cases);
}
