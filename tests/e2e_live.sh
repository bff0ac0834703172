#!/bin/bash
# e2e_live.sh - stampede live with Debian's PgBouncer: the verdicts of the model's own runs, identical traces, bad poolers, and
# nothing left behind however it ends.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch

nothing_left() {
  check "no directory is left: $1" test -z "$(ls "$TMPDIR")"
  check "no pooler is left: $1" test -z "$(pgrep -f "$TMPDIR/stampede-live" || true)"
}

# One file, two ways to run it, the same expectations.
for file in tests/live/*.yaml; do
  [[ $file == */day.yaml ]] && continue # an e2e of its own, below
  check_status 0 "$STAMPEDE" run "$file"
  check_status 0 "$STAMPEDE" live "$file" --pooler "$pooler"
done
nothing_left "after runs"

# The pooler's own figures are judged; what live cannot see is listed, with the reason, and does not count.
check_status 0 "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler"
check_contains "met     pool-accounting holds (saw not-violated)"
check_status 0 "$STAMPEDE" live lost-wakeup-good --pooler "$pooler"
check_contains "not judged no-lost-wakeup holds (saw unknown)"
check_contains "the pooler's console does not show it"

# Two pools of one database, a user each, by whom a server connection is told apart: with a cap of one both are judged right.
check_status 0 "$STAMPEDE" live s29-shared-cap-small-good --pooler "$pooler"
check_contains "met     pool-accounting holds (saw not-violated)"

# The fence as live.md observed it: the waiter is served only after the server has closed the cancel's connection.
check_status 0 "$STAMPEDE" live tests/live/cancel-in-flight.yaml --pooler "$pooler" --trace "$SCRATCH/first"
check "q2 is forwarded in the step after the cancel's end" \
  jq -es '[.[1:][] | .do? // empty] | index("closes the cancel'"'"'s connection") as $i | .[$i + 1] == "Query"' "$SCRATCH/first"

# Each of them is the same each time: 2 of 2 here, 100 of 100 by make live-100.
check_status 0 bash tests/live_100.sh "$BUILD" 2
check_contains "login-storm.yaml              2 of 2 as expected, 1 distinct trace(s)"
check_status 2 "$STAMPEDE" replay "$SCRATCH/first"

# The moments at which PgBouncer's limits fire: its janitor looks every 333 ms.
check_status 0 "$STAMPEDE" live tests/live/query-wait-timeout.yaml --pooler "$pooler" --trace "$SCRATCH/wait"
check "b is told between 121 s and 121.4 s" \
  jq -es '[.[] | select(.do == "ErrorResponse") | .t_ns] | .[0] >= 121e9 and .[0] <= 121.4e9' "$SCRATCH/wait"
check_status 0 "$STAMPEDE" live tests/live/server-idle-timeout.yaml --pooler "$pooler" --trace "$SCRATCH/idle"
check "the server is closed between 600 s and 600.7 s, and a second one opened at 700 s" \
  jq -es '([.[] | select(.do == "Terminate" and .who == "pooler") | .t_ns] | .[0] >= 600e9 and .[0] <= 600.7e9) and
          ([.[] | select(.do == "StartupMessage" and .who == "pooler")] | length == 2 and .[1].t_ns == 700010000000)' "$SCRATCH/idle"

# Bad input, and poolers that are none.
check_status 2 "$STAMPEDE" live tests/live/hit.yaml
check_status 2 "$STAMPEDE" live tests/live/hit.yaml --pooler /no/such/pooler
check_status 2 "$STAMPEDE" live tests/live/hit.yaml --pooler /bin/true
check_contains "no adapter for a pooler called true" "$ERR"
check_status 2 "$STAMPEDE" live warm-connect-storm --pooler "$pooler"
check_status 2 "$STAMPEDE" live s02-rows-bad --pooler "$pooler"
check_contains "live does not drive a query over several pools" "$ERR"
# Too few descriptors are told before anything is started, and what may be raised is raised.
check_status 4 bash -c "ulimit -n 900; exec $STAMPEDE live tests/live/login-storm.yaml --pooler $pooler"
check_contains "no more than 900 are allowed" "$ERR"
check_status 0 bash -c "ulimit -Sn 256; exec $STAMPEDE live tests/live/login-storm.yaml --pooler $pooler --quiet"
mkdir -m 755 "$SCRATCH/bin"
printf '#!/bin/sh\necho cannot go on >&2\nexit 3\n' >"$SCRATCH/bin/pgbouncer"
chmod 755 "$SCRATCH/bin/pgbouncer"
check_status 4 "$STAMPEDE" live tests/live/hit.yaml --pooler "$SCRATCH/bin/pgbouncer"
check_contains "ended with status 3" "$ERR"
check_contains "cannot go on" "$ERR"
printf '#!/bin/sh\necho about to fall >&2\nkill -SEGV $$\n' >"$SCRATCH/bin/pgbouncer-crashes"
chmod 755 "$SCRATCH/bin/pgbouncer-crashes"
check_status 4 "$STAMPEDE" live tests/live/hit.yaml --pooler "$SCRATCH/bin/pgbouncer-crashes"
check_contains "was never ready: it ended by signal 11" "$ERR"
check_contains "about to fall" "$ERR"
printf '#!/bin/sh\nmkfifo never\nread -r line <never\n' >"$SCRATCH/bin/pgbouncer-hangs"
chmod 755 "$SCRATCH/bin/pgbouncer-hangs"
check_status 4 "$STAMPEDE" live tests/live/hit.yaml --pooler "$SCRATCH/bin/pgbouncer-hangs"
check_contains "is stuck in" "$ERR"
nothing_left "after bad poolers"

# A long run in the background, which something ends. Its status is in $status.
ended_by() {
  local signal=$1 whom=$2 tool victim=
  "$STAMPEDE" live tests/live/day.yaml --pooler "$pooler" --trace "$SCRATCH/cut" >"$OUT" 2>"$ERR" &
  tool=$!
  for _ in {1..100}; do
    sleep 0.1
    victim=$(pgrep -P "$tool" -x pgbouncer) && break
  done
  sleep 0.3
  [[ $whom == tool ]] && victim=$tool
  kill "-$signal" "$victim"
  wait "$tool" 2>/dev/null
  status=$?
}
ended_by SEGV pooler
check "a pooler that crashes is a failure ($status)" test "$status" = 1
check_contains "ended by signal 11"
check "its trace ends with the crash" jq -es '.[-2].do == "ended"' "$SCRATCH/cut"
nothing_left "after a crash"
ended_by INT tool
check "an interrupted run says so ($status)" test "$status" = 130
nothing_left "after SIGINT"
ended_by KILL tool
sleep 1
nothing_left "after SIGKILL of the tool"
