/* reader.c - which line may come when: the header, steps without a gap, the footer, nothing after it. */
#include "traces/parse.h"
#include "traces/read_lines.h"

#define MESSAGE_MAX 200 /* characters */

struct TraceReader {
  Lines *lines;
  char *header_line; /* owns the strings of the header; those of a step are in the line last read */
  GArray *values;    /* of JsonValue, of the line last parsed */
  TraceParts parts;
  TraceHeader header;
  TraceEnd end;
  int64_t steps;    /* read so far */
  TraceNext state;  /* TRACE_STEP: there may be more */
  bool cut_in_line; /* TRACE_CUT: the last line is not whole */
};

/* One line of bounded length, whatever names the file holds. */
static void fail(GError **error, const TraceReader *r, TraceError code, const char *why) {
  bool longer = g_utf8_strlen(why, -1) > MESSAGE_MAX;
  g_autofree char *shown = longer ? g_utf8_substring(why, 0, MESSAGE_MAX) : g_strdup(why);
  for (char *c = shown; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  g_set_error(error, TRACE_ERROR, (gint)code, "%s:%" G_GUINT64_FORMAT ": %s%s", lines_name(r->lines),
              lines_number(r->lines), shown, longer ? "..." : "");
}

/* Of the line last parsed; NULL: none. */
static const JsonValue *member(const TraceReader *r, const char *name) {
  const JsonValue *all = (const JsonValue *)(const void *)r->values->data;
  for (guint i = 0, at = 1; i < all[0].n; i++, at = all[at].next)
    if (strcmp(all[at].name, name) == 0) return &all[at];
  return NULL;
}

/* The version first: a header of another version may look different in all else. */
static bool accept_header(TraceReader *r, GError **error) {
  const JsonValue *format = member(r, "stampede_trace");
  g_autofree char *why = NULL;
  if (format && format->kind == JSON_INT && format->integer != TRACE_FORMAT) {
    why = g_strdup_printf("a trace of format version %" G_GUINT64_FORMAT ", this stampede reads version %d",
                          (guint64)format->integer, TRACE_FORMAT);
    fail(error, r, TRACE_ERROR_VERSION, why);
    return false;
  }
  why = trace_parse_header(r->values, &r->parts, &r->header);
  if (!why) return true;
  g_autofree char *words = g_strdup_printf("not a stampede trace: %s", why);
  fail(error, r, TRACE_ERROR_FORMAT, words);
  return false;
}

static bool read_header(TraceReader *r, GError **error) {
  char *line;
  gsize length;
  g_autofree char *why = NULL;
  LinesNext next = lines_next(r->lines, &line, &length, error);
  if (next == LINES_FAILED) return false;
  if (next == LINES_END) {
    fail(error, r, TRACE_ERROR_FORMAT, "not a stampede trace: the file is empty");
    return false;
  }
  r->header_line = g_memdup2(line, length + 1);
  why = json_line_parse(r->header_line, length, JSON_UNSIGNED, r->values);
  if (!why) return accept_header(r, error);
  g_autofree char *words = g_strdup_printf("not a stampede trace: %s", why);
  fail(error, r, TRACE_ERROR_FORMAT, words);
  return false;
}

static TraceReader *reader_of(Lines *take, GError **error) {
  g_autoptr(TraceReader) r = g_new0(TraceReader, 1);
  r->lines = take;
  r->values = g_array_new(FALSE, FALSE, sizeof(JsonValue));
  trace_parts_init(&r->parts);
  r->state = TRACE_STEP;
  return read_header(r, error) ? g_steal_pointer(&r) : NULL;
}

TraceReader *trace_reader_open(const char *path, GError **error) {
  Lines *lines = lines_open(path, error);
  return lines ? reader_of(lines, error) : NULL;
}

TraceReader *trace_reader_new(const char *data, gsize size, const char *name, GError **error) {
  return reader_of(lines_new(data, size, name), error);
}

void trace_reader_free(TraceReader *r) {
  if (!r) return;
  lines_free(r->lines);
  g_array_unref(r->values);
  g_free(r->header_line);
  trace_parts_clear(&r->parts);
  g_free(r);
}

const TraceHeader *trace_reader_header(const TraceReader *r) {
  return &r->header;
}
const char *trace_reader_name(const TraceReader *r) {
  return lines_name(r->lines);
}

const TraceEnd *trace_reader_end(const TraceReader *r) {
  g_assert(r->state == TRACE_ENDED);
  return &r->end;
}

char *trace_reader_cut(const TraceReader *r) {
  g_assert(r->state == TRACE_CUT);
  return g_strdup_printf("%s:%" G_GUINT64_FORMAT ": the trace was cut %s after %" G_GINT64_FORMAT " steps",
                         lines_name(r->lines), lines_number(r->lines), r->cut_in_line ? "within this line," : "here,",
                         r->steps);
}

static TraceNext altered(const TraceReader *r, const char *why, GError **error) {
  fail(error, r, TRACE_ERROR_ALTERED, why);
  return TRACE_FAILED;
}

static TraceNext accept_step(TraceReader *r, TraceStep *step, GError **error) {
  g_autofree char *why = trace_parse_step(r->values, &r->parts, step);
  if (!why && step->i != r->steps)
    why = g_strdup_printf("step %" G_GINT64_FORMAT " where step %" G_GINT64_FORMAT " should be", step->i, r->steps);
  if (why) return altered(r, why, error);
  r->steps++;
  return TRACE_STEP;
}

static TraceNext accept_end(TraceReader *r, GError **error) {
  g_autofree char *why = trace_parse_end(r->values, &r->parts, &r->end);
  if (!why && r->end.steps != r->steps)
    why = g_strdup_printf("the footer counts %" G_GINT64_FORMAT " steps, there are %" G_GINT64_FORMAT, r->end.steps,
                          r->steps);
  if (!why && r->end.lasso_from >= r->steps && r->end.lasso_from >= 0) why = g_strdup("lasso_from names no step");
  if (why) return altered(r, why, error);
  LinesNext next = lines_peek(r->lines, error); /* the footer's strings stay in their line */
  if (next == LINES_FAILED) return TRACE_FAILED;
  return next == LINES_END ? TRACE_ENDED : altered(r, "something after the footer", error);
}

static TraceNext read_next(TraceReader *r, TraceStep *step, GError **error) {
  char *line;
  gsize length;
  g_autofree char *why = NULL;
  LinesNext next = lines_next(r->lines, &line, &length, error);
  if (next == LINES_FAILED) return TRACE_FAILED;
  if (next == LINES_END) return TRACE_CUT;
  why = json_line_parse(line, length, JSON_SIGNED, r->values);
  if (!why) return member(r, "end") ? accept_end(r, error) : accept_step(r, step, error);
  r->cut_in_line = next == LINES_PARTIAL; /* half a line is no garbage when it is the last */
  if (r->cut_in_line) return TRACE_CUT;
  fail(error, r, TRACE_ERROR_FORMAT, why);
  return TRACE_FAILED;
}

TraceNext trace_reader_next(TraceReader *r, TraceStep *step, GError **error) {
  g_assert(r->state == TRACE_STEP);
  return r->state = read_next(r, step, error);
}
