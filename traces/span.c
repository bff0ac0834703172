/* span.c - which steps of a trace a picture shows. */
#include "traces/span.h"
#include <string.h>

void span_free(Span *s) {
  g_free(s->scenario);
  g_free(s->subject);
  g_free(s->check);
  g_free(s->why);
  g_free(s);
}

static void take_footer(Span *s, const TraceEnd *end) {
  s->lasso_from = end->lasso_from;
  for (guint c = 0; c < end->n_checks; c++) {
    const TraceCheck *check = &end->checks[c];
    if (strcmp(check->verdict, "violated") != 0) continue;
    bool earlier = check->step >= 0 && (s->broken < 0 || check->step < s->broken);
    if (s->check && !earlier) continue;
    g_free(s->check);
    g_free(s->why);
    s->check = g_strdup(check->name);
    s->why = g_strdup(check->why);
    s->broken = check->step < s->total ? check->step : -1;
  }
}

static bool refuse(const Span *s, const char *path, GError **error) {
  g_set_error(error, TRACE_ERROR, TRACE_ERROR_LIMIT,
              "%s: the trace has steps 0 to %" G_GINT64_FORMAT "; --from and --to name the first and the last to show",
              path, s->total - 1);
  return false;
}

/* A lasso is shown to its end; a run that went on after a check was broken, to there. */
static bool choose(Span *s, const SpanWish *w, const char *path, GError **error) {
  s->last = w->to >= 0 ? w->to : s->broken >= 0 && s->lasso_from < 0 ? s->broken : s->total - 1;
  s->first = w->from >= 0 ? w->from : MAX(0, s->last + 1 - (int64_t)w->last);
  if (w->from >= 0 && w->to < 0) s->last = MAX(s->last, MIN(s->first + (int64_t)w->last, s->total) - 1);
  s->ends_broken = s->check && s->last == (s->broken >= 0 ? s->broken : s->total - 1);
  if ((w->from >= 0 || w->to >= 0) && (s->last >= s->total || s->first > s->last)) return refuse(s, path, error);
  if (s->last - s->first < (int64_t)w->most) return true;
  g_set_error(error, TRACE_ERROR, TRACE_ERROR_LIMIT,
              "%s: steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
              " are more than the %u that one picture takes; choose fewer with --from and --to",
              path, s->first, s->last, w->most);
  return false;
}

Span *span_read(const char *path, const SpanWish *wish, GError **error) {
  g_assert(wish->last > 0 && wish->most > 0);
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  if (!r) return NULL;
  const TraceHeader *header = trace_reader_header(r);
  g_autoptr(Span) s = g_new0(Span, 1);
  s->scenario = g_strdup(header->scenario);
  s->subject = g_strdup(header->subject);
  s->seed = header->seed;
  s->broken = s->lasso_from = -1;
  TraceStep step;
  TraceNext next;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP) s->total++;
  if (next == TRACE_FAILED) return NULL;
  s->cut = next == TRACE_CUT;
  if (next == TRACE_ENDED) take_footer(s, trace_reader_end(r));
  return choose(s, wish, path, error) ? g_steal_pointer(&s) : NULL;
}
