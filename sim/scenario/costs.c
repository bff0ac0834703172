/* costs.c - what things cost in a scenario, and who says so. */
#include "sim/scenario/scenario_impl.h"
#include "sim/scenario/units.h"
#include <string.h>

static const Node *own_cost(const Scenario *s, CostId id) {
  g_autofree char *path = g_strconcat("costs.", cost_info[id].key, NULL);
  return node_at(s->root, path);
}

static const Node *profile_cost(const Scenario *s, CostId id) {
  return s->profile ? node_at(s->profile, cost_info[id].key) : NULL;
}

void scenario_costs(const Scenario *s, Costs *out) {
  *out = (Costs){0};
  for (CostId id = 0; id < COST_COUNT; id++) {
    const Node *own = own_cost(s, id), *entry = profile_cost(s, id), *value = own ? own : node_child(entry, "value");
    UnitsFault fault = value ? units_per_byte_ps(value->text, &out->ps[id]) : UNITS_OK;
    g_assert(!fault); /* validated */
  }
}

static const char *text_of(const Node *entry, const char *key) {
  const Node *n = node_child(entry, key);
  return n ? n->text : "";
}

CostSource scenario_cost_source(const Scenario *s, CostId id) {
  const Node *entry = profile_cost(s, id);
  g_assert(id < COST_COUNT);
  if (own_cost(s, id)) return (CostSource){"scenario", "", ""};
  if (!entry) return (CostSource){"unset", "", ""};
  return (CostSource){text_of(entry, "from"), text_of(entry, "by"), text_of(entry, "residual")};
}
