#!/bin/bash
# What the shell offers after `stampede ...<TAB>`: sources the completion and asks it as bash would.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
# shellcheck source=sim/completion/stampede.bash
source sim/completion/stampede.bash

# offer WORD...: the words offered for the last WORD (which may be empty) of `stampede WORD...`.
offer() {
  COMP_WORDS=(stampede "$@") COMP_CWORD=$#
  _stampede "$STAMPEDE" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  printf '%s\n' "${COMPREPLY[@]}" >"$OUT"
}

check "bash knows the completion" complete -p stampede
offer ru
check "ru completes to run: $(cat "$OUT")" test "$(cat "$OUT")" = run
offer swe
check "swe completes to sweep: $(cat "$OUT")" test "$(cat "$OUT")" = sweep
offer run connect-st
check_contains connect-storm
offer run connect-storm --tr
check "--tr completes to --trace: $(cat "$OUT")" test "$(cat "$OUT")" = --trace
offer sweep connect-storm --variant split
check_contains split-pgxactoff
offer viz x.jsonl --view me
check "me completes to memory: $(cat "$OUT")" test "$(cat "$OUT")" = memory
offer list pre
check "pre completes to presets: $(cat "$OUT")" test "$(cat "$OUT")" = presets
offer replay x
check "replay takes a file: $(cat "$OUT")" test "${#COMPREPLY[@]}" = 0
