/* litmus.h - shared memory of the subject litmus. */
#pragma once

typedef struct {
  int x, pad_x[15], y, pad_y[15], z, pad_z[15];
  char from[24], to[24];
  int noted[4];
} Litmus;
