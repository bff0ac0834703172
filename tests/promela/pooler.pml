/* A pooler in transaction mode before one postmaster, as model/pooler has it under the preset pgdog-0.1.54 without a
 * tick. Written from model/pooler/README.md and the stages there, to have SPIN count its states: one d_step here is one
 * step of a process there. Each client connects, runs one query and leaves; the first CANCELS of them cancel it.
 *
 *   HOLD     fence: hold_until_eof and ack: wait_eof, instead of none and fire_and_forget
 *   CONFIRM  handoff: confirm, instead of record_then_send
 *   FIRE     query_wait_timeout may pass at any time
 *   HOSTS    so many postmasters behind one address, in turn, each with the same process ids
 *   G3       connections are told apart by process id alone (preset pgdog-draft-1025), and may so be miscounted
 *   ROOM     connections there may be at a time, where a miscount lets more than SIZE be opened
 *   JUDGE    what must hold is asserted in every step
 *
 * A client, its session and its cancel have one index; what refers to something is its index + 1, and 0 is nobody. */
#ifndef N
#define N 2
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef SIZE
#define SIZE 1 /* of the pool */
#endif
#ifndef ROOM
#define ROOM SIZE /* nothing can open more */
#endif
#ifndef HOSTS
#define HOSTS 1
#endif
#ifndef G3
#define G3 0
#endif
#ifndef HOLD
#define HOLD 0
#endif
#ifndef CONFIRM
#define CONFIRM 0
#endif
#ifndef FIRE
#define FIRE 0
#endif
#ifndef JUDGE
#define JUDGE 0
#endif

/* ---- clients: the next step of a script ---- */
#define START 0
#define ASK 1
#define ANSWER 2
#define LEAVE 3
#define LEAVING 4
#define OVER 5
byte script[N];
bool asleep[N]; /* until it is answered, or its session has ended */
bool answered[N], failed[N];
byte n_over;

/* ---- sessions ---- */
#define NONE 0
#define FRESH 1 /* accepted; has not yet waited for anything */
#define IDLE 2
#define ASKED 3
#define QUEUED 4 /* a waiter, or its connection is in the mail */
#define FED 5    /* its connection has come */
#define RUNNING 6
#define GONE 7
byte session[N], key[N], keys;
byte mail[N], holds[N]; /* connection that was sent and not received; that it has */

/* ---- connections and their backends ---- */
#define FREE 0
#define CONNECT 1
#define LOGIN 2
#define READY 3
#define REST 4 /* the process waits: idle, given away, or fenced */
#define BEGIN 5
#define RUNS 6
#define STOPPED 7 /* a signal has ended the query */
#define REPLY 8
#define WAKE 9
#define CLOSE 10
byte stage[ROOM];
#define IS_IDLE 1
#define IS_TAKEN 2
#define IS_FENCED 3
#define IS_CLOSING 4
byte is[ROOM]; /* 0: free, or being opened */
byte owner[ROOM], fences[ROOM], seq[ROOM], backend[ROOM], seqs, backends[HOSTS];
byte host[ROOM], next_host;
byte slot[ROOM]; /* of its backend there, + 1: the lowest that is free */
byte runs[ROOM]; /* whose query */
bool hit[ROOM];

/* ---- the pool ---- */
byte idle[ROOM], n_idle, waiter[N], n_waiters, n_opening;
bool poked;
/* What is checked out: by a client's key, to a connection and the process id that a cancel must name. */
byte map_seq[N], map_pid[N], n_taken;
#if G3
#if CANCELS
#error a cancel does not look at these maps
#endif
#define PIDS (N * ROOM + 1) /* more than are ever opened */
byte map_slot[N], map_host[N];                              /* beside map_pid; + 1 */
byte rev_client[PIDS], rev_slot[PIDS], rev_host[PIDS];      /* by process id: client, connection, postmaster; + 1 */
#endif

