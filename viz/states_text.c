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

/* Text in lines of at most `width` characters, broken after blanks and commas where there are some, at most `lines` of
 * them; `between` separates lines. */
static void append_wrapped(GString *out, const char *text, glong width, guint lines, const char *between) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  const char *rest = valid;
  for (guint line = 0; *rest; line++) {
    glong left = g_utf8_strlen(rest, -1), take = MIN(left, width);
    if (left > width) {
      glong at = width;
      while (at > width / 2 && !strchr(" ,", *g_utf8_offset_to_pointer(rest, at - 1))) at--;
      if (at > width / 2) take = at;
    }
    bool last = line + 1 == lines && take < left;
    g_autofree char *piece = g_utf8_substring(rest, 0, last ? MAX(take - 1, 1) : take);
    if (line) g_string_append(out, between);
    picture_xml(out, piece);
    if (last) g_string_append(out, "…");
    if (last) return;
    rest = g_utf8_offset_to_pointer(rest, take);
  }
}

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
      shown[v] |= (s > 0 && variable->old) || states_named(h->why, variable->name);
    }
  }
  return shown;
}

static void append_value(GString *out, const HistoryVariable *v) {
  if (!v->old) {
    append_wrapped(out, *v->value ? v->value : "(empty)", VALUE_WIDTH, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
    return;
  }
  bool one_line = g_utf8_strlen(v->old, -1) + g_utf8_strlen(v->value, -1) < VALUE_WIDTH - 6;
  append_wrapped(out, *v->old ? v->old : "(empty)", VALUE_WIDTH, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
  g_string_append(out, one_line ? " → " : "<BR ALIGN=\"LEFT\"/>→ ");
  g_string_append(out, "<B>");
  append_wrapped(out, *v->value ? v->value : "(empty)", VALUE_WIDTH - 3, LINES_MAX, "<BR ALIGN=\"LEFT\"/>");
  g_string_append(out, "</B>");
}

static void append_row(GString *out, const HistoryVariable *v, bool named, bool changed) {
  g_string_append(out, "<TR><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\" VALIGN=\"TOP\"");
  if (named) g_string_append(out, " BGCOLOR=\"" STATES_NAMED "\"");
  g_string_append(out, named ? "><FONT COLOR=\"" STATES_BROKEN "\"><B>" : ">");
  append_wrapped(out, v->name, NAME_WIDTH, 2, "<BR/>");
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
  picture_xml(out, h->check);
  g_string_append(out, " is violated</B>");
  if (h->why) {
    g_string_append(out, "<BR ALIGN=\"LEFT\"/>");
    append_wrapped(out, h->why, WHY_WIDTH, 6, "<BR ALIGN=\"LEFT\"/>");
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
      bool named = states_named(h->why, variable->name), changed = variable->old && !r->first;
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
    bool named = r.last && states_named(h->why, variable->name);
    if (take[v]) append_row(out, variable, named, variable->old != NULL);
  }
  if (r.left_out || !r.rows) append_note(out, r.left_out);
  if (r.last && h->check) append_broken(out, h);
  g_string_append(out, "</TABLE>");
  return g_string_free(out, FALSE);
}

/* Integers only: 1204567 ns is "1.205 ms". */
static void append_time(GString *out, int64_t ns) {
  static const struct {
    int64_t ns;
    const char *unit;
  } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
  for (guint u = 0; u < G_N_ELEMENTS(units); u++) {
    if (ns < units[u].ns) continue;
    int64_t thousandths = ns / (units[u].ns / 1000);
    g_string_append_printf(out, "%" G_GINT64_FORMAT ".%03d %s", thousandths / 1000, (int)(thousandths % 1000),
                           units[u].unit);
    return;
  }
  g_string_append_printf(out, "%" G_GINT64_FORMAT " ns", ns);
}

char *states_arrow(const HistoryStep *s) {
  GString *out = g_string_new(NULL);
  if (s->who) {
    append_wrapped(out, s->who, ARROW_WIDTH, 2, "<BR/>");
    g_string_append(out, "<BR/>");
  }
  g_string_append(out, "<B>");
  append_wrapped(out, s->what, ARROW_WIDTH, 2, "<BR/>");
  g_string_append(out, "</B>");
  if (*s->args) {
    g_string_append(out, "<BR/><FONT POINT-SIZE=\"9\" COLOR=\"#555555\">");
    append_wrapped(out, s->args, ARROW_WIDTH, LINES_MAX, "<BR/>");
    g_string_append(out, "</FONT>");
  }
  return g_string_free(out, FALSE);
}

char *states_cluster_title(const HistoryStep *s, bool first) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "<B>step %" G_GINT64_FORMAT "</B>", s->i);
  if (s->t_ns >= 0) {
    g_string_append(out, ", at ");
    append_time(out, s->t_ns);
  }
  if (s->hidden) g_string_append(out, ", inner step");
  if (first) {
    g_string_append(out, "<BR ALIGN=\"LEFT\"/>");
    if (s->who) append_wrapped(out, s->who, ARROW_WIDTH, 1, "");
    g_string_append(out, s->who ? " " : "");
    append_wrapped(out, s->what, ARROW_WIDTH, 1, "");
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
                              "<TD COLSPAN=\"4\" ALIGN=\"LEFT\"><FONT POINT-SIZE=\"16\"><B>");
  picture_xml(out, h->scenario ? h->scenario : "(no name)");
  g_string_append(out, h->check ? ": " : "");
  picture_xml(out, h->check ? h->check : "");
  g_string_append(out, h->check ? " is violated</B></FONT></TD></TR><TR>" : "</B></FONT></TD></TR><TR>");
  g_string_append_printf(out,
                         "<TD ALIGN=\"LEFT\">steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                         " of 0 to %" G_GINT64_FORMAT ", seed %" G_GUINT64_FORMAT
                         "%s; each box is the state after its step</TD>",
                         first->i, last->i, h->total - 1, h->seed, h->cut ? ", the trace was cut" : "");
  append_key(out, STATES_CHANGED, "black", "old → <B>changed by the step</B>");
  if (h->check) append_key(out, STATES_NAMED, STATES_BROKEN, "<B>named by the condition</B>");
  if (h->check) append_key(out, STATES_BROKEN, "white", "<B>broken condition</B>");
  g_string_append(out, "</TR></TABLE>");
  return g_string_free(out, FALSE);
}
