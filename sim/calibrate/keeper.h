/* keeper.h - the process that starts a throwaway server, waits, and clears up. For throwaway.c. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
  const char *dir, *log;                     /* the server's directory; what initdb and the server print */
  const char *const *initdb, *const *server; /* argv, NULL-terminated */
  bool plain_malloc;                         /* see throwaway.h */
  uid_t uid;                                 /* 0: stay who we are */
  gid_t gid;
  int lifeline, parents_end; /* the pipe's two ends; at end of file on the first, everything is ended */
} KeeperPlan;

void keeper_main(const KeeperPlan *plan) __attribute__((noreturn)); /* in the child of a fork */
void keeper_remove(const char *dir);                                /* with everything in it; may be gone already */
