#!/bin/bash
# bench_subject.sh - one warm iteration of real code, CPU seconds of one core: N iterations less N - 1, the best of three
# of each, as the machine is shared. The shipped subject (15's layout: its third iteration is as any later), and with
# STAMPEDE_PG_TREE its first tree, whose hooks are also measured against hooks that return at once. One JSON line each.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build} program=${STAMPEDE:-build/stampede}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT='%U %S'

cpu() {
  for _ in 1 2 3; do { time "$@" >/dev/null 2>&1 3>&-; } 2>&1; done |
    awk '{ s = $1 + $2; if (NR == 1 || s < best) best = s } END { printf "%.3f", best }'
}
storm() { cpu "$program" run connect-storm --quiet --subject "$1" --set "postgres.version=$2" --set "workload.iterations=$3"; }
line() { # NAME SUBJECT VERSION
  local more less
  more=$(storm "$2" "$3" 3)
  less=$(storm "$2" "$3" 2)
  awk -v name="$1" -v more="$more" -v less="$less" 'BEGIN {
    printf "{\"bench\":\"subject-iteration\",\"subject\":\"%s\",\"clients\":8192,\"cpu_s\":%.3f,\"goal_s\":0.5}\n", name, more - less }'
}

line shipped "$(realpath "$build/tests/subjects/pgmini.so")" 15
tree=${STAMPEDE_PG_TREE:-}
tree=${tree%%:*}
if [[ -n $tree ]]; then
  version=$(sed -n 's/^#define PG_MAJORVERSION "\([0-9]*\).*/\1/p' "$tree/src/include/pg_config.h")
  version=$((version > 19 ? 19 : version))
  "$program" subject build --quiet --tree "$tree" -o "$scratch/full.so"
  "$program" subject build --quiet --tree "$tree" --manifest tests/subjects/tree/procarray-empty.yaml -o "$scratch/empty.so"
  line "tree-$version" "$scratch/full.so" "$version"
  "$build/tests/bench_subject" "$scratch/full.so" "$scratch/empty.so" "$version"
fi
