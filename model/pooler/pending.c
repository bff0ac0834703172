/* pending.c - what has been begun and has to come to an end: a waiter is served, a cancel arrives, a shutdown is over.
 * A check of liveness asks for each, state by state; fairness (checks/README.md) says what may not wait for ever. */
#include "model/pooler/parts.h"

static void say(GString *why, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(GString *why, const char *format, ...) {
  va_list args;
  if (!why) return;
  va_start(args, format);
  g_string_vprintf(why, format, args);
  va_end(args);
}

/* From the step that puts it in the queue to the one in which it goes on: a waiter that was given a connection and is
 * never woken has not been served. One that leaves does not wait. */
bool pooler_waits(const Pooler *p, guint session, GString *why) {
  const Session *e = &p->sessions[session];
  if (e->state == CL_NONE || e->pool == DIRECT || e->request == REQ_CLOSE) return false;
  if (!e->wants && !session_sleeps(e)) return false;
  say(why, "%s waits for a server connection", pooler_session_name(p, session));
  return true;
}

guint pooler_cancels(const Pooler *p) {
  return p->n_cancels;
}

/* From its sending to its outcome. What is left of it then (an EOF, its client's waiting) is not the cancel's. */
bool pooler_cancel_under_way(const Pooler *p, guint cancel, GString *why) {
  static const char *const words[X_COUNT] = {
      [X_ACCEPT] = "to be accepted", [X_AUTH] = "to be authenticated", [X_LOOKUP] = "to be looked up",
      [X_QUEUE] = "for a carrier",   [X_PARKED] = "for a carrier",     [X_FORWARD_LOOKUP] = "to be looked up",
      [X_CONNECT] = "to be carried", [X_FORWARD] = "to be forwarded",  [X_DELIVER] = "to be delivered",
      [X_MATCH] = "to be matched",   [X_SIGNAL] = "to be signalled",   [X_EOF] = "to be handled",
      [X_STUCK] = "for the network", [X_HANDLE] = "to be handled"};
  const Cancel *x = &p->cancels[cancel];
  if (x->stage <= X_SENT || x->flags & XF_JUDGED) return false;
  say(why, "the cancel of %s by client %s waits %s", client_script(p, &p->clients[x->client])->queries[x->query].tag,
      pooler_client_name(p, x->client), words[x->stage]);
  return true;
}

guint pooler_processes(const Pooler *p) {
  return (guint)config_of(p)->processes;
}

/* It waits for its clients, as a graceful shutdown does. */
bool pooler_shuts_down(const Pooler *p, guint process, GString *why) {
  if (!(p->processes[process].flags & PRF_SHUTDOWN)) return false;
  for (guint i = 0; i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    if (e->state == CL_NONE || e->pool == DIRECT || e->process != process) continue;
    say(why, "the shutdown waits for %s", pooler_session_name(p, i));
    return true;
  }
  return false;
}
