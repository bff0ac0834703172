/* check_flags.c - see check_flags.h. */
#include "checks/check_flags.h"
#include "checks/reduce.h"
#include "sim/cli.h"
#include <string.h>

enum { BITS_DEFAULT = 30, CHANGES_DEFAULT = 3, WALKS_DEFAULT = 1000 };
static const double MAX_TIME = 1e9; /* s; as microseconds it can be added to any moment */

void check_flags_init(CheckFlags *f) {
  *f = (CheckFlags){.jobs = 1, .all = 1, .bits = BITS_DEFAULT, .changes = CHANGES_DEFAULT};
}

void check_flags_clear(CheckFlags *f) {
  g_free(f->time);
  g_free(f->strategy);
  g_free(f->store);
  g_free(f->max_memory);
  g_free(f->reduce);
}

GOptionEntry *check_flags_entries(CheckFlags *f, const GOptionEntry *own) {
  GOptionEntry entries[] = {
      {"time", 0, 0, G_OPTION_ARG_STRING, &f->time, "untimed (any order) or timed (durations count)", "WORD"},
      {"strategy", 0, 0, G_OPTION_ARG_STRING, &f->strategy,
       "bfs (shortest), dfs, random, pct; of a subject's code dpor (unless given), dfs, random, pct", "WORD"},
      {"store", 0, 0, G_OPTION_ARG_STRING, &f->store, "full, collapse, hash128, bitstate", "WORD"},
      {"reduce", 0, 0, G_OPTION_ARG_STRING, &f->reduce,
       "none, por (orders that come to the same), symmetry (equal clients), all; unless given, what is sound", "WORD"},
      {"max-states", 0, 0, G_OPTION_ARG_INT64, &f->max_states, "stop after N states", "N"},
      {"max-depth", 0, 0, G_OPTION_ARG_INT, &f->max_depth, "no longer paths than N", "N"},
      {"max-time", 0, 0, G_OPTION_ARG_DOUBLE, &f->max_time, "stop after SECONDS", "SECONDS"},
      {"max-memory", 0, 0, G_OPTION_ARG_STRING, &f->max_memory, "stop when the states take SIZE (512MiB)", "SIZE"},
      {"deepen", 0, 0, G_OPTION_ARG_INT, &f->deepen, "dfs: bounds N, 2N, 3N, ... until nothing is cut", "N"},
      {"walks", 0, 0, G_OPTION_ARG_INT, &f->walks, "random, pct: how many walks (1000)", "N"},
      {"changes", 0, 0, G_OPTION_ARG_INT, &f->changes, "pct: priority changes a walk (3)", "N"},
      {"bits", 0, 0, G_OPTION_ARG_INT, &f->bits, "bitstate: log2 of the bits (30: 128 MiB)", "N"}};
  gsize more = 1;
  for (const GOptionEntry *e = own; e->long_name; e++) more++;
  GOptionEntry *all = g_new(GOptionEntry, G_N_ELEMENTS(entries) + more);
  memcpy(all, entries, sizeof entries);
  memcpy(all + G_N_ELEMENTS(entries), own, more * sizeof *own);
  return all;
}

static bool word_index(const char *word, const char *const *words, guint *index, const char *what) {
  for (guint i = 0; words[i]; i++)
    if (strcmp(word, words[i]) == 0) return *index = i, true;
  g_autofree char *all = g_strjoinv(", ", (char **)words);
  cli_refuse(EXIT_INPUT, "--%s %s: there are %s", what, word, all);
  return false;
}

/* Bytes with a unit, as in scenarios. */
static bool memory_of(const char *text, size_t *bytes) {
  static const struct {
    const char *unit;
    int shift;
  } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  char *end;
  guint64 n = g_ascii_strtoull(text, &end, 10);
  for (guint i = 0; end > text && i < G_N_ELEMENTS(units); i++)
    if (strcmp(end, units[i].unit) == 0 && n <= G_MAXSIZE >> units[i].shift)
      return *bytes = (size_t)n << units[i].shift, true;
  cli_refuse(EXIT_INPUT, "--max-memory %s: a size such as 512MiB or 2GiB is needed", text);
  return false;
}

const char *check_flags_senseless(const CheckFlags *f, bool walks, bool pct, bool bitstate) {
  if (f->max_states < 0 || f->max_time < 0 || f->max_depth < 0) return "limits are 0 (none) or more";
  if (!(f->max_time <= MAX_TIME)) return "--max-time takes up to 1e9 seconds"; /* nor what is no number */
  if (f->jobs < 1 || f->jobs > 64) return "--jobs takes 1 to 64";
  if (f->all < 1) return "--all takes 1 or more";
  if (f->walks && !walks) return "--walks is for --strategy random and pct";
  if (f->deepen < 0 || f->walks < 0) return "--deepen and --walks take 1 or more";
  if (f->changes < 0 || f->changes > 64) return "--changes takes 0 to 64";
  if (f->changes != CHANGES_DEFAULT && !pct) return "--changes is for --strategy pct";
  if (f->bits < 10 || f->bits > 38) return "--bits takes 10 to 38";
  if (f->bits != BITS_DEFAULT && !bitstate) return "--bits is for --store bitstate";
  return NULL;
}

