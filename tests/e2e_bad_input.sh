#!/bin/bash
# What a user can do wrong: every bad scenario is one line and exit 2; extreme values end well or are refused; a document
# has one place; streams that are closed or full, and limits of the shell, give exit 4 and nothing half-written; what was
# interrupted replays as far as it goes.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
small=(connect-storm --set workload.clients=20 --set postgres.max_connections=60)

# refused STATUS SAYS ARGUMENT...: that status, one line on stderr that has SAYS, nothing on stdout.
refused() {
  local status=$1 says=$2
  shift 2
  check_status "$status" "$STAMPEDE" "$@"
  check_contains "$says" "$ERR"
  check "one line, and nothing else: $*" test "$(wc -l <"$ERR")-$(wc -c <"$OUT")" = 1-0
}

# --- every file of tests/bad, by the whole program
for file in tests/bad/*.yaml; do refused 2 "$file" run "$file"; done

# --- what is wrong only together with other keys is told of the line and key that say it
cat >"$SCRATCH/together.yaml" <<'END'
scenario: s
postgres:
  max_connections: 20
  background: {bgworkers: 9}
workload: {kind: pgbench}
END
refused 2 "together.yaml:4:27: postgres.background.bgworkers: max_worker_processes is 8" run "$SCRATCH/together.yaml"
refused 2 "pg19-procarray.so; " run "${small[@]}" --set subject=pg19-procarray
refused 2 "postgres.steps.release_XidGenLock: cannot be done twice; skip is possible" run "${small[@]}" \
  --set postgres.steps.release_XidGenLock=twice
refused 2 "postgres.pgproc.links: 900: its 16 bytes must lie within pgproc.size, 896" run "${small[@]}" \
  --set postgres.pgproc.links=900B

refused 2 "--set machine.tlb={l1: 8, l2: 4}: machine.tlb: the first level" run "${small[@]}" --set 'machine.tlb={l1: 8, l2: 4}'
check_status 0 "$STAMPEDE" run "${small[@]}" --quiet --set postgres.max_worker_processes=0

# --- a server whose steps deviate ends as it ends, but the program does not crash: more backends than slots included
printf 'scenario: mutants\npostgres: {max_connections: 100}\nworkload: {kind: storm, clients: 50}\n' \
  >"$SCRATCH/mutants.yaml"
for step in $("$STAMPEDE" list keys | awk -F'[. ]' '/^postgres\.steps\./ { print $3 }'); do
  for how in skip twice; do
    [[ $how == twice && $step == release_* ]] && continue
    for version in 14 19; do
      "$STAMPEDE" run connect-storm --quiet --set workload.clients=30 --set postgres.max_connections=5 \
        --set workload.transactions=2 --set postgres.superuser_reserved_connections=0 --set "postgres.version=$version" \
        --set "postgres.steps.$step=$how" >"$OUT" 2>"$ERR"
      status=$?
      check "$step $how, version $version: status $status" test $status -le 1
      "$STAMPEDE" run "$SCRATCH/mutants.yaml" --quiet --set "postgres.version=$version" \
        --set "postgres.steps.$step=$how" >"$OUT" 2>"$ERR"
      status=$?
      check "$step $how, version $version, storm: status $status" test $status -le 1
    done
  done
done

# --- a document has one place
refused 2 "--trace - and --json both want stdout" run "${small[@]}" --trace /dev/stdout --json
refused 2 "--junit - and --json both want stdout" run "${small[@]}" --junit - --json
refused 2 "--trace - and --junit - both want stdout" run "${small[@]}" --junit - --trace -
refused 2 "give each its own file" run "${small[@]}" --junit "$SCRATCH/x" --trace "$SCRATCH/x"
refused 2 "--trace needs the name of a file" run "${small[@]}" --trace ''
check_status 0 "$STAMPEDE" run "${small[@]}" --quiet --trace "$SCRATCH/x.jsonl"
refused 4 "a file without a name" viz "$SCRATCH/x.jsonl" --format perfetto -o ''
check_status 0 bash -c "set -o pipefail; '$STAMPEDE' run ${small[*]} --trace - | '$STAMPEDE' replay -"
check_contains reproduced

# --- closed and full streams
check_status 4 bash -c "'$STAMPEDE' run ${small[*]} --json --trace '$SCRATCH/closed.jsonl' >&-"
check "stdout did not go into the trace" test "$(tail -n 1 "$SCRATCH/closed.jsonl" | cut -c1-7)" = '{"end":'
for command in --version --help "run --help" "replay $SCRATCH/closed.jsonl" "diff $SCRATCH/closed.jsonl $SCRATCH/closed.jsonl"; do
  check_status 4 bash -c "'$STAMPEDE' $command >/dev/full"
  check_contains "cannot write" "$ERR"
done

# --- limits of the shell
mkdir "$SCRATCH/limits"
check_status 4 bash -c "ulimit -f 10; '$STAMPEDE' run ${small[*]} --quiet --trace '$SCRATCH/limits/t.jsonl'"
check_contains "File too large" "$ERR"
check "nothing is left of it" test -z "$(ls -A "$SCRATCH/limits")"

# --- words of the command line are UTF-8 in any locale
check_status 0 env LC_ALL=C "$STAMPEDE" run "${small[@]}" --set about=Überlast

# --- numbers that no clock can hold: the run ends and says so, or it is told what the largest is
all=()
for key in $("$STAMPEDE" list keys | awk '/^costs\.[a-z]+\./ { print $1 }'); do all+=(--set "$key=106d"); done
check "there are many costs" test ${#all[@]} -gt 60
check_status 3 "$STAMPEDE" run "${small[@]}" "${all[@]}"
check_contains "the clock is at its end"
check_status 3 "$STAMPEDE" run "${small[@]}" "${all[@]}" --set machine.cores=1 --set machine.quantum=none
check_status 3 "$STAMPEDE" run "${small[@]}" --set workload.iterations=100 --set costs.memory.fault_write=106d \
  --set 'expect=[{metric: "iteration[100].refused", within: [0, 0]}]' --json
check_contains '"verdict": "incomplete"'
printf 'scenario: storm\nworkload: {kind: storm, clients: 20}\n' >"$SCRATCH/storm.yaml"
for hold in '{exp: 106751d}' '{uniform: [0s, 106751d]}' 106751d 0s; do
  for arrive in '{poisson: 1/min}' '{every: 106751d}' '{burst: 106751d}' '{burst: 0s}' '{poisson: 1000000000000/s}'; do
    "$STAMPEDE" run "$SCRATCH/storm.yaml" --quiet --set "workload.hold=$hold" --set "workload.arrive=$arrive" 2>"$ERR"
    status=$?
    check "hold $hold, arrive $arrive: status $status" test $status = 0 -o $status = 3
  done
done

# --- `end` before what is expected: not judged, exit 3
check_status 3 "$STAMPEDE" run "${small[@]}" --set end=1ms --set 'expect=[{metric: first.connect_ms, within: [0, 1]}]'
check_contains "not judged first.connect_ms"

# --- an interrupt: also between two cuts of a quantum, also in a second run; the trace replays as far as it goes
interrupted() {
  local seconds=$1
  shift
  timeout --preserve-status -s INT -k 10 "$seconds" "$STAMPEDE" "$@" >"$OUT" 2>"$ERR"
  local status=$?
  check "interrupted: status $status: $*" test $status = 130
}
interrupted 0.5 run "${small[@]}" --set machine.cores=1 --set machine.quantum=1us --set costs.backend.startup=106d
interrupted 1 run "${small[@]}" --repeat 1000000
interrupted 1 run connect-storm --quiet --trace "$SCRATCH/interrupted.jsonl"
check_status 0 "$STAMPEDE" replay "$SCRATCH/interrupted.jsonl"
check_contains "verdict incomplete"

# --- an exploration of more than fits: words where a run would take ranges, a limit where a table is full
check_status 3 "$STAMPEDE" check "$SCRATCH/storm.yaml" --quiet --max-states 20 --set postgres.max_connections=1000
check_status 3 "$STAMPEDE" check "$SCRATCH/storm.yaml" --quiet --max-states 20 --set machine.touch=ranges
printf 'scenario: many\nservers: [{name: s}]\npooler: {preset: ideal}\nclients: [{name: a, count: 1000, script: [connect]}]\n' \
  >"$SCRATCH/many.yaml"
check_status 3 "$STAMPEDE" check "$SCRATCH/many.yaml" --quiet --max-states 20 --time timed
check_contains "take fewer clients" "$ERR"

# --- a sweep in which nothing costs anything, or in which one point is 0, is no error; there is nothing to draw, or less
printf 'scenario: free\nworkload: {kind: pgbench}\n' >"$SCRATCH/free.yaml"
check_status 0 "$STAMPEDE" sweep "$SCRATCH/free.yaml" --set workload.clients=1,2,3 --quiet --out "$SCRATCH/free"
check "no plot of zeroes" test ! -e "$SCRATCH/free/plot.svg" -a -s "$SCRATCH/free/results.csv"
check_status 0 "$STAMPEDE" sweep "$SCRATCH/free.yaml" --set workload.clients=20,97,120 --metric first.refused --quiet \
  --out "$SCRATCH/some"
check_contains "2 points at 0 left out" "$SCRATCH/some/plot.svg"
refused 2 "there is no point to plot" viz "$SCRATCH/free" -o "$SCRATCH/free/plot.svg"
