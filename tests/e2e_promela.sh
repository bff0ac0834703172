#!/bin/bash
# e2e_promela.sh - the pooler's model written a second time, in Promela (tests/promela/pooler.pml), and SPIN without
# reductions: it must count the same states and transitions, and come to the same verdicts, with counterexamples of the
# same length. What the two differ in, and why nothing is left of it: tests/promela/README.md.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
# shellcheck source=tests/spin.sh
source tests/spin.sh
command -v spin >/dev/null || .ci/deps.sh all >/dev/null
check 'spin is installed' command -v spin >/dev/null
timed_out=$SCRATCH/spin.out spin_opt=-O1
pml=$PWD/tests/promela/pooler.pml scenarios=$PWD/sim/scenarios
cd "$SCRATCH" || exit 1

count() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$OUT"; }
steps_of() { sed -n "s/.*\"name\": \"$1\", \"verdict\": \"violated\", \"steps\": \([0-9]*\),.*/\1/p" "$OUT"; }

# same_space NAME SCENARIO [-DMACRO...] [--set ...]: every state, whatever is right or wrong in it.
same_space() {
  local name=$1 scenario=$2
  shift 2
  spin_model=(-o2) sets=() # -o2: also variables that nothing reads
  for word in "$@"; do
    if [[ $word == -D* ]]; then spin_model+=("$word"); else sets+=(--set "$word"); fi
  done
  spin_build "$pml" "$name"
  spin_run "$name" -m1000000 -w20
  check_status 0 "$STAMPEDE" check "$scenario" --reduce none "${sets[@]}" --json
  check "$name: $(count states) states, SPIN has $spin_states" test "$(count states)" = "$spin_states"
  check "$name: $(count transitions) transitions, SPIN has $spin_transitions" test "$(count transitions)" = "$spin_transitions"
  check "$name: SPIN finds $spin_errors errors" test "$spin_errors" = 0
}

# same_verdict NAME SCENARIO CHECK [-DMACRO...] [KEY=VALUE...]: violated in as many steps, or by neither.
same_verdict() {
  local name=$1 scenario=$2 what=$3 steps
  shift 3
  spin_model=(-DJUDGE=1) sets=()
  for word in "$@"; do
    if [[ $word == -D* ]]; then spin_model+=("$word"); else sets+=(--set "$word"); fi
  done
  spin_build "$pml" "$name" -DREACH
  spin_shortest "$name"
  check_status 0 "$STAMPEDE" check "$scenario" --reduce none "${sets[@]}" --json
  steps=$(steps_of "$what")
  check "$name: $what is violated in ${steps:-no} steps, by SPIN in $spin_steps" test "${steps:-0}" = "$spin_steps"
  [[ -n $steps ]] || check_contains "\"name\": \"$what\", \"verdict\": \"holds\""
}

# The file without what it expects: nothing is judged, and the search goes to the end.
unjudged() { sed '/^expect:/,$d' "$scenarios/$1.yaml" >"$1.yaml"; }
unjudged s01-stale-cancel-bad
unjudged s22-handoff-timeout-bad

# ---- a stale cancel: two clients, a pool of one connection, the cancel of the first client's query ----
same_space cancel-fenced s01-stale-cancel-good -DCANCELS=1 -DHOLD=1
same_space cancel s01-stale-cancel-bad.yaml -DCANCELS=1
same_verdict cancel-judged s01-stale-cancel-bad cancel-hits-its-query -DCANCELS=1
same_verdict cancel-fenced-judged s01-stale-cancel-good cancel-hits-its-query -DCANCELS=1 -DHOLD=1

# ---- a hand-off that meets a time-out; limits of age and idleness are off on both sides ----
young=(pooler.server_lifetime=none pooler.server_idle_timeout=none pooler.server_check_delay=none)
same_space handoff-confirmed s22-handoff-timeout-good -DFIRE=1 -DCONFIRM=1 "${young[@]}"
same_space handoff s22-handoff-timeout-bad.yaml -DFIRE=1 "${young[@]}"
same_verdict handoff-judged s22-handoff-timeout-bad pool-accounting -DFIRE=1 "${young[@]}"
same_verdict handoff-confirmed-judged s22-handoff-timeout-good pool-accounting -DFIRE=1 -DCONFIRM=1 "${young[@]}"

# ---- two postmasters with the same process ids (S02): connections told apart by a sequence, and by process id alone ----
unjudged s02-pool-good
unjudged s02-pool-bad
s02=(-DN=3 -DSIZE=2 -DHOSTS=2)
same_space ids s02-pool-good.yaml "${s02[@]}"
same_space pids s02-pool-bad.yaml "${s02[@]}" -DG3=1 -DROOM=3 # nobody comes to a fourth: with ROOM 4 SPIN counts the same
same_verdict ids-judged s02-pool-good pool-accounting "${s02[@]}"
same_verdict pids-judged s02-pool-bad pool-accounting "${s02[@]}" -DG3=1 -DROOM=3

# ---- a larger one: three clients ----
same_space three "$OLDPWD/tests/promela/three-clients.yaml" -DN=3 -DCANCELS=1 -DHOLD=1
unjudged s01-stale-cancel-good
same_space two-connections s01-stale-cancel-good.yaml -DSIZE=2 -DCANCELS=1 -DHOLD=1 pooler.pool_size=2
