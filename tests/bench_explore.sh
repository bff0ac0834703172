#!/bin/bash
# bench_explore.sh - states and transitions a second of `stampede check` beside SPIN, store for store, on the same models
# with the same steps (tests/models/*.c, tests/promela/*.pml), both without reductions, in one run. CPU seconds of one
# core, start-up included, the best of ROUNDS.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/spin.sh
source tests/spin.sh
rounds=${ROUNDS:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
timed_out=$scratch/out

# bits_of STATES: a hash table for SPIN with at least as many slots, as ours would have.
bits_of() { awk -v n="$1" 'BEGIN { for (b = 10; 2 ^ b < n; b++); print b }'; }
field() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$timed_out"; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b < a) ? b : a }'; }

ours() {
  best=
  for ((i = 0; i < rounds; i++)); do
    timed "$STAMPEDE" check "$scratch/$model.yaml" --reduce none --json "$@" || true
    best=$(least "$best" "$cpu")
  done
  states=$(field states) transitions=$(field transitions) bytes=$(field bytes_per_state)
}

theirs() {
  spin_best=
  for ((i = 0; i < rounds; i++)); do
    spin_run "$scratch/$model-$store" "$@"
    spin_best=$(least "$spin_best" "$spin_cpu")
  done
}

for model in petersonN leader0 philosophers; do
  printf 'scenario: %s\nmodel: %s\n' "$model" "$model" >"$scratch/$model.yaml"
  for store in full collapse bitstate; do
    case $store in
    full) flags=() options=() ;;
    collapse) flags=(-DCOLLAPSE) options=(--store collapse) ;;
    bitstate) flags=(-DBITSTATE) options=(--store bitstate --strategy dfs --bits 28) ;;
    esac
    spin_build "tests/promela/$model.pml" "$scratch/$model-$store" "${flags[@]}"
    ours "${options[@]}"
    if [[ $store == bitstate ]]; then theirs -m2000000 -w28; else theirs -m2000000 "-w$(bits_of "$states")"; fi
    awk -v m="$model" -v s="$store" -v n="$states" -v sn="$spin_states" -v t="$transitions" -v st="$spin_transitions" \
      -v c="$best" -v sc="$spin_best" -v b="$bytes" -v sb="$spin_bytes" 'BEGIN {
        rate = t / c; spin = st / sc
        printf "{\"bench\":\"explore_%s\",\"store\":\"%s\",\"states\":%d,\"spin_states\":%d,\"transitions_per_s\":%.0f,", m, s, n, sn, rate
        printf "\"spin_transitions_per_s\":%.0f,\"ratio\":%.2f,\"bytes_per_state\":%.1f,\"spin_bytes_per_state\":%.1f}\n", spin, rate / spin, b, sb }'
  done
done
