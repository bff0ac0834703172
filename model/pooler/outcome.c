/* outcome.c - what became of a cancel, judged in the step in which the signal is handled, or in which it is clear that
 * none will be: the ghost intent (client, query) against what the backend runs. */
#include "model/pooler/parts.h"

static const struct {
  const char *word;
  uint64_t mark;
} outcomes[OUT_COUNT] = {[OUT_HIT] = {"HIT", 0},
                         [OUT_SELF_LATE] = {"SELF_LATE", POOLER_SELF_LATE},
                         [OUT_MISROUTE] = {"MISROUTE", POOLER_MISROUTE},
                         [OUT_POOLER_OWN] = {"POOLER_OWN", POOLER_POOLER_OWN},
                         [OUT_NOOP] = {"NOOP", 0},
                         [OUT_FOREIGN] = {"FOREIGN", POOLER_FOREIGN},
                         [OUT_LOST] = {"LOST", POOLER_LOST},
                         [OUT_DROPPED] = {"dropped", 0},
                         [OUT_UNSENT] = {"unsent", 0}};

static const char *query_tag(const Pooler *p, guint client, guint query) {
  return query == QUERY_END ? "the end of a transaction" : client_script(p, &p->clients[client])->queries[query].tag;
}

const char *outcome_word(Outcome o) {
  return outcomes[o].word;
}
uint64_t outcome_mark(Outcome o) {
  return outcomes[o].mark;
}

char *outcome_words(Outcome o, const char *query, const char *client, const char *hit, const char *hit_client) {
  if (!hit) return g_strdup_printf("%s: the cancel of %s by client %s", outcomes[o].word, query, client);
  return g_strdup_printf("%s: the cancel of %s by client %s hits %s of client %s", outcomes[o].word, query, client, hit,
                         hit_client);
}

static void say(Pooler *p, const Cancel *x, Outcome o, const PgBackend *b) {
  g_autofree char *meant = g_strdup(pooler_client_name(p, x->client));
  bool client = b && b->runs == RUNS_QUERY && b->client;
  g_autofree char *words =
      outcome_words(o, query_tag(p, x->client, x->query), meant, client ? query_tag(p, b->client - 1u, b->query) : NULL,
                    client ? pooler_client_name(p, b->client - 1u) : NULL);
  pooler_mark(p, outcomes[o].mark, "%s", words);
}

static void note(Pooler *p, const Cancel *x, Outcome o, const PgBackend *b) {
  if (!world_noted(p->w)) return;
  NoteField f[] = {
      {"outcome", 0, outcomes[o].word},
      {"cancel_of", 0, query_tag(p, x->client, x->query)},
      {"hit", 0, b && b->runs == RUNS_QUERY && b->client ? query_tag(p, b->client - 1u, b->query) : "nothing"}};
  world_note(p->w, x->proc ? x->proc : x->signal, "cancel", f, G_N_ELEMENTS(f));
}

void outcome_keep(Pooler *p, Cancel *x, Outcome o, const PgBackend *b) {
  g_assert(o < OUT_COUNT);
  x->flags |= XF_JUDGED;
  measure_cancel(p, x, o);
  note(p, x, o, b);
  if (!outcomes[o].mark) return;
  say(p, x, o, b);
}

static Outcome judge(const Pooler *p, const Cancel *x, const PgBackend *b, bool direct) {
  (void)p;
  if (b->runs == RUNS_OWN) return OUT_POOLER_OWN;
  if (b->runs != RUNS_QUERY) return OUT_NOOP;
  if (!b->conn) return OUT_FOREIGN;
  if (b->client == x->client + 1u) return b->query == x->query && !(x->flags & XF_STALE) ? OUT_HIT : OUT_SELF_LATE;
  return direct ? OUT_FOREIGN : OUT_MISROUTE;
}

/* absorbed: nothing that a client runs can be hit (an empty statement of a driver or pooler; a backend that exits). */
void cancel_handle(Pooler *p, Cancel *x, bool absorbed) {
  if (x->flags & XF_HANDLED || !x->backend) return;
  x->flags |= XF_HANDLED;
  PgBackend *b = &p->hosts[x->host]->backends[x->backend - 1];
  if (b->signals) b->signals--;
  Server *s = b->conn ? &p->servers[b->conn - 1] : NULL;
  bool direct = s && s->pool == DIRECT;
  Outcome o = absorbed || !b->pid ? OUT_NOOP : judge(p, x, b, direct);
  outcome_keep(p, x, o, b);
  if (o == OUT_NOOP || !s) return;
  s->flags |= SVF_CANCELLED;
  server_interrupt(p, s);
}

void cancels_handle_all(Pooler *p, const Server *s, bool absorbed) {
  if (!s->backend) return;
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->flags & XF_SIGNALLED && x->host == s->host && x->backend == s->backend) cancel_handle(p, x, absorbed);
  }
}
