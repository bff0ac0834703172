/* spinlocks.c - a word that is 1 while somebody has it (stampede_subject.h).
 *
 * In time, and where stores are buffered, it is what it is in a server: an exchange of the word, and a round of
 * spinning whenever it was 1 already. In a search through schedules that are sequentially consistent it is a lock: how
 * often one looks in vain before it is free makes no difference to anybody, and each such look would be one more order
 * to try. */
#include "sim/subject/runtime.h"
#include <string.h>

static guint number_of(const Subject *s, uint64_t at) {
  return GPOINTER_TO_UINT(g_hash_table_lookup(s->spinlocks, GSIZE_TO_POINTER(at)));
}

void stm_spin_init(volatile void *word, const char *name) {
  Subject *s = subject_here;
  uint64_t at = (uint64_t)((const char *)word - s->base);
  *(volatile uint8_t *)word = 0;
  if (!s->starting || at >= segment_size(s->segment) || number_of(s, at)) return;
  const char *last = strrchr(name, '>');
  Lock l = {.name = g_strdup(last ? last + 1 : name + (*name == '&')), .spin = true};
  g_array_append_val(s->locks, l);
  g_hash_table_insert(s->spinlocks, GSIZE_TO_POINTER(at), GUINT_TO_POINTER(s->locks->len - 1));
}

void subject_name_spinlock(Subject *s, const void *word, const char *name) {
  guint number = number_of(s, (uint64_t)((const char *)word - s->base));
  if (!number) return;
  Lock *l = &g_array_index(s->locks, Lock, number);
  g_free(l->name);
  l->name = g_strdup(name);
}

/* 0: as in time. */
static StmLock as_lock(const volatile void *word) {
  const Subject *s = subject_here;
  if (s->alone || !s->interleave || interleave_is_buffered()) return 0;
  return number_of(s, (uint64_t)((const volatile char *)word - s->base));
}

static void exchange(volatile uint8_t *word, const void *pc) {
  for (;;) {
    subject_asked(pc);
    subject_touch_atomic(word, 1, MEM_WRITE, true, __ATOMIC_SEQ_CST, pc);
    if (!__atomic_exchange_n(word, 1, __ATOMIC_SEQ_CST)) break;
    subject_spin(pc);
  }
  subject_here->spins = 0;
}

void stm_spin_lock(volatile void *word) {
  StmLock lock = as_lock(word);
  const void *pc = PC;
  if (!lock) return exchange(word, pc);
  interleave_lock(lock, false, pc);
  interleave_store(word, 1);
}

void stm_spin_unlock(volatile void *word) {
  StmLock lock = as_lock(word);
  const void *pc = PC;
  subject_goes_on(pc);
  if (lock) {
    interleave_unlock(lock, pc);
    return interleave_store(word, 0);
  }
  subject_touch_atomic(word, 1, MEM_WRITE, false, __ATOMIC_RELEASE, pc);
  __atomic_store_n((volatile uint8_t *)word, 0, __ATOMIC_RELEASE);
}
