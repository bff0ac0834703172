#!/bin/bash
# e2e_real_schedules.sh - orders of a server's own code: backends connect and leave on the shipped proc array (the tests'
# own, with PostgreSQL's headers), all orders tried; what a lock keeps is broken without it.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
scenario=$SCRATCH/backends.yaml
cat >"$scenario" <<END
scenario: backends
about: Backends connect and leave, once each.
subject: $PWD/$BUILD/tests/subjects/pgmini-quiet.so
postgres: {version: 15, max_connections: 8}
processes:
  - {name: backend, count: 3, script: [connect, leave]}
checks: [proc-array-sorted, pgxactoff-matches, dense-arrays-agree, slot-owned-once, locks-released, no-deadlock]
END

# Each backend has four sections: of the free list's spinlock, of ProcArrayLock twice, of the spinlock. Orders of both
# that some order of all fits, counted one by one: 26 of two backends, 3,750 of three.
check_status 0 "$STAMPEDE" check "$scenario" --set 'processes[0].count=2'
check_contains 'exhausted: 26 schedules, 0 redundant'
check_status 0 "$STAMPEDE" check "$scenario"
check_contains 'exhausted: 3750 schedules, 0 redundant'
check_lacks 'violated'

# Loops are more of the same: eight sections each, S P P S twice, of two that have 2 x C(8,4) orders of each lock's by
# themselves; 1,390 pairs of them go together (counted as partial orders, one by one).
check_status 0 "$STAMPEDE" check "$scenario" --set 'processes[0].count=2' \
  --set 'processes[0].script=[{loop: {times: 2, do: [connect, leave]}}]'
check_contains 'exhausted: 1390 schedules, 0 redundant'
check_lacks 'violated'

# Transactions: an xid is shown, seen by a snapshot, and taken away.
check_status 0 "$STAMPEDE" check "$scenario" --set 'processes[0].count=1' \
  --set 'processes[0].script=[connect, begin_with_xid, snapshot, end_transaction, leave]'
check_contains 'exhausted: 1 schedules'
sed 's/^checks:/  - {name: looker, script: [connect, snapshot, leave]}\n&/; s/count: 3, script: .*/script: [connect, begin_with_xid, end_transaction, leave]}/' \
  "$scenario" >"$SCRATCH/transaction.yaml"
check_status 0 "$STAMPEDE" check "$SCRATCH/transaction.yaml"
check_contains 'every order was tried'
check_lacks 'violated'
check_status 0 "$STAMPEDE" run "$SCRATCH/transaction.yaml"

# A cancel: who sends it looks for the pid under ProcArrayLock, then signals. Four ways it may go: nobody has the pid
# yet; the backend looks for signals after it was sent one, and gives up its transaction; or before; nobody has it any
# more. What it looks for and does is told.
sed 's/^checks:/  - {name: sender, script: [{call: cancel, with: 1000}]}\n&/; s/count: 3, script: .*/script: [connect, begin_with_xid, interrupts, leave]}/' \
  "$scenario" >"$SCRATCH/cancel.yaml"
check_status 0 "$STAMPEDE" check "$SCRATCH/cancel.yaml"
check_contains 'exhausted: 4 schedules, 0 redundant'
check_lacks 'violated'
for seed in 1 2 3; do check_status 0 "$STAMPEDE" run "$SCRATCH/cancel.yaml" --seed "$seed"; done
check_status 0 "$STAMPEDE" run "$SCRATCH/cancel.yaml" --set 'processes[1].start=1ms' --set 'processes[0].script=[connect, begin_with_xid, {wait: 2ms}, interrupts, leave]' --json
check "three sections of ProcArrayLock, one shared, one of the cancelled: $(jq '.metrics["lock[ProcArrayLock].taken"]' "$OUT")" \
  jq -e '.metrics["lock[ProcArrayLock].taken"] == 4' "$OUT"
check_status 0 "$STAMPEDE" run "$SCRATCH/cancel.yaml" --set 'processes[1].start=3ms' --set 'processes[0].script=[connect, begin_with_xid, {wait: 2ms}, interrupts, leave]' --json
check "it came too late: $(jq '.metrics["lock[ProcArrayLock].taken"]' "$OUT")" jq -e '.metrics["lock[ProcArrayLock].taken"] == 3' "$OUT"

