/* test_ledger.c - sums against a plain list of every charge; orders by hand. */
#include "model/world/ledger.h"
#include "model/world/rng.h"
#include "tests/harness.h"

enum { FIELDS = 20, SITES = 150, LOCKS = 3, CHARGES = 20000 };

typedef struct {
  FieldId f;
  SiteId s, locks[LOCKS];
  guint n_locks;
  Charge c;
} Made;

static gboolean same_charge(Charge a, Charge b) {
  return a.faults == b.faults && a.stores == b.stores && a.loads == b.loads && a.lines == b.lines && a.ns == b.ns;
}

static void plus(Charge *to, Charge c) {
  to->faults += c.faults, to->stores += c.stores, to->loads += c.loads, to->lines += c.lines, to->ns += c.ns;
}

static Charge draw_charge(Rng *r) {
  return (Charge){(int64_t)rng_below(r, 3), (int64_t)rng_below(r, 9), (int64_t)rng_below(r, 5),
                  (int64_t)rng_below(r, 2), (int64_t)rng_below(r, 5000)};
}

/* Site 1..3 are the locks; 0 is nobody. Names are interned as they come, between charges. */
static GArray *charge_at_random(Ledger *l, Rng *r) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Made));
  SiteId lock[LOCKS] = {ledger_site(l, "XidGenLock"), ledger_site(l, "ProcArrayLock"), ledger_site(l, "third")};
  for (int i = 0; i < CHARGES; i++) {
    g_autofree char *field = g_strdup_printf("f%d", (int)rng_below(r, FIELDS));
    g_autofree char *site = g_strdup_printf("s%d", (int)rng_below(r, SITES));
    Made m = {.f = ledger_field(l, field), .s = ledger_site(l, site), .c = draw_charge(r)};
    if (rng_below(r, 20) == 0) m.f = 0;
    if (rng_below(r, 20) == 0) m.s = 0;
    m.n_locks = (guint)rng_below(r, LOCKS + 1);
    memcpy(m.locks, lock, sizeof lock);
    ledger_charge(l, m.f, m.s, m.locks, m.n_locks, m.c);
    g_array_append_val(all, m);
  }
  return all;
}

static Charge total_of(const GArray *all, FieldId f, SiteId s) {
  Charge sum = {0};
  for (guint i = 0; i < all->len; i++) {
    const Made *m = &g_array_index(all, Made, i);
    if ((f == 0 || m->f == f) && (s == 0 || m->s == s)) plus(&sum, m->c);
  }
  return sum;
}

static Charge lock_of(const GArray *all, SiteId lock) {
  Charge sum = {0};
  for (guint i = 0; i < all->len; i++) {
    const Made *m = &g_array_index(all, Made, i);
    for (guint k = 0; k < m->n_locks; k++)
      if (m->locks[k] == lock) plus(&sum, m->c);
  }
  return sum;
}

static void totals_and_locks_add_up(void) {
  g_autoptr(Ledger) l = ledger_new();
  Rng r;
  rng_init(&r, 1, "ledger");
  g_autoptr(GArray) all = charge_at_random(l, &r);
  expect(same_charge(ledger_total(l, 0, 0), total_of(all, 0, 0)));
  for (guint i = 0; i <= FIELDS; i++) {
    FieldId f = (FieldId)i;
    expect(same_charge(ledger_total(l, f, 0), total_of(all, f, 0)));
    for (guint k = 0; k < SITES; k += 13)
      expect(same_charge(ledger_total(l, f, (SiteId)k), total_of(all, f, (SiteId)k)));
  }
  for (guint k = 0; k <= LOCKS; k++) expect(same_charge(ledger_lock(l, (SiteId)k), lock_of(all, (SiteId)k)));
}

