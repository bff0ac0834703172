/* world_private.h - what world.c and objects.c share: the layout of the state. Not for models. */
#pragma once
#include "model/world/world.h"
#include <string.h>

enum { TABLE_FIRST_LOG = 3, TABLE_FIRST = 1 << TABLE_FIRST_LOG, TABLE_BLOCKS = 20, TYPES_MAX = 16 };

/* Entries 1..count; block[k] is the arena offset of TABLE_FIRST << k entries. */
typedef struct {
  uint32_t count, block[TABLE_BLOCKS];
} Table;

typedef enum { PROC_FREE, PROC_READY, PROC_BLOCKED } ProcState;
typedef struct {
  uint16_t type;
  uint8_t state, n_held, timer, fired, wants, kept; /* wants: LockMode of a queued request; kept: by world_keep_ids */
  uint32_t locals, waits_on, link;                  /* link: next waiter of the object, or next free process */
  uint32_t held[LOCKS_HELD_MAX];                    /* locks, oldest first */
} Proc;

typedef enum { OBJECT_FREE, OBJECT_LOCK, OBJECT_QUEUE, OBJECT_CHANNEL } ObjectKind;
typedef struct {
  uint8_t kind, exclusive; /* exclusive: the lock is held so; a channel: it may lose messages */
  uint16_t name;
  uint32_t head, tail, waiters; /* waiting processes, FIFO */
  uint32_t holders;             /* of a lock; an exclusive one counts 1 */
  uint32_t first, last;         /* messages of a channel, arrived ones first */
  uint32_t arrived, under_way;  /* how many */
  uint32_t link;                /* next free object */
} Object;

typedef struct {
  Message m;
  uint32_t next, spare;
} Node;

typedef struct {
  Table procs, objects, nodes;
  uint32_t free_proc, free_object, free_node, live, ended_holding;
  uint32_t free_locals[TYPES_MAX];
} Root;

struct World {
  Arena *arena;
  char *base; /* of the arena */
  Ledger *ledger;
  Root *root;
  Costs costs;
  DriverOps ops;
  void *driver, *data[TYPES_MAX];     /* data: by TypeId */
  const TypeGuide *guides[TYPES_MAX]; /* likewise */
  uint64_t marks;
  guint messages_noted;               /* in this step */
  bool reshaped;                      /* an id or a message's place was given out or back since world_canon */
  GPtrArray *types, *choices, *names; /* ProcessType; char*; char* of objects */
  void *scratch;                      /* of world_rename */
  size_t scratch_bytes;
  GArray *sites; /* SiteId of each object name: charges under a lock go there */
};

/* 16: the unit of arena offsets. */
static inline void *table_at(const World *w, const Table *t, uint32_t id, size_t size) {
  g_assert(id > 0 && id <= t->count);
  uint32_t n = id - 1 + TABLE_FIRST;
  guint k = 31u - (guint)__builtin_clz(n) - TABLE_FIRST_LOG;
  return w->base + (size_t)t->block[k] * 16 + (n - ((guint)TABLE_FIRST << k)) * size;
}
static inline void *locals_at(const World *w, uint32_t offset) {
  return w->base + (size_t)offset * 16;
}
uint32_t table_add(World *w, Table *t, size_t size);
uint16_t world_intern(World *w, const char *name);
static inline Proc *proc_at(const World *w, ProcId p) {
  return table_at(w, &w->root->procs, p, sizeof(Proc));
}
Object *object_at(const World *w, ObjectId o);
Node *message_node(const World *w, uint32_t n);
