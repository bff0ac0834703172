/* read_lines.c - see read_lines.h. */
#include "traces/read_lines.h"
#include "traces/trace.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define CHUNK (64u << 10)

struct Lines {
  char *name;
  int fd;         /* -1: memory, all of it between at and at + left */
  const char *at; /* not yet looked at */
  gsize left;
  char *chunk;
  GString *line;
  guint64 number;
};

static Lines *lines_create(const char *name, int fd) {
  Lines *l = g_new0(Lines, 1);
  l->name = g_strdup(name);
  l->fd = fd;
  l->line = g_string_new(NULL);
  if (fd >= 0) l->chunk = g_malloc(CHUNK);
  return l;
}

Lines *lines_open(const char *path, GError **error) {
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return lines_create(is_stdin ? "(stdin)" : path, fd);
  g_set_error(error, TRACE_ERROR, TRACE_ERROR_READ, "%s: cannot open: %s", path, g_strerror(errno));
  return NULL;
}

Lines *lines_new(const char *data, gsize size, const char *name) {
  Lines *l = lines_create(name, -1);
  l->at = data;
  l->left = size;
  return l;
}

void lines_free(Lines *l) {
  if (!l) return;
  if (l->fd >= 0 && l->fd != STDIN_FILENO) close(l->fd);
  g_string_free(l->line, TRUE);
  g_free(l->chunk);
  g_free(l->name);
  g_free(l);
}

const char *lines_name(const Lines *l) {
  return l->name;
}
guint64 lines_number(const Lines *l) {
  return l->number;
}

/* More bytes into at, left; none at the end. */
static bool refill(Lines *l, GError **error) {
  if (l->left || l->fd < 0) return true;
  ssize_t n;
  do n = read(l->fd, l->chunk, CHUNK);
  while (n < 0 && errno == EINTR);
  l->at = l->chunk;
  l->left = n > 0 ? (gsize)n : 0;
  if (n < 0) g_set_error(error, TRACE_ERROR, TRACE_ERROR_READ, "%s: cannot read: %s", l->name, g_strerror(errno));
  return n >= 0;
}

/* Moves bytes up to and with the newline into the line; true when one was there. */
static bool take(Lines *l) {
  const char *newline = memchr(l->at, '\n', l->left);
  gsize n = newline ? (gsize)(newline - l->at) : l->left, used = newline ? n + 1 : n;
  g_string_append_len(l->line, l->at, (gssize)n);
  l->at += used;
  l->left -= used;
  return newline;
}

LinesNext lines_next(Lines *l, char **line, gsize *length, GError **error) {
  bool whole = false;
  g_string_truncate(l->line, 0);
  l->number++;
  while (!whole) {
    if (!refill(l, error)) return LINES_FAILED;
    if (!l->left) break;
    whole = take(l);
    if (l->line->len < TRACE_LINE_MAX) continue;
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%" G_GUINT64_FORMAT ": the line is longer than 16 MiB",
                l->name, l->number);
    return LINES_FAILED;
  }
  *line = l->line->str;
  *length = l->line->len;
  return whole ? LINES_LINE : l->line->len ? LINES_PARTIAL : LINES_END;
}

LinesNext lines_peek(Lines *l, GError **error) {
  if (!refill(l, error)) return LINES_FAILED;
  return l->left ? LINES_LINE : LINES_END;
}
