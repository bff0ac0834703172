/* own_checks.c - see own_checks.h. A Check is judged with the model alone, so each place in the list has functions of
 * its own. */
#include "sim/own_checks.h"

struct OwnChecks {
  const OwnChecksOps *ops;
  Check *checks; /* counted: results outlive models */
  guint n;
};

#define PLACE(i)                                                                                                       \
  static Judgement judge_##i(const Model *m, GString *why) {                                                           \
    return m->own->ops->judge(m, i, why);                                                                              \
  }                                                                                                                    \
  static guint subjects_##i(const Model *m) {                                                                          \
    return m->own->ops->subjects(m, i);                                                                                \
  }                                                                                                                    \
  static bool pending_##i(const Model *m, guint subject, GString *why) {                                               \
    return m->own->ops->pending(m, i, subject, why);                                                                   \
  }                                                                                                                    \
  static void reads_##i(const Model *m, Footprint *f) {                                                                \
    m->own->ops->reads(m, i, f);                                                                                       \
  }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
PLACE(4)
PLACE(5)
PLACE(6)
PLACE(7)

#define EACH(f)                                                                                                        \
  { f##0, f##1, f##2, f##3, f##4, f##5, f##6, f##7 }
static Judgement (*const judges[OWN_CHECKS_MAX])(const Model *, GString *) = EACH(judge_);
static guint (*const subjects[OWN_CHECKS_MAX])(const Model *) = EACH(subjects_);
static bool (*const pendings[OWN_CHECKS_MAX])(const Model *, guint, GString *) = EACH(pending_);
static void (*const readers[OWN_CHECKS_MAX])(const Model *, Footprint *) = EACH(reads_);

void own_checks_open(Model *m, const OwnChecksOps *ops) {
  g_assert(!m->own);
  m->own = g_new0(struct OwnChecks, 1);
  m->own->ops = ops;
  m->own->checks = g_atomic_rc_box_alloc0(sizeof(Check) * OWN_CHECKS_MAX);
}

void own_checks_put(Model *m, const char *name, const char *about, bool liveness) {
  guint i = m->own->n++;
  g_assert(i < OWN_CHECKS_MAX);
  m->own->checks[i] = (Check){.name = name,
                              .about = about,
                              .sees = SEES_INSIDE,
                              .judge = judges[i],
                              .subjects = liveness ? subjects[i] : NULL,
                              .pending = liveness ? pendings[i] : NULL,
                              .reads = m->own->ops->reads && !liveness ? readers[i] : NULL};
}

void own_checks_close(Model *m) {
  if (!m->own) return;
  g_atomic_rc_box_release(m->own->checks);
  g_clear_pointer(&m->own, g_free);
}

CheckTable own_checks(const Model *m) {
  return m->own ? (CheckTable){m->own->checks, m->own->n} : (CheckTable){NULL, 0};
}

gpointer own_checks_keep(const Model *m) {
  return m->own ? g_atomic_rc_box_acquire(m->own->checks) : NULL;
}