/* ---- cancels ---- */
#define SEND 0
#define ACCEPT 1
#define AUTHENTICATE 2
#define LOOK_UP 3
#define DIAL 4
#define DELIVER 5
#define MATCH 6
#define SIGNAL 7
#define EOF 8
#define NO_CANCEL 9
#if CANCELS
byte cancel[CANCELS] = NO_CANCEL;
bool unsent[CANCELS]; /* it sleeps until its query is sent */
bool told[CANCELS];   /* its sender knows that it is over */
byte says_key[CANCELS], says_pid[CANCELS], link[CANCELS]; /* link: the connection that it holds */
#endif

hidden byte i, j, n, w, at;
hidden byte tracked;

inline judge() {
#if JUDGE
  n = 0;
  w = 0;
  for (i : 0 .. ROOM - 1) {
    n = n + (is[i] == IS_TAKEN);
    w = w + (is[i] == IS_IDLE);
    assert(is[i] != IS_FENCED || fences[i])
  }
  assert(n == n_taken && w == n_idle);
  for (i : 0 .. ROOM - 1) {
    n = 0;
    for (j : 0 .. N - 1) { n = n + (holds[j] == i + 1 || mail[j] == i + 1) }
    assert(n == 0 || (n == 1 && is[i] == IS_TAKEN));
    assert(is[i] != IS_TAKEN || stage[i] != REST || n)
  }
  assert(!n_waiters || !n_idle);
  if :: n_waiters && !n_opening && !poked -> count_all(); assert(n >= SIZE) :: else fi
#else
  skip
#endif
}

/* ---- what the pool does ---- */

inline count_all() { /* n: as the pool counts */
  n = n_taken + n_idle + n_opening;
  for (i : 0 .. ROOM - 1) { n = n + (is[i] == IS_FENCED) }
}

inline grow() {
  count_all();
  if
  :: n < SIZE && n_waiters > n_opening && n_idle == 0 && n_over < N ->
     if
     :: n_opening -> poked = true
     :: else ->
        i = 0;
        do
        :: i < ROOM && stage[i] != FREE -> i++
        :: else -> break
        od;
        if
        :: i < ROOM ->
           stage[i] = CONNECT;
           host[i] = next_host;
           next_host = (next_host + 1) % HOSTS;
           n_opening++
        :: else
        fi
     fi
  :: else
  fi
}

inline no_waiter(place) {
  n_waiters--;
  for (j : place .. N - 1) { waiter[j] = (j + 1 < N -> waiter[j + 1] : 0) }
}

inline give(s, c) {
  owner[s] = c + 1;
  is[s] = IS_TAKEN;
#if G3
  map_slot[key[c]] = s + 1;
  map_host[key[c]] = host[s] + 1;
  map_pid[key[c]] = backend[s];
  n_taken = n_taken + (rev_client[backend[s]] == 0);
  rev_client[backend[s]] = key[c] + 1;
  rev_slot[backend[s]] = s + 1;
  rev_host[backend[s]] = host[s] + 1
#else
  map_seq[key[c]] = seq[s];
  map_pid[key[c]] = backend[s];
  n_taken++
#endif
}

/* Out of the table of what is checked out; in `tracked` whether it was there. */
inline check_in(s, c) {
#if G3
  tracked = rev_client[backend[s]] != 0;
  if
  :: tracked ->
     w = rev_client[backend[s]] - 1;
     rev_client[backend[s]] = 0;
     rev_slot[backend[s]] = 0;
     rev_host[backend[s]] = 0;
     n_taken--;
     if
     :: map_pid[w] == backend[s] -> map_slot[w] = 0; map_host[w] = 0; map_pid[w] = 0
     :: else
     fi
  :: else
  fi
#else
  tracked = true;
  map_seq[key[c]] = 0;
  map_pid[key[c]] = 0;
  n_taken--
#endif
}

inline find_slot(s) {
  n = 0;
  i = 0;
  do
  :: i < ROOM && slot[i] == n + 1 && host[i] == host[s] -> n++; i = 0
  :: i < ROOM && !(slot[i] == n + 1 && host[i] == host[s]) -> i++
  :: i == ROOM -> break
  od;
  slot[s] = n + 1
}

/* To the first waiter, or idle. */
inline put(s) {
  if
  :: n_waiters ->
     w = waiter[0] - 1;
     no_waiter(0);
     give(s, w);
#if CONFIRM
     holds[w] = s + 1;
     session[w] = FED;
     stage[s] = REST
#else
     mail[w] = s + 1;
     stage[s] = WAKE
#endif
  :: else ->
     idle[n_idle] = s + 1;
     n_idle++;
     is[s] = IS_IDLE;
     stage[s] = REST
  fi
}

