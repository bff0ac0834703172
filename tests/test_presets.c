/* The presets of versions 14 to 19 say what the model's own table of versions says (config.c): two places that were
 * written down apart from the same facts. */
#include "sim/scenario/assets.h"
#include "sim/scenario/scenario.h"
#include "tests/harness.h"
#include "tests/pg_versions.h"
#include <stddef.h>

static bool preset(int version, PgConfig *out) {
  g_auto(GStrv) dirs = asset_dirs(NULL);
  ScenarioOptions opt = {.dirs = (const char *const *)dirs};
  g_autofree char *text = g_strdup_printf("scenario: preset\nabout: A version as it is.\npostgres: {version: %d}\n"
                                          "workload: {kind: pgbench, clients: 1}\n",
                                          version);
  g_autoptr(GError) error = NULL;
  g_autoptr(Scenario) s = scenario_from_text(text, strlen(text), "preset.yaml", &opt, &error);
  bool ok = s && scenario_bind_postgres(s, out, &error);
  if (!ok) fprintf(stderr, "version %d: %s\n", version, error->message);
  return ok;
}

typedef struct {
  const char *name;
  size_t at, size;
} Member;
#define MEMBER(m)                                                                                                      \
  { #m, offsetof(PgConfig, m), sizeof(((PgConfig *)0)->m) }

/* int, bool or an enum. */
static int value(const PgConfig *c, const Member *m) {
  const char *at = (const char *)c + m->at;
  return m->size == sizeof(bool) ? *(const bool *)at : *(const int *)at;
}

static void same(const Member *members, guint n) {
  for (int version = 14; version <= 19; version++) {
    PgConfig a, b;
    expect(pg_config_version(version, &b));
    if (!preset(version, &a)) CU_FAIL_FATAL("no preset");
    for (guint i = 0; i < n; i++) {
      if (value(&a, &members[i]) != value(&b, &members[i]))
        fprintf(stderr, "version %d, %s:\n", version, members[i].name);
      expect_int(value(&a, &members[i]), ==, value(&b, &members[i]));
    }
  }
}

static void sizes(void) {
  static const Member members[] = {MEMBER(pgproc_size),
                                   MEMBER(pgproc_align),
                                   MEMBER(off_pgxactoff),
                                   MEMBER(off_links),
                                   MEMBER(off_pid),
                                   MEMBER(tail_bytes),
                                   MEMBER(fast_path_bytes),
                                   MEMBER(proc_hdr_bytes),
                                   MEMBER(proc_array_header_bytes),
                                   MEMBER(sinval_entry_bytes),
                                   MEMBER(proc_signal_bytes),
                                   MEMBER(backend_status_bytes),
                                   MEMBER(ssl_status_bytes),
                                   MEMBER(gss_status_bytes),
                                   MEMBER(auxiliary_types),
                                   MEMBER(max_connections),
                                   MEMBER(autovacuum_max_workers),
                                   MEMBER(max_worker_processes),
                                   MEMBER(max_wal_senders),
                                   MEMBER(max_prepared_transactions),
                                   MEMBER(superuser_reserved_connections),
                                   MEMBER(reserved_connections),
                                   MEMBER(auxiliary_procs),
                                   MEMBER(autovacuum_pool_by_slots)};
  same(members, G_N_ELEMENTS(members));
}

static void policies(void) {
  static const Member members[] = {MEMBER(take),
                                   MEMBER(give),
                                   MEMBER(initial),
                                   MEMBER(links),
                                   MEMBER(leader_at_head),
                                   MEMBER(offsets),
                                   MEMBER(order),
                                   MEMBER(read_before_write),
                                   MEMBER(one_chunk),
                                   MEMBER(header_place),
                                   MEMBER(child_list),
                                   MEMBER(sinval),
                                   MEMBER(clear_pid_at_exit),
                                   MEMBER(bg_autovacuum),
                                   MEMBER(bg_bgworkers),
                                   MEMBER(bg_walsenders),
                                   MEMBER(bg_prepared),
                                   MEMBER(bg_slotsync),
                                   MEMBER(superusers),
                                   MEMBER(snapshots)};
  same(members, G_N_ELEMENTS(members));
}

static void pools(void) {
  for (int version = 14; version <= 19; version++) {
    PgConfig a, b;
    expect(pg_config_version(version, &b));
    if (!preset(version, &a)) CU_FAIL_FATAL("no preset");
    PgPools p, q;
    pg_pools(&a, &p);
    pg_pools(&b, &q);
    expect_int(p.autovacuum, ==, q.autovacuum);
    expect_int(p.total, ==, q.total);
  }
}

int main(void) {
  return suite_run("presets", (const Case[]){{"sizes", sizes}, {"policies", policies}, {"pools", pools}, {0}});
}
