/* fuzz_trace.c - the trace reader on any bytes: it ends, says why not, and what it accepts is equal to itself. */
#include "traces/diff.h"
#include "traces/trace.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static TraceReader *reader_of(const uint8_t *data, size_t size) {
  g_autoptr(GError) error = NULL;
  TraceReader *r = trace_reader_new((const char *)data, size, "input", &error);
  g_assert((r == NULL) == (error != NULL));
  return r;
}

/* To its end; an error is one line that starts with the name. Returns whether every line was read. */
static bool drain(TraceReader *r) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) words = g_string_new(NULL);
  TraceStep step;
  TraceNext next;
  while ((next = trace_reader_next(r, &step, &error)) == TRACE_STEP) {
    g_string_truncate(words, 0);
    trace_step_words(&step, words);
  }
  g_assert((next == TRACE_FAILED) == (error != NULL));
  if (error) g_assert(g_str_has_prefix(error->message, "input:") && !strchr(error->message, '\n'));
  if (next != TRACE_CUT) return next == TRACE_ENDED;
  g_autofree char *cut = trace_reader_cut(r);
  g_assert(cut);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(TraceReader) r = reader_of(data, size);
  if (!r || !drain(r)) return 0;
  g_autoptr(TraceReader) a = reader_of(data, size);
  g_autoptr(TraceReader) b = reader_of(data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceDiff) diff = trace_diff(a, b, &error);
  g_assert_no_error(error);
  g_assert(trace_diff_identical(diff));
  return 0;
}
