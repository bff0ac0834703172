/* diff.c - two traces side by side. The parts of a step are compared in the order they stand in the file, so "first"
 * means the same to a person who looks at the two lines. */
#include "traces/diff.h"

#define ABSENT "(absent)"

static void difference_clear(gpointer data) {
  TraceDifference *d = data;
  g_free(d->field);
  g_free(d->a);
  g_free(d->b);
}

/* Fills *d when the texts differ (NULL: absent) and it is empty. Returns whether there is a difference by now. */
static bool differ_text(TraceDifference *d, const char *field, const char *a, const char *b) {
  if (d->field || g_strcmp0(a, b) == 0) return d->field;
  d->field = g_strdup(field);
  d->a = g_strdup(a ? a : ABSENT);
  d->b = g_strdup(b ? b : ABSENT);
  return true;
}

static bool differ_int(TraceDifference *d, const char *field, int64_t a, int64_t b) {
  if (d->field || a == b) return d->field;
  g_autofree char *text_a = g_strdup_printf("%" G_GINT64_FORMAT, a);
  g_autofree char *text_b = g_strdup_printf("%" G_GINT64_FORMAT, b);
  return differ_text(d, field, text_a, text_b);
}

/* Of numbers for which -1 means absent. */
static bool differ_optional(TraceDifference *d, const char *field, int64_t a, int64_t b) {
  if (a >= 0 && b >= 0) return differ_int(d, field, a, b);
  g_autofree char *text_a = a < 0 ? NULL : g_strdup_printf("%" G_GINT64_FORMAT, a);
  g_autofree char *text_b = b < 0 ? NULL : g_strdup_printf("%" G_GINT64_FORMAT, b);
  return differ_text(d, field, text_a, text_b);
}

static bool differ_hash(TraceDifference *d, const char *field, const Hash128 *a, const Hash128 *b) {
  char text_a[33], text_b[33];
  if (a) trace_hash_text(*a, text_a);
  if (b) trace_hash_text(*b, text_b);
  return differ_text(d, field, a ? text_a : NULL, b ? text_b : NULL);
}

static char *field_text(const NoteField *f) {
  return f->text ? g_strdup_printf("\"%s\"", f->text) : g_strdup_printf("%" G_GINT64_FORMAT, f->value);
}

static bool same_field(const NoteField *a, const NoteField *b) {
  if (strcmp(a->name, b->name) != 0) return false;
  return a->text || b->text ? g_strcmp0(a->text, b->text) == 0 : a->value == b->value;
}

static const NoteField *field_named(const NoteField *fields, guint n, const char *name) {
  for (guint i = 0; i < n; i++)
    if (strcmp(fields[i].name, name) == 0) return &fields[i];
  return NULL;
}

static void set_field(TraceDifference *d, const char *part, const char *name, const NoteField *a, const NoteField *b) {
  g_autofree char *field = g_strdup_printf("%s.%s", part, name);
  g_autofree char *text_a = a ? field_text(a) : NULL, *text_b = b ? field_text(b) : NULL;
  differ_text(d, field, text_a, text_b);
}

/* At the first place where they differ, the field that stands there in a; only its value differs, or b lacks it. When
 * b has it elsewhere with the same value, b's field is the one that a lacks or has elsewhere, and the order differs. */
static bool differ_fields(TraceDifference *d, const char *part, const NoteField *a, guint n_a, const NoteField *b,
                          guint n_b) {
  guint i = 0;
  while (!d->field && i < n_a && i < n_b && same_field(&a[i], &b[i])) i++;
  if (d->field || (i == n_a && i == n_b)) return d->field;
  const NoteField *in_a = i < n_a ? &a[i] : NULL, *in_b = i < n_b ? &b[i] : NULL;
  const NoteField *other = in_a ? field_named(b, n_b, in_a->name) : NULL;
  if (in_a && !(other && same_field(in_a, other)))
    set_field(d, part, in_a->name, in_a, other);
  else if (in_b && !field_named(a, n_a, in_b->name))
    set_field(d, part, in_b->name, NULL, in_b);
  else
    differ_text(d, part, in_a ? in_a->name : NULL, in_b ? in_b->name : NULL);
  return d->field;
}

