#!/bin/bash
# e2e_live_reuse.sh - stampede live --explore --reuse: the same orders, histories and verdicts as with a pooler started anew for
# each; where it is not as fresh as at its start it is; what cannot be kept is refused.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch
live() { timeout -k 1 120 "$STAMPEDE" live --explore "$@" --pooler "$pooler"; }

# What a start costs in steps of the gate is the one thing that may differ.
plain='del(.measured, .events, .metrics["live.gate_steps"])'
# same STATUS FILE OPTION...: one document both ways.
same() {
  local status=$1
  shift
  check_status "$status" live "$@" --json
  jq -S "$plain" "$OUT" >"$SCRATCH/anew"
  check_status "$status" live "$@" --reuse --json
  jq -S "$plain" "$OUT" >"$SCRATCH/reused"
  check_same "$SCRATCH/anew" "$SCRATCH/reused"
}
same 0 tests/live/two-pools.yaml                                              # all of them
same 0 tests/live/late-cancel.yaml --max-time 60                              # until a finding, which is made shorter anew
same 3 tests/live/death-running.yaml --max-runs 8 --set 'expect=[]'          # a server that dies
same 3 tests/live/late-cancel.yaml --max-runs 25 --strategy random --set 'expect=[]'
same 3 tests/live/late-cancel.yaml --max-runs 25 --strategy pct --set 'expect=[]'
same 3 tests/live/two-databases.yaml --max-runs 6 --set 'expect=[]' --tcp
same 3 tests/live/two-pools.yaml --max-runs 6 --set pooler.min_pool_size=1

# reused FILE OPTION...: how many runs went on.
reused() {
  live "$@" --reuse >"$OUT" 2>"$ERR"
  sed -n 's/^\([0-9]*\) of them around a pooler that went on.*/\1/p' "$OUT"
}
# An order that is given up while a server still logs in leaves a login that failed, and such a pooler waits before it tries again.
n=$(reused tests/live/two-pools.yaml)
check "of 18 orders most go on, and not all ($n)" test "$n" -gt 9 -a "$n" -lt 17
n=$(reused tests/live/late-cancel.yaml --max-runs 25 --strategy random --set 'expect=[]')
check "of 25 whole ones nearly all go on ($n)" test "$n" -ge 20 -a "$n" -lt 25
check "after an event of the pooler none" test "$(reused tests/live/reload.yaml --max-runs 4 --set 'expect=[]')" = 0
two=(tests/live/late-cancel.yaml --max-runs 4 --set 'expect=[]' --set pooler.pool_size=2
     --set 'clients=[{name: a, count: 2, script: [connect, query: {tag: q1, runs: 10ms}]}]')
check "after a refused login none" test "$(reused "${two[@]}" --set 'servers[0].max_connections=1')" = 0
check "and else some" test "$(reused "${two[@]}")" -gt 0

check_status 2 "$STAMPEDE" live tests/live/hit.yaml --pooler "$pooler" --reuse
check_contains "--reuse goes with --explore" "$ERR"
check_status 2 live tests/live/hit.yaml --reuse --clock real
sed 's/, reset: RECONNECT//' sim/adapters/pgbouncer.yaml >"$SCRATCH/pgbouncer.yaml"
check_status 2 live tests/live/hit.yaml --reuse --adapter "$SCRATCH/pgbouncer.yaml"
check_contains "does not say how its pooler forgets" "$ERR"
check "no directory is left" test -z "$(ls "$TMPDIR")"
check "no process is left" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
