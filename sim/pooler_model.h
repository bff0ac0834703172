/* pooler_model.h - a scenario with clients, servers or a pooler as a Model. */
#pragma once
#include "sim/model.h"

/* As model_build. */
Model *pooler_model_build(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                          GError **error);
