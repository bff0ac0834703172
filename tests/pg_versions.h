/* pg_versions.h - what versions 14 to 19 do, written down a second time, from the same facts as the presets of
 * sim/presets: for tests of the model without files, and to compare the presets with (test_presets.c, test_scenario.c).
 */
#pragma once
#include "model/postgres/config.h"

/* Facts sections 1, 3 and 4: sizes by gcc 12 on x86-64, policies as read at each branch point. */
typedef struct {
  int size, align, pgxactoff, links, pid, proc_hdr, array_header, auxiliary, sinval_entry, signal, status, fast_path,
      types, gss;
} VersionGeometry;
static const VersionGeometry version_geometry[] = {
    [0] = {880, 8, 68, 0, 64, 120, 40, 5, 32, 80, 432, 0, 8, 66},
    [1] = {880, 8, 68, 0, 64, 104, 40, 5, 32, 80, 432, 0, 6, 66},
    [2] = {880, 8, 68, 0, 64, 136, 40, 5, 32, 88, 432, 0, 6, 67},
    [3] = {888, 8, 64, 0, 60, 136, 36, 6, 16, 88, 432, 0, 6, 67},
    [4] = {832, 8, 64, 0, 60, 128, 36, 38, 16, 128, 440, 288, 38, 67},
    [5] = {896, 128, 44, 8, 24, 128, 36, 38, 16, 112, 440, 576, 38, 67},
};

static inline void version_set_geometry(PgConfig *c, const VersionGeometry *g) {
  c->pgproc_size = g->size;
  c->pgproc_align = g->align;
  c->off_pgxactoff = g->pgxactoff;
  c->off_links = g->links;
  c->off_pid = g->pid;
  c->tail_bytes = g->align == 8 ? 40 : 0; /* lockGroupLeader, lockGroupMembers, lockGroupLink */
  c->proc_hdr_bytes = g->proc_hdr;
  c->proc_array_header_bytes = g->array_header;
  c->auxiliary_procs = g->auxiliary;
  c->sinval_entry_bytes = g->sinval_entry;
  c->proc_signal_bytes = g->signal;
  c->backend_status_bytes = g->status;
  c->fast_path_bytes = g->fast_path;
  c->auxiliary_types = g->types;
  c->ssl_status_bytes = 324;
  c->gss_status_bytes = g->gss;
}

static inline void version_set_policies(PgConfig *c, int version) {
  c->autovacuum_pool_by_slots = version >= 18;
  c->special_workers = version >= 18 ? 2 : 1;
  c->give = version >= 16 ? GIVE_TAIL : GIVE_HEAD;
  c->links = version >= 16 ? LINKS_DOUBLE : LINKS_SINGLE;
  c->initial = version >= 17 ? INITIAL_ASCENDING : INITIAL_DESCENDING;
  c->leader_at_head = version >= 16;
  c->one_chunk = version >= 18;
  c->header_place = version >= 19 ? HEADER_BEHIND : HEADER_BEFORE;
  c->child_list = version >= 18 ? CHILD_LIST_POOLED : CHILD_LIST_WALKED;
  c->sinval = version >= 17 ? SINVAL_SCAN_AT_EXIT : SINVAL_SCAN_AT_CONNECT;
  c->clear_pid_at_exit = version >= 17;
}

/* False: no such version. */
static inline bool pg_config_version(int version, PgConfig *out) {
  if (version < 14 || version > 19) return false;
  PgConfig c = {.version = version,
                .variant = "dense-arrays",
                .max_connections = 100,
                .autovacuum_max_workers = 3,
                .autovacuum_worker_slots = 16,
                .max_worker_processes = 8,
                .max_wal_senders = 10,
                .superuser_reserved_connections = 3,
                .bg_autovacuum = 1,
                .bg_bgworkers = 1,
                .snapshots = 3,
                .superusers = true,
                .listing = LIST_BY_PROC_ARRAY};
  version_set_geometry(&c, &version_geometry[version - 14]);
  version_set_policies(&c, version);
  *out = c;
  return true;
}
