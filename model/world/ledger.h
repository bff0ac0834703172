/* ledger.h - what a run cost, outside the state: counters, and charges of faults, stores and time to a structure's
 * field, a site in the code and the locks held meanwhile. Nothing a model decides may depend on it. */
#pragma once
#include <glib.h>
#include <stdint.h>

typedef struct Ledger Ledger;
typedef uint16_t FieldId; /* "PGPROC.pgxactoff"; 0 is none */
typedef uint16_t SiteId;  /* "ProcArrayAdd"; 0 is none */

typedef struct {
  int64_t faults, stores, loads, lines, ns;
} Charge;

/* One row of the hot-spot table. */
typedef struct {
  const char *structure, *site; /* owned by the ledger */
  Charge total, under_lock;     /* under_lock: the part while at least one LWLock was held */
} HotSpot;

Ledger *ledger_new(void);
void ledger_free(Ledger *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ledger, ledger_free)

FieldId ledger_field(Ledger *l, const char *name); /* interns */
SiteId ledger_site(Ledger *l, const char *name);
const char *ledger_field_name(const Ledger *l, FieldId f);
const char *ledger_site_name(const Ledger *l, SiteId s);

/* Adds c to (field, site), and to each of the n locks (their site ids) held. */
void ledger_charge(Ledger *l, FieldId f, SiteId s, const SiteId *locks, guint n_locks, Charge c);
Charge ledger_total(const Ledger *l, FieldId f, SiteId s); /* 0 is a wildcard */
Charge ledger_lock(const Ledger *l, SiteId lock);          /* all that was charged while it was held */
GArray *ledger_hot_spots(const Ledger *l);                 /* of HotSpot, most ns first, ties by name; caller frees */

/* Counters by name: metrics of a run. Names are flat ("iteration[2].connect_faults"). */
void ledger_add(Ledger *l, const char *name, double by);
void ledger_set(Ledger *l, const char *name, double value);
gboolean ledger_get(const Ledger *l, const char *name, double *value);
/* In order of first use. */
void ledger_each(const Ledger *l, void (*fn)(const char *name, double value, void *data), void *data);
void ledger_clear_charges(Ledger *l);
