/* test_trace_faults.c - a full disk, a folder that cannot be written, a kill: the file is there whole or not at all. */
#include "tests/trace_sample.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

typedef struct {
  char *folder, *path; /* path: in the folder, nothing there yet */
} Place;

static Place place_new(void) {
  char *folder = g_dir_make_tmp("stampede-trace-XXXXXX", NULL);
  return (Place){folder, g_build_filename(folder, "t.jsonl", NULL)};
}

/* Takes the place of libc's: as long as `old_kernel` is set the file system knows no files without a name. */
static bool old_kernel;
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (old_kernel && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in the folder, sorted, with spaces between; g_free. */
static char *names_in(const Place *p) {
  g_autoptr(GDir) dir = g_dir_open(p->folder, 0, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; (name = g_dir_read_name(dir));) g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, by_name);
  g_ptr_array_add(names, NULL);
  return g_strjoinv(" ", (char **)names->pdata);
}

static void expect_names(const Place *p, const char *should) {
  g_autofree char *names = names_in(p);
  expect_str(names, should);
}

static void place_free(Place *p) {
  g_autoptr(GDir) dir = g_dir_open(p->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(p->folder, name, NULL);
    if (g_remove(path) != 0) g_rmdir(path);
  }
  g_rmdir(p->folder);
  g_free(p->folder);
  g_free(p->path);
}

/* Many steps; true when all went well. */
static bool write_long(const char *path, int64_t steps, GError **error) {
  Sample s;
  sample_init(&s);
  g_autoptr(TraceWriter) w = trace_writer_open(path, &s.header, error);
  if (!w) return false;
  for (int64_t i = 0; i < steps; i++) {
    s.steps[1].i = i;
    trace_writer_step(w, &s.steps[1], NULL);
  }
  s.end.lasso_from = -1;
  return trace_writer_close(w, &s.end, error);
}

static void expect_failure(const char *path, int64_t steps, const char *should) {
  g_autoptr(GError) error = NULL;
  expect(!write_long(path, steps, &error));
  expect(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_WRITE));
  expect_str(error ? error->message : NULL, should);
}

static void full_disk(void) {
  struct stat st;
  expect_failure("/dev/full", 1, "/dev/full: cannot write: No space left on device");
  expect_failure("/dev/full", 10000, "/dev/full: cannot write: No space left on device");
  expect(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode)); /* nobody renamed a file over it */
}

static void first_error_stays(void) {
  Sample s;
  sample_init(&s);
  g_autoptr(GError) first = NULL, again = NULL, last = NULL;
  g_autoptr(TraceWriter) w = trace_writer_open("/dev/null", &s.header, &first);
  s.steps[0].what = "\xff";
  s.steps[1].what = "fine";
  expect(!trace_writer_step(w, &s.steps[0], &first));
  expect_str(first->message, "/dev/null: text is not UTF-8: \"\\377\"");
  expect(!trace_writer_step(w, &s.steps[1], &again));
  expect_str(again->message, first->message);
  s.end.lasso_from = -1;
  expect(!trace_writer_close(w, &s.end, &last));
  expect_str(last->message, first->message);
}

