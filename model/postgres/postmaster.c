/* postmaster.c - one process that does everything one after the other: first reaps the children that have ended, then
 * accepts one connection and forks a backend for it, then looks again. (Since 16 the loop is built so: latch work comes
 * before accepting; earlier ones handled SIGCHLD at once, which comes to the same order.)
 *
 * To 17 canAcceptConnections counts all children by a walk for each connect; a dead child is found by a walk in every
 * version. Beyond the limit of children a dead-end child is forked, only to say so. */
#include "model/postgres/backend.h"

typedef struct {
  MachineHead head;
  int32_t conn;
} Postmaster;
enum { P_SERVER_LOOP, P_FORK };

static void note_exited(PgServer *sv, int child) {
  ServerState *st = sv->state;
  sv->child[child].next = -1;
  if (st->exited_first < 0)
    st->exited_first = child;
  else
    sv->child[st->exited_last].next = child;
  st->exited_last = child;
}

static void take_messages(PgServer *sv) {
  ServerState *st = sv->state;
  for (Message m; channel_take(sv->w, sv->postmaster_inbox, &m);) {
    if (m.kind == MSG_EXITED) {
      note_exited(sv, (int)m.from);
      continue;
    }
    g_assert(m.kind == MSG_CONNECT && st->listen_count < sv->n_conns);
    sv->listen_ring[(st->listen_first + st->listen_count++) % sv->n_conns] = (int32_t)m.from;
  }
}

static Step reap(PgServer *sv) {
  int child = sv->state->exited_first;
  sv->state->exited_first = sv->child[child].next;
  int64_t ns = server_cost(sv, COST_REAP, 1) + server_cost(sv, COST_CHILD_LIST_ENTRY, child_walk(sv, child));
  child_remove(sv, child);
  return work(ns);
}

static Step accept_one(PgServer *sv, Postmaster *p) {
  ServerState *st = sv->state;
  p->conn = sv->listen_ring[st->listen_first];
  sv->listen_ring[st->listen_first] = 0;
  st->listen_first = --st->listen_count ? (st->listen_first + 1) % sv->n_conns : 0;
  st->queued--;
  int64_t ns = server_cost(sv, COST_ACCEPT, 1) + server_cost(sv, COST_FORK, 1) +
               server_cost(sv, COST_FORK_PER_PTE, sv->config.postmaster_ptes);
  if (sv->config.child_list == CHILD_LIST_WALKED) ns += server_cost(sv, COST_CHILD_LIST_ENTRY, st->children);
  p->head.pc = P_FORK;
  return work(ns);
}

static Step server_loop(World *w, ProcId self, void *locals) {
  Postmaster *p = locals;
  PgServer *sv = world_data(w, self);
  p->head.pc = P_SERVER_LOOP;
  take_messages(sv);
  if (sv->state->exited_first >= 0) return reap(sv);
  if (sv->state->listen_count > 0) return accept_one(sv, p);
  return channel_await(w, sv->postmaster_inbox, self);
}

static Step fork_child(World *w, ProcId self, void *locals) {
  Postmaster *p = locals;
  PgServer *sv = world_data(w, self);
  int child = child_add(sv, false);
  ProcId backend = backend_spawn(sv, p->conn, child);
  if (world_noted(w)) {
    NoteField fields[] = {
        {"child", backend, NULL}, {"connection", p->conn, NULL}, {"children", sv->state->children, NULL}};
    world_note(w, self, "fork", fields, G_N_ELEMENTS(fields));
  }
  p->head.pc = P_SERVER_LOOP;
  return step_ran();
}

static const Stage stages[] = {
    [P_SERVER_LOOP] = {"ServerLoop", server_loop}, [P_FORK] = {"BackendStartup", fork_child}};
static Step resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, stages);
}
static const char *at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, stages);
}
static void stages_names(const World *w, void (*each)(const char *name, void *data), void *data) {
  (void)w;
  machine_stages(stages, G_N_ELEMENTS(stages), each, data);
}
const TypeGuide postmaster_guide = {.stages = stages_names};
const ProcessType postmaster_type = {"postmaster", sizeof(Postmaster), resume, at};
