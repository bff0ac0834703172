/* touch.c - the long way of an access: wild ones, other memory, faults, several lines, recording; and stores to another
 * element's watched word (a follower's pgxactoff), which are counted apart, faults and all. */
#include "sim/subject/touch.h"
#include "model/memory/bits.h"

Hooks hooks;

void hooks_watch(uintptr_t at, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size) {
  g_assert(!stride || bytes < UINT64_MAX / stride);
  hooks.watch_first = at + offset;
  hooks.watch_inverse = stride ? UINT64_MAX / stride + 1 : 0;
  hooks.watch_size = size, hooks.watch_stride = stride;
  hooks.watch_count = stride ? bytes / stride : 0;
  hooks.watch_whole = stride && HOOKS_LINE % size == 0 && stride % size == 0 && hooks.watch_first % size == 0;
}

void hooks_count(uint64_t size) {
  hooks.size = size;
  for (guint i = 0; i < HOOKS_SIZES; i++)
    hooks.watched[i] = size && UINT32_C(1) << i == hooks.watch_size ? hooks.watch_count : 0;
}

/* Others may map pages among the 64 from now on. */
static void leave_group(void) {
  if (!hooks.group_bytes) return;
  int mapped = bits_count(*hooks.group_bits & ~hooks.group_before);
  hooks.hot->pages += (uint64_t)mapped;
  hooks.follower.write_faults += mapped;
  hooks.group_bytes = 0;
}

static void settle_followers(void) {
  int64_t counted = hooks.settled - hooks.left[HOOKS_FOLLOWERS];
  hooks.followers += counted;
  if (hooks.word_owner) hooks.follower.lines += counted;
  hooks.settled = hooks.left[HOOKS_FOLLOWERS];
}

void hooks_settle(void) {
  leave_group();
  settle_followers();
}

/* ---- how many are left ---- */

static void deal(int64_t n, guint part) {
  settle_followers();
  for (guint i = 0; i < HOOKS_PARTS; i++) hooks.left[i] = n / HOOKS_PARTS;
  hooks.left[part] += n % HOOKS_PARTS;
  hooks.settled = hooks.left[HOOKS_FOLLOWERS];
}

void hooks_set_left(int64_t n) {
  deal(n, 0);
}

int64_t hooks_left(void) {
  int64_t n = 0;
  for (guint i = 0; i < HOOKS_PARTS; i++) n += hooks.left[i];
  return n;
}

bool hooks_deal(guint part) {
  int64_t n = hooks_left() - 1;
  deal(n, part);
  return n >= 0;
}

/* ---- what is not shared, and what nobody may touch ---- */

static bool within(const void *p, const char *start, size_t bytes) {
  return (const char *)p >= start && (const char *)p < start + bytes;
}

/* What stands at a fixed place is told, for that is the same in every run: a small number, which is a member of an
 * object that is not there, and an offset from shared memory. */
