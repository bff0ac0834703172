#!/bin/bash
# Checks of liveness from end to end: a lasso as text, JSON and trace, replayed, altered, drawn; a mutant for each check;
# what the other strategies say; reductions are refused beside them.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

# scenario NAME POOLER CHECK [REST...]: a scenario file of one client whose script is $SCRIPT
scenario() {
  printf 'scenario: %s\nabout: A small one.\npooler:  {preset: ideal, pool_size: 1, tick: none%s}\n' "$1" "$2"
  printf 'servers: [{name: s, host: db1}]\nclients:\n  - {name: a, script: %s}\n' "$SCRIPT"
  printf 'checks:  [%s]\n' "$3"
}

# ---- a lasso ----
TRACE=$SCRATCH/lasso.jsonl
check_status 0 "$STAMPEDE" check waiter-starves-bad --trace "$TRACE"
check_contains "-- from here for ever:" "$OUT"
check_contains "the last 7 for ever" # a query of a, and a look of b at the wrong moment
cp "$OUT" "$SCRATCH/one"
check_status 0 "$STAMPEDE" check waiter-starves-bad --jobs 2 --trace "$TRACE"
check "two jobs tell the same" diff <(grep -v 'states/s' "$SCRATCH/one") <(grep -v 'states/s' "$OUT")
check_status 0 "$STAMPEDE" check waiter-starves-bad --json
FROM=$(grep -o '"lasso_from": [0-9]*' "$OUT" | head -1 | tr -dc 0-9)
LAST=$((FROM + 6))
check_contains '"rounds": {"looked_for": true' "$OUT"
check_contains "\"lasso_from\":$FROM" "$TRACE"
check_status 0 "$STAMPEDE" replay "$TRACE"
for from in 0 $((FROM - 1)) $((FROM + 1)) $LAST; do
  sed "s/\"lasso_from\":$FROM/\"lasso_from\":$from/" "$TRACE" >"$SCRATCH/altered.jsonl"
  check_status 5 "$STAMPEDE" replay "$SCRATCH/altered.jsonl"
done
sed "s/\"lasso_from\":$FROM,//" "$TRACE" >"$SCRATCH/altered.jsonl"
check_status 5 "$STAMPEDE" replay "$SCRATCH/altered.jsonl"
sed "s/\"lasso_from\":$FROM/\"lasso_from\":$((LAST + 1))/" "$TRACE" >"$SCRATCH/altered.jsonl"
check_status 5 "$STAMPEDE" replay "$SCRATCH/altered.jsonl"
check_contains "lasso_from names no step" "$ERR"
sed "s/\"lasso_from\":$FROM/\"lasso_from\":$LAST/" "$TRACE" >"$SCRATCH/altered.jsonl"
check_status 1 "$STAMPEDE" diff "$TRACE" "$SCRATCH/altered.jsonl"
check_contains "footer: lasso_from is $FROM in "
check_status 0 "$STAMPEDE" viz "$TRACE" --format mermaid -o "$SCRATCH/lasso.mmd"
check_contains "loop for ever" "$SCRATCH/lasso.mmd"
check_status 0 "$STAMPEDE" check waiter-starves-good
check_contains "waiter-is-served             holds" "$OUT"

# ---- who looks for what ----
for how in "--strategy dfs" "--store hash128" "--store collapse" "--strategy random --walks 20 --max-depth 200"; do
  # shellcheck disable=SC2086 # words
  check_status 3 "$STAMPEDE" check waiter-starves-bad $how
  check_contains "rounds that may go on for ever were not looked for" "$OUT"
done
check_status 2 "$STAMPEDE" check waiter-starves-good --reduce por
check_contains "liveness" "$ERR"
check_status 3 "$STAMPEDE" check waiter-starves-good --max-memory 48KiB
check_contains "not looked for: the limit of memory" "$OUT"

# ---- mutants ----
SCRIPT='[connect, query: {tag: q1, runs: 10ms}, cancel: {of: q1, after: 1ms, times: 2}]'
for carrier in unlimited '{semaphore: {slots: 1}}'; do
  scenario carried ", carrier: $carrier" cancel-arrives >"$SCRATCH/carried.yaml"
  check_status 0 "$STAMPEDE" check "$SCRATCH/carried.yaml"
  check_contains "cancel-arrives               holds" "$OUT"
done
scenario forgotten ', carrier: {semaphore: {slots: 1}}, steps: {turn: skip}' cancel-arrives >"$SCRATCH/forgotten.yaml"
check_status 1 "$STAMPEDE" check "$SCRATCH/forgotten.yaml"
check_contains "is parked past the end of its query, with a carrier to be had" "$OUT"
scenario hung ', carrier: {semaphore: {slots: 1}}, ack: wait_eof, steps: {close_carrier: skip}' cancel-arrives >"$SCRATCH/hung.yaml"
check_status 1 "$STAMPEDE" check "$SCRATCH/hung.yaml"
check_contains "waits for a carrier, and nothing need go on" "$OUT"
SCRIPT='[connect, query: {tag: q1, runs: 10ms}]'
scenario unwoken ', query_wait_timeout: none, steps: {wake: skip}' waiter-is-served >"$SCRATCH/unwoken.yaml"
check_status 1 "$STAMPEDE" check "$SCRATCH/unwoken.yaml"
check_contains "a waits for a server connection, and nothing need go on" "$OUT"
check_status 1 "$STAMPEDE" run "$SCRATCH/unwoken.yaml"
check_contains "waiter-is-served         violated" "$OUT"
for side in bad good; do # a client that does not leave, and one that does: the mutant of shutdown-ends
  check_status 0 "$STAMPEDE" check "s09-shutdown-deadlock-$side"
done

# ---- fairness: who brings harm need not come, what it brings back does ----
SCRIPT='[connect, query: {tag: q1, runs: 10ms}]'
scenario paused '' waiter-is-served >"$SCRATCH/paused.yaml"
echo 'events: [{at: 1ms, pause: pooler, for: 5ms}]' >>"$SCRATCH/paused.yaml"
check_status 0 "$STAMPEDE" check "$SCRATCH/paused.yaml"
check_contains "waiter-is-served             holds" "$OUT"
sed -i 's/, for: 5ms//' "$SCRATCH/paused.yaml"
check_status 1 "$STAMPEDE" check "$SCRATCH/paused.yaml"
