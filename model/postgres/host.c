/* host.c - see host.h. Pids in turn are those of a kernel that counts up; at once is what small containers and Windows
 * do (Munro on pgsql-hackers: pids come again very soon there). */
#include "model/postgres/host.h"

PgHost *host_new(Arena *a, const PgHostConfig *c) {
  g_assert(c->backends_max > 0 && c->backends_max < UINT16_MAX && c->pid_start > 0 && c->pid_max >= c->pid_start);
  PgHost *h = arena_alloc(a, sizeof(PgHost) + (size_t)c->backends_max * sizeof(PgBackend));
  h->n = (uint16_t)c->backends_max;
  return h;
}

int host_find(const PgHost *h, uint32_t pid) {
  for (int i = 0; i < h->n; i++)
    if (h->backends[i].pid == pid && pid) return i;
  return -1;
}

static uint32_t pid_after(const PgHostConfig *c, uint32_t pid) {
  return pid == 0 || pid >= (uint32_t)c->pid_max ? (uint32_t)c->pid_start : pid + 1;
}

/* At most backends_max pids are in use, so the search ends, provided there are so many pids; else 0. */
static uint32_t free_pid(const PgHost *h, const PgHostConfig *c) {
  uint32_t pid = pid_after(c, c->at_once ? 0 : h->last_pid);
  for (int i = 0; i <= h->n; i++, pid = pid_after(c, pid))
    if (host_find(h, pid) < 0) return pid;
  return 0;
}

static int free_backend(const PgHost *h) {
  for (int i = 0; i < h->n; i++)
    if (!h->backends[i].pid) return i;
  return -1;
}

int host_fork(PgHost *h, const PgHostConfig *c, uint16_t conn) {
  int i = free_backend(h);
  uint32_t pid = free_pid(h, c);
  if (h->down || i < 0 || !pid) return -1;
  if (!c->at_once) h->last_pid = pid;
  h->forked++;
  h->backends[i] = (PgBackend){.pid = pid, .secret = c->secret_given ? c->secret : h->forked, .conn = conn};
  return i;
}

void host_exit(PgHost *h, int backend) {
  g_assert(backend >= 0 && backend < h->n && h->backends[backend].pid);
  h->backends[backend] = (PgBackend){0};
}

int host_match(const PgHost *h, uint32_t pid, uint32_t secret, bool by_secret) {
  int i = host_find(h, pid);
  return i >= 0 && by_secret && h->backends[i].secret != secret ? -1 : i;
}

int host_signal(PgHost *h, uint32_t pid) {
  int i = host_find(h, pid);
  if (i >= 0) h->backends[i].signals++;
  return i;
}

uint32_t host_key_pid(const PgHost *h, const PgHostConfig *c, int backend) {
  g_assert(backend >= 0 && backend < h->n);
  return c->key_bytes ? h->backends[backend].pid : 0;
}

void host_stop(PgHost *h, uint16_t outage) {
  g_assert(outage > 0);
  h->down = outage;
}

void host_start(PgHost *h, uint16_t outage) {
  if (h->down != outage) return;
  for (int i = 0; i < h->n; i++) g_assert(!h->backends[i].pid);
  h->down = 0;
  h->last_pid = 0;
}
