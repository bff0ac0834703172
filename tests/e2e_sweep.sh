#!/bin/bash
# sweep: the same bytes with any number of jobs; a kill at any instant and --resume lose and repeat no finished point; an
# interrupt reports what was done; bad lists, folders and disks are said in one line and leave nothing half-written.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

quick=(sweep connect-storm --set postgres.max_connections=200 --variant 'dense-arrays,split-pgxactoff' --repeat 2)
without_measured() { sed '/"measured"/d' "$1"; }
same_results() {
  check_same "$SCRATCH/$1/results.csv" "$SCRATCH/$2/results.csv"
  check_same <(without_measured "$SCRATCH/$1/results.json") <(without_measured "$SCRATCH/$2/results.json")
}

# --- jobs, folders, what is written
check_status 0 "$STAMPEDE" "${quick[@]}" --set workload.clients=16:64:*2 --out "$SCRATCH/one"
check_contains "published"
check_contains "12 of 12 points"
check_contains "grows with clients to the power of"
check "no escape codes in a file" bash -c "! grep -q $'\033' '$OUT'"
check "twelve rows and a header" test "$(wc -l <"$SCRATCH/one/results.csv")" = 13
check "twelve points" test "$(find "$SCRATCH/one/points" -name '*.json' | wc -l)" = 12
check_contains "clients,variant,seed,verdict," "$SCRATCH/one/results.csv"
check "the plot is drawn" test -s "$SCRATCH/one/plot.svg"
check "nothing else is left" test "$(find "$SCRATCH/one" -name '*tmp*' | wc -l)" = 0
check_status 0 "$STAMPEDE" "${quick[@]}" --set workload.clients=16,32,64 --jobs 2 --out "$SCRATCH/not/yet/there" --json
check_same <(without_measured "$OUT") <(without_measured "$SCRATCH/not/yet/there/results.json")
same_results one not/yet/there

# --- resume
check_status 2 "$STAMPEDE" "${quick[@]}" --set workload.clients=16:64:*2 --out "$SCRATCH/one"
check_contains "--resume goes on" "$ERR"
check_status 2 "$STAMPEDE" "${quick[@]}" --set workload.clients=16:32:*2 --out "$SCRATCH/one" --resume
check_contains 'list 1, workload.clients: ["16","32","64"] there, ["16","32"] now' "$ERR"
check_status 2 "$STAMPEDE" "${quick[@]}" --set workload.clients=16 --resume
cp -r "$SCRATCH/one" "$SCRATCH/two"
rm "$SCRATCH/two/results.csv" "$SCRATCH/two/points/0003.json" "$SCRATCH/two/points/0011.json"
truncate -s 100 "$SCRATCH/two/points/0007.json"
find "$SCRATCH/two/points" -newer "$SCRATCH/one/manifest.json" -exec touch -d 2001-01-01 {} +
check_status 0 "$STAMPEDE" "${quick[@]}" --set workload.clients=16:64:*2 --out "$SCRATCH/two" --resume
same_results one two
check "three points were run, nine kept" test "$(find "$SCRATCH/two/points" -newermt 2002-01-01 -name '*.json' | wc -l)" = 3

# --- killed in the middle, at several instants, until it gets through
long=(sweep connect-storm --set workload.clients=64:256:+16 --set postgres.max_connections=600)
check_status 0 "$STAMPEDE" "${long[@]}" --out "$SCRATCH/whole"
for attempt in 1 2 3 4 5; do
  "$STAMPEDE" "${long[@]}" --out "$SCRATCH/killed" --resume --jobs 2 --quiet >/dev/null 2>&1 &
  child=$!
  sleep "0.0$((attempt * 3))"
  kill -9 $child 2>/dev/null
  wait $child 2>/dev/null
  find "$SCRATCH/killed/points" -name '*.json' -printf '%f %T@\n' 2>/dev/null | sort >"$SCRATCH/before"
  "$STAMPEDE" "${long[@]}" --out "$SCRATCH/killed" --resume --quiet >/dev/null 2>&1 &
  child=$!
  sleep 0.04
  kill -9 $child 2>/dev/null
  wait $child 2>/dev/null
  check "no finished point is run again" test -z \
    "$(find "$SCRATCH/killed/points" -name '*.json' -printf '%f %T@\n' 2>/dev/null | sort | comm -13 - "$SCRATCH/before")"
