/* search_parts.h - what the strategies share. Private to checks/search*.c. */
#pragma once
#include "checks/search.h"
#include "model/world/stand.h"

/* One of the workers of a search: a stepper, and what it has counted. */
typedef struct {
  const SearchOptions *o;
  Stepper *stepper;
  World *w;
  Arena *arena;
  const VectorLayout *layout; /* shared */
  VectorStand *stand;
  VectorGaps *gaps;      /* bits met that the layout lacks */
  GHashTable *seen;      /* keys: type name \1 stage; looked up and counted only */
  guintptr recent[1024]; /* stages in `seen`, by address */
  GString **whys;        /* by check, as the last judgement said */
  Judgement *judged;
  uint64_t transitions, waits_limit;
  guint *blind;
  bool liveness; /* search_has_liveness */
} Worker;

typedef struct {
  Worker *workers;
  guint n;
  VectorLayout *layout;
  WorldPeak room;
} Crew;

/* Builds `n` equal steppers, with room and a layout learned from random walks. NULL and *error: as the model says. */
Crew *crew_new(const SearchOptions *o, guint n, GError **error);
void crew_free(Crew *c);
bool crew_gaps(Crew *c);
/* A layout with the gaps of all closed; returns the old one, to be freed. */
VectorLayout *crew_widen(Crew *c);

/* Makes a move (stepper_go), and counts it. */
void worker_go(Worker *k, Move m);
/* Judges the state that stands in the worker's stepper; calls `broken` for each check that is. */
void worker_judge(Worker *k, void (*broken)(void *data, gint check, const char *why), void *data);
/* Judges the end of a path: where nothing need go on, what is pending stays so. Calls `broken` as worker_judge. */
void worker_judge_rest(Worker *k, void (*broken)(void *data, gint check, const char *why), void *data);
/* The words for a deadlock; NULL: none, it waits for a limit or all is done. */
char *worker_stuck(Worker *k);

/* Takes `path`; false when one like it is known or none of its check is wanted any more (then path is freed). */
bool search_add_finding(SearchResult *r, const SearchOptions *o, Worker *k, gint check, const char *why, GArray *path);
bool search_wants(const SearchResult *r, const SearchOptions *o, gint check);
/* All that was wanted is found. */
bool search_satisfied(const SearchResult *r, const SearchOptions *o);

/* Looked at within a state's expansion too, and while learning: a state of a wide model takes long. */
bool search_late(const SearchOptions *o);

void search_bfs(Crew *c, const SearchOptions *o, SearchResult *r);
void search_dfs(Crew *c, const SearchOptions *o, SearchResult *r);
void search_walks(Crew *c, const SearchOptions *o, SearchResult *r);
