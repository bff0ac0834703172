/* by_function.h - where a backend's faults happen: some more backends connect while perf records the postmaster's
 * children. Only where there is a perf that may do that. */
#pragma once
#include <glib.h>
#include <sys/types.h>

/* Table of the top functions with their share, for people; NULL: perf is not to be had or not allowed here, or no more
 * connections are. Never an error: the rest does not depend on it. */
GString *faults_by_function(pid_t postmaster, const char *socket_path);
