#!/bin/bash
# e2e_live_ends.sh - live comes to an end: scripts that go round, poolers that try again for ever, limits of steps; a signal at
# any moment ends it within two seconds, and nothing is left behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch
live() { timeout -k 1 30 "$STAMPEDE" live "$@" --pooler "$pooler"; }

# ---- without a signal ----
# A loop whose connection is gone: no time passes, so its moment never comes. The model says the same.
cat >"$SCRATCH/livelock.yaml" <<'END'
scenario: livelock
about: The pooler closes the client's connection with the server's, and the loop goes on without one.
pooler:  {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 1}
servers: [{name: s, host: db1}]
clients: [{name: a, script: [connect, loop: {until: 10s, do: [query: {tag: q1, runs: 10ms}]}]}]
events:  [{at: 1005ms, kill: "server[s]", for: 1ms}]
END
check_status 1 "$STAMPEDE" run "$SCRATCH/livelock.yaml"
check_contains "ended early: livelock: "
check_status 1 live "$SCRATCH/livelock.yaml"
check_contains "ended early: livelock: client a goes round, and no time passes"
# A counted loop without a connection ends by itself.
sed 's/until: 10s/times: 1000/; s/livelock/counted/' "$SCRATCH/livelock.yaml" >"$SCRATCH/counted.yaml"
check_status 0 live "$SCRATCH/counted.yaml"
# The pooler tries every five seconds, and nothing of a client comes about for its longest limit (120 s) and a minute more.
cat >"$SCRATCH/retries.yaml" <<'END'
scenario: retries
about: The server is gone for good, and who waits has no limit.
pooler:  {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 1, query_wait_timeout: none, server_login_retry: 5s}
servers: [{name: s, host: db1}]
clients: [{name: a, script: [connect, query: {tag: q1, runs: 5ms}, wait: 1s, query: {tag: q2, runs: 5ms}]}]
events:  [{at: 500ms, kill: "server[s]"}]
checks:  [no-deadlock]
END
check_status 1 live "$SCRATCH/retries.yaml"
check_contains "violated after step"
check_contains "nothing goes on; client a waits; its last words:"
# What the log says has pids and addresses: it stands under "measured", and all else is the same in every run.
for i in 1 2; do
  check_status 0 live tests/live/death-fenced.yaml --json
  check_contains '"last_words": "'
  grep -v '"measured"' "$OUT" >"$SCRATCH/ended.$i"
done
check_same "$SCRATCH/ended.1" "$SCRATCH/ended.2"
# Limits of steps are kept here as anywhere, and are no failure.
check_status 3 live tests/live/day.yaml --set max_steps=2000
check_contains "ended early: the limit of 2000 steps (max_steps)"
check_status 3 live tests/live/login-storm.yaml --set max_steps_at_once=500
check_contains "ended early: the limit of one instant, 500 steps (max_steps_at_once)"
check_status 0 live tests/live/hit.yaml --set max_steps=none --set max_steps_at_once=none

