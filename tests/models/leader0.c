/* leader0.c - leader election in a ring of N processes with one-way channels (Dolev, Klawe, Rodeh 1982).
 * tests/promela/leader0.pml is the same, step for step: a message is taken in one step, dealt with in the next, and an
 * answer sent in a third. */
#include "model/world/explore.h"
#include "model/world/plugin.h"

#ifndef N
#define N 7
#endif
enum { ROOM = 10 };

typedef struct {
  uint8_t kind, number;
} Word;
typedef struct {
  uint8_t length, spare;
  Word words[ROOM];
} Link; /* the first word is words[0], so that equal contents are equal bytes */
typedef struct {
  Link in[N];
  uint8_t leaders;
} Ring;

enum { NOTHING, FIRST, SECOND, WINNER };
typedef enum { BEGIN, TAKE, DEAL, SEND, SEND_LAST, OVER } Stages;
typedef struct {
  MachineHead head;
  uint8_t active, known, maximum, neighbour;
  Word word; /* taken, then to be sent */
} Node;

static Ring *ring(const World *w, ProcId p) {
  return world_data(w, p);
}
static uint8_t own_number(guint me) {
  return (uint8_t)((N + 3 - me) % N + 1);
}
static Link *out_of(Ring *r, guint me) {
  return &r->in[(me + 1) % N];
}

static bool guard(const World *w, ProcId self, const void *locals) {
  const Node *n = locals;
  Ring *r = ring(w, self);
  switch ((Stages)n->head.pc) {
  case TAKE: return r->in[self - 1].length > 0;
  case BEGIN: return out_of(r, self - 1)->length < ROOM;
  case SEND:
  case SEND_LAST: return n->word.kind == NOTHING || out_of(r, self - 1)->length < ROOM;
  case DEAL: return true;
  case OVER: break;
  }
  return false;
}

static void send(Link *l, uint8_t kind, uint8_t number) {
  l->words[l->length++] = (Word){kind, number};
}

static void take(Link *l, Node *n) {
  n->word = l->words[0];
  for (guint i = 0; i + 1 < l->length; i++) l->words[i] = l->words[i + 1];
  l->words[--l->length] = (Word){0, 0};
}

/* What is to be sent is left in n->word. */
static void deal_first(Node *n) {
  if (n->word.number != n->maximum) {
    n->neighbour = n->word.number;
    n->word.kind = SECOND;
  } else {
    n->known = 1;
    n->word.kind = WINNER;
  }
}

static void deal_second(Node *n) {
  if (n->neighbour > n->word.number && n->neighbour > n->maximum) {
    n->maximum = n->neighbour;
    n->word = (Word){FIRST, n->neighbour};
  } else {
    n->active = 0;
    n->word = (Word){0, 0};
  }
}

static void deal(Ring *r, guint me, Node *n) {
  n->head.pc = n->word.kind == WINNER ? SEND_LAST : SEND;
  if (n->word.kind == WINNER) {
    if (n->word.number == own_number(me)) r->leaders++;
    if (n->known) n->word = (Word){0, 0};
  } else if (n->active && n->word.kind == FIRST)
    deal_first(n);
  else if (n->active)
    deal_second(n);
}

static void send_word(Ring *r, guint me, Node *n) {
  if (n->word.kind) send(out_of(r, me), n->word.kind, n->word.number);
  n->word = (Word){0, 0};
}

static Step resume(World *w, ProcId self, void *locals) {
  Node *n = locals;
  Ring *r = ring(w, self);
  guint me = self - 1;
  switch ((Stages)n->head.pc) {
  case BEGIN:
    n->head.pc = TAKE;
    send(out_of(r, me), FIRST, own_number(me));
    break;
  case TAKE:
    n->head.pc = DEAL;
    take(&r->in[me], n);
    break;
  case DEAL: deal(r, me, n); break;
  case SEND:
  case SEND_LAST:
    n->head.pc = n->head.pc == SEND ? TAKE : OVER;
    send_word(r, me, n);
    break;
  case OVER: break;
  }
  return step_ran();
}

static const char *at(const World *w, const void *locals) {
  static const char *const names[] = {"begin", "take", "deal", "send", "send last", "over"};
  (void)w;
  return names[((const Node *)locals)->head.pc];
}

/* A link has one writer and one reader. No step closes a cycle: the words sent bring each node further. */
static void sends(const Ring *r, guint me, Footprint *f) {
  const Link *l = &r->in[(me + 1) % N];
  footprint_touches(f, l->length < ROOM ? TOUCH_SEND : TOUCH_WRITE, l, sizeof *l);
}

static void footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Node *n = locals;
  const Ring *r = ring(w, self);
  guint me = self - 1;
  const Link *in = &r->in[me];
  switch ((Stages)n->head.pc) {
  case BEGIN: return sends(r, me, f);
  case TAKE: return footprint_touches(f, in->length > 0 ? TOUCH_TAKE : TOUCH_WRITE, in, sizeof *in);
  case DEAL:
    if (n->word.kind == WINNER) footprint_writes(f, &r->leaders, 1);
    return;
  case SEND:
  case SEND_LAST:
    if (n->word.kind) sends(r, me, f);
    return;
  case OVER: break;
  }
}

static void future(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Ring *r = ring(w, self);
  if (((const Node *)locals)->head.pc == OVER) return;
  footprint_touches(f, TOUCH_SEND, &r->in[self % N], sizeof(Link));
  footprint_touches(f, TOUCH_TAKE, &r->in[self - 1], sizeof(Link));
  footprint_writes(f, &r->leaders, 1);
}

static const ProcessType node = {"node", sizeof(Node), resume, at};
static const TypeGuide guide = {.guard = guard, .footprint = footprint, .future = future};

static void *build(World *w) {
  Ring *r = arena_alloc(world_arena(w), sizeof *r);
  TypeId type = world_type(w, &node);
  world_set_data(w, type, r);
  world_guide(w, type, &guide);
  for (guint i = 0; i < N; i++) {
    Node *n = world_locals(w, world_spawn(w, type, 0));
    n->active = 1;
    n->maximum = own_number(i);
  }
  return r;
}

static bool done(const World *w, const void *model) {
  (void)model;
  for (ProcId p = 1; p <= N; p++)
    if (((const Node *)world_locals((World *)w, p))->head.pc != OVER) return false;
  return true;
}

static bool two_leaders(const World *w, const void *model, GString *why) {
  const Ring *r = model;
  (void)w;
  if (r->leaders < 2) return false;
  g_string_printf(why, "%d leaders, not one", r->leaders);
  return true;
}
static void reads_leaders(const World *w, const void *model, guint i, Footprint *f) {
  const Ring *r = model;
  (void)w;
  (void)i;
  footprint_reads(f, &r->leaders, 1);
}
static const PluginCheck checks[] = {{"one-leader", "at most one process is the leader", two_leaders}};

const ModelPlugin stampede_model = {.version = MODEL_PLUGIN_VERSION,
                                    .name = "leader0",
                                    .about = "leader election in a ring",
                                    .build = build,
                                    .done = done,
                                    .checks = checks,
                                    .n_checks = 1,
                                    .reads = reads_leaders};
