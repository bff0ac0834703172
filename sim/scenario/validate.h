/* validate.h - does a document say only what the table knows, and each of it right? Private to sim/scenario. */
#pragma once
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"

typedef enum { DOCUMENT_SCENARIO, DOCUMENT_PRESET, DOCUMENT_PROFILE } DocumentKind;

/* The first thing wrong, in the order of the document; names of checks and metrics are looked up in opt. */
bool validate_document(const Node *root, DocumentKind kind, const ScenarioOptions *opt, GError **error);
