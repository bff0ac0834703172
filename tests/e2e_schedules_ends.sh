#!/bin/bash
# e2e_schedules_ends.sh - a search through schedules that is ended before its time: it says what it did, with 130, and
# nothing is left of it, whether the signal comes to one process or to all, with one job or two.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

# Whom a process has forked, and whom these have.
below() {
  local children child
  read -r -a children 2>/dev/null <"/proc/$1/task/$1/children"
  for child in "${children[@]}"; do echo "$child" && below "$child"; done
}
gone() { # PID...: soon
  for _ in $(seq 100); do
    ps -o stat= -p "$(IFS=, && echo "$*")" | grep -qv '^Z' || return 0
    sleep 0.05
  done
  return 1
}
# ends WHOM SIGNAL JOBS [SIGNAL]: a search that takes far longer, told once, or twice at once; sets $status and $children. A shell ignores SIGINT for what it
# starts in the background; a job of its own does not.
ends() {
  setsid env --default-signal=INT "$STAMPEDE" check s35-hand-over-good --jobs "$3" --junit out.xml >out 2>err &
  local pid=$!
  for _ in $(seq 400); do
    mapfile -t children < <(below $pid)
    ((${#children[@]} >= $3)) && break
    sleep 0.05
  done
  if [[ $1 == all ]]; then kill -s "$2" -- -$pid; else kill -s "$2" $pid; fi
  [[ -z ${4:-} ]] || { sleep 0.02 && kill -s "$4" $pid; }
  wait $pid 2>/dev/null
  status=$?
}

for jobs in 1 2; do
  for signal in INT TERM; do
    for whom in one all; do
      ends $whom $signal $jobs
      check "$signal to $whom, $jobs jobs: status $status, $(cat err)" test "$status" = 130
      check_contains 'schedules, ' out
      check_contains '; interrupted' out
      check_contains '</testsuite>' out.xml
      check "$signal to $whom, $jobs jobs: ${children[*]} are gone" gone "${children[@]}"
      rm -f out.xml
    done
  done
  ends one TERM $jobs TERM # as timeout does, which tells the group after it
  check "told twice at once, $jobs jobs: status $status, $(cat err)" test "$status" = 130
  check_contains '; interrupted' out
  rm -f out.xml
  ends one KILL $jobs
  check "KILL, $jobs jobs: ${children[*]} are gone" gone "${children[@]}"
  check 'nothing half-written' test -z "$(find . -name 'out.xml*')"
done

# A run of a subject, too: its process hears what came to the tool alone.
printf '%s\n' 'scenario: long' 'about: a backend that comes and goes for ever' 'subject: latch-after-push' 'processes:' \
  '  - {name: b, script: [{loop: {times: 1000000000, do: [connect, leave]}}]}' >long.yaml
"$STAMPEDE" run long.yaml >out 2>err &
pid=$!
for _ in $(seq 400); do [[ -n $(below $pid) ]] && break; sleep 0.05; done
kill -TERM $pid
wait $pid
status=$?
check "a run: status $status" test "$status" = 130
check_contains 'ended early: interrupted' out
