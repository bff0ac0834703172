/* space.h - the whole state graph of a small model, for a picture: every state with its variables, every step with who
 * makes it. Breadth-first and unreduced, without any of search.h's economies: it is for some hundred states. */
#pragma once
#include "checks/stepper.h"

typedef struct {
  char *name, *value;
} SpaceVariable;

typedef struct {
  GPtrArray *variables; /* of SpaceVariable, as the model describes itself */
  bool deadlock, end;   /* nothing moves: not all is done; all is done */
  char *broken;         /* "CHECK: broken condition" of the first check that is broken here; NULL */
} SpaceState;

typedef struct {
  guint from, to;
  char *words; /* "server[6] reply", with the answers to its choices */
  bool broken; /* the step itself breaks a check (a cancel that hits another's query) */
} SpaceStep;

typedef struct {
  GPtrArray *states; /* of SpaceState; 0 is the initial one */
  GArray *steps;     /* of SpaceStep, by `from`, then as the explorer tries them */
  bool more;         /* there are more states than were asked for: the rest is missing */
} Space;

/* NULL and *error when the model cannot be built. */
Space *space_explore(const StepperConfig *config, const Check *const *checks, guint n_checks, guint most,
                     GError **error);
void space_free(Space *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Space, space_free)
