/* confront.h - a real server's storm beside the simulated one, and how it is told.
 *
 * The simulation is of shared memory. The rest of a backend's start-up (its private memory, catalogs, lock tables) is
 * measured, not fitted:
 *  - on backends that are alone on the same server, before the storm: faults and page tables beyond those simulated,
 *    added to every simulated figure;
 *  - on each backend of a storm: pages of private memory that it has written to beyond those of one that is alone
 *    (/proc/PID/smaps), each one fault. To 17 the postmaster keeps its children in memory from malloc, 48 bytes each; a
 *    child inherits what earlier children left free, and its first large request writes to all of it
 *    (malloc_consolidate): N/85 pages after a storm of N. Of this storm; or of another one (beside.h), which needs a
 *    malloc without such lists (throwaway.h) to be the same: so the confirmation suite has it.
 * What is judged are differences, in which the constant cancels, and page tables. */
#pragma once
#include "sim/calibrate/beside.h"
#include "sim/calibrate/server_facts.h"
#include "sim/calibrate/storm_series.h"
#include "traces/output.h"

enum { CONFRONT_PERCENT = 4, CONFRONT_TABLE_PERCENT = 5 }; /* and one fault a backend, whichever is more */

typedef struct {
  char *version, *exit_order, *scenario, *profile; /* version: "15.18 (Debian 15.18-0+deb12u1)" */
  int major, max_connections;
  uint64_t seed;
  ServerFacts facts;
  uint64_t fault_around; /* bytes */
  bool plain_malloc, huge_asked, phase_assumed, fault_around_assumed;
  StormSeries *real, *model;
  StormBackend real_alone, model_alone; /* model_alone.pagetable_kib: of a simulation of one client */
  Beside *beside;                       /* another storm's private pages; NULL: this one's */
  GString *by_function;                 /* what perf said; NULL */
  double wall_ms;
} Confrontation;
void confrontation_clear(Confrontation *c);

typedef struct {
  char *what; /* "iteration[2].faults_mean_minus_first" */
  double real, model, allowed;
  bool agrees;
} Agreement;
GArray *confront_judge(const Confrontation *c); /* of Agreement; caller unrefs */
bool confront_all_agree(const GArray *agreements);

void confront_text(const Confrontation *c, const GArray *agreements, GString *out);
void confront_json(const Confrontation *c, const GArray *agreements, Output *o);
void confront_csv(const Confrontation *c, Output *o); /* a row a backend */

/* ---- for the writers ---- */
int64_t confront_own(const Confrontation *c, guint k, guint i);   /* real: private pages of a backend beyond alone */
int64_t confront_added(const Confrontation *c, guint k, guint i); /* the same as it is added to what is simulated */
typedef struct {
  const char *name;
  double value;
} ConfrontFigure;
enum { CONFRONT_FIGURES = 9 + STORM_TENTHS };
StormFigures confront_figures(const Confrontation *c, guint k, bool real);
/* Those of iteration k under flat names, without "iteration[K]."; how many. Tenths stand at the end. */
guint confront_named(const Confrontation *c, guint k, bool real, ConfrontFigure out[CONFRONT_FIGURES]);