# ---- where it cannot begin ----
hit=tests/live/hit.yaml
mkdir -p "$SCRATCH/full" "$SCRATCH/two words"
if mount -t tmpfs -o size=64k none "$SCRATCH/full" 2>/dev/null; then
  # As full as the kernel lets it be: not a page is left for the clock.
  dd if=/dev/zero of="$SCRATCH/full/all" bs=1k 2>/dev/null
  TMPDIR=$SCRATCH/full check_status 4 live "$hit"
  check_contains "No space left" "$ERR"
  check "no directory is left on a full disk" test "$(ls "$SCRATCH/full")" = all
  rm "$SCRATCH/full/all"
  umount "$SCRATCH/full"
  # One that becomes full meanwhile: time goes on, and what the pooler prints is lost.
  mount -t tmpfs -o size=1m none "$SCRATCH/full"
  TMPDIR=$SCRATCH/full "$STAMPEDE" live tests/live/day.yaml --pooler "$pooler" --clock faketime >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..500}; do ls "$SCRATCH"/full/*/stamp >/dev/null 2>&1 && break; sleep 0.01; done
  sleep 0.3
  dd if=/dev/zero of="$SCRATCH/full/all" bs=1k 2>/dev/null
  sleep 0.7
  kill -TERM "$tool"
  wait "$tool"
  status=$?
  umount "$SCRATCH/full"
  check "a disk that becomes full is not the tool's end ($status)" test "$status" = 130
fi
TMPDIR="$SCRATCH/two words" check_status 4 live "$hit"
check_contains "no blank or colon may be in its name (TMPDIR)" "$ERR"
TMPDIR=$SCRATCH/none check_status 4 live "$hit"
check_contains "$SCRATCH/none: No such file or directory" "$ERR"
TMPDIR=$(realpath --relative-to=. "$TMPDIR") check_status 0 live "$hit"
# What is said of a way to go about it that was not asked for.
for option in "--strategy pct" "--depth 9" "--max-runs 5" "--max-time 3" "--explore --max-runs -5" "--explore --max-time -1" \
  "--gate x" "--repeat 3" "--preset pgcat" --markdown "--conform --explore"; do
  # shellcheck disable=SC2086 # words
  check_status 2 live "$hit" $option
done

# ---- with one: while it starts, in the middle, and at its end ----
nothing_left() {
  check "no directory is left: $1" test -z "$(ls "$TMPDIR")"
  check "no process is left: $1" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
}
# ends SIGNAL MILLISECONDS COMMAND...: its status is in $status, how long it went on after the signal in $ms. A job of its
# own (set -m), as what a script starts in the background does not hear SIGINT otherwise.
set -m
ends() {
  local signal=$1 after=$2 tool begin
  shift 2
  "$@" >"$OUT" 2>"$ERR" &
  tool=$!
  sleep "$(printf '%d.%03d' $((after / 1000)) $((after % 1000)))"
  begin=$(date +%s%3N)
  kill "-$signal" "$tool" 2>/dev/null
  wait "$tool" 2>/dev/null
  status=$?
  ms=$(($(date +%s%3N) - begin))
}
long=("$STAMPEDE" live tests/live/day.yaml --pooler "$pooler")
for after in 0 3 7 12 18 25 33 42 60 90 150 400 900; do
  for signal in TERM INT; do
    ends "$signal" "$after" "${long[@]}"
    # 143: before the tool listens to it.
    check "SIG$signal after $after ms ($status)" test "$status" = 130 -o "$status" = 143
    check "SIG$signal after $after ms ends it within 2 s ($ms ms)" test "$ms" -lt 2000
    nothing_left "after SIG$signal, $after ms"
  done
  ends KILL "$after" "${long[@]}"
  for _ in {1..20}; do [[ -z $(ls "$TMPDIR") ]] || sleep 0.1; done
  nothing_left "after SIGKILL, $after ms"
done
# The pooler itself, killed: while it starts it was never ready (4), later it is a crash (1).
for after in 0 5 20 100 500; do
  "${long[@]}" >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..200}; do victim=$(pgrep -P "$tool" -x pgbouncer) && break; done
  sleep "0.$(printf %03d "$after")"
  begin=$(date +%s%3N)
  kill -KILL "$victim" 2>/dev/null
  wait "$tool"
  status=$? ms=$(($(date +%s%3N) - begin))
  check "the pooler's SIGKILL after $after ms ($status)" test "$status" = 1 -o "$status" = 4
  check "its SIGKILL after $after ms is seen within 2 s ($ms ms)" test "$ms" -lt 2000
  check "and told" grep -q 'ended by signal 9 (Killed)' "$OUT" "$ERR"
  nothing_left "after the pooler's SIGKILL, $after ms"
done
# The small process that clears up, killed: the tool does it then, and is heard to its end.
for after in 30 200; do
  "${long[@]}" >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..200}; do victim=$(pgrep -P "$tool" -x stampede) && break; done
  sleep "0.$(printf %03d "$after")"
  kill -KILL "$victim"
  sleep 0.1
  kill -TERM "$tool"
  wait "$tool"
  status=$?
  check "who clears up is killed after $after ms: the tool goes on ($status)" test "$status" = 130
  nothing_left "after SIGKILL of who clears up, $after ms"
done
# Model and binary side by side, and many orders.
for after in 20 300 800; do
  ends TERM "$after" "$STAMPEDE" live --conform pool-sizing s29-shared-cap-bad --pooler "$pooler"
  check "--conform, SIGTERM after $after ms ($status, $ms ms)" test "$status" = 130 -o "$status" = 143 -a "$ms" -lt 2000
  ends TERM "$after" "$STAMPEDE" live --explore tests/live/two-pools.yaml --strategy random --max-runs 100000 --pooler "$pooler"
  check "--explore, SIGTERM after $after ms ($status, $ms ms)" test "$status" = 130 -o "$status" = 143 -a "$ms" -lt 2000
  nothing_left "--conform and --explore, $after ms"
done
