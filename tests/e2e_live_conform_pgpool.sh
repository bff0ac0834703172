#!/bin/bash
# e2e_live_conform_pgpool.sh - the preset pgpool-4.3 against Debian's pgpool-II: each rule of the preset that its source gave is
# needed, as without it model and binary differ, with the place. All bundled scenarios: sim/live/README.md.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgpool
check "pgpool-II is there (make deps)" test -x "$pooler"
open_scratch

# A program of its own, whose preset may be changed.
tree=$SCRATCH/tree preset=sim/presets/pgpool-4.3.yaml
mkdir -p "$tree/build"
cp "$STAMPEDE" "${STAMPEDE%/*}/stampede-gate.so" "$tree/build/"
cp -r sim "$tree/sim"
conform() { timeout -k 1 60 "$tree/build/stampede" live --conform --pooler "$pooler" "$@"; }

# A cached backend dies, and the child notices when its next client comes.
cat >"$SCRATCH/idle-dies.yaml" <<'YAML'
scenario: idle-dies
pooler: {preset: pgpool-4.3, pool_size: 1}
servers: [{name: s, host: db1}]
clients:
  - {name: a, script: [connect, query: {tag: q1, runs: 1ms}]}
  - {name: b, start: 10ms, script: [connect, query: {tag: q2, runs: 1ms}]}
events: [{at: 5ms, restart: "server[s]"}]
YAML
# A client that comes behind a cancel waits behind it, for the second that the cancel's child sleeps.
cat >"$SCRATCH/line.yaml" <<'YAML'
scenario: one-line
pooler: {preset: pgpool-4.3, pool_size: 1}
servers: [{name: s, host: db1}]
clients:
  - {name: a, script: [connect, query: {tag: q1, runs: 20ms}, cancel: {of: q1, at: 9ms}]}
  - {name: b, start: 5ms, script: [connect, query: {tag: q2, runs: 10ms}]}
  - {name: c, start: 10ms, script: [connect, query: {tag: q3, runs: 10ms}]}
YAML

# The adapter names the preset.
check_status 0 conform s01-stale-cancel-bad s06-upstream-test-bad s10-parked-cancels-bad s12-two-cancels-bad async-client-leaves \
  s20-no-key-bad s25-dead-idle-bad c6-shared-pids s21-client-32-server-18-good "$SCRATCH/idle-dies.yaml" "$SCRATCH/line.yaml"
check_contains "11 agree, 0 differ, 0 are not driven"

# mutant FROM TO SCENARIO PLACE: the preset with TO for FROM, which differs there.
mutant() {
  sed "s/$1/$2/" "$preset" >"$tree/$preset"
  check "the preset has $1" bash -c "! cmp -s $preset $tree/$preset"
  check_status 1 conform "$3"
  check_contains "$4"
}
mutant 'carrier: child' 'carrier: unlimited' s01-stale-cancel-bad "model: pid 1000: sent on at 14.000 ms; binary: pid 1000: sent on at 25.000 ms"
mutant 'node_gap: 1s' 'node_gap: 900ms' s12-two-cancels-bad "binary: pid 1000: sent on at 1030.000 ms"
mutant 'node_gap: 1s' 'node_gap: 900ms' "$SCRATCH/line.yaml" "client c; model: sends q3 at 930.000 ms; binary: sends q3 at 1030.000 ms"
mutant 'server_key: needed' 'server_key: optional' s20-no-key-bad "client a; model: sends q1 at 0.000 ms; binary: nothing more"
mutant 'client_eof: spend' 'client_eof: close' async-client-leaves "client b; model: sends q2 at 0.000 ms; binary: sends q2 at 10.000 ms"
mutant 'client_eof: spend' 'client_eof: wait' async-client-leaves "servers; model:"
mutant 'lost: close' 'lost: wait' s25-dead-idle-bad "binary: nothing more"
mutant 'peek: true' 'peek: false' "$SCRATCH/idle-dies.yaml" "client b; model: q2: "
mutant 'newer_protocol: refuse' 'newer_protocol: negotiate' s21-client-32-server-18-good "model: sends q1"
cp "$preset" "$tree/$preset"

# One line for clients and cancels, in every order: nobody is forgotten in it, and no child is in two hands.
for size in 1 2; do
  printf 'scenario: s\npooler: {preset: pgpool-4.3, pool_size: %d}\nservers: [{name: s, host: db1}]\nclients:\n%s%schecks: [%s]\n' "$size" \
    $'  - {name: a, script: [connect, query: {tag: q1, runs: 10ms}, cancel: {of: q1, at: 9ms, times: 2}]}\n' \
    $'  - {name: b, start: 1ms, script: [connect, query: {tag: q2, runs: 10ms}]}\n' "pool-accounting, no-lost-wakeup, no-double-free" \
    >"$SCRATCH/child.yaml"
  [ "$size" = 1 ] || sed -i 's/, times: 2//' "$SCRATCH/child.yaml"
  check_status 0 "$STAMPEDE" check "$SCRATCH/child.yaml"
  check_contains "pass  exhausted"
  check_status 0 "$STAMPEDE" check "$SCRATCH/child.yaml" --verify-reductions
done

# A child has its client for all of the session, so both go together.
check_status 2 "$STAMPEDE" run "$SCRATCH/line.yaml" --set pooler.client_identity=random64
check "it says why" grep -q "carrier: child needs client_identity: real_key_passthrough" "$ERR"

# What pgpool cannot be told is left out, and said; more pools than it has are not driven.
check_status 0 conform s23-waiters-dropped-bad s29-shared-cap-small-bad
check_contains "without server_check_delay, query_wait_timeout, which it cannot be told"
check_contains "not driven  2 pools, and this pooler has no more than 1"
check "no directory is left" test -z "$(ls "$TMPDIR")"