/* In a child, as the limit would stay: the file system takes 64 KiB, then says EFBIG. */
static void full_after_a_while(void) {
  Place p = place_new();
  pid_t child = fork();
  if (child == 0) {
    g_autoptr(GError) error = NULL;
    const struct rlimit limit = {65536, 65536};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    bool ok = write_long(p.path, 10000, &error);
    _exit(!ok && error && strstr(error->message, "cannot write: File too large") ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  expect_int(status, ==, 0);
  expect_names(&p, "");
  place_free(&p);
}

static void folder_missing(void) {
  expect_failure("/nonexistent/t", 1, "/nonexistent/t: cannot open for writing: No such file or directory");
}

static void path_is_a_folder(void) {
  Place p = place_new();
  g_autofree char *should = g_strdup_printf("%s: cannot open for writing: Is a directory", p.folder);
  expect_failure(p.folder, 1, should);
  expect_names(&p, "");
  place_free(&p);
}

/* root may write anywhere, so the child becomes nobody first. */
static void folder_read_only(void) {
  Place p = place_new();
  g_chmod(p.folder, 0555);
  pid_t child = fork();
  if (child == 0) {
    g_autoptr(GError) error = NULL;
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(2);
    bool ok = write_long(p.path, 1, &error);
    _exit(!ok && error && strstr(error->message, "cannot open for writing: Permission denied") ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  expect_int(status, ==, 0);
  g_chmod(p.folder, 0755);
  expect_names(&p, "");
  place_free(&p);
}

static void appears_at_close(void) {
  Sample s;
  sample_init(&s);
  Place p = place_new();
  g_autofree char *before = NULL, *after = NULL;
  g_file_set_contents(p.path, "old", -1, NULL);
  g_autoptr(TraceWriter) w = trace_writer_open(p.path, &s.header, NULL);
  for (guint i = 0; i < SAMPLE_STEPS; i++) trace_writer_step(w, &s.steps[i], NULL);
  g_file_get_contents(p.path, &before, NULL, NULL);
  expect_str(before, "old");
  expect(trace_writer_close(w, &s.end, NULL));
  g_file_get_contents(p.path, &after, NULL, NULL);
  expect_str(after, sample_text);
  expect_names(&p, "t.jsonl");
  place_free(&p);
}

static void mode_follows_umask(void) {
  Place p = place_new();
  struct stat st = {0};
  mode_t old = umask(027);
  expect(write_long(p.path, 1, NULL));
  umask(old);
  stat(p.path, &st);
  expect_int(st.st_mode & 0777, ==, 0640);
  place_free(&p);
}

static void not_closed_leaves_nothing(void) {
  Sample s;
  sample_init(&s);
  Place p = place_new();
  TraceWriter *w = trace_writer_open(p.path, &s.header, NULL);
  trace_writer_step(w, &s.steps[0], NULL);
  g_autofree char *aside = g_strdup_printf("t.jsonl.tmp-%ld-0", (long)getpid());
  expect_names(&p, old_kernel ? aside : "");
  trace_writer_free(w);
  expect_names(&p, "");
  place_free(&p);
}

/* The child is killed with half a trace written out; the name holds what it held before. */
static void killed(void) {
  Place p = place_new();
  g_file_set_contents(p.path, "old", -1, NULL);
  int ready[2];
  CU_ASSERT_FATAL(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    Sample s;
    sample_init(&s);
    TraceWriter *w = trace_writer_open(p.path, &s.header, NULL);
    for (s.steps[1].i = 0; s.steps[1].i < 10000; s.steps[1].i++) trace_writer_step(w, &s.steps[1], NULL);
    if (write(ready[1], "", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  expect_int(read(ready[0], &byte, 1), ==, 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  g_autofree char *text = NULL;
  g_file_get_contents(p.path, &text, NULL, NULL);
  expect_str(text, "old");
  close(ready[0]);
  close(ready[1]);
  place_free(&p);
}

static void rename_fails(void) {
  Sample s;
  sample_init(&s);
  Place p = place_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceWriter) w = trace_writer_open(p.path, &s.header, NULL);
  g_mkdir(p.path, 0700); /* meanwhile, somebody */
  s.end.lasso_from = -1;
  expect(!trace_writer_close(w, &s.end, &error));
  g_autofree char *should = g_strdup_printf("%s: cannot rename: Is a directory", p.path);
  expect_str(error ? error->message : NULL, should);
  g_clear_pointer(&w, trace_writer_free);
  expect_names(&p, "t.jsonl");
  place_free(&p);
}

static void link_stays_a_link(void) {
  Place p = place_new();
  struct stat st = {0};
  g_autofree char *real = g_build_filename(p.folder, "real", NULL), *text = NULL;
  g_file_set_contents(real, "old", -1, NULL);
  expect_int(symlink("real", p.path), ==, 0);
  expect(write_long(p.path, 1, NULL));
  lstat(p.path, &st);
  expect(S_ISLNK(st.st_mode));
  g_file_get_contents(real, &text, NULL, NULL);
  expect(text && g_str_has_prefix(text, "{\"stampede_trace\":1,"));
  expect_names(&p, "real t.jsonl");
  place_free(&p);
}

static void goes_to_stdout(const char *path) {
  Sample s;
  sample_init(&s);
  Place p = place_new();
  int saved = dup(STDOUT_FILENO), file = open(p.path, O_WRONLY | O_CREAT, 0600);
  fflush(stdout);
  dup2(file, STDOUT_FILENO);
  g_autoptr(TraceWriter) w = trace_writer_open(path, &s.header, NULL);
  for (guint i = 0; i < SAMPLE_STEPS; i++) trace_writer_step(w, &s.steps[i], NULL);
  bool ok = trace_writer_close(w, &s.end, NULL);
  dup2(saved, STDOUT_FILENO);
  close(file);
  close(saved);
  g_autofree char *text = NULL;
  g_file_get_contents(p.path, &text, NULL, NULL);
  expect(ok);
  expect_str(text, sample_text);
  place_free(&p);
}

static void dash_is_stdout(void) {
  goes_to_stdout("-");
}
static void dev_stdout_is_stdout(void) {
  goes_to_stdout("/dev/stdout");
}

/* Where a file must have a name from the start, it has another one, and that is gone after an error. */
static void with_a_name(void) {
  old_kernel = true;
  appears_at_close();
  mode_follows_umask();
  not_closed_leaves_nothing();
  full_after_a_while();
  killed();
  rename_fails();
  old_kernel = false;
}

int main(void) {
  return suite_run("trace_faults", (const Case[]){{"a full disk", full_disk},
                                                  {"the first error stays", first_error_stays},
                                                  {"a disk full after a while", full_after_a_while},
                                                  {"a folder missing", folder_missing},
                                                  {"the path is a folder", path_is_a_folder},
                                                  {"a folder read-only", folder_read_only},
                                                  {"the file appears at close", appears_at_close},
                                                  {"its mode follows the umask", mode_follows_umask},
                                                  {"not closed leaves nothing", not_closed_leaves_nothing},
                                                  {"killed", killed},
                                                  {"rename fails", rename_fails},
                                                  {"a link stays a link", link_stays_a_link},
                                                  {"- is stdout", dash_is_stdout},
                                                  {"/dev/stdout is stdout", dev_stdout_is_stdout},
                                                  {"the same without O_TMPFILE", with_a_name},
                                                  {0}});
}
