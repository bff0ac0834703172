/* outcome.h - what became of a cancel: words and marks that a model and a run of a real pooler share. */
#pragma once
#include <stdint.h>

typedef enum {
  OUT_HIT,
  OUT_SELF_LATE,
  OUT_MISROUTE,
  OUT_POOLER_OWN,
  OUT_NOOP,
  OUT_FOREIGN,
  OUT_LOST,
  OUT_DROPPED,
  OUT_UNSENT,
  OUT_COUNT
} Outcome;

const char *outcome_word(Outcome o); /* "HIT" */
uint64_t outcome_mark(Outcome o);    /* POOLER_MISROUTE, ... (pooler.h); 0: none */
/* "MISROUTE: the cancel of q1 by client a hits q2 of client b"; hit NULL: what it hit is no client's query. g_free. */
char *outcome_words(Outcome o, const char *query, const char *client, const char *hit, const char *hit_client);
