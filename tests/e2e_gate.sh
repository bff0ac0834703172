#!/bin/bash
# e2e_gate.sh - the gate with poolers of many threads and processes, and with either clock: the same trace each time, and
# nothing left behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch
mkdir -m 755 "$SCRATCH/bin"
tiny=$PWD/$BUILD/tests/live/tiny adapter=(--adapter tests/live/adapters/tiny.yaml) crowd=tests/live/gate/crowd.yaml
check "the tests' own pooler is built (make check)" test -x "$tiny" -a -x "$tiny-static"
check "pgpool-II is there (make deps)" test -x /usr/sbin/pgpool
# tiny does what its name says; a copy each, where whoever it runs as can read it.
cp "$tiny" "$SCRATCH/bin/tiny"
cp "$tiny-static" "$SCRATCH/bin/tiny-static"
as() { ln -sf tiny "$SCRATCH/bin/tiny-$1" && echo "$SCRATCH/bin/tiny-$1"; }
# says FILTER FILE: jq's answer, over all lines of it, is true.
says() { jq -es "$1" "$2" >/dev/null; }
live() { timeout -k 1 60 "$STAMPEDE" live "$@"; }

# Of whom poolers run as: others of this machine have theirs.
if [[ $(id -u) == 0 ]]; then whose=nobody; else whose=$(id -un); fi
shared() { ipcs -m -s | awk -v whose="$whose" '$3 == whose' | wc -l; }
before=$(shared)
nothing_left() {
  check "no directory is left: $1" test -z "$(ls "$TMPDIR")"
  check "no process is left: $1" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
  check "no shared memory is left: $1" test "$(shared)" = "$before"
  check "nothing is left in /dev/shm: $1" test -z "$(find /dev/shm -name '*faketime*' -newer "$SCRATCH/bin/tiny" 2>/dev/null)"
}

# same N COMMAND...: N traces of that run, all alike.
same() {
  local n=$1 different=0
  shift
  check_status 0 live "$@" --quiet --trace "$SCRATCH/first"
  for ((i = 1; i < n; i++)); do
    live "$@" --quiet --trace "$SCRATCH/again" && cmp -s "$SCRATCH/first" "$SCRATCH/again" || different=$((different + 1))
  done
  check "$n of $n traces are the same ($different differ): $*" test "$different" = 0
}

# Threads: one runs at a time, who gets a client is drawn; 100 of 100.
same 5 "$crowd" --pooler "$(as 1)" "${adapter[@]}"
same 5 "$crowd" --pooler "$(as 2)" "${adapter[@]}"
same 100 "$crowd" --pooler "$(as 4)" "${adapter[@]}"
cp "$SCRATCH/first" "$SCRATCH/of-4"
# That the order of threads is decided, and not by luck the only one: another seed, another worker takes a client.
check_status 0 live "$crowd" --pooler "$(as 4)" "${adapter[@]}" --seed 2 --quiet --trace "$SCRATCH/other"
check "another seed gives clients to other workers" \
  test "$(jq -c '[.do, .args]' "$SCRATCH/of-4" | md5sum)" != "$(jq -c '[.do, .args]' "$SCRATCH/other" | md5sum)"
# Over loopback, for poolers that know nothing else.
same 10 "$crowd" --pooler "$(as 4)" --adapter tests/live/adapters/tinytcp.yaml
check_status 0 live "$crowd" --pooler "$(as 4)" --adapter tests/live/adapters/tinytcp.yaml
check_contains "is untried"
# A cancel that is sent and forgotten, as by pgcat: its packet comes after the pooler has closed its client's connection.
check_status 0 live "$crowd" --pooler "$(as forget)" --adapter tests/live/adapters/tinytcp.yaml
nothing_left "after threads"

# Adapters: every word of each stands for something; what is no adapter is told by line and key.
for name in pgbouncer pgpool pgdog pgcat odyssey; do
  check_status 4 live tests/live/cancel-in-flight.yaml --pooler /bin/true --adapter "$name"
  check_contains "was never ready: it ended with status 0" "$ERR"
done
bad_adapter() {
  sed "$1" tests/live/adapters/tiny.yaml >"$SCRATCH/bad.yaml"
  check_status 2 live "$crowd" --pooler "$tiny" --adapter "$SCRATCH/bad.yaml"
  check_contains "$2" "$ERR"
}
bad_adapter 's/^signals:/signal:/' "bad.yaml:7:1: signal: an adapter has no such key"
bad_adapter 's/{server_path}/{servers_path}/' "start: {servers_path} stands for nothing"
bad_adapter 's/stop: TERM/halt: TERM/' "halt: an adapter knows no such wish"
bad_adapter 's/stop: TERM/stop: NOW/' "stop: the name of a signal is wanted"
bad_adapter 's/^start:.*//' "a list of words is wanted here"
check_status 2 live "$crowd" --pooler "$tiny" --adapter "$SCRATCH/none.yaml"

# Processes: the driver chooses the child that accepts. A key outlives its client, as its child keeps the backend.
for file in tests/live/pgpool/*.yaml; do
  check_status 0 "$STAMPEDE" run "$file"
  check_status 0 live "$file" --pooler /usr/sbin/pgpool
done
same 20 tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool
check "b has the backend that a had" says '[.[] | select(.do == "StartupMessage" and .who == "pooler")] | length == 1' "$SCRATCH/first"
check_status 1 live tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool --set pooler.idle_order=fifo --trace "$SCRATCH/fifo"
check "the child that has waited longest has no backend yet" \
  says '[.[] | select(.do == "StartupMessage" and .who == "pooler")] | length == 2' "$SCRATCH/fifo"
check_status 2 live tests/live/hit.yaml --pooler /usr/sbin/pgpool
check_contains "this pooler has no more pools" "$ERR"
nothing_left "after pgpool"

# Two clocks, one trace.
for run in "tests/live/hit.yaml /usr/sbin/pgbouncer" "tests/live/server-idle-timeout.yaml /usr/sbin/pgbouncer" \
  "tests/live/query-wait-timeout.yaml /usr/sbin/pgbouncer" "tests/live/pgpool/old-key.yaml /usr/sbin/pgpool"; do
  read -r file pooler <<<"$run"
  check_status 0 live "$file" --pooler "$pooler" --quiet --trace "$SCRATCH/own"
  check_status 0 live "$file" --pooler "$pooler" --clock faketime --quiet --trace "$SCRATCH/faketime"
  check_same "$SCRATCH/own" "$SCRATCH/faketime"
done
check_status 0 live "$crowd" --pooler "$(as 4)" "${adapter[@]}" --clock faketime --quiet --trace "$SCRATCH/faketime"
check_same "$SCRATCH/of-4" "$SCRATCH/faketime"
check_status 2 live "$crowd" --pooler "$(as 4)" "${adapter[@]}" --clock sundial
nothing_left "after libfaketime"

