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
conform() { timeout -k 1 60 "$tree/build/stampede" live --conform --pooler "$pooler" "$@"; }

check_status 0 conform async-client-leaves s07-slow-machine-bad s09-shutdown-deadlock-bad s10-parked-cancels-small-bad \
  s10-parked-cancels-bad s03-late-check-in-bad s29-shared-cap-bad tests/live/left-waiting.yaml
check_contains "8 agree, 0 differ, 0 are not driven"

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

# The comparison is strict: of rules and of times, of the preset as of the program, each with the place. The preset first: what
# was not sent on when its query ended is sent all the same, and the janitor comes 67 ms late.
without 'fence: hold_until_eof' s01-stale-cancel-bad 'fence: none'
check_contains "cancels; model: pid 1000: EOF at 14.000 ms; binary: q1: dropped at 14.000 ms"
without 'tick: 333333us' s07-slow-machine-bad 'tick: 400ms'
cp "$preset" "$tree/$preset"

# Then the program, which is given another configuration than it should be: connections are used in turn, a limit is 100 ms longer.
mutant() { # mutant NAME SED-EXPRESSION
  printf '#!/bin/sh\nsed -i "%s" "$1"\nexec %s "$1"\n' "$2" "$pooler" >"$SCRATCH/pgbouncer-$1"
  chmod 755 "$SCRATCH" "$SCRATCH/pgbouncer-$1"
}
cat >"$SCRATCH/idle.yaml" <<'EOF'
scenario: reuse-order
pooler: {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 2}
servers: [{name: s, host: db1}]
clients:
  - {name: a, script: [connect, query: {tag: q1, runs: 10ms}]}
  - {name: b, script: [connect, query: {tag: q2, runs: 20ms}]}
  - {name: c, start: 30ms, script: [connect, query: {tag: q3, runs: 1ms}]}
EOF
cat >"$SCRATCH/wait.yaml" <<'EOF'
scenario: wait-limit
pooler: {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 1, query_wait_timeout: 2s}
servers: [{name: s, host: db1}]
clients:
  - {name: a, script: [connect, query: {tag: q1, runs: 10s}]}
  - {name: b, start: 1ms, script: [connect, query: {tag: q2, runs: 1ms}]}
EOF
mutant turn 's/^server_round_robin.*/server_round_robin = 1/'
mutant wait 's/^query_wait_timeout.*/query_wait_timeout = 2.4/'
check_status 0 conform "$SCRATCH/idle.yaml" "$SCRATCH/wait.yaml"
check_contains "2 agree, 0 differ"
check_status 1 conform "$SCRATCH/idle.yaml" --pooler "$SCRATCH/pgbouncer-turn"
check_contains "servers; model: q3 to #2 at 30.000 ms; binary: q3 to #1 at 30.000 ms"
check_status 1 conform "$SCRATCH/wait.yaml" --pooler "$SCRATCH/pgbouncer-wait"
check_contains "client b; model: q2: refused at"

# Balance and peering are the scenario's: 1.18 knows no peers, and says so.
check_status 0 conform s11-no-peering-good
check_contains "without peering, which it refuses"

# What is not driven says why.
check_status 0 conform s02-rows-bad
check_contains "not driven  a query over several pools"
check "no directory is left" test -z "$(ls "$TMPDIR")"
