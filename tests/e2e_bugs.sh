#!/bin/bash
# e2e_bugs.sh - bugs that PostgreSQL had, as miniatures: in each the bug is found, by the check that is about it, within
# ten seconds of one core's time, and what was done about it is exhausted within sixty without a violation.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

# cpu_within SECONDS COMMAND...: user and system time, by the shell's own clock.
cpu_within() {
  local most=$1 used
  shift
  TIMEFORMAT='%U %S'
  used=$({ time "$@" >"$OUT" 2>"$ERR" </dev/null; } 2>&1)
  check "more than $most s of CPU ($used): $*" awk "BEGIN { split(\"$used\", u); exit !(u[1] + u[2] <= $most) }"
}

# found SCENARIO WORDS: what is broken, with the shortest schedule.
found() {
  cpu_within 10 "$STAMPEDE" check "$1"
  check_contains "$2"
  check_contains 'counterexample 1: '
  check_status 0 "$STAMPEDE" check "$1" --quiet
}
exhausted() {
  cpu_within 60 "$STAMPEDE" check "$1"
  check_contains 'every order was tried'
  check_lacks 'violated'
  check_status 0 "$STAMPEDE" check "$1" --quiet
}
# pair NAME WORDS: NAME-bad and NAME-good
pair() {
  found "$1-bad" "$2"
  exhausted "$1-good"
}

pair s37-double-return 'violated: slot 0 is on the free list twice'
pair bug-84b9d6bcea 'latch already owned'
pair bug-4aec49899e 'violated: all have ended, and the count of semaphore'
pair bug-4aec49899e-early 'a follower went on before its xid was cleared'
pair bug-1fe1f42e3e 'a snapshot was taken again that has transaction 102 in it, which had ended'
pair bug-74fc83869e '101 was said to be the oldest active, and 100 is'
pair bug-33b392eaab 'the process with pid 1000 was to end, and 1001 was told to'
pair bug-0ebeec35fc "VACUUM's horizon is 100, and backend 0 needs 50"
pair bug-d79bf7612a 'emitter waits: spins'
pair s35-group-clear 'was cleared 0 times'

# Its two steps in order are enough where each store is seen at once.
exhausted bug-d79bf7612a-order-good
found bug-d79bf7612a-order-bad 'emitter waits: spins'

# One hand-over for the whole group, or one for each: 1 + 1 and 32 + 1, the snapshot's with it.
check_status 0 "$STAMPEDE" run s35-hand-over-good
check_status 0 "$STAMPEDE" run s35-hand-over-bad
