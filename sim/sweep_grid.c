/* sweep_grid.c - see sweep_grid.h. */
#include "sim/columns.h"
#include "sim/sweep_grid.h"
#include <string.h>

typedef struct {
  const SweepCurves *c;
  const SweepPlan *p;
  SweepGrid *g;
  GPtrArray *subjects; /* of const char *: checks or metrics */
  bool *is_across;     /* by key */
  bool by_seed;        /* verdicts have no mean: each seed is a row */
} Maker;

/* ---- which keys ---- */

static int key_named(const SweepPlan *p, const char *name) {
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    if (!strcmp(k->name, name) || !strcmp(k->key, name)) return (int)i;
  }
  return -1;
}

bool sweep_across_known(const SweepPlan *p, const char *across, GError **error) {
  g_auto(GStrv) names = g_strsplit(across ? across : "", ",", -1);
  for (char **name = names; *name; name++) {
    if (key_named(p, g_strstrip(*name)) >= 0) continue;
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < p->keys->len; i++)
      g_string_append_printf(all, "%s%s", i ? ", " : "", ((SweptKey *)p->keys->pdata[i])->name);
    g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT,
                                         "--across %s: no list of that name; there %s %s", *name,
                                         p->keys->len == 1 ? "is" : "are", all->len ? all->str : "none"));
    g_string_free(all, TRUE);
    return false;
  }
  return true;
}

/* Do two combinations have the same values of the keys that are (are not) across? */
static bool same(const Maker *m, guint a, guint b, bool across) {
  for (guint i = 0; i < m->p->keys->len; i++)
    if (m->is_across[i] == across && sweep_value_index(m->p, i, a) != sweep_value_index(m->p, i, b)) return false;
  return true;
}

/* The first combination of each different set of those values. */
static GArray *firsts(const Maker *m, bool across) {
  GArray *found = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < m->p->combinations; i++) {
    bool known = false;
    for (guint j = 0; j < found->len && !known; j++) known = same(m, g_array_index(found, guint, j), i, across);
    if (!known) g_array_append_val(found, i);
  }
  return found;
}

/* The combination that has the row's values and the column's. */
static guint crossing(const Maker *m, guint row, guint column) {
  guint c = 0;
  for (guint i = 0; i < m->p->keys->len; i++)
    c = c * ((SweptKey *)m->p->keys->pdata[i])->values->len +
        sweep_value_index(m->p, i, m->is_across[i] ? column : row);
  g_assert(c < m->p->combinations);
  return c;
}

/* ---- cells ---- */

static char *noted(const Maker *m, const char *words, const char *note) {
  guint at;
  if (!note) return g_strdup(words);
  if (!g_ptr_array_find_with_equal_func(m->g->notes, note, g_str_equal, &at)) {
    at = m->g->notes->len;
    g_ptr_array_add(m->g->notes, g_strdup(note));
  }
  return g_strdup_printf("%s [%u]", words, at + 1);
}

static char *verdict_cell(const Maker *m, const RunResult *r, const CheckResult *c) {
  g_autofree char *steps = NULL;
  switch (c->verdict) {
  case CHECK_VIOLATED:
    steps = g_strdup_printf("violated in %" G_GINT64_FORMAT " steps", c->step + 1);
    return noted(m, steps, c->why);
  case CHECK_NOT_VIOLATED: return noted(m, "not violated", r->stopped);
  default: return g_strdup(check_verdict_word(c->verdict));
  }
}

static char *check_cell(const Maker *m, guint point, const char *check) {
  const RunResult *r = m->c->results->pdata[point];
  if (sweep_refused(m->p, point)) return noted(m, "-", sweep_refused(m->p, point));
  if (!r) return g_strdup("not run");
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (!strcmp(c->check->name, check)) return verdict_cell(m, r, c);
  }
  return g_strdup("not judged");
}

static char *cell(const Maker *m, guint combination, guint variant, guint seed, const char *subject) {
  const guint point = sweep_point(m->p, combination, variant, seed);
  double mean = 0;
  if (m->p->explores) return check_cell(m, point, subject);
  if (sweep_refused(m->p, point)) return noted(m, "-", sweep_refused(m->p, point));
  if (!sweep_mean(m->c, combination, variant, subject, &mean, NULL)) return g_strdup("-");
  GString *out = g_string_new(NULL);
  report_number(out, 1, mean);
  return g_string_free(out, FALSE);
}

/* ---- what is shown ---- */

static bool broken_somewhere(const SweepCurves *c, const char *check) {
  for (guint i = 0; i < c->results->len; i++) {
    const RunResult *r = c->results->pdata[i];
    for (guint k = 0; r && k < r->checks->len; k++) {
      const CheckResult *v = &g_array_index(r->checks, CheckResult, k);
      if (!strcmp(v->check->name, check) && v->verdict == CHECK_VIOLATED) return true;
    }
  }
  return false;
}

/* Checks in order of first appearance. no-deadlock is judged unasked, and is shown where it says something. */
static void add_checks(Maker *m) {
  for (guint i = 0; i < m->c->results->len; i++) {
    const RunResult *r = m->c->results->pdata[i];
    for (guint k = 0; r && k < r->checks->len; k++) {
      const char *name = g_array_index(r->checks, CheckResult, k).check->name;
      if (g_ptr_array_find_with_equal_func(m->subjects, name, g_str_equal, NULL)) continue;
      if (!strcmp(name, "no-deadlock") && m->subjects->len && !broken_somewhere(m->c, name)) continue;
      g_ptr_array_add(m->subjects, (gpointer)name);
    }
  }
}

static void choose_subjects(Maker *m) {
  if (m->p->explores) return add_checks(m);
  for (guint i = 0; i < m->c->metrics->len; i++) g_ptr_array_add(m->subjects, m->c->metrics->pdata[i]);
}

