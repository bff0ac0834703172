#!/bin/bash
# e2e_gate_pidfd.sh - live where no pidfd can be had: a kernel without pidfd_open (a filter says so), and valgrind 3.19, which
# knows it as little. Ends of processes are seen all the same, the traces are the same, and nothing is left behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch
pooler=/usr/sbin/pgbouncer
blind=$PWD/$BUILD/tests/live/no_pidfd tiny=$PWD/$BUILD/tests/live/tiny adapter=(--adapter tests/live/adapters/tiny.yaml)
check "the filter and the tests' own pooler are built (make check)" test -x "$blind" -a -x "$tiny"
check "PgBouncer and pgpool-II are there (make deps)" test -x "$pooler" -a -x /usr/sbin/pgpool
mkdir -m 755 "$SCRATCH/bin"
cp "$tiny" "$SCRATCH/bin/tiny"
as() { ln -sf tiny "$SCRATCH/bin/tiny-$1" && echo "$SCRATCH/bin/tiny-$1"; }
live() { timeout -k 1 60 "$blind" "$STAMPEDE" live "$@"; }
nothing_left() {
  check "no directory is left: $1" test -z "$(ls "$TMPDIR")"
  check "no process is left: $1" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
}
# The same as with them: one process, children that come and go, several pools of processes of which one ends.
for file in hit late-cancel death-running processes/one-ends; do
  check_status 0 "$STAMPEDE" live "tests/live/$file.yaml" --pooler "$pooler" --trace "$SCRATCH/with"
  check_status 0 live "tests/live/$file.yaml" --pooler "$pooler" --trace "$SCRATCH/without"
  check_same "$SCRATCH/with" "$SCRATCH/without"
done
check_status 0 "$STAMPEDE" live tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool --trace "$SCRATCH/with"
check_status 0 live tests/live/pgpool/old-key.yaml --pooler /usr/sbin/pgpool --trace "$SCRATCH/without"
check_same "$SCRATCH/with" "$SCRATCH/without"
# What ends by itself, before it is ready and later, is seen at once, not when the tool's patience (10 s) is over.
begin=$(date +%s%3N)
check_status 4 live tests/live/gate/crowd.yaml --pooler "$(as refuse)" "${adapter[@]}"
check_contains "ended with status 2" "$ERR"
check_status 1 live tests/live/gate/crowd.yaml --pooler "$(as crash)" "${adapter[@]}"
check_contains "ended by signal 11 (Segmentation fault)"
check_status 1 live tests/live/gate/crowd.yaml --pooler "$(as 2-crash)" "${adapter[@]}"
check_contains "ended by signal 11 (Segmentation fault)"
check_status 4 live tests/live/gate/crowd.yaml --pooler "$(as refuse)" "${adapter[@]}" --clock real
check_contains "ended with status 2" "$ERR"
ms=$(($(date +%s%3N) - begin))
check "four ends are seen within eight seconds ($ms ms)" test "$ms" -lt 8000
nothing_left "without pidfds"
# And whoever is killed: the pooler, the tool.
"$blind" "$STAMPEDE" live tests/live/day.yaml --pooler "$pooler" >"$OUT" 2>"$ERR" &
tool=$!
for _ in {1..200}; do
  victim=$(pgrep -P "$tool" -x pgbouncer) && break
  sleep 0.01
done
sleep 0.3
kill -KILL "$victim"
wait "$tool"
status=$?
check "the pooler's SIGKILL is seen ($status)" test "$status" = 1
check_contains "ended by signal 9 (Killed)"
"$blind" "$STAMPEDE" live tests/live/day.yaml --pooler "$pooler" >"$OUT" 2>"$ERR" &
tool=$!
sleep 0.5
kill -KILL "$tool"
wait "$tool" 2>/dev/null
for _ in {1..20}; do [[ -z $(ls "$TMPDIR") ]] || sleep 0.1; done
nothing_left "after SIGKILL, without pidfds"

# Under valgrind: no invalid access, no leak, and the trace is the same.
if [[ $BUILD != *san* ]]; then
  check "valgrind is there (make deps)" test -n "$(command -v valgrind)"
  checked=(valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite
    --suppressions=tests/valgrind.supp)
  for file in hit death-login; do
    check_status 0 "$STAMPEDE" live "tests/live/$file.yaml" --pooler "$pooler" --trace "$SCRATCH/with"
    check_status 0 timeout -k 1 60 "${checked[@]}" "$STAMPEDE" live "tests/live/$file.yaml" --pooler "$pooler" --trace "$SCRATCH/without"
    check_lacks "==" "$ERR"
    check_same "$SCRATCH/with" "$SCRATCH/without"
  done
fi
