/* beside.h - pages of private memory that grow with a storm, as another run of calibrate postgres has measured them
 * (its
 * --json), so that no storm is judged by what it has itself measured. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  char *file, *server;       /* server: its version, as in "15.20 (Debian 15.20-0+deb12u1)" */
  guint clients, iterations; /* of that run */
  int64_t max_connections, page_size, seed;
  bool plain_malloc;
  GArray *own; /* of int64_t: private pages beyond those of a backend alone, iteration after iteration */
} Beside;

/* NULL and SCENARIO_ERROR (exit 2): cannot be read, or is no document of calibrate postgres. */
Beside *beside_read(const char *file, GError **error);
void beside_free(Beside *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Beside, beside_free)

/* Can it stand beside a run of so many? False: SCENARIO_ERROR, which names the first that is not the same. The seed
 * must be another: the same order of exits is the same storm again. */
bool beside_fits(const Beside *b, const char *server, guint clients, bool plain_malloc, int64_t max_connections,
                 int64_t seed, GError **error);
/* Backend i, in the order of connecting, of iteration k; the last one stands for those that the file does not have. */
int64_t beside_own(const Beside *b, guint k, guint i);
