#!/bin/bash
# Scenarios of poolers that are no report's: the cost of identity, a client that leaves while its query runs, a wake-up
# that is lost between the look and the queue.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

check_status 0 "$STAMPEDE" run pooler-identity-cost
check_contains "queries.ok within [1000000, 1000000] (saw 1000000)"
# Rates are stationary: a hundredth of the transactions gives the same.
check_status 0 "$STAMPEDE" run pooler-identity-cost --set 'clients[0].script[1].loop.times=100' --set 'expect=[{metric: tps, within: [94187, 94207]}]'
# Two workers, twice the transactions: it is their work that bounds them.
check_status 0 "$STAMPEDE" run pooler-identity-cost --set 'clients[0].script[1].loop.times=100' --set pooler.workers=2 \
  --set pooler.growth.opening_max=none --set 'expect=[{metric: tps, within: [188300, 188500]}]'

for react in cancel close wait; do
  check_status 0 "$STAMPEDE" check async-client-leaves --set pooler.react.client_eof=$react
done
# A fault of the pooler that the same scenario must show: the connection of one who left is in no set any more.
check_status 1 "$STAMPEDE" check async-client-leaves --set pooler.steps.check_in=skip
check_contains "check pool-accounting              violated"

for name in lost-wakeup-bad lost-wakeup-good; do
  check_status 0 "$STAMPEDE" run "$name"
  check_status 0 "$STAMPEDE" check "$name"
done
# One worker cannot be in two places.
check_status 1 "$STAMPEDE" check lost-wakeup-bad --set pooler.workers=1
check_contains "check no-lost-wakeup               holds"
