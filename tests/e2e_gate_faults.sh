#!/bin/bash
# e2e_gate_faults.sh - programs that cannot be gated, poolers that go wrong in each way there is, tools and poolers that
# something ends: each is told as it is, and nothing is left behind.
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
# says FILTER FILE: jq's answer, over all lines of it, is true; of a document, over it.
says() { jq -es "if length == 1 then .[0] else . end | $1" "$2" >/dev/null; }
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

# What cannot be gated is driven as well as can be, and that is said.
check_status 0 live "$crowd" --pooler "$SCRATCH/bin/tiny-static" "${adapter[@]}" --json
check "a static program's verdict says what it is worth" \
  says '.caveat | startswith("best effort: tiny-static is linked statically")' "$OUT"
check_status 0 live tests/live/hit.yaml --pooler /usr/sbin/pgbouncer --clock real
check_contains "best effort: pgbouncer is not gated, as --clock real asks"
check_contains "real ms"
# Whose time passes is interrupted all the same, in the middle of an hour.
"$STAMPEDE" live tests/live/day.yaml --pooler /usr/sbin/pgbouncer --clock real >"$OUT" 2>"$ERR" &
tool=$!
sleep 3
kill -INT "$tool"
wait "$tool"
status=$?
check "an hour of real time is interrupted ($status)" test "$status" = 130
check_status 0 live "$crowd" --pooler "$(as ring)" "${adapter[@]}"
check_lacks "best effort"
nothing_left "without a gate"

# Poolers that go wrong. Before they are ready: 4.
check_status 4 live "$crowd" --pooler "$(as refuse)" "${adapter[@]}"
check_contains "ended with status 2" "$ERR"
check_contains "bad configuration: no such word" "$ERR"
check_status 4 live "$crowd" --pooler "$(as absent)" "${adapter[@]}"
check_contains "does not open its socket" "$ERR"
check_status 4 live "$crowd" --pooler "$(as stuck)" "${adapter[@]}" --patience 0.5
check_contains "is stuck in openat" "$ERR"
# Interrupted in the meantime it is not the pooler's doing.
for signal in INT TERM; do
  "$STAMPEDE" live "$crowd" --pooler "$(as stuck)" "${adapter[@]}" >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..100}; do
    compgen -G "$TMPDIR/stampede-live-*/fifo" >/dev/null && break
    sleep 0.1
  done
  kill "-$signal" "$tool"
  wait "$tool"
  status=$?
  check "SIG$signal before the pooler is ready is an interruption ($status)" test "$status" = 130
  check_contains "interrupted, before" "$ERR"
done
# Later: 1, with the log's last lines and the trace so far.
wrong() {
  check_status 1 live "$crowd" --pooler "$(as "$1")" "${adapter[@]}" --patience 0.5 --trace "$SCRATCH/wrong"
  check_contains "$2"
  check_contains "its last words:"
  check "the trace of $1 begins with the client that came before" says '.[1].do == "StartupMessage"' "$SCRATCH/wrong"
  check "the trace of $1 tells what went wrong" says "any(.[]; .do == \"$3\")" "$SCRATCH/wrong"
}
wrong crash "ended by signal 11 (Segmentation fault)" ended
wrong 2-crash "ended by signal 11 (Segmentation fault)" ended
wrong hang "is stuck in openat, which is not gated" stuck
wrong 2-hang "is stuck in openat, which is not gated" stuck
wrong spin "is stuck, and waits for nothing: it computes" stuck
wrong garbage "writes garbage to client" garbage
wrong rubbish "writes garbage to server" garbage
wrong leak "leaks descriptors" leaks
# What they print fills no disk: its middle is left out, also of what is little each time. printed: MiB at most.
printed() {
  local most=0 now
  "$STAMPEDE" live "$crowd" --pooler "$(as "$1")" "${adapter[@]}" --patience "$2" >"$OUT" 2>"$ERR" &
  local tool=$!
  while kill -0 "$tool" 2>/dev/null; do
    now=$(du -sm "$TMPDIR" 2>/dev/null | cut -f1)
    ((most = now > most ? now : most))
    sleep 0.05
  done
  wait "$tool"
  status=$?
  check "$1: status $status" test "$status" = "$3"
  check "$1 printed $most MiB at a time" test "$most" -lt "$4"
}
printed chatter 3 1 1500
check_contains "its last words:"
check_contains "of many"
printed loud 10 0 30
nothing_left "after poolers that print"
# cut_off FAULT OK ERROR REFUSED WHEN: a pooler that closes its client without a word has given it an error, and it is
# counted as such. A sound tiny does so when the server goes.
cut_off() {
  check_status 1 live tests/live/gate/cut-off.yaml --pooler "$(as "$1")" "${adapter[@]}" --json
  check "$1: the client is cut off $5" \
    says ".checks[0].verdict == \"violated\" and .checks[0].why == \"client a is cut off $5, and no server said why\"" "$OUT"
  check "$1: $2 answers, $3 errors, $4 refused" \
    says "[.metrics[\"queries.ok\", \"queries.error\", \"queries.refused\"]] == [$2, $3, $4]" "$OUT"
}
cut_off shut 0 0 1 "at its login"
cut_off sever 0 1 0 "while it waits for q1"
cut_off sound 1 1 0 "while idle"
# A child in a session of its own ends with the rest.
check_status 0 live "$crowd" --pooler "$(as leave)" "${adapter[@]}"
nothing_left "after poolers that go wrong"

