/* store.h - the states that a search has seen. States are numbered 0, 1, 2, ... in the order they were added.
 *
 *   full      keeps a state's vector (model/world/vector.h) and compares it: exact
 *   collapse  keeps each group of 4 words of a vector once, and of a state the numbers of its groups: exact, for large
 *             vectors; one of a single group is kept as full does
 *   hash128   keeps 128 bits of hash: two states may be taken for one
 *   bitstate  keeps 3 bits of a bit array a state: likewise, far more often; numbers nothing
 *
 * Several threads may look up at once while nobody adds. Adding goes by waves, so that the numbering does not depend on
 * who was faster: store_claim for all candidates of a wave, in order within a part (parts may be claimed in parallel),
 * then store_settle for the fresh ones in order. */
#pragma once
#include "model/world/arena.h"
#include <stdbool.h>

typedef enum { STORE_FULL, STORE_COLLAPSE, STORE_HASH128, STORE_BITSTATE } StoreKind;
enum { STORE_PARTS = 16, STORE_STATES_MAX = 0x7ffffff0 };
#define STORE_NONE UINT32_MAX

typedef struct {
  uint64_t hash;
  const uint64_t *vector;
  uint32_t slot, capacity; /* the store's: where it would go, in a table of that size */
  uint32_t parent;
  uint16_t link; /* how it follows from its parent; the search's own */
  bool fresh;    /* set by store_claim: the first of its kind */
} Candidate;

typedef struct StateStore StateStore;
/* words: of a vector. bits_log2: of the bit array of bitstate, 10 to 40. */
StateStore *store_new(StoreKind kind, guint words, guint bits_log2);
void store_free(StateStore *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StateStore, store_free)

uint64_t store_hash(const StateStore *s, const uint64_t *vector);
void store_prefetch(const StateStore *s, uint64_t hash);     /* asks memory for what store_has reads first */
void store_prefetch_key(const StateStore *s, uint64_t hash); /* and, a while later, for the rest */
bool store_has(const StateStore *s, const uint64_t *vector, uint64_t hash);
/* Is this one there? Else it is remembered where its place would be, for store_claim. */
bool store_seek(const StateStore *s, Candidate *c);

guint store_part(uint64_t hash);
void store_make_room(StateStore *s, guint part, guint more); /* before claims of that part */
void store_claim(StateStore *s, Candidate *c);
uint32_t store_settle(StateStore *s, const Candidate *c); /* its number */
void store_wave_over(StateStore *s);                      /* candidates may be freed */
/* One state at once: its number, or STORE_NONE when it was there. bitstate: 0 when new. */
uint32_t store_add(StateStore *s, const uint64_t *vector, uint64_t hash, uint32_t parent, uint16_t link);

uint32_t store_find(const StateStore *s, const uint64_t *vector); /* its number, or STORE_NONE; not of bitstate */
uint32_t store_states(const StateStore *s);
const uint64_t *store_vector(const StateStore *s, uint32_t state); /* full alone */
uint32_t store_parent(const StateStore *s, uint32_t state);
uint16_t store_link(const StateStore *s, uint32_t state);
bool store_exact(const StateStore *s);
/* full: vectors get another layout. */
void store_convert(StateStore *s, guint words, void (*convert)(const void *data, const uint64_t *in, uint64_t *out),
                   const void *data);
size_t store_bytes(const StateStore *s); /* all it keeps */
/* Chance that at least one state was taken for another (at most, for hash128: n^2 / 2^129; expected share of states for
 * bitstate: the fill of the array, cubed). 0 for exact ones. */
double store_omission(const StateStore *s);
const char *store_word(StoreKind kind);
