/* sample.h - shared memory of sample.c, at its beginning. */
#pragma once
#include <stdint.h>

typedef struct {
  int64_t shared_in, exclusive_in, most_shared; /* of `lock`, now and at most */
  int64_t order[64], n_order;                   /* who got what, in turn */
  int64_t turns, seen_private, value;
  void *pointer; /* into shared memory, into the object, onto a stack */
} State;
