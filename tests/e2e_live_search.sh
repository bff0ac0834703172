#!/bin/bash
# e2e_live_search.sh - stampede live: preset and binary side by side, many orders around the binary, traces that replay on it.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch
mkdir -m 755 "$SCRATCH/bin"

# The short ones of sim/live/CONFORMANCE.md: each stage of a cancel, limits of waiting, growth, deaths, restart, caps, protocols.
short=(c6-equal-pids c6-pid-race c6-pid-reuse c6-pooler-restart s01-stale-cancel-good s01-stale-cancel-delayed-bad s02-pool-good
       s03-late-check-in-good s06-cancel-race-good s08-queued-cancel-bad s12-server-dies-good s12-two-cancels-good
       s16-eof-lies-delayed-good s17-pid-reuse-bad s20-no-key-bad s21-client-32-server-18-good s23-waiters-dropped-good
       s24-unlocked-growth-small-good s25-dead-idle-good s26-min-above-max-good s28-cold-start-small-good s30-two-sessions-bad
       s31-self-deadlock-bad)
check_status 0 "$STAMPEDE" live --conform "${short[@]}" --pooler "$pooler"
check_contains "${#short[@]} agree, 0 differ, 0 are not driven"
check_status 0 "$STAMPEDE" live --conform s02-rows-bad --pooler "$pooler" --json
check "what is not driven says why" jq -e '.scenarios[0] | .verdict == "not driven" and (.why | contains("several pools"))' "$OUT"
# A preset that is another's is found out: PgBouncer 1.15 has no fence, and hands the connection on.
check_status 1 "$STAMPEDE" live --conform s06-cancel-race-good --pooler "$pooler" --preset ideal --set 'network.cancel_to_server.delay=300ms'
check_contains "differs"

# Every order of two pools that share nothing is one order: all others are given up.
check_status 0 "$STAMPEDE" live --explore tests/live/two-pools.yaml --pooler "$pooler" --json
check "one history, and that was all" \
  jq -e '.metrics | ."explore.distinct" == 1 and ."explore.exhausted" == 1 and ."explore.redundant" == ."explore.runs" - 1' "$OUT"
# PgBouncer lets a cancel hit the next query of the same client; the trace of that replays on the binary, and an altered one does not.
check_status 0 "$STAMPEDE" live --explore tests/live/late-cancel.yaml --pooler "$pooler" --max-time 60 --trace "$SCRATCH/found"
check_contains "SELF_LATE: the cancel of q1 by client a hits q2 of client a"
check_contains "one breaks a check"
check_status 0 "$STAMPEDE" live --replay "$SCRATCH/found" --pooler "$pooler"
check_contains "reproduced"
sed 's/"message":"Query (q2)"/"message":"Query (q9)"/' "$SCRATCH/found" >"$SCRATCH/altered"
check_status 5 "$STAMPEDE" live --replay "$SCRATCH/altered" --pooler "$pooler"
check_contains "not reproduced: step" "$ERR"
check_status 2 "$STAMPEDE" replay "$SCRATCH/found"
check_contains "stampede live --replay" "$ERR"
check_status 0 "$STAMPEDE" live tests/live/hit.yaml --pooler "$pooler" --quiet --trace "$SCRATCH/timed"
check_status 0 "$STAMPEDE" live --replay "$SCRATCH/timed" --pooler "$pooler"
for strategy in random pct; do
  check_status 2 "$STAMPEDE" live --explore tests/live/late-cancel.yaml --pooler "$pooler" --strategy "$strategy"
  check_status 0 "$STAMPEDE" live --explore tests/live/late-cancel.yaml --pooler "$pooler" --strategy "$strategy" --max-runs 200 --json
  cp "$OUT" "$SCRATCH/one"
  check_status 0 "$STAMPEDE" live --explore tests/live/late-cancel.yaml --pooler "$pooler" --strategy "$strategy" --max-runs 200 --json
  check "the same seed finds the same ($strategy)" \
    test "$(jq -S 'del(.measured)' "$SCRATCH/one")" = "$(jq -S 'del(.measured)' "$OUT")"
done
check_status 2 "$STAMPEDE" live --explore tests/live/late-cancel.yaml --pooler "$pooler" --strategy best
check_status 3 "$STAMPEDE" live --explore s01-stale-cancel-good --pooler "$pooler" --max-runs 3 --set 'expect=[{check: cancel-hits-its-query, verdict: holds}]'
# An order has its own metrics, so none is judged; a check that is to be violated is not judged either while orders are left.
check_status 0 "$STAMPEDE" live --explore tests/live/server-lifetime.yaml --pooler "$pooler"
check_contains "not judged opens within [2, 2] (saw nothing: each order has its own)"
never='expect=[{check: no-crash, verdict: violated}]'
check_status 3 "$STAMPEDE" live --explore tests/live/two-pools.yaml --pooler "$pooler" --set "$never" --max-runs 2
check_contains "not judged no-crash violated"
check_status 1 "$STAMPEDE" live --explore tests/live/two-pools.yaml --pooler "$pooler" --set "$never"
check_contains "NOT MET no-crash violated"
# A driver that gives up its cancel: PgBouncer 1.18 frees the canceller and uses it again (bad client state 0, mended in 1.20).
check_status 0 "$STAMPEDE" live --explore tests/live/cancel-given-up.yaml --pooler "$pooler" --max-runs 50
check_contains "in function disconnect_client(): bad client state: 0"
check_status 0 "$STAMPEDE" live --explore tests/live/cancel-given-up-other.yaml --pooler "$pooler" --strategy random --max-runs 50 \
  --set 'expect=[{check: no-crash, verdict: violated}]'
check_contains "bad client state"
# A pooler that crashes in one of the orders is found, whether a check was asked for or not.
cp "$BUILD/tests/live/tiny" "$SCRATCH/bin/tiny"
ln -s tiny "$SCRATCH/bin/tiny-crash"
crowd=(tests/live/gate/crowd.yaml --adapter tests/live/adapters/tiny.yaml --set 'checks=[cancel-arrives]')
check_status 3 "$STAMPEDE" live --explore "${crowd[@]}" --pooler "$SCRATCH/bin/tiny" --strategy random --max-runs 2
check_status 1 "$STAMPEDE" live --explore "${crowd[@]}" --pooler "$SCRATCH/bin/tiny-crash" --strategy random --max-runs 5
check_contains "1 orders of events tried"
check_contains "ended early: the pooler ended by signal 11 (Segmentation fault)"
check_contains "one goes wrong"

# Two binaries, by compare's table and gates: a copy is the same, and a gate that asks for more is not met.
cp "$pooler" "$SCRATCH/bin/pgbouncer-copy"
check_status 0 "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --against "$SCRATCH/bin/pgbouncer-copy" --gate 'wait_ms.mean <= +0%'
check_contains "gate met"
check_contains "1 same"
check_status 1 "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --against "$SCRATCH/bin/pgbouncer-copy" --gate 'wait_ms.mean <= -5%'
check_status 2 "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --against /no/such/pooler
check "nothing is left" test -z "$(ls "$TMPDIR")"
