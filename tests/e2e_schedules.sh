#!/bin/bash
# e2e_schedules.sh - check of scenarios whose processes run a subject's code: bugs found with their schedules, mended
# versions exhausted, each strategy, the same answer each time, what makes no sense together.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
draws_with_graphviz

# S37: the slot comes back twice after some interleaving of two processes, and never where it is decided under the lock.
check_status 0 "$STAMPEDE" check s37-double-return-bad
check_contains 'slot 0 is on the free list twice'
check_contains 'counterexample 2:'
check_contains 'lock-group.c:'
cp "$OUT" "$SCRATCH/first"
check_status 0 "$STAMPEDE" check s37-double-return-bad
check_same <(grep -v 'schedules/s' "$SCRATCH/first") <(grep -v 'schedules/s' "$OUT")
check_status 0 "$STAMPEDE" check s37-double-return-good
check_contains 'every order was tried'
check_contains ' 0 redundant'
check_status 0 "$STAMPEDE" check s37-lost-slot-bad

# 84b9d6bcea: a slot is published before its latch is given up; the next owner finds it owned.
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-bad
check_contains 'latch already owned'
check_contains 'counterexample 1: 1 preemptions'
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-good
check_contains 'every order was tried'

# Any number of processes searches with the same answer.
check_status 0 "$STAMPEDE" check s37-double-return-good --json
cp "$OUT" "$SCRATCH/one"
check_status 0 "$STAMPEDE" check s37-double-return-good --json --jobs 3
check_same <(grep -v measured "$SCRATCH/one") <(grep -v measured "$OUT")
check_status 0 "$STAMPEDE" check s37-double-return-bad --jobs 2
check_same <(grep -v 'schedules/s' "$SCRATCH/first") <(grep -v 'schedules/s' "$OUT")

# The others look at less, and say so.
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-bad --strategy random --walks 2000
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-bad --strategy pct --walks 2000 --changes 1
check_contains 'each schedule finds a bug of depth 2 with a probability of at least'
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-bad --strategy dfs --preemptions 1
check_status 3 "$STAMPEDE" check bug-84b9d6bcea-bad --strategy dfs --preemptions 0
check_contains 'every order within the bound was tried'
check_status 0 "$STAMPEDE" check bug-84b9d6bcea-bad --json
check_contains '"strategy": "dpor"'

refused() {
  check_status 2 "$STAMPEDE" check "${@:2}"
  check_contains "$1" "$ERR"
}
refused 'there are dpor, dfs, random, pct' bug-84b9d6bcea-bad --strategy bfs
refused '--store' bug-84b9d6bcea-bad --store full
refused '--preemptions and --delays are for --strategy dfs' bug-84b9d6bcea-bad --preemptions 2
refused '--changes is for --strategy pct' bug-84b9d6bcea-bad --changes 2
refused '--bits is for --store bitstate' bug-84b9d6bcea-bad --bits 12
refused '--max-time takes up to 1e9 seconds' bug-84b9d6bcea-bad --max-time nan
refused '--walks is for --strategy random and pct' bug-84b9d6bcea-bad --walks 5
refused 'limits are 0 (none) or more' bug-84b9d6bcea-bad --max-schedules -1
refused 'any order may come' bug-84b9d6bcea-bad --time timed
refused 'whose processes run' s01-stale-cancel-good --strategy dpor

# What was covered, and what may be left.
check_status 3 "$STAMPEDE" check s37-double-return-good --max-schedules 3000
check_contains 'of the tree was gone through, which has about'
check_status 3 "$STAMPEDE" check s37-double-return-good --strategy random --walks 300
check_contains 'the next schedule would be of a new class'
check_status 0 "$STAMPEDE" check s37-double-return-good --json
check_contains '"coverage": {"classes": 37396'
check "all of the tree, as large as it is, and where nobody was preempted: $(jq -c .coverage "$OUT")" jq -e '.coverage |
  .part_of_the_tree == 1 and .schedules_estimated == 37396 and .lines > 0 and (.never_preempted | length) < .lines' "$OUT"
check_status 0 "$STAMPEDE" check s37-double-return-good
check_contains "coverage: 37396 classes of schedules; $(jq -r '"\(.coverage.lines) lines where a process could be preempted, \(.coverage.never_preempted | length) never"' "$SCRATCH/one")"
check_status 3 "$STAMPEDE" check s37-double-return-good --strategy random --walks 300 --json
check "a chance, and no part of a tree: $(jq -c .coverage "$OUT")" jq -e \
  '.coverage | .chance_of_a_new_class > 0 and .chance_of_a_new_class <= 1 and (has("part_of_the_tree") | not)' "$OUT"

