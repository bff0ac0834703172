/* bind_postgres.c - the keys under postgres as a PgConfig. Each row names a key and the member it fills; words are
 * given in the order of the member's enum. */
#include "sim/scenario/scenario_impl.h"
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(PgConfig, member)

static const struct {
  const char *key;
  size_t at;
} numbers[] = {{"postgres.version", AT(version)},
               {"postgres.max_connections", AT(max_connections)},
               {"postgres.autovacuum_max_workers", AT(autovacuum_max_workers)},
               {"postgres.autovacuum_worker_slots", AT(autovacuum_worker_slots)},
               {"postgres.max_worker_processes", AT(max_worker_processes)},
               {"postgres.max_wal_senders", AT(max_wal_senders)},
               {"postgres.max_prepared_transactions", AT(max_prepared_transactions)},
               {"postgres.superuser_reserved_connections", AT(superuser_reserved_connections)},
               {"postgres.reserved_connections", AT(reserved_connections)},
               {"postgres.pools.special_workers", AT(special_workers)},
               {"postgres.pools.auxiliary", AT(auxiliary_procs)},
               {"postgres.pools.auxiliary_types", AT(auxiliary_types)},
               {"postgres.fast_path_bytes", AT(fast_path_bytes)},
               {"postgres.proc_hdr_bytes", AT(proc_hdr_bytes)},
               {"postgres.proc_array_header_bytes", AT(proc_array_header_bytes)},
               {"postgres.sinval_entry_bytes", AT(sinval_entry_bytes)},
               {"postgres.proc_signal_bytes", AT(proc_signal_bytes)},
               {"postgres.backend_status_bytes", AT(backend_status_bytes)},
               {"postgres.ssl_status_bytes", AT(ssl_status_bytes)},
               {"postgres.gss_status_bytes", AT(gss_status_bytes)},
               {"postgres.snapshots", AT(snapshots)}};

static const struct {
  const char *key;
  size_t at;
} sizes[] = {{"postgres.pgproc.size", AT(pgproc_size)},
             {"postgres.pgproc.align", AT(pgproc_align)},
             {"postgres.pgproc.pgxactoff", AT(off_pgxactoff)},
             {"postgres.pgproc.links", AT(off_links)},
             {"postgres.pgproc.pid", AT(off_pid)},
             {"postgres.pgproc.tail", AT(tail_bytes)},
             {"postgres.pgproc.phase", AT(array_phase)}};

static const struct {
  const char *key;
  size_t at;
} flags[] = {{"postgres.pools.autovacuum_by_slots", AT(autovacuum_pool_by_slots)},
             {"postgres.free_list.leader_at_head", AT(leader_at_head)},
             {"postgres.proc_array.read_before_write", AT(read_before_write)},
             {"postgres.one_chunk", AT(one_chunk)},
             {"postgres.clear_pid_at_exit", AT(clear_pid_at_exit)}};

static const char *const step_names[PGSTEP_COUNT] = {
    "pop_free",    "push_free",     "search",           "move_pgprocnos",        "move_xids",          "move_subxids",
    "move_status", "store_offsets", "store_own_offset", "release_ProcArrayLock", "release_XidGenLock", "remove"};

static void bind_policies(const Scenario *s, PgConfig *c) {
  c->take = (FreeListTake)CHOICE(s, "postgres.free_list.take", "head", "lowest");
  c->give = (FreeListGive)CHOICE(s, "postgres.free_list.give", "head", "tail");
  c->initial = (FreeListInitial)CHOICE(s, "postgres.free_list.initial", "ascending", "descending");
  c->links = (FreeListLinks)CHOICE(s, "postgres.free_list.links", "single", "double");
  c->offsets = (OffsetsPlace)CHOICE(s, "postgres.proc_array.offsets", "in-pgproc", "split", "none");
  c->order = (ArrayOrder)CHOICE(s, "postgres.proc_array.order", "sorted", "unsorted");
  c->child_list = (ChildList)CHOICE(s, "postgres.child_list", "walked", "pooled");
  c->sinval = (SinvalScan)CHOICE(s, "postgres.sinval", "scan-at-connect", "scan-at-exit");
  c->header_place = (HeaderPlace)CHOICE(s, "postgres.proc_header", "before", "behind");
  c->listing = (Listing)CHOICE(s, "postgres.listing", "by-slot", "by-proc-array");
  c->touch = (TouchMode)CHOICE(s, "machine.touch", "auto", "words", "ranges");
  c->superusers = scenario_is(s, "workload.login", "superuser");
}