static char *choice_text(const TraceStep *s, guint c) {
  if (c >= s->n_choices) return NULL;
  const TraceChoice *choice = &s->choices[c];
  return g_strdup_printf("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, choice->name, choice->took, choice->n);
}

static bool differ_choices(TraceDifference *d, const TraceStep *a, const TraceStep *b) {
  for (guint c = 0; !d->field && c < MAX(a->n_choices, b->n_choices); c++) {
    g_autofree char *text_a = choice_text(a, c), *text_b = choice_text(b, c);
    differ_text(d, "choice", text_a, text_b);
  }
  return d->field;
}

/* All but the state's hash. */
static bool differ_deeds(TraceDifference *d, const TraceStep *a, const TraceStep *b) {
  differ_optional(d, "t_ns", a->t_ns, b->t_ns);
  differ_text(d, "who", a->who, b->who);
  differ_text(d, "do", a->what, b->what);
  differ_text(d, "hidden", a->hidden ? "true" : NULL, b->hidden ? "true" : NULL);
  differ_fields(d, "args", a->args, a->n_args, b->args, b->n_args);
  differ_fields(d, "changed", a->changed, a->n_changed, b->changed, b->n_changed);
  return differ_choices(d, a, b);
}

/* same_k: a hash that only one trace has is a difference. */
static bool differ_steps(TraceDifference *d, const TraceStep *a, const TraceStep *b, bool same_k) {
  differ_deeds(d, a, b);
  if (same_k || (a->hashed && b->hashed))
    differ_hash(d, "hash", a->hashed ? &a->hash : NULL, b->hashed ? &b->hash : NULL);
  return d->field;
}

static void differ_check(TraceDifference *d, const TraceCheck *a, const TraceCheck *b) {
  g_autofree char *verdict = g_strdup_printf("%s.verdict", a->name), *step = g_strdup_printf("%s.step", a->name);
  differ_text(d, "checks", a->name, b->name);
  differ_text(d, verdict, a->verdict, b->verdict);
  differ_optional(d, step, a->step, b->step);
  differ_text(d, a->name, a->why, b->why);
}

static void differ_checks(TraceDifference *d, const TraceEnd *a, const TraceEnd *b) {
  guint both = MIN(a->n_checks, b->n_checks);
  for (guint c = 0; c < both; c++) differ_check(d, &a->checks[c], &b->checks[c]);
  if (a->n_checks > both) differ_text(d, "checks", a->checks[both].name, NULL);
  if (b->n_checks > both) differ_text(d, "checks", NULL, b->checks[both].name);
}

static void differ_metric(TraceDifference *d, const TraceMetric *a, const TraceMetric *b) {
  char text_a[G_ASCII_DTOSTR_BUF_SIZE], text_b[G_ASCII_DTOSTR_BUF_SIZE];
  differ_text(d, "metrics", a->name, b->name);
  differ_text(d, a->name, g_ascii_dtostr(text_a, sizeof text_a, a->value),
              g_ascii_dtostr(text_b, sizeof text_b, b->value));
}

static void differ_metrics(TraceDifference *d, const TraceEnd *a, const TraceEnd *b) {
  guint both = MIN(a->n_metrics, b->n_metrics);
  for (guint m = 0; m < both; m++) differ_metric(d, &a->metrics[m], &b->metrics[m]);
  if (a->n_metrics > both) differ_text(d, "metrics", a->metrics[both].name, NULL);
  if (b->n_metrics > both) differ_text(d, "metrics", NULL, b->metrics[both].name);
}

static bool differ_ends(TraceDifference *d, const TraceEnd *a, const TraceEnd *b) {
  differ_text(d, "verdict", a->verdict, b->verdict);
  differ_checks(d, a, b);
  differ_metrics(d, a, b);
  differ_optional(d, "lasso_from", a->lasso_from, b->lasso_from);
  differ_optional(d, "t_ns", a->t_ns, b->t_ns);
  return differ_hash(d, "state_hash", a->hashed ? &a->state_hash : NULL, b->hashed ? &b->state_hash : NULL);
}

/* ---- headers: all differences, as each may be the cause of what follows ---- */
static void header_text(GArray *into, const char *field, const char *a, const char *b) {
  TraceDifference d = {0};
  if (differ_text(&d, field, a, b)) g_array_append_val(into, d);
}

/* Of texts of many lines, the first line that differs. */
static void header_lines(GArray *into, const char *field, const char *a, const char *b) {
  if (!a || !b) {
    header_text(into, field, a ? "(a text)" : NULL, b ? "(a text)" : NULL);
    return;
  }
  g_auto(GStrv) lines_a = g_strsplit(a, "\n", -1), lines_b = g_strsplit(b, "\n", -1);
  guint i = 0;
  while (lines_a[i] && lines_b[i] && strcmp(lines_a[i], lines_b[i]) == 0) i++;
  if (!lines_a[i] && !lines_b[i]) return;
  g_autofree char *where = g_strdup_printf("%s line %u", field, i + 1);
  header_text(into, where, lines_a[i], lines_b[i]);
}

static void header_sources(GArray *into, const TraceHeader *a, const TraceHeader *b) {
  for (guint i = 0; i < MAX(a->n_sources, b->n_sources); i++) {
    const TraceSource none = {0}, *in_a = i < a->n_sources ? &a->sources[i] : &none,
                      *in_b = i < b->n_sources ? &b->sources[i] : &none;
    g_autofree char *kind = g_strdup(in_a->kind ? in_a->kind : in_b->kind);
    header_text(into, "source", in_a->kind, in_b->kind);
    header_text(into, kind, in_a->name, in_b->name);
    header_lines(into, kind, in_a->text, in_b->text);
    g_autofree char *hash = g_strdup_printf("%s hash", kind);
    header_text(into, hash, in_a->hash, in_b->hash);
  }
}

static void header_overrides(GArray *into, const TraceHeader *a, const TraceHeader *b) {
  static const char *const none[] = {NULL};
  const char *const *in_a = a->overrides ? a->overrides : none, *const *in_b = b->overrides ? b->overrides : none;
  while (*in_a || *in_b) {
    header_text(into, "override", *in_a, *in_b);
    if (*in_a) in_a++;
    if (*in_b) in_b++;
  }
}

static void header_number(GArray *into, const char *field, uint64_t a, uint64_t b) {
  g_autofree char *text_a = g_strdup_printf("%" G_GUINT64_FORMAT, a),
                  *text_b = g_strdup_printf("%" G_GUINT64_FORMAT, b);
  header_text(into, field, text_a, text_b);
}

static void differ_headers(GArray *into, const TraceHeader *a, const TraceHeader *b) {
  header_text(into, "command", a->command, b->command);
  header_text(into, "scenario", a->scenario, b->scenario);
  header_lines(into, "scenario text", a->text, b->text);
  header_overrides(into, a, b);
  header_sources(into, a, b);
  header_number(into, "seed", a->seed, b->seed);
  header_text(into, "subject", a->subject, b->subject);
  header_number(into, "k", (uint64_t)a->k, (uint64_t)b->k);
  header_text(into, "version", a->version, b->version);
}

/* ---- the walk ---- */
static const char *ending(TraceNext next) {
  return next == TRACE_STEP ? "goes on" : next == TRACE_CUT ? "was cut" : "ends";
}

static void differ_last(TraceDiff *d, TraceReader *a, TraceReader *b, TraceNext next_a, TraceNext next_b) {
  d->cut = next_a == TRACE_CUT && next_b == TRACE_CUT;
  if (next_a != next_b) {
    d->stepped = true;
    differ_text(&d->first, "length", ending(next_a), ending(next_b));
  } else if (next_a == TRACE_ENDED) {
    d->ended = differ_ends(&d->first, trace_reader_end(a), trace_reader_end(b));
  }
}

/* One step of each, the d->step-th. Returns whether that is the difference to tell. */
static bool meet(TraceDiff *d, const TraceStep *a, const TraceStep *b, bool same_k) {
  if (!d->header->len) return differ_steps(&d->first, a, b, same_k);
  TraceDifference hash = {0};
  if (d->hashes < 0 && differ_steps(&hash, a, b, same_k)) d->hashes = d->step;
  difference_clear(&hash);
  return differ_deeds(&d->first, a, b);
}

/* d->before is the step before d->step; *words is made into it when the steps are equal. */
static bool walk(TraceDiff *d, TraceReader *a, TraceReader *b, GString *words, GError **error) {
  bool same_k = trace_reader_header(a)->k == trace_reader_header(b)->k;
  for (d->step = 0;; d->step++) {
    TraceStep step_a, step_b;
    TraceNext next_a = trace_reader_next(a, &step_a, error);
    if (next_a == TRACE_FAILED) return false;
    TraceNext next_b = trace_reader_next(b, &step_b, error);
    if (next_b == TRACE_FAILED) return false;
    if (next_a != TRACE_STEP || next_b != TRACE_STEP) {
      differ_last(d, a, b, next_a, next_b);
      return true;
    }
    d->stepped = meet(d, &step_a, &step_b, same_k);
    if (d->stepped) return true;
    g_string_truncate(words, 0);
    trace_step_words(&step_a, words);
  }
}

TraceDiff *trace_diff(TraceReader *a, TraceReader *b, GError **error) {
  g_autoptr(TraceDiff) d = g_new0(TraceDiff, 1);
  g_autoptr(GString) words = g_string_new(NULL);
  d->hashes = -1;
  d->header = g_array_new(FALSE, FALSE, sizeof(TraceDifference));
  g_array_set_clear_func(d->header, difference_clear);
  differ_headers(d->header, trace_reader_header(a), trace_reader_header(b));
  if (!walk(d, a, b, words, error)) return NULL;
  if (d->stepped && d->hashes == d->step) d->hashes = -1;
  if (d->stepped && d->step > 0) d->before = g_strdup(words->str);
  return g_steal_pointer(&d);
}

void trace_diff_free(TraceDiff *d) {
  if (!d) return;
  g_array_unref(d->header);
  difference_clear(&d->first);
  g_free(d->before);
  g_free(d);
}

bool trace_diff_identical(const TraceDiff *d) {
  return !d->header->len && !d->stepped && !d->ended; /* hashes: only beside a header */
}

/* ---- for replay ---- */
bool trace_step_differs(TraceDifference *d, const TraceStep *a, const TraceStep *b) {
  *d = (TraceDifference){0};
  return differ_steps(d, a, b, true);
}

bool trace_end_differs(TraceDifference *d, const TraceEnd *a, const TraceEnd *b) {
  *d = (TraceDifference){0};
  return differ_ends(d, a, b);
}

void trace_difference_clear(TraceDifference *d) {
  difference_clear(d);
}