/* What the rows of the table say, summed, is everything; each row is the sum of its own charges. */
static void hot_spots_are_complete_and_sorted(void) {
  g_autoptr(Ledger) l = ledger_new();
  Rng r;
  rng_init(&r, 2, "ledger");
  g_autoptr(GArray) all = charge_at_random(l, &r);
  g_autoptr(GArray) spots = ledger_hot_spots(l);
  Charge sum = {0}, under = {0}, want = {0};
  for (guint i = 0; i < spots->len; i++) {
    const HotSpot *h = &g_array_index(spots, HotSpot, i), *next = h + 1;
    plus(&sum, h->total);
    plus(&under, h->under_lock);
    if (i + 1 < spots->len) expect_int(h->total.ns, >=, next->total.ns);
  }
  for (guint i = 0; i < all->len; i++)
    if (g_array_index(all, Made, i).n_locks) plus(&want, g_array_index(all, Made, i).c);
  expect(same_charge(sum, total_of(all, 0, 0)));
  expect(same_charge(under, want));
}

static void equal_hot_spots_are_sorted_by_name(void) {
  g_autoptr(Ledger) l = ledger_new();
  const char *pairs[][2] = {{"b", "y"}, {"b", "x"}, {"a", "z"}, {"c", "w"}};
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
    ledger_charge(l, ledger_field(l, pairs[i][0]), ledger_site(l, pairs[i][1]), NULL, 0,
                  (Charge){.ns = i == 3 ? 9 : 5});
  ledger_charge(l, 0, 0, NULL, 0, (Charge){.faults = 1});
  g_autoptr(GArray) spots = ledger_hot_spots(l);
  g_autoptr(GString) order = g_string_new(NULL);
  for (guint i = 0; i < spots->len; i++) {
    const HotSpot *h = &g_array_index(spots, HotSpot, i);
    g_string_append_printf(order, "%s.%s ", h->structure, h->site);
  }
  expect_str(order->str, "c.w a.z b.x b.y -.- ");
}

static void interns_names(void) {
  g_autoptr(Ledger) l = ledger_new();
  FieldId a = ledger_field(l, "PGPROC.pgxactoff"), b = ledger_field(l, "PGPROC.links");
  expect_int(a, !=, 0);
  expect_int(a, !=, b);
  expect_int(ledger_field(l, "PGPROC.pgxactoff"), ==, a);
  expect_str(ledger_field_name(l, b), "PGPROC.links");
  expect_str(ledger_site_name(l, ledger_site(l, "ProcArrayAdd")), "ProcArrayAdd");
  expect_str(ledger_site_name(l, 0), "-");
}

static void append(const char *name, double value, void *data) {
  g_string_append_printf(data, "%s=%g ", name, value);
}

static void counters_keep_order_of_first_use(void) {
  g_autoptr(Ledger) l = ledger_new();
  ledger_add(l, "zebra", 1);
  ledger_set(l, "apple", 5);
  ledger_add(l, "zebra", 2);
  ledger_set(l, "mango", 1);
  ledger_set(l, "apple", 7);
  g_autoptr(GString) all = g_string_new(NULL);
  ledger_each(l, append, all);
  expect_str(all->str, "zebra=3 apple=7 mango=1 ");
  double value = -1;
  expect(ledger_get(l, "apple", &value));
  expect_int(value, ==, 7);
  expect(!ledger_get(l, "pear", &value));
}

static void clearing_charges_keeps_names_and_counters(void) {
  g_autoptr(Ledger) l = ledger_new();
  FieldId f = ledger_field(l, "f");
  SiteId s = ledger_site(l, "s");
  ledger_add(l, "n", 3);
  ledger_charge(l, f, s, &s, 1, (Charge){.ns = 5});
  ledger_clear_charges(l);
  expect_int(ledger_total(l, 0, 0).ns, ==, 0);
  expect_int(ledger_lock(l, s).ns, ==, 0);
  ledger_charge(l, f, s, &s, 1, (Charge){.ns = 2});
  expect_int(ledger_total(l, f, s).ns, ==, 2);
  double n = 0;
  expect(ledger_get(l, "n", &n));
  expect_int(n, ==, 3);
}

int main(void) {
  return suite_run(
      "ledger", (const Case[]){{"totals and locks add up", totals_and_locks_add_up},
                               {"hot spots are complete and sorted", hot_spots_are_complete_and_sorted},
                               {"equal hot spots are sorted by name", equal_hot_spots_are_sorted_by_name},
                               {"interns names", interns_names},
                               {"counters keep the order of first use", counters_keep_order_of_first_use},
                               {"clearing charges keeps names and counters", clearing_charges_keeps_names_and_counters},
                               {0}});
}
