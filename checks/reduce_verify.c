/* reduce_verify.c - see reduce_verify.h. Depth-first over the plain model; states are known by a 128-bit hash, which is
 * enough for a test of declarations. */
#include "checks/reduce_verify.h"
#include <string.h>

typedef struct {
  MoveKind kind; /* MOVE_RESUME: a process; MOVE_DELIVER: a channel */
  uint32_t id;
  bool enabled;
  Footprint next, future;
} Party;

/* A branch of the state looked at, and where it leads. */
typedef struct {
  Branch branch;
  guint party;
  uint64_t marks;
  Hash128 to, form; /* form: of the state it leads to */
} Way;

typedef struct {
  const SearchOptions *o;
  guint which;
  Verified *v;
  uint64_t max_states;
  Stepper *s;
  World *w;
  Arena *arena;
  void (*canon)(Model *m, void *data);
  void *reducer;
  const Reduction *reduction;
  GHashTable *numbers; /* Hash128* -> number of the state */
  GArray *edges;       /* of Edge: steps that do not loop */
  GArray *stack;       /* of Frame */
} Verifier;

typedef struct {
  uint32_t from, to;
} Edge;

typedef struct {
  ArenaSnapshot *state;
  GArray *ways; /* of Way */
  guint next;
  uint32_t number;
} Frame;

static void broken(Verifier *k, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void broken(Verifier *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!k->v->broken) k->v->broken = g_strdup_vprintf(format, args);
  va_end(args);
}

/* ---- who there is ---- */

static MoveKind party_kind(MoveKind kind) {
  return kind == MOVE_DELIVER || kind == MOVE_LOSE ? MOVE_DELIVER : MOVE_RESUME;
}

static char *words_of(const Verifier *k, const Party *p) {
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

static Party *party_at(GArray *parties, guint i) {
  return &g_array_index(parties, Party, i);
}

static guint party_of(GArray *parties, MoveKind kind, uint32_t id) {
  guint i = 0;
  while (i < parties->len && !(party_at(parties, i)->kind == party_kind(kind) && party_at(parties, i)->id == id)) i++;
  return i;
}

/* Of the state that stands in the stepper. */
static GArray *parties_now(Verifier *k) {
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
      broken(k, "%s writes byte %" G_GSIZE_FORMAT " of the state, which it did not say", words, i);
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
    g_autofree char *name = words_of(k, p);
    if (!covers_all(&before->future, &p->future)) broken(k, "behind %s the future of %s has grown", words, name);
    if (before == who || !before->enabled || !footprint_only_owns(&before->next)) continue;
    if (!p->enabled || !same_ranges(&before->next, &p->next))
      broken(k, "behind %s the step of %s is no longer its own affair", words, name);
  }
}

/* Who did not meet the step is as possible as before. */
static void verify_enabled(Verifier *k, GArray *was, const Party *who, const char *words, GArray *now) {
  for (guint i = 0; i < was->len && !k->v->broken; i++) {
    const Party *p = party_at(was, i);
    guint j = party_of(now, p->kind, p->id);
    bool is = j < now->len && party_at(now, j)->enabled;
    if (p == who || is == p->enabled || footprints_meet(&p->next, &who->next)) continue;
    broken(k, "%s makes a step %s of %u (%s) that it did not say to meet", words, is ? "possible" : "impossible", p->id,
           p->kind == MOVE_DELIVER ? "a channel" : "a process");
  }
}

/* ---- pairs ---- */

