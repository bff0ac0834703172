/* states_text.c - the words of a state picture. */
#include "viz/states_text.h"
#include "viz/picture.h"
#include <string.h>

enum {
  NAME_WIDTH = 24,
  VALUE_WIDTH = 30,
  ARROW_WIDTH = 24,
  WHY_WIDTH = 44,
  LINES_MAX = 4,
  ROWS_MAX = 14,
  FIRST_ROWS_MAX = 10
};

static bool in_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

bool states_named(const char *why, const char *variable) {
  gsize length = strlen(variable);
  if (!why || !length) return false;
  for (const char *at = why; (at = strstr(at, variable)); at++)
    if (!(at > why && in_word(at[-1])) && !in_word(at[length])) return true;
  return false;
}

bool *states_shown(const History *h) {
  const HistoryStep *last = h->steps->pdata[h->steps->len - 1];
  bool *shown = g_new0(bool, last->variables->len + 1);
  for (guint s = 0; s < h->steps->len; s++) {
    const HistoryStep *step = h->steps->pdata[s];
    for (guint v = 0; v < step->variables->len; v++) {
      const HistoryVariable *variable = step->variables->pdata[v];
      shown[v] |= (s > 0 && variable->old) || states_named(h->span->why, variable->name);
    }
  }
  return shown;
}

