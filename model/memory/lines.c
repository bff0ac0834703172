/* lines.c - holders of cache lines as runs (lines.h).
 *
 * For each class: in[] has its lines, run[] the first line of each run, run[] is a subset of in[], and the first line
 * of a class begins a run. The holder of a line is holder[] of the greatest run start at or before it in its class.
 * Touching a stretch removes the run starts in it and leaves at most two, joining and leaving make at most three: every
 * run that is walked over is paid for by the call that made it. */
#include "model/memory/lines.h"
#include "model/memory/bits.h"

enum { OTHERS, MEMBERS, CLASSES };

struct LineMap {
  uint64_t n;
  BitTree in[CLASSES], run[CLASSES];
  uint32_t *holder;
  uint8_t *words;            /* of word sets in each line: at most 64, and two that reach in from its sides */
  Fenwick members, adjacent; /* by 64 lines: members, and members whose line before is one as well */
};

LineMap *line_map_new(uint64_t n) {
  LineMap *m = g_new0(LineMap, 1);
  m->n = n;
  for (int c = 0; c < CLASSES; c++) {
    bit_tree_init(&m->in[c], n, c == OTHERS);
    bit_tree_init(&m->run[c], n, false);
  }
  m->holder = g_new0(uint32_t, n);
  m->words = g_new0(uint8_t, n);
  fenwick_init(&m->members, (n + 63) / 64);
  fenwick_init(&m->adjacent, (n + 63) / 64);
  bit_tree_set(&m->run[OTHERS], 0); /* one run: nobody holds anything */
  return m;
}

void line_map_free(LineMap *m) {
  for (int c = 0; c < CLASSES; c++) {
    bit_tree_clear(&m->in[c]);
    bit_tree_clear(&m->run[c]);
  }
  g_free(m->holder);
  g_free(m->words);
  fenwick_clear(&m->members);
  fenwick_clear(&m->adjacent);
  g_free(m);
}

uint64_t line_map_bytes(const LineMap *m) {
  uint64_t bytes = m->n * (sizeof *m->holder + sizeof *m->words) + 2 * (m->members.n + 1) * sizeof(int64_t);
  for (int c = 0; c < CLASSES; c++) bytes += bit_tree_bytes(&m->in[c]) + bit_tree_bytes(&m->run[c]);
  return bytes;
}

static bool is_member(const LineMap *m, uint64_t line) {
  return line < m->n && bit_tree_has(&m->in[MEMBERS], line);
}

static guint holder_in(const LineMap *m, int class, uint64_t line) {
  uint64_t start = bit_tree_previous(&m->run[class], line);
  g_assert(start != BITS_NONE);
  return m->holder[start];
}

static guint line_map_holder(const LineMap *m, uint64_t line) {
  return holder_in(m, is_member(m, line) ? MEMBERS : OTHERS, line);
}

/* Let a run begin at the first line of the class at or after `from`, as it is held now; returns that line. */
static uint64_t cut(LineMap *m, int class, uint64_t from) {
  uint64_t line = bit_tree_next(&m->in[class], from);
  if (line == BITS_NONE || bit_tree_has(&m->run[class], line)) return line;
  m->holder[line] = holder_in(m, class, line);
  bit_tree_set(&m->run[class], line);
  return line;
}

static void class_add(LineMap *m, int class, uint64_t line, guint holder) {
  cut(m, class, line); /* the lines behind it keep their holder */
  bit_tree_set(&m->in[class], line);
  bit_tree_set(&m->run[class], line);
  m->holder[line] = holder;
}

static void class_remove(LineMap *m, int class, uint64_t line) {
  cut(m, class, line + 1);
  bit_tree_unset(&m->run[class], line);
  bit_tree_unset(&m->in[class], line);
}

static void count_member(LineMap *m, uint64_t line, int by) {
  fenwick_add(&m->members, line / 64, by);
  if (line > 0 && is_member(m, line - 1)) fenwick_add(&m->adjacent, line / 64, by);
  if (is_member(m, line + 1)) fenwick_add(&m->adjacent, (line + 1) / 64, by);
}

