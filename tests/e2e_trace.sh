#!/bin/bash
# What is done with a trace: replay confirms it and finds what was altered, diff says in words where two part, viz draws
# every view in every format; and each check has a mutant that it catches, whose trace replays and whose picture shows
# the broken condition.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
draws_with_graphviz
small=(connect-storm --set workload.clients=20 --set workload.iterations=2 --set postgres.max_connections=60)
trace=$SCRATCH/t.jsonl
check_status 0 "$STAMPEDE" run "${small[@]}" --trace "$trace" --hash-every 100 --quiet
steps=$(($(wc -l <"$trace") - 2))

# --- replay
check_status 0 "$STAMPEDE" replay "$trace"
check_contains "reproduced: $steps steps, verdict pass"
check_status 0 "$STAMPEDE" replay "$trace" --json --junit "$SCRATCH/junit.xml"
check_contains '"command": "run"'
check_contains "\"steps\": $steps,"
check_contains '<testsuite name="connect-storm">' "$SCRATCH/junit.xml"
check_status 0 "$STAMPEDE" replay "$trace" --quiet --trace "$SCRATCH/again.jsonl"
check_same "$trace" "$SCRATCH/again.jsonl"
check_status 2 "$STAMPEDE" replay "$trace" --seed 2
# A trace stands by itself: no scenario, preset or profile is looked for.
check_status 0 env STAMPEDE_DATA="$SCRATCH" "$STAMPEDE" replay "$trace" --quiet

# altered NAME SED WORDS: what a changed trace is told apart by, exit 5
altered() {
  sed -E "$2" "$trace" >"$SCRATCH/$1.jsonl"
  check "$1: the trace was changed" bash -c "! cmp -s '$trace' '$SCRATCH/$1.jsonl'"
  check_status 5 "$STAMPEDE" replay "$SCRATCH/$1.jsonl"
  check_contains "$3" "$ERR"
}
altered argument '/"i":50,/s/"t_ns":[0-9]+/"t_ns":7/' 'step 50, t_ns: recorded 7, now '
altered hash '/"i":99,/s/"hash":"[0-9a-f]*"/"hash":"00000000000000000000000000000001"/' 'step 99, hash'
altered choice 's/"took":[0-9]+/"took":0/' 'recorded'
altered seed '1s/"seed":1,/"seed":2,/' 'header, seed: recorded 2, now 1'
altered preset '1s/preset: postgres-19/&  /' 'header, the text of preset postgres-19: its hash is '
altered metric '/"end":/s/"first.connect_faults":[0-9]+/"first.connect_faults":1/' 'first.connect_faults: recorded 1, now '
altered member '/"i":50,/s/"do":/"did":/' 'member'
altered gap '/"i":50,/d' 'step 51 where step 50 should be'
head -n 60 "$trace" >"$SCRATCH/cut.jsonl"
check_status 2 "$STAMPEDE" replay "$SCRATCH/cut.jsonl"
check_contains "59 steps are reproduced" "$ERR"
sed '1s/"stampede_trace":1/"stampede_trace":2/' "$trace" >"$SCRATCH/version.jsonl"
check_status 2 "$STAMPEDE" replay "$SCRATCH/version.jsonl"
check_contains "format version 2" "$ERR"
check_status 2 "$STAMPEDE" replay tests/e2e_trace.sh

# --- diff
check_status 0 "$STAMPEDE" diff "$trace" "$SCRATCH/again.jsonl"
check_status 0 "$STAMPEDE" run "${small[@]}" --seed 2 --trace "$SCRATCH/other.jsonl" --quiet
check_status 1 "$STAMPEDE" diff "$trace" "$SCRATCH/other.jsonl"
check_contains "seed is 1 in $trace, 2 in $SCRATCH/other.jsonl"
check_contains "step "
check_status 2 "$STAMPEDE" diff "$trace" "$SCRATCH/missing.jsonl"

# --- viz: every view, every format
draws() {
  local file=$SCRATCH/picture.$1
  shift
  rm -f "$file"
  check_status 0 "$STAMPEDE" viz "$trace" "$@" -o "$file"
  check "$* drew something" test -s "$file"
}
for format in svg png pdf; do
  draws $format --view memory
  draws $format --view states
done
draws dot --view states --steps 5
for format in svg png pdf dot; do draws $format --view sequence --from 20 --to 60; done
check_status 2 "$STAMPEDE" viz "$trace" --view sequence --from 9 --to 3
check_status 2 "$STAMPEDE" viz "$trace" --view memory --from 3
check_status 4 "$STAMPEDE" viz "$trace" --view sequence -o "$SCRATCH/missing/s.svg"

