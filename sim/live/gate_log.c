/* gate_log.c - what a pooler prints goes to a file of the run's directory, which a pooler that prints for ever would
 * fill the disk with. So that file is looked at while the pooler runs, and what stands between its beginning, which
 * says why things went wrong, and its end, where they are, is taken out.
 *
 * The pooler appends to it, so it goes on at the new end. What it prints in between may come to stand before the
 * remark: that it is cut is said, where exactly is not. */
#include "sim/live/gate_parts.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 16 << 20, HEAD = 1 << 20, TAIL = 256 << 10 };

static bool put(int fd, const char *text, gsize n) {
  while (n > 0) {
    ssize_t one = write(fd, text, n);
    if (one <= 0) return false; /* a full disk: then that is what is missing */
    text += one;
    n -= (gsize)one;
  }
  return true;
}

static void cut(int fd, off_t size) {
  g_autofree char *tail = g_malloc(TAIL);
  ssize_t n = pread(fd, tail, TAIL, size - TAIL);
  g_autofree char *remark =
      g_strdup_printf("\n[stampede has left out %" G_GINT64_FORMAT " bytes here]\n", (gint64)(size - HEAD - TAIL));
  if (n <= 0 || ftruncate(fd, HEAD) != 0) return;
  (void)(put(fd, remark, strlen(remark)) && put(fd, tail, (gsize)n));
}

static void bound(const char *path) {
  struct stat now;
  if (stat(path, &now) != 0 || now.st_size <= MOST) return;
  int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && now.st_size > MOST) cut(fd, now.st_size);
  close(fd);
}

void gate_bound_logs(LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++) bound(GATE_MEMBER(g, i)->log);
}

/* What it printed may be anything: nothing of it reaches a terminal but lines of text, not too long. */
char *live_gate_log_tail(const LiveGate *g, guint lines) {
  enum { TOLD = 4096 };
  g_autofree char *text = NULL;
  gsize n;
  if (!g_file_get_contents(GATE_MEMBER(g, g->last)->log, &text, &n, NULL)) return g_strdup("");
  for (gsize i = 0; i < n; i++)
    if (text[i] != '\n' && (text[i] == 0 || g_ascii_iscntrl(text[i]))) text[i] = text[i] == '\t' ? ' ' : '?';
  g_strchomp(text);
  char *end = text + strlen(text), *from = end;
  for (guint seen = 0; from > text && end - from < TOLD; from--)
    if (from[-1] == '\n' && ++seen == lines) break;
  return g_utf8_make_valid(from, -1);
}
