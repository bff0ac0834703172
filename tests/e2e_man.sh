#!/bin/bash
# The manual pages name every command and option that the program knows, and format without a complaint.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

for page in stampede.1 stampede-scenario.5; do
  MANWIDTH=120 man --warnings -E ascii -l "$BUILD/$page" >"$SCRATCH/$page" 2>"$ERR"
  check "$page formats without warnings: $(head -n 3 "$ERR")" test ! -s "$ERR"
  for section in NAME DESCRIPTION; do check_contains $section "$SCRATCH/$page"; done
done

check_status 0 "$STAMPEDE" --help
commands=$(sed -nE 's/^  ([a-z]+) .*/\1/p' "$OUT")
for command in run sweep compare replay diff list viz; do
  check "--help names $command" grep -qx "$command" <<<"$commands"
done
for command in $commands; do
  check_status 0 "$STAMPEDE" "$command" --help
  grep -oE -- '--[a-z][a-z0-9-]*' "$OUT" | sort -u >"$SCRATCH/options"
  # The command's own part of the page: from its heading to the next one.
  awk -v heading="^   stampede $command" '/^(   )?[^ ]/ { inside = $0 ~ heading } inside' \
    "$SCRATCH/stampede.1" >"$SCRATCH/$command"
  while read -r option; do check_contains "$option" "$SCRATCH/$command"; done <"$SCRATCH/options"
done
for status in 0 1 2 3 4 5 130; do check "exit status $status is explained" grep -qE "^ +$status( |$)" "$SCRATCH/stampede.1"; done