# --- a counterexample of the pooler: the sequence chart says who gets the cancel; a small model has its state graph drawn
stale=$SCRATCH/stale.jsonl
check_status 0 "$STAMPEDE" check s01-stale-cancel-bad --trace "$stale" --quiet
check_status 0 "$STAMPEDE" viz "$stale" --view sequence -o "$SCRATCH/stale.svg"
sed -i 's/&#45;/-/g' "$SCRATCH/stale.svg"
check_contains 'cancel-hits-its-query is violated' "$SCRATCH/stale.svg"
for lane in 'client a' 'client b' pooler 'cancel 0' 'server 0'; do check_contains ">$lane</text>" "$SCRATCH/stale.svg"; done
check_contains 'SIGINT to pid 1000' "$SCRATCH/stale.svg"
check "the chart is no wider than a page" awk -F'"' '/^<svg width/ { exit !($2 + 0 <= 1050) }' "$SCRATCH/stale.svg"
check_status 0 "$STAMPEDE" viz "$stale" --format mermaid -o -
check_contains 'p5->>p6: 22 SIGINT to pid 1000 outcome=MISROUTE'
check_status 0 "$STAMPEDE" check xid-race-bad --view space -o "$SCRATCH/space.svg"
check_contains 'wrote '
check_contains 'class="node broken"' "$SCRATCH/space.svg"
check_status 2 "$STAMPEDE" check s01-stale-cancel-bad --view space -o "$SCRATCH/never.svg"
check_contains 'has more than 120 states' "$ERR"
check "nothing was left behind" test ! -e "$SCRATCH/never.svg"
check_status 2 "$STAMPEDE" check xid-race-bad --view states
check_status 4 "$STAMPEDE" check xid-race-bad --view space -o "$SCRATCH/missing/s.svg"
check_status 0 "$STAMPEDE" check s01-stale-cancel-good
check_contains 'nothing is broken; for example'
check_contains 'never: '
draws json --format perfetto
draws mmd --format mermaid
check_status 2 "$STAMPEDE" viz "$trace" --format mermaid --from 0 --to 599
check_contains "steps 0 to 599 are more than the 500 that one picture takes; choose fewer with --from and --to" "$ERR"
check_status 2 "$STAMPEDE" viz "$trace" --view plot
from_stdin() { "$STAMPEDE" viz - --view states -o "$SCRATCH/stdin.svg" <"$1"; }
check_status 0 from_stdin "$trace"
check_status 0 "$STAMPEDE" viz "$trace" --view states -o "$SCRATCH/file.svg"
check_same "$SCRATCH/stdin.svg" "$SCRATCH/file.svg"
check_status 2 from_stdin /dev/null
check_status 2 "$STAMPEDE" viz "$trace" --view memory --format dot
check_status 4 "$STAMPEDE" viz "$trace" --view memory -o "$SCRATCH/missing/m.svg"

# --- a mutant for each check: caught, replayed, drawn
mutant() {
  local step=$1 check=$2 says=$3 broken=$SCRATCH/$2.jsonl
  check_status 1 "$STAMPEDE" run connect-storm --set workload.clients=3 --set workload.threads=1 \
    --set workload.iterations=2 --set postgres.max_connections=5 --set postgres.background='{walsenders: 1}' \
    --set "postgres.steps.$step" --set "checks=[$check]" --trace "$broken"
  check_contains "$says"
  check_status 0 "$STAMPEDE" replay "$broken"
  check_contains "verdict fail"
  check_status 0 "$STAMPEDE" viz "$broken" --view states -o "$SCRATCH/$check.svg"
  sed -i 's/&#45;/-/g' "$SCRATCH/$check.svg" # Graphviz writes hyphens so
  check_contains "$check is violated" "$SCRATCH/$check.svg"
  check "$check: the broken condition is red" grep -qi '#B3261E' "$SCRATCH/$check.svg"
  check_status 0 "$STAMPEDE" viz "$broken" --format mermaid -o "$SCRATCH/$check.mmd"
}
mutant search=skip proc-array-sorted "not above pgprocnos"
mutant store_offsets=skip pgxactoff-matches "pgxactoff["
mutant push_free=twice slot-owned-once "is on a free list twice"
mutant move_status=skip dense-arrays-agree "statusFlags"
mutant release_XidGenLock=skip locks-released "holds XidGenLock while it waits"
