/* reduce_verify_steps.c - do steps do what their footprints say? Written, made possible and impossible, owned, hidden;
 * and do those commute that are said not to meet? Each is tried by making the steps. */
#include "checks/reduce_verifier.h"

/* ---- what a step writes ---- */

static bool may_write(const Footprint *f, const char *at) {
  for (guint i = 0; i < f->n; i++) {
    const char *from = f->ranges[i].at;
    if (f->ranges[i].how != TOUCH_READ && at >= from && at < from + f->ranges[i].bytes) return true;
  }
  return false;
}

static const Party *owner_of(GArray *parties, const Party *but, const char *at) {
  for (guint i = 0; i < parties->len; i++) {
    const Party *p = party_at(parties, i);
    for (guint j = 0; p != but && j < p->next.n; j++) {
      const FootprintRange *r = &p->next.ranges[j];
      const char *from = r->at;
      if (r->how == TOUCH_OWN && at >= from && at < from + r->bytes) return p;
    }
  }
  return NULL;
}

/* `owner`: whose locals the byte is in now; those of who comes or goes are in order. */
static bool byte_allowed(const Verifier *k, GArray *parties, const Party *who, const char *at) {
  if (world_is_table(k->w, at)) return true;
  ProcId owner = world_locals_owner(k->w, at);
  bool own = owner && (owner == who->id || party_of(parties, MOVE_RESUME, owner) == parties->len);
  if (who->kind == MOVE_RESUME && own) return true;
  return (who->next.everything && !owner_of(parties, who, at)) || may_write(&who->next, at);
}

static void verify_writes(Verifier *k, GArray *parties, const Party *who, const char *words, const ArenaSnapshot *was) {
  const char *now = (const char *)arena_words(k->arena), *then = arena_snapshot_data(was);
  size_t n = MIN(arena_used(k->arena), arena_snapshot_bytes(was));
  for (size_t i = 0; i < n && !k->v->broken; i++)
    if (now[i] != then[i] && !byte_allowed(k, parties, who, now + i))
      verifier_broken(k, "%s writes byte %" G_GSIZE_FORMAT " of the state, which it did not say", words, i);
}

/* ---- the future ---- */

static bool covers(const Footprint *f, const FootprintRange *r) {
  const char *from = r->at;
  for (guint i = 0; i < f->n; i++) {
    const FootprintRange *o = &f->ranges[i];
    const char *at = o->at;
    bool stronger = o->how == r->how || o->how == TOUCH_WRITE;
    if (stronger && at <= from && from + r->bytes <= at + o->bytes) return true;
  }
  return f->everything;
}

static bool covers_all(const Footprint *f, const Footprint *less) {
  if (less->everything && !f->everything) return false;
  for (guint i = 0; i < less->n; i++)
    if (less->ranges[i].how != TOUCH_OWN && !covers(f, &less->ranges[i])) return false;
  return true;
}

static bool same_ranges(const Footprint *a, const Footprint *b) {
  if (a->n != b->n || a->loops != b->loops) return false;
  for (guint i = 0; i < a->n; i++)
    if (a->ranges[i].at != b->ranges[i].at || a->ranges[i].bytes != b->ranges[i].bytes) return false;
  return !a->everything && !b->everything;
}

/* Behind a step of `who`: `now` are the parties of the new state. */
static void verify_futures(Verifier *k, GArray *was, const Party *who, const char *words, GArray *now) {
  for (guint i = 0; i < now->len && !k->v->broken; i++) {
    const Party *p = party_at(now, i);
    guint j = party_of(was, p->kind, p->id);
    const Party *before = j < was->len ? party_at(was, j) : who; /* who comes is of who made it come */
    g_autofree char *name = party_words(k, p);
    if (!covers_all(&before->future, &p->future))
      verifier_broken(k, "behind %s the future of %s has grown", words, name);
    if (before == who || !before->enabled || !footprint_only_owns(&before->next)) continue;
    if (!p->enabled || !same_ranges(&before->next, &p->next))
      verifier_broken(k, "behind %s the step of %s is no longer its own affair", words, name);
  }
}