/* One line for what makes no sense together. */
static const char *senseless(const CheckFlags *f, const SearchOptions *o) {
  bool walks = o->strategy == STRATEGY_RANDOM || o->strategy == STRATEGY_PCT;
  const char *why = check_flags_senseless(f, walks, o->strategy == STRATEGY_PCT, o->store == STORE_BITSTATE);
  if (why) return why;
  if (f->jobs > 1 && o->strategy != STRATEGY_BFS)
    return "--jobs is for --strategy bfs; the others go one step at a time";
  if (o->store == STORE_BITSTATE && o->strategy == STRATEGY_BFS)
    return "--store bitstate keeps no way back to a state; use it with --strategy dfs";
  if (f->deepen && o->strategy != STRATEGY_DFS) return "--deepen is for --strategy dfs";
  if (f->deepen && o->store == STORE_BITSTATE) return "--deepen needs to know how deep a state was; bitstate does not";
  if (walks && f->store) return "--store is for searches; random walks only count what they see";
  return NULL;
}

bool check_flags_search(const CheckFlags *f, SearchOptions *o) {
  static const char *const strategies[] = {"bfs", "dfs", "random", "pct", NULL};
  static const char *const stores[] = {"full", "collapse", "hash128", "bitstate", NULL};
  static const char *const times[] = {"untimed", "timed", NULL};
  static const char *const reductions[] = {"none", "por", "symmetry", "all", NULL}; /* in the order of their bits */
  guint strategy = 0, store = 0, time = 0, reduce = 0;
  if (f->strategy && !word_index(f->strategy, strategies, &strategy, "strategy")) return false;
  if (f->store && !word_index(f->store, stores, &store, "store")) return false;
  if (f->time && !word_index(f->time, times, &time, "time")) return false;
  if (f->reduce && !word_index(f->reduce, reductions, &reduce, "reduce")) return false;
  *o = (SearchOptions){.strategy = (Strategy)strategy,
                       .reduce = f->reduce ? reduce : REDUCE_ALL,
                       .reduce_asked = f->reduce != NULL,
                       .store = (StoreKind)store,
                       .jobs = (guint)f->jobs,
                       .bits_log2 = (guint)f->bits,
                       .max_states = (uint64_t)f->max_states,
                       .max_depth = (guint)f->max_depth,
                       .max_seconds = f->max_time,
                       .deepen = (guint)f->deepen,
                       .walks = (guint)(f->walks ? f->walks : WALKS_DEFAULT),
                       .changes = (guint)f->changes,
                       .findings_max = (guint)f->all,
                       .interrupted = cli_interrupted()};
  if (f->max_memory && !memory_of(f->max_memory, &o->max_bytes)) return false;
  const char *why = senseless(f, o);
  return why ? cli_refuse(EXIT_INPUT, "%s", why), false : true;
}

char *check_flags_set(const CheckFlags *f) {
  return f->time ? g_strconcat("explore.time=", f->time, NULL) : NULL;
}

static void add_word(GString *out, const char *name, const char *value) {
  if (value) g_string_append_printf(out, "%s--%s %s", out->len ? " " : "", name, value);
}
static void add_number(GString *out, const char *name, gint64 value, gint64 unless) {
  if (value != unless) g_string_append_printf(out, "%s--%s %" G_GINT64_FORMAT, out->len ? " " : "", name, value);
}

char *check_flags_words(const CheckFlags *f) {
  GString *out = g_string_new(NULL);
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];
  add_word(out, "time", f->time);
  add_word(out, "strategy", f->strategy);
  add_word(out, "store", f->store);
  add_word(out, "reduce", f->reduce);
  add_number(out, "max-states", f->max_states, 0);
  add_number(out, "max-depth", f->max_depth, 0);
  add_word(out, "max-time", f->max_time > 0 ? g_ascii_dtostr(seconds, sizeof seconds, f->max_time) : NULL);
  add_word(out, "max-memory", f->max_memory);
  add_number(out, "deepen", f->deepen, 0);
  add_number(out, "walks", f->walks, 0);
  add_number(out, "changes", f->changes, CHANGES_DEFAULT);
  add_number(out, "bits", f->bits, BITS_DEFAULT);
  return g_string_free(out, FALSE);
}
