/* abstract_program.h - small concurrent programs as arrays of operations over variables, locks and semaphores, for the
 * search through schedules. A process has registers; an operation may be skipped, repeated or jumped over. */
#pragma once
#include "checks/schedules.h"
#include <string.h>

enum { VARS = 128, REGS = 4, CODE = 40, LOCKS = 64, PROCESSES = 20 };

typedef enum {
  DO_END,
  DO_LOAD,
  DO_STORE,
  DO_ADD,
  DO_CAS,
  DO_LOCK,
  DO_LOCK_SHARED,
  DO_TRY,
  DO_UNLOCK,
  DO_UNLOCK_SHARED,
  DO_DOWN,
  DO_UP,
  DO_SPIN,
  DO_FENCE,
  /* not seen by others: */ DO_SET,
  DO_PLUS,
  DO_JUMP_IF,
  DO_JUMP_UNLESS,
  DO_FAIL
} Do;

/* DO_LOAD   reg := var[at + reg[index]]        DO_STORE var[at + reg[index]] := value + reg[from]
 * DO_ADD    reg := var[at], var[at] += value   DO_CAS   reg := 1 if var[at + reg[index]] was 0, then := value
 * DO_SET    reg := value                       DO_PLUS  reg := (reg + value) mod from (0: none)
 * DO_JUMP_IF to `at` if reg == value           DO_TRY   reg := 1 if it got lock `at`
 * index, from: 0 is none, else the register's number + 1 */
typedef struct {
  Do code;
  int at, reg, value, index, from;
} Op;

typedef struct {
  const char *name;
  guint processes;
  Op ops[PROCESSES][CODE];
  int semaphores[4];
  /* state */
  int var[VARS], lock[LOCKS], shared[LOCKS], sem[4];
  int reg[PROCESSES][REGS], pc[PROCESSES];
  bool failed;
  /* total store order: stores of each process, of which the first `written` are in var */
  bool tso;
  int stored_at[PROCESSES][CODE], stored[PROCESSES][CODE];
  guint stores[PROCESSES], written[PROCESSES];
} Program;

static inline void abstract_settle(Program *g, guint p) {
  for (;;) {
    const Op *op = &g->ops[p][g->pc[p]];
    int *r = &g->reg[p][op->reg];
    if (op->code < DO_SET) return;
    if (op->code == DO_JUMP_IF || op->code == DO_JUMP_UNLESS) {
      g->pc[p] = (*r == op->value) == (op->code == DO_JUMP_IF) ? op->at : g->pc[p] + 1;
      continue;
    }
    if (op->code == DO_SET) *r = op->value;
    if (op->code == DO_PLUS) *r = op->from ? (*r + op->value) % op->from : *r + op->value;
    if (op->code == DO_FAIL) g->failed = true;
    g->pc[p]++;
  }
}

static inline void abstract_restart(void *data) {
  Program *g = data;
  memset(g->var, 0, sizeof g->var);
  memset(g->lock, 0, sizeof g->lock);
  memset(g->shared, 0, sizeof g->shared);
  memset(g->reg, 0, sizeof g->reg);
  memset(g->pc, 0, sizeof g->pc);
  memcpy(g->sem, g->semaphores, sizeof g->sem);
  g->failed = false;
  memset(g->stores, 0, sizeof g->stores);
  memset(g->written, 0, sizeof g->written);
  for (guint p = 0; p < g->processes; p++) abstract_settle(g, p);
}

static inline int abstract_place(const Program *g, guint p, const Op *op) {
  return op->at + (op->index ? g->reg[p][op->index - 1] : 0);
}

/* What p sees of a variable: the latest store in its own buffer, else what is written. *own: the former. */
static inline int abstract_seen(const Program *g, guint p, int at, bool *own) {
  *own = false;
  for (guint i = g->stores[p]; g->tso && i-- > g->written[p];)
    if (g->stored_at[p][i] == at) return *own = true, g->stored[p][i];
  return g->var[at];
}

static inline ProcessState abstract_pending_write(const Program *g, guint p, Operation *out) {
  guint i = g->written[p];
  *out = (Operation){.kind = OPERATION_LOCAL};
  if (i == g->stores[p]) return PROCESS_ENDED;
  *out = (Operation){
      .kind = OPERATION_WRITE, .object = (uint64_t)g->stored_at[p][i], .bytes = 1, .store = g->written[p] + 1};
  return PROCESS_READY;
}

static inline ProcessState abstract_pending_buffered(const Program *g, guint p, Operation *out, ProcessState state) {
  if (out->kind == OPERATION_READ) abstract_seen(g, p, (int)out->object, &out->own);
  if (out->kind == OPERATION_WRITE) out->kind = OPERATION_BUFFER, out->store = g->stores[p] + 1;
  if (operation_drains(out->kind)) out->store = g->stores[p];
  return out->kind != OPERATION_BUFFER && out->store > g->written[p] ? PROCESS_WAITS : state;
}

