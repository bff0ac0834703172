/* writer.c - a trace, line by line. Every line is whole in the buffer before any of it is written, and the file gets
 * its name only with the footer (output.c), so that a trace found under its name is complete. */
#include "traces/output.h"
#include "traces/trace.h"

#define FLUSH_AT       (128u << 10) /* bytes gathered before a write(2) */
#define UNIQUE_CHECKED 16

struct TraceWriter {
  Output *out;
  int64_t steps;
  bool closed;
};

GQuark trace_error_quark(void) {
  return g_quark_from_static_string("stampede-trace-error");
}

/* `"name":` with the comma before it unless it is the first member. */
static void member(Output *o, const char *name, bool *first) {
  if (!*first) output_bytes(o, ",", 1);
  *first = false;
  output_string(o, name);
  output_bytes(o, ":", 1);
}

static void member_string(Output *o, const char *name, const char *value, bool *first) {
  if (!value) return;
  member(o, name, first);
  output_string(o, value);
}

static void member_int(Output *o, const char *name, int64_t value, bool *first) {
  member(o, name, first);
  output_int(o, value);
}

static void member_hash(Output *o, const char *name, Hash128 h, bool *first) {
  char text[33];
  trace_hash_text(h, text);
  member_string(o, name, text, first);
}

/* Ends the line that began when `before` bytes were pending. */
static void end_line(Output *o, gsize before) {
  output_bytes(o, "\n", 1);
  if (output_pending(o) > before + TRACE_LINE_MAX) output_fail(o, "a line of the trace would be longer than 16 MiB");
}

static void write_source(Output *o, const TraceSource *s) {
  bool first = true;
  output_bytes(o, "{", 1);
  member_string(o, "kind", s->kind, &first);
  member_string(o, "name", s->name, &first);
  member_string(o, "text", s->text, &first);
  member_string(o, "hash", s->hash, &first);
  output_bytes(o, "}", 1);
}

static void write_origin(Output *o, const TraceHeader *h, bool *first) {
  member(o, "overrides", first);
  output_bytes(o, "[", 1);
  for (guint n = 0; h->overrides && h->overrides[n]; n++) {
    if (n) output_bytes(o, ",", 1);
    output_string(o, h->overrides[n]);
  }
  output_bytes(o, "]", 1);
  member(o, "sources", first);
  output_bytes(o, "[", 1);
  for (guint n = 0; n < h->n_sources; n++) {
    if (n) output_bytes(o, ",", 1);
    write_source(o, &h->sources[n]);
  }
  output_bytes(o, "]", 1);
}

static void write_header(Output *o, const TraceHeader *h) {
  bool first = true;
  output_bytes(o, "{", 1);
  member_int(o, "stampede_trace", TRACE_FORMAT, &first);
  member_string(o, "version", h->version, &first);
  member_string(o, "command", h->command, &first);
  member_string(o, "scenario", h->scenario, &first);
  member_string(o, "text", h->text, &first);
  write_origin(o, h, &first);
  member(o, "seed", &first);
  output_uint(o, h->seed);
  member_string(o, "subject", h->subject, &first);
  member_int(o, "k", h->k, &first);
  output_bytes(o, "}", 1);
  end_line(o, 0);
}

TraceWriter *trace_writer_open(const char *path, const TraceHeader *header, GError **error) {
  g_assert(header->version && header->command && header->scenario && header->text && header->subject);
  g_assert_cmpint(header->k, >=, 0);
  Output *o = output_open(path, error);
  if (!o) return NULL;
  write_header(o, header);
  if (!output_flush(o, error)) {
    output_free(o);
    return NULL;
  }
  TraceWriter *w = g_new0(TraceWriter, 1);
  w->out = o;
  return w;
}

/* A name that comes twice would make an object whose reading is anybody's guess. Quadratic, so only for the usual few
 * fields; the reader refuses whatever slips through. */
static bool unique(const NoteField *fields, guint n) {
  if (n > UNIQUE_CHECKED) return true;
  for (guint a = 1; a < n; a++)
    for (guint b = 0; b < a; b++)
      if (fields[a].name[0] == fields[b].name[0] && strcmp(fields[a].name, fields[b].name) == 0) return false;
  return true;
}