/* Who did not meet the step is as possible as before. */
static void verify_enabled(Verifier *k, GArray *was, const Party *who, const char *words, GArray *now) {
  for (guint i = 0; i < was->len && !k->v->broken; i++) {
    const Party *p = party_at(was, i);
    guint j = party_of(now, p->kind, p->id);
    bool is = j < now->len && party_at(now, j)->enabled;
    if (p == who || is == p->enabled || footprints_meet(&p->next, &who->next)) continue;
    verifier_broken(k, "%s makes a step %s of %u (%s) that it did not say to meet", words,
                    is ? "possible" : "impossible", p->id, p->kind == MOVE_DELIVER ? "a channel" : "a process");
  }
}

/* ---- pairs ---- */

/* Who owns a thing is the only one to speak of it. */
void verify_owners(Verifier *k, GArray *parties) {
  for (guint i = 0; i < parties->len; i++)
    for (guint j = 0; j < parties->len && !k->v->broken; j++) {
      const Party *p = party_at(parties, i), *q = party_at(parties, j);
      if (i == j || !p->enabled || !footprint_only_owns(&p->next)) continue;
      if (!footprints_meet(&p->next, &q->next) && !footprints_meet(&p->next, &q->future)) continue;
      g_autofree char *x = party_words(k, p), *y = party_words(k, q);
      verifier_broken(k, "%s owns what %s says it touches", x, y);
    }
}

static bool goes(Verifier *k, const Branch *b) {
  const GArray *moves = stepper_moves(k->s);
  bool there = false;
  for (guint i = 0; i < moves->len; i++) {
    const Move *m = &g_array_index(moves, Move, i);
    there |= m->kind == b->move.kind && m->subject == b->move.subject;
  }
  return there && stepper_follow(k->s, b);
}

/* The hash of where both lead, and the marks of the second. */
static bool go_both(Verifier *k, const ArenaSnapshot *here, const Branch *a, const Branch *b, Hash128 *to,
                    uint64_t *marks) {
  arena_restore(k->arena, here);
  if (!stepper_follow(k->s, a) || !goes(k, b)) return false;
  *marks = world_marks(k->w);
  *to = arena_hash_whole(k->arena);
  return true;
}

static void verify_pair(Verifier *k, GArray *parties, const ArenaSnapshot *here, const Way *a, const Way *b) {
  Hash128 ab, ba;
  uint64_t marks_b, marks_a;
  const Party *p = party_at(parties, a->party), *q = party_at(parties, b->party);
  if (footprints_meet(&p->next, &q->next)) return;
  k->v->pairs++;
  bool both = go_both(k, here, &a->branch, &b->branch, &ab, &marks_b) &&
              go_both(k, here, &b->branch, &a->branch, &ba, &marks_a);
  bool same = both && ab.lo == ba.lo && ab.hi == ba.hi && marks_a == a->marks && marks_b == b->marks;
  arena_restore(k->arena, here);
  if (same) return;
  g_autofree char *x = party_words(k, p), *y = party_words(k, q);
  verifier_broken(k, "%s and %s are said not to meet, and %s", x, y,
                  !both                                        ? "one makes the other impossible"
                  : marks_a != a->marks || marks_b != b->marks ? "leave other marks in another order"
                                                               : "come to another state in another order");
}

void verify_pairs(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways) {
  for (guint i = 0; i < ways->len; i++)
    for (guint j = i + 1; j < ways->len && !k->v->broken; j++) {
      const Way *a = &g_array_index(ways, Way, i), *b = &g_array_index(ways, Way, j);
      if (a->party != b->party) verify_pair(k, parties, here, a, b);
    }
}

/* ---- all steps of a state ---- */

void verify_steps(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways) {
  Footprint reads;
  reduce_reads(stepper_model(k->s), k->reduction, &reads);
  uint64_t before = verifier_verdicts(k);
  for (guint i = 0; i < ways->len && !k->v->broken; i++) {
    Way *way = &g_array_index(ways, Way, i);
    way->party = party_of(parties, way->branch.move.kind, way->branch.move.subject);
    const Party *who = party_at(parties, way->party);
    g_autofree char *words = party_words(k, who);
    if (!covers_all(&who->future, &who->next)) verifier_broken(k, "%s does what its future does not say", words);
    stepper_follow(k->s, &way->branch);
    if (reduce_hides(&who->next, &reads) && verifier_verdicts(k) != before)
      verifier_broken(k, "%s is hidden from the checks, and one of them sees it", words);
    verify_writes(k, parties, who, words, here);
    g_autoptr(GArray) now = verifier_parties(k);
    verify_futures(k, parties, who, words, now);
    verify_enabled(k, parties, who, words, now);
    arena_restore(k->arena, here);
  }
}
