/* states_text.h - the words of a state picture, as HTML-like labels of Graphviz. For states.c and its test. */
#pragma once
#include "viz/history.h"

#define STATES_CHANGED "#FFE08A" /* behind a changed value */
#define STATES_BROKEN  "#B3261E" /* the broken condition */
#define STATES_NAMED   "#F6C9C5" /* behind a variable that it names */

/* Does the condition name the variable, as a word of its own? why: NULL names none. */
bool states_named(const char *why, const char *variable);

/* Which variables the clusters show: for each of the last step's, changed by a shown step after the first, or named. */
bool *states_shown(const History *h); /* g_free */

/* Labels; the caller frees. */
char *states_table(const History *h, guint step, const bool *shown); /* the variables after h->steps[step] */
char *states_cluster_title(const HistoryStep *s, bool first);        /* "step 12, at 1.204 ms" */
char *states_arrow(const HistoryStep *s);                            /* who did what, with what */
char *states_heading(const History *h);                              /* title, and what the colours mean */
