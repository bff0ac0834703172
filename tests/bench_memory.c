/* bench_memory.c - what the memory model itself costs: one JSON line a measurement. bench_memory [clients [processes]]
 * Storms are those of a warm connect storm with slots of 896 bytes in random order (version 19). Times are CPU time of
 * this process; they are measurements of the tool and never a result. */
#include "model/memory/memory.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t *shuffled(uint64_t n) {
  uint64_t *order = g_new(uint64_t, n), state = 1;
  for (uint64_t i = 0; i < n; i++) order[i] = i;
  for (uint64_t i = n; i > 1; i--) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t j = (state >> 33) % i, slot = order[i - 1];
    order[i - 1] = order[j];
    order[j] = slot;
  }
  return order;
}

typedef struct {
  uint64_t n, stores;
  Segment *segment;
  StructureId procs;
  WordSet *live;
  uint64_t *order, *sorted; /* sorted: addresses of the live words, as pgprocnos[] gives them to ProcArrayAdd */
  uint64_t count;
} Storm;

static void connect_words(Storm *m, AddressSpace *as, uint64_t slot, Touch *t) {
  uint64_t address = segment_address(m->segment, m->procs, slot) + 44;
  uint64_t at = m->count - word_set_from(m->live, slot);
  for (uint64_t i = at; i < m->count; i++) memory_touch(as, m->sorted[i], 4, MEM_WRITE, t);
  memmove(&m->sorted[at + 1], &m->sorted[at], (m->count - at) * sizeof *m->sorted);
  m->sorted[at] = address;
}

static void connect_all(Storm *m, bool ranges, Touch *t) {
  g_autoptr(AddressSpace) as = address_space_new(m->segment, 1);
  for (uint64_t i = 0; i < m->n; i++) {
    uint64_t slot = m->order[i];
    address_space_reset(as, (guint)i + 1);
    m->stores += word_set_from(m->live, slot);
    if (ranges)
      word_set_touch(m->live, as, slot, MEM_WRITE, t);
    else
      connect_words(m, as, slot, t);
    word_set_add(m->live, slot);
    m->count++;
  }
}

static void bench_storm(const char *name, uint64_t n, bool ranges, bool lines) {
  MemoryConfig config = {4096, 65536, 0, 0, lines};
  Storm m = {.n = n, .segment = segment_new(&config), .order = shuffled(n), .sorted = g_new(uint64_t, n + 1)};
  m.procs = segment_add(m.segment, "PGPROC", 896, n, 128, 0);
  m.live = word_set_new(m.segment, m.procs, 44, 4);
  Touch t = {0};
  double start = seconds();
  connect_all(&m, ranges, &t);
  double took = seconds() - start;
  printf("{\"bench\": \"%s\", \"clients\": %" G_GUINT64_FORMAT ", \"stores\": %" G_GUINT64_FORMAT
         ", \"faults\": %" G_GINT64_FORMAT ", \"s\": %.3f, \"ns_per_store\": %.3f, \"ns_per_connect\": %.0f}\n",
         name, n, m.stores, t.write_faults, took, took * 1e9 / (double)m.stores, took * 1e9 / (double)n);
  word_set_free(m.live);
  segment_free(m.segment);
  g_free(m.order);
  g_free(m.sorted);
}

/* A page already mapped, next word after next word: the inline path alone. */
static void bench_mapped(void) {
  MemoryConfig config = {4096, 65536, 0, 0, false};
  g_autoptr(Segment) s = segment_new(&config);
  segment_add(s, "PGPROC", 896, 16384, 128, 0);
  g_autoptr(AddressSpace) as = address_space_new(s, 1);
  Touch t = {0};
  uint64_t size = segment_size(s), touches = 0;
  memory_touch(as, 0, size, MEM_WRITE, &t);
  double start = seconds();
  for (int round = 0; round < 5000; round++)
    for (uint64_t at = 44; at < size; at += 896, touches++) memory_touch(as, at, 4, MEM_WRITE, &t);
  double took = seconds() - start;
  printf("{\"bench\": \"memory_touch_mapped\", \"touches\": %" G_GUINT64_FORMAT
         ", \"s\": %.3f, \"ns_per_touch\": %.3f}\n",
         touches, took, took * 1e9 / (double)touches);
}

/* Every process of the largest server, each with every second page of a segment of 60,000 mapped: all bitmaps made. */
static void bench_processes(guint n) {
  MemoryConfig config = {4096, 0, 0, 0, false};
  Segment *s = segment_new(&config);
  segment_add(s, "pages", 4096, 60000, 4096, 0);
  WordSet *half = word_set_new(s, 1, 0, 4);
  for (uint64_t page = 0; page < 60000; page += 2) word_set_add(half, page);
  AddressSpace **all = g_new(AddressSpace *, n);
  Touch t = {0};
  double start = seconds();
  for (guint i = 0; i < n; i++) {
    all[i] = address_space_new(s, i + 1);
    word_set_touch(half, all[i], 0, MEM_WRITE, &t);
  }
  double took = seconds() - start, bytes = (double)segment_host_bytes(s);
  printf("{\"bench\": \"processes\", \"processes\": %u, \"pages_each\": 30000, \"s\": %.3f, \"us_per_process\": %.3f, "
         "\"bytes_per_process\": %.0f, \"mib\": %.0f}\n",
         n, took, took * 1e6 / n, bytes / n, bytes / (1024 * 1024));
  for (guint i = 0; i < n; i++) address_space_free(all[i]);
  g_free(all);
  word_set_free(half);
  segment_free(s);
}

int main(int argc, char **argv) {
  uint64_t clients = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 8192;
  guint processes = argc > 2 ? (guint)g_ascii_strtoull(argv[2], NULL, 10) : 262143;
  bench_mapped();
  bench_storm("storm_words", clients, false, false);
  bench_storm("storm_ranges", clients, true, false);
  bench_storm("storm_ranges_lines", clients, true, true);
  bench_storm("storm_ranges", 262107, true, false);
  bench_processes(processes);
  return 0;
}