static _Noreturn void tell_wild(uint64_t p, uint64_t base, const char *nearest, const void *pc) {
  static const uint64_t small = 64 << 10, near = UINT64_C(1) << 36;
  int64_t offset = (int64_t)(p - base);
  if (!p) subject_broken(pc, "access to NULL outside its memory (nearest: %s)", nearest);
  if (p < small) subject_broken(pc, "access to the address 0x%" G_GINT64_MODIFIER "x outside its memory", p);
  if (offset >= (int64_t)near || offset <= -(int64_t)near)
    subject_broken(pc, "access to an address outside its memory (nearest: %s)", nearest);
  subject_broken(pc, "access to an address outside its memory (nearest: %s %c %" G_GINT64_FORMAT ")", nearest,
                 offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

/* Memory that is not shared: the subject's variables, what it allocated, its stack. While `start` runs shared memory is
 * among it. Anything else is a wild access. */
static __attribute__((cold)) void check_private(const void *p, const void *pc) {
  Subject *s = subject_here;
  if (!s) return; /* a constructor, while the object is loaded: what it leaves behind are its first variables */
  ImageRange image = image_code(s->image);
  if (within(p, image.start, image.bytes) || within(p, s->heap, (size_t)(s->heap_end - s->heap))) return;
  if ((s->starting || s->looking) && within(p, s->base, s->reserved)) {
    if (s->interleave) interleave_looked((uint64_t)((const char *)p - s->base));
    return;
  }
  guint last = s->structures->len - 1;
  const Structure *nearest = &g_array_index(s->structures, Structure, last);
  for (guint i = last; i > 0 && s->base + nearest->base > (const char *)p; i--)
    nearest = &g_array_index(s->structures, Structure, i);
  tell_wild((uintptr_t)p, (uintptr_t)s->base + nearest->base, nearest->name ? nearest->name : "nothing", pc);
}

void touch_private(const void *p, const void *pc) {
  const char *frame = __builtin_frame_address(0);
  bool stack = (const char *)p - frame < (64 << 10) && (const char *)p >= frame; /* above this frame */
  if (!stack) return check_private(p, pc);
  const Subject *s = subject_here;
  const char *first = s && s->running ? s->running->first_frame : NULL;
  if (first && (const char *)p >= first) subject_broken(pc, "access beyond the end of its stack");
}

/* ---- shared memory ---- */

/* Within a page. */
static void touch_part(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  Subject *s = subject_here;
  Proc *p = s->running;
  Touch before, after = {0};
  memory_touch(p->as, at, bytes, access, &after);
  int64_t faults = after.read_faults + after.write_faults;
  if (!faults && !after.tlb_l2_hits && !after.tlb_misses) return;
  Row *row = subject_row(s, pc, at);
  before = row->touch;
  row->touch = (Touch){before.read_faults + after.read_faults,
                       before.write_faults + after.write_faults,
                       before.around + after.around,
                       before.tables + after.tables,
                       before.lines + after.lines,
                       before.seq_lines + after.seq_lines,
                       before.tlb_l2_hits + after.tlb_l2_hits,
                       before.tlb_misses + after.tlb_misses};
  p->use.faults += faults;
  if (at - s->faults_base < s->faults_bytes) p->faults_in += faults;
}

static void long_way(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  Subject *s = subject_here;
  if (s->interleave) return interleave_access(pc, at, bytes, access);
  uint64_t page = UINT64_C(1) << hooks.page_shift;
  leave_group();
  if (s->record) s->record(s->record_data, at, bytes, access == MEM_WRITE);
  for (uint64_t end = at + bytes, next; at < end; at = next) {
    next = MIN((at & ~(page - 1)) + page, end);
    touch_part(pc, at, next - at, access);
  }
}

/* Sixteen at a time: as many as a compiler makes vectors of. False: not all are plain, and nothing has been done. */
enum { TOGETHER = 16 };
static inline bool sixteen_lines(uint32_t *owner) {
  uint32_t all = 0, others = 0, me = hooks.owner;
  for (guint i = 0; i < TOGETHER; i++) all |= owner[i], others += (owner[i] != 0) & (owner[i] != me);
  if (all & HOOKS_BY_ELEMENT) return false;
  for (guint i = 0; i < TOGETHER; i++) owner[i] = me;
  hooks.lines += others;
  hooks.seq_lines += others;
  return true;
}

/* All from `line` to `last`. */
static void touch_lines(uintptr_t line, uintptr_t last) {
  uint32_t *owners = hooks.line_owner;
  if (!owners) return;
  touch_line(line);
  for (line += HOOKS_LINE; line <= last; line += HOOKS_LINE) {
    bool many = last - line >= (TOGETHER - 1) * HOOKS_LINE;
    if (many && sixteen_lines(owners + (line - hooks.base) / HOOKS_LINE))
      hooks.last_line = line += (TOGETHER - 1) * HOOKS_LINE;
    else
      touch_line(line);
  }
}

static bool all_mapped(uint64_t at, uint64_t end) {
  uint64_t page = UINT64_C(1) << hooks.page_shift;
  for (; at < end; at = (at | (page - 1)) + 1)
    if (!touch_is_mapped(at)) return false;
  return true;
}

void touch(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uint64_t at = (uintptr_t)p - hooks.base;
  if (G_UNLIKELY(at >= hooks.size)) return touch_private(p, pc);
  uint64_t element = touch_element_of((uintptr_t)p);
  bool watched = access == MEM_WRITE && element < hooks.watch_count && bytes == hooks.watch_size;
  if (watched && (uintptr_t)p != hooks.own_word) return touch_follower((uintptr_t)p, element, pc);
  if (G_UNLIKELY(!hooks_spend(access == MEM_WRITE ? HOOKS_STORES : 0))) subject_endless(pc);
  hooks.stores += access == MEM_WRITE;
  touch_lines(touch_line_of((uintptr_t)p), touch_line_of((uintptr_t)p + bytes - 1));
  if (!all_mapped(at, at + bytes)) long_way(pc, at, bytes, access);
}

/* ---- followers ---- */

/* The row is made where its callers can be seen. */
static void follower_from(const void *pc) {
  hooks.follower_pc = pc;
  subject_row(subject_here, pc, hooks.watch_first - hooks.base);
}

static void record_follower(uint64_t at) {
  const Subject *s = subject_here;
  leave_group();
  memory_touch(hooks.as, at, hooks.watch_size, MEM_WRITE, &hooks.follower);
  if (s->record) s->record(s->record_data, at, hooks.watch_size, true);
}

/* From here on hooks.c counts by itself, while the next one is near. Where lines are counted, only if by element. */
static void enter_group(uint64_t at, uint64_t *bits) {
  bool simple = hooks.watch_whole && (hooks.word_owner || !hooks.line_owner);
  if (bits == hooks.group_bits && hooks.group_bytes) return;
  leave_group();
  hooks.group_bits = bits;
  hooks.group_before = *bits;
  uintptr_t first = hooks.base + (at >> hooks.page_shift >> 6 << 6 << hooks.page_shift);
  uintptr_t end =
      MIN(first + (UINT64_C(64) << hooks.page_shift), hooks.watch_first + hooks.watch_count * hooks.watch_stride);
  hooks.group_at = MAX(first, hooks.watch_first);
  hooks.group_bytes = simple ? end - hooks.group_at : 0;
}

void touch_follower(uintptr_t p, uint64_t element, const void *pc) {
  uint64_t at = p - hooks.base, page = at >> hooks.page_shift;
  uint64_t *bits = memory_hot_word(hooks.hot, page);
  settle_followers();
  if (G_UNLIKELY(!hooks_spend(HOOKS_FOLLOWERS))) subject_endless(pc);
  hooks.settled = hooks.left[HOOKS_FOLLOWERS];
  hooks.followers++;
  if (hooks.follower_pc != pc) follower_from(pc);
  if (hooks.word_owner)
    touch_owner(&hooks.word_owner[element], touch_line_of(p), &hooks.follower.lines, &hooks.follower.seq_lines);
  else if (hooks.line_owner)
    touch_owner(&hooks.line_owner[at / HOOKS_LINE], touch_line_of(p), &hooks.follower.lines, &hooks.follower.seq_lines);
  if (!bits || !hooks.watch_whole) return record_follower(at);
  enter_group(at, bits);
  uint64_t bit = UINT64_C(1) << (page & 63);
  if (!hooks.group_bytes && !(*bits & bit)) hooks.hot->pages++, hooks.follower.write_faults++;
  *bits |= bit;
}
