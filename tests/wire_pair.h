/* wire_pair.h - our client and our backend, each other's peer: what one has to send the other reads, whole. */
#pragma once
#include "sim/live/client.h"
#include "sim/live/server.h"

static inline void to_backend(Wired *c, Backend *b) {
  GByteArray *out = wired_to_send(c);
  backend_feed(b, out->data, out->len);
  g_byte_array_set_size(out, 0);
}
static inline void to_client(Backend *b, Wired *c) {
  GByteArray *out = backend_out(b);
  wired_feed(c, out->data, out->len);
  g_byte_array_set_size(out, 0);
}
