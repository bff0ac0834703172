#!/bin/bash
# The scenarios of public reports: each bundled pair does what its `expect` says. `run` judges every one; `check` those
# that have a line for it: a check's verdict that is not kept to `run` (by: [run]). Each ends within LIMIT seconds; at
# most a million states, so that nothing has to be cut short.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

LIMIT=120 # of wall clock, on a machine that others use too; 30 on an idle core

judged_by_check() {
  awk '/check:.*verdict:/ && !/by: \[run\]/ { found = 1 } END { exit !found }' "$1"
}

pairs=0
for file in sim/scenarios/s[0-2][0-9]-*.yaml sim/scenarios/s3[017]-*.yaml; do
  name=$(basename "$file" .yaml)
  [[ $name == s18-* ]] && continue # of a server alone: e2e_run.sh
  check_status 0 timeout "$LIMIT" "$STAMPEDE" run "$name"
  if grep -q '^clients:' "$file" && judged_by_check "$file"; then
    check_status 0 timeout "$LIMIT" "$STAMPEDE" check "$name" --max-states=1000000
    check_lacks "not exhausted: 1000000" "$OUT"
  fi
  [[ $name == *-bad ]] && continue
  # The faulty twin is what makes the good one a test.
  check "$name has a faulty twin" ls "sim/scenarios/${name%%-*}-"*-bad.yaml
  pairs=$((pairs + 1))
done
for n in 0{1..9} 1{0..7} 19 2{0..9} 30 31 37; do
  check "report S$n has both sides" ls "sim/scenarios/s$n-"*-bad.yaml "sim/scenarios/s$n-"*-good.yaml
done
check "pairs were seen" test "$pairs" -ge 30
