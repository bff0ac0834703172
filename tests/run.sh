#!/bin/bash
# run.sh BUILD - run everything `make test` has built and close with "N passed, N failed"; status 1 when any failed.
#
# Each unit suite, each end-to-end script and each valgrind run is a process of its own with a wall-clock limit, two at
# a time; what a failed one printed is shown whole, and all of it stays in BUILD/test-logs.
#   PARTS     which parts: suites e2e memcheck fuzz arrows (all; with SAN=1 only suites and e2e)
#   MEMCHECK  suites to run again under valgrind      FUZZ_TIME  seconds of fuzzing in all
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# Far above what they take on an idle machine: only a hang should meet them.
suite_limit=240 e2e_limit=900 memcheck_limit=300
[[ ${SAN:-} == 1 ]] && suite_limit=600

# Runs one job; the limits end a hanging process and all its children.
execute() {
  local kind=$1 name=$2
  case $kind in
  suite) timeout -k 5 $suite_limit "$BUILD/tests/$name" ;;
  memcheck) timeout -k 5 $memcheck_limit valgrind --quiet --error-exitcode=99 --leak-check=full \
              --errors-for-leak-kinds=definite --suppressions=tests/valgrind.supp "$BUILD/tests/$name" ;;
  e2e) timeout -k 5 $e2e_limit bash "tests/$name.sh" ;;
  fuzz) timeout -k 5 $((FUZZ_TIME * 3 + 120)) tests/fuzz.sh "$BUILD" "$FUZZ_TIME" ;;
  arrows) .ci/arrows.sh ;;
  esac
}

# What a job's log says it did: CUnit's line "tests", or the closing line of a script; "0 0" if it says nothing.
tally() {
  awk '$1 == "tests" && NF >= 6 { passed = $4; failed = $5 }
       /^[0-9]+ passed, [0-9]+ failed$/ { passed = $1; failed = $3 }
       END { print passed + 0, failed + 0 }' "$1"
}

one() {
  local kind=$1 name=$2 log="$LOGS/$1-$2.log" started=$SECONDS status passed failed
  execute "$kind" "$name" >"$log" 2>&1 </dev/null
  status=$?
  read -r passed failed < <(tally "$log")
  [[ $kind == memcheck || $kind == arrows ]] && passed=$((status == 0)) failed=0
  # A crash, a time-out, a sanitizer's report or a suite without a test is a failure even if no assertion failed.
  if ((failed == 0)) && ((status != 0 || passed == 0)); then failed=1; fi
  echo "$passed $failed" >"$log.tally"
  if ((failed)); then
    printf 'FAILED  %-8s %s (status %d%s)\n' "$kind" "$name" $status "$( ((status == 124)) && echo ', time limit')"
    sed 's/^/    /' "$log"
  else
    printf 'ok      %-8s %-28s %4d passed %4d s\n' "$kind" "$name" "$passed" $((SECONDS - started))
  fi
}

jobs_to_run() {
  local part name
  for part in $PARTS; do
    case $part in
    suites) for name in tests/test_*.c; do echo "suite $(basename "$name" .c)"; done ;;
    e2e) for name in tests/e2e_*.sh; do echo "e2e $(basename "$name" .sh)"; done ;;
    memcheck) for name in $MEMCHECK; do echo "memcheck $name"; done ;;
    fuzz | arrows) echo "$part $part" ;;
    esac
  done
}

export BUILD LOGS FUZZ_TIME
if [[ $1 == --one ]]; then
  one "$2" "$3"
  exit 0
fi
BUILD=$1 LOGS=$1/test-logs FUZZ_TIME=${FUZZ_TIME:-10} MEMCHECK=${MEMCHECK:-}
# Bundled files are found beside BUILD where it stands in the tree.
[[ $BUILD == */* ]] && export STAMPEDE_DATA=${STAMPEDE_DATA:-$PWD/sim}
STAMPEDE=$(realpath "$BUILD")/stampede
export STAMPEDE G_DEBUG=fatal-criticals LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1
if [[ ${SAN:-} == 1 ]]; then
  PARTS=${PARTS:-e2e suites}
  echo "SAN=1: valgrind, fuzzing and the include arrows are part of the run without it"
fi
# The longest come first, so that the others fill the second place beside them.
PARTS=${PARTS:-e2e fuzz memcheck suites arrows}
rm -rf "$LOGS" && mkdir -p "$LOGS"

jobs_to_run | xargs -P 2 -L 1 "$0" --one
read -r passed failed < <(cat "$LOGS"/*.tally | awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }')
# A job that left no tally (killed with its runner) counts as failed.
failed=$((failed + $(jobs_to_run | wc -l) - $(find "$LOGS" -name '*.tally' | wc -l)))
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
