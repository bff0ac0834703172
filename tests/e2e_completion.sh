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
# Words of an option are those that its help lists, and each of them is one that the program knows.
listed() { # COMMAND OPTION WORDS
  offer "$1" x "$2" ""
  check "$1 $2 takes $3: $(tr '\n' ' ' <"$OUT")" test "$(sort "$OUT" | xargs)" = "$3"
}
listed check --strategy 'bfs dfs pct random'
listed check --store 'bitstate collapse full hash128'
listed check --reduce 'all none por symmetry'
listed check --time 'timed untimed'
listed check --view space
listed sweep --job 'check run'
listed viz --view 'flame memory plot sequence states'
listed viz --format 'dot mermaid pdf perfetto png svg'
offer list pre
check "pre completes to presets: $(cat "$OUT")" test "$(cat "$OUT")" = presets
offer replay x
check "replay takes a file: $(cat "$OUT")" test "${#COMPREPLY[@]}" = 0
