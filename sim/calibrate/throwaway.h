/* throwaway.h - a PostgreSQL server that lives for one measurement: initdb in a directory of its own, a Unix socket in
 * it, no TCP, as an unprivileged user. It is stopped and removed whatever becomes of this process, SIGKILL included:
 * a keeper, a child in a session of its own, starts it, and ends it when this process lets go of a pipe. */
#pragma once
#include "sim/calibrate/calibrate.h"
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
  const char *bin;             /* folder of initdb and postgres */
  const char *dir;             /* must not exist, or be empty; NULL: a new one in the temporary directory */
  const char *const *settings; /* "max_connections=1200", NULL-terminated */
  /* glibc's malloc without lists of freed pieces: what a backend's start-up writes to then depends on how many children
   * the postmaster has, and not on who has left before, and when. */
  bool plain_malloc;
  const gint *interrupted; /* ends the waiting; may be NULL */
} ThrowawayRequest;

typedef struct Throwaway Throwaway;

/* The binaries are there and say a version: its major number and its whole text (caller frees). 0 and *error. */
int throwaway_version(const char *bin, char **text, GError **error);
/* Returns once the server takes connections. CALIBRATE_ERROR. */
Throwaway *throwaway_start(const ThrowawayRequest *request, GError **error);
void throwaway_stop(Throwaway *t); /* and waits until everything is gone */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Throwaway, throwaway_stop)
pid_t throwaway_postmaster(const Throwaway *t);
const char *throwaway_socket(const Throwaway *t); /* path of the Unix socket */
