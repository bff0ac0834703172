/* reduce_verifier.h - what the files of reduce_verify.h share. Private to checks/reduce_verify*.c.
 *
 * A party is who may make a step: a process, or the network of a channel. All functions leave the state that stands in
 * the stepper as they found it, unless they say otherwise. */
#pragma once
#include "checks/reduce_verify.h"

typedef struct {
  MoveKind kind; /* MOVE_RESUME: a process; MOVE_DELIVER: a channel */
  uint32_t id;
  bool enabled;
  Footprint next, future;
} Party;

/* A branch of the state looked at, and where it leads. */
typedef struct {
  Branch branch;
  guint party;
  uint64_t marks;
  Hash128 to, form; /* form: of the state it leads to */
} Way;

typedef struct {
  const SearchOptions *o;
  guint which;
  Verified *v;
  uint64_t max_states;
  Stepper *s;
  World *w;
  Arena *arena;
  void (*canon)(Model *m, void *data);
  void *reducer;
  const Reduction *reduction;
  GHashTable *numbers; /* Hash128* -> number of the state */
  GArray *edges;       /* of Edge: steps that do not loop */
  GArray *stack;       /* of Frame */
} Verifier;

/* ---- reduce_verify.c: the walk through all states ---- */
void verifier_broken(Verifier *k, const char *format, ...) G_GNUC_PRINTF(2, 3); /* the first one is kept */
uint64_t verifier_verdicts(Verifier *k);                                        /* by check, as bits: broken */
Hash128 verifier_form(Verifier *k);                                             /* puts the form in the state's place */
GArray *verifier_ways(Verifier *k); /* of Way: all branches of the state, their parties left out */

/* ---- reduce_verify_parties.c ---- */
MoveKind party_kind(MoveKind kind);
char *party_words(const Verifier *k, const Party *p);        /* g_free */
GArray *verifier_parties(Verifier *k);                       /* of Party */
guint party_of(GArray *parties, MoveKind kind, uint32_t id); /* its place; the length: it is none of them */
static inline Party *party_at(GArray *parties, guint i) {
  return &g_array_index(parties, Party, i);
}

/* ---- reduce_verify_steps.c: partial order. ways: of the state, their parties are filled in by verify_steps ---- */
void verify_owners(Verifier *k, GArray *parties);
void verify_steps(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways);
void verify_pairs(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways);

/* ---- reduce_verify_forms.c: symmetry ---- */
void verify_form(Verifier *k, const ArenaSnapshot *here, GArray *ways);
