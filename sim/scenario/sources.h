/* sources.h - presets and profiles by name: from the files that come with the program, or from a trace that kept them.
 * Private to sim/scenario. */
#pragma once
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/validate.h"

/* The document `name` (of kind DOCUMENT_PRESET or _PROFILE), read, validated and appended to `used`. NULL and *error,
 * which names `at` and `key` (who asked for it) when there is no such document, or the document's own line. */
Node *source_open(const ScenarioOptions *opt, DocumentKind kind, const char *name, GPtrArray *used, const Mark *at,
                  const char *key, GError **error);
