/* output.c - the file and its buffer. Formatting is in output_json.c. */
#include "traces/output_buffer.h"
#include "traces/trace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100 /* names tried when PATH.tmp-PID-N exists, left by a process of this number that was killed */

void output_fail(Output *o, const char *why) {
  if (!o->error) o->error = g_error_new(TRACE_ERROR, TRACE_ERROR_WRITE, "%s: %s", o->path, why);
  o->used = 0;
}

static void fail_errno(Output *o, const char *doing) {
  g_autofree char *why = g_strdup_printf("cannot %s: %s", doing, g_strerror(errno));
  output_fail(o, why);
}

/* The given error must not be lost when a caller passes NULL and looks later, so it is copied. */
static bool report(const Output *o, GError **error) {
  if (o->error && error) *error = g_error_copy(o->error);
  return !o->error;
}

/* A name beside `path`, so that renaming stays within one file system. */
static char *aside_name(const char *path, guint n) {
  return g_strdup_printf("%s.tmp-%ld-%u", path, (long)getpid(), n);
}

static int open_named(Output *o) {
  int fd = -1;
  for (guint n = 0; fd < 0 && n < TRIES; n++) {
    g_free(o->aside);
    o->aside = aside_name(o->path, n);
    fd = open(o->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) g_clear_pointer(&o->aside, g_free);
  return fd;
}

/* A file without a name leaves nothing behind even after SIGKILL. It gets its name through /proc, so without that
 * (EACCES and the like included) the named way is taken, and its error reported. */
static int open_aside(Output *o) {
  g_autofree char *folder = g_path_get_dirname(o->path);
  if (access("/proc/self/fd", X_OK) == 0) {
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
  }
  return open_named(o);
}

/* /dev/stdout may be a link to a file that the shell has open: renaming over that would lose what else goes there. */
bool output_is_stdout(const char *path) {
  return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static void open_fd(Output *o) {
  struct stat st;
  if (!*o->path) {
    output_fail(o, "a file without a name");
    return;
  }
  if (output_is_stdout(o->path)) {
    o->fd = STDOUT_FILENO;
    o->direct = true;
  } else if (stat(o->path, &st) == 0 && !S_ISREG(st.st_mode)) {
    o->direct = true; /* renaming over a device would replace it */
    o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
  } else {
    o->fd = open_aside(o);
  }
  if (o->fd < 0) fail_errno(o, "open for writing");
}

Output *output_open(const char *path, GError **error) {
  g_assert(path);
  g_autoptr(Output) o = g_new0(Output, 1);
  g_autofree char *target = realpath(path, NULL); /* a link stays one: what it names is replaced */
  o->path = target && !output_is_stdout(path) ? g_strdup(target) : g_strdup(path);
  open_fd(o);
  if (!report(o, error)) return NULL;
  o->size = OUTPUT_CHUNK;
  o->buffer = g_malloc(o->size);
  return g_steal_pointer(&o);
}

bool output_flush(Output *o, GError **error) {
  for (gsize done = 0; !o->error && done < o->used;) {
    ssize_t n = write(o->fd, o->buffer + done, o->used - done);
    if (n > 0)
      done += (gsize)n;
    else if (n == 0 || errno != EINTR)
      fail_errno(o, "write");
  }
  o->used = 0;
  return report(o, error);
}

/* linkat cannot replace, so the file is named aside for a moment first. */
static void name_aside(Output *o) {
  g_autofree char *fd = g_strdup_printf("/proc/self/fd/%d", o->fd);
  int rc = -1;
  for (guint n = 0; rc < 0 && n < TRIES; n++) {
    g_free(o->aside);
    o->aside = aside_name(o->path, n);
    rc = linkat(AT_FDCWD, fd, AT_FDCWD, o->aside, AT_SYMLINK_FOLLOW);
    if (rc < 0 && errno != EEXIST) break;
  }
  if (rc == 0) return;
  fail_errno(o, "give it its name");
  g_clear_pointer(&o->aside, g_free);
}

/* Before the rename nobody can see the file; after it, it is complete. close reports what the file system put off. */
bool output_commit(Output *o, GError **error) {
  g_assert(o->fd >= 0);
  output_flush(o, NULL);
  if (!o->error && !o->direct && !o->aside) name_aside(o);
  if (o->fd != STDOUT_FILENO && close(o->fd) != 0) fail_errno(o, "close");
  o->fd = -1;
  if (!o->error && o->aside) {
    if (rename(o->aside, o->path) == 0)
      g_clear_pointer(&o->aside, g_free);
    else
      fail_errno(o, "rename");
  }
  return report(o, error);
}

void output_free(Output *o) {
  if (!o) return;
  if (o->fd >= 0 && o->fd != STDOUT_FILENO) close(o->fd);
  if (o->aside) unlink(o->aside);
  g_clear_error(&o->error);
  g_free(o->aside);
  g_free(o->path);
  g_free(o->buffer);
  g_free(o);
}
