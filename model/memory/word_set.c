/* word_set.c - the words of a changing set of elements, touched as ranges of pages and lines (memory.h).
 *
 * Words lie in ascending order and do not overlap, so the words of the members >= first are exactly those that begin at
 * or after the first such member's. Hence a page above the one where that member begins has a word of a member >= first
 * if and only if it has a word of any member: the counts by page need not know about first. Lines likewise. */
#include "model/memory/bits.h"
#include "model/memory/segment.h"

struct WordSet {
  Segment *segment;
  uint64_t base, stride, len, count; /* word i is [base + i * stride, + len), i < count */
  uint64_t n;
  BitTree members;
  Fenwick by_64; /* members, by 64 elements */
  uint64_t first_page, pages;
  uint32_t *words_in; /* by page from first_page: words of members that reach into it */
  uint64_t *has;      /* pages with members; its first word has page first_page & ~63 */
  bool in_lines;      /* the line map knows the members' lines */
};

static uint64_t word_at(const WordSet *set, uint64_t index) {
  return set->base + index * set->stride;
}
static uint64_t page_of(const WordSet *set, uint64_t address) {
  return address >> set->segment->page_shift;
}
static uint64_t end_of(const WordSet *set) {
  return word_at(set, set->count - 1) + set->len;
}

/* Do the lines of the two have any in common? */
static bool share_lines(const WordSet *a, const WordSet *b) {
  return a->base / LINE_BYTES <= (end_of(b) - 1) / LINE_BYTES && b->base / LINE_BYTES <= (end_of(a) - 1) / LINE_BYTES;
}

/* The line map has one class of members, so two sets of overlapping lines cannot both be in it. */
static void claim_lines(WordSet *set) {
  Segment *s = set->segment;
  for (guint i = 0; i < s->line_sets->len; i++)
    if (share_lines(set, s->line_sets->pdata[i])) return;
  g_ptr_array_add(s->line_sets, set);
  set->in_lines = true;
}

WordSet *word_set_new(Segment *s, StructureId id, uint64_t offset, uint64_t len) {
  segment_lay_out(s);
  WordSet *set = g_new0(WordSet, 1);
  uint64_t address = segment_address(s, id, 0);
  set->segment = s;
  set->stride = segment_address(s, id, 1) - address;
  set->count = segment_count(s, id);
  g_assert(len > 0 && offset + len <= set->stride);
  set->base = address + offset;
  set->len = len;
  bit_tree_init(&set->members, set->count, false);
  fenwick_init(&set->by_64, (set->count + 63) / 64);
  set->first_page = page_of(set, set->base);
  set->pages = page_of(set, end_of(set) - 1) - set->first_page + 1;
  set->words_in = g_new0(uint32_t, set->pages);
  set->has = g_new0(uint64_t, ((set->first_page & 63) + set->pages + 63) / 64);
  if (s->lines) claim_lines(set);
  s->word_sets++;
  return set;
}

void word_set_free(WordSet *set) {
  if (!set) return;
  Segment *s = set->segment;
  if (set->in_lines)
    for (uint64_t i = bit_tree_next(&set->members, 0), next; i != BITS_NONE; i = next) {
      next = bit_tree_next(&set->members, i + 1);
      word_set_remove(set, i);
    }
  g_ptr_array_remove(s->line_sets, set);
  g_assert(s->word_sets > 0);
  s->word_sets--;
  bit_tree_clear(&set->members);
  fenwick_clear(&set->by_64);
  g_free(set->words_in);
  g_free(set->has);
  g_free(set);
}

static void count_pages(WordSet *set, uint64_t address, bool add) {
  for (uint64_t page = page_of(set, address); page <= page_of(set, address + set->len - 1); page++) {
    uint32_t *words = &set->words_in[page - set->first_page];
    uint64_t bit = page - (set->first_page & ~UINT64_C(63)), mask = UINT64_C(1) << (bit & 63);
    g_assert(add || *words > 0);
    *words += add ? 1 : UINT32_MAX;
    if (*words)
      set->has[bit >> 6] |= mask;
    else
      set->has[bit >> 6] &= ~mask;
  }
}

static void count_lines(WordSet *set, uint64_t address, bool add) {
  LineMap *lines = set->segment->lines;
  for (uint64_t line = address / LINE_BYTES; line <= (address + set->len - 1) / LINE_BYTES; line++)
    if (add)
      line_map_join(lines, line);
    else
      line_map_leave(lines, line);
}

static void change(WordSet *set, uint64_t index, bool add) {
  g_assert(index < set->count && bit_tree_has(&set->members, index) != add);
  if (add)
    bit_tree_set(&set->members, index);
  else
    bit_tree_unset(&set->members, index);
  fenwick_add(&set->by_64, index / 64, add ? 1 : -1);
  set->n += add ? 1 : UINT64_MAX;
  count_pages(set, word_at(set, index), add);
  if (set->in_lines) count_lines(set, word_at(set, index), add);
}

void word_set_add(WordSet *set, uint64_t index) {
  change(set, index, true);
}
void word_set_remove(WordSet *set, uint64_t index) {
  change(set, index, false);
}

bool word_set_has(const WordSet *set, uint64_t index) {
  return index < set->count && bit_tree_has(&set->members, index);
}

uint64_t word_set_from(const WordSet *set, uint64_t first) {
  if (first >= set->count) return 0;
  uint64_t low = set->members.level[0][first / 64] & bits_below(first & 63);
  return set->n - (uint64_t)fenwick_before(&set->by_64, first / 64) - (uint64_t)bits_count(low);
}

bool word_set_ranges(const WordSet *set) {
  return !set->segment->config.tlb_l1 && (!set->segment->lines || set->in_lines);
}

static void touch_words(const WordSet *set, AddressSpace *as, uint64_t first, MemAccess access, Touch *t) {
  for (uint64_t i = first; i != BITS_NONE; i = bit_tree_next(&set->members, i + 1))
    memory_touch(as, word_at(set, i), set->len, access, t);
}

void word_set_touch(const WordSet *set, AddressSpace *as, uint64_t first, MemAccess access, Touch *t) {
  g_assert(as->segment == set->segment);
  first = bit_tree_next(&set->members, first);
  if (first == BITS_NONE) return;
  if (!word_set_ranges(set)) {
    touch_words(set, as, first, access, t);
    return;
  }
  uint64_t page = page_of(set, word_at(set, first)), last = set->first_page + set->pages - 1;
  const uint64_t *has = &set->has[(page >> 6) - (set->first_page >> 6)];
  address_space_touch_pages(as, page, last, has, access, t);
  if (set->in_lines)
    line_map_touch_members(set->segment->lines, word_at(set, first) / LINE_BYTES, (end_of(set) - 1) / LINE_BYTES + 1,
                           as->owner, &as->last_line, t);
}
