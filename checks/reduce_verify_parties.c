/* reduce_verify_parties.c - who may make a step in a state, and what he says of it and of all that he may ever do. */
#include "checks/reduce_verifier.h"

MoveKind party_kind(MoveKind kind) {
  return kind == MOVE_DELIVER || kind == MOVE_LOSE ? MOVE_DELIVER : MOVE_RESUME;
}

char *party_words(const Verifier *k, const Party *p) {
  if (p->kind == MOVE_DELIVER) return g_strdup_printf("the network of %s[%u]", object_name(k->w, p->id), p->id);
  return g_strdup_printf("%s[%u] at \"%s\"", world_name_of(k->w, p->id), p->id, world_at(k->w, p->id));
}

static void add_party(const Verifier *k, GArray *out, MoveKind kind, uint32_t id) {
  Party p = {.kind = kind, .id = id};
  if (kind == MOVE_RESUME) {
    world_footprint(k->w, id, &p.next);
    world_future(k->w, id, &p.future);
  } else {
    channel_footprint(k->w, id, false, &p.next);
    channel_footprint(k->w, id, true, &p.future);
    if (!p.future.n) return;
  }
  g_array_append_val(out, p);
}

guint party_of(GArray *parties, MoveKind kind, uint32_t id) {
  guint i = 0;
  while (i < parties->len && !(party_at(parties, i)->kind == party_kind(kind) && party_at(parties, i)->id == id)) i++;
  return i;
}

/* Of the state that stands in the stepper. */
GArray *verifier_parties(Verifier *k) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(Party));
  for (ProcId p = 1; p < world_processes(k->w); p++)
    if (world_alive(k->w, p)) add_party(k, out, MOVE_RESUME, p);
  for (ObjectId o = 1; o < world_objects(k->w); o++) add_party(k, out, MOVE_DELIVER, o);
  const GArray *moves = stepper_moves(k->s);
  for (guint i = 0; i < moves->len; i++) {
    const Move *m = &g_array_index(moves, Move, i);
    party_at(out, party_of(out, m->kind, m->subject))->enabled = true;
  }
  return out;
}
