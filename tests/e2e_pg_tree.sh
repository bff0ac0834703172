#!/bin/bash
# The built-in dense arrays against the real procarray.c and proc.c of trees of yours, STAMPEDE_PG_TREE=DIR[:DIR...]
# (configured, with generated headers; sim/subject/README.md): the same random connects and disconnects agree call by
# call, and faults are those of published counts and of real servers.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

if [[ -z ${STAMPEDE_PG_TREE:-} ]]; then
  echo "no tree given: with STAMPEDE_PG_TREE=DIR[:DIR...] procarray.c and proc.c of each are built and compared with the model, call by call"
  pass
  exit 0
fi
# `make` alone builds no tests; one that was linked to an older runtime fails in ways of its own.
if [[ ! -x $BUILD/tests/test_subject_agree || $BUILD/libstampede.a -nt $BUILD/tests/test_subject_agree ]]; then
  echo "$BUILD/tests/test_subject_agree is missing or older than the program; make $BUILD/tests/test_subject_agree first"
  failed=1
  exit 1
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
  # Which page of the array each connect maps: the same picture, of the code and of the model.
  for side in model code; do
    storm=(connect-storm --set "postgres.version=$((version > 19 ? 19 : version))" --set postgres.max_connections=400
      --set workload.clients=200 --set workload.iterations=2 --quiet --trace "$SCRATCH/$side.jsonl")
    [[ $side == model ]] || storm+=(--subject "$SCRATCH/tree.so")
    check_status 0 "$STAMPEDE" run "${storm[@]}"
    check_status 0 "$STAMPEDE" viz "$SCRATCH/$side.jsonl" --view memory -o "$SCRATCH/$side.svg"
  done
  check_same "$SCRATCH/model.svg" "$SCRATCH/code.svg"
  # Two that end transactions, with a group where the lock is taken.
  check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml" --set 'processes[0].count=2' \
    --set 'processes[0].script=[connect, begin_with_xid, end_transaction, leave]' --races --jobs 2
  check_contains 'every order was tried' # and no race, as the group's list is atomics and fences
  # An xid is shown under one lock and read under another: that, and nothing else, is raced for on purpose.
  check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml" --set 'processes[0].count=2' --max-schedules 2000 \
    --set 'processes[0].script=[connect, begin_with_xid, snapshot, end_transaction, leave]' --races
  check_contains 'declared, xids: '
  # A cancel goes one of four ways, as in tests/e2e_real_schedules.sh.
  sed 's/^checks:/  - {name: sender, script: [{call: cancel, with: 1000}]}\n&/; s/count: 3, script: .*/script: [connect, begin_with_xid, interrupts, leave]}/' \
    "$SCRATCH/backends.yaml" >"$SCRATCH/cancel.yaml"
  check_status 0 "$STAMPEDE" check "$SCRATCH/cancel.yaml" --races
  check_contains 'exhausted: 4 schedules, 0 redundant'
  check_contains 'no race in these schedules'
done

