#!/bin/bash
# e2e_schedules_bad.sh - code that a search through schedules should not be given, and each check that can be asked of
# any code caught at its own: what it is, where, who called it.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

cat >bad.c <<'END'
#include "stampede_subject.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int *cell, *other_cell, sink;
static uint8_t *byte;
static StmLock lock, other;
static StmSemaphore sem;
static void start(void) {
  cell = stm_shared("cell", sizeof *cell, 64);
  other_cell = stm_shared("other cell", sizeof *cell, 64);
  byte = stm_shared("byte", 1, 64);
  stm_spin_init(byte, "byte");
  lock = stm_lock_new("lock");
  other = stm_lock_new("other");
  sem = stm_semaphore_new("sem", 1);
}
#define ENTRY(name) static void name(int64_t a)
ENTRY(loops) { for (;;) *cell = (int)a; }
ENTRY(idles) { for (;;) sink += (int)a; }
static void *thread(void *p) { return p; }
static __attribute__((noinline)) void deep(int what) {
  pthread_t t;
  if (what == 1) pthread_create(&t, NULL, thread, NULL);
  if (what == 2) sink = (int)fork();
  if (what == 3) sink = (int)write(1, "x", 1);
  if (what == 4) printf("%d\n", what);
  sink++;
}
ENTRY(threads) { deep(1 + (int)a); sink++; }
ENTRY(forks) { deep(2 + (int)a); sink++; }
ENTRY(writes) { deep(3 + (int)a); sink++; }
ENTRY(prints) { deep(4 + (int)a); sink++; }
ENTRY(keeps) { stm_lock_acquire(lock, a != 0); }
ENTRY(spins) { (void)a; stm_spin_lock(byte); }
ENTRY(crosses) {
  stm_lock_acquire(a ? lock : other, false);
  stm_lock_acquire(a ? other : lock, false);
  stm_lock_release(lock);
  stm_lock_release(other);
}
ENTRY(ups) { (void)a; stm_semaphore_up(sem); }
ENTRY(downs) { (void)a; stm_semaphore_down(sem); }
ENTRY(waits) { if (!stm_semaphore_down_within(sem, a)) *cell = 1; }
ENTRY(sets) { *cell = (int)a; }
ENTRY(asserts) { (void)a; assert(*cell == 0); }
ENTRY(panics) { (void)a; if (*cell) stm_panic("cell is set"); }
int kill(int pid, int signal);
ENTRY(kills) { if ((kill((int)a, 2) == 0) != (a == 1001)) stm_panic("no such process, or there is"); }
ENTRY(hears) { if (stm_signalled()) *cell = 1 + (int)a; }
ENTRY(hears_twice) { (void)a; if (stm_signalled() && stm_signalled()) *cell = 1; }
static int rounds;
ENTRY(gives_up) { int n = 0; while (!*cell) { if (++n > 3 + a) stm_panic("gave up"); stm_spin(); } }
ENTRY(stops_after) { rounds = 0; while (!*cell && ++rounds <= a) stm_spin(); }
ENTRY(looks) { while (!*cell + a) stm_spin(); }
ENTRY(looks_locked) {
  for (int seen = (int)a; !seen;) {
    stm_lock_acquire(lock, false);
    seen = *cell;
    stm_lock_release(lock);
    if (!seen) stm_spin();
  }
}
ENTRY(counts) { for (rounds = 0; !*cell; rounds++) { if (a) ++*other_cell; stm_spin(); } }
ENTRY(garbles) { stm_panic(a ? "\xff" : "\xff\xfe"); }
ENTRY(gives) { (void)a; stm_lock_release(lock); }
static bool is_set(char *why, size_t size) { snprintf(why, size, "cell is %d", *cell); return *cell == 1; }
#define E(name) {#name, "misdeed", name}
static const StampedeEntry entries[] = {E(loops), E(idles), E(threads), E(forks), E(writes), E(prints), E(keeps), E(spins),
  E(crosses), E(ups), E(downs), E(sets), E(asserts), E(panics), E(gives), E(waits), E(garbles), E(gives_up), E(kills), E(hears), E(hears_twice),
  E(stops_after), E(looks), E(looks_locked), E(counts)};
static bool is_five(char *why, size_t size) { snprintf(why, size, "cell is %d", *cell); return *cell == 5; }
static const StampedeCheck checks[] = {{"never-set", "cell is never 1", is_set, false},
  {"five-at-end", "cell is not left at 5", is_five, true}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "bad", .about = "bad",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries, .checks = checks, .n_checks = 2};
END
printf 'subject: bad\nabout: bad\nsources: [bad.c]\n' >bad.yaml
check_status 0 "$STAMPEDE" subject build --manifest bad.yaml -o bad.so
line() { grep -n "$1" bad.c | head -n 1 | cut -d: -f1; }

