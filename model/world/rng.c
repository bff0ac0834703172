/* rng.c - xoshiro256** 1.0 and splitmix64 (Blackman and Vigna, prng.di.unimi.it, public domain), and draws from them in
 * integers alone. */
#include "model/world/rng.h"
#include <glib.h>

static const uint64_t GOLDEN = 0x9e3779b97f4a7c15; /* 2^64 / golden ratio, odd: splitmix64's step */

static uint64_t rotate_left(uint64_t x, unsigned k) {
  return (x << k) | (x >> (64 - k));
}

/* The output function of splitmix64: a bijection in which every input bit flips about half of the output bits. */
static uint64_t scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/* FNV-1a, 64 bits. Byte by byte: the same on either byte order. */
static uint64_t hash_name(const char *name) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char *c = name; *c; c++) h = (h ^ (uint8_t)*c) * 0x100000001b3;
  return h;
}

uint64_t rng_mix(uint64_t a, uint64_t b) {
  return scramble(scramble(a + GOLDEN) + rotate_left(b, 32) * GOLDEN + GOLDEN);
}

void rng_init(Rng *r, uint64_t seed, const char *stream) {
  uint64_t x = rng_mix(seed, hash_name(stream));
  for (int i = 0; i < 4; i++) r->s[i] = scramble(x += GOLDEN);
  /* scramble is a bijection and the four inputs differ, so at most one word is 0; all zero is xoshiro's fixed point. */
  g_assert(r->s[0] | r->s[1] | r->s[2] | r->s[3]);
}

uint64_t rng_next(Rng *r) {
  uint64_t *s = r->s, out = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left(s[3], 45);
  return out;
}

/* Lemire, "Fast Random Integer Generation in an Interval" (2019): the high half of x * n is in 0..n-1, and every value
 * gets equally many x once the lowest 2^64 mod n low halves are refused. The division runs only when one might be. */
uint64_t rng_below(Rng *r, uint64_t n) {
  g_assert(n > 0);
  unsigned __int128 product = (unsigned __int128)rng_next(r) * n;
  if ((uint64_t)product < n)
    for (uint64_t refused = -n % n; (uint64_t)product < refused;) product = (unsigned __int128)rng_next(r) * n;
  return (uint64_t)(product >> 64);
}

/* Von Neumann's comparison method (1951): given u, a run u > u2 > u3 > ... has length >= n with chance u^(n-1)/(n-1)!,
 * so its length is odd with chance 1 - u + u^2/2! - ... = e^-u, exactly the density wanted on [0,1); each refusal,
 * chance 1/e, shifts the answer by one whole mean. No logarithm and no table: the only errors are the grid of 2^-64
 * means and the rounding to whole ns. About 4.3 draws each. */
int64_t rng_exponential(Rng *r, int64_t mean) {
  g_assert(mean >= 0);
  for (uint64_t whole = 0;; whole++) {
    uint64_t first = rng_next(r), last = first, next;
    unsigned length = 1;
    for (; (next = rng_next(r)) < last; last = next) length++;
    if (length % 2 == 0) continue;
    unsigned __int128 part = (unsigned __int128)first * (uint64_t)mean + ((uint64_t)1 << 63); /* half up */
    unsigned __int128 ns = (unsigned __int128)whole * (uint64_t)mean + (part >> 64);
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
  }
}

/* -ln(u) in 2^-32 for u = draw / 2^32, by halving and squaring in integers, so that it is the same everywhere: the
 * whole part of the binary logarithm is the number of leading zeros; each squaring gives one more bit of it. */
static uint64_t minus_ln(uint32_t draw) {
  const uint64_t ln2 = 2977044472; /* ln 2 in 2^-32 */
  uint64_t u = (uint64_t)draw + 1, log2 = 0;
  int zeros = __builtin_clzll(u) - 31;
  u <<= zeros; /* 2^32 <= u < 2^33: 1 <= u / 2^32 < 2 */
  for (int bit = 31; bit >= 0; bit--) {
    unsigned __int128 square = (unsigned __int128)u * u;
    u = (uint64_t)(square >> 32);
    if (u >> 33) u >>= 1, log2 |= UINT64_C(1) << bit;
  }
  uint64_t minus_log2 = ((uint64_t)zeros << 32) - log2;
  return (uint64_t)((unsigned __int128)minus_log2 * ln2 >> 32);
}

int64_t rng_exponential_of(uint32_t draw, int64_t mean) {
  unsigned __int128 x = (unsigned __int128)minus_ln(draw) * (uint64_t)mean >> 32;
  return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}
