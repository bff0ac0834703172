/* machine.h - what things cost on this machine, measured and written as a profile. */
#pragma once
#include "model/world/costs.h"
#include "sim/calibrate/calibrate.h"
#include "sim/calibrate/samples.h"
#include "sim/scenario/scenario.h"
#include "traces/output.h"

typedef struct {
  CostId cost;       /* COST_COUNT: of use to the reader only */
  const char *name;  /* the cost's key, or a word of its own */
  const char *what;  /* how it was measured, in words */
  SampleStats stats; /* ns a unit; n = 0: it could not be measured */
} Measured;

typedef struct {
  char *kernel, *cpu;
  int cores;
  int64_t fault_around; /* pages */
  GArray *all;          /* of Measured */
  const char *late;     /* the first that there was no time for; NULL: none */
} Machine;

/* What is begun after so long stays unmeasured: an idle machine is done in seconds, a busy one waits for one
 * measurement more at most. */
enum { MACHINE_SECONDS = 50 };
/* progress: before each, with its name; may be NULL. False: *interrupted. */
bool machine_measure(Machine *m, double seconds, const gint *interrupted,
                     void (*progress)(void *data, const char *name, guint done, guint of), void *data);
void machine_clear(Machine *m);
/* NULL: all that a profile holds is worth writing down. Else the first that is not, and why; caller frees. */
char *machine_worthless(const Machine *m);

void machine_text(const Machine *m, GString *out);
void machine_json(const Machine *m, const char *profile, const char *refused, Output *o); /* both may be NULL */
/* The rest is `start`'s, a scenario with the profile to start from. */
void machine_profile(const Machine *m, const Scenario *start, const char *name, const char *command, GString *out);
