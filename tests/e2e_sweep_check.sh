#!/bin/bash
# sweep --job check: verdicts of policies as a table; the same bytes with any number of jobs and after a kill; a limit is
# exit 3, a contradiction a dash, a wrong word exit 2; a point's file that is another's is refused.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

policies=(--set 'pooler.fence=none,unlink_unforwarded,hold_until_eof,{hold_until_eof_with_timeout: 10s}'
  --set 'pooler.lookup=at_arrival_copy,at_arrival_link' --set pooler.ack=wait_eof
  --set 'servers[0].signal=prompt,delayed')
without_measured() { sed '/"measured"/d' "$1"; }
same_results() {
  for file in results.csv results.md; do check_same "$SCRATCH/$1/$file" "$SCRATCH/$2/$file"; done
  check_same <(without_measured "$SCRATCH/$1/results.json") <(without_measured "$SCRATCH/$2/results.json")
}

# --- the table: what each of these points says alone is told by facts/poolers.md C.6 and by check, below
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/one"
check_contains "14 of 16 points, 2 contradict themselves"
table=$SCRATCH/one/results.md
check_contains "| fence | lookup | prompt | delayed |" "$table"
check_contains "| none | at_arrival_copy | violated in 23 steps [1] | violated in 24 steps [1] |" "$table"
check_contains "| hold_until_eof | at_arrival_copy | holds | violated in 25 steps [1] |" "$table"
check_contains "| unlink_unforwarded | at_arrival_copy | - [2] | - [2] |" "$table"
check_contains "- [2] pool s: fence: unlink_unforwarded needs lookup: at_arrival_link" "$table"
check "a point's verdict and steps are those of check" test \
  "$("$STAMPEDE" check s01-stale-cancel-bad --set pooler.lookup=at_arrival_link --set pooler.ack=wait_eof \
    --set 'servers[0].signal=delayed' --set pooler.fence=unlink_unforwarded |
    sed -n 's/.*cancel-hits-its-query *violated in \([0-9]*\) steps.*/\1/p')" = \
  "$(sed -n 's/^| unlink_unforwarded | at_arrival_link | [^|]* | violated in \([0-9]*\) steps.*/\1/p' "$table")"
check_contains '"verdict": "refused", "why": "pool s: fence: unlink_unforwarded needs' "$SCRATCH/one/results.json"
check_contains '{"name": "cancel-hits-its-query", "verdict": "holds", "steps": null}' "$SCRATCH/one/results.json"
check_contains "fence,lookup,signal,variant,seed,verdict,cancel-hits-its-query,cancel-hits-its-query.steps," \
  "$SCRATCH/one/results.csv"

# --- any number of jobs, killed at several instants and gone on with: the same bytes
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/two" --jobs 3
same_results one two
for attempt in 1 2 3 4; do
  "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/killed" --resume \
    --jobs 2 --quiet >/dev/null 2>&1 &
  child=$!
  sleep "0.$((attempt * 5))"
  kill -9 $child 2>/dev/null
  wait $child 2>/dev/null
done
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/killed" --resume
same_results one killed

# --- a folder is of one job with its options; a file is of one point
check_status 2 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --out "$SCRATCH/one" --resume --max-states 50
check_contains 'holds another sweep; job: "check" there, "check --max-states 50" now' "$ERR"
check_status 2 "$STAMPEDE" sweep s01-stale-cancel-bad "${policies[@]}" --out "$SCRATCH/one" --resume
cp "$SCRATCH/one/points/0000.json" "$SCRATCH/one/points/0002.json"
check_status 2 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/one" --resume
check_contains '0002.json: this is the point "fence=none lookup=at_arrival_copy signal=prompt pgdog-0.1.54 seed 1 of sweep ' "$ERR"
check "one line" test "$(wc -l <"$ERR")" = 1
rm "$SCRATCH/one/points/0002.json"
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-bad --job check "${policies[@]}" --across signal --out "$SCRATCH/one" --resume
same_results one two

# --- limits: exit 3, and the table says which; bounds of a strategy are no limits
check_status 3 "$STAMPEDE" sweep s01-stale-cancel-bad s17-pid-reuse-good --job check --max-states 6000
check_contains "s01-stale-cancel-bad  violated in 23 steps [1]"
check_contains "s17-pid-reuse-good    not violated [2]"
check_contains "[2] the limit of states"
check_contains "incomplete  2 of 2 points, 1 incomplete"
check_status 3 "$STAMPEDE" sweep s01-stale-cancel-good --job check --max-memory 64KiB
check_contains "the limit of memory"
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-good --job check --strategy random --walks 20
check_contains "all walks were made"
check_status 0 "$STAMPEDE" sweep s01-stale-cancel-bad --job check --set 'clients[1].count=1:2:+1' --json
check_contains '"x": {"key": "clients[1].count"'

# --- bad input
bad() {
  local says=$1
  shift
  check_status 2 "$STAMPEDE" sweep s01-stale-cancel-bad --out "$SCRATCH/bad" "$@"
  check_contains "$says" "$ERR"
  check "one line" test "$(wc -l <"$ERR")" = 1
  check "no folder" test ! -e "$SCRATCH/bad"
}
bad "fense" --job check --set pooler.fense=none,hold_until_eof
bad "a copied key has no link" --job check --set pooler.fence=unlink_unforwarded --set pooler.pool_size=1,2
bad "limits are 0" --job check --max-states -1
bad "there are untimed, timed" --job check --time soon
bad "--metric and --knee are for --job run" --job check --metric cancel.hit
bad "--junit is for --job run" --job check --junit "$SCRATCH/j.xml"
bad "is named twice" --job check s01-stale-cancel-bad
bad "no such scenario" --job check s01-stale-cancel-bat
