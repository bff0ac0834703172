#!/bin/bash
# e2e_gate_tcp.sh - stampede live --tcp: the same poolers and scenarios over loopback, with the traces that they have over
# Unix sockets; twenty alike; what cannot listen there is refused; nothing left behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch
mkdir -m 755 "$SCRATCH/bin"
pooler=/usr/sbin/pgbouncer pgpool=/usr/sbin/pgpool tiny=$PWD/$BUILD/tests/live/tiny
check "PgBouncer and pgpool-II are there (make deps)" test -x "$pooler" -a -x "$pgpool"
check "the tests' own pooler is built (make check)" test -x "$tiny"
cp "$tiny" "$SCRATCH/bin/tiny"
live() { timeout -k 1 60 "$STAMPEDE" live "$@"; }

# both FILE POOLER: it meets its expectations over TCP, and the trace is that of Unix sockets.
both() {
  check_status 0 live "$1" --pooler "$2" --quiet --trace "$SCRATCH/unix"
  check_status 0 live "$1" --pooler "$2" --quiet --trace "$SCRATCH/tcp" --tcp
  check_same "$SCRATCH/unix" "$SCRATCH/tcp"
}
for name in hit cancel-in-flight late-cancel two-pools two-databases reload pause-resume query-wait-timeout server-lifetime \
  death-connect death-login death-running death-fenced login-storm; do
  both "tests/live/$name.yaml" "$pooler"
done
# Its children look at two sockets where it was one: all steps are the same, and not how often the gate was come to.
for file in tests/live/pgpool/*.yaml; do
  check_status 0 live "$file" --pooler "$pgpool" --quiet --trace "$SCRATCH/unix"
  check_status 0 live "$file" --pooler "$pgpool" --quiet --trace "$SCRATCH/tcp" --tcp
  sed -i '$d' "$SCRATCH/unix" "$SCRATCH/tcp"
  check_same "$SCRATCH/unix" "$SCRATCH/tcp"
done

different=0
live tests/live/cancel-in-flight.yaml --pooler "$pooler" --tcp --quiet --trace "$SCRATCH/first"
for _ in {1..19}; do
  live tests/live/cancel-in-flight.yaml --pooler "$pooler" --tcp --quiet --trace "$SCRATCH/again"
  cmp -s "$SCRATCH/first" "$SCRATCH/again" || different=$((different + 1))
done
check "20 of 20 traces are the same ($different differ)" test "$different" = 0
check_status 0 live --replay "$SCRATCH/first" --pooler "$pooler" --tcp
check_status 0 live --explore tests/live/two-pools.yaml --pooler "$pooler" --tcp --json
check "one history, and that was all" jq -e '.metrics | ."explore.distinct" == 1 and ."explore.exhausted" == 1' "$OUT"
check_status 0 live tests/live/hit.yaml --pooler "$pooler" --tcp --clock faketime

# An adapter that has a socket and says nothing of TCP.
check_status 2 live tests/live/gate/crowd.yaml --pooler "$SCRATCH/bin/tiny" --adapter tests/live/adapters/tiny.yaml --tcp
check_contains "over_tcp: this adapter does not say how its pooler listens over TCP" "$ERR"
check "no directory is left" test -z "$(ls "$TMPDIR")"
check "no process is left" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
