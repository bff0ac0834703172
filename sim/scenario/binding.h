/* binding.h - what binding a pooler scenario shares among its files: names with their copies, the memory of the result,
 * and paths. Private to sim/scenario.
 *
 * An entry of servers or pools with a count stands for copies NAME.1, NAME.2, ...; NAME alone then means all of them.
 */
#pragma once
#include "sim/scenario/scenario_impl.h"

typedef struct {
  char *name;
  int entry;  /* of the list in the file; NONE: made up by a default */
  int server; /* of a pool so made up: its first server */
} Named;

struct PoolerBinding {
  PoolerConfig config;
  GPtrArray *blocks, *roots; /* what config points to: memory, and nodes whose texts it uses */
  GArray *servers, *pools;   /* of Named */
};

/* n elements of `size` bytes, zeroed, that live as long as b; NULL where n is 0. */
void *binding_new(PoolerBinding *b, gsize n, gsize size);
/* The elements of array, which is freed; one more than it holds, zeroed. */
void *binding_keep(PoolerBinding *b, GArray *array_taken);
char *binding_text(PoolerBinding *b, const char *text);

/* Entries of list (or, where the file gives none, of `dflt` alone) with their copies. */
GArray *named_new(const Scenario *s, const char *list, const char *dflt);
/* The first of that name, and in *n how many: copies stand together. NONE: there is none. */
int named_find(const GArray *named, const char *name, int *n);
/* "no server db; the nearest is db1": of the domain's error, at key. */
GError *named_unknown(const Scenario *s, const char *key, const char *kind, const char *name, const GArray *named);

Delay bind_delay(const Scenario *s, const char *key);
int64_t bind_limit(const Scenario *s, const char *key);   /* NO_LIMIT for `none` */
LoginAuth bind_login(const Scenario *s, const char *key); /* a word of pg_hba.conf */
int bind_count(const Scenario *s, const char *key, int none);
/* The fences of poolers.md C.4 as of a pooler or of a driver. */
bool bind_fence(const Scenario *s, const char *key, Fence *fence, int64_t *ns, GenerationStep *step, GError **error);

/* Each fills its part of b->config; servers and pools first. */
bool bind_servers(PoolerBinding *b, const Scenario *s, const Costs *costs, GError **error);
bool bind_links(PoolerBinding *b, const Scenario *s, GError **error);
bool bind_pools(PoolerBinding *b, const Scenario *s, GError **error);
bool bind_clients(PoolerBinding *b, const Scenario *s, GError **error);
bool bind_events(PoolerBinding *b, const Scenario *s, GError **error);
/* Tags, clients and pools that `expect` names. */
bool bind_expectations(const PoolerBinding *b, const Scenario *s, GError **error);

/* Policies that contradict each other are told at key. */
bool bind_valid(const PoolerConfig *c, const Scenario *s, const char *key, GError **error);

/* text as a path; *state: the word behind it, where `with_state`. */
bool bind_path(const PoolerBinding *b, const Scenario *s, const char *key, const char *text, bool with_state,
               Path *path, PathState *state, GError **error);
bool bind_script(PoolerBinding *b, const Scenario *s, const char *key, GArray *locks, GArray *moments, Script **out,
                 GError **error);
