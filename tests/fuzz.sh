#!/bin/bash
# fuzz.sh BUILD SECONDS - fuzz each reader for its share of SECONDS, starting from its corpus in tests/corpus/NAME (for
# scenarios the bundled ones too) with the words of tests/corpus/NAME.dict.
# Works on a copy of the corpus, so the tree stays as it is. An input that breaks a reader stays in BUILD/fuzz/found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=$1 seconds=$2 passed=0 failed=0
fuzzers=("$build"/fuzz/fuzz_*)
targets=()
for file in "${fuzzers[@]}"; do [[ -x $file && $file != *.d ]] && targets+=("$file"); done
((${#targets[@]})) || { echo "no fuzzer in $build/fuzz" >&2; exit 1; }
share=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]}))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$build/fuzz/found"
export LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0

for target in "${targets[@]}"; do
  name=${target##*/fuzz_}
  mkdir -p "$scratch/$name"
  cp -r "tests/corpus/$name/." "$scratch/$name" || { failed=$((failed + 1)); continue; }
  [[ $name == scenario ]] && cp sim/scenarios/*.yaml sim/presets/*.yaml "$scratch/$name"
  # -timeout: an input that takes ten seconds is a hang. -rss_limit_mb: one that takes 2 GB is a leak or a bomb.
  if "$target" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
       -dict="tests/corpus/$name.dict" -artifact_prefix="$build/fuzz/found/$name-" "$scratch/$name" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
    echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log") inputs in $share s"
  else
    failed=$((failed + 1))
    echo "fuzz $name: FAILED; run $target on the file named below"
    grep -vE '^#[0-9]+[[:space:]]|^0x' "$scratch/log" | tail -n 40
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
