/* bfs_crew.c - the workers of a breadth-first search: each takes the next chunk, or the next parts of the store, until
 * none is left. */
#include "checks/bfs.h"

/* The parts of one worker: every n-th. */
static void claim_parts(Bfs *b, guint worker) {
  guint n = b->crew->n, wanted[STORE_PARTS] = {0};
  EACH_CANDIDATE(b, c) {
    wanted[store_part(c->hash)]++;
    if (store_part(c->hash) % n == worker) store_prefetch(b->store, c->hash); /* where it will be put, by and by */
  }
  for (guint part = worker; part < STORE_PARTS; part += n) store_make_room(b->store, part, wanted[part]);
  EACH_CANDIDATE(b, c2)
  if (store_part(c2->hash) % n == worker) store_claim(b->store, c2);
}

static void take_part(Expander *e) {
  Bfs *b = e->b;
  guint n = b->task == TASK_EXPAND ? chunk_count(b) : b->crew->n;
  for (guint i; (i = (guint)g_atomic_int_add(&b->next, 1)) < n;)
    if (b->task == TASK_EXPAND)
      bfs_expand_chunk(e, i);
    else
      claim_parts(b, i);
}

gpointer bfs_helper_main(gpointer data) {
  Expander *e = data;
  Bfs *b = e->b;
  for (guint round = 1;; round++) {
    g_mutex_lock(&b->lock);
    while (b->round != round) g_cond_wait(&b->start, &b->lock);
    g_mutex_unlock(&b->lock);
    if (b->task == TASK_END) return NULL;
    take_part(e);
    g_mutex_lock(&b->lock);
    if (--b->running == 0) g_cond_signal(&b->ended);
    g_mutex_unlock(&b->lock);
  }
}

void bfs_together(Bfs *b, Expander *first, Task task) {
  g_mutex_lock(&b->lock);
  b->task = task;
  b->next = 0;
  b->running = (gint)b->crew->n - 1;
  b->round++;
  g_cond_broadcast(&b->start);
  g_mutex_unlock(&b->lock);
  if (task == TASK_END) return;
  take_part(first);
  g_mutex_lock(&b->lock);
  while (b->running > 0) g_cond_wait(&b->ended, &b->lock);
  g_mutex_unlock(&b->lock);
}
