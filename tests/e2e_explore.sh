#!/bin/bash
# e2e_explore.sh - stampede check as a user runs it: verdicts, exit statuses, traces that replay, limits; and SPIN, which
# must count the same states and transitions of the same models.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
# shellcheck source=tests/spin.sh
source tests/spin.sh
timed_out=$SCRATCH/spin.out
cd "$SCRATCH" || exit 1

# ---- a race, bad and mended ----
check_status 0 "$STAMPEDE" check xid-race-bad --trace bad.trace
check_contains 'violated in 5 steps'
check_contains '100 is in the proc array'
check_status 0 "$STAMPEDE" replay bad.trace
check_contains 'reproduced: 5 steps, verdict fail'
check_status 0 "$STAMPEDE" check xid-race-good --trace good.trace
check_contains 'exhausted: 22 states, 27 transitions, depth 7'
check_contains 'nothing is broken'
check_status 0 "$STAMPEDE" replay good.trace
sed '4s/"next xid":"101"/"next xid":"102"/; 3s/"next xid":"101"/"next xid":"102"/' bad.trace >altered.trace
check_status 5 "$STAMPEDE" replay altered.trace
check_contains 'step 1' "$ERR"
sed 's/"who":"checkpointer\[2\]","do":"scan/"who":"checkpointer[3]","do":"scan/' bad.trace >stranger.trace
check_status 5 "$STAMPEDE" replay stranger.trace
check_contains 'step 3' "$ERR"

# ---- every strategy and store comes to the same verdict; only an exact store that is done says holds ----
for way in '' '--jobs 2' '--store collapse' '--store hash128' '--strategy dfs' '--strategy dfs --store bitstate' \
  '--strategy dfs --deepen 3' '--strategy random' '--strategy pct'; do
  # shellcheck disable=SC2086
  check_status 0 "$STAMPEDE" check xid-race-bad $way --trace way.trace
  check_contains 'violated in 5 steps'
  check_status 0 "$STAMPEDE" replay way.trace
  case $way in
  *hash128* | *bitstate* | *random* | *pct*) status=3 ;;
  *) status=0 ;;
  esac
  # shellcheck disable=SC2086
  check_status $status "$STAMPEDE" check xid-race-good $way
done
check_status 0 "$STAMPEDE" check xid-race-good --json
sed '/"measured"/d' "$OUT" >one.json
check_status 0 "$STAMPEDE" check xid-race-good --json --jobs 2
sed '/"measured"/d' "$OUT" >two.json
check_same one.json two.json

# ---- limits: 3 when an expectation is left open; nothing is then said to hold ----
for limit in '--max-states 5' '--max-depth 2' '--max-memory 1KiB' '--max-time 0.000001'; do
  # shellcheck disable=SC2086
  check_status 3 "$STAMPEDE" check xid-race-good $limit
  check_contains 'not exhausted'
  check_lacks ' holds  '
done

# What is expected of a run only asks nothing of an exploration: a limit leaves it open.
check_status 3 "$STAMPEDE" check s11-balancer-figure-good --quiet --max-states 300
# A state of this one has hundreds of moves and kilobytes; the limit is kept within its expansion and while learning. Of
# processor time, so that a busy machine is not a failure: less than the limit and half a second.
within() {
  local limit=$1 used
  shift
  used=$({ TIMEFORMAT=%U; time "$@" >/dev/null 2>&1; } 2>&1)
  check "$used s of a limit of $limit s: $*" awk -v used="$used" -v limit="$limit" 'BEGIN { exit !(used < limit + 0.5) }'
}
for strategy in bfs dfs random; do
  within 1 "$STAMPEDE" check s11-balancer-figure-good --quiet --max-time 1 --strategy $strategy
done
within 0.5 "$STAMPEDE" check s11-balancer-figure-bad --quiet --max-time 0.5 # judges metrics: a run of 30000 cancels first

