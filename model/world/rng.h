/* rng.h - named streams of random numbers. A stream's seed is made of the run's seed and the stream's name, so one more
 * draw from one stream disturbs no other. Integers only, no libm: the same numbers on every machine.
 * Generator: xoshiro256** seeded by splitmix64 over a hash of the name (Blackman, Vigna; public-domain algorithm). */
#pragma once
#include <stdint.h>

typedef struct {
  uint64_t s[4];
} Rng;

void rng_init(Rng *r, uint64_t seed, const char *stream);
uint64_t rng_next(Rng *r);
uint64_t rng_below(Rng *r, uint64_t n); /* uniform in 0..n-1, n > 0, unbiased (multiply and reject) */
/* Exponential, mean >= 0 in ns, rounded half up to whole ns, saturating. By comparisons of integers: exact but for that
 * rounding and a grid of 2^-64 means. Takes a varying number of draws, 4.3 on average. */
int64_t rng_exponential(Rng *r, int64_t mean);
/* The same distribution from one choice among 2^32, on a grid of 2^-32: for models, which draw by choices. */
int64_t rng_exponential_of(uint32_t draw, int64_t mean);
uint64_t rng_mix(uint64_t a, uint64_t b); /* a stateless hash: the rank of a tie, and the like */