static void bind_members(const Scenario *s, PgConfig *c) {
  char *base = (char *)c;
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    *(int *)(base + numbers[i].at) = (int)scenario_int(s, numbers[i].key);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) *(int *)(base + sizes[i].at) = (int)scenario_bytes(s, sizes[i].key);
  for (guint i = 0; i < G_N_ELEMENTS(flags); i++) *(bool *)(base + flags[i].at) = scenario_bool(s, flags[i].key);
}

static void bind_background(const Scenario *s, PgConfig *c) {
  if (scenario_is(s, "postgres.background", "none")) return;
  c->bg_autovacuum = (int)scenario_int(s, "postgres.background.autovacuum");
  c->bg_bgworkers = (int)scenario_int(s, "postgres.background.bgworkers");
  if (!scenario_given(s, "postgres.background.bgworkers")) /* without a slot there is no launcher, as in a server */
    c->bg_bgworkers = MIN(c->bg_bgworkers, c->max_worker_processes);
  c->bg_walsenders = (int)scenario_int(s, "postgres.background.walsenders");
  c->bg_prepared = (int)scenario_int(s, "postgres.background.prepared");
  c->bg_slotsync = (int)scenario_int(s, "postgres.background.slotsync");
}

static void bind_steps(const Scenario *s, PgConfig *c) {
  for (guint i = 0; i < PGSTEP_COUNT; i++) {
    g_autofree char *key = g_strconcat("postgres.steps.", step_names[i], NULL);
    if (scenario_given(s, key)) c->steps[i] = scenario_is(s, key, "twice") ? STEP_TWICE : STEP_SKIP;
  }
}

/* listen(2)'s argument by version (facts: pqcomm.c), bounded by the kernel. 0: no limit. */
static int backlog(const Scenario *s, const PgConfig *c) {
  const int64_t somaxconn = scenario_int(s, "machine.somaxconn");
  int64_t asked = 0;
  PgPools pools;
  pg_pools(c, &pools);
  if (scenario_is(s, "postgres.listen_backlog", "none")) return 0;
  if (scenario_is(s, "postgres.listen_backlog", "max_backends"))
    asked = MIN(2 * (int64_t)pools.max_backends, 10000);
  else if (scenario_is(s, "postgres.listen_backlog", "max_connections"))
    asked = 2 * (int64_t)c->max_connections;
  else
    asked = scenario_int(s, "postgres.listen_backlog");
  return (int)MIN(asked, somaxconn);
}

/* The variant's name for messages: the last one, or dense-arrays, which is what every version here has. */
static const char *variant_name(const Scenario *s) {
  guint n = scenario_count(s, "postgres.variant");
  g_autofree char *last = g_strdup_printf("postgres.variant[%u]", n ? n - 1 : 0);
  return n ? scenario_word(s, last) : "dense-arrays";
}

/* "postgres.KEY: what is wrong", told of the line that gives the key. */
static GError *complain(const Scenario *s, const GError *wrong) {
  const char *what = strstr(wrong->message, ": ");
  g_autofree char *key = what ? g_strndup(wrong->message, (gsize)(what - wrong->message)) : g_strdup("postgres");
  return scenario_complain(s, key, "%s", what ? what + 2 : wrong->message);
}

bool scenario_bind_postgres(const Scenario *s, PgConfig *out, GError **error) {
  g_autoptr(GError) wrong = NULL;
  *out = (PgConfig){.variant = variant_name(s)};
  bind_members(s, out);
  bind_policies(s, out);
  bind_background(s, out);
  bind_steps(s, out);
  out->listen_backlog = backlog(s, out);
  out->postmaster_ptes =
      scenario_bytes(s, "machine.postmaster_resident") / scenario_bytes(s, "machine.postmaster_page_size");
  if (out->superuser_reserved_connections + out->reserved_connections >= out->max_connections)
    g_propagate_error(error, scenario_complain(s, "postgres.max_connections",
                                               "is %d; superuser_reserved_connections (%d) "
                                               "plus reserved_connections (%d) must be less",
                                               out->max_connections, out->superuser_reserved_connections,
                                               out->reserved_connections));
  else if (!pg_config_valid(out, &wrong))
    g_propagate_error(error, complain(s, wrong));
  else
    return true;
  return false;
}
