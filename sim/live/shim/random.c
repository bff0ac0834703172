/* random.c - what is random comes from the seed: splitmix64 (Steele, Lea, Flood 2014). shim.h. */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static uint64_t state;

void shim_seed(uint64_t seed) {
  state = seed;
}

uint64_t shim_draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void fill(void *to, size_t n) {
  for (size_t i = 0; i < n; i++) ((unsigned char *)to)[i] = (unsigned char)shim_draw();
}

SHIM ssize_t getrandom(void *to, size_t n, unsigned flags) {
  if (!shim_clock) return shim_result(CALL(SYS_getrandom, L(to), L(n), flags));
  fill(to, n);
  return (ssize_t)n;
}
SHIM int getentropy(void *to, size_t n) {
  return getrandom(to, n, 0) == (ssize_t)n ? 0 : -1;
}
SHIM void arc4random_buf(void *to, size_t n) {
  if (getrandom(to, n, 0) != (ssize_t)n) shim_give_up();
}
SHIM uint32_t arc4random(void) {
  uint32_t v;
  arc4random_buf(&v, sizeof v);
  return v;
}
SHIM uint32_t arc4random_uniform(uint32_t below) {
  return below ? (uint32_t)((uint64_t)arc4random() * below >> 32) : 0;
}
/* OpenSSL's. */
int RAND_bytes(unsigned char *to, int n);
int RAND_priv_bytes(unsigned char *to, int n);
SHIM int RAND_bytes(unsigned char *to, int n) {
  arc4random_buf(to, (size_t)n);
  return 1;
}
SHIM int RAND_priv_bytes(unsigned char *to, int n) {
  return RAND_bytes(to, n);
}

/* ---- generators that are given a pid or the time for a seed ---- */

static unsigned seed_for(unsigned theirs) {
  return shim_clock ? (unsigned)shim_draw() : theirs;
}
SHIM void srandom(unsigned seed) {
  NEXT(srandom)(seed_for(seed));
}
SHIM void srand(unsigned seed) {
  NEXT(srand)(seed_for(seed));
}
SHIM void srand48(long seed) {
  NEXT(srand48)(shim_clock ? (long)(uint32_t)shim_draw() : seed);
}

/* ---- the devices: each time a file of fresh bytes, that has no other name ---- */

enum { DEVICE_BYTES = 65536 };

static bool is_device(const char *path) {
  return shim_clock && path && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

static int open_device(int flags) {
  static unsigned char bytes[DEVICE_BYTES];
  long fd = CALL(SYS_memfd_create, L("random"), flags & O_CLOEXEC ? 1 : 0);
  fill(bytes, sizeof bytes);
  if (fd < 0 || CALL(SYS_pwrite64, fd, L(bytes), sizeof bytes, 0) != (long)sizeof bytes) shim_give_up();
  return (int)fd;
}

SHIM int open(const char *path, int flags, ...) {
  if (is_device(path)) return open_device(flags);
  va_list args;
  va_start(args, flags);
  unsigned mode = va_arg(args, unsigned); /* garbage where none is given, and then the kernel does not look at it */
  va_end(args);
  return (int)shim_result(CALL(SYS_openat, AT_FDCWD, L(path), flags, mode));
}
SHIM int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int __open_2(const char *path, int flags);
SHIM int __open_2(const char *path, int flags) {
  return open(path, flags, 0);
}
int __open64_2(const char *path, int flags) SHIM __attribute__((alias("__open_2")));

SHIM FILE *fopen(const char *path, const char *mode) {
  return is_device(path) ? fdopen(open_device(0), "r") : NEXT(fopen)(path, mode);
}
SHIM FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