static void write_fields(Output *o, const char *name, const NoteField *fields, guint n, bool *first) {
  if (!n) return;
  g_assert(unique(fields, n));
  bool inner = true;
  member(o, name, first);
  output_bytes(o, "{", 1);
  for (guint f = 0; f < n; f++)
    if (fields[f].text)
      member_string(o, fields[f].name, fields[f].text, &inner);
    else
      member_int(o, fields[f].name, fields[f].value, &inner);
  output_bytes(o, "}", 1);
}

static void write_choices(Output *o, const TraceChoice *choices, guint n, bool *first) {
  if (!n) return;
  member(o, "choice", first);
  if (n > 1) output_bytes(o, "[", 1);
  for (guint c = 0; c < n; c++) {
    g_assert(0 <= choices[c].took && choices[c].took < choices[c].n);
    bool inner = true;
    output_str(o, c ? ",{" : "{");
    member_string(o, "name", choices[c].name, &inner);
    member_int(o, "n", choices[c].n, &inner);
    member_int(o, "took", choices[c].took, &inner);
    output_bytes(o, "}", 1);
  }
  if (n > 1) output_bytes(o, "]", 1);
}

bool trace_writer_step(TraceWriter *w, const TraceStep *s, GError **error) {
  Output *o = w->out;
  g_assert(!w->closed && s->what);
  g_assert_cmpint(s->i, ==, w->steps);
  w->steps++;
  gsize before = output_pending(o);
  bool first = true;
  output_bytes(o, "{", 1);
  member_int(o, "i", s->i, &first);
  if (s->t_ns >= 0) member_int(o, "t_ns", s->t_ns, &first);
  member_string(o, "who", s->who, &first);
  member_string(o, "do", s->what, &first);
  if (s->hidden) output_str(o, ",\"hidden\":true");
  write_fields(o, "args", s->args, s->n_args, &first);
  write_fields(o, "changed", s->changed, s->n_changed, &first);
  write_choices(o, s->choices, s->n_choices, &first);
  if (s->hashed) member_hash(o, "hash", s->hash, &first);
  output_bytes(o, "}", 1);
  end_line(o, before);
  return output_pending(o) > 0 && output_pending(o) < FLUSH_AT ? true : output_flush(o, error);
}

static void write_checks(Output *o, const TraceEnd *end, bool *first) {
  member(o, "checks", first);
  output_bytes(o, "[", 1);
  for (guint c = 0; c < end->n_checks; c++) {
    const TraceCheck *check = &end->checks[c];
    bool inner = true;
    output_str(o, c ? ",{" : "{");
    member_string(o, "name", check->name, &inner);
    member_string(o, "verdict", check->verdict, &inner);
    if (check->step >= 0) member_int(o, "step", check->step, &inner);
    member_string(o, "why", check->why, &inner);
    output_bytes(o, "}", 1);
  }
  output_bytes(o, "]", 1);
}

static void write_metrics(Output *o, const TraceEnd *end, bool *first) {
  bool inner = true;
  member(o, "metrics", first);
  output_bytes(o, "{", 1);
  for (guint m = 0; m < end->n_metrics; m++) {
    member(o, end->metrics[m].name, &inner);
    output_double(o, end->metrics[m].value);
  }
  output_bytes(o, "}", 1);
}

static void write_end(Output *o, const TraceEnd *end, int64_t steps) {
  bool first = true;
  gsize before = output_pending(o);
  output_str(o, "{\"end\":{");
  member_int(o, "steps", steps, &first);
  member_string(o, "verdict", end->verdict, &first);
  write_checks(o, end, &first);
  write_metrics(o, end, &first);
  if (end->loop >= 0) member_int(o, "loop", end->loop, &first);
  if (end->t_ns >= 0) member_int(o, "t_ns", end->t_ns, &first);
  if (end->hashed) member_hash(o, "state_hash", end->state_hash, &first);
  output_str(o, "}}");
  end_line(o, before);
}

bool trace_writer_close(TraceWriter *w, const TraceEnd *end, GError **error) {
  g_assert(!w->closed && end->verdict);
  g_assert(end->loop < 0 || end->loop < w->steps);
  w->closed = true;
  write_end(w->out, end, w->steps);
  return output_commit(w->out, error);
}

void trace_writer_free(TraceWriter *w) {
  if (!w) return;
  output_free(w->out);
  g_free(w);
}
