#!/bin/bash
# Code of one's own as a model, as a new user meets it: what `subject new` writes works at once, and what goes wrong is told.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
ROOT=$PWD
cd "$SCRATCH" || exit 1

# ---- the template: by its own instructions ----
check_status 0 "$STAMPEDE" subject new demo
grep '^  stampede' "$OUT" >steps
check "three commands are named" test "$(wc -l <steps)" = 3
while read -r _ step; do
  # shellcheck disable=SC2086 # words of a command
  check_status 0 "$STAMPEDE" $step
done <steps
check_contains "check nothing-lost                 holds" # 6 takings of the lock, 3 of each of two: 20 orders
check_contains "exhausted: 20 schedules"
check_status 0 "$STAMPEDE" run demo-scenario.yaml
check_contains "check nothing-lost             not-violated"
check_contains "add demo.c:"
check_status 2 "$STAMPEDE" subject new demo
check_contains "demo.c is there already" "$ERR"
check_status 2 "$STAMPEDE" subject new ../up
check_status 2 "$STAMPEDE" subject new
# The fault that it ships with, from another folder: paths in a scenario are from the scenario's file.
sed 's/call: add,/call: add_unlocked,/' demo-scenario.yaml >bad.yaml
check_status 1 "$STAMPEDE" run "$SCRATCH/bad.yaml" --trace bad.jsonl --hash-every 1
check_contains "check nothing-lost             violated"
check_status 1 "$STAMPEDE" check bad.yaml
(cd / && check_status 0 "$STAMPEDE" replay "$SCRATCH/bad.jsonl")
check_status 0 "$STAMPEDE" viz bad.jsonl --view sequence --format mermaid -o bad.mmd
# Addresses decide nothing: the same steps and hashes where the system scatters them and where it does not.
if command -v setarch >/dev/null; then check_status 0 setarch -R "$STAMPEDE" replay bad.jsonl; fi
# The same files make the same subject; other ones another, and then the trace is none of it.
cp demo.so first.so
check_status 0 "$STAMPEDE" subject build --quiet --manifest demo.yaml -o demo.so
check_same demo.so first.so
sed -i 's/stm_sleep_us(5)/stm_sleep_us(6)/' demo.c
check_status 0 "$STAMPEDE" subject build --quiet --manifest demo.yaml -o demo.so
check_status 2 "$STAMPEDE" replay bad.jsonl
check_contains "the trace is of another subject: recorded" "$ERR"
check_status 0 "$STAMPEDE" sweep demo-scenario.yaml --set 'processes[adder].count=1,2' --quiet --out swept
check_status 0 "$STAMPEDE" run demo-scenario.yaml --repeat 3 --quiet

# ---- what is wrong, at its place ----
sed 's/call: add,/call: ad,/' demo-scenario.yaml >near.yaml
check_status 2 "$STAMPEDE" run near.yaml
check_contains "near.yaml:8:98: processes[0].script[0].loop.do[0].call: the subject demo has no entry ad; the nearest is add" "$ERR"
grep -v '^processes\|^  - {name' demo-scenario.yaml >nobody.yaml
check_status 2 "$STAMPEDE" run nobody.yaml
check_contains "demo is no server's code; processes that call its entries would be right" "$ERR"
check_status 2 "$STAMPEDE" run connect-storm --subject ./demo.so
check_contains "workload: demo is no server's code" "$ERR"
check_status 2 "$STAMPEDE" run demo-scenario.yaml --subject nowhere.so
check_status 2 "$STAMPEDE" check demo-scenario.yaml --verify-reductions
check_contains "run simulates it" "$ERR"
sed -i 's/at_end = true/at_end = false/' demo.c
check_status 0 "$STAMPEDE" subject build --quiet --manifest demo.yaml -o demo.so
check_status 1 "$STAMPEDE" check demo-scenario.yaml # it looks between the two sums, where run has no step
check_contains "counterexample 1: 0 preemptions"

# ---- bundled ones: by name ----
check_status 0 "$STAMPEDE" run s37-double-return-bad
check_contains "slot 0 is on the free list twice"
check_status 0 "$STAMPEDE" run s37-lost-slot-bad
check_contains "slot 1 is lost"
check_status 0 "$STAMPEDE" run s37-double-return-good
# The mended code keeps what the faulty one breaks, at the same times; and the other way round.
check_status 1 "$STAMPEDE" run s37-double-return-bad --set subject=lock-group-mended
check_status 1 "$STAMPEDE" run s37-double-return-good --set subject=lock-group
check_status 0 "$STAMPEDE" run s37-lost-slot-bad --trace leave.jsonl --quiet
check_contains '"changed":{"free list":"0 2 3 4 5 6 7"' leave.jsonl
check_status 0 "$STAMPEDE" replay leave.jsonl

# ---- a process that leaves by stm_exit is told ----
sed 's/script: \[loop.*/script: [leave]}/' demo-scenario.yaml >leave.yaml
check_status 0 "$STAMPEDE" run leave.yaml --trace exit.jsonl
check_contains '"args":{"why":"left without having added"}' exit.jsonl
check_contains 'exited: left without having added' exit.jsonl

# ---- a real server's code, where a tree is given: processes drive it ----
if [[ -n ${STAMPEDE_PG_TREE:-} ]]; then
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$STAMPEDE_PG_TREE" -o pg.so
  cat >pg.yaml <<'END'
scenario: proc-array-by-hand
subject: ./pg.so
machine: {profile: ramdisk-2026}
postgres: {max_connections: 40}
processes:
  - {name: b, count: 16, script: [connect, loop: {times: 20, do: [begin_with_xid, snapshot, end_transaction]}, leave]}
checks: [proc-array-sorted, pgxactoff-matches, slot-owned-once, dense-arrays-agree, locks-released, no-deadlock]
END
  check_status 0 "$STAMPEDE" run pg.yaml --trace pg.jsonl --hash-every 10
  check_status 0 "$STAMPEDE" replay pg.jsonl
fi
cd "$ROOT" || exit 1
