/* N philosophers, the last left-handed; tests/models/philosophers.c is the same, step for step. */
#ifndef N
#define N 10
#endif
bool taken[N];
#define first_fork  (_pid == N - 1 -> 0 : _pid)
#define second_fork (_pid == N - 1 -> N - 1 : _pid + 1)

active [N] proctype philosopher() {
  do
  :: skip; /* think */
     d_step { !taken[first_fork] -> taken[first_fork] = true }
     d_step { !taken[second_fork] -> taken[second_fork] = true }
     taken[first_fork] = false;
     taken[second_fork] = false
  od
}
