/* bench_trace.c [STEPS] - steps a second written (to /dev/null and to a file) and read, as one JSON line. A step is
 * that of a connect storm: who, do, two arguments, two changed values, a choice, a hash every 1000. Wall clock; a
 * measurement of the tool, never a result. */
#include "traces/trace.h"
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const no_overrides[] = {NULL};
static const TraceHeader header = {"0.1", "run", "bench", "", no_overrides, NULL, 0, 1, "model:dense-arrays", 1000};

static void put_steps(TraceWriter *w, int64_t steps) {
  char who[32];
  for (int64_t i = 0; i < steps; i++) {
    const NoteField args[] = {{"procno", i % 16384, NULL}, {"faults", i % 500, NULL}};
    const NoteField changed[] = {{"numProcs", i % 8192, NULL}, {"held", 0, "ProcArrayLock"}};
    const TraceChoice choice = {"exit-order", 8192, i % 8192};
    const TraceStep step = {.i = i,
                            .t_ns = i * 2345,
                            .who = trace_who(who, sizeof who, "backend", (uint32_t)(i % 8192)),
                            .what = "ProcArrayAdd",
                            .args = args,
                            .n_args = 2,
                            .changed = changed,
                            .n_changed = 2,
                            .choices = &choice,
                            .n_choices = 1,
                            .hashed = i % 1000 == 999,
                            .hash = {.lo = (uint64_t)i, .hi = ~(uint64_t)i}};
    trace_writer_step(w, &step, NULL);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Steps a second. */
static double measure_write(const char *path, int64_t steps) {
  const TraceEnd end = {.verdict = "pass", .lasso_from = -1, .t_ns = -1};
  g_autoptr(GError) error = NULL;
  double start = seconds();
  g_autoptr(TraceWriter) w = trace_writer_open(path, &header, &error);
  if (w) put_steps(w, steps);
  if (!w || !trace_writer_close(w, &end, &error)) g_error("%s", error->message);
  return (double)steps / MAX(seconds() - start, 1e-9);
}

static double measure_read(const char *path, int64_t steps) {
  g_autoptr(GError) error = NULL;
  TraceStep step;
  TraceNext next = TRACE_FAILED;
  double start = seconds();
  g_autoptr(TraceReader) r = trace_reader_open(path, &error);
  while (r && (next = trace_reader_next(r, &step, &error)) == TRACE_STEP) continue;
  if (next != TRACE_ENDED) g_error("%s", error ? error->message : "cut");
  return (double)steps / MAX(seconds() - start, 1e-9);
}

int main(int argc, char **argv) {
  int64_t steps = argc > 1 ? g_ascii_strtoll(argv[1], NULL, 10) : 2000000, read_steps = MIN(steps, 200000);
  g_autofree char *folder = g_dir_make_tmp("stampede-bench-XXXXXX", NULL), *path = g_build_filename(folder, "t", NULL);
  double null = measure_write("/dev/null", steps), file = measure_write(path, steps);
  GStatBuf st;
  if (g_stat(path, &st) != 0) return EXIT_FAILURE;
  measure_write(path, read_steps);
  double read = measure_read(path, read_steps);
  g_remove(path);
  g_rmdir(folder);
  printf("{\"bench\":\"trace\",\"steps\":%" G_GINT64_FORMAT ",\"bytes_per_step\":%.1f,\"steps_per_s_written\":%.0f,"
         "\"steps_per_s_to_file\":%.0f,\"steps_per_s_read\":%.0f}\n",
         steps, (double)st.st_size / (double)steps, null, file, read);
  return EXIT_SUCCESS;
}
