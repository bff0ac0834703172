/* schedules_tasks.h - parts of a tree of schedules that are searched by other processes: what each is sent, what it
 * answers. schedules_split.c decides which, and takes over what comes back. */
#pragma once
#include "checks/schedules_workers.h"

/* What was found in a part of a task, and what is left of it. */
typedef struct {
  SchedulesResult *result;
  GByteArray *told;
  GArray *foreign; /* of Foreign */
  Frontier left;
} Portion;

typedef enum { TASK_WAITS, TASK_RUNS, TASK_DONE } TaskState;

typedef struct {
  guint level;  /* its places are this one and those after it */
  bool side;    /* a process in the queue of place `level` - 1 */
  bool entered; /* side: its turn has come, and its process has left the queue */
  guint8 process;
  TaskState state;
  int worker;
  Frontier left;    /* of a side task first the place before its own, with no other process to try */
  GQueue *portions; /* of Portion, done and not yet taken over */
} Task;

static inline Node *place(const GArray *nodes, guint i) {
  return &g_array_index(nodes, Node, i);
}
/* Has it a process that is still to be tried? */
static inline bool place_is_pending(const Node *n) {
  return n->next < n->queued;
}

Task *task_new(guint level);
void task_free(void *task);
void portion_free(void *portion);
/* So many schedules of the task, or what there is of them. */
void task_send(Task *t, Workers *workers, int worker, guint64 schedules);
/* Waits for an answer and puts it to its task's portions. */
void task_take_answer(GPtrArray *tasks, Workers *workers);
/* What workers do; data: the Search whose program and options they have. */
void task_work(void *data, const GByteArray *in, GByteArray *out);
void path_of(const Search *x, GByteArray *path); /* who went, to x's last place */
