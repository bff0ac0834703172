#!/bin/bash
# e2e_reduce.sh - reductions change no verdict: every bundled scenario of a pooler or of a model of one's own, unreduced
# and reduced, with a limit that each of them keeps (or its smaller twin, named beside it); and, for those that are small,
# every declaration and every form tried in every state (--verify-reductions).
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
LIMIT=120000  # states
VERIFIED=9000 # verified where there are no more than that
# A shutdown closes what nobody uses at once, and the next query opens anew: another slot, twenty times the orders.
declare -A wide=([s09-shutdown-deadlock-good]=1000000)

# Too large to be searched whole without reductions, and the twins that are searched in their place. A server's model
# (s32 to s36, storms, proc-array-*) has no reductions: nothing to compare.
declare -A twin=(
  [s06-upstream-test-bad]=s06-cancel-race-bad [s06-upstream-test-good]=s06-cancel-race-good
  [s07-slow-machine-bad]=s07-slow-machine-small-bad [s07-slow-machine-good]=s07-slow-machine-small-good
  [s10-parked-cancels-bad]=s10-parked-cancels-small-bad [s10-parked-cancels-good]=s10-parked-cancels-small-good
  [s11-balancer-figure-bad]=s11-no-peering-bad [s11-balancer-figure-good]=s11-no-peering-good
  [s17-pid-reuse-figure]=s17-pid-reuse-bad [s18-stale-pid-bad]=s17-pid-reuse-bad [s18-stale-pid-good]=s17-pid-reuse-good
  [s24-unlocked-growth-bad]=s24-unlocked-growth-small-bad [s24-unlocked-growth-good]=s24-unlocked-growth-small-good
  [s26-min-above-max-bad]=s26-min-above-max-small-bad
  [s28-cold-start-bad]=s28-cold-start-small-bad [s28-cold-start-good]=s28-cold-start-small-good
  [s29-shared-cap-bad]=s29-shared-cap-small-bad [s29-shared-cap-good]=s29-shared-cap-small-good
  [pooler-identity-cost]=s01-stale-cancel-good [pool-sizing]=s27-wait-metric-good)

# Endless without reductions: connections are opened anew for ever, each with a number of its own.
endless=' s26-min-above-max-small-bad s28-cold-start-small-bad s28-cold-start-small-good s29-shared-cap-small-bad s29-shared-cap-small-good '

# A check of liveness switches the reductions off: its scenario is compared with checks of safety in its place.
liveness='waiter-is-served\|cancel-arrives\|shutdown-ends'
safety='[cancel-hits-its-query, cancel-hits-only-its-query, pool-accounting, cancel-map-complete, cancel-map-sound,
  no-lost-wakeup, fifo-bound, no-double-free, no-client-error, session-is-clean, no-deadlock]'

verdicts() { sed -n 's/.*{"name": "\([^"]*\)", "verdict": "\([^"]*\)".*/\1 \2/p' "$OUT"; }
count() { sed -n 's/^ *"states": \([0-9]*\),*$/\1/p' "$OUT" | head -n 1; }
exhausted() { grep -q '^ *"exhausted": true' "$OUT"; }

compare() {
  local name=$1 file=$2 limit=${wide[$1]:-$LIMIT} whole states safe=()
  grep -q "$liveness" "$file" && safe=(--set 'expect=[]' --set "checks=$safety")
  "$STAMPEDE" check "$name" "${safe[@]}" --json --reduce none --max-states "$limit" >"$OUT" 2>"$ERR" </dev/null
  verdicts >"$SCRATCH/plain"
  states=$(count)
  exhausted && whole=1 || whole=0
  check "$name: exhausted or broken within $limit states, $states seen" test "$whole" = 1 -o "$states" -lt "$limit"
  "$STAMPEDE" check "$name" "${safe[@]}" --json --max-states "$limit" >"$OUT" 2>"$ERR" </dev/null
  verdicts >"$SCRATCH/reduced"
  grep -q 'time: *timed' "$file" || check_lacks '"reductions": []'
  check_same "$SCRATCH/plain" "$SCRATCH/reduced"
  check "$name: $(count) states reduced, $states plain" test "$(count)" -le "$states"
  # A search that a violation ends sooner has not seen the whole space: the verifier does not end there.
  ((states <= VERIFIED && whole)) || return 0
  check_status 0 "$STAMPEDE" check "$name" "${safe[@]}" --verify-reductions
}

