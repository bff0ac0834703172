# shellcheck shell=bash
# e2e.sh - sourced by tests/e2e_*.sh: run the program as a user would and look at what comes out.
#
#   check_status EXPECTED COMMAND...   runs it; standard output goes to $OUT, standard error to $ERR
#   check_contains TEXT [FILE]         TEXT (fixed) stands in FILE, else in $OUT
#   check_lacks TEXT [FILE]            and here it does not
#   check_same FILE FILE               byte by byte
#   check MESSAGE COMMAND...           COMMAND succeeds
# Each counts one; a failure prints what was seen and goes on. At the end "N passed, N failed"; status 1 if any failed.
# $SCRATCH is a fresh folder that goes away at the end; $STAMPEDE is the program, an absolute path.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BUILD=${BUILD:-build}
STAMPEDE=${STAMPEDE:-$PWD/$BUILD/stampede}
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/stampede-e2e.XXXXXX")
OUT=$SCRATCH/.out ERR=$SCRATCH/.err
passed=0 failed=0
touch "$OUT" "$ERR"
# The tests start other makes; these must not believe themselves children of the one that runs the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES SAN
export LC_ALL=C.UTF-8 TZ=UTC0

e2e_finish() {
  local status=$?
  rm -rf "$SCRATCH"
  # Left before the end (a syntax error, an unset variable) is a failure too.
  [[ $status == 0 || $failed -gt 0 ]] || failed=1
  echo "$passed passed, $failed failed"
  ((failed == 0)) || exit 1
}
trap e2e_finish EXIT

pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  echo "${BASH_SOURCE[2]##*/}:${BASH_LINENO[1]}: $1"
}

# For scripts that draw: Graphviz keeps memory with every label; tests/lsan.supp names it by frames that only the slow
# unwinder finds.
draws_with_graphviz() {
  export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}fast_unwind_on_malloc=0"
}

# For scripts that run programs as other users: these may go into $SCRATCH, and what they leave is in a $TMPDIR in it.
open_scratch() {
  export TMPDIR=$SCRATCH/tmp
  mkdir -m 755 "$TMPDIR"
  chmod 755 "$SCRATCH"
}

check_status() {
  local expected=$1 status
  shift
  "$@" >"$OUT" 2>"$ERR" </dev/null
  status=$?
  if ((status == expected)); then
    pass
  else
    fail "status $status, not $expected: $*"
    head -n 20 "$OUT" "$ERR"
  fi
}

check_contains() {
  local file=${2:-$OUT}
  if grep -qF -- "$1" "$file"; then
    pass
  else
    fail "\"$1\" is not in $file:"
    head -n 20 "$file"
  fi
}

check_lacks() {
  local file=${2:-$OUT}
  if grep -qF -- "$1" "$file"; then
    fail "\"$1\" is in $file:"
    grep -nF -- "$1" "$file" | head -n 5
  else
    pass
  fi
}

check_same() {
  if cmp "$1" "$2"; then
    pass
  else
    fail "$1 and $2 differ:"
    diff "$1" "$2" | cut -c1-300 | head -n 10
  fi
}

check() {
  local message=$1
  shift
  if "$@"; then pass; else fail "$message"; fi
}
