#!/bin/bash
# bench.sh BUILD - run every benchmark (tests/bench_*.c, tests/bench_*.sh), one after the other on an otherwise idle
# machine; each prints JSON lines. They go to the terminal and, when all have succeeded, to BUILD/bench.jsonl.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
export BUILD=$build STAMPEDE=$PWD/$build/stampede
[[ $build == /* ]] && STAMPEDE=$build/stampede
new=$build/bench.jsonl.new
: >"$new"
for source in tests/bench_*.c tests/bench_*.sh; do
  [[ -e $source ]] || continue
  name=$(basename "$source")
  case $name in
  *.c) "$build/tests/${name%.c}" | tee -a "$new" ;;
  *.sh) bash "$source" | tee -a "$new" ;;
  esac
done
mv "$new" "$build/bench.jsonl"
