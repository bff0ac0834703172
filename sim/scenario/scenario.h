/* scenario.h - a scenario file with everything under it: the table's defaults, the presets and profile that it names,
 * and what the command line puts over it.
 *
 * Layers, later ones win: defaults < version preset (postgres.version: 19 is presets/postgres-19.yaml) < variant
 * presets (postgres.variant: X is presets/variant-X.yaml) < the pooler's preset (presets/X.yaml) < the scenario <
 * variants named by --set < --set KEY=VALUE. Maps are joined key by key; lists, values and policies (maps that hold one
 * of several words) replace what was there. Paths are dotted, list entries indexed: "expect[0].within[1]". Where a list
 * may stand, a single value is a list of one. A getter asserts that the table knows the path and that the value is of
 * the type asked for: for a key that takes `none` or a number, ask scenario_is first. Errors say "file:line:column:
 * key: what; what would be right". */
#pragma once
#include "model/memory/memory.h"
#include "model/pooler/config.h"
#include "model/postgres/config.h"
#include "model/world/costs.h"
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SCENARIO_ERROR (scenario_error_quark())
/* Every one ends the program with exit status 2. CONTRADICTION: each word is right, and together they make no sense. */
typedef enum { SCENARIO_ERROR_INPUT, SCENARIO_ERROR_CONTRADICTION } ScenarioError;
GQuark scenario_error_quark(void);
/* Sets *error (INPUT). False. */
bool scenario_wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

typedef struct Scenario Scenario;

/* A preset ("preset") or profile ("profile") that a scenario stands on. A trace keeps these, and replays without the
 * files. */
typedef struct {
  char *kind, *name, *text;
  char hash[33]; /* XXH3, 128 bits, of text, in hexadecimal */
} ScenarioSource;

ScenarioSource *scenario_source_copy(const ScenarioSource *s);
void scenario_source_free(gpointer source);
char *scenario_source_hash(const char *text); /* as in `hash`; g_free */

typedef struct {
  const char *const *sets;    /* "KEY=VALUE", in order; NULL: none */
  const char *seed;           /* --seed; NULL: as the scenario says */
  const char *const *dirs;    /* where to look (assets.h: asset_dirs) */
  const GPtrArray *embedded;  /* of ScenarioSource: look here and in no file; NULL: in dirs */
  const char *const *checks;  /* names that `checks` and `expect` may use; NULL: any */
  const char *const *metrics; /* likewise, with [] for an index: "iteration[].connect_ms"; NULL: any */
} ScenarioOptions;

/* By name (dirs/scenarios/NAME.yaml) or by path. NULL and *error when it is not right in every part. */
Scenario *scenario_load(const char *name_or_path, const ScenarioOptions *opt, GError **error);
/* What scenario_load would read: false and *error when there is no such file. The caller's own: *file, *text. */
bool scenario_find(const char *name_or_path, const ScenarioOptions *opt, char **file, char **text, gsize *length,
                   GError **error);
Scenario *scenario_from_text(const char *text, gsize length, const char *file, const ScenarioOptions *opt,
                             GError **error);
void scenario_free(Scenario *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)

const char *scenario_name(const Scenario *s);
const char *scenario_text(const Scenario *s);             /* of the file, as it was read */
const char *scenario_file(const Scenario *s);             /* as it was named */
const char *const *scenario_overrides(const Scenario *s); /* "KEY=VALUE", seed included; a trace's header keeps them */
const GPtrArray *scenario_sources(const Scenario *s);     /* of ScenarioSource, in the order of the layers */

/* KEY="PATH", as an override; a relative path from the folder `base`, or from the working directory (NULL). g_free. */
char *scenario_path_override(const char *key, const char *path, const char *base);

bool scenario_given(const Scenario *s, const char *key); /* somewhere in the layers, not only as a default */
bool scenario_is(const Scenario *s, const char *key, const char *word); /* the value, or the name of the policy */
guint scenario_count(const Scenario *s, const char *key); /* entries of a list; 0 where nothing is given */
const char *scenario_word(const Scenario *s,
                          const char *key); /* the value, or the name of the policy; NULL: none given */
int64_t scenario_int(const Scenario *s, const char *key);
uint64_t scenario_seed(const Scenario *s);
bool scenario_bool(const Scenario *s, const char *key);
double scenario_number(const Scenario *s, const char *key); /* bounds of metrics */
int64_t scenario_ns(const Scenario *s, const char *key);
int64_t scenario_bytes(const Scenario *s, const char *key);
int64_t scenario_gap_ns(const Scenario *s, const char *key); /* of a rate: mean time between two */

typedef enum { DRAW_FIXED, DRAW_EXP, DRAW_UNIFORM } DrawKind;
typedef struct {
  DrawKind kind;
  int64_t low, high;
} Draw; /* ns; FIXED: low = high; EXP: the mean in both */
Draw scenario_draw(const Scenario *s, const char *key);

char *scenario_mark(const Scenario *s, const char *key); /* "file:line:column" of it, or of the nearest map around it */
GError *scenario_complain(const Scenario *s, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* ---- costs: the profile's, then the scenario's own (costs: {lock: {handover: 5us}}); 0 where neither names one ----
 */
typedef struct {
  const char *from, *by, *residual;
} CostSource; /* from: measured, fitted, assumed, scenario, unset */
void scenario_costs(const Scenario *s, Costs *out);
CostSource scenario_cost_source(const Scenario *s, CostId id); /* strings live as long as the scenario */

/* ---- what models take ---- */
bool scenario_bind_postgres(const Scenario *s, PgConfig *out, GError **error); /* out->variant lives as long as s */
void scenario_bind_memory(const Scenario *s, const Costs *costs, MemoryConfig *out);

/* Does it have clients, servers or a pooler? Then it is about those, and has no workload. */
bool scenario_has_pooler(const Scenario *s);
/* What it says of them, scripts and events compiled. costs: for the login of a server that does not say how long it
 * takes; NULL: nothing. The result owns its tables, and uses names of s: it must not outlive s. */
typedef struct PoolerBinding PoolerBinding;
PoolerBinding *scenario_bind_pooler(const Scenario *s, const Costs *costs, GError **error);
const PoolerConfig *pooler_binding_config(const PoolerBinding *b);
void pooler_binding_free(PoolerBinding *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PoolerBinding, pooler_binding_free)

/* ---- the language itself, from the same table that the reader uses ---- */
char *scenario_man_page(void);           /* stampede-scenario(5), in troff */
char *scenario_explain(const char *key); /* a few lines for `stampede list KEY`; NULL: no such key */
