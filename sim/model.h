/* model.h - a scenario's model, built and ready to be driven: a world with its processes, and what the ways of running
 * it need to know beside that. */
#pragma once
#include "model/pooler/pooler.h"
#include "model/world/plugin.h"
#include "sim/scenario/scenario.h"

typedef struct PgServer PgServer;
typedef struct Model Model;

/* What a kind of model says of itself. */
typedef struct {
  bool (*done)(const Model *m);     /* all that the scenario asks for has been done */
  uint64_t (*size)(const Model *m); /* entries that a judgement of it reads */
  /* The state as named variables ("free list: 3 1 2"), for pictures; nothing when it is too large for one. */
  void (*describe)(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data);
  void (*free)(Model *m);          /* its own part, before the world */
  void (*measure)(const Model *m); /* writes what is only known at the end to the ledger; NULL: nothing */
  /* Rewrites the state to the one that stands for all that differ from it in nothing but names (which of several equal
   * clients, which slot, which number in use). NULL: the model has no such names. */
  void (*canon)(Model *m);
} ModelOps;

struct Model {
  World *world;
  const ModelOps *ops;
  char *subject;    /* "model:dense-arrays" */
  PgServer *server; /* NULL: the model has none */
  Pooler *pooler;   /* likewise; with what it is bound to */
  PoolerBinding *bound;
  struct Image *image; /* real code in place of the built-in model; NULL: none */
  struct PgSubject *code;
  struct Plain *plain;     /* processes that call its entries (sim/subject/plain.h); NULL: none */
  struct Plugged *plugged; /* a user's model (sim/plugged.h); NULL: none */
  struct OwnChecks *own;   /* checks that came with it (sim/own_checks.h); NULL: none */
};

/* `driver` is called with the new world before the first process is spawned in it, so that spawns reach a driver.
 * NULL and *error (file:line:column: key: ...) when the scenario asks for something impossible. */
Model *model_build(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                   GError **error);
/* The same, with all of its state in the arena: one that is saved and restored. */
Model *model_build_saved(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                         GError **error);
bool model_trapped(const Model *m);      /* the fault is that it calls what nothing models */
const char *model_fault(const Model *m); /* what its real code did that ends the run; NULL: nothing */
/* Identity of the state: the world's, and that of its real code (sim/subject/subject.h). */
Hash128 model_hash(const Model *m);
/* The real code that it runs; NULL: none, or it was never started. */
struct Subject *model_subject(const Model *m);
void model_free(Model *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Model, model_free)

/* Who is where, and what it waits for ("at ProcArrayAdd", "waits for ProcArrayLock"): the first few processes. */
void model_describe_processes(const World *w, void (*each)(const char *name, const char *value, void *data),
                              void *data);
/* Of processes that run real code: its variables, and a server's arrays; without the processes. */
void model_describe_code(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data);
/* "deadlock: nothing can go on; client[3] waits for mail at reads": the first who waits, for a lock if one does. */
char *model_deadlock_words(const World *w);
