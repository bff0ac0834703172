/* diff_words.c - a difference for people to read. */
#include "traces/diff.h"

static void words(const char *where, const TraceDifference *d, const char *name_a, const char *name_b, GString *out) {
  g_string_append_printf(out, "%s: %s is %s in %s, %s in %s\n", where, d->field, d->a, name_a, d->b, name_b);
}

static void step_words(const TraceDiff *d, const char *name_a, const char *name_b, GString *out) {
  g_autofree char *where = g_strdup_printf("step %" G_GINT64_FORMAT, d->step);
  if (strcmp(d->first.field, "length") == 0)
    g_string_append_printf(out, "%s: %s %s here, %s %s\n", where, name_a, d->first.a, name_b, d->first.b);
  else
    words(where, &d->first, name_a, name_b, out);
  if (d->before) g_string_append_printf(out, "  before it, step %" G_GINT64_FORMAT ": %s\n", d->step - 1, d->before);
}

void trace_diff_words(const TraceDiff *d, const char *name_a, const char *name_b, GString *out) {
  for (guint i = 0; i < d->header->len; i++)
    words("header", &g_array_index(d->header, TraceDifference, i), name_a, name_b, out);
  if (d->hashes >= 0) g_string_append_printf(out, "state hashes differ from step %" G_GINT64_FORMAT " on\n", d->hashes);
  if (d->stepped)
    step_words(d, name_a, name_b, out);
  else if (d->ended)
    words("footer", &d->first, name_a, name_b, out);
  else if (d->header->len)
    g_string_append_printf(out, "the %" G_GINT64_FORMAT " steps and what follows are the same\n", d->step);
  else
    g_string_append_printf(out, "identical: %" G_GINT64_FORMAT " steps%s\n", d->step,
                           d->cut ? ", then both are cut" : "");
}
