/* said.c - who is who in a sequence chart of this model, and what one says to another: notes of steps, for traces. A
 * session is its pooler's, whatever client it is of; a cancel is a lifeline of its own, from the client's sending it to
 * the end of the carrier; the postmaster is the one that is told a pid and sends the signal. */
#include "model/pooler/parts.h"
#include <stdarg.h>

Party party_client(guint client) {
  return (Party){PARTY_CLIENT, client};
}
Party party_session(const Session *e) {
  return e->pool == DIRECT ? party_client(e->client) : (Party){PARTY_POOLER, e->process};
}
Party party_server(const Pooler *p, const Server *s) {
  return (Party){PARTY_SERVER, server_id(p, s)};
}
/* Whose connection it is: a pooler's, or of a client that has none between. */
Party party_owner(const Pooler *p, const Server *s) {
  if (s->pool != DIRECT) return (Party){PARTY_POOLER, pool_process(p, s->pool)};
  return party_client((server_id(p, s) - direct_server(p, 0)) / p->stride);
}
Party party_cancel(const Pooler *p, const Cancel *x) {
  return (Party){PARTY_CANCEL, cancel_id(p, x)};
}

static void append_name(const Pooler *p, Party who, GString *out) {
  switch (who.kind) {
  case PARTY_CLIENT: g_string_append_printf(out, "client %s", pooler_client_name(p, who.id)); break;
  case PARTY_POOLER:
    g_string_append(out, "pooler");
    if (config_of(p)->processes > 1) g_string_append_printf(out, " %u", who.id);
    break;
  case PARTY_SERVER: g_string_append_printf(out, "server %u", who.id); break;
  case PARTY_CANCEL: g_string_append_printf(out, "cancel %u", who.id); break;
  case PARTY_HOST: g_string_append_printf(out, "postmaster %s", config_of(p)->servers[who.id].name); break;
  }
}

void said(Pooler *p, ProcId by, Party from, Party to, const char *format, ...) {
  if (!world_noted(p->w)) return;
  g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);
  append_name(p, from, a);
  append_name(p, to, b);
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  world_note_message(p->w, by, a->str, b->str, message);
}

void said_pid(Pooler *p, ProcId by, uint32_t pid) {
  const NoteField f = {"pid", pid, NULL};
  if (world_noted(p->w)) world_note(p->w, by, "key", &f, 1);
}

void said_runs(Pooler *p, ProcId by, const Session *e) {
  const NoteField f = {"query", 0, said_query(p, e->client, e->query)};
  if (world_noted(p->w)) world_note(p->w, by, "runs", &f, 1);
}

const char *said_query(const Pooler *p, guint client, guint query) {
  return query == QUERY_END ? "the end of its transaction" : client_script(p, &p->clients[client])->queries[query].tag;
}

/* ---- lifelines of the processes ---- */

void client_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_type_data(w, &client_type);
  (void)self, (void)of;
  append_name(p, party_client(*(const uint32_t *)locals), on);
}

void session_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_type_data(w, &session_type);
  const Session *e = &p->sessions[*(const uint32_t *)locals];
  (void)self;
  append_name(p, party_session(e), on);
  if (e->pool != DIRECT) append_name(p, party_client(e->client), of);
}

void server_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_type_data(w, &server_type);
  const Server *s = &p->servers[*(const uint32_t *)locals];
  (void)self;
  append_name(p, party_server(p, s), on);
  if (s->owner) append_name(p, party_client(p->sessions[s->owner - 1].client), of);
}

/* What the pooler does with a cancel is the cancel's; the server's child that has read it is the postmaster's. */
void cancel_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_type_data(w, &cancel_type);
  const Cancel *x = &p->cancels[*(const uint32_t *)locals];
  bool there = x->stage == X_MATCH || x->stage == X_SIGNAL;
  (void)self;
  append_name(p, there ? (Party){PARTY_HOST, x->host} : party_cancel(p, x), on);
  append_name(p, party_client(x->client), of);
}

void signal_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_type_data(w, &signal_type);
  const Cancel *x = &p->cancels[*(const uint32_t *)locals];
  const PgBackend *b = x->backend ? &p->hosts[x->host]->backends[x->backend - 1] : NULL;
  (void)self;
  append_name(p, b && b->conn ? (Party){PARTY_SERVER, b->conn - 1u} : (Party){PARTY_HOST, x->host}, on);
  append_name(p, party_client(x->client), of);
}

/* The clock of a pooler, and the limits that it keeps. */
static void pooler_lane(const World *w, ProcId self, const void *locals, GString *on, GString *of) {
  const Pooler *p = world_data(w, self);
  (void)locals, (void)of;
  append_name(p, (Party){PARTY_POOLER, 0}, on);
}
bool pooler_at_once(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return true;
}
const TypeGuide tick_guide = {.lane = pooler_lane, .at_once = pooler_at_once};
const TypeGuide watch_guide = {.lane = pooler_lane};
