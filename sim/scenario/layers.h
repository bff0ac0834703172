/* layers.h - documents laid over one another. Private to sim/scenario. */
#pragma once
#include "sim/scenario/node.h"

/* Puts over's content over base: maps are joined, all else replaces. over is left as it is. */
void layers_merge(Node *base, const Node *over);

/* Keys that the table calls another spelling take the name they stand for. path: of n in the table. False and *error
 * when both stand in one map. */
bool layers_rename(Node *n, const char *path, GError **error);

/* A copy of value under key (as in layers_set) in base. False: base has no such entry, or it is no key. */
bool layers_put(Node *base, const char *key, const Node *value);

/* "KEY=VALUE" into base: KEY dotted, with [N] or [name] for an entry that base has; VALUE is YAML. The marks of what it
 * brings name it ("--set KEY=VALUE"). */
gboolean layers_set(Node *base, const char *key_is_value, GError **error);