void line_map_join(LineMap *m, uint64_t line) {
  g_assert(m->words[line] < UINT8_MAX);
  if (m->words[line]++ > 0) return;
  guint holder = holder_in(m, OTHERS, line);
  class_remove(m, OTHERS, line);
  class_add(m, MEMBERS, line, holder);
  count_member(m, line, 1);
}

void line_map_leave(LineMap *m, uint64_t line) {
  g_assert(m->words[line] > 0);
  if (--m->words[line] > 0) return;
  guint holder = holder_in(m, MEMBERS, line);
  count_member(m, line, -1);
  class_remove(m, MEMBERS, line);
  class_add(m, OTHERS, line, holder);
}

/* Members below `line`, and those of them whose line before is a member. */
typedef struct {
  int64_t members, adjacent;
} Rank;

static Rank rank_before(const LineMap *m, uint64_t line) {
  uint64_t w = line / 64;
  Rank r = {fenwick_before(&m->members, w), fenwick_before(&m->adjacent, w)};
  if (line % 64 == 0) return r;
  const uint64_t *bits = m->in[MEMBERS].level[0];
  uint64_t before = bits[w] << 1 | (w > 0 ? bits[w - 1] >> 63 : 0);
  r.members += bits_count(bits[w] & bits_below(line % 64));
  r.adjacent += bits_count(bits[w] & before & bits_below(line % 64));
  return r;
}

/* Lines of the class in [from, to). */
static Rank lines_between(const LineMap *m, int class, uint64_t from, uint64_t to) {
  Rank a = rank_before(m, from), b = rank_before(m, to);
  Rank r = {b.members - a.members, b.adjacent - a.adjacent};
  if (class == OTHERS) r = (Rank){(int64_t)(to - from) - r.members, 0};
  return r;
}

/* Make all lines of the class in [first, end) the owner's; returns how many were another's. */
static Rank take(LineMap *m, int class, uint64_t first, uint64_t end, guint owner) {
  Rank fetched = {0, 0};
  if (bit_tree_next(&m->in[class], first) >= end) return fetched;
  uint64_t start = cut(m, class, first);
  cut(m, class, end);
  for (uint64_t at = start, next; at < end; at = next) {
    next = bit_tree_next(&m->run[class], at + 1);
    if (m->holder[at] != 0 && m->holder[at] != owner) {
      Rank r = lines_between(m, class, at, MIN(next, end));
      fetched.members += r.members;
      fetched.adjacent += r.adjacent;
    }
    if (at != start) bit_tree_unset(&m->run[class], at);
  }
  m->holder[start] = owner;
  return fetched;
}

static bool fetches(const LineMap *m, uint64_t line, guint owner) {
  guint holder = line_map_holder(m, line);
  return holder != 0 && holder != owner;
}

/* All lines but the first follow the one touched just before. */
void line_map_touch(LineMap *m, uint64_t first, uint64_t end, guint owner, uint64_t *last_line, Touch *t) {
  g_assert(first < end && end <= m->n && owner > 0);
  bool jumped = fetches(m, first, owner) && *last_line + 1 != first;
  int64_t fetched = 0;
  if (end - first == 1 && line_map_holder(m, first) == owner)
    fetched = 0; /* mostly so: nothing changes */
  else
    for (int c = 0; c < CLASSES; c++) fetched += take(m, c, first, end, owner).members;
  t->lines += fetched;
  t->seq_lines += fetched - jumped;
  *last_line = end - 1;
}

/* All members but the first follow the one touched just before when the line before is a member. */
void line_map_touch_members(LineMap *m, uint64_t first, uint64_t end, guint owner, uint64_t *last_line, Touch *t) {
  g_assert(first < end && end <= m->n && owner > 0);
  uint64_t start = bit_tree_next(&m->in[MEMBERS], first);
  if (start >= end) return;
  bool fetches_start = fetches(m, start, owner);
  Rank fetched = take(m, MEMBERS, start, end, owner);
  t->lines += fetched.members;
  t->seq_lines += fetched.adjacent;
  if (fetches_start) t->seq_lines += (*last_line + 1 == start) - (start > 0 && is_member(m, start - 1));
  *last_line = bit_tree_previous(&m->in[MEMBERS], end - 1);
}
