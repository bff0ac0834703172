#!/bin/bash
# The built-in dense arrays against the real procarray.c and proc.c of trees of yours, STAMPEDE_PG_TREE=DIR[:DIR...]
# (configured, with generated headers; sim/subject/README.md): the same random connects and disconnects agree call by
# call.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

if [[ -z ${STAMPEDE_PG_TREE:-} ]]; then
  echo "no tree given: with STAMPEDE_PG_TREE=DIR[:DIR...] procarray.c and proc.c of each are built and compared with the model, call by call"
  pass
  exit 0
fi
IFS=: read -ra trees <<<"$STAMPEDE_PG_TREE"
for tree in "${trees[@]}"; do
  version=$(sed -n 's/^#define PG_MAJORVERSION "\([0-9]*\).*/\1/p' "$tree/src/include/pg_config.h")
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$tree" -o "$SCRATCH/tree.so"
  # 20devel lays out and lists as 19 does.
  check_status 0 "$BUILD/tests/test_subject_agree" "$SCRATCH/tree.so" "$((version > 19 ? 19 : version))"
  echo "$tree: $(grep asserts "$OUT")"
  # Orders: as in tests/e2e_real_schedules.sh; the proc array is looked at by who has its lock.
  cat >"$SCRATCH/backends.yaml" <<END
scenario: backends
about: Backends connect and leave, once each.
subject: $SCRATCH/tree.so
postgres: {version: $((version > 19 ? 19 : version)), max_connections: 8}
processes:
  - {name: backend, count: 3, script: [connect, leave]}
checks: [proc-array-sorted, pgxactoff-matches, dense-arrays-agree, slot-owned-once, semaphores-conserved, no-deadlock]
END
  check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml"
  check_contains 'exhausted: 3750 schedules, 0 redundant'
  check_lacks 'violated'
  TIMEFORMAT='%U %S'
  used=$({ time "$STAMPEDE" check "$SCRATCH/backends.yaml" --without-lock ProcArrayLock >"$OUT"; } 2>&1)
  check_contains 'pgxactoff-matches            violated'
  check "more than a second of CPU: $used" awk "BEGIN { split(\"$used\", u); exit !(u[1] + u[2] <= 1) }"
  # Two that end transactions, with a group where the lock is taken.
  check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml" --set 'processes[0].count=2' \
    --set 'processes[0].script=[connect, begin_with_xid, end_transaction, leave]'
  check_contains 'every order was tried'
done
