#!/bin/bash
# run: the JSON document, the text, JUnit, exit statuses, bad input, disks that are full, an interrupt; and that every
# bundled report comes out as it says.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
small=(connect-storm --set workload.clients=20 --set postgres.max_connections=60)

# --- one JSON document with every member of the contract, in one order; the same numbers as the text has
check_status 0 "$STAMPEDE" run "${small[@]}" --json --set 'checks=[slot-owned-once]' \
  --set 'expect=[{metric: warm.refused, within: [0, 0]}]'
members=$(grep -oE '^  "[a-z_]+"' "$OUT" | tr -d ' "' | tr '\n' ' ')
check "members are: $members" test "$members" = "stampede command scenario seed subject profile verdict checks \
expectations metrics hotspots unexplained events ties steps judged virtual_ms state_hash measured "
check_contains '{"name": "slot-owned-once", "verdict": "not-violated", "step": null}'
check_contains '{"text": "warm.refused within [0, 0]", "met": true, "saw": "0"}'
for metric in connect_ms connect_faults connect_faults_per_backend allprocs_faults disconnect_faults pgxactoff_stores \
  entries_moved entries_moved_out procarray_lock_wait_ms procarray_lock_hold_ms pagetable_kib refused; do
  for scope in first warm 'iteration[2]'; do check_contains "\"$scope.$metric\": "; done
done
check "a hot spot has its seven members" grep -qE '\{"structure": "PGPROC.pgxactoff", "site": "ProcArrayAdd", "faults": [0-9]+, "stores": [0-9]+, "share_of_faults": [0-9.e-]+, "ms": [0-9.]+, "under_lock_ms": [0-9.]+\}' "$OUT"
check_status 0 "$STAMPEDE" run "${small[@]}" --set workload.transactions=5 --set workload.iterations=1 --json
check_contains '"first.tps": '
check_contains '"first.latency_avg_ms": '
check_lacks '"warm.'

# --- text: version, seed, subject and profile on every run; no colours in a file; quiet is quiet
check_status 0 "$STAMPEDE" run "${small[@]}" --seed 18446744073709551615
check_contains "$("$STAMPEDE" --version)  run connect-storm  seed 18446744073709551615  subject model:dense-arrays"
check_contains "simulated, with the costs of profile ramdisk-2026"
check_contains "ProcArrayAdd"
check "no escape codes in a file" bash -c "! grep -q $'\033' '$OUT'"
check_status 0 "$STAMPEDE" run "${small[@]}" --quiet
check "quiet prints nothing" test ! -s "$OUT"
check_status 0 "$STAMPEDE" run "${small[@]}" --repeat 3 --quiet

# --- a large model is judged at a stride, and says so
check_status 0 "$STAMPEDE" run connect-storm --set workload.clients=200 --set workload.iterations=1 \
  --set 'checks=[slot-owned-once]'
check "judged at a stride" grep -qE '^  judged after [0-9]+ of [0-9]+ steps$' "$OUT"
check_status 0 "$STAMPEDE" run "${small[@]}" --set 'checks=[slot-owned-once]'
check_lacks "judged after"

# --- exit statuses
check_status 1 "$STAMPEDE" run "${small[@]}" --set 'expect=[{metric: first.refused, within: [1, 2]}]'
check_contains "NOT MET first.refused within [1, 2] (saw 0)"
broken=("${small[@]}" --set postgres.steps.push_free=skip)
check_status 1 "$STAMPEDE" run "${broken[@]}" --set 'checks=[slot-owned-once]'
check_contains "is lost: on no free list, and no live backend owns it"
check_status 0 "$STAMPEDE" run "${broken[@]}" --set 'expect=[{check: slot-owned-once, verdict: violated}]'
# Too many clients is the server's answer, not the tool's error.
check_status 0 "$STAMPEDE" run "${small[@]}" --set workload.clients=70 --set workload.iterations=1 --json
check_contains '"first.refused": 10'

# --- JUnit: a failure, and what another way judges is skipped
check_status 1 "$STAMPEDE" run "${small[@]}" --quiet --junit "$SCRATCH/junit.xml" --set 'checks=[slot-owned-once]' --set \
  'expect=[{metric: first.refused, within: [1, 2]}, {metric: warm.refused, within: [5, 6], by: [live]}]'
check_contains '<testcase classname="connect-storm" name="slot-owned-once"></testcase>' "$SCRATCH/junit.xml"
check_contains 'name="first.refused within [1, 2]"><failure message="saw 0"/>' "$SCRATCH/junit.xml"
check_contains 'name="warm.refused within [5, 6]"><skipped message=' "$SCRATCH/junit.xml"

# --- bad input: one line, exit 2, nothing on stdout
bad() {
  local says=$1
  shift
  check_status 2 "$STAMPEDE" run "$@"
  check_contains "$says" "$ERR"
  check "one line, and nothing else" test "$(wc -l <"$ERR")-$(wc -c <"$OUT")" = 1-0
}
printf 'scenario: s\nworkload: {kind: pgbench, client: 5}\n' >"$SCRATCH/key.yaml"
bad "key.yaml:2:27: workload.client: unknown key; the nearest is clients" "$SCRATCH/key.yaml"
bad "postgres.variant" connect-storm --set postgres.variant=dense-array
bad "the nearest is connect-storm" connect-strom
bad "no metric" "${small[@]}" --set 'expect=[{metric: first.refusd, within: [0, 0]}]'
bad "warm needs three warm iterations" "${small[@]}" --set workload.iterations=1 \
  --set 'expect=[{metric: warm.refused, within: [0, 0]}]'
bad "a directory" "$SCRATCH"
: >"$SCRATCH/empty.yaml"
bad "empty.yaml:1:1: empty" "$SCRATCH/empty.yaml"
head -c 3000 "$STAMPEDE" >"$SCRATCH/binary.yaml"
bad "binary.yaml:1:" "$SCRATCH/binary.yaml"
bad "usage: stampede run"
bad "Unknown option" "${small[@]}" --frobnicate

# --- an output that cannot be written: exit 4, nothing half-written
mkdir "$SCRATCH/folder"
for where in "$SCRATCH/missing/t.jsonl" "$SCRATCH/folder" /dev/full; do
  check_status 4 "$STAMPEDE" run "${small[@]}" --quiet --trace "$where"
  check_contains "$where" "$ERR"
done
check_status 4 "$STAMPEDE" run "${small[@]}" --quiet --junit /dev/full
check_status 4 bash -c "'$STAMPEDE' run connect-storm --set workload.clients=20 --set workload.iterations=1 >/dev/full"
check "nothing is left in the folder" test -z "$(ls -A "$SCRATCH/folder")"

# --- an interrupt: what was done so far, exit 130, no trace under its name
"$STAMPEDE" run connect-storm --set workload.iterations=1000 --set workload.clients=2000 --json \
  --trace "$SCRATCH/folder/t.jsonl" >"$OUT" 2>"$ERR" &
child=$!
sleep 1
kill -INT $child
wait $child
check "interrupted: status 130" test $? = 130
check_contains '"stopped": "interrupted"'
check_contains '"verdict": "incomplete"'

# --- every bundled report of connect storms and slots: its expectations are met
for file in sim/scenarios/s18-* sim/scenarios/s3[2346]-*; do
  check_status 0 "$STAMPEDE" run "$(basename "$file" .yaml)"
  check_lacks "not judged"
done
