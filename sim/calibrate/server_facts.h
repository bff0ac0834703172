/* server_facts.h - what a running server tells of where its shared memory lies. */
#pragma once
#include "sim/calibrate/pg_session.h"
#include <stdint.h>

typedef struct {
  int64_t phase;       /* address of the PGPROC array modulo 64 KiB; -1: not known */
  uint64_t page_size;  /* of the main segment: 4 KiB or 2 MiB */
  int max_connections; /* as it runs */
} ServerFacts;

/* By pg_shmem_allocations (13 and later) and /proc/PID/maps. `major`: its version. */
bool server_facts(PgSession *s, int major, pid_t postmaster, ServerFacts *out, GError **error);