/* Who owns a thing is the only one to speak of it. */
static void verify_owners(Verifier *k, GArray *parties) {
  for (guint i = 0; i < parties->len; i++)
    for (guint j = 0; j < parties->len && !k->v->broken; j++) {
      const Party *p = party_at(parties, i), *q = party_at(parties, j);
      if (i == j || !p->enabled || !footprint_only_owns(&p->next)) continue;
      if (!footprints_meet(&p->next, &q->next) && !footprints_meet(&p->next, &q->future)) continue;
      g_autofree char *x = words_of(k, p), *y = words_of(k, q);
      broken(k, "%s owns what %s says it touches", x, y);
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
  g_autofree char *x = words_of(k, p), *y = words_of(k, q);
  broken(k, "%s and %s are said not to meet, and %s", x, y,
         !both                                        ? "one makes the other impossible"
         : marks_a != a->marks || marks_b != b->marks ? "leave other marks in another order"
                                                      : "come to another state in another order");
}

static void verify_pairs(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways) {
  for (guint i = 0; i < ways->len; i++)
    for (guint j = i + 1; j < ways->len && !k->v->broken; j++) {
      const Way *a = &g_array_index(ways, Way, i), *b = &g_array_index(ways, Way, j);
      if (a->party != b->party) verify_pair(k, parties, here, a, b);
    }
}

/* ---- what checks say ---- */

static uint64_t verdicts(Verifier *k) {
  g_autoptr(GString) why = g_string_new(NULL);
  uint64_t bits = 0;
  for (guint i = 0; i < k->o->n_checks; i++) {
    const Check *c = k->o->checks[i];
    if (!c->steps_alone) bits |= (uint64_t)(c->judge(stepper_model(k->s), why) == JUDGED_BROKEN) << i;
  }
  return bits;
}

/* ---- forms ---- */

static Hash128 form_of(Verifier *k) {
  k->canon(stepper_model(k->s), k->reducer);
  return arena_hash_whole(k->arena);
}

static gint by_form(gconstpointer a, gconstpointer b) {
  const Way *x = a, *y = b;
  if (x->form.hi != y->form.hi) return x->form.hi < y->form.hi ? -1 : 1;
  if (x->form.lo != y->form.lo) return x->form.lo < y->form.lo ? -1 : 1;
  return (x->marks > y->marks) - (x->marks < y->marks);
}

/* Sorted, each once: several branches may come to one form. */
static void take_set(GArray *ways) {
  guint n = 0;
  g_array_sort(ways, by_form);
  for (guint i = 0; i < ways->len; i++) {
    Way w = g_array_index(ways, Way, i);
    if (n && by_form(&w, &g_array_index(ways, Way, n - 1)) == 0) continue;
    g_array_index(ways, Way, n++) = w;
  }
  g_array_set_size(ways, n);
}

static GArray *ways_now(Verifier *k);

static void verify_form(Verifier *k, const ArenaSnapshot *here, GArray *ways) {
  uint64_t plain = verdicts(k);
  Hash128 form = form_of(k);
  uint64_t formed = verdicts(k);
  g_autoptr(ArenaSnapshot) image = arena_save(k->arena, NULL);
  Hash128 again = form_of(k);
  k->v->forms++;
  if (plain != formed) broken(k, "a check judges a state otherwise than its form");
  if (again.lo != form.lo || again.hi != form.hi) broken(k, "the form of a form is another state");
  arena_restore(k->arena, image);
  g_autoptr(GArray) theirs = ways_now(k), ours = g_array_copy(ways);
  take_set(theirs);
  take_set(ours);
  bool same = ours->len == theirs->len;
  for (guint i = 0; same && i < ours->len; i++)
    same = by_form(&g_array_index(ours, Way, i), &g_array_index(theirs, Way, i)) == 0;
  if (!same) broken(k, "a state and its form lead to different states (%u and %u, up to form)", ours->len, theirs->len);
  arena_restore(k->arena, here);
}

/* ---- a state ---- */

static Way way_now(Verifier *k) {
  Way w = {.branch = *stepper_branch(k->s), .marks = world_marks(k->w)};
  if (!(k->which & REDUCE_SYMMETRY)) return w;
  g_autoptr(ArenaSnapshot) there = arena_save(k->arena, NULL);
  w.form = form_of(k);
  arena_restore(k->arena, there);
  return w;
}

/* All branches of the state that stands in the stepper, which is there again afterwards. */
static GArray *ways_now(Verifier *k) {
  g_autoptr(ArenaSnapshot) here = arena_save(k->arena, NULL);
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(k->s));
  GArray *ways = g_array_new(FALSE, FALSE, sizeof(Way));
  for (guint i = 0; i < moves->len; i++) do {
      arena_restore(k->arena, here);
      stepper_go(k->s, g_array_index(moves, Move, i));
      Way w = way_now(k);
      w.to = arena_hash_whole(k->arena);
      g_array_append_val(ways, w);
    } while (stepper_more(k->s));
  arena_restore(k->arena, here);
  return ways;
}

static void verify_steps(Verifier *k, GArray *parties, const ArenaSnapshot *here, GArray *ways) {
  Footprint reads;
  reduce_reads(stepper_model(k->s), k->reduction, &reads);
  uint64_t before = verdicts(k);
  for (guint i = 0; i < ways->len && !k->v->broken; i++) {
    Way *way = &g_array_index(ways, Way, i);
    way->party = party_of(parties, way->branch.move.kind, way->branch.move.subject);
    const Party *who = party_at(parties, way->party);
    g_autofree char *words = words_of(k, who);
    if (!covers_all(&who->future, &who->next)) broken(k, "%s does what its future does not say", words);
    stepper_follow(k->s, &way->branch);
    if (reduce_hides(&who->next, &reads) && verdicts(k) != before)
      broken(k, "%s is hidden from the checks, and one of them sees it", words);
    verify_writes(k, parties, who, words, here);
    g_autoptr(GArray) now = parties_now(k);
    verify_futures(k, parties, who, words, now);
    verify_enabled(k, parties, who, words, now);
    arena_restore(k->arena, here);
  }
}

static void verify_state(Verifier *k, const ArenaSnapshot *here, GArray *ways) {
  if (k->which & REDUCE_POR) {
    g_autoptr(GArray) parties = parties_now(k);
    verify_owners(k, parties);
    verify_steps(k, parties, here, ways);
    verify_pairs(k, parties, here, ways);
  }
  if (k->which & REDUCE_SYMMETRY) verify_form(k, here, ways);
}

/* ---- all states ---- */

