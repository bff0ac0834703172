/* adapter_parts.h - what the two files of adapters share. Private to adapter*.c. */
#pragma once
#include "sim/live/adapter.h"
#include "sim/scenario/node.h"

/* What a text is filled with; pieces are the adapter's, NULL: it has none. */
typedef struct {
  const PoolerConfig *c;
  const AdapterPlace *at;
  const char *each_pool; /* NULL: `text` is that of a pool */
  const char *each_login;
  const char *listen;      /* where it listens; NULL: the files say it themselves */
  const char *client_auth; /* how clients are asked, in its own word; NULL: its files have no place for it */
  const char *peers, *each_peer, *peered;
  guint pool, peer;
} Filling;

Node *adapter_read(const char *const *dirs, const char *name, GError **error); /* its file */
/* *unknown: the first word that means nothing, interned. g_free. */
char *adapter_fill(const Filling *f, const char *text, const char **unknown);