# ---- a model by its path: the trace replays from anywhere, wherever it lies ----
mkdir -p there
cp "${STAMPEDE%/*}/models/xid_race.so" there/
printf 'scenario: mine\nmodel: ./xid_race.so\nexpect: [{check: oldest-is-oldest, verdict: violated}]\n' >there/mine.yaml
check_status 0 "$STAMPEDE" check there/mine.yaml --trace there/mine.jsonl
check_status 0 "$STAMPEDE" replay there/mine.jsonl
mv there/mine.jsonl .
check_status 0 env -C there "$STAMPEDE" replay ../mine.jsonl

# ---- a scenario that asks for no check ----
printf 'scenario: x\npooler: {pool_size: 1}\nservers: [{name: s}]\nclients: [{name: a, script: [connect]}]\n' >unasked.yaml
check_status 0 "$STAMPEDE" check unasked.yaml
check_contains 'no check is judged: the scenario names none'
check_contains 'nothing was looked for'
check_status 2 "$STAMPEDE" run unasked.yaml --subject there/xid_race.so
check_contains "no clients of a pooler" "$ERR"

# ---- bad usage ----
check_status 2 "$STAMPEDE" check xid-race-good --store bitstate
check_contains 'bitstate' "$ERR"
check_status 2 "$STAMPEDE" check xid-race-good --strategy dfs --jobs 2
check_status 2 "$STAMPEDE" check xid-race-good --strategy sideways
check_contains 'bfs, dfs, random, pct' "$ERR"
check_status 2 "$STAMPEDE" check xid-race-good --max-memory 5
for odd in '--max-time nan' '--max-time inf' '--max-time 9223372036854775807' '--bits 20' '--changes 5' '--estimate --verify-reductions' '--verify-reductions --json'; do
  # shellcheck disable=SC2086 # two words each
  check_status 2 "$STAMPEDE" check xid-race-good $odd
done
check_status 2 "$STAMPEDE" check nowhere
printf 'scenario: x\nmodel: ./none.so\n' >none.yaml
check_status 2 "$STAMPEDE" check none.yaml
check_contains 'none.yaml:2' "$ERR"
printf 'scenario: x\nmodel: xid_race\nexpect: [{check: nonsense, verdict: holds}]\n' >nonsense.yaml
check_status 2 "$STAMPEDE" check nonsense.yaml
check_contains 'nonsense.yaml:3' "$ERR"

# ---- interrupted: a report of what was done, 130, no half-written file ----
printf 'scenario: long\nmodel: philosophers\n' >long.yaml
("$STAMPEDE" check long.yaml --reduce none --trace long.trace >long.out & pid=$!; sleep 1; kill -INT $pid; wait $pid)
check 'an interrupt ends with 130' test $? -eq 130
check_contains 'interrupted' long.out
check 'a whole trace' grep -q '"end"' long.trace

# ---- the model of a PostgreSQL server, exhausted ----
cat >storm.yaml <<'Y'
scenario: two-clients
postgres: {version: 19, max_connections: 4, background: none, superuser_reserved_connections: 0}
workload: {kind: pgbench, clients: 2, threads: 2, iterations: 1}
checks: [proc-array-sorted, pgxactoff-matches, slot-owned-once, locks-released, dense-arrays-agree]
Y
check_status 0 "$STAMPEDE" check storm.yaml --trace storm.trace
check_contains 'pass  exhausted'
check_status 0 "$STAMPEDE" replay storm.trace

# ---- SPIN ----
count() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$OUT"; }
agree() {
  local model=$1 pml=$2
  shift 2
  spin_build "$OLDPWD/tests/promela/$pml.pml" "spin-$pml" "$@" || return
  spin_run "./spin-$pml" -m1000000 -w20
  check_status 0 "$STAMPEDE" check "$model" --reduce none --json
  check "$pml: $(count states) states, SPIN has $spin_states" test "$(count states)" = "$spin_states"
  check "$pml: $(count transitions) transitions, SPIN has $spin_transitions" test "$(count transitions)" = "$spin_transitions"
}
if command -v spin >/dev/null; then
  for model in petersonN leader0; do
    printf 'scenario: %s\nmodel: %s\n' $model $model >$model.yaml
    agree $model.yaml $model
  done
else
  echo 'no spin here: its counts are not compared'
fi
