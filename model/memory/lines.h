/* lines.h - which process touched each cache line of a segment last. Not for other folders.
 *
 * A line is fetched when its last access was another process's; any access makes it this process's own. Lines form two
 * classes, members (those with words of a word set) and others, and each class is cut into runs of one holder, so that
 * touching a range or all members from some line on costs what it changes, amortised, and not the lines it covers. */
#pragma once
#include "model/memory/memory.h"

enum { LINE_BYTES = 64 };
typedef struct LineMap LineMap;

LineMap *line_map_new(uint64_t n);
void line_map_free(LineMap *m);
uint64_t line_map_bytes(const LineMap *m);
/* One more (one less) word of a set lies in the line; it is a member as long as there is one. */
void line_map_join(LineMap *m, uint64_t line);
void line_map_leave(LineMap *m, uint64_t line);
/* Touch the lines first..end-1, or only the members among them. *last_line: the line this process touched last; set to
 * the last one touched. Adds lines and seq_lines to *t. */
void line_map_touch(LineMap *m, uint64_t first, uint64_t end, guint owner, uint64_t *last_line, Touch *t);
void line_map_touch_members(LineMap *m, uint64_t first, uint64_t end, guint owner, uint64_t *last_line, Touch *t);
