/* background.c - who is there before the first client: launchers, walsenders, prepared transactions. They hold slots
 * with higher numbers than every client's, so even an ascending connect has them behind it in the proc array.
 *
 * They are no processes here; nothing they do later is modelled. A slotsync worker takes its slot from the special
 * workers' part of the autovacuum pool where the version pays for it (special_workers 2), else from the clients' pool:
 * one client fewer than max_connections says (2bdf1b2a2e, December 2024). */
#include "model/postgres/backend.h"

enum { PROC_AFFECTS_ALL_HORIZONS = 0x20, FIRST_PREPARED_XID = 700 };

typedef struct {
  PgPool pool;
  int n;
  uint8_t status;
} Kind;

/* -1: the code refused it. */
static int code_put(PgServer *sv, AddressSpace *as, PgPool pool, int nth) {
  const PgCode *code = sv->config.code;
  int process = code->fork(code->data, as, pool, 100 + (int)pool * 1000 + nth);
  const PgCall calls[] = {PGCALL_INIT_PROCESS, PGCALL_JOIN};
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
    if (code->at_once(code->data, process, calls[i]) == PGCODE_ENDED) return -1;
  int procno = code->procno(code->data, process);
  slot_passed(sv->shared, procno, PG_BACKGROUND);
  return procno;
}

static int put_in_array(PgServer *sv, AddressSpace *as, const Kind *k, int nth) {
  PgShared *s = sv->shared;
  PgCost c = {0};
  int procno = slot_take(s, k->pool, PG_BACKGROUND, as, &c);
  g_assert(procno >= 0); /* pg_config_valid */
  bool prepared = k->pool == PG_PREPARED;
  slot_initialize(s, procno, prepared ? 0 : 100 + procno, as, &c);
  slot_advertise(s, procno, prepared ? (uint32_t)(FIRST_PREPARED_XID + nth) : 0, prepared ? 1 : 0, k->status);
  int place = procarray_add(s, procno, as, &c);
  g_assert(place >= 0);
  return procno;
}

static void put_one(PgServer *sv, AddressSpace *as, const Kind *k, int nth) {
  PgShared *s = sv->shared;
  PgCost c = {0};
  int procno = sv->config.code ? code_put(sv, as, k->pool, nth) : put_in_array(sv, as, k, nth);
  if (k->pool == PG_PREPARED || procno < 0) return;
  sinval_add(s, procno, as, &c);
  proc_signal_write(s, procno, as, &c);
  backend_status_write(s, procno, false, as, &c);
}

void background_start(PgServer *sv) {
  const PgConfig *c = &sv->config;
  bool paid = c->special_workers > 1;
  const Kind kinds[] = {{PG_AUTOVACUUM, c->bg_autovacuum, 0},
                        {PG_BGWORKERS, c->bg_bgworkers, 0},
                        {paid ? PG_AUTOVACUUM : PG_BACKENDS, c->bg_slotsync, 0},
                        {PG_WALSENDERS, c->bg_walsenders, PROC_AFFECTS_ALL_HORIZONS},
                        {PG_PREPARED, c->bg_prepared, 0}};
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (int i = 0; i < kinds[k].n; i++) {
      g_autoptr(AddressSpace) as = address_space_new(pg_segment(sv->shared), ++sv->owners);
      put_one(sv, as, &kinds[k], i);
    }
}
