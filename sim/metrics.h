/* metrics.h - the names a result's metrics may have, with unit and meaning: for the reader of scenario files
 * (expect.metric), for `stampede list metrics`, for the man page. */
#pragma once
#include <glib.h>

typedef struct {
  const char *pattern; /* "iteration[].connect_ms": [] stands for an index */
  const char *unit, *about;
} MetricInfo;
extern const MetricInfo metric_info[];
extern const guint metric_info_len;

/* More of it is better: what is done, and how evenly. Of times, faults, waits and whatever else things cost, less is.
 */
gboolean metric_higher_is_better(const char *name);
const char *const *metric_patterns(void); /* all of them, NULL-terminated; first. and warm. included */
