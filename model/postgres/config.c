/* config.c - sizes derived from a configuration, and what makes no sense. */
#include "model/postgres/config.h"

enum { MAX_BACKENDS = 0x3FFFF }; /* 18 bits of a buffer's reference count; procnumber.h */

void pg_pools(const PgConfig *c, PgPools *out) {
  PgPools p = {.backends = c->max_connections, .bgworkers = c->max_worker_processes, .walsenders = c->max_wal_senders};
  p.autovacuum = (c->autovacuum_pool_by_slots ? c->autovacuum_worker_slots : c->autovacuum_max_workers) +
                 (c->special_workers > 1 ? c->special_workers : 1);
  p.max_backends = p.backends + p.autovacuum + p.bgworkers + p.walsenders;
  p.auxiliary = c->auxiliary_procs;
  p.prepared = c->max_prepared_transactions;
  p.total = p.max_backends + p.auxiliary + p.prepared;
  *out = p;
}

/* To 17 one limit for all children; later each kind has a pool of its own, and this is the clients' one. */
int pg_children_max(const PgConfig *c) {
  if (c->children_max > 0) return c->children_max;
  if (c->child_list == CHILD_LIST_POOLED) return 2 * (c->max_connections + c->max_wal_senders);
  return 2 * (c->max_connections + c->autovacuum_max_workers + 1 + c->max_wal_senders + c->max_worker_processes);
}

static bool wrong(GError **error, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool wrong(GError **error, const char *key, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, PG_CONFIG_ERROR, 0, "postgres.%s: %s", key, what);
  return false;
}

static bool geometry_valid(const PgConfig *c, GError **error) {
  if (c->pgproc_size < 16 || c->pgproc_align < 1) return wrong(error, "pgproc", "size and align are needed");
  if (c->pgproc_size % 4) return wrong(error, "pgproc.size", "%d is not a multiple of 4", c->pgproc_size);
  if (c->pgproc_size % c->pgproc_align)
    return wrong(error, "pgproc.size", "%d is not a multiple of pgproc.align, %d", c->pgproc_size, c->pgproc_align);
  if (c->off_pgxactoff % 4 || c->off_pgxactoff + 4 > c->pgproc_size)
    return wrong(error, "pgproc.pgxactoff", "%d is not a multiple of 4 whose 4 bytes lie within pgproc.size, %d",
                 c->off_pgxactoff, c->pgproc_size);
  if (c->off_links + 16 > c->pgproc_size)
    return wrong(error, "pgproc.links", "%d: its 16 bytes must lie within pgproc.size, %d", c->off_links,
                 c->pgproc_size);
  if (c->tail_bytes && (c->tail_bytes < 8 || c->tail_bytes >= c->pgproc_size))
    return wrong(error, "pgproc.tail", "%d: must be 0, or at least 8 and less than pgproc.size, %d", c->tail_bytes,
                 c->pgproc_size);
  if (c->off_pid + 4 > c->pgproc_size)
    return wrong(error, "pgproc.pid", "%d: its 4 bytes must lie within pgproc.size, %d", c->off_pid, c->pgproc_size);
  if (c->array_phase < 0 || c->array_phase > 65535 || c->array_phase % 4 || c->array_phase % c->pgproc_align)
    return wrong(error, "pgproc.phase", "%d is not a multiple of 4 and of pgproc.align, %d, below 65536",
                 c->array_phase, c->pgproc_align);
  return true;
}

static bool background_valid(const PgConfig *c, const PgPools *p, GError **error) {
  int slotsync_special = c->special_workers > 1 ? c->bg_slotsync : 0;
  if (c->bg_autovacuum + slotsync_special > p->autovacuum)
    return wrong(error, "background.autovacuum", "the pool has %d slots", p->autovacuum);
  if (c->bg_bgworkers > p->bgworkers)
    return wrong(error, "background.bgworkers", "max_worker_processes is %d", p->bgworkers);
  if (c->bg_walsenders > p->walsenders)
    return wrong(error, "background.walsenders", "max_wal_senders is %d", p->walsenders);
  if (c->bg_prepared > p->prepared)
    return wrong(error, "background.prepared", "max_prepared_transactions is %d", p->prepared);
  if (c->bg_slotsync - slotsync_special > p->backends)
    return wrong(error, "background.slotsync", "max_connections is %d", p->backends);
  return true;
}

bool pg_config_valid(const PgConfig *c, GError **error) {
  PgPools p;
  pg_pools(c, &p);
  if (c->max_connections < 1) return wrong(error, "max_connections", "at least 1 is needed");
  if (p.max_backends > MAX_BACKENDS)
    return wrong(error, "max_connections", "%d makes MaxBackends %d; the most is %d", c->max_connections,
                 p.max_backends, MAX_BACKENDS);
  if (c->sinval_entry_bytes < 1 || c->proc_signal_bytes < 1 || c->backend_status_bytes < 1)
    return wrong(error, "sinval_entry_bytes", "sizes of per-backend entries are needed");
  static const struct {
    PgStep step;
    const char *key;
  } once[] = {
      {PGSTEP_RELEASE_PROCARRAYLOCK, "steps.release_ProcArrayLock"},
      {PGSTEP_RELEASE_XIDGENLOCK, "steps.release_XidGenLock"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(once); i++)
    if (c->steps[once[i].step] == STEP_TWICE)
      return wrong(error, once[i].key, "cannot be done twice; skip is possible");
  return geometry_valid(c, error) && background_valid(c, &p, error);
}