# ---- the mailing list's patch: pgxactoff leaves PGPROC for an array beside it ----
# patched TREE DIR: what of the tree is built, with that edit; lines of procarray.c stay where they are.
# shellcheck disable=SC2016
patched() {
  local from=$1/src to=$2/src
  mkdir -p "$to/backend/storage/ipc" "$to/backend/storage/lmgr"
  cp -rL "$from/include" "$to"
  cp "$from/Makefile.global" "$to"
  sed -E -e '/^\tint\t+pgxactoff;/,/\*\//d' -e 's/^\tuint8\t +\*statusFlags;/&\n\tint\t\t   *pgxactoffs;/' \
    "$from/include/storage/proc.h" >"$to/include/storage/proc.h"
  sed -E -e 's/^(\tsize = add_size\(size, mul_size\(TotalProcs, sizeof\()\*ProcGlobal->statusFlags(\)\)\);)/&\n\1int\2/' \
    -e 's/^\tProcGlobal->subxidStates = /\tProcGlobal->pgxactoffs = (int *) ptr;\n\tptr = (char *) ptr + TotalProcs * sizeof(int);\n&/' \
    -e 's/\<autovac->pgxactoff\>/ProcGlobal->pgxactoffs[GetNumberFromPGProc(autovac)]/' \
    "$from/backend/storage/lmgr/proc.c" >"$to/backend/storage/lmgr/proc.c"
  sed -E -e 's/(ProcGlobal->)?allProcs\[(arrayP->pgprocnos\[[a-z]+\]|[a-z_]+)\]\.pgxactoff/ProcGlobal->pgxactoffs[\2]/' \
    -e 's/\<(proc|MyProc)->pgxactoff\>/ProcGlobal->pgxactoffs[GetNumberFromPGProc(\1)]/' \
    "$from/backend/storage/ipc/procarray.c" >"$to/backend/storage/ipc/procarray.c"
}
verdict_is() { # SCENARIO VERDICT
  check "$1: not $2: $(jq -r ".cases[] | select(.name == \"$1\").verdict" "$OUT")" \
    jq -e ".cases[] | select(.name == \"$1\").verdict == \"$2\"" "$OUT" >"$SCRATCH/jq"
}
# store_of TREE FUNCTION: the line at which it writes its followers' places.
store_of() {
  awk -v f="$2(" 'index($0, f) == 1 { inside = 1 } inside && /allProcs\[procno\]\.pgxactoff = index;/ { print NR; exit }' \
    "$1/src/backend/storage/ipc/procarray.c"
}
for tree in "${trees[@]}"; do
  if ! grep -q 'subxidStates = (XidCacheStatus \*) ptr' "$tree/src/backend/storage/lmgr/proc.c"; then
    echo "not looked at: $tree with pgxactoff in an array of its own; the edit is for trees from 18 on"
    continue
  fi
  rm -rf "$SCRATCH/patched"
  patched "$tree" "$SCRATCH/patched"
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$tree" -o "$SCRATCH/old.so"
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$SCRATCH/patched" -o "$SCRATCH/new.so"
  check_status 0 "$STAMPEDE" compare proc-array-warm-1024-few proc-array-warm-1024-huge proc-array-cold-1024 \
    --baseline "$SCRATCH/old.so" --patch "$SCRATCH/new.so" --repeat 2 --json
  verdict_is proc-array-warm-1024-few better
  verdict_is proc-array-warm-1024-huge same
  verdict_is proc-array-cold-1024 same
  jq -r '"  \(.cases[] | "\(.name): \(.verdict), \(.change * 10000 | round / 100) %")"' "$OUT"
  for function in ProcArrayAdd ProcArrayRemove; do
    site="$function procarray.c:$(store_of "$tree" "$function")"
    check "$site has not stopped faulting" jq -e "[.cases[0].hotspots[] | select(.site == \"$site\" and
      .structure == \"PGPROC.pgxactoff\" and .change == \"vanished\" and .faults.baseline > 100000 and .faults.patch == 0)] | length == 1" "$OUT" >"$SCRATCH/jq"
  done
  # What moved is still looked at, unasked.
  sed '/^checks:/d; s/count: 3/count: 2/' "$SCRATCH/backends.yaml" >"$SCRATCH/unasked.yaml"
  check_status 0 "$STAMPEDE" check "$SCRATCH/unasked.yaml" --subject "$SCRATCH/new.so"
  check "the places in the new array are judged" grep -Eq 'pgxactoff-matches +holds' "$OUT"
done

# ---- faults against published counts of 15.18 and 18.6, and against real servers (15.20, 18.6) ----
# A first iteration is the same in each order of leaving. A later one is published of one drawn order that nobody knows: what
# is compared with it is a mean over orders of ours (seeds), and how far one order lies from the mean (sd) is said and counts.
# The array of the published counts began 256 bytes into its page: 5,435 faults of 18 with 2048 clients are no other place's
# among multiples of 128, and 15 agrees.
plain=(--set postgres.background=none --set workload.threads=1 --set workload.between_iterations=0 --set postgres.pgproc.phase=256B
  --set machine.fault_around=0KiB --set postgres.snapshots=0 --set postgres.superuser_reserved_connections=0)
# Of the servers' only what fits their first iteration (15: a published simulation of it has 195.4).
real=(--set postgres.max_connections=2000 --set workload.clients=1000 --set workload.before_iterations=0
  --set postgres.pgproc.phase=46080B --set workload.iterations=5)
# draws SEEDS METRIC COMMAND...: jq's METRIC of each seed: $mean, $sd
draws() {
  local seeds=$1 metric=$2
  shift 2
  read -r mean sd < <(for seed in $(seq "$seeds"); do "$STAMPEDE" run "$@" --seed "$seed" --json | jq "$metric"; done |
    awk '{ n++; s += $1; q += $1 * $1 } END { printf "%.4f %.4f\n", s / n, (n > 1 ? sqrt((q - s * s / n) / (n - 1)) : 0) }')
}
holds() { awk "BEGIN { exit !($1) }"; }
# near WHAT PUBLISHED WITHIN: the mean lies no farther away.
near() {
  echo "  $1: $mean, published $2"
  check "$1: $mean, not $2 within $3" holds "($mean) - ($2) <= $3 && ($2) - ($mean) <= $3"
}
# one_order WHAT PUBLISHED KNOWN: the published figure could be one of these orders' (two sd), and the mean over ours lies
# KNOWN per cent beside it, as it did when it was looked at; of those above 1, sim/subject/README.md says why.
one_order() {
  local off
  off=$(awk "BEGIN { printf \"%.2f\", (($mean) / ($2) - 1) * 100 }")
  echo "  $1: $mean, one order of them +- $sd, published $2: $off %"
  check "$1: $2 is no order's with a mean of $mean, sd $sd" holds "($mean) - ($2) <= 2 * $sd && ($2) - ($mean) <= 2 * $sd"
  check "$1: off by $off %, known is $3" holds "$off - ($3) <= 0.1 && ($3) - $off <= 0.1"
}
array() { # SUBJECT VERSION CLIENTS ITERATION SEEDS
  what="$2, $3 clients, iteration $4: faults on PGPROCs by connect"
  draws "$5" ".metrics[\"iteration[$4].allprocs_faults\"] / $3" connect-storm --subject "$1" --set "postgres.version=$2" \
    "${plain[@]}" --set "workload.clients=$3" --set "workload.iterations=$4"
}
server() { # SUBJECT VERSION SEEDS METRIC
  what="$2, real server: $4"
  draws "$3" "$4" real-server --subject "$1" --set "postgres.version=$2" "${real[@]}"
}
first() {
  array "$1" "$2" "$3" 1 1
  near "$what" "$4" "$5"
}
later() {
  array "$1" "$2" "$3" "$4" 10
  one_order "$what" "$5" "$6"
}
m() { echo ".metrics[\"iteration[$1].$2\"]"; }
for tree in "${trees[@]}"; do
  version=$(sed -n 's/^#define PG_MAJORVERSION "\([0-9]*\).*/\1/p' "$tree/src/include/pg_config.h")
  [[ $version == 15 || $version == 18 ]] || continue
  so=$SCRATCH/$version.so
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$tree" -o "$so"
  if [[ $version == 18 ]]; then
    first "$so" 18 512 3.2 0.05
    first "$so" 18 1024 3.1 0.05
    first "$so" 18 2048 2.6538 0.0001 # 5,435
    first "$so" 18 4096 2.4 0.05
    later "$so" 18 512 33 46.9 -1.19
    later "$so" 18 1024 17 89.9 -0.25
    later "$so" 18 2048 9 177.3 -1.32
    server "$so" 18 1 "$(m 2 faults_mean) - $(m 1 faults_mean)"
    near "$what" 0.3 1
    for i in 3:79.9 4:79.9 5:80.9; do
      server "$so" 18 10 "$(m "${i%:*}" faults_mean) - $(m 1 faults_mean)"
      near "$what" "${i#*:}" 3.2
    done
  else
    first "$so" 15 512 57.5 0.05
    first "$so" 15 1024 112.5 0.05
    first "$so" 15 2048 222.5 0.05
    later "$so" 15 512 2 48 -0.71
    later "$so" 15 1024 2 93 -0.88
    later "$so" 15 2048 2 182 0.23
    server "$so" 15 1 "$(m 1 faults_last50_minus_first50)"
    near "$what" 190.6 7.6
    server "$so" 15 10 "$(m 2 faults_last50_minus_first50)"
    one_order "$what" 85.5 -2.87
    server "$so" 15 10 "$(m 3 faults_last50_minus_first50)"
    one_order "$what" 90.0 -10.94
    # In the same order of leaving as a server here, with its array where that server's is: within 4 % or one fault a backend.
    if bin=$(tests/postgres_bin.sh 15); then
      check_status 0 "$STAMPEDE" calibrate postgres --bin "$bin" --clients 250 --max-connections 500 --iterations 3 \
        --plain-malloc --set "subject=$so" --confirm
      grep 'faults_' "$OUT" | grep agrees
    else
      echo "not looked at: PostgreSQL 15 itself, in the same order of leaving; it is missing"
    fi
  fi
done
