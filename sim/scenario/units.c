/* units.c - numbers with units, exactly: a decimal is a mantissa and a number of places, scaled in 128 bits; what does
 * not come out whole is refused, but for rates and bandwidths (README.md). */
#include "sim/scenario/units.h"
#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* 128 bits, so that 19 digits times the largest scale (a day in ps, 8.64e16) cannot overflow: < 8.64e35. */
typedef unsigned __int128 Wide;
typedef struct {
  uint64_t mantissa;
  guint decimals; /* digits after the point, trailing zeros dropped */
} Decimal;
typedef struct {
  const char *name;
  uint64_t scale;
} Unit;

static const Unit time_units[] = {{"ns", 1000},
                                  {"us", 1000000},
                                  {"ms", 1000000000},
                                  {"s", 1000000000000},
                                  {"min", 60000000000000},
                                  {"h", 3600000000000000},
                                  {"d", 86400000000000000},
                                  {0}}; /* in ps */
static const Unit size_units[] = {{"B", 1},     {"KiB", 1024},   {"MiB", 1048576},   {"GiB", 1073741824},
                                  {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {0}};
static const Unit rate_units[] = {{"/s", 1000000000}, {"/ms", 1000000}, {"/min", 60000000000}, {0}}; /* ns in one */

static bool add_digit(uint64_t *n, char digit) {
  return !__builtin_mul_overflow(*n, 10u, n) && !__builtin_add_overflow(*n, (uint64_t)(digit - '0'), n);
}

static const char *whole_part(const char *p, Decimal *d, UnitsFault *fault) {
  for (; g_ascii_isdigit(*p); p++)
    if (!add_digit(&d->mantissa, *p)) *fault = UNITS_TOO_LARGE;
  return p;
}

/* Zeros are held back until another digit follows, so that 1.500000000000000000000s is fine. */
static const char *fraction_part(const char *p, Decimal *d, UnitsFault *fault) {
  guint zeros = 0;
  for (; g_ascii_isdigit(*p); p++) {
    if (*p == '0') {
      zeros++;
      continue;
    }
    for (d->decimals += zeros; zeros; zeros--)
      if (!add_digit(&d->mantissa, '0')) *fault = UNITS_TOO_FINE;
    d->decimals++;
    if (!add_digit(&d->mantissa, *p)) *fault = UNITS_TOO_FINE;
  }
  return p;
}

/* The decimal number that text begins with; *rest is what follows it. */
static UnitsFault decimal_read(const char *text, Decimal *d, const char **rest) {
  UnitsFault fault = UNITS_OK;
  *d = (Decimal){0};
  if (*text == '-' && g_ascii_isdigit(text[1])) return UNITS_NEGATIVE;
  if (!g_ascii_isdigit(*text)) return UNITS_NOT_A_NUMBER;
  const char *p = whole_part(text, d, &fault);
  if (*p == '.') {
    if (!g_ascii_isdigit(p[1])) return UNITS_NOT_A_NUMBER;
    p = fraction_part(p + 1, d, &fault);
  }
  *rest = p;
  return !fault && d->decimals > 19 ? UNITS_TOO_FINE : fault;
}

static uint64_t power_of_ten(guint n) {
  uint64_t p = 1;
  g_assert(n < 20);
  for (; n; n--) p *= 10;
  return p;
}

static UnitsFault unit_find(const Unit *units, const char *name, uint64_t *scale) {
  if (!*name) return UNITS_NO_UNIT;
  for (const Unit *u = units; u->name; u++)
    if (!strcmp(u->name, name)) return *scale = u->scale, UNITS_OK;
  return UNITS_UNKNOWN_UNIT;
}

/* d * scale / per, which must be whole. */
static UnitsFault scaled(Decimal d, uint64_t scale, uint64_t per, int64_t *out) {
  Wide n = (Wide)d.mantissa * scale, by = (Wide)power_of_ten(d.decimals) * per;
  if (n % by) return UNITS_TOO_FINE;
  if (n / by > INT64_MAX) return UNITS_TOO_LARGE;
  *out = (int64_t)(n / by);
  return UNITS_OK;
}

static UnitsFault with_unit(const char *text, const Unit *units, uint64_t per, int64_t *out) {
  Decimal d;
  const char *rest = NULL;
  uint64_t scale = 0;
  UnitsFault fault = decimal_read(text, &d, &rest);
  if (!fault) fault = unit_find(units, rest, &scale);
  if (!fault && d.mantissa == 0) return *out = 0, UNITS_OK;
  return fault ? fault : scaled(d, scale, per, out);
}

UnitsFault units_time_ns(const char *text, int64_t *out) {
  return with_unit(text, time_units, 1000, out);
}
UnitsFault units_time_ps(const char *text, int64_t *out) {
  return with_unit(text, time_units, 1, out);
}
UnitsFault units_size(const char *text, int64_t *out) {
  return with_unit(text, size_units, 1, out);
}

UnitsFault units_seed(const char *text, uint64_t *out) {
  Decimal d = {0};
  UnitsFault fault = UNITS_OK;
  if (*text == '-' && g_ascii_isdigit(text[1])) return UNITS_NEGATIVE;
  if (!g_ascii_isdigit(*text)) return UNITS_NOT_A_NUMBER;
  const char *rest = whole_part(text, &d, &fault);
  if (*rest) return *rest == '.' ? UNITS_TOO_FINE : UNITS_UNKNOWN_UNIT;
  if (!fault) *out = d.mantissa;
  return fault;
}

UnitsFault units_integer(const char *text, int64_t *out) {
  uint64_t n = 0;
  UnitsFault fault = units_seed(text, &n);
  if (!fault && n > INT64_MAX) fault = UNITS_TOO_LARGE;
  if (!fault) *out = (int64_t)n;
  return fault;
}

UnitsFault units_number(const char *text, double *out) {
  Decimal d;
  const char *rest = NULL;
  UnitsFault fault = decimal_read(text + (*text == '-'), &d, &rest);
  if (fault == UNITS_NEGATIVE) fault = UNITS_NOT_A_NUMBER; /* two signs */
  if (!fault && *rest) fault = UNITS_UNKNOWN_UNIT;
  if (!fault) *out = g_ascii_strtod(text, NULL);
  return fault;
}

/* per * 10^decimals / mantissa, rounded half up: the time that one of `mantissa` in `per` takes. */
static UnitsFault inverse(Decimal d, Wide per, int64_t *out) {
  if (d.mantissa == 0) return UNITS_TOO_LARGE;
  Wide gap = (per * power_of_ten(d.decimals) * 2 / d.mantissa + 1) / 2;
  if (gap > INT64_MAX) return UNITS_TOO_LARGE;
  *out = (int64_t)gap;
  return UNITS_OK;
}

UnitsFault units_gap_ns(const char *text, int64_t *out) {
  Decimal d;
  const char *rest = NULL;
  uint64_t ns = 0;
  UnitsFault fault = decimal_read(text, &d, &rest);
  if (!fault) fault = unit_find(rate_units, rest, &ns);
  return fault ? fault : inverse(d, ns, out);
}

UnitsFault units_per_byte_ps(const char *text, int64_t *out) {
  if (!g_str_has_suffix(text, "B/s")) return units_time_ps(text, out);
  Decimal d;
  const char *rest = NULL;
  uint64_t scale = 0;
  g_autofree char *size = g_strndup(text, strlen(text) - 2);
  UnitsFault fault = decimal_read(size, &d, &rest);
  if (!fault) fault = unit_find(size_units, rest, &scale);
  if (fault) return fault;
  if (__builtin_mul_overflow(d.mantissa, scale, &d.mantissa)) return UNITS_TOO_LARGE;
  return inverse(d, 1000000000000, out);
}

const char *units_fault(UnitsFault fault) {
  static const char *const text[] = {[UNITS_OK] = "is right",
                                     [UNITS_NOT_A_NUMBER] = "is not a number",
                                     [UNITS_NEGATIVE] = "is negative",
                                     [UNITS_NO_UNIT] = "has no unit",
                                     [UNITS_UNKNOWN_UNIT] = "has something behind the number that is no unit of it",
                                     [UNITS_TOO_LARGE] = "is out of range",
                                     [UNITS_TOO_FINE] = "is finer than can be told apart"};
  g_assert(fault < G_N_ELEMENTS(text));
  return text[fault];
}
