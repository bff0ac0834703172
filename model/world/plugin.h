/* plugin.h - a model of one's own: a C file that exports one ModelPlugin named stampede_model, built as a shared object
 * (cc -shared -fPIC), and named in a scenario (model: ./mine.so). TUTORIAL.md writes one.
 *
 * The machines are those of world.h. All that can influence the future must be in the arena (locals of processes,
 * memory from arena_alloc, objects), or an explorer cannot take a state up again. What `build` returns is handed to the
 * other functions; it may be a pointer into the arena, or anything that does not change after `build`. */
#pragma once
#include "model/world/world.h"

enum { MODEL_PLUGIN_VERSION = 2 };

typedef struct {
  const char *name, *about; /* "xid-is-visible"; one sentence */
  /* Looks at the state between two steps. True: broken; says in `why` the broken condition, with both sides. */
  bool (*broken)(const World *w, const void *model, GString *why);
} PluginCheck;

/* What must come to an end: each of its subjects (a waiter, a request) is pending or not, and none may be so for ever,
 * as long as whoever can go on does at last (checks/README.md: fairness). */
typedef struct {
  const char *name, *about; /* "reader-gets-in"; one sentence */
  guint subjects;
  /* What it waits for is put into `why`, unless that is NULL. */
  bool (*pending)(const World *w, const void *model, guint subject, GString *why);
} PluginLiveness;
enum { PLUGIN_CHECKS_MAX = 8 }; /* of both kinds together */

typedef struct {
  guint version; /* MODEL_PLUGIN_VERSION */
  const char *name, *about;
  size_t arena_bytes;                              /* at most; 0: 1 MiB */
  void *(*build)(World *w);                        /* types, objects, processes */
  bool (*done)(const World *w, const void *model); /* an end that is no deadlock; NULL: every process has ended */
  /* The state as named variables, for traces and pictures; NULL: where each process is. */
  void (*describe)(const World *w, const void *model, void (*each)(const char *name, const char *value, void *data),
                   void *data);
  void (*free)(void *model); /* NULL: nothing to free */
  const PluginCheck *checks; /* all of them are judged, whatever the scenario names */
  guint n_checks;
  /* What check i looks at (explore.h), so that an explorer may leave out orders that it cannot tell apart; NULL:
   * anything, and then none are left out. */
  void (*reads)(const World *w, const void *model, guint i, Footprint *f);
  const PluginLiveness *liveness; /* likewise */
  guint n_liveness;
} ModelPlugin;

#define MODEL_PLUGIN_SYMBOL "stampede_model"
