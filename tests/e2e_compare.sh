#!/bin/bash
# compare: the mail's patch is better where storms are warm on small pages and the same elsewhere, and worse the other way
# round; a patch that breaks a check is broken; gates and exit statuses; the same bytes with any number of jobs; an
# interrupt reports what was done; what is written is whole; bad input is one line.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

# What says how long it took stands on one line.
without_measured() { sed '/"measured"/d' "$1"; }
# The word in the last column of a case's row: "verdict_is SCENARIO WORD" looks at the last output.
verdict_is() {
  local saw
  saw=$(awk -v name="$1" '$1 == name { print $NF; exit }' "$OUT")
  check "$1 is $saw, not $2" test "$saw" = "$2"
}
compare() { check_status "$1" "$STAMPEDE" compare "${@:2}"; }
quick=(connect-storm --set postgres.max_connections=40 --set workload.clients=16)

# --- the bundled suite and the patch of the mail
compare 0 --suite proc-array --baseline dense-arrays --patch split-pgxactoff --repeat 2 --jobs 2 \
  --gate 'warm.connect_ms <= +2%' --gate 'first.refused = 0' --out "$SCRATCH/suite" --junit "$SCRATCH/suite.xml"
cp "$OUT" "$SCRATCH/forth"
for storm in 1024-few 2048-few 1024-many 2048-many; do verdict_is proc-array-warm-$storm better; done
for other in cold-1024 cold-2048 warm-1024-huge warm-2048-huge warm-1024-in-order reconnect hot-client; do
  verdict_is proc-array-$other same
done
check_contains "4 better, 7 same, 0 worse"
check_contains "zero variance: one run says it"
check "the line that stopped faulting" grep -qE 'proc-array-warm-1024-few +vanished +PGPROC.pgxactoff +ProcArrayAdd' "$OUT"
check "what came in its place" grep -qE 'appeared +pgxactoffs +ProcArrayAdd' "$OUT"
check_lacks "NOT MET"
for file in compare.md results.json plot.svg; do check "$file is written" test -s "$SCRATCH/suite/$file"; done
check "nothing else is left" test "$(find "$SCRATCH/suite" -type f | wc -l)" = 3
check "the plot has both sides" grep -q "dense-arrays, proc-array-warm-few" "$SCRATCH/suite/plot.svg"
check_contains "| proc-array-warm-2048-few | warm.connect_ms |" "$SCRATCH/suite/compare.md"
check "eleven cases for JUnit" test "$(grep -c '<testsuite name=' "$SCRATCH/suite.xml")" = 11
check_lacks "<failure" "$SCRATCH/suite.xml"

# --- the other way round, and against itself
compare 1 proc-array-warm-1024-few proc-array-cold-1024 --patch dense-arrays --baseline split-pgxactoff --repeat 2 \
  --gate 'warm.connect_ms <= +2%' --junit "$SCRATCH/back.xml"
verdict_is proc-array-warm-1024-few worse
verdict_is proc-array-cold-1024 same
check_contains "gate NOT MET"
check "one failure for JUnit" test "$(grep -c '<failure' "$SCRATCH/back.xml")" = 1
compare 0 "${quick[@]}" --baseline dense-arrays --patch dense-arrays --repeat 3
verdict_is connect-storm same
check_contains "zero variance"

# --- broken: a store that is forgotten; a check that the patch takes away is told, and is no violation
compare 1 proc-array-reconnect --baseline dense-arrays --patch postgres.steps.store_offsets=skip --repeat 2
verdict_is proc-array-reconnect broken
check_contains "broken: check pgxactoff-matches violated with seed 1: pgxactoff["
compare 0 proc-array-reconnect --patch dense-arrays --baseline postgres.steps.store_offsets=skip --repeat 2
verdict_is proc-array-reconnect better
check_contains "mended: on the baseline check pgxactoff-matches violated"
compare 0 proc-array-reconnect --baseline dense-arrays --patch unsorted --repeat 2
check_contains "check proc-array-sorted: not-violated, with the patch unknown"

# --- presets of poolers, versions, a suite of one's own
compare 0 "${quick[@]}" --baseline postgres-16 --patch postgres-19 --repeat 2
mkdir "$SCRATCH/own"
cp sim/scenarios/proc-array-hot-client.yaml "$SCRATCH/own/mine.yaml"
printf 'suite: own\nscenarios: [./mine.yaml, proc-array-reconnect]\n' >"$SCRATCH/own/suite.yaml"
compare 0 --suite "$SCRATCH/own/suite.yaml" --baseline dense-arrays --patch huge-pages --repeat 2
check_contains "compare suite own"
verdict_is mine same

# --- the same bytes, whatever --jobs; a figure in JSON is that of run
for jobs in 1 2; do
  compare 0 "${quick[@]}" --baseline dense-arrays --patch unsorted --repeat 7 --seed 3 --jobs $jobs --json
  without_measured "$OUT" >"$SCRATCH/jobs$jobs"
done
check_same "$SCRATCH/jobs1" "$SCRATCH/jobs2"
check_status 0 "$STAMPEDE" "run" "${quick[@]}" --set postgres.variant=unsorted --seed 9 --json
value=$(sed -n 's/.*"warm.connect_ms": \([0-9.]*\).*/\1/p' "$OUT")
check "the last pair's patch is run's figure ($value)" grep -q "\"seed\": 9, \"baseline\": [0-9.]*, \"patch\": $value}" "$SCRATCH/jobs1"
check_contains '"complete": true' "$SCRATCH/jobs1"

