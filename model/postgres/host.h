/* host.h - a postmaster as a cancel sees it: its pid space, its backends by pid and key, what each runs, and signals
 * sent but not yet handled. No time and no processes here; a model's processes call these as steps of theirs. All state
 * is one block of the caller's arena; a backend that has exited is all zero.
 *
 * A cancel takes two steps here, as in ProcSignal code: host_match finds a backend by pid and key, host_signal sends
 * SIGINT to a PID. Between them the backend may exit and its pid may be given to another one. */
#pragma once
#include "model/world/arena.h"
#include <stdbool.h>

typedef struct {
  int pid_start, pid_max; /* pids go from start to max, then from start again */
  bool at_once;           /* a pid that is free is given again at once: the lowest; else in turn */
  bool secret_given;
  uint32_t secret; /* of every backend, when given; else no two are ever equal */
  int key_bytes;   /* 0: no BackendKeyData: pid 0 is what the client learns */
  int backends_max;
} PgHostConfig;

typedef enum { RUNS_NOTHING, RUNS_QUERY, RUNS_OWN } PgRuns; /* OWN: a pooler's reset, check or settings */
typedef struct {
  uint32_t pid, secret;
  uint8_t runs, open; /* open: a transaction is */
  uint16_t query;     /* of RUNS_QUERY: its number in its client's script */
  uint16_t client;    /* of RUNS_QUERY: whose, + 1 */
  uint16_t conn;      /* the connection it serves, + 1; 0: a stranger's */
  uint16_t signals;   /* SIGINTs sent and not yet handled */
} PgBackend;

typedef struct {
  uint32_t last_pid, forked;
  uint16_t n, down; /* down: by which outage; 0: it is up */
  PgBackend backends[];
} PgHost;

PgHost *host_new(Arena *a, const PgHostConfig *c);
/* Index of a new backend, or -1: none is free. */
int host_fork(PgHost *h, const PgHostConfig *c, uint16_t conn);
void host_exit(PgHost *h, int backend);
int host_find(const PgHost *h, uint32_t pid); /* -1: no such process */
/* by_secret false: whoever knows the pid may cancel. -1: unknown pid, or wrong key. */
int host_match(const PgHost *h, uint32_t pid, uint32_t secret, bool by_secret);
/* The process that has this pid now is sent SIGINT. -1: there is none. */
int host_signal(PgHost *h, uint32_t pid);
uint32_t host_key_pid(const PgHost *h, const PgHostConfig *c, int backend); /* what BackendKeyData says; 0: nothing */
/* Down until this outage (> 0) ends; it takes the place of one that lasts. All backends have exited before the end. */
void host_stop(PgHost *h, uint16_t outage);
/* The end of an outage. Pids start anew, keys do not; nothing when the server is up, or another outage began since. */
void host_start(PgHost *h, uint16_t outage);
