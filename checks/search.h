/* search.h - looks for a way to break a model's checks: what a search is told, and what came of it.
 *
 * The result is a function of the options and the model alone (but for the time limit, an interrupt, and what is called
 * measured): the number of jobs changes nothing. */
#pragma once
#include "checks/stepper.h"
#include "checks/store.h"

typedef enum { STRATEGY_BFS, STRATEGY_DFS, STRATEGY_RANDOM, STRATEGY_PCT } Strategy;

typedef struct {
  StepperConfig stepper;
  const Check *const *checks; /* to judge; a deadlock is judged beside them */
  guint n_checks;
  guint reduce;      /* checks/reduce.h: what is wanted; a search knows nothing but the hooks of `stepper` */
  bool reduce_asked; /* in so many words, so that what is not sound is refused, not left out */
  Strategy strategy;
  StoreKind store;
  guint jobs;
  guint bits_log2;     /* of bitstate */
  uint64_t max_states; /* 0: no limit, also below */
  guint max_depth;
  double max_seconds;
  gint64 deadline_us; /* of g_get_monotonic_time: when max_seconds are over, where somebody has started that clock; 0 */
  size_t max_bytes;   /* of the store */
  guint deepen;       /* depth-first: again and again with bounds that grow by so much; 0: one bound */
  guint walks;        /* random, pct: how many */
  guint changes;      /* pct: priority change points, one less than the depth of the bug */
  guint findings_max; /* different counterexamples wanted; at least 1 */
  uint64_t seed;
  const gint *interrupted;                                                          /* NULL: never */
  void (*progress)(void *data, uint64_t states, uint64_t transitions, guint depth); /* now and then; NULL */
  void *progress_data;
} SearchOptions;

/* A way to break a check: the branches from the first state on. */
typedef struct {
  gint check;      /* index into the options' checks; -1: deadlock */
  char *why;       /* the broken condition */
  GArray *path;    /* of Branch */
  gint lasso_from; /* a lasso: the last step leads back to the state before this one; -1: none */
  char *signature; /* what makes it different from others: the check, and who did what in the last step */
} Finding;

typedef enum {
  STOP_EXHAUSTED, /* nothing is left to try */
  STOP_FOUND,     /* all that was wanted */
  STOP_STATES,
  STOP_DEPTH,
  STOP_TIME,
  STOP_MEMORY,
  STOP_WALKS, /* all walks were made */
  STOP_INTERRUPTED
} SearchStop;

typedef struct {
  SearchStop stop;
  bool exhausted; /* every reachable state was seen, compared by its bytes, with every answer of every choice */
  uint64_t states, transitions;
  guint depth;           /* length of the longest path looked at; breadth-first: of the deepest level */
  uint64_t waits_limit;  /* states where nothing moves until a limit fires, which it does not untimed */
  GPtrArray *findings;   /* of Finding, in the order found */
  bool loops;            /* what stays pending on a round for ever was looked for: exhausted, that holds too */
  SearchStop loops_stop; /* why not; STOP_EXHAUSTED: this strategy or this store looks for none */
  size_t graph_bytes;    /* of the graph that was looked through, and what that took */
  uint64_t graph_edges;
  guint *blind; /* by check: it could see nothing */
  guint vector_bits;
  size_t store_bytes;
  double omission; /* store_omission */
  bool narrowed;   /* a choice was too wide to try all its answers */
  GPtrArray *seen; /* "backend ProcArrayAdd": what was done at least once, sorted */
  double seconds;  /* measured */
} SearchResult;

/* A check that looks for what stays pending for ever is among those asked for: then a search must keep every state's
 * moves (no reduction that leaves some out, or takes states for one another). */
bool search_has_liveness(const SearchOptions *o);
/* NULL and *error when the model cannot be built. */
SearchResult *search_run(const SearchOptions *o, GError **error);
/* A stepper as searches use them: with room for all that comes and goes at once. NULL and *error: as the model says. */
Stepper *search_stepper(const StepperConfig *c, GError **error);
void search_result_free(SearchResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SearchResult, search_result_free)
const char *search_stop_words(SearchStop s);
