/* real.h - the same storm on a real server. */
#pragma once
#include "sim/calibrate/storm_series.h"
#include "sim/calibrate/throwaway.h"

typedef struct {
  const char *socket;
  guint alone, between;     /* short connections before the first iteration, between two */
  const StormSeries *order; /* who leaves when: the simulated storm's draws */
  const gint *interrupted;
  void (*progress)(void *data, guint iteration, guint connected); /* may be NULL */
  void (*full)(void *data);                                       /* all are connected for the last time; may be NULL */
  void *data;
} RealStorm;

/* Connects one after the other, each as soon as the one before has come to rest; leaves one after the other, each when
 * the one before has given its slot back. CALIBRATE_ERROR. */
StormSeries *storm_measure(const RealStorm *plan, GError **error);
