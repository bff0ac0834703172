#!/bin/bash
# live_100.sh BUILD [TIMES [FILE...]] - each scenario of tests/live around Debian's PgBouncer, TIMES (100) times: the verdict is
# the right one and the trace the same, byte by byte. As many at a time as there are cores; some minutes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$1 times=${2:-100}
shift $(($# < 2 ? $# : 2))
scratch=$(mktemp -d "${TMPDIR:-/tmp}/stampede-100.XXXXXX")
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
export STAMPEDE=$PWD/$build/stampede TMPDIR=$scratch

# shellcheck disable=SC2317 # xargs calls it
# One run: a line "STATUS SUM-OF-ITS-TRACE".
once() {
  local trace=$TMPDIR/trace.$BASHPID status
  timeout -k 1 120 "$STAMPEDE" live "$1" --pooler /usr/sbin/pgbouncer --quiet --trace "$trace" 2>/dev/null
  status=$?
  echo "$status $(sha256sum <"$trace" | cut -d' ' -f1)"
  rm -f "$trace"
}
export -f once

failed=0
[[ $# -gt 0 ]] || set -- tests/live/*.yaml
for file; do
  [[ $file == */day.yaml ]] && continue # 14 s each: e2e_live.sh
  seq "$times" | xargs -P "$(nproc)" -I{} bash -c "once $file" >"$scratch/sums"
  right=$(grep -c '^0 ' "$scratch/sums") different=$(sort -u "$scratch/sums" | wc -l)
  printf '%-40s %s of %s as expected, %s distinct trace(s)\n' "$file" "$right" "$times" "$different"
  [[ $right == "$times" && $different == 1 ]] || failed=1
done
exit "$failed"