static void append_value(GString *out, const HistoryVariable *v) {
  if (!v->old) {
    picture_wrap(out, *v->value ? v->value : "(empty)", VALUE_WIDTH, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
    return;
  }
  bool one_line = g_utf8_strlen(v->old, -1) + g_utf8_strlen(v->value, -1) < VALUE_WIDTH - 6;
  picture_wrap(out, *v->old ? v->old : "(empty)", VALUE_WIDTH, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
  g_string_append(out, one_line ? " → " : "<BR ALIGN=\"LEFT\"/>→ ");
  g_string_append(out, "<B>");
  picture_wrap(out, *v->value ? v->value : "(empty)", VALUE_WIDTH - 3, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
  g_string_append(out, "</B>");
}

static void append_row(GString *out, const HistoryVariable *v, bool named, bool changed) {
  g_string_append(out, "<TR><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\" VALIGN=\"TOP\"");
  if (named) g_string_append(out, " BGCOLOR=\"" STATES_NAMED "\"");
  g_string_append(out, named ? "><FONT COLOR=\"" STATES_BROKEN "\"><B>" : ">");
  picture_wrap(out, v->name, NAME_WIDTH, 2, "<BR/>");
  g_string_append(out, named ? "</B></FONT></TD>" : "</TD>");
  g_string_append(out, "<TD ALIGN=\"LEFT\" BALIGN=\"LEFT\"");
  if (changed) g_string_append(out, " BGCOLOR=\"" STATES_CHANGED "\"");
  if (named && !changed) g_string_append(out, " BGCOLOR=\"" STATES_NAMED "\"");
  g_string_append(out, ">");
  HistoryVariable plain = *v;
  if (!changed) plain.old = NULL;
  append_value(out, &plain);
  g_string_append(out, "</TD></TR>");
}

static void append_note(GString *out, guint left_out) {
  g_string_append(out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><FONT COLOR=\"#555555\" POINT-SIZE=\"9\">");
  if (left_out)
    g_string_append_printf(out, "and %u more that do not change here", left_out);
  else
    g_string_append(out, "(nothing that changes)");
  g_string_append(out, "</FONT></TD></TR>");
}

static void append_broken(GString *out, const History *h) {
  g_string_append(out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\" BALIGN=\"LEFT\" BGCOLOR=\"" STATES_BROKEN
                       "\"><FONT COLOR=\"white\"><B>");
  picture_xml(out, h->span->check);
  g_string_append(out, " is violated</B>");
  if (h->span->why) {
    g_string_append(out, "<BR ALIGN=\"LEFT\"/>");
    picture_wrap(out, h->span->why, WHY_WIDTH, 6, "<BR ALIGN=\"LEFT\"/>");
  }
  g_string_append(out, "</FONT></TD></TR>");
}

typedef struct {
  bool first, last, *take; /* take: which variables get a row */
  guint rows, left_out;
} Rows;

/* What must be seen comes first when there is not room for all: the named, the changed, the others that change
 * somewhere, and in the first cluster those that never do. */
static void choose_rows(const History *h, const HistoryStep *s, const bool *shown, Rows *r) {
  for (guint round = 0; round < (r->first ? 4 : 3); round++)
    for (guint v = 0; v < s->variables->len; v++) {
      const HistoryVariable *variable = s->variables->pdata[v];
      bool named = states_named(h->span->why, variable->name), changed = variable->old && !r->first;
      if (r->take[v] || !(round == 0 ? named : round == 1 ? changed : round == 2 ? shown[v] : !shown[v])) continue;
      if (r->rows < (round == 3 ? FIRST_ROWS_MAX : ROWS_MAX))
        r->take[v] = true, r->rows++;
      else if (round >= 2)
        r->left_out++;
    }
}

char *states_table(const History *h, guint step, const bool *shown) {
  g_assert_cmpuint(step, <, h->steps->len);
  const HistoryStep *s = h->steps->pdata[step];
  g_autofree bool *take = g_new0(bool, s->variables->len + 1);
  Rows r = {.first = step == 0, .last = step + 1 == h->steps->len, .take = take};
  choose_rows(h, s, shown, &r);
  GString *out =
      g_string_new("<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"3\" COLOR=\"#BBBBBB\">");
  for (guint v = 0; v < s->variables->len; v++) {
    const HistoryVariable *variable = s->variables->pdata[v];
    bool named = r.last && h->span->ends_broken && states_named(h->span->why, variable->name);
    if (take[v]) append_row(out, variable, named, variable->old != NULL);
  }
  if (r.left_out || !r.rows) append_note(out, r.left_out);
  if (r.last && h->span->ends_broken) append_broken(out, h);
  g_string_append(out, "</TABLE>");
  return g_string_free(out, FALSE);
}

char *states_arrow(const HistoryStep *s) {
  GString *out = g_string_new(NULL);
  if (s->who) {
    picture_wrap(out, s->who, ARROW_WIDTH, 2, "<BR/>");
    g_string_append(out, "<BR/>");
  }
  g_string_append(out, "<B>");
  picture_wrap(out, s->what, ARROW_WIDTH, 2, "<BR/>");
  g_string_append(out, "</B>");
  if (*s->args) {
    g_string_append(out, "<BR/><FONT POINT-SIZE=\"9\" COLOR=\"#555555\">");
    picture_wrap(out, s->args, ARROW_WIDTH, LINES_MAX, "<BR/>");
    g_string_append(out, "</FONT>");
  }
  return g_string_free(out, FALSE);
}

char *states_cluster_title(const HistoryStep *s, bool first) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "<B>step %" G_GINT64_FORMAT "</B>", s->i);
  if (s->t_ns >= 0) {
    g_string_append(out, ", at ");
    picture_time(out, s->t_ns);
  }
  if (s->hidden) g_string_append(out, ", inner step");
  if (first) {
    g_string_append(out, "<BR ALIGN=\"LEFT\"/>");
    if (s->who) picture_wrap(out, s->who, ARROW_WIDTH, 1, "");
    g_string_append(out, s->who ? " " : "");
    picture_wrap(out, s->what, ARROW_WIDTH, 1, "");
    g_string_append(out, "<BR ALIGN=\"LEFT\"/>");
  }
  return g_string_free(out, FALSE);
}

static void append_key(GString *out, const char *colour, const char *text_colour, const char *text) {
  g_string_append_printf(out, "<TD BGCOLOR=\"%s\"><FONT COLOR=\"%s\">%s</FONT></TD>", colour, text_colour, text);
}

char *states_heading(const History *h) {
  const HistoryStep *first = h->steps->pdata[0], *last = h->steps->pdata[h->steps->len - 1];
  GString *out = g_string_new("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"4\" CELLPADDING=\"3\"><TR>"
                              "<TD COLSPAN=\"5\" ALIGN=\"LEFT\"><FONT POINT-SIZE=\"16\"><B>");
  picture_xml(out, h->span->scenario ? h->span->scenario : "(no name)");
  g_string_append(out, h->span->check ? ": " : "");
  picture_xml(out, h->span->check ? h->span->check : "");
  g_string_append(out, h->span->check ? " is violated</B></FONT></TD></TR><TR>" : "</B></FONT></TD></TR><TR>");
  g_string_append_printf(
      out,
      "<TD ALIGN=\"LEFT\">steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of 0 to %" G_GINT64_FORMAT
      ", seed %" G_GUINT64_FORMAT "%s; each box is the state after its step</TD>",
      first->i, last->i, h->span->total - 1, h->span->seed, h->span->cut ? ", the trace was cut" : "");
  if (h->span->lasso_from >= 0 && last->i + 1 == h->span->total)
    g_string_append_printf(
        out, "<TD><FONT COLOR=\"#0072B2\"><B>for ever: after the last step %" G_GINT64_FORMAT " again</B></FONT></TD>",
        h->span->lasso_from);
  append_key(out, STATES_CHANGED, "black", "old → <B>changed by the step</B>");
  if (h->span->ends_broken) append_key(out, STATES_NAMED, STATES_BROKEN, "<B>named by the condition</B>");
  if (h->span->ends_broken) append_key(out, STATES_BROKEN, "white", "<B>broken condition</B>");
  g_string_append(out, "</TR></TABLE>");
  return g_string_free(out, FALSE);
}
