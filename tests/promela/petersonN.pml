/* Peterson's mutual exclusion for N processes (1981); tests/models/petersonN.c is the same, step for step. */
#ifndef N
#define N 4
#endif
byte level[N], turn[N], inside;
#define may_pass (j == _pid || level[j] < k || turn[k] != _pid)

active [N] proctype user() {
  byte k = 1, j = 0;
idle:
  skip;
set_level:
  level[_pid] = k;
  turn[k] = _pid;
  do
  :: d_step { may_pass && j < N - 1 -> j++ }
  :: d_step { may_pass && j == N - 1 -> j = 0 } -> break
  od;
  if
  :: d_step { k < N - 1 -> k++ } -> goto set_level
  :: d_step { k == N - 1 -> k++ }
  fi;
  inside++;
  d_step { assert(inside == 1); inside--; level[_pid] = 0; k = 1 }
  goto idle
}
