#!/bin/bash
# e2e_gate_poolers.sh - poolers of yours in lockstep, STAMPEDE_POOLERS=PATH[:PATH...], called as their adapter is with any
# version behind it (pgbouncer-1.25, odyssey): the scenarios of PgBouncer's own test, and twenty traces alike.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
if [[ -z ${STAMPEDE_POOLERS:-} ]]; then
  echo "no pooler given: with STAMPEDE_POOLERS=PATH[:PATH...] each is driven through tests/live, twenty times alike"
  pass
  exit 0
fi
IFS=: read -ra poolers <<<"$STAMPEDE_POOLERS"
for pooler in "${poolers[@]}"; do
  for file in tests/live/*.yaml tests/live/gate/crowd.yaml; do
    [[ $file == */day.yaml ]] && continue # of PgBouncer's janitor
    check_status 0 "$STAMPEDE" live "$file" --pooler "$pooler"
  done
  "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --quiet --trace "$SCRATCH/first"
  different=0
  for _ in {1..19}; do
    "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --quiet --trace "$SCRATCH/again"
    cmp -s "$SCRATCH/first" "$SCRATCH/again" || different=$((different + 1))
  done
  check "$pooler: 20 of 20 traces are the same ($different differ)" test "$different" = 0
done
