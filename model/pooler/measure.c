/* measure.c stub */
#include "model/pooler/state.h"
struct Measure {
  int x;
  GString *last;
  GString *name;
  double n[OUT_COUNT];
};
Measure *measure_new(const Pooler *p) {
  (void)p;
  Measure *m = g_new0(Measure, 1);
  m->last = g_string_new("");
  m->name = g_string_new("");
  return m;
}
void measure_free(Measure *m) {
  g_string_free(m->last, TRUE);
  g_string_free(m->name, TRUE);
  g_free(m);
}
void measure_count(Pooler *p, guint pool, Count what, guint n) {
  (void)p;
  (void)pool;
  (void)what;
  (void)n;
}
void measure_bytes(Pooler *p, guint n) {
  (void)p;
  (void)n;
}
void measure_server(Pooler *p, const Server *s, int was) {
  (void)p;
  (void)s;
  (void)was;
}
void measure_session(Pooler *p, const Session *e, int was) {
  (void)p;
  (void)e;
  (void)was;
}
void measure_cancel(Pooler *p, const Cancel *x, Outcome o) {
  (void)x;
  p->measure->n[o]++;
  static const char *k[] = {"cancel.hit",     "cancel.self_late", "cancel.misroute", "cancel.pooler_own", "cancel.noop",
                            "cancel.foreign", "cancel.lost",      "cancel.dropped",  "cancel.unsent"};
  ledger_add(world_ledger(p->w), k[o], 1);
}
void measure_wait_begin(Pooler *p, const Session *e) {
  (void)p;
  (void)e;
}
void measure_wait_end(Pooler *p, const Session *e, bool served) {
  (void)p;
  (void)e;
  (void)served;
}
void measure_query(Pooler *p, const Session *e, QueryResult r) {
  (void)p;
  (void)e;
  (void)r;
}
void measure_refused(Pooler *p, const Client *c) {
  (void)p;
  (void)c;
}
void measure_deadline(Pooler *p, const Client *c) {
  (void)p;
  (void)c;
}
void measure_cancel_sent(Pooler *p, const Cancel *x) {
  (void)p;
  (void)x;
}
void measure_cancel_over(Pooler *p, const Cancel *x) {
  (void)p;
  (void)x;
}
void measure_carrier(Pooler *p, guint pool, int by) {
  (void)p;
  (void)pool;
  (void)by;
}
void pooler_say(Pooler *p, const char *format, ...) {
  va_list a;
  va_start(a, format);
  g_string_vprintf(p->measure->last, format, a);
  va_end(a);
}
const char *pooler_last(const Pooler *p) {
  return p->measure->last->str;
}
const char *pooler_client_name(const Pooler *p, guint c) {
  const Client *cl = &p->clients[c];
  const ClientDef *d = client_def(p, cl);
  g_string_printf(p->measure->name, d->count == 1 ? "%s" : "%s.%u", d->name, cl->copy);
  return p->measure->name->str;
}
const char *pooler_session_name(const Pooler *p, guint e) {
  return pooler_client_name(p, e / p->stride);
}
void pooler_write_metrics(Pooler *p){(void)p;}
