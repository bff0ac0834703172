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

# ---- faults against published counts of 15.18 and 18.6, and against real servers (15.20, 18.6): seeds' means, as the
# order in which those backends left is not known; nor is where the array began in its page (15: 2816 bytes fits best) ----
plain=(--set postgres.background=none --set workload.threads=1 --set workload.between_iterations=0
  --set machine.fault_around=0KiB --set postgres.snapshots=0 --set postgres.superuser_reserved_connections=0)
real=(--set postgres.max_connections=2000 --set workload.clients=1000 --set workload.before_iterations=0)
# mean METRICS SEEDS COMMAND...: of what jq's METRICS gives; to $SCRATCH/mean
mean() {
  local metrics=$1 seeds=$2
  shift 2
  for seed in $(seq "$seeds"); do "$STAMPEDE" run "$@" --seed "$seed" --json | jq "$metrics"; done |
    awk '{ sum += $1 } END { printf "%.3f\n", sum / NR }' >"$SCRATCH/mean"
}
# near WHAT EXPECTED WITHIN: the mean lies no farther away.
near() {
  local seen
  seen=$(cat "$SCRATCH/mean")
  echo "  $1: $seen, published $2"
  check "$1: $seen, not $2 within $3" awk -v a="$seen" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'
}
per_connect() { # SUBJECT VERSION CLIENTS ITERATION SEEDS EXPECTED WITHIN
  mean ".metrics[\"iteration[$4].allprocs_faults\"] / $3" "$5" connect-storm --subject "$1" --set "postgres.version=$2" \
    "${plain[@]}" "${phase[@]}" --set "workload.clients=$3" --set "workload.iterations=$4"
  near "$2, $3 clients, iteration $4: faults on PGPROCs by connect" "$6" "$7"
}
server() { # SUBJECT VERSION METRIC EXPECTED WITHIN
  mean "$3" 10 real-server --subject "$1" --set "postgres.version=$2" "${real[@]}" "${phase[@]}" --set workload.iterations=5
  near "$2, real server: $3" "$4" "$5"
}
for tree in "${trees[@]}"; do
  version=$(sed -n 's/^#define PG_MAJORVERSION "\([0-9]*\).*/\1/p' "$tree/src/include/pg_config.h")
  [[ $version == 15 || $version == 18 ]] || continue
  so=$SCRATCH/$version.so phase=()
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$tree" -o "$so"
  m() { echo ".metrics[\"iteration[$1].$2\"]"; }
  if [[ $version == 18 ]]; then
    per_connect "$so" 18 512 1 1 3.2 0.05
    per_connect "$so" 18 1024 1 1 3.1 0.05
    per_connect "$so" 18 2048 1 1 2.65 0.005
    per_connect "$so" 18 1024 17 10 89.9 0.9
    server "$so" 18 "$(m 2 faults_mean) - $(m 1 faults_mean)" 0.3 1
    for i in 3:79.9 4:79.9 5:80.9; do server "$so" 18 "$(m "${i%:*}" faults_mean) - $(m 1 faults_mean)" "${i#*:}" 3.2; done
  else
    phase=(--set postgres.pgproc.phase=2816B)
    per_connect "$so" 15 512 1 1 57.5 0.05
    per_connect "$so" 15 1024 1 1 112.5 0.05
    per_connect "$so" 15 1024 2 10 93 0.93
    per_connect "$so" 15 2048 2 10 182 1.82
    server "$so" 15 "$(m 1 faults_last50_minus_first50)" 190.6 7.6
    # 85.5 and 90.0: two drawn orders of leaving, whose figures differ by 5 from order to order; their mean.
    server "$so" 15 "($(m 2 faults_last50_minus_first50) + $(m 3 faults_last50_minus_first50)) / 2" 87.75 3.5
  fi
done
