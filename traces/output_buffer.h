/* output_buffer.h - inside of an Output, for output.c and output_json.c only. */
#pragma once
#include "traces/output.h"

#define OUTPUT_CHUNK (256u << 10) /* bytes gathered before a write(2) */

struct Output {
  char *path, *aside; /* aside: the name it has until renamed; NULL: none yet */
  int fd;
  bool direct; /* written where it stands, nothing to rename */
  char *buffer;
  gsize used, size;
  GError *error; /* the first */
};
