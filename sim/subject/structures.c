/* structures.c - a subject's memory (stampede_subject.h): what it asks for, and what the parts of it are called. */
#include "sim/subject/runtime.h"
#include "sim/subject/visible.h"

static void add_structure(Subject *s, const Structure *st) {
  guint i = s->structures->len;
  while (i > 1 && g_array_index(s->structures, Structure, i - 1).base > st->base) i--;
  g_array_insert_val(s->structures, i, *st);
}

/* A name for a part of a structure: the rest keeps its own, in front of it and behind. */
static void name_part(Subject *s, Structure part) {
  for (guint i = 1; i < s->structures->len; i++) {
    Structure *st = &g_array_index(s->structures, Structure, i);
    uint64_t end = st->base + st->bytes, part_end = part.base + part.bytes;
    if (part.base < st->base || part_end > end) continue;
    Structure tail = *st;
    tail.name = g_strdup(st->name);
    tail.type = g_strdup(st->type);
    tail.base = part_end, tail.bytes = end - part_end;
    st->bytes = part.base - st->base;
    if (!st->bytes) g_array_remove_index(s->structures, i);
    if (tail.bytes)
      add_structure(s, &tail);
    else
      g_free(tail.name), g_free(tail.type);
    break;
  }
  add_structure(s, &part);
}

void subject_name_structure(Subject *s, const char *name, const void *at, uint64_t size, uint64_t count,
                            const char *type) {
  uint64_t base = (uint64_t)((const char *)at - s->base);
  if ((const char *)at < s->base || base + size * count > segment_size(s->segment) || !size || !count) return;
  s->last_row = 0;
  name_part(s, (Structure){visible_text(name), g_strdup(type), base, size * count, size});
}

/* Only where no two of them share a line, and none lies in two. */
static void own_by_element(Subject *s, uint64_t first, uint64_t count, uint32_t stride, uint32_t size) {
  g_clear_pointer(&s->word_owner, g_free);
  bool whole = stride % size == 0 && first % size == 0 && HOOKS_LINE % size == 0;
  if (!s->line_owner || stride < HOOKS_LINE || !whole || count >= HOOKS_BY_ELEMENT) return;
  s->word_owner = g_new0(uint32_t, count);
  for (uint64_t i = 0; i < count; i++) {
    uint32_t *of_line = &s->line_owner[(first + i * stride) / HOOKS_LINE];
    g_assert(!(*of_line & HOOKS_BY_ELEMENT)); /* watched once, by nobody else's words */
    s->word_owner[i] = *of_line;
    *of_line = HOOKS_BY_ELEMENT | (uint32_t)i;
  }
}

void subject_watch(Subject *s, uint64_t base, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size) {
  g_assert(stride >= size && size > 0);
  hooks_watch((uintptr_t)s->base + base, bytes, stride, offset, size);
  own_by_element(s, base + offset, bytes / stride, stride, size);
}
void subject_watch_moves(Subject *s, uint64_t base, uint64_t bytes, uint32_t width) {
  s->moves_base = base, s->moves_bytes = bytes, s->moves_width = width;
}
void subject_count_faults_in(Subject *s, uint64_t base, uint64_t bytes, uint64_t page_size) {
  s->faults_base = base & ~(page_size - 1);
  s->faults_bytes = ((base + bytes + page_size - 1) & ~(page_size - 1)) - s->faults_base;
}
uint64_t subject_address(const Subject *s, const void *at) {
  return (uint64_t)((const char *)at - s->base);
}
const void *subject_at(const Subject *s, uint64_t address) {
  return s->base + address;
}

void *stm_shared(const char *name, size_t bytes, size_t align) {
  Subject *s = subject_asked(PC);
  if (!s->starting) subject_broken(PC, "stm_shared(\"%s\") after start", name);
  bool power = align && !(align & (align - 1));
  if (!bytes || !power) subject_broken(PC, "stm_shared(\"%s\"): no such size or alignment", name);
  StructureId id = segment_add(s->segment, name, bytes, 1, align, 0);
  uint64_t at = segment_address(s->segment, id, 0);
  if (at + bytes > s->reserved) subject_broken(PC, "stm_shared(\"%s\"): more than 256 GiB", name);
  add_structure(s, &(Structure){visible_text(name), NULL, at, bytes, bytes});
  return s->base + at;
}

void stm_structure(const char *name, const void *at, size_t size, size_t count, const char *type) {
  subject_name_structure(subject_asked(PC), name, at, size, count, type);
}

/* All processes' is one heap. A search takes what was given out back with its steps, but no count of a process's own.
 */
static void *give(size_t bytes, const void *pc) {
  Subject *s = subject_asked(pc);
  Proc *p = s->running;
  size_t most = (size_t)SUBJECT_PRIVATE_MIB << 20;
  size_t used = s->interleave ? (size_t)(s->heap_next - s->heap) : p->private_bytes;
  if (bytes > most || used > most - bytes)
    subject_broken(pc, "out of memory of its own (%d MiB; it is never given back)", SUBJECT_PRIVATE_MIB);
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes > (size_t)(s->heap_end - s->heap_next)) subject_broken(pc, "out of memory of all processes' own (1 TiB)");
  char *at = s->heap_next;
  s->heap_next += bytes;
  p->private_bytes += bytes;
  return at;
}

void *stm_private(size_t bytes) {
  return give(bytes, PC);
}
void *stm_malloc(size_t bytes);
void *stm_malloc(size_t bytes) {
  return give(bytes, PC);
}
void stm_free(void *p);
void stm_free(void *p) {
  (void)p;
  subject_asked(PC);
}
