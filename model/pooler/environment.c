/* environment.c - what the world does to servers and poolers: events, moments. */
#include "model/pooler/state.h"

static Step event_resume(World *w, ProcId self, void *locals) {
  (void)w, (void)self, (void)locals;
  return step_done();
}
static const char *event_at(const World *w, const void *locals) {
  (void)w, (void)locals;
  return "event";
}
const ProcessType event_type = {"event", sizeof(uint32_t), event_resume, event_at};
void event_start(Pooler *p, guint event) {
  *(uint32_t *)world_locals(p->w, world_spawn(p->w, p->t_event, 0)) = event;
}

void pool_adopt(Pooler *p, Server *s, guint to) {
  (void)p, (void)s, (void)to;
}
/* ---- moments: when loops end ---- */
static Step moment_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  p->shared->moments |= 1u << *(uint32_t *)locals;
  return step_done();
}
static const char *moment_at(const World *w, const void *locals) {
  (void)w, (void)locals;
  return "the moment comes";
}
const ProcessType moment_type = {"moment", sizeof(uint32_t), moment_resume, moment_at};
void moment_start(Pooler *p, guint moment) {
  ProcId proc = world_spawn(p->w, p->t_moment, config_of(p)->work.moments[moment]);
  *(uint32_t *)world_locals(p->w, proc) = moment;
}