static inline ProcessState abstract_pending(void *data, guint p, Operation *out) {
  static const OperationKind kinds[] = {
      [DO_LOAD] = OPERATION_READ,  [DO_STORE] = OPERATION_WRITE,   [DO_ADD] = OPERATION_UPDATE,
      [DO_CAS] = OPERATION_UPDATE, [DO_LOCK] = OPERATION_LOCK,     [DO_LOCK_SHARED] = OPERATION_LOCK_SHARED,
      [DO_TRY] = OPERATION_TRY,    [DO_UNLOCK] = OPERATION_UNLOCK, [DO_UNLOCK_SHARED] = OPERATION_UNLOCK_SHARED,
      [DO_DOWN] = OPERATION_DOWN,  [DO_UP] = OPERATION_UP,         [DO_SPIN] = OPERATION_SPIN,
      [DO_FENCE] = OPERATION_FENCE};
  Program *g = data;
  if (p >= g->processes) return abstract_pending_write(g, p - g->processes, out);
  const Op *op = &g->ops[p][g->pc[p]];
  *out = (Operation){.kind = OPERATION_LOCAL};
  if (op->code == DO_END) return PROCESS_ENDED;
  int at = abstract_place(g, p, op);
  *out = (Operation){.kind = kinds[op->code], .object = (uint64_t)at, .bytes = 1, .pc = op};
  bool waits = (op->code == DO_LOCK && (g->lock[at] || g->shared[at])) || (op->code == DO_LOCK_SHARED && g->lock[at]) ||
               (op->code == DO_DOWN && !g->sem[at]);
  ProcessState state = waits ? PROCESS_WAITS : PROCESS_READY;
  return g->tso ? abstract_pending_buffered(g, p, out, state) : state;
}

static inline void abstract_step(void *data, guint p, bool *failed, bool *changed) {
  Program *g = data;
  if (p >= g->processes) {
    guint q = p - g->processes, i = g->written[q]++;
    *changed = g->var[g->stored_at[q][i]] != g->stored[q][i];
    g->var[g->stored_at[q][i]] = g->stored[q][i];
    return;
  }
  const Op *op = &g->ops[p][g->pc[p]];
  int at = abstract_place(g, p, op), *r = &g->reg[p][op->reg], *v = &g->var[at % VARS], before = *v;
  int value = op->value + (op->from ? g->reg[p][op->from - 1] : 0);
  bool own;
  switch (op->code) {
  case DO_LOAD: *r = abstract_seen(g, p, at % VARS, &own); break;
  case DO_STORE:
    if (g->tso)
      g->stored_at[p][g->stores[p]] = at % VARS, g->stored[p][g->stores[p]++] = value;
    else
      *v = value;
    break;
  case DO_ADD: *r = *v, *v += op->value; break;
  case DO_CAS:
    *r = *v == 0;
    if (*r) *v = op->value;
    break;
  case DO_LOCK: g->lock[at] = 1; break;
  case DO_LOCK_SHARED: g->shared[at]++; break;
  case DO_TRY:
    *r = !g->lock[at] && !g->shared[at];
    if (*r) g->lock[at] = 1;
    *failed = !*r;
    break;
  case DO_UNLOCK: g->lock[at] = 0; break;
  case DO_UNLOCK_SHARED: g->shared[at]--; break;
  case DO_DOWN: g->sem[at]--; break;
  case DO_UP: g->sem[at]++; break;
  default: break;
  }
  *changed = *v != before || (op->code >= DO_LOCK && op->code <= DO_UP && !*failed);
  g->pc[p]++;
  abstract_settle(g, p);
}

static inline const char *abstract_broken(void *data, bool end, guint n) {
  const Program *g = data;
  if (n) return NULL;
  if (g->failed) return "assertion";
  Operation op;
  for (guint p = 0; end && p < g->processes * (g->tso ? 2 : 1); p++)
    if (abstract_pending(data, p, &op) != PROCESS_ENDED) return "deadlock";
  return NULL;
}
static inline int abstract_count(void *data, uint64_t s) {
  return ((const Program *)data)->semaphores[s];
}

static inline guint abstract_all(const Program *g) {
  return g->processes * (g->tso ? 2 : 1);
}
static inline ScheduleProgram abstract_program(Program *g) {
  return (ScheduleProgram){.data = g,
                           .processes = abstract_all(g),
                           .buffers = g->tso ? g->processes : 0,
                           .restart = abstract_restart,
                           .pending = abstract_pending,
                           .step = abstract_step,
                           .broken = abstract_broken,
                           .count = abstract_count};
}
