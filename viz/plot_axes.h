/* plot_axes.h - the arithmetic of a plot: ranges, ticks and places of labels. For plot.c and its test. */
#pragma once
#include <glib.h>

typedef struct {
  double low, high; /* 0 < low < high */
} LogRange;

/* 0 at low, 1 at high. */
double log_range_place(const LogRange *r, double v);

/* Widens r (all zero: empty) so that it holds v. */
void log_range_hold(LogRange *r, double v);
/* Room on both sides, and never a single point. */
void log_range_pad(LogRange *r, double factor);

/* Ticks in r, ascending: 1, 2, 5 of each decade; the powers of ten alone when it spans more than three decades. */
GArray *log_range_ticks(const LogRange *r); /* of double; the caller frees */

/* Moves `n` places on a line apart until neighbours are `step` or more apart, within 0..1 where they fit, each as
 * little as need be; equal places keep their order. */
void places_spread(double *places, guint n, double step);
