#!/bin/bash
# e2e_gate_processes.sh - several processes of one pooler, and the driver is the balancer before them: who gets a client and
# who a cancel, one that dies, ends, is reloaded; the same trace each time; nothing left behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
live() { timeout -k 1 60 "$STAMPEDE" live "$@"; }
left() {
  check "no directory is left: $1" test -z "$(ls "$TMPDIR")"
  check "no process is left: $1" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
}

# Each file says what both ways must show; over Unix sockets and over loopback the same.
for file in tests/live/processes/*.yaml; do
  check_status 0 "$STAMPEDE" run "$file"
  check_status 0 live "$file" --pooler "$pooler" --quiet --trace "$SCRATCH/unix"
  check_status 0 live "$file" --pooler "$pooler" --quiet --trace "$SCRATCH/tcp" --tcp
  check_same <(sed '$d' "$SCRATCH/unix") <(sed '$d' "$SCRATCH/tcp")
done
# Of two clients without a third the second connection is the other process's: each has a server connection of its own.
live tests/live/processes/two.yaml --pooler "$pooler" --quiet --trace "$SCRATCH/two"
check "a and b are of two processes" jq -es '[.[] | select(.do == "StartupMessage" and (.who | startswith("client"))) | .args.to] == ["pooler 0", "pooler 1"]' "$SCRATCH/two"
# By another balancer all go to the first: of its one connection a second client waits for the first one's end, at 20 ms, less its start at 1.
check_status 1 live tests/live/processes/two.yaml --pooler "$pooler" --json --set pooler.balance=first --set 'clients[0].script=[connect, query: {tag: q1, runs: 20ms}]'
check "the second waits for the first" jq -e '.metrics["client[b].wait_ms"] == 19' "$OUT"

# Without peers a cancel that comes to another process is lost: one that finds its own has one chance in N (poolers.md A.2), here of three.
check_status 0 live s11-no-peering-bad --pooler "$pooler"
check_contains "LOST: the cancel of q1 by client a"
check_status 0 live s11-balancer-figure-bad --pooler "$pooler" --json --set 'clients[0].count=6' --set 'pooler.pool_size=6'
# 1800 cancels, 600 of them by chance, 20 the standard deviation.
check "a third of 1800 arrives" jq -e '.metrics | ."cancel.hit" > 540 and ."cancel.hit" < 660 and ."cancel.hit" + ."cancel.lost" == 1800' "$OUT"
check_status 0 live s11-no-peering-bad --pooler "$pooler" --set pooler.balance=first --set 'expect=[{check: cancel-arrives, verdict: holds}]'
# PgBouncer 1.18 knows no peers, and says so itself; an adapter that knows none is refused before.
check_status 4 live s11-no-peering-good --pooler "$pooler"
check_contains 'invalid section "peers"' "$ERR"
check_status 2 live s11-no-peering-good --pooler "$pooler" --adapter odyssey
check_contains "peering: this adapter does not say how processes know each other" "$ERR"
left "after runs"

# 20 of 20, and with any seed the balancer draws others.
figure=(s11-balancer-figure-bad --pooler "$pooler" --quiet --set 'clients[0].count=2' --set pooler.pool_size=2)
figure+=(--set 'clients[0].script=[connect, loop: {times: 5, do: [query: {tag: q1, runs: 10ms}, cancel: {of: q1, after: 5ms}]}]')
live "${figure[@]}" --trace "$SCRATCH/first"
different=0
for _ in {1..19}; do
  live "${figure[@]}" --trace "$SCRATCH/again" && cmp -s "$SCRATCH/first" "$SCRATCH/again" || different=$((different + 1))
done
check "20 of 20 traces are the same ($different differ)" test "$different" = 0
check_status 0 live --replay "$SCRATCH/first" --pooler "$pooler"
live "${figure[@]}" --seed 2 --trace "$SCRATCH/other"
check "another seed, another balance" \
  test "$(jq -c '[.do, .args]' "$SCRATCH/first" | md5sum)" != "$(jq -c '[.do, .args]' "$SCRATCH/other" | md5sum)"

# The tool itself is killed: of none anything is left.
"$STAMPEDE" live s11-balancer-figure-bad --pooler "$pooler" --quiet &
tool=$!
for _ in {1..100}; do
  [[ $(pgrep -cf "$TMPDIR/stampede-live") -ge 3 ]] && break
  sleep 0.05
done
check "three processes are there" test "$(pgrep -cf "$TMPDIR/stampede-live")" -ge 3
kill -KILL "$tool"
wait "$tool" 2>/dev/null
for _ in {1..100}; do
  [[ -z $(ls "$TMPDIR") ]] && break
  sleep 0.05
done
left "after SIGKILL of the tool"
