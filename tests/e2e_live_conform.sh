#!/bin/bash
# e2e_live_conform.sh - the preset pgbouncer-1.18 against Debian's PgBouncer where its mechanisms show: each key of the preset is
# needed, as without it (or with the other word) model and binary differ. All bundled scenarios: make conform.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch

# A program of its own, whose presets may be changed.
tree=$SCRATCH/tree preset=sim/presets/pgbouncer-1.18.yaml
mkdir -p "$tree/build"
cp "$STAMPEDE" "${STAMPEDE%/*}/stampede-gate.so" "$tree/build/"
cp -r sim "$tree/sim"
conform() { timeout -k 1 60 "$tree/build/stampede" live --conform "$@" --pooler "$pooler"; }

check_status 0 conform async-client-leaves s07-slow-machine-bad s09-shutdown-deadlock-bad s10-parked-cancels-small-bad \
  s10-parked-cancels-bad tests/live/left-waiting.yaml
check_contains "6 agree, 0 differ, 0 are not driven"

# without LINE SCENARIO: the preset without that line (or with that one instead, where there is a second one).
without() {
  sed "s/^  $1.*/${3:+  $3}/" "$preset" >"$tree/$preset"
  check "the preset has the line $1" bash -c "! cmp -s $preset $tree/$preset"
  check_status 1 conform "$2"
  check_contains "differs"
}
without 'openings_carry: true' s07-slow-machine-bad
without 'limits_by_tick: true' s07-slow-machine-bad
without 'tick: 333333us' s07-slow-machine-bad 'tick: 300s'
without 'login_retry_from: attempt' s10-parked-cancels-small-bad
without 'login_retry_reset: true' s10-parked-cancels-small-bad 'login_retry_reset: false'
without 'fast_fail: true' s10-parked-cancels-small-bad
without 'waiters_unread: true' tests/live/left-waiting.yaml
without 'shutdown_waits: servers' s09-shutdown-deadlock-bad

# What is not driven says why.
check_status 0 conform s02-rows-bad
check_contains "not driven  a query over several pools"
check "no directory is left" test -z "$(ls "$TMPDIR")"
