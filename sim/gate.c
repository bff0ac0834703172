/* gate.c - see gate.h: a metric's name, an operator, a value, with blanks between as one likes. */
#include "sim/gate.h"
#include "sim/metrics.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/units.h"
#include <string.h>

typedef struct {
  const char *text, *at;
  GError **error;
} Parser;

static bool complain(Parser *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool complain(Parser *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_propagate_error(p->error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "gate:%ld: %s",
                                          g_utf8_pointer_to_offset(p->text, p->at) + 1, what));
  return false;
}

static void skip_blanks(Parser *p) {
  while (*p->at == ' ' || *p->at == '\t') p->at++;
}

/* ---- the metric ---- */

static const MetricInfo *metric_of(const char *name) {
  g_autofree char *plain = key_without_indexes(name);
  for (guint i = 0; i < metric_info_len; i++)
    if (!strcmp(metric_info[i].pattern, plain)) return &metric_info[i];
  return NULL;
}

static bool parse_metric(Parser *p, Gate *g) {
  const gsize length = strcspn(p->at, " \t<>=");
  if (!length) return complain(p, "a metric's name is missing; METRIC OP VALUE is what a gate says");
  g->metric = g_strndup(p->at, length);
  if (!metric_of(g->metric)) {
    const char *near = nearest_name(g->metric, metric_patterns());
    return near ? complain(p, "no metric %s; the nearest is %s", g->metric, near)
                : complain(p, "no metric %s; stampede list metrics names them", g->metric);
  }
  p->at += length;
  return true;
}

/* ---- the operator ---- */

static bool parse_op(Parser *p, Gate *g) {
  static const char *const ops[] = {"<=", "<", ">=", ">", "="}; /* as GateOp; longer ones first */
  skip_blanks(p);
  for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
    if (g_str_has_prefix(p->at, ops[i])) {
      g->op = (GateOp)i;
      p->at += strlen(ops[i]);
      return true;
    }
  return complain(p, "an operator is missing; <= < >= > = are there");
}

/* ---- the value ---- */

/* "+2", "-0.5" before a percent sign. */
static bool parse_percent(Parser *p, Gate *g, const char *value) {
  g_autofree char *number = g_strndup(value, strlen(value) - 1);
  g_strchomp(number);
  if (*number != '+' && *number != '-')
    return complain(p, "%s has no sign; +%s is that much more than the baseline, -%s less", value, value, value);
  g->relative = true;
  const UnitsFault fault = units_number(*number == '+' ? number + 1 : number, &g->value);
  if (fault || number[1] == '-' || number[1] == '+') return complain(p, "%s is no percentage such as +2%%", value);
  return true;
}

static UnitsFault value_in_ms(const char *value, double *out) {
  int64_t ns = 0;
  const UnitsFault fault = units_time_ns(value, &ns);
  if (!fault) *out = (double)ns / 1e6;
  return fault;
}

static UnitsFault value_in_kib(const char *value, double *out) {
  int64_t bytes = 0;
  const UnitsFault fault = units_size(value, &bytes);
  if (!fault) *out = (double)bytes / 1024;
  return fault;
}

static UnitsFault value_a_second(const char *value, double *out) {
  if (!g_str_has_suffix(value, "/s")) return UNITS_NO_UNIT;
  g_autofree char *number = g_strndup(value, strlen(value) - 2);
  return units_number(number, out);
}

/* Times, sizes and rates as scenario files write them; what is counted is a plain number. */
static bool parse_value(Parser *p, Gate *g, const char *value) {
  static const struct {
    const char *unit, *such_as;
    UnitsFault (*parse)(const char *value, double *out);
  } kinds[] = {{"ms", "a duration such as 500ms", value_in_ms},
               {"KiB", "a size such as 64KiB", value_in_kib},
               {"1/s", "a rate such as 100/s", value_a_second}};
  const MetricInfo *metric = metric_of(g->metric);
  UnitsFault fault = UNITS_OK;
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (strcmp(kinds[i].unit, metric->unit) != 0) continue;
    fault = kinds[i].parse(value, &g->value);
    return !fault || complain(p, "%s %s; %s is measured in %s: %s, or a change such as +2%%", value, units_fault(fault),
                              g->metric, metric->unit, kinds[i].such_as);
  }
  fault = units_number(value, &g->value);
  return !fault || complain(p, "%s %s; %s is a number of %s, or a change such as +2%%", value, units_fault(fault),
                            g->metric, metric->unit);
}

static bool parse_bound(Parser *p, Gate *g) {
  skip_blanks(p);
  g_autofree char *value = g_strchomp(g_strdup(p->at));
  if (!*value) return complain(p, "a value is missing; +2%% or one with a unit would be right");
  return g_str_has_suffix(value, "%") ? parse_percent(p, g, value) : parse_value(p, g, value);
}

Gate *gate_parse(const char *text, GError **error) {
  g_autoptr(Gate) g = g_new0(Gate, 1);
  Parser p = {text, text, error};
  g->text = g_strdup(text);
  skip_blanks(&p);
  return parse_metric(&p, g) && parse_op(&p, g) && parse_bound(&p, g) ? g_steal_pointer(&g) : NULL;
}

void gate_free(Gate *g) {
  if (!g) return;
  g_free(g->text);
  g_free(g->metric);
  g_free(g);
}

bool gate_share(const char *text, double *share) {
  g_autofree char *number = g_strchomp(g_strdup(text));
  if (!g_str_has_suffix(number, "%")) return false;
  number[strlen(number) - 1] = 0;
  double percent = 0;
  if (units_number(g_strchomp(number), &percent) || percent < 0) return false;
  *share = percent / 100;
  return true;
}

/* ---- judging ---- */

bool gate_met(const Gate *g, double baseline, double patch) {
  /* (p - b) / b OP v %, without dividing: a baseline of 0 allows what is 0. */
  const double saw = g->relative ? (patch - baseline) * 100 : patch,
               bound = g->relative ? g->value * baseline : g->value;
  switch (g->op) {
  case GATE_AT_MOST: return saw <= bound;
  case GATE_BELOW: return saw < bound;
  case GATE_AT_LEAST: return saw >= bound;
  case GATE_ABOVE: return saw > bound;
  case GATE_EQUAL: break;
  }
  return !(saw < bound) && !(saw > bound);
}
