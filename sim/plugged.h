/* plugged.h - a user's model (model/world/plugin.h) as a Model. */
#pragma once
#include "sim/check.h"

/* By path (what holds a slash; relative to `beside`, the scenario's file), or by name: models/NAME.so beside the
 * program. Stays loaded. NULL and *error when there is none or it is no model. */
const ModelPlugin *plugged_load(const char *name, const char *beside, GError **error);
/* Takes no ownership of the plugin. `driver` as in model_build. Never NULL. */
Model *plugged_build(const ModelPlugin *plugin, const Costs *costs, void (*driver)(World *w, void *data), void *data);
/* The model's own checks; none when it is no plugged one. Lives as long as the model. */
CheckTable plugged_checks(const Model *m);
/* Keeps them beyond the model's life, until g_atomic_rc_box_release; NULL: there are none. */
gpointer plugged_checks_keep(const Model *m);
