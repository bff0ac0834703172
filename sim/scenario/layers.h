/* layers.h - documents laid over one another. Private to sim/scenario. */
#pragma once
#include "sim/scenario/node.h"

/* Puts over's content over base: maps are joined, all else replaces. over is left as it is. */
void layers_merge(Node *base, const Node *over);

/* "KEY=VALUE" into base: KEY dotted, with [N] for an entry that base has; VALUE is YAML. The marks of what it brings
 * name it ("--set KEY=VALUE"). */
gboolean layers_set(Node *base, const char *key_is_value, GError **error);
