/* export_perfetto.c - Chrome trace-event JSON ("JSON Array Format" with the object around it): X is a slice, i an
 * instant, C a counter, M a name. Times are microseconds with three decimals, so a nanosecond stays exact. */
#include "traces/export.h"
#include "traces/output.h"

#define FLUSH_AT (128u << 10)

/* A process with a step that lasts until its next one. */
typedef struct {
  guint track;
  int64_t since; /* -1: no step is waiting */
  char *name, *args;
} Track;

typedef struct {
  Output *out;
  GHashTable *by_name; /* who -> Track; looked up only, never walked */
  GPtrArray *tracks;   /* in order of first appearance */
  const char *const *counters;
  int64_t *sums;
  bool first;
} Export;

static void track_free(gpointer data) {
  Track *t = data;
  g_free(t->name);
  g_free(t->args);
  g_free(t);
}

static void begin_event(Export *x, const char *phase, guint track, const char *name) {
  output_str(x->out, x->first ? "\n" : ",\n");
  x->first = false;
  output_str(x->out, "{\"ph\":\"");
  output_str(x->out, phase);
  output_str(x->out, "\",\"pid\":1,\"tid\":");
  output_uint(x->out, track);
  output_str(x->out, ",\"name\":");
  output_string(x->out, name);
}

static void put_us(Output *o, const char *name, int64_t ns) {
  const char decimals[] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
  g_assert(ns >= 0);
  output_str(o, name);
  output_int(o, ns / 1000);
  output_bytes(o, decimals, sizeof decimals);
}

static Track *track_of(Export *x, const char *who) {
  Track *t = g_hash_table_lookup(x->by_name, who);
  if (t) return t;
  t = g_new0(Track, 1);
  t->track = x->tracks->len + 1;
  t->since = -1;
  g_ptr_array_add(x->tracks, t);
  g_hash_table_insert(x->by_name, g_strdup(who), t);
  begin_event(x, "M", t->track, "thread_name");
  output_str(x->out, ",\"args\":{\"name\":");
  output_string(x->out, who);
  output_str(x->out, "}}");
  begin_event(x, "M", t->track, "thread_sort_index");
  output_str(x->out, ",\"args\":{\"sort_index\":");
  output_uint(x->out, t->track);
  output_str(x->out, "}}");
  return t;
}

/* The waiting step of t: a slice that ends at `until`, or an instant when until is -1. */
static void end_slice(Export *x, Track *t, int64_t until) {
  if (t->since < 0) return;
  begin_event(x, until < 0 ? "i" : "X", t->track, t->name);
  put_us(x->out, ",\"ts\":", t->since);
  if (until < 0)
    output_str(x->out, ",\"s\":\"t\"");
  else
    put_us(x->out, ",\"dur\":", MAX(until - t->since, 0));
  if (*t->args) {
    output_str(x->out, ",\"args\":{\"step\":");
    output_string(x->out, t->args);
    output_str(x->out, "}");
  }
  output_str(x->out, "}");
  t->since = -1;
}

static const NoteField *field(const NoteField *fields, guint n, const char *name) {
  for (guint i = 0; i < n; i++)
    if (strcmp(fields[i].name, name) == 0 && !fields[i].text) return &fields[i];
  return NULL;
}

static void put_counters(Export *x, const TraceStep *s, int64_t now) {
  for (guint c = 0; x->counters && x->counters[c]; c++) {
    const NoteField *arg = field(s->args, s->n_args, x->counters[c]);
    const NoteField *state = field(s->changed, s->n_changed, x->counters[c]);
    if (!arg && !state) continue;
    if (arg && __builtin_add_overflow(x->sums[c], arg->value, &x->sums[c])) x->sums[c] = G_MAXINT64;
    begin_event(x, "C", 0, x->counters[c]);
    put_us(x->out, ",\"ts\":", now);
    output_str(x->out, ",\"args\":{\"value\":");
    output_int(x->out, arg ? x->sums[c] : state->value);
    output_str(x->out, "}}");
  }
}

static void put_step(Export *x, const TraceStep *s) {
  int64_t now = s->t_ns >= 0 ? s->t_ns : MIN(s->i, G_MAXINT64 / 1000) * 1000;
  Track *t = track_of(x, s->who ? s->who : "(nobody)");
  const NoteField *ns = field(s->args, s->n_args, "ns");
  g_autoptr(GString) words = g_string_new(NULL);
  end_slice(x, t, now);
  trace_step_words(s, words);
  g_free(t->name);
  g_free(t->args);
  t->name = g_strdup(s->what);
  t->args = g_string_free(g_steal_pointer(&words), FALSE);
  t->since = now;
  put_counters(x, s, now);
  if (ns && ns->value >= 0 && ns->value <= G_MAXINT64 - now) end_slice(x, t, now + ns->value);
}

static bool put_steps(Export *x, TraceReader *r, GError **error) {
  TraceStep step;
  TraceNext next;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP) {
    put_step(x, &step);
    if (output_pending(x->out) >= FLUSH_AT && !output_flush(x->out, error)) return false;
  }
  for (guint i = 0; i < x->tracks->len; i++) end_slice(x, x->tracks->pdata[i], -1);
  return next != TRACE_FAILED;
}

static void put_head(Output *o, const TraceHeader *h) {
  output_str(o, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"scenario\":");
  output_string(o, h->scenario);
  output_str(o, ",\"subject\":");
  output_string(o, h->subject);
  output_str(o, ",\"version\":");
  output_string(o, h->version);
  output_str(o, "},\"traceEvents\":[");
}

bool trace_export_perfetto(TraceReader *r, const char *path, const char *const *counters, GError **error) {
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  g_autoptr(GHashTable) by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) tracks = g_ptr_array_new_with_free_func(track_free);
  guint n = counters ? g_strv_length((char **)counters) : 0;
  g_autofree int64_t *sums = g_new0(int64_t, n + 1);
  Export x = {out, by_name, tracks, counters, sums, true};
  put_head(out, trace_reader_header(r));
  if (!put_steps(&x, r, error)) return false;
  output_str(out, "\n]}\n");
  return output_commit(out, error);
}