# ended_by SIGNAL WHOM POOLER...: a long run in the background, which something ends. Its status is in $status.
ended_by() {
  local signal=$1 whom=$2 tool victim=
  shift 2
  "$STAMPEDE" live tests/live/gate/long.yaml "$@" --trace "$SCRATCH/cut" >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..100}; do
    sleep 0.1
    compgen -G "$TMPDIR/stampede-live-*/.s.PGSQL.9999" >/dev/null && break
  done
  sleep 1
  victim=$(pgrep -x pgpool -P "$tool")
  [[ $whom == tool ]] && victim=$tool
  kill "-$signal" "$victim"
  wait "$tool" 2>/dev/null
  status=$?
}
for signal in INT TERM; do
  ended_by "$signal" tool --pooler /usr/sbin/pgpool
  check "SIG$signal is an interruption ($status)" test "$status" = 130
  nothing_left "after SIG$signal, with processes"
done
ended_by KILL tool --pooler /usr/sbin/pgpool
sleep 1
nothing_left "after SIGKILL of the tool, with processes"
# The process that would clear up is killed itself: then the tool does that.
"$STAMPEDE" live tests/live/gate/long.yaml --pooler /usr/sbin/pgpool >"$OUT" 2>"$ERR" &
tool=$!
for _ in {1..100}; do
  sleep 0.1
  compgen -G "$TMPDIR/stampede-live-*/.s.PGSQL.9999" >/dev/null && break
done
kill -KILL "$(pgrep -P "$tool" -x stampede)"
sleep 0.5
kill -INT "$tool"
wait "$tool"
status=$?
check "without its sweeper: $status" test "$status" = 130
nothing_left "after SIGKILL of the sweeper"
ended_by KILL tool --pooler /usr/sbin/pgpool --clock faketime
sleep 1
nothing_left "after SIGKILL of the tool, with libfaketime"
ended_by KILL pooler --pooler /usr/sbin/pgpool
check "SIGKILL of the pooler is a failure ($status)" test "$status" = 1
check_contains "ended by signal 9 (Killed)"
nothing_left "after SIGKILL of the pooler"

# Whoever is not root has it all the same.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
  chmod 777 "$TMPDIR"
  check_status 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$STAMPEDE" live tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool
  nothing_left "after a run as nobody"
  # Nor is a namespace needed: root of a container has none, and what is shared is found by who made it.
  bounded=(setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin)
  check_status 0 "${bounded[@]}" "$STAMPEDE" live tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool
  check_status 0 "${bounded[@]}" "$STAMPEDE" live tests/live/hit.yaml --pooler /usr/sbin/pgbouncer --clock faketime
  nothing_left "without a namespace"
fi

# From its start to its first quiet: below 50 ms, once the machine has nothing better to do (some 10 ms, then).
for _ in {1..60}; do
  ms=$(live tests/live/hit.yaml --pooler /usr/sbin/pgbouncer --json | jq .measured.start_ms)
  says "$ms < 50" /dev/null && break
done
check "PgBouncer is quiet within 50 ms of its start ($ms)" says "$ms < 50" /dev/null
