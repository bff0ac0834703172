/* steps.h - the pooler's own steps, and how each may be done otherwise: models of faults (pooler.steps: {STEP: HOW}).
 *
 * STEP(id, word, how, late, what): `how` are the words that mean something for this step, `late` whether {late: T}
 * does; any other is refused where it is read. Unless `what` says more: skip, it is not done; twice, it is done again
 * at once; early, before its turn; late, so much later. split: it takes two steps of the process, and between them
 * other workers of the same pooler process go on; of N workers at most N - 1 are in the middle at a time, so with one
 * worker nothing is split. */
#pragma once

#define POOLER_STEPS(STEP)                                                                                             \
  STEP(OPEN, "open", "skip twice split", true, "opening a connection. split: decided first, counted then")             \
  STEP(COUNT_OPENING, "count_opening", "skip twice", false, "counting an opening under way against pool_size")         \
  STEP(LOGIN, "login", "skip", true, "logging in. skip: it is handed out all the same, and its first query fails")     \
  STEP(CHECK_OUT, "check_out", "skip twice early split", false,                                                        \
       "taking an idle connection. early: before those who wait; split: one is seen first, taken then")                \
  STEP(HAND_OFF, "hand_off", "skip twice", false, "giving a connection to the waiter. skip: it goes idle")             \
  STEP(WAIT, "wait", "skip twice early split", true,                                                                   \
       "standing in the queue. early: at its head; split, late: some time after no connection was found")              \
  STEP(LEAVE, "leave", "skip others", false,                                                                           \
       "leaving the queue when a limit has passed. others: all others are dropped in its place")                       \
  STEP(WAKE, "wake", "skip early", true, "waking the waiter. early: the one that came last")                           \
  STEP(CLEAN, "clean", "skip twice", true, "cleaning up a session")                                                    \
  STEP(CHECK_IN, "check_in", "skip twice", true, "the check-in")                                                       \
  STEP(MAP, "map", "skip twice", true, "the entry in the table of checked-out connections")                            \
  STEP(UNMAP, "unmap", "skip early", true, "dropping the client's entry in it. early: before the clean-up")            \
  STEP(LINK, "link", "skip", false, "keeping a link to the connection. skip: its key is copied")                       \
  STEP(UNLINK, "unlink", "skip", true, "unlinking cancels that were not forwarded")                                    \
  STEP(UNFENCE, "unfence", "skip twice early", true,                                                                   \
       "the end of a fence. early: with the first of several cancels; skip: it never ends")                            \
  STEP(CARRIER, "carrier", "skip twice", true, "the connection that carries a cancel")                                 \
  STEP(TURN, "turn", "skip", false, "giving a carrier that is to be had to the first cancel that is parked")           \
  STEP(CLOSE_CARRIER, "close_carrier", "skip early", true, "its end. early: before the cancel was forwarded")          \
  STEP(CLOSE, "close", "skip twice", true, "closing a server connection")                                              \
  STEP(MOVE_IDLE, "move_idle", "skip", false, "a reload's move of idle connections")                                   \
  STEP(MOVE_TAKEN, "move_taken", "skip", false, "a reload's move of the table of checked-out connections")             \
  STEP(MOVE_WAITERS, "move_waiters", "skip", false, "telling those who wait that their pool is gone")                  \
  STEP(MERGE_TAKEN, "merge_taken", "skip", false, "keeping what the new pool has checked out already")                 \
  STEP(MERGE_COUNT, "merge_count", "skip twice", false, "counting openings and carriers under way in the new pool")
