#!/bin/bash
# e2e_calibrate.sh - calibrate fit as a user meets it: a small table, the profile it writes, bad input.
# shellcheck source=tests/e2e.sh
. "$(dirname "$0")/e2e.sh"

cat >"$SCRATCH/small.yaml" <<END
scenario: small
machine: {profile: assumed}
postgres: {version: 16, max_connections: 128, variant: dense-arrays}
workload: {kind: pgbench, clients: 64, threads: 6, transactions: 0}
published:
  table: connect-storm.csv
  series:
    - {metric: first.connect_ms, column: ms, spread: pm}
END
printf 'clients,ms,pm\n16,20,1\n32,38,1\n64,75,1\n96,300,1\n' >"$SCRATCH/small.csv"
fit=("$STAMPEDE" calibrate fit --scenario "$SCRATCH/small.yaml" --table "$SCRATCH/small.csv" --global 20 --evals 20 --seeds 1
  --free backend.startup=1ms:20ms --leave-out 96/ms)

check_status 0 "${fit[@]}" -o "$SCRATCH/mine.yaml"
check_contains 'worst counted cell'
check_contains 'not counted'
check_contains 'from: fitted' "$SCRATCH/mine.yaml"
check_contains 'profile: mine' "$SCRATCH/mine.yaml"
check_contains '--leave-out 96/ms' "$SCRATCH/mine.yaml"
check_status 0 "${fit[@]}" --jobs 1 -o "$SCRATCH/mine.yaml.1"
check "the profile does not depend on --jobs" cmp <(grep -v '^# Made\|^profile' "$SCRATCH/mine.yaml") <(grep -v '^# Made\|^profile' "$SCRATCH/mine.yaml.1")

check_contains 'ended at its limit (--evals 20)'
check_status 0 "${fit[@]}" --json
check "cells, constants, what ended the search" jq -e '(.cells | length) == 4 and .constants[0].key == "backend.startup" and
  .constants[0].ns > 1e6 and .local_search == "ended at its limit" and (.worst | type) == "number"' "$OUT"
check "the same value as in the profile" grep -q "startup: {value: $(jq -r '.constants[0].ns / 1e6 | tostring' "$OUT")" "$SCRATCH/mine.yaml"

# Refused before the search, not after it: a search of a million simulations would take hours.
endless=("${fit[@]}" --global 1000000 --evals 1000000)
check_status 2 timeout 60 "${endless[@]}" --predict workload.clientz=3
check_contains 'workload.clientz' "$ERR"
check_status 4 timeout 60 "${endless[@]}" -o "$SCRATCH/no/such/folder/mine.yaml"

# The profile is one that a scenario can stand on.
mkdir -p "$SCRATCH/assets/profiles" "$SCRATCH/assets/presets"
cp "$SCRATCH/mine.yaml" "$SCRATCH/assets/profiles/"
check_status 0 env STAMPEDE_DATA="$SCRATCH/assets" "$STAMPEDE" run "$SCRATCH/small.yaml" --set machine.profile=mine
check_contains 'profile mine'

# A profile is called like its file: what nothing could name afterwards is refused before the search.
for name in "it's mine" '#mine' 'a: b' -mine .yaml ''; do
  check_status 2 timeout 60 "${endless[@]}" -o "$SCRATCH/$name.yaml"
  check_contains 'called like its file' "$ERR"
done
check_status 0 "${fit[@]}" --global 0 --evals 1 -o -
check_contains 'profile: fitted'

check_status 2 "${fit[@]}" --free memory.fault_write=2us:1us
check_contains 'below the upper' "$ERR"
check_status 2 "${fit[@]}" --free memory.fault_wrote=1us:2us
check_contains 'no such cost' "$ERR"
check_status 2 "${fit[@]}" --fix backend.startup=1ms
check_contains 'free as well' "$ERR"
check_status 2 "${fit[@]}" --leave-out 97/ms
check_contains 'no such cell' "$ERR"
check_status 2 "$STAMPEDE" calibrate fit
check_status 2 "$STAMPEDE" calibrate machines
check_status 2 "$STAMPEDE" calibrate fit --scenario no-such-scenario
printf 'clients,pm\n16,1\n' >"$SCRATCH/small.csv"
check_status 2 "${fit[@]}"
check_contains 'no such column' "$ERR"
for bad in '16,20,-1 plus.or.minus' '16,20,1\n16,21,1 another.line' '16,nan,1 not.a.number' '16,20 more.or.fewer' '16,-20,1 above.0'; do
  printf 'clients,ms,pm\n%b\n' "${bad% *}" >"$SCRATCH/small.csv"
  check_status 2 "${fit[@]}"
  check "says: ${bad#* }" grep -q "${bad#* }" "$ERR"
done
printf 'clients,ms,ms\n16,20,1\n' >"$SCRATCH/small.csv"
check_status 2 "${fit[@]}"
check_contains 'two columns of one name: ms' "$ERR"
printf 'clients,ms,pm\n16,20ms,1\n' >"$SCRATCH/small.csv"
check_status 2 "${fit[@]}"
check_contains 'small.csv:2: not a number' "$ERR"
printf 'clients,ms,pm\n16,20,1\n96,300,1\n' >"$SCRATCH/small.csv"
check_status 4 "${fit[@]}" -o "$SCRATCH/no/such/folder/mine.yaml"
