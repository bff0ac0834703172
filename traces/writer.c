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

/* A member that is not the first of its object; its name needs no escape and no strlen. */
#define KEY(o, name)               output_bytes(o, ",\"" name "\":", sizeof(",\"" name "\":") - 1)
#define KEY_STRING(o, name, value) (KEY(o, name), output_string(o, value))
#define KEY_INT(o, name, value)    (KEY(o, name), output_int(o, value))
#define LITERAL(o, text)           output_bytes(o, text, sizeof(text) - 1)

static void put_hash(Output *o, Hash128 h) {
  char text[33];
  trace_hash_text(h, text);
  LITERAL(o, "\"");
  output_bytes(o, text, 32);
  LITERAL(o, "\"");
}

/* Ends the line that began when `before` bytes were pending. */
static void end_line(Output *o, gsize before) {
  output_bytes(o, "\n", 1);
  if (output_pending(o) > before + TRACE_LINE_MAX) output_fail(o, "a line of the trace would be longer than 16 MiB");
}

static void write_source(Output *o, const TraceSource *s) {
  LITERAL(o, "{\"kind\":");
  output_string(o, s->kind);
  KEY_STRING(o, "name", s->name);
  if (s->text) KEY_STRING(o, "text", s->text);
  if (s->hash) KEY_STRING(o, "hash", s->hash);
  LITERAL(o, "}");
}

static void write_origin(Output *o, const TraceHeader *h) {
  KEY(o, "overrides");
  LITERAL(o, "[");
  for (guint n = 0; h->overrides && h->overrides[n]; n++) {
    if (n) LITERAL(o, ",");
    output_string(o, h->overrides[n]);
  }
  LITERAL(o, "]");
  KEY(o, "sources");
  LITERAL(o, "[");
  for (guint n = 0; n < h->n_sources; n++) {
    if (n) LITERAL(o, ",");
    write_source(o, &h->sources[n]);
  }
  LITERAL(o, "]");
}

static void write_header(Output *o, const TraceHeader *h) {
  LITERAL(o, "{\"stampede_trace\":");
  output_int(o, TRACE_FORMAT);
  KEY_STRING(o, "version", h->version);
  KEY_STRING(o, "command", h->command);
  KEY_STRING(o, "scenario", h->scenario);
  KEY_STRING(o, "text", h->text);
  write_origin(o, h);
  KEY(o, "seed");
  output_uint(o, h->seed);
  KEY_STRING(o, "subject", h->subject);
  KEY_INT(o, "k", h->k);
  LITERAL(o, "}");
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

static void write_fields(Output *o, const NoteField *fields, guint n) {
  g_assert(unique(fields, n));
  for (guint f = 0; f < n; f++) {
    output_bytes(o, f ? "," : "{", 1);
    output_string(o, fields[f].name);
    LITERAL(o, ":");
    if (fields[f].text)
      output_string(o, fields[f].text);
    else
      output_int(o, fields[f].value);
  }
  LITERAL(o, "}");
}

static void write_choices(Output *o, const TraceChoice *choices, guint n) {
  if (n > 1) LITERAL(o, "[");
  for (guint c = 0; c < n; c++) {
    g_assert(0 <= choices[c].took && choices[c].took < choices[c].n);
    if (c) LITERAL(o, ",");
    LITERAL(o, "{\"name\":");
    output_string(o, choices[c].name);
    KEY_INT(o, "n", choices[c].n);
    KEY_INT(o, "took", choices[c].took);
    LITERAL(o, "}");
  }
  if (n > 1) LITERAL(o, "]");
}

static void write_step(Output *o, const TraceStep *s) {
  LITERAL(o, "{\"i\":");
  output_int(o, s->i);
  if (s->t_ns >= 0) KEY_INT(o, "t_ns", s->t_ns);
  if (s->who) KEY_STRING(o, "who", s->who);
  KEY_STRING(o, "do", s->what);
  if (s->hidden) LITERAL(o, ",\"hidden\":true");
  if (s->n_args) KEY(o, "args"), write_fields(o, s->args, s->n_args);
  if (s->n_changed) KEY(o, "changed"), write_fields(o, s->changed, s->n_changed);
  if (s->n_choices) KEY(o, "choice"), write_choices(o, s->choices, s->n_choices);
  if (s->hashed) KEY(o, "hash"), put_hash(o, s->hash);
  LITERAL(o, "}");
}

bool trace_writer_step(TraceWriter *w, const TraceStep *s, GError **error) {
  gsize before = output_pending(w->out);
  g_assert(!w->closed && s->what);
  g_assert_cmpint(s->i, ==, w->steps);
  w->steps++;
  write_step(w->out, s);
  end_line(w->out, before);
  gsize pending = output_pending(w->out); /* none: an error, which flush reports */
  return 0 < pending && pending < FLUSH_AT ? true : output_flush(w->out, error);
}

static void write_checks(Output *o, const TraceEnd *end) {
  LITERAL(o, "[");
  for (guint c = 0; c < end->n_checks; c++) {
    const TraceCheck *check = &end->checks[c];
    if (c) LITERAL(o, ",");
    LITERAL(o, "{\"name\":");
    output_string(o, check->name);
    KEY_STRING(o, "verdict", check->verdict);
    if (check->step >= 0) KEY_INT(o, "step", check->step);
    if (check->why) KEY_STRING(o, "why", check->why);
    LITERAL(o, "}");
  }
  LITERAL(o, "]");
}

static void write_metrics(Output *o, const TraceEnd *end) {
  LITERAL(o, "{");
  for (guint m = 0; m < end->n_metrics; m++) {
    if (m) LITERAL(o, ",");
    output_string(o, end->metrics[m].name);
    LITERAL(o, ":");
    output_double(o, end->metrics[m].value);
  }
  LITERAL(o, "}");
}

static void write_end(Output *o, const TraceEnd *end, int64_t steps) {
  gsize before = output_pending(o);
  LITERAL(o, "{\"end\":{\"steps\":");
  output_int(o, steps);
  KEY_STRING(o, "verdict", end->verdict);
  KEY(o, "checks"), write_checks(o, end);
  KEY(o, "metrics"), write_metrics(o, end);
  if (end->lasso_from >= 0) KEY_INT(o, "lasso_from", end->lasso_from);
  if (end->t_ns >= 0) KEY_INT(o, "t_ns", end->t_ns);
  if (end->hashed) KEY(o, "state_hash"), put_hash(o, end->state_hash);
  LITERAL(o, "}}");
  end_line(o, before);
}

bool trace_writer_close(TraceWriter *w, const TraceEnd *end, GError **error) {
  g_assert(!w->closed && end->verdict);
  g_assert(end->lasso_from < 0 || end->lasso_from < w->steps);
  w->closed = true;
  write_end(w->out, end, w->steps);
  return output_commit(w->out, error);
}

void trace_writer_free(TraceWriter *w) {
  if (!w) return;
  output_free(w->out);
  g_free(w);
}
