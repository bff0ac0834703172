/* need.h - what so many backends need of this machine, computed before anything is started. */
#pragma once
#include "sim/calibrate/calibrate.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  int64_t memory_kib, descriptors, processes;
} Need;

/* For `clients` backends at once and max_connections slots. */
Need need_of(int clients, int max_connections);
/* What there is, from /proc, the limits and the control group; INT64_MAX where nothing limits. Raises this process's
 * own limit of descriptors as far as it may. */
Need need_available(int64_t descriptors_wanted);
/* False: CALIBRATE_ERROR, which names the first that does not suffice, what is needed and what there is. */
bool need_met(const Need *need, const Need *available, GError **error);
