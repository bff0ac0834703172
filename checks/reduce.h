/* reduce.h - fewer states for the same verdicts: partial-order reduction and symmetry, as hooks of a stepper. Proofs:
 * checks/README.md. */
#pragma once
#include "checks/search.h"

enum { REDUCE_POR = 1, REDUCE_SYMMETRY = 2, REDUCE_ALL = REDUCE_POR | REDUCE_SYMMETRY };

typedef struct {
  const Check *const *checks; /* that will be judged: what they read must be seen to change */
  guint n_checks;
} Reduction;

/* Of `wanted`, what is sound for this search and has anything to work on in this model. What is not goes, with the
 * reason in *why (may be NULL) as one sentence, to be refused with where it was asked for; NULL where nothing went. */
guint reduce_sound(guint wanted, const Model *m, const SearchOptions *o, const char **why);
/* Puts the hooks for `which` in; `r` must outlive the config. */
void reduce_hooks(StepperConfig *c, guint which, const Reduction *r);
const char *reduce_word(guint which, guint i); /* the i-th name of those in `which`; NULL: no more */

/* checks/reduce_por.c: leaves, where it can, the moves of a persistent set (StepperConfig.reduce; data: Reduction). */
void reduce_por(Model *m, GArray *moves, void *data);
void reduce_reads(const Model *m, const Reduction *r, Footprint *f); /* what the checks look at */
bool reduce_hides(const Footprint *step, const Footprint *reads);    /* no check sees it, and it closes no cycle */
/* The model's own form of a state (StepperConfig.canon). */
void reduce_symmetry(Model *m, void *data);

/* A path of the reduced search as one of the plain model, with the same length and the same marks: ids are those that
 * its processes really have. False and *error: the model cannot be built, or (REDUCE_ERROR) a step has no counterpart
 * there, since a form is wrong. */
#define REDUCE_ERROR (g_quark_from_static_string("reduce-error"))
bool reduce_lift(const SearchOptions *o, SearchResult *r, GError **error);