done
check_status 0 "$STAMPEDE" "${long[@]}" --out "$SCRATCH/killed" --resume
same_results whole killed
check "nothing else is left" test "$(find "$SCRATCH/killed" -name '*tmp*' | wc -l)" = 0

# --- interrupted: what was done is reported, 130, and it goes on from there. A shell without job control ignores SIGINT
# in what it starts, so the program is started by one with it.
set -m
"$STAMPEDE" sweep connect-storm --set workload.clients=512:8192:+256 --out "$SCRATCH/int" >"$OUT" 2>"$ERR" &
child=$!
for _ in {1..500}; do
  [[ -e $SCRATCH/int/points/0001.json ]] && break
  sleep 0.02
done
kill -INT $child
wait $child
check "130 when interrupted" test $? = 130
set +m
check_contains "interrupted"
check_contains '"complete": false' "$SCRATCH/int/results.json"
check "finished points are rows" test "$(wc -l <"$SCRATCH/int/results.csv")" = \
  $(($(find "$SCRATCH/int/points" -name '*.json' | wc -l) + 1))

# --- exit status of points, junit
cat >"$SCRATCH/fails.yaml" <<'END'
scenario: fails
postgres: {max_connections: 40}
workload: {kind: pgbench, clients: 8, iterations: 1}
expect: [{metric: first.refused, within: [1, 1]}]
END
check_status 1 "$STAMPEDE" sweep "$SCRATCH/fails.yaml" --set workload.clients=4,8 --junit "$SCRATCH/junit.xml"
check_contains "clients=4 dense-arrays seed 1: fail; not met: first.refused within [1, 1] (saw 0)"
check_contains '<testsuite name="fails clients=8 dense-arrays seed 1">' "$SCRATCH/junit.xml"

# --- bad input: one line, exit 2, before anything runs
bad() {
  local says=$1
  shift
  check_status 2 "$STAMPEDE" sweep connect-storm --out "$SCRATCH/bad" "$@"
  check_contains "$says" "$ERR"
  check "one line" test "$(wc -l <"$ERR")" = 1
  check "nothing printed" test ! -s "$OUT"
  check "no folder" test ! -e "$SCRATCH/bad"
}
bad "never ends" --set workload.clients=1:8:*1
bad "below 2^63" --set workload.clients=1:99999999999999999999:*2
bad "more than 100000 points" --set workload.clients=1:9999:+1 --set machine.cores=1:9999:+1
bad "out of range" --set workload.clients=16,0
bad "nearest is clients" --set workload.cliens=16,32
bad 'the nearest is unsorted' --variant unsortd
bad "--variant a,+: an empty name in the list" --variant a,+
bad "--job is run or check" --job simulate
bad "--max-states 3: that is for --job check" --max-states 3
bad "no list of that name; there is clients" --set workload.clients=16,32 --across cores
bad "--repeat" --repeat 0
bad "--jobs" --jobs 0
bad "no trace" --trace "$SCRATCH/t.jsonl"
bad "no metric first.conect_ms" --metric first.conect_ms
check_status 2 "$STAMPEDE" sweep no-such-scenario

# --- the environment: 4, one line, nothing half-written
environment() {
  check_status 4 "$STAMPEDE" "${quick[@]}" --set workload.clients=16,32 "$@"
  check "one line: $(cat "$ERR")" test "$(wc -l <"$ERR")" = 1
}
touch "$SCRATCH/file"
environment --out "$SCRATCH/file"
environment --out "$SCRATCH/file/below"
environment --out /proc/no-such-place
environment --junit /dev/full --quiet
environment --junit "$SCRATCH/missing/junit.xml" --quiet
to_full_disk() { "$@" >/dev/full; }
check_status 4 to_full_disk "$STAMPEDE" "${quick[@]}" --set workload.clients=16,32
check_contains "No space left" "$ERR"
mkdir "$SCRATCH/tiny"
if mount -t tmpfs -o size=64k none "$SCRATCH/tiny" 2>/dev/null; then
  environment --out "$SCRATCH/tiny/out"
  check_contains "No space left" "$ERR"
  for file in "$SCRATCH"/tiny/out/points/*.json; do check "$file is whole" test "$(tail -c 4 "$file")" = $'}\n}'; done
  check "no results of half a sweep" test ! -e "$SCRATCH/tiny/out/results.json"
  umount "$SCRATCH/tiny"
elif ((EUID != 0)); then
  chmod a-w "$SCRATCH/tiny"
  environment --out "$SCRATCH/tiny/out"
fi