static uint32_t number_of(Verifier *k, Hash128 h, bool *fresh) {
  gpointer value;
  *fresh = !g_hash_table_lookup_extended(k->numbers, &h, NULL, &value);
  if (!*fresh) return GPOINTER_TO_UINT(value);
  guint n = g_hash_table_size(k->numbers);
  g_hash_table_insert(k->numbers, g_memdup2(&h, sizeof h), GUINT_TO_POINTER(n));
  return n;
}

static void enter(Verifier *k, uint32_t number) {
  Frame f = {.state = arena_save(k->arena, NULL), .ways = ways_now(k), .number = number};
  k->v->states++;
  k->v->transitions += f.ways->len;
  verify_state(k, f.state, f.ways);
  g_array_append_val(k->stack, f);
}

static void leave(Verifier *k) {
  Frame *f = &g_array_index(k->stack, Frame, k->stack->len - 1);
  arena_snapshot_free(f->state);
  g_array_unref(f->ways);
  g_array_set_size(k->stack, k->stack->len - 1);
}

static bool step_loops(Verifier *k, const Branch *b) {
  Footprint f;
  if (party_kind(b->move.kind) == MOVE_DELIVER) return false;
  world_footprint(k->w, b->move.subject, &f);
  return f.loops || f.everything;
}

static void advance(Verifier *k) {
  Frame *f = &g_array_index(k->stack, Frame, k->stack->len - 1);
  if (f->next == f->ways->len) return leave(k);
  const Way *way = &g_array_index(f->ways, Way, f->next++);
  bool fresh, loops;
  uint32_t to = number_of(k, way->to, &fresh), from = f->number;
  arena_restore(k->arena, f->state);
  loops = !(k->which & REDUCE_POR) || step_loops(k, &way->branch);
  if (!loops) g_array_append_vals(k->edges, &(Edge){from, to}, 1);
  if (!fresh) return;
  stepper_follow(k->s, &way->branch);
  enter(k, to);
}

/* States that no such edge comes from any more are taken away until none is left: else there is a cycle. */
static bool has_cycle(const Verifier *k) {
  guint n = g_hash_table_size(k->numbers), gone = 0;
  g_autofree guint *out = g_new0(guint, n), *first = g_new0(guint, n + 1), *list = g_new(guint, n);
  g_autofree guint *into = g_new(guint, k->edges->len + 1);
  for (guint i = 0; i < k->edges->len; i++) {
    const Edge *e = &g_array_index(k->edges, Edge, i);
    out[e->from]++;
    first[e->to + 1]++;
  }
  for (guint i = 0; i < n; i++) first[i + 1] += first[i];
  g_autofree guint *at = g_memdup2(first, (n + 1) * sizeof *first);
  for (guint i = 0; i < k->edges->len; i++) {
    const Edge *e = &g_array_index(k->edges, Edge, i);
    into[at[e->to]++] = e->from;
  }
  for (guint i = 0; i < n; i++)
    if (!out[i]) list[gone++] = i;
  for (guint i = 0; i < gone; i++)
    for (guint j = first[list[i]]; j < first[list[i] + 1]; j++)
      if (--out[into[j]] == 0) list[gone++] = into[j];
  return gone < n;
}

static guint hash_of(gconstpointer h) {
  return (guint)((const Hash128 *)h)->lo;
}
static gboolean hash_equal(gconstpointer a, gconstpointer b) {
  return memcmp(a, b, sizeof(Hash128)) == 0;
}

static void walk_all(Verifier *k) {
  bool fresh;
  enter(k, number_of(k, arena_hash_whole(k->arena), &fresh));
  while (k->stack->len && !k->v->broken && !(k->max_states && k->v->states >= k->max_states)) advance(k);
  k->v->exhausted = k->stack->len == 0;
  while (k->stack->len) leave(k);
  if (!k->v->broken && has_cycle(k)) broken(k, "steps that are said not to loop close a cycle");
}

bool reduce_verify(const SearchOptions *o, guint which, const Reduction *r, uint64_t max_states, Verified *v,
                   GError **error) {
  StepperConfig plain = o->stepper, hooks = o->stepper;
  reduce_hooks(&plain, 0, NULL);
  if (!hooks.canon) reduce_hooks(&hooks, which, r);
  *v = (Verified){.broken = NULL};
  Verifier k = {.o = o,
                .which = which,
                .v = v,
                .max_states = max_states,
                .canon = hooks.canon,
                .reducer = hooks.reducer,
                .reduction = r};
  k.s = search_stepper(&plain, error);
  if (!k.s) return false;
  k.w = stepper_model(k.s)->world;
  k.arena = world_arena(k.w);
  k.numbers = g_hash_table_new_full(hash_of, hash_equal, g_free, NULL);
  k.edges = g_array_new(FALSE, FALSE, sizeof(Edge));
  k.stack = g_array_new(FALSE, FALSE, sizeof(Frame));
  walk_all(&k);
  g_hash_table_unref(k.numbers);
  g_array_unref(k.edges);
  g_array_unref(k.stack);
  stepper_free(k.s);
  return true;
}

void verified_clear(Verified *v) {
  g_clear_pointer(&v->broken, g_free);
}