# scenario CHECKS SCRIPT...: a process for each script
scenario() {
  local checks=$1 i=0 script
  shift
  printf 'scenario: s\nabout: a misdeed\nsubject: ./bad.so\nchecks: [%s]\nprocesses:\n' "$checks"
  for script; do printf '  - {name: p%d, script: [%s]}\n' $((++i)) "$script"; done
}
# does CHECKS STATUS TEXT SCRIPT...
does() {
  scenario "$1" "${@:4}" >s.yaml
  check_status "$2" "$STAMPEDE" check s.yaml --max-steps 500
  check_contains "$3"
}

# --- loops without an end: the limit, with the place
does no-deadlock 0 "cut after 500 steps (--max-steps): first p1 at loops bad.c:$(line 'ENTRY(loops)')" loops
check_contains 'some orders were cut by --max-steps'
check_lacks ' holds'
echo 'expect: [{check: no-deadlock, verdict: holds}]' >>s.yaml
check_status 3 "$STAMPEDE" check s.yaml --max-steps 500
check_status 0 "$STAMPEDE" check s.yaml --max-steps 500 --jobs 2 --set 'expect=[]'
check_contains "first p1 at loops bad.c:$(line 'ENTRY(loops)')"
does no-deadlock 1 'endless: three seconds of CPU in one call' idles
check_contains "bad.c:$(line 'ENTRY(idles)')"

# while it is at work, once the first hundred were all cut
scenario no-deadlock loops loops >s.yaml
check_status 3 "$STAMPEDE" check s.yaml --max-steps 200 --max-schedules 120 --set 'expect=[{check: no-deadlock, verdict: holds}]'
check_contains 'stampede: the first schedules were all cut by --max-steps, the first with p' "$ERR"
check_contains 'at most 200 steps'

# --- a check of the end is judged in a deadlock too, by run as by check
printf 'scenario: s\nabout: s\nsubject: ./bad.so\nprocesses:\n  - {name: p, script: [downs, {call: sets, with: 5}, downs]}\n' >s.yaml
for command in run check; do
  check_status 1 "$STAMPEDE" $command s.yaml
  check "$command judges it" grep -Eq 'five-at-end +violated.*cell is 5' "$OUT"
done
# words that are no UTF-8 are made some
does no-panic 1 'no-panic                     violated: ' garbles
check_status 1 "$STAMPEDE" check s.yaml --json
check "it is JSON" jq -e '.checks[0].verdict == "violated"' "$OUT"

# --- what a search cannot undo: told by name, with who called it
traps() { # ENTRY WHAT
  does no-deadlock 1 "$2 is called, which nothing models" "$1"
  check_contains "deep bad.c:$(line "what == $3")"
  check_contains "called at $1 bad.c:$(line "ENTRY($1)")"
}
traps threads pthread_create 1
traps forks fork 2
traps writes write 3
traps prints printf 4

# --- each check has its mutant, and its twin that is right
does no-panic 1 'no-panic                     violated: assertion failed: *cell == 0' '{call: sets, with: 2}' asserts
does no-panic 0 'no-panic                     holds' '{call: sets, with: 0}' asserts
does no-panic 1 'no-panic                     violated: cell is set' '{call: sets, with: 2}' panics
does no-deadlock 1 'no-deadlock                  violated: p1 waits: takes' crosses '{call: crosses, with: 1}'
does no-deadlock 0 'no-deadlock                  holds' crosses crosses
# a lost wake-up: the one count is taken, and nobody gives another
does no-deadlock 1 'no-deadlock                  violated: p' downs 'downs, ups'
check_contains 'downs sem at downs bad.c:'
does semaphores-conserved 1 'the count of sem (semaphore 1) is 2; it was made with 1' ups
does semaphores-conserved 1 'the count of sem (semaphore 1) is 0; it was made with 1' downs
does semaphores-conserved 0 'semaphores-conserved         holds' 'downs, ups' 'downs, ups'
does locks-released 1 'p1 has ended and still holds lock' keeps
does locks-released 1 'p1 has ended and still holds byte' spins
does locks-released 0 'locks-released               holds' 'keeps, gives' 'keeps, gives'
does '' 1 'never-set                    violated: cell is 1' '{call: sets, with: 1}, sets' 'sets'
does '' 0 'never-set                    holds' '{call: sets, with: 3}, sets' 'sets'
does '' 1 'lock is released by who does not hold it' gives
# a fault before anybody's first operation is in its trace too
check_status 1 "$STAMPEDE" check s.yaml --trace first.jsonl
check_contains '"end":{"steps":0,"verdict":"fail"' first.jsonl
check_status 0 "$STAMPEDE" replay first.jsonl
check_contains 'reproduced: 0 steps, verdict fail'