ends() {
  check_status 0 "$STAMPEDE" check "$1" --json --max-states $LIMIT
  check "$1 is exhausted" exhausted
  check_lacks '"verdict": "violated"'
}

searched=0
for file in sim/scenarios/*.yaml; do
  name=$(basename "$file" .yaml)
  grep -q '^pooler:\|^model:' "$file" || continue
  if [[ -n ${twin[$name]:-} ]]; then
    check "$name: its twin ${twin[$name]} is there" test -f "sim/scenarios/${twin[$name]}.yaml"
    continue
  fi
  searched=$((searched + 1))
  if [[ $endless == *" $name "* ]]; then ends "$name"; else compare "$name" "$file"; fi
done
check "$searched scenarios were searched" test $searched -ge 75

# ---- the benchmarks' models: no more than twice SPIN's reduced states (anchors: 133 and 102,581; pan's own for ours) ----
cd "$SCRATCH" || exit 1
for most in petersonN:222322 leader0:266 philosophers:205162; do
  model=${most%:*}
  printf 'scenario: %s\nmodel: %s\n' "$model" "$model" >"$model.yaml"
  check_status 0 "$STAMPEDE" check "$model.yaml" --json --reduce por
  check "$model: $(count) states, at most ${most#*:}" test "$(count)" -le "${most#*:}"
  check "$model is exhausted" exhausted
done
for jobs in 1 2; do
  "$STAMPEDE" check petersonN.yaml --json --jobs $jobs | sed '/"measured"/d' >"jobs$jobs"
done
check_same jobs1 jobs2

# ---- counterexamples are those of the plain model: they replay without reductions, and are as short ----
for name in s01-stale-cancel-bad s22-handoff-timeout-bad s02-pool-bad; do
  check_status 0 "$STAMPEDE" check $name --reduce none
  steps=$(sed -n 's/^counterexample 1: .*, \([0-9]*\) steps/\1/p' "$OUT")
  check_status 0 "$STAMPEDE" check $name --reduce all --trace found.trace
  check_contains ", $steps steps"
  check_contains 'reductions: por, symmetry'
  check_status 0 "$STAMPEDE" replay found.trace
  check_contains "reproduced: $steps steps"
done

# ---- who verifies is interrupted, and keeps a limit of time: what was tried till then is told ----
check_status 130 timeout --preserve-status -k 20 1 "$STAMPEDE" check s29-shared-cap-small-good --verify-reductions
check_contains 'states (not all)'
check_status 3 timeout -k 1 20 "$STAMPEDE" check s29-shared-cap-small-good --verify-reductions --max-time 0.5
check_contains 'states (not all)'

# ---- what would be wrong is refused in a sentence, where it was asked for ----
refused() {
  local sentence=$1
  shift
  check_status 2 "$STAMPEDE" check "$@"
  check_contains "$sentence" "$ERR"
}
refused 'explore.time: timed' s01-stale-cancel-good --time timed --reduce symmetry
refused 'random walk' s01-stale-cancel-good --strategy random --reduce por
refused 'liveness' s01-stale-cancel-good --set 'checks=[waiter-is-served]' --reduce all
refused 'there are none, por, symmetry, all' s01-stale-cancel-good --reduce most
check_status 0 "$STAMPEDE" check s01-stale-cancel-good --time timed --json
check_contains '"reductions": []'
check_status 0 "$STAMPEDE" check s01-stale-cancel-good --json
check_contains '"reductions": ["por", "symmetry"]'
