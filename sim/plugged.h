/* plugged.h - a user's model (model/world/plugin.h) as a Model. */
#pragma once
#include "sim/check.h"

/* By path (what holds a slash; relative to `beside`, the scenario's file), or by name: models/NAME.so beside the
 * program. Stays loaded. NULL and *error when there is none or it is no model. */
const ModelPlugin *plugged_load(const char *name, const char *beside, GError **error);
/* Takes no ownership of the plugin. `driver` as in model_build. Never NULL. */
Model *plugged_build(const ModelPlugin *plugin, const Costs *costs, void (*driver)(World *w, void *data), void *data);
