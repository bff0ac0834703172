#!/bin/bash
# The same scenario and seed give the same bytes: whatever compiler and optimisation built the program, from run to run,
# in any locale and time zone, and with any number of jobs.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
set -- connect-storm --set workload.clients=200 --set postgres.max_connections=400

# outcome NAME PROGRAM [NAME=VALUE...]: one run's trace and JSON, the JSON without "measured" (the tool's own speed).
outcome() {
  local name=$1 program=$2
  shift 2
  check_status 0 env "$@" "$program" run "${run[@]}" --trace "$SCRATCH/$name.jsonl" --json
  without_measured <"$OUT" >"$SCRATCH/$name.json"
}
run=("$@")

# compared NAME PROGRAM: intervals, which are drawn and summed in floating point.
compared() {
  check_status 0 "$2" compare "${run[@]}" --baseline dense-arrays --patch split-pgxactoff --repeat 7 --json
  without_measured <"$OUT" >"$SCRATCH/compare-$1.json"
  check_same "$SCRATCH/compare-first.json" "$SCRATCH/compare-$1.json"
}

# `measured` is an object of plain numbers and texts, so it ends at the first closing brace.
without_measured() { tr -d '\n' | sed -E 's/,? *"measured" *: *\{[^}]*\}//'; }

same_as_first() {
  check_same "$SCRATCH/first.jsonl" "$SCRATCH/$1.jsonl"
  check_same "$SCRATCH/first.json" "$SCRATCH/$1.json"
}

outcome first "$STAMPEDE"
check "the trace holds steps" test "$(wc -l <"$SCRATCH/first.jsonl")" -gt 200
check_contains '"warm.connect_ms"' "$SCRATCH/first.json"
check_lacks '"measured"' "$SCRATCH/first.json"
outcome again "$STAMPEDE"
same_as_first again
compared first "$STAMPEDE"
check_contains '"level": 0.95' "$SCRATCH/compare-first.json"

while read -r name compiler optimisation; do
  folder=build-det-$name
  check_status 0 make --no-print-directory -j2 BUILD="$folder" CC="$compiler" OPT="$optimisation" all
  outcome "$name" "$PWD/$folder/stampede"
  same_as_first "$name"
  compared "$name" "$PWD/$folder/stampede"
done <<'END'
gcc-O0 gcc -O0
gcc-O3 gcc -O3
clang-O2 clang -O2
END

# German writes 1,5 for 1.5 and 1.000 for a thousand; the time zone is east of Greenwich by an odd amount.
check_status 0 localedef -i de_DE -f UTF-8 "$SCRATCH/de_DE.UTF-8"
check "the German locale works" test "$(LOCPATH=$SCRATCH LC_ALL=de_DE.UTF-8 locale decimal_point)" = ,
outcome german "$STAMPEDE" LOCPATH="$SCRATCH" LC_ALL=de_DE.UTF-8 TZ=XYZ-5:45
same_as_first german

for jobs in 1 2; do
  check_status 0 "$STAMPEDE" sweep connect-storm --set workload.clients=16,32,64 --set postgres.max_connections=200 \
    --variant dense-arrays,split-pgxactoff --jobs $jobs --out "$SCRATCH/sweep$jobs"
done
check "the sweep has six points" test "$(grep -c . "$SCRATCH/sweep1/results.csv")" = 7
check_same "$SCRATCH/sweep1/results.csv" "$SCRATCH/sweep2/results.csv"