# --- one run where the seed decides nothing, all that were asked for where it does
compare 0 proc-array-hot-client proc-array-reconnect --baseline dense-arrays --patch huge-pages --repeat 3 --json
check "one pair and three" test "$(grep -o '"seed": [0-9]*, "baseline"' "$OUT" | tr -d '\n')" = \
  '"seed": 1, "baseline""seed": 1, "baseline""seed": 2, "baseline""seed": 3, "baseline"'

# --- a list of --set makes cases, and curves over it
compare 0 connect-storm --set workload.clients=8,16 --set postgres.max_connections=40 --baseline dense-arrays \
  --patch pre-14 --repeat 2 --out "$SCRATCH/list" --markdown
check_contains "| connect-storm clients=8 | warm.connect_ms |"
check "a curve a side" test "$(grep -c '"label": ".*, warm", "side"' "$SCRATCH/list/results.json")" = 2
check_status 0 "$STAMPEDE" viz "$SCRATCH/list" --view plot -o "$SCRATCH/again.svg"
check_same "$SCRATCH/list/plot.svg" "$SCRATCH/again.svg"

# --- what cannot be judged
compare 3 "${quick[@]}" --baseline dense-arrays --patch unsorted --repeat 1 --metric wait_ms.p95
verdict_is connect-storm incomplete

# --- interrupted: what was done is reported, 130. A shell without job control ignores SIGINT in what it starts.
set -m
"$STAMPEDE" compare proc-array-hot-client proc-array-warm-2048-many --baseline dense-arrays --patch split-pgxactoff \
  --repeat 500 --out "$SCRATCH/int" >"$OUT" 2>"$ERR" &
child=$!
sleep 5
kill -INT $child
wait $child
check "130 when interrupted" test $? = 130
set +m
check_contains "interrupted"
verdict_is proc-array-hot-client same
check_contains '"complete": false' "$SCRATCH/int/results.json"
check "the table is whole" test "$(tail -n 1 "$SCRATCH/int/compare.md" | grep -c interrupted)" = 1
"$STAMPEDE" compare proc-array-warm-2048-many --baseline dense-arrays --patch split-pgxactoff --out "$SCRATCH/killed" >/dev/null 2>&1 &
child=$!
sleep 1
kill -9 $child
wait $child 2>/dev/null
check "a kill leaves no file" test "$(find "$SCRATCH/killed" -type f | wc -l)" = 0

# --- bad input: one line, exit 2, before anything runs
bad() {
  local says=$1
  shift
  compare 2 --out "$SCRATCH/bad" "$@"
  check_contains "$says" "$ERR"
  check "one line" test "$(wc -l <"$ERR")" = 1
  check "nothing printed" test ! -s "$OUT"
  check "no folder" test ! -e "$SCRATCH/bad"
}
sides=(--baseline dense-arrays --patch unsorted)
bad "--baseline and --patch" "${quick[@]}" --patch unsorted
bad "a SCENARIO or --suite NAME" "${sides[@]}"
bad "the nearest is unsorted" "${quick[@]}" --baseline dense-arrays --patch unsortd
bad "--patch: an empty name" "${quick[@]}" --baseline dense-arrays --patch ''
bad "--patch: ./no/such.so: no such file" "${quick[@]}" --baseline dense-arrays --patch ./no/such.so
bad "unknown key" "${quick[@]}" --baseline dense-arrays --patch machine.coers=2
bad "gate:20: 2% has no sign" "${quick[@]}" "${sides[@]}" --gate 'warm.connect_ms <= 2%'
bad "no metric warm.conect_ms; the nearest is warm.connect_ms" "${quick[@]}" "${sides[@]}" --metric warm.conect_ms
bad "--threshold takes a percentage" "${quick[@]}" "${sides[@]}" --threshold 2
bad "--repeat" "${quick[@]}" "${sides[@]}" --repeat 0
bad "--jobs" "${quick[@]}" "${sides[@]}" --jobs 0
bad "no trace" "${quick[@]}" "${sides[@]}" --trace "$SCRATCH/t.jsonl"
bad "no such suite; there is proc-array" "${sides[@]}" --suite proc-aray
bad "named twice" connect-storm connect-storm "${sides[@]}"
bad "both want stdout" "${quick[@]}" "${sides[@]}" --json --markdown
bad "no such scenario" no-such-scenario "${sides[@]}"
mkdir "$SCRATCH/swept"
echo '{}' >"$SCRATCH/swept/manifest.json"
compare 2 "${quick[@]}" "${sides[@]}" --out "$SCRATCH/swept"
check_contains "holds a sweep" "$ERR"

# --- the environment: 4, one line
environment() {
  compare 4 "${quick[@]}" "${sides[@]}" --repeat 1 "$@"
  check "one line: $(cat "$ERR")" test "$(wc -l <"$ERR")" = 1
}
touch "$SCRATCH/file"
environment --out "$SCRATCH/file"
environment --out /proc/no-such-place
environment --junit "$SCRATCH/missing/junit.xml" --quiet
to_full_disk() { "$@" >/dev/full; }
check_status 4 to_full_disk "$STAMPEDE" compare "${quick[@]}" "${sides[@]}" --repeat 1
