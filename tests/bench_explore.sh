#!/bin/bash
# bench_explore.sh - states and transitions a second of `stampede check` beside SPIN, store for store, on the same models
# with the same steps (tests/models/*.c, tests/promela/*.pml): without reductions, and, in lines named _reduced, with what
# each has of them. CPU seconds, start-up included; the two take turns, and of ROUNDS turns the median counts.
#   ONLY=REGEX   just the benches whose name and store ("pooler_three full") it matches
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/spin.sh
source tests/spin.sh
rounds=${ROUNDS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
timed_out=$scratch/out

# bits_of STATES: a hash table for SPIN with at least as many slots, as ours would have.
bits_of() { awk -v n="$1" 'BEGIN { for (b = 10; 2 ^ b < n; b++); print b }'; }
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$timed_out"; }
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# measure NAME STORE SCENARIO PML [--set ...]: prints the line. Uses $spin_model, $flags (of pan's build), $options.
measure() {
  local name=$1 store=$2 scenario=$3 pml=$4 ours=() theirs=() states transitions bytes bits=28
  shift 4
  [[ "$name $store" =~ ${ONLY:-.} ]] || return 0
  spin_build "tests/promela/$pml.pml" "$scratch/$name-$store" "${flags[@]}"
  for ((i = 0; i < rounds; i++)); do
    timed "$STAMPEDE" check "$scenario" --json "${options[@]}" "$@" || true
    ours+=("$cpu") states=$(field states) transitions=$(field transitions) bytes=$(field bytes_per_state)
    [[ $store == bitstate ]] || bits=$(bits_of "$states")
    spin_run "$scratch/$name-$store" -m2000000 "-w$bits"
    theirs+=("$spin_cpu")
  done
  awk -v m="$name" -v s="$store" -v n="$states" -v sn="$spin_states" -v t="$transitions" -v st="$spin_transitions" \
    -v c="$(median "${ours[@]}")" -v sc="$(median "${theirs[@]}")" -v b="$bytes" -v sb="$spin_bytes" 'BEGIN {
      rate = t / c; spin = st / sc
      printf "{\"bench\":\"explore_%s\",\"store\":\"%s\",\"states\":%d,\"spin_states\":%d,\"transitions_per_s\":%.0f,", m, s, n, sn, rate
      printf "\"spin_transitions_per_s\":%.0f,\"ratio\":%.2f,\"bytes_per_state\":%.1f,\"spin_bytes_per_state\":%.1f}\n", spin, rate / spin, b, sb }'
}

# every_store NAME SCENARIO PML [--set ...]
every_store() {
  local name=$1
  shift
  flags=() options=(--reduce none)
  measure "$name" full "$@"
  flags=(-DCOLLAPSE) options=(--reduce none --store collapse)
  measure "$name" collapse "$@"
  flags=(-DBITSTATE) options=(--reduce none --store bitstate --strategy dfs --bits 28)
  measure "$name" bitstate "$@"
  flags=(-UNOREDUCE) options=(--reduce all)
  measure "${name}_reduced" full "$@"
}

for model in petersonN leader0 philosophers; do
  printf 'scenario: %s\nmodel: %s\n' "$model" "$model" >"$scratch/$model.yaml"
  spin_model=()
  every_store "$model" "$scratch/$model.yaml" "$model"
done
# The pooler: three clients, one of which cancels; a pool of one connection, then of two.
# -o2: SPIN keeps what nothing reads, as we do.
spin_model=(-o2 -DN=3 -DCANCELS=1 -DHOLD=1)
every_store pooler_three tests/promela/three-clients.yaml pooler
spin_model+=(-DSIZE=2)
every_store pooler_pool2 tests/promela/three-clients.yaml pooler --set pooler.pool_size=2
# Bundled scenarios that have no twin in Promela: ours alone.
for name in s12-two-cancels-good s22-handoff-timeout-good; do
  ours=()
  [[ "$name full" =~ ${ONLY:-.} ]] || continue
  for ((i = 0; i < rounds; i++)); do
    timed "$STAMPEDE" check "$name" --reduce none --json || true
    ours+=("$cpu")
  done
  awk -v m="$name" -v c="$(median "${ours[@]}")" -v n="$(field states)" -v t="$(field transitions)" -v b="$(field bytes_per_state)" 'BEGIN {
    printf "{\"bench\":\"explore_%s\",\"store\":\"full\",\"states\":%d,\"states_per_s\":%.0f,\"transitions_per_s\":%.0f,\"bytes_per_state\":%.1f}\n", m, n, n / c, t / c, b }'
done
