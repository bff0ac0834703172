/* own_checks.h - checks that come with a model and are known only when it is built: those of a user's model
 * (plugged.h), those of a subject's code. All of them are judged, whatever the scenario names. */
#pragma once
#include "sim/check.h"

enum { OWN_CHECKS_MAX = 8 };

/* What is asked of check i, counted from 0 in the order of own_checks_put. */
typedef struct {
  Judgement (*judge)(const Model *m, guint i, GString *why);
  guint (*subjects)(const Model *m, guint i); /* of a check of liveness; NULL where there is none */
  bool (*pending)(const Model *m, guint i, guint subject, GString *why);
  void (*reads)(const Model *m, guint i, Footprint *f); /* NULL: a check may look at anything */
} OwnChecksOps;

void own_checks_open(Model *m, const OwnChecksOps *ops); /* once a model; closed with it by own_checks_close */
/* name and about outlive the results of all runs. At most OWN_CHECKS_MAX. */
void own_checks_put(Model *m, const char *name, const char *about, bool liveness);
void own_checks_close(Model *m);
CheckTable own_checks(const Model *m); /* none: an empty one. Lives as long as the model */
/* Keeps them beyond the model's life, until g_atomic_rc_box_release; NULL: there are none. */
gpointer own_checks_keep(const Model *m);
