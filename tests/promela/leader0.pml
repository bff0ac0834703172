/* Leader election in a ring (Dolev, Klawe, Rodeh 1982); tests/models/leader0.c is the same, step for step. */
#ifndef N
#define N 7
#endif
#define ROOM 10
#define FIRST 1
#define SECOND 2
#define WINNER 3
#define own ((N + 3 - _pid) % N + 1)
#define out q[(_pid + 1) % N]
#define room (len(out) < ROOM)
chan q[N] = [ROOM] of { byte, byte };
byte leaders;

active [N] proctype node() {
  bool active_ = true, known = false;
  byte maximum = own, neighbour = 0, kind = 0, number = 0;
  out!FIRST, own;
  do
  :: q[_pid]?kind, number;
     if /* deal with it: what is to be sent is left in kind and number */
     :: d_step { kind == FIRST && active_ && number != maximum -> neighbour = number; kind = SECOND }
     :: d_step { kind == FIRST && active_ && number == maximum -> known = true; kind = WINNER }
     :: d_step { kind == SECOND && active_ && neighbour > number && neighbour > maximum ->
          maximum = neighbour; kind = FIRST; number = neighbour }
     :: d_step { kind == SECOND && active_ && !(neighbour > number && neighbour > maximum) ->
          active_ = false; kind = 0; number = 0 }
     :: d_step { kind == WINNER ->
          if :: number == own -> leaders++; assert(leaders == 1) :: else fi;
          if :: known -> kind = 0; number = 0 :: else fi } -> break
     :: d_step { kind != WINNER && !active_ -> skip }
     fi;
     if
     :: d_step { kind == 0 -> skip }
     :: d_step { kind != 0 && room -> out!kind, number; kind = 0; number = 0 }
     fi
  od;
  if
  :: d_step { kind == 0 -> skip }
  :: d_step { kind != 0 && room -> out!kind, number; kind = 0; number = 0 }
  fi;
end_over:
  false
}
