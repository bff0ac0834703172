/* symmetry.h - the state of a pooler under other names: which names mean nothing (naming.c says when), in which order
 * their bearers stand in the form that is kept (symmetry.c), and the rewriting (rename.c). Private. */
#pragma once
#include "model/pooler/parts.h"

/* Names that may be given anew, by configuration. What a name must never decide is proved beside each in naming.c. */
typedef struct {
  bool servers; /* slots of server connections within a pool */
  bool cancels; /* entries of cancels */
  bool keys;    /* numbers in the keys of clients */
  bool pids;    /* process ids and secrets of backends */
  bool seqs;    /* numbers of openings */
  bool owners;  /* who had a connection last is of no interest: no event asks */
  bool *copies; /* by entry of the scenario: its copies are alike */
} Nameless;

/* New place of each, by old place; bijections. */
typedef struct Naming {
  Nameless may;
  guint *client, *session, *server, *cancel;
  guint **backend;  /* by host */
  uint64_t *colors; /* work space: of clients, servers, cancels, and one more of the longest */
  guint *order;     /* likewise, of sorting */
  ProcId *procs;    /* for world_rename */
  ObjectId *objects;
  guint procs_room, objects_room;
  void *old; /* a table as it was */
  size_t old_bytes;
  uint32_t *names; /* values as they were met (rename.c) */
  guint n_names, names_room;
} Naming;

Naming *naming_new(const Pooler *p);
void naming_free(Naming *n, guint hosts);
void naming_order(const Pooler *p, Naming *n); /* symmetry.c: fills client, session, server, cancel, backend */
void naming_apply(Pooler *p, Naming *n);       /* rename.c */