inline answer(c, well) {
  answered[c] = true;
  failed[c] = !(well);
  session[c] = IDLE;
  asleep[c] = false
}

inline forward(c) {
  session[c] = RUNNING;
  stage[holds[c] - 1] = BEGIN
}

/* The cancel has nothing to do with the connection any more. */
inline let_go(c) {
#if CANCELS
  if
  :: link[c] ->
     at = link[c] - 1;
     link[c] = 0;
     fences[at]--;
     if
     :: fences[at] == 0 && is[at] == IS_FENCED -> put(at)
     :: else
     fi
  :: else
  fi
#else
  skip
#endif
}

inline tell(c) {
  if
  :: !told[c] ->
     told[c] = true;
     asleep[c] = false
  :: else
  fi
}

inline over(c) {
  let_go(c);
  tell(c);
  cancel[c] = NO_CANCEL;
  told[c] = false;
  says_key[c] = 0;
  says_pid[c] = 0
}

/* ---- processes ---- */

active [N] proctype client() {
  do
  :: d_step { script[_pid] == START ->
       session[_pid] = FRESH;
       key[_pid] = keys;
       keys++;
#if CANCELS
       if :: _pid < CANCELS -> cancel[_pid] = SEND :: else fi;
#endif
       script[_pid] = ASK; judge() }
  :: d_step { script[_pid] == ASK ->
       session[_pid] = ASKED;
#if CANCELS
       if :: _pid < CANCELS -> unsent[_pid] = false :: else fi;
#endif
       script[_pid] = ANSWER; asleep[_pid] = true; judge() }
  :: d_step { script[_pid] == ANSWER && !asleep[_pid] ->
       if
       :: answered[_pid] ->
          answered[_pid] = false;
          failed[_pid] = false; /* it goes on whatever it was told */
          script[_pid] = LEAVE
       :: else -> asleep[_pid] = true
       fi; judge() }
  :: d_step { script[_pid] == LEAVE ->
       session[_pid] = GONE; script[_pid] = LEAVING; asleep[_pid] = true; judge() }
  :: d_step { script[_pid] == LEAVING && !asleep[_pid] && session[_pid] != NONE -> asleep[_pid] = true; judge() }
  :: d_step { script[_pid] == LEAVING && !asleep[_pid] && session[_pid] == NONE ->
       script[_pid] = OVER; n_over++; judge() } -> break
  od;
end_over:
  false
}

#define own (_pid - N)
active [N] proctype pooler_session() {
end_idle:
  do
  :: d_step { session[own] == FRESH -> session[own] = IDLE; judge() }
  :: d_step { session[own] == ASKED ->
       if
       :: n_waiters == 0 && n_idle > 0 -> /* the last one that came back */
          n_idle--;
          at = idle[n_idle] - 1;
          idle[n_idle] = 0;
          give(at, own);
          holds[own] = at + 1;
          forward(own)
       :: else ->
          waiter[n_waiters] = own + 1;
          n_waiters++;
          session[own] = QUEUED;
          grow()
       fi; judge() }
  :: d_step { session[own] == FED ->
       if :: mail[own] -> holds[own] = mail[own]; mail[own] = 0 :: else fi;
       forward(own); judge() }
#if FIRE
  :: d_step { session[own] == QUEUED ->
       if
       :: mail[own] -> /* sent, and nobody receives it: it is closed, and its entry stays */
          at = mail[own] - 1;
          mail[own] = 0;
          owner[at] = 0;
          is[at] = IS_CLOSING;
          stage[at] = CLOSE
       :: else ->
          i = 0;
          do :: waiter[i] != own + 1 -> i++ :: else -> break od;
          no_waiter(i)
       fi;
       answer(own, false); judge() }
#endif
  :: d_step { session[own] == GONE ->
       session[own] = NONE; key[own] = 0; asleep[own] = false; judge() }
  od
}

