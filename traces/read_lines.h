/* read_lines.h - a file, or memory, line by line; a line has a limit. For the reader of traces. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct Lines Lines;
typedef enum {
  LINES_LINE,    /* *line is set; it ended with a newline, which is not in it */
  LINES_PARTIAL, /* the last line, and it has no newline */
  LINES_END,     /* no more */
  LINES_FAILED   /* *error is set */
} LinesNext;

Lines *lines_open(const char *path, GError **error);              /* "-" is stdin; TRACE_ERROR_READ */
Lines *lines_new(const char *data, gsize size, const char *name); /* data is not copied */
void lines_free(Lines *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lines, lines_free)
const char *lines_name(const Lines *l);
guint64 lines_number(const Lines *l); /* of the line given last, from 1 */
/* The line belongs to l, may hold NULs, ends in one, may be changed, and lives until the next call. */
LinesNext lines_next(Lines *l, char **line, gsize *length, GError **error);
LinesNext lines_peek(Lines *l, GError **error); /* LINES_LINE: there are more bytes; the line given last stays */
