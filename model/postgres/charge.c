/* charge.c - what an operation did becomes time, charges in the ledger, and sums of the iteration.
 *
 * Lines fetched one by one cost a transfer each; those that follow one another are streamed, and their time is in the
 * moved byte's. Each charge goes to structure and field, to the function, and to the LWLocks held. */
#include "model/postgres/backend.h"
#include <string.h>

static const char *const site_names[SITE_COUNT] = {
    [SITE_CHILD_ACTIVE] = "RegisterPostmasterChildActive",
    [SITE_INIT_PROCESS] = "InitProcess",
    [SITE_ADD] = "ProcArrayAdd",
    [SITE_SINVAL_INIT] = "SharedInvalBackendInit",
    [SITE_PROC_SIGNAL_INIT] = "ProcSignalInit",
    [SITE_SNAPSHOT] = "GetSnapshotData",
    [SITE_HAVE_FREE] = "HaveNFreeProcs",
    [SITE_BESTART] = "pgstat_bestart",
    [SITE_PROC_SIGNAL_CLEANUP] = "CleanupProcSignalState",
    [SITE_SINVAL_CLEANUP] = "CleanupInvalidationState",
    [SITE_BESHUTDOWN] = "pgstat_beshutdown_hook",
    [SITE_REMOVE] = "ProcArrayRemove",
    [SITE_PROC_KILL] = "ProcKill",
    [SITE_CHILD_INACTIVE] = "MarkPostmasterChildInactive",
};

void charges_open(PgServer *sv) {
  Ledger *l = world_ledger(sv->w);
  for (PgField f = 0; f < PGF_COUNT; f++) sv->fields[f] = ledger_field(l, pg_field_name(f));
  for (PgSite s = 0; s < SITE_COUNT; s++) sv->sites[s] = ledger_site(l, site_names[s]);
}

/* A huge page has a cost of its own, if a profile knows one. */
static int64_t faults_ns(const World *w, const Touch *t, bool huge) {
  if (huge && world_cost(w, COST_FAULT_HUGE, 1000) > 0)
    return pg_cost(w, COST_FAULT_HUGE, t->write_faults + t->read_faults);
  return pg_cost(w, COST_FAULT_WRITE, t->write_faults) + pg_cost(w, COST_FAULT_READ, t->read_faults);
}

int64_t pg_touch_ns(const World *w, const Touch *t, bool huge) {
  return faults_ns(w, t, huge) + pg_cost(w, COST_FAULT_AROUND_PAGE, t->around) +
         pg_cost(w, COST_PAGE_TABLE_PAGE, t->tables) + pg_cost(w, COST_LINE_TRANSFER, t->lines - t->seq_lines) +
         pg_cost(w, COST_TLB_L2_HIT, t->tlb_l2_hits) + pg_cost(w, COST_TLB_MISS, t->tlb_misses);
}

static int64_t use_ns(const PgServer *sv, const PgUse *u, int64_t followers) {
  return pg_touch_ns(sv->w, &u->touch, sv->huge_pages) + server_cost(sv, COST_MOVE_BYTE, u->moved_bytes) +
         server_cost(sv, COST_SCAN_ENTRY, u->scanned) + server_cost(sv, COST_STORE_ENTRY, followers);
}

static void add_to_sums(Sums *sums, PgSite site, const PgCost *c, int64_t faults, int64_t allprocs) {
  if (site >= SITE_EXIT) {
    sums->disconnect_faults += faults;
    sums->moved_out += c->moved;
    return;
  }
  sums->connect_faults += faults;
  sums->allprocs_faults += allprocs;
  sums->stores += c->followers;
  sums->moved += c->moved;
}

int64_t server_charge(PgServer *sv, ProcId self, PgSite site, const PgCost *c, bool counted) {
  SiteId locks[LOCKS_HELD_MAX];
  guint n_locks = lock_held_by(sv->w, self, locks, G_N_ELEMENTS(locks));
  int64_t total_ns = 0, total_faults = 0, allprocs = 0;
  for (PgField f = 0; f < PGF_COUNT; f++) {
    const PgUse *u = &c->use[f];
    if (u->loads == 0 && u->stores == 0) continue;
    int64_t faults = u->touch.read_faults + u->touch.write_faults;
    int64_t ns = use_ns(sv, u, f == PGF_PGXACTOFF || f == PGF_PGXACTOFFS ? c->followers : 0);
    Charge charge = {.faults = faults, .stores = u->stores, .loads = u->loads, .lines = u->touch.lines, .ns = ns};
    ledger_charge(world_ledger(sv->w), sv->fields[f], sv->sites[site], locks, n_locks, charge);
    total_ns = ns_sum(total_ns, ns);
    total_faults += faults;
    if (pg_field_in_pgproc(f)) allprocs += faults;
  }
  g_array_index(sv->tallies, BackendTally, self).faults += total_faults;
  if (counted) add_to_sums(&sv->sums, site, c, total_faults, allprocs);
  return MIN(total_ns, NS_NEVER);
}

/* "5120,5122-5130" of the segment as pages of the PGPROC array, counted from its first: "0,2-10". */
static char *pgproc_pages(const PgServer *sv, const char *record) {
  uint64_t first, n;
  pg_pgproc_pages(sv->shared, &first, &n);
  GString *out = g_string_new(NULL);
  for (const char *at = record; at && *at;) {
    char *end;
    uint64_t low = g_ascii_strtoull(at, &end, 10), high = low;
    if (*end == '-') high = g_ascii_strtoull(end + 1, &end, 10);
    at = *end == ',' ? end + 1 : end;
    if (high < first || low >= first + n) continue;
    low = MAX(low, first) - first;
    high = MIN(high - first, n - 1);
    g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, out->len ? "," : "", low);
    if (high > low) g_string_append_printf(out, "-%" G_GUINT64_FORMAT, high);
  }
  return g_string_free(out, FALSE);
}

void server_note_use(PgServer *sv, ProcId self, int procno, const PgCodeUse *u) {
  if (!world_noted(sv->w)) return;
  g_autofree char *record = address_space_take_record(pg_server_space(sv, self));
  g_autofree char *pages = pgproc_pages(sv, record);
  NoteField fields[4] = {{"procno", procno, NULL}, {"faults", u->faults, NULL}, {"followers", u->followers, NULL}};
  guint n = 3;
  if (pages[0]) fields[n++] = (NoteField){"pages", 0, pages};
  world_note(sv->w, self, "code", fields, n);
}

void server_note(PgServer *sv, ProcId self, PgSite site, const PgCost *c, int procno, int rank) {
  if (!world_noted(sv->w)) return;
  AddressSpace *as = pg_server_space(sv, self);
  g_autofree char *record = address_space_take_record(as);
  g_autofree char *pages = pgproc_pages(sv, record);
  int64_t faults = 0;
  for (PgField f = 0; f < PGF_COUNT; f++) faults += c->use[f].touch.read_faults + c->use[f].touch.write_faults;
  NoteField fields[6] = {{"procno", procno, NULL}, {"faults", faults, NULL}};
  guint n = 2;
  if (rank >= 0) fields[n++] = (NoteField){"rank", rank, NULL};
  if (site == SITE_ADD || site == SITE_REMOVE) fields[n++] = (NoteField){"followers", c->followers, NULL};
  if (pages[0]) fields[n++] = (NoteField){"pages", 0, pages};
  world_note(sv->w, self, site_names[site], fields, n);
}
