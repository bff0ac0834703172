/* identity.c - the hash of a subject's state (subject_hash). Shared and private memory are at fixed addresses; what the
 * loader and the allocator of stacks choose is not: a word that points into the object, or onto a stack, is hashed as
 * what it points to, and a distance. Words are looked at where pointers lie, at multiples of eight. */
#include "sim/subject/runtime.h"
#include <string.h>
#include <xxhash.h>

enum { CHUNK = 512 /* words */ };
enum { POINTS_INTO_CODE = 1, POINTS_ONTO_STACK = 2 };

typedef struct {
  const Subject *s;
  XXH3_state_t *h;
  ImageRange code;
  uintptr_t stacks_low, stacks_high; /* around all stacks that are in use */
} Hashing;

static bool on_stack(const Proc *p, uintptr_t word) {
  uintptr_t top = p ? (uintptr_t)p->first_frame : 0;
  return top && word < top + 64 && word >= top - SUBJECT_STACK_BYTES;
}

static void around_stacks(Hashing *x) {
  x->stacks_low = UINTPTR_MAX;
  for (guint i = 0; i < x->s->procs->len; i++) {
    const Proc *p = x->s->procs->pdata[i];
    if (!p || !p->first_frame) continue;
    x->stacks_low = MIN(x->stacks_low, (uintptr_t)p->first_frame - SUBJECT_STACK_BYTES);
    x->stacks_high = MAX(x->stacks_high, (uintptr_t)p->first_frame + 64);
  }
}

/* No canonical address has the top byte set, so the two kinds cannot be taken for memory's own. */
static uint64_t canonical(const Hashing *x, uint64_t word) {
  if (word - (uintptr_t)x->code.start < x->code.bytes)
    return (uint64_t)POINTS_INTO_CODE << 56 | (word - (uintptr_t)x->code.start);
  if (word < x->stacks_low || word >= x->stacks_high) return word;
  for (guint i = 0; i < x->s->procs->len; i++) {
    const Proc *p = x->s->procs->pdata[i];
    if (on_stack(p, word))
      return (uint64_t)POINTS_ONTO_STACK << 56 | (uint64_t)i << 24 |
             (((uintptr_t)p->first_frame + 64 - word) & 0xffffff);
  }
  return word;
}

/* `at` is aligned; what is beyond the last whole word is hashed as it is. */
static void hash_memory(Hashing *x, const char *at, size_t bytes) {
  uint64_t words[CHUNK];
  for (; bytes >= 8; at += CHUNK * 8) {
    size_t n = MIN(bytes / 8, CHUNK);
    memcpy(words, at, n * 8);
    for (size_t i = 0; i < n; i++) words[i] = canonical(x, words[i]);
    XXH3_128bits_update(x->h, words, n * 8);
    bytes -= n * 8;
    if (n < CHUNK) {
      at += n * 8;
      break;
    }
  }
  if (bytes) XXH3_128bits_update(x->h, at, bytes);
}

static void hash_number(Hashing *x, int64_t n) {
  XXH3_128bits_update(x->h, &n, sizeof n);
}

static void hash_process(Hashing *x, const Proc *p) {
  ImageRange data = image_data(x->s->image);
  hash_number(x, p->number);
  hash_number(x, p->pid);
  hash_number(x, p->state);
  hash_number(x, p->argument);
  if (p->stack) XXH3_128bits_update(x->h, p->doing, strlen(p->doing) + 1);
  hash_memory(x, x->s->loaded == p ? data.start : p->data, data.bytes);
}

Hash128 subject_hash(const Subject *s) {
  Hashing x = {.s = s, .h = XXH3_createState(), .code = image_code(s->image)};
  g_assert(x.h);
  XXH3_128bits_reset(x.h);
  around_stacks(&x);
  hash_memory(&x, s->base, segment_size(s->segment));
  hash_memory(&x, s->heap, (size_t)(s->heap_next - s->heap));
  for (guint i = 0; i < s->procs->len; i++)
    if (s->procs->pdata[i] && (int)i != s->looker) hash_process(&x, s->procs->pdata[i]);
  for (guint i = 1; i < s->semaphores->len; i++) hash_number(&x, g_array_index(s->semaphores, Semaphore, i).count);
  XXH128_hash_t hash = XXH3_128bits_digest(x.h);
  XXH3_freeState(x.h);
  return (Hash128){hash.low64, hash.high64};
}
