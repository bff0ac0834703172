/* fit.c - the search. See fit.h. */
#include "sim/fit.h"
#include <math.h>
#include <nlopt.h>

typedef struct {
  const FitProblem *p;
  FitResult *best;
  double *figures;
  nlopt_opt running;
  bool failed;
  GError *error;
} Search;

void fit_result_clear(FitResult *r) {
  g_clear_pointer(&r->figures, g_free);
}

/* ---- points of the search: 0..1 is from low to high, in logarithms ---- */

static int64_t at(const FitFree *f, double u) {
  double ps = (double)f->low * exp(u * log((double)f->high / (double)f->low));
  return CLAMP((int64_t)llround(ps), f->low, f->high);
}

static double place(const FitFree *f, int64_t ps) {
  if (ps <= 0) return 0.5;
  double u = log((double)ps / (double)f->low) / log((double)f->high / (double)f->low);
  return CLAMP(u, 0, 1);
}

FitBound fit_at_bound(const FitFree *f, int64_t ps) {
  double u = place(f, ps);
  return u < 0.01 ? FIT_AT_LOW : u > 0.99 ? FIT_AT_HIGH : FIT_INSIDE;
}

void fit_judge(const FitProblem *p, FitResult *r) {
  r->objective = r->worst = 0;
  r->worst_cell = r->missed = 0;
  for (guint i = 0; i < p->n_cells; i++) {
    const FitCell *c = &p->cells[i];
    g_assert(c->observed > 0 && c->tolerance > 0);
    if (!c->counted) continue;
    double off = r->figures[i] - c->observed, relative = fabs(off) / c->observed;
    r->objective += off / c->tolerance * (off / c->tolerance);
    r->missed += fabs(off) > c->tolerance;
    if (relative <= r->worst) continue;
    r->worst = relative;
    r->worst_cell = i;
  }
}

static double look(Search *s, const Costs *costs) {
  const FitProblem *p = s->p;
  FitResult now = {.costs = *costs, .figures = s->figures};
  if (!p->simulate(p->data, costs, now.figures, &s->error)) {
    s->failed = true;
    if (s->running) nlopt_force_stop(s->running);
    return HUGE_VAL;
  }
  fit_judge(p, &now);
  now.evals = s->best->evals + 1;
  if (now.evals == 1 || now.objective < s->best->objective) {
    s->figures = s->best->figures;
    *s->best = now;
  }
  s->best->evals = now.evals;
  if (p->progress) p->progress(p->data, now.evals, s->best->worst);
  return now.objective;
}

static double objective(unsigned n, const double *u, double *gradient, void *data) {
  Search *s = data;
  g_assert(!gradient && n == s->p->n_free);
  Costs costs = s->p->base;
  for (guint i = 0; i < n; i++) costs.ps[s->p->free[i].id] = at(&s->p->free[i], u[i]);
  return look(s, &costs);
}

/* CRS2 and subplex end at a tolerance, at the limit, or (subplex) where rounding leaves no step. */
static FitStop stopped_by(nlopt_result r) {
  if (r == NLOPT_MAXEVAL_REACHED) return FIT_LIMIT;
  return r > 0 ? FIT_CONVERGED : FIT_STUCK;
}

static bool minimize(Search *s, nlopt_algorithm algorithm, guint evals, double step, FitStop *stop) {
  guint n = s->p->n_free;
  double u[FIT_MAX_FREE], value;
  for (guint i = 0; i < n; i++) u[i] = place(&s->p->free[i], s->best->costs.ps[s->p->free[i].id]);
  nlopt_opt opt = s->running = nlopt_create(algorithm, n);
  nlopt_set_min_objective(opt, objective, s);
  nlopt_set_lower_bounds1(opt, 0);
  nlopt_set_upper_bounds1(opt, 1);
  nlopt_set_maxeval(opt, (int)evals);
  nlopt_set_xtol_abs1(opt, 2e-4);
  nlopt_set_ftol_rel(opt, 1e-5);
  nlopt_set_initial_step1(opt, step);
  *stop = stopped_by(nlopt_optimize(opt, u, &value));
  nlopt_destroy(opt);
  s->running = NULL;
  return !s->failed;
}

static bool search(const FitProblem *p, FitResult *r, guint global, guint local, GError **error) {
  *r = (FitResult){.costs = p->base, .figures = g_new0(double, p->n_cells)};
  FitStop by_global = FIT_NOT_RUN, by_local = FIT_NOT_RUN;
  Search s = {.p = p, .best = r, .figures = g_new0(double, p->n_cells)};
  g_assert(p->n_free <= FIT_MAX_FREE);
  look(&s, &p->base);
  nlopt_srand((unsigned long)p->seed);
  if (!s.failed && global && p->n_free) minimize(&s, NLOPT_GN_CRS2_LM, global, 0.1, &by_global);
  if (!s.failed && local && p->n_free) minimize(&s, NLOPT_LN_SBPLX, local, global ? 0.05 : 0.1, &by_local);
  r->global = by_global;
  r->local = by_local;
  g_free(s.figures);
  if (s.error) g_propagate_error(error, s.error);
  return !s.failed;
}

bool fit_search(const FitProblem *p, FitResult *r, GError **error) {
  return search(p, r, p->global, p->local, error);
}

bool fit_local(const FitProblem *p, FitResult *r, GError **error) {
  return search(p, r, 0, p->local, error);
}

bool fit_without(const FitProblem *p, const FitResult *best, guint gone, FitResult *r, GError **error) {
  FitProblem rest = *p;
  g_assert(gone < p->n_free);
  rest.base = best->costs;
  rest.base.ps[p->free[gone].id] = 0;
  rest.free[gone] = rest.free[--rest.n_free];
  return fit_local(&rest, r, error);
}
