/* adapter.h - how one pooler is configured and started: sim/adapters/NAME.yaml, filled in from a scenario's terms. */
#pragma once
#include "model/pooler/config.h"
#include <glib.h>

#define ADAPTER_ERROR (g_quark_from_static_string("adapter-error"))

/* Where a run's pooler finds things. */
typedef struct {
  const char *program, *dir;
} AdapterPlace;

typedef struct {
  char *name, *text;
} AdapterFile;
typedef struct {
  char *name, *user, *socket; /* user: whom it runs as under root */
  char **argv;
  GArray *files; /* of AdapterFile */
} Adapter;

enum { ADAPTER_SERVER_PORT = 5432 }; /* pool i's servers listen at dir/pool-i */
char *adapter_server_dir(const char *dir, guint pool);
#define ADAPTER_USER "stampede" /* who every client is */

/* The adapter by that name from `dirs` (assets.h) for configuration c. NULL and *error: none, or it is malformed
 * (input).
 */
Adapter *adapter_load(const char *const *dirs, const char *name, const PoolerConfig *c, const AdapterPlace *place,
                      GError **error);
/* The name of the adapter for a program: its file's name without a version; g_free. */
char *adapter_for(const char *program);
/* The user alone, before there is a place. NULL and *error likewise; g_free. */
char *adapter_user(const char *const *dirs, const char *name, GError **error);
void adapter_free(Adapter *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Adapter, adapter_free)
