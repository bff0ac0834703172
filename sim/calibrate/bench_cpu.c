/* bench_cpu.c - what a core does by itself: moving, scanning, storing, atomics that nobody contends for. */
#include "sim/calibrate/bench.h"
#include <string.h>

enum { ENTRIES = 4096, STRIDE = 896, STRIDES = 1024, ATOMICS = 20000 };

typedef struct {
  char *memory;
  gsize bytes;
  guint repeat;
} Area;

static void move(void *data) {
  const Area *a = data;
  for (guint i = 0; i < a->repeat; i++) {
    memmove(a->memory + 4, a->memory, a->bytes);
    memmove(a->memory, a->memory + 4, a->bytes);
    __asm__ volatile("" ::: "memory");
  }
}

SampleStats bench_memmove(int64_t bytes) {
  Area a = {g_malloc0((gsize)bytes + 64), (gsize)bytes, (guint)MAX((4 << 20) / bytes, 1)};
  SampleClock clock = sample_clock_real();
  SampleStats s = sample_batches(&clock, SAMPLES, move, &a, (double)a.repeat * 2 * (double)bytes);
  g_free(a.memory);
  return s;
}

static void scan(void *data) {
  const int32_t *v = data;
  for (guint r = 0; r < 64; r++) {
    guint i = 0;
    while (i < ENTRIES && v[i] <= (int32_t)r) i++;
    __asm__ volatile("" ::"r"(i) : "memory");
  }
}

SampleStats bench_scan(void) {
  int32_t *v = g_new0(int32_t, ENTRIES);
  SampleClock clock = sample_clock_real();
  SampleStats s = sample_batches(&clock, SAMPLES, scan, v, 64.0 * ENTRIES);
  g_free(v);
  return s;
}

static void store(void *data) {
  char *memory = data;
  for (guint r = 0; r < 16; r++)
    for (gsize i = 0; i < STRIDES; i++) *(volatile int32_t *)(void *)(memory + i * STRIDE) = (int32_t)i;
}

SampleStats bench_store(void) {
  char *memory = g_malloc0((gsize)STRIDE * STRIDES);
  SampleClock clock = sample_clock_real();
  SampleStats s = sample_batches(&clock, SAMPLES, store, memory, 16.0 * STRIDES);
  g_free(memory);
  return s;
}

static void lock_once(void *data) {
  gint *word = data;
  for (guint i = 0; i < ATOMICS; i++) {
    g_atomic_int_compare_and_exchange(word, 0, 1);
    g_atomic_int_add(word, -1);
  }
}

SampleStats bench_lock(void) {
  gint word = 0;
  SampleClock clock = sample_clock_real();
  return sample_batches(&clock, SAMPLES, lock_once, &word, ATOMICS);
}

static void spin_once(void *data) {
  volatile gint *words = data;
  for (guint i = 0; i < ATOMICS; i++) {
    while (__atomic_exchange_n(&words[0], 1, __ATOMIC_ACQUIRE)) continue;
    words[1] = (gint)i;
    words[2] = words[1] + 1;
    __atomic_store_n(&words[0], 0, __ATOMIC_RELEASE);
  }
}

SampleStats bench_spin(void) {
  gint words[3] = {0};
  SampleClock clock = sample_clock_real();
  return sample_batches(&clock, SAMPLES, spin_once, words, ATOMICS);
}
