/* units.h - numbers as scenario files write them: decimal, exact, with a unit where one is needed. Nothing goes through
 * a double but units_number (bounds of metrics), and nothing depends on the locale.
 *
 *   time   2.05us        ns us ms s min h d
 *   size   64KiB         B KiB MiB GiB (powers of 1024), KB MB GB (powers of 1000)
 *   rate   500/s         /s /ms /min, or at bandwidths a size a second: 12GB/s
 *
 * No sign, no exponent, no blank between number and unit. A fraction must come out whole in the unit asked for. */
#pragma once
#include <stdint.h>

typedef enum {
  UNITS_OK,
  UNITS_NOT_A_NUMBER,
  UNITS_NEGATIVE,
  UNITS_NO_UNIT,      /* a bare number where a unit is needed */
  UNITS_UNKNOWN_UNIT, /* or a unit where none belongs */
  UNITS_TOO_LARGE,
  UNITS_TOO_FINE /* 0.5 of what cannot be divided */
} UnitsFault;

/* *out is written only when the result is UNITS_OK. */
UnitsFault units_integer(const char *text, int64_t *out);
UnitsFault units_seed(const char *text, uint64_t *out);
UnitsFault units_number(const char *text, double *out); /* a sign is allowed */
UnitsFault units_time_ns(const char *text, int64_t *out);
UnitsFault units_time_ps(const char *text, int64_t *out);
UnitsFault units_size(const char *text, int64_t *out);        /* bytes */
UnitsFault units_gap_ns(const char *text, int64_t *out);      /* of a rate: mean time between two, rounded half up */
UnitsFault units_per_byte_ps(const char *text, int64_t *out); /* a time, or a bandwidth (rounded half up) */

/* "is a bare number", "is negative", ... */
const char *units_fault(UnitsFault fault);