/* ---- tables ---- */

static GridTable *table_new(SweepGrid *g, const char *title) {
  GridTable *t = g_new0(GridTable, 1);
  t->title = g_strdup(title);
  t->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_ptr_array_add(g->tables, t);
  return t;
}

/* Names (combination < 0) or values of the keys that make rows. */
static void add_row_keys(const Maker *m, GPtrArray *row, int combination) {
  for (guint i = 0; i < m->p->keys->len; i++)
    if (!m->is_across[i])
      g_ptr_array_add(row, g_strdup(combination < 0 ? ((SweptKey *)m->p->keys->pdata[i])->name
                                                    : sweep_value(m->p, i, (guint)combination)));
}

static char *column_name(const Maker *m, guint combination) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < m->p->keys->len; i++)
    if (m->is_across[i]) g_string_append_printf(out, "%s%s", out->len ? ", " : "", sweep_value(m->p, i, combination));
  return g_string_free(out, FALSE);
}

static void add_header(const Maker *m, GridTable *t, const GArray *columns, const char *subject) {
  GPtrArray *row = columns_row(t->rows);
  add_row_keys(m, row, -1);
  if (m->p->variants->len > 1) g_ptr_array_add(row, g_strdup("variant"));
  if (m->by_seed) g_ptr_array_add(row, g_strdup("seed"));
  for (guint i = 0; subject && i < columns->len; i++)
    g_ptr_array_add(row, column_name(m, g_array_index(columns, guint, i)));
  for (guint i = 0; !subject && i < m->subjects->len; i++) g_ptr_array_add(row, g_strdup(m->subjects->pdata[i]));
}

static void add_row(const Maker *m, GridTable *t, guint combination, guint variant, guint seed, const GArray *columns,
                    const char *subject) {
  GPtrArray *row = columns_row(t->rows);
  add_row_keys(m, row, (int)combination);
  if (m->p->variants->len > 1) g_ptr_array_add(row, g_strdup(m->p->variants->pdata[variant]));
  if (m->by_seed) g_ptr_array_add(row, g_strdup_printf("%" G_GUINT64_FORMAT, m->p->seed + seed));
  for (guint i = 0; subject && i < columns->len; i++)
    g_ptr_array_add(row, cell(m, crossing(m, combination, g_array_index(columns, guint, i)), variant, seed, subject));
  for (guint i = 0; !subject && i < m->subjects->len; i++)
    g_ptr_array_add(row, cell(m, combination, variant, seed, m->subjects->pdata[i]));
}

/* subject NULL: a column for each. */
static void add_table(const Maker *m, const GArray *rows, const GArray *columns, const char *subject) {
  GridTable *t = table_new(m->g, subject);
  add_header(m, t, columns, subject);
  for (guint i = 0; i < rows->len; i++)
    for (guint v = 0; v < m->p->variants->len; v++)
      for (guint seed = 0; seed < (m->by_seed ? m->p->seeds : 1); seed++)
        add_row(m, t, g_array_index(rows, guint, i), v, seed, columns, subject);
}

static void table_free(gpointer data) {
  GridTable *t = data;
  g_free(t->title);
  g_ptr_array_unref(t->rows);
  g_free(t);
}

static void mark_across(Maker *m, const char *across) {
  g_auto(GStrv) names = g_strsplit(across ? across : "", ",", -1);
  for (char **name = names; *name; name++) m->is_across[key_named(m->p, g_strstrip(*name))] = true;
}

SweepGrid *sweep_grid(const SweepCurves *c, const char *across, GError **error) {
  if (!sweep_across_known(c->plan, across, error)) return NULL;
  SweepGrid *g = g_new0(SweepGrid, 1);
  g->plan = c->plan;
  g->tables = g_ptr_array_new_with_free_func(table_free);
  g->notes = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) subjects = g_ptr_array_new();
  g_autofree bool *is_across = g_new0(bool, c->plan->keys->len + 1);
  Maker m = {c, c->plan, g, subjects, is_across, c->plan->explores && c->plan->seeds > 1};
  mark_across(&m, across);
  choose_subjects(&m);
  g_autoptr(GArray) rows = firsts(&m, false), columns = firsts(&m, true);
  for (guint i = 0; across && i < subjects->len; i++) add_table(&m, rows, columns, subjects->pdata[i]);
  if (!across) add_table(&m, rows, columns, NULL);
  return g;
}

void sweep_grid_free(SweepGrid *g) {
  if (!g) return;
  g_ptr_array_unref(g->tables);
  g_ptr_array_unref(g->notes);
  g_free(g);
}

/* ---- told ---- */

static void text_table(const GridTable *t, GString *out) {
  if (t->title) g_string_append_printf(out, "  %s\n", t->title);
  columns_print(out, t->rows, NULL);
  g_string_append_c(out, '\n');
}

void sweep_grid_text(const SweepGrid *g, GString *out) {
  for (guint i = 0; i < g->tables->len; i++) text_table(g->tables->pdata[i], out);
  for (guint i = 0; i < g->notes->len; i++)
    g_string_append_printf(out, "  [%u] %s\n", i + 1, (char *)g->notes->pdata[i]);
}

static void markdown_table(const GridTable *t, GString *out) {
  if (t->title) g_string_append_printf(out, "### %s\n\n", t->title);
  columns_markdown(out, t->rows, NULL);
  g_string_append_c(out, '\n');
}

void sweep_grid_markdown(const SweepGrid *g, GString *out) {
  for (guint i = 0; i < g->tables->len; i++) markdown_table(g->tables->pdata[i], out);
  for (guint i = 0; i < g->notes->len; i++)
    g_string_append_printf(out, "- [%u] %s\n", i + 1, (char *)g->notes->pdata[i]);
}