# A lock group is left by leaving; the leader's slot is kept until its last member is gone. Without the lock of its
# partition (48 locks, 128 of buffers, slot 7 modulo 16) the slot comes back twice.
sed 's/^checks:/  - {name: member, script: [connect, {call: lock_group_join, with: 7}, leave]}\n&/; s/count: 3, script: .*/script: [connect, lock_group_lead, leave]}/' \
  "$scenario" >"$SCRATCH/group.yaml"
check_status 0 "$STAMPEDE" check "$SCRATCH/group.yaml"
check_contains 'every order was tried'
check_lacks 'violated'
check_status 1 "$STAMPEDE" check "$SCRATCH/group.yaml" --without-lock 'LWLock 183'
check_contains 'slot-owned-once              violated: slot 7 is on a free list twice'
check_status 0 "$STAMPEDE" run "$SCRATCH/group.yaml"

# Without the lock: who would have taken it finds the array half written. Without both, writers meet.
check_status 1 "$STAMPEDE" check "$scenario" --without-lock ProcArrayLock
check_contains 'without ProcArrayLock'
check_contains 'pgxactoff-matches            violated'
check_contains 'goes on without ProcArrayLock'
check_status 1 "$STAMPEDE" check "$scenario" --without-lock ProcArrayLock --without-lock XidGenLock
check_contains 'violated'
# A spinlock too: two have the same slot, or it is lost.
check_status 1 "$STAMPEDE" check "$scenario" --without-lock ProcStructLock
check_contains 'slot-owned-once              violated'
check_status 2 "$STAMPEDE" check "$scenario" --without-lock ProcAryLock
check_contains 'no lock of that name, the nearest is ProcArrayLock; it has LWLock N, XidGenLock, ProcArrayLock' "$ERR"
check_status 2 "$STAMPEDE" check s01-stale-cancel-good --without-lock x
check_contains "explore.without_lock: belongs to processes that run a subject's code" "$ERR"
# It is a key too, and is complained about at its place.
sed 's/^about:/explore: {without_lock: [ProcStructLock]}\n&/' "$scenario" >"$SCRATCH/key.yaml"
check_status 1 "$STAMPEDE" check "$SCRATCH/key.yaml"
check_contains 'without ProcStructLock'
sed -i 's/ProcStructLock/nothing/' "$SCRATCH/key.yaml"
check_status 2 "$STAMPEDE" check "$SCRATCH/key.yaml"
check_contains 'key.yaml:2:26: explore.without_lock[0]: nothing: the subject has no lock of that name' "$ERR"
check_status 2 "$STAMPEDE" check bug-74fc83869e-bad --without-lock XidLock
check_contains 'it has XidGenLock, ProcArrayLock' "$ERR"
# A miniature without its lock: the mended one is broken again.
check_status 1 "$STAMPEDE" check bug-0ebeec35fc-good --without-lock ProcArrayLock
check_contains "VACUUM's horizon is 100, and backend 0 needs 50"

# Code that is not instrumented and does not tell its store: a search would not come back to where it began.
cat >"$SCRATCH/main.c" <<'END'
#include "stampede_subject.h"
extern void untold(int *);
static struct { int a, b; } *cell;
static void start(void) { cell = stm_shared("cell", sizeof *cell, 64); }
static void go(int64_t n) { cell->a = (int)n; untold(&cell->b); }
static const StampedeEntry entries[] = {{"go", "stores", go}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "untold", .about = "x",
  .start = start, .entries = entries, .n_entries = 1};
END
echo 'void untold(int *p); void untold(int *p) { ++*p; }' >"$SCRATCH/glue.c"
printf 'subject: untold\nabout: x\nsources: [main.c]\nglue: [glue.c]\n' >"$SCRATCH/untold.yaml"
check_status 0 "$STAMPEDE" subject build --quiet --manifest "$SCRATCH/untold.yaml" -o "$SCRATCH/untold.so"
printf 'scenario: u\nabout: x\nsubject: ./untold.so\nprocesses:\n  - {name: p, script: [go]}\n' >"$SCRATCH/u.yaml"
check_status 2 "$STAMPEDE" check "$SCRATCH/u.yaml"
check_contains 'u.yaml:3:10: subject: cell+4 is stored to by code that is not instrumented' "$ERR"