# A counterexample is a trace: it is made again, and differs where it was altered; another subject's is refused. A second
# finding's stands beside the first's. Its chart has a lane for each process.
check_status 0 "$STAMPEDE" check s37-double-return-bad --trace "$SCRATCH/t.jsonl" --junit "$SCRATCH/t.xml"
check_contains "trace: $SCRATCH/t.jsonl.2"
check_contains '<testsuite' "$SCRATCH/t.xml"
for trace in t.jsonl t.jsonl.2; do
  check_status 0 "$STAMPEDE" replay "$SCRATCH/$trace" --trace "$SCRATCH/again.jsonl"
  check_contains 'reproduced: '
  check_same "$SCRATCH/$trace" "$SCRATCH/again.jsonl"
done
check_contains 'verdict":"violated' "$SCRATCH/t.jsonl"
check_contains 'holds group lock' "$SCRATCH/t.jsonl"
check_status 0 "$STAMPEDE" viz "$SCRATCH/t.jsonl" --view sequence -o "$SCRATCH/t.svg"
for words in leader follower 'holds group lock' 'at=leave' 'is violated'; do check_contains "$words" "$SCRATCH/t.svg"; done
# The first access that is another: the step after which somebody else went on.
sed '0,/"took":1/s/"took":1/"took":0/' "$SCRATCH/t.jsonl" >"$SCRATCH/other.jsonl"
check_status 5 "$STAMPEDE" replay "$SCRATCH/other.jsonl"
check "which step, and what it was: $(cat "$ERR")" grep -q 'not reproduced: step [0-9]*, ' "$ERR"
sed 's/"do":"takes group lock"/"do":"releases group lock"/' "$SCRATCH/t.jsonl" >"$SCRATCH/other.jsonl"
check_status 5 "$STAMPEDE" replay "$SCRATCH/other.jsonl"
check_contains 'do: recorded releases group lock, now takes group lock' "$ERR"
sed 's/lock-group@..../lock-group@0000/' "$SCRATCH/t.jsonl" >"$SCRATCH/other.jsonl"
check_status 2 "$STAMPEDE" replay "$SCRATCH/other.jsonl"
check_contains 'the trace is of another subject: recorded 0000' "$ERR"
# Store buffers, and a lock that was left out, are in the trace too.
check_status 0 "$STAMPEDE" check bug-d79bf7612a-order-bad --trace "$SCRATCH/tso.jsonl"
check_status 0 "$STAMPEDE" replay "$SCRATCH/tso.jsonl"
check_status 1 "$STAMPEDE" check bug-0ebeec35fc-good --without-lock ProcArrayLock --trace "$SCRATCH/without.jsonl"
check_status 0 "$STAMPEDE" replay "$SCRATCH/without.jsonl"
check_contains 'goes on without ProcArrayLock' "$SCRATCH/without.jsonl"
check_status 4 "$STAMPEDE" check bug-0ebeec35fc-bad --trace /no/such/folder/t.jsonl
check_contains '/no/such/folder/t.jsonl' "$ERR"

# Races: two accesses that nothing puts in order, with both lines; none where all is under a lock.
printf '%s\n' 'scenario: add' 'about: two ProcArrayAdds' 'subject: proc-array-add' 'processes:' \
  '  - {name: a, script: [{call: add, with: 4}]}' '  - {name: b, script: [{call: add, with: 5}]}' >"$SCRATCH/add.yaml"
check_status 0 "$STAMPEDE" check "$SCRATCH/add.yaml" --races
check_contains 'no race in these schedules'
check_status 1 "$STAMPEDE" check "$SCRATCH/add.yaml" --races --set subject=proc-array-add-unlocked
check_contains 'race: a writes proc array+0 at add proc-array-add.c:79; b reads proc array+0 at add proc-array-add.c:79'
# The same races whoever looks for them, and store by store where stores are buffered.
check_status 1 "$STAMPEDE" check "$SCRATCH/add.yaml" --races --set subject=proc-array-add-unlocked --json --all 2
cp "$OUT" "$SCRATCH/one"
check_status 1 "$STAMPEDE" check "$SCRATCH/add.yaml" --races --set subject=proc-array-add-unlocked --json --all 2 --jobs 3
check_same <(grep -v measured "$SCRATCH/one") <(grep -v measured "$OUT")
check_status 0 "$STAMPEDE" check "$SCRATCH/add.yaml" --races --set machine.memory_order=tso
check_contains 'no race in these schedules'
check_status 1 "$STAMPEDE" check "$SCRATCH/add.yaml" --races --set subject=proc-array-add-unlocked --set machine.memory_order=tso
check_contains 'race: a stores proc array+0 at add proc-array-add.c:79; b reads proc array+0 at add proc-array-add.c:79'