# --- a wait that has a limit of time: never reached unless it may be; in time, when it is
timed() { # STATUS TEXT COMMAND...: another ups a millisecond later
  scenario '' 'downs, {call: waits, with: '"$3"'}' >s.yaml
  echo '  - {name: later, start: 1ms, script: [ups]}' >>s.yaml
  check_status "$1" "$STAMPEDE" "${@:4}" s.yaml
  check_contains "$2"
}
timed 0 'never-set                    holds' 500 check
timed 1 'never-set                    violated: cell is 1' 500 check --set 'explore.fire=[deadline]'
timed 1 'never-set                violated' 500 run
timed 0 'never-set                not-violated' 2000 run

# --- kill reaches who has the pid, and only once however often it was sent; nobody has 1007
does '' 0 'never-set                    holds' '{call: kills, with: 1007}, {call: kills, with: 0}' hears
does '' 1 'never-set                    violated: cell is 1' '{call: kills, with: 1001}, {call: kills, with: 1001}' hears
check_contains 'sends a signal to p2'
check_contains 'looks for a signal to p2'
check_status 1 "$STAMPEDE" check s.yaml --set machine.memory_order=tso
does '' 0 'never-set                    holds' '{call: kills, with: 1001}' 'hears_twice'
does semaphores-conserved 0 'semaphores-conserved         holds' '{call: kills, with: 1001}' sets

# --- a spin loop that counts its rounds: nothing holds, as another round comes to something else; one that gives up is
# no deadlock; with spin fired each number of rounds is tried: the store before each of the n + 1 looks, or after all, and the
# check's look before or after the store: 2 (n + 2)
does no-panic 0 'more rounds of a loop that counts them were not tried' gives_up '{call: sets, with: 2}'
check_contains "counts its rounds: p1 at gives_up bad.c:$(line 'ENTRY(gives_up)'); explore: {fire: [spin]}"
check_lacks ' holds'
check_status 1 "$STAMPEDE" check s.yaml --set 'explore.fire=[spin]'
check_contains 'no-panic                     violated: gave up'
does no-deadlock 0 'exhausted: 1 schedules' '{call: stops_after, with: 5}'
check_status 0 "$STAMPEDE" check s.yaml --json --set 'expect=[]'
check_contains '"counts_rounds": "p1 at stops_after bad.c:'
check_contains '"end": "more rounds of a loop that counts them were not tried"'
does no-deadlock 0 'counts its rounds: p1' '{call: stops_after, with: 6}' '{call: sets, with: 2}'
check_status 0 "$STAMPEDE" check s.yaml --set 'explore.fire=[spin]'
check_contains 'no-deadlock                  holds'
check_contains 'exhausted: 16 schedules'
# one whose rounds leave all as it was, with a lock in them or not: exact as before, and a deadlock where nobody comes
for loop in looks looks_locked; do
  does no-deadlock 0 'no-deadlock                  holds' "$loop" '{call: sets, with: 2}'
  check_lacks 'counts its rounds'
  does no-deadlock 1 'violated: p1 waits: spins at '"$loop" "$loop"
done
# one that counts for ever is a deadlock too, after some rounds more; in a process's variable or in shared memory
does no-deadlock 1 'violated: p1 waits: spins at counts' counts
does no-deadlock 1 'violated: p1 waits: spins at counts' '{call: counts, with: 1}'
scenario no-deadlock looks >s.yaml
sed -i 's/^checks:/explore: {fire: [spin]}\n&/' s.yaml
check_status 0 "$STAMPEDE" check s.yaml --max-steps 50
check_contains 'cut after 50 steps'
check_status 2 "$STAMPEDE" check s.yaml --set 'explore.fire=[ban_timeout]'
check_contains 'explore.fire[0]: is a pooler' "$ERR"
check_status 2 "$STAMPEDE" check s01-stale-cancel-good --set 'explore.fire=[spin]'
check_contains "explore.fire[0]: belongs to processes that run a subject's code" "$ERR"

# --- scripts that make no sense, at their place
does_not() { # TEXT SCRIPT
  scenario '' "$2" >s.yaml
  check_status 2 "$STAMPEDE" check s.yaml
  check_contains "$1" "$ERR"
}
does_not 's.yaml:6:25: processes[0].script[0]: the subject bad has no entry sest; the nearest is sets' sest
does_not 's.yaml:6:' '{call: sets, with: two}'
does_not 'processes: 61 processes; a search through schedules takes 1 to 60' 'sets]}
  - {name: many, count: 60, script: [sets'
