/* trace_sample.h - a small trace with every member of the format, and ways to write it and read it, for the suites
 * test_trace*.c. */
#pragma once
#include "tests/harness.h"
#include "traces/trace.h"
#include <glib/gstdio.h>
#include <unistd.h>

enum { SAMPLE_STEPS = 4 };

typedef struct {
  const char *overrides[3];
  TraceSource sources[2];
  TraceHeader header;
  NoteField args[2], changed[2];
  TraceChoice choices[2];
  TraceStep steps[SAMPLE_STEPS];
  TraceCheck checks[2];
  TraceMetric metrics[2];
  TraceEnd end;
} Sample;

/* The structs point into *s, so it must not move. */
static inline void sample_init(Sample *s) {
  *s = (Sample){
      .overrides = {"workload.clients=8", "seed=7", NULL},
      .sources = {{"preset", "19", "version: 19\n", NULL}, {"profile", "ramdisk-2026", NULL, "00ff"}},
      .args = {{"procno", 3, NULL}, {"to", 0, "server \"s\""}},
      .changed = {{"procarray.numProcs", 1, NULL}, {"free_list.head", -4, NULL}},
      .choices = {{"exit-order", 8192, 77}, {"tie", 2, 0}},
      .checks = {{"slot-owned-once", "violated", 2, "slot 3 has two owners"}, {"locks-released", "holds", -1, NULL}},
      .metrics = {{"first.connect_ms", 12.25}, {"iteration[2].connect_faults", 4096}}};
  s->header = (TraceHeader){"0.1",      "run", "storm", "scenario: storm\nseed: 1\n", s->overrides,
                            s->sources, 2,     7,       "model:dense-arrays",         2};
  s->steps[0] = (TraceStep){.i = 0, .t_ns = 0, .who = "postmaster[1]", .what = "fork"};
  s->steps[1] = (TraceStep){.i = 1,
                            .t_ns = 1500,
                            .who = "backend[12]",
                            .what = "ProcArrayAdd",
                            .args = s->args,
                            .n_args = 2,
                            .changed = s->changed,
                            .n_changed = 2,
                            .choices = s->choices,
                            .n_choices = 1,
                            .hashed = true,
                            .hash = {.lo = 1, .hi = 0xfedcba9876543210}};
  s->steps[2] = (TraceStep){.i = 2, .t_ns = -1, .what = "deliver", .hidden = true};
  s->steps[3] =
      (TraceStep){.i = 3, .t_ns = 4000, .who = "postmaster[1]", .what = "reap", .choices = s->choices, .n_choices = 2};
  s->end = (TraceEnd){.verdict = "fail",
                      .checks = s->checks,
                      .n_checks = 2,
                      .metrics = s->metrics,
                      .n_metrics = 2,
                      .lasso_from = 1,
                      .t_ns = 4000,
                      .hashed = true,
                      .state_hash = {.lo = 2, .hi = 3}};
}

/* Its text as the format of traces/README.md says it, written by hand. */
static const char sample_text[] =
    "{\"stampede_trace\":1,\"version\":\"0.1\",\"command\":\"run\",\"scenario\":\"storm\","
    "\"text\":\"scenario: storm\\nseed: 1\\n\",\"overrides\":[\"workload.clients=8\",\"seed=7\"],"
    "\"sources\":[{\"kind\":\"preset\",\"name\":\"19\",\"text\":\"version: 19\\n\"},"
    "{\"kind\":\"profile\",\"name\":\"ramdisk-2026\",\"hash\":\"00ff\"}],"
    "\"seed\":7,\"subject\":\"model:dense-arrays\",\"k\":2}\n"
    "{\"i\":0,\"t_ns\":0,\"who\":\"postmaster[1]\",\"do\":\"fork\"}\n"
    "{\"i\":1,\"t_ns\":1500,\"who\":\"backend[12]\",\"do\":\"ProcArrayAdd\","
    "\"args\":{\"procno\":3,\"to\":\"server \\\"s\\\"\"},\"changed\":{\"procarray.numProcs\":1,\"free_list.head\":-4},"
    "\"choice\":{\"name\":\"exit-order\",\"n\":8192,\"took\":77},\"hash\":\"fedcba98765432100000000000000001\"}\n"
    "{\"i\":2,\"do\":\"deliver\",\"hidden\":true}\n"
    "{\"i\":3,\"t_ns\":4000,\"who\":\"postmaster[1]\",\"do\":\"reap\","
    "\"choice\":[{\"name\":\"exit-order\",\"n\":8192,\"took\":77},{\"name\":\"tie\",\"n\":2,\"took\":0}]}\n"
    "{\"end\":{\"steps\":4,\"verdict\":\"fail\",\"checks\":[{\"name\":\"slot-owned-once\",\"verdict\":\"violated\","
    "\"step\":2,\"why\":\"slot 3 has two owners\"},{\"name\":\"locks-released\",\"verdict\":\"holds\"}],"
    "\"metrics\":{\"first.connect_ms\":12.25,\"iteration[2].connect_faults\":4096},\"lasso_from\":1,\"t_ns\":4000,"
    "\"state_hash\":\"00000000000000030000000000000002\"}}\n";

/* A trace of the given parts as text, by way of a file; g_free. */
static inline char *write_text(const TraceHeader *h, const TraceStep *steps, guint n, const TraceEnd *end) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("stampede-trace-XXXXXX", NULL), *path = g_build_filename(folder, "t", NULL);
  char *text = NULL;
  g_autoptr(TraceWriter) w = trace_writer_open(path, h, &error);
  for (guint i = 0; w && i < n; i++) trace_writer_step(w, &steps[i], NULL);
  if (w && trace_writer_close(w, end, &error)) g_file_get_contents(path, &text, NULL, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  g_remove(path);
  g_rmdir(folder);
  return text;
}

static inline char *write_sample(const Sample *s) {
  return write_text(&s->header, s->steps, SAMPLE_STEPS, &s->end);
}

static inline TraceReader *read_text(const char *text) {
  g_autoptr(GError) error = NULL;
  TraceReader *r = trace_reader_new(text, strlen(text), "t", &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  return r;
}
