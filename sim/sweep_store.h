/* sweep_store.h - a sweep's folder: what was asked for, and each finished point, so that a killed sweep goes on.
 *
 *   DIR/manifest.json      what was asked for; the same file for the same sweep
 *   DIR/points/NNNN.json   a finished point, as `stampede run --json` tells it (README, points); there whole or not at
 * all Errors: SCENARIO_ERROR (exit 2) when DIR holds something else, TRACE_ERROR_WRITE or a file's error (exit 4). */
#pragma once
#include "sim/sweep.h"

/* The manifest's text: version, scenario, job, hashes of every text it stands on, overrides, lists, variants, seeds. */
char *sweep_manifest(const SweepPlan *p);
void sweep_manifest_hash(const SweepPlan *p, char hash[33]); /* in hexadecimal */
/* In words, the first thing in which two manifests differ ("variants: [..] there, [..] now"); NULL: none. */
char *sweep_manifest_difference(const char *there, const char *now);

/* Makes DIR and its parents where they are not. Without `resume` DIR must not hold a sweep; with it, the same one. */
bool sweep_store_open(const char *dir, const SweepPlan *p, bool resume, GError **error);
char *sweep_store_path(const char *dir, guint point); /* of a point's file */
/* The file says which point of which sweep it is, so that a copy under another name is not taken for it. */
bool sweep_store_keep(const char *dir, const SweepPlan *p, guint point, RunResult *r, GError **error);
/* NULL without *error: not finished, or not readable as a point; then it is run again. *error: another point's file. */
RunResult *sweep_store_load(const char *dir, const SweepPlan *p, guint point, const CheckTable *checks, GError **error);
/* What a point's file says it is: its name, and the hash of the manifest. g_free. */
char *sweep_store_key(const SweepPlan *p, guint point);