#define me (_pid - 2 * N)
active [ROOM] proctype connection() {
end_free:
  do
  :: d_step { stage[me] == CONNECT -> stage[me] = LOGIN; judge() }
  :: d_step { stage[me] == LOGIN ->
       backends[host[me]]++; backend[me] = backends[host[me]]; find_slot(me); stage[me] = READY; judge() }
  :: d_step { stage[me] == READY ->
       seqs++;
       seq[me] = seqs;
       n_opening--;
       put(me);
       if :: poked -> poked = false; grow() :: else fi; judge() }
  :: d_step { stage[me] == BEGIN -> runs[me] = owner[me]; stage[me] = RUNS; judge() }
  :: d_step { stage[me] == RUNS || stage[me] == STOPPED -> runs[me] = 0; stage[me] = REPLY; judge() }
  :: d_step { stage[me] == REPLY ->
       n = owner[me] - 1;
       owner[me] = 0;
       holds[n] = 0;
       check_in(me, n);
       answer(n, !hit[me]);
       hit[me] = false;
       if
       :: !tracked -> is[me] = IS_CLOSING; stage[me] = CLOSE
       :: tracked && HOLD && fences[me] -> is[me] = IS_FENCED; stage[me] = REST
       :: else -> put(me)
       fi; judge() }
  :: d_step { stage[me] == WAKE ->
       stage[me] = REST;
       if
       :: owner[me] && mail[owner[me] - 1] == me + 1 -> session[owner[me] - 1] = FED
       :: else
       fi; judge() }
  :: d_step { stage[me] == CLOSE ->
       stage[me] = FREE; is[me] = 0; seq[me] = 0; backend[me] = 0; host[me] = 0; slot[me] = 0; fences[me] = 0; grow(); judge() }
  od
}

#if CANCELS
#define of (_pid - 2 * N - ROOM)
active [CANCELS] proctype cancel_request() {
end_none:
  do
  :: d_step { cancel[of] == SEND && !unsent[of] ->
       if
       :: script[of] < ANSWER -> unsent[of] = true
       :: else ->
          if
          :: session[of] == NONE -> over(of)
          :: else -> says_key[of] = key[of]; cancel[of] = ACCEPT
          fi
       fi; judge() }
  :: d_step { cancel[of] == ACCEPT -> cancel[of] = AUTHENTICATE; judge() }
  :: d_step { cancel[of] == AUTHENTICATE ->
       i = 0;
       do :: i < N && !(session[i] != NONE && key[i] == says_key[of]) -> i++ :: else -> break od;
       if :: i < N -> cancel[of] = LOOK_UP :: else -> over(of) fi; judge() }
  :: d_step { cancel[of] == LOOK_UP ->
       if
       :: session[of] != NONE && key[of] == says_key[of] && map_seq[says_key[of]] ->
          says_pid[of] = map_pid[says_key[of]];
          i = 0;
          do :: i < ROOM && !(is[i] && seq[i] == map_seq[says_key[of]]) -> i++ :: else -> break od;
          if :: i < ROOM -> link[of] = i + 1; fences[i]++ :: else fi;
          cancel[of] = DIAL
       :: else -> over(of)
       fi; judge() }
  :: d_step { cancel[of] == DIAL -> cancel[of] = DELIVER; judge() }
  :: d_step { cancel[of] == DELIVER ->
       cancel[of] = MATCH;
       if :: !HOLD -> let_go(of); tell(of) :: else fi; judge() }
  :: d_step { cancel[of] == MATCH ->
       i = 0;
       do :: i < ROOM && backend[i] != says_pid[of] -> i++ :: else -> break od;
       if :: i < ROOM -> cancel[of] = SIGNAL :: else -> cancel[of] = EOF fi; judge() }
  :: d_step { cancel[of] == SIGNAL ->
       i = 0;
       do :: i < ROOM && backend[i] != says_pid[of] -> i++ :: else -> break od;
       if
       :: i < ROOM && runs[i] ->
#if JUDGE
          assert(runs[i] == of + 1); /* it hits the query that it is meant for */
#endif
          hit[i] = true;
          stage[i] = STOPPED
       :: else
       fi;
       cancel[of] = EOF; judge() }
  :: d_step { cancel[of] == EOF -> over(of); judge() }
  od
}
#endif
