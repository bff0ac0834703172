#!/bin/bash
# What a user can do wrong: every bad scenario is one line and exit 2; extreme values end well or are refused; a document
# has one place; streams that are closed or full, and limits of the shell, give exit 4 and nothing half-written; what was
# interrupted replays as far as it goes.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
small=(connect-storm --set workload.clients=20 --set postgres.max_connections=60)

# refused STATUS SAYS ARGUMENT...: that status, one line on stderr that has SAYS, nothing on stdout.
refused() {
  local status=$1 says=$2
  shift 2
  check_status "$status" "$STAMPEDE" "$@"
  check_contains "$says" "$ERR"
  check "one line, and nothing else: $*" test "$(wc -l <"$ERR")-$(wc -c <"$OUT")" = 1-0
}

# --- every file of tests/bad, by the whole program
for file in tests/bad/*.yaml; do refused 2 "$file" run "$file"; done

# --- a document has one place
refused 2 "--trace - and --json both want stdout" run "${small[@]}" --trace /dev/stdout --json
refused 2 "--junit - and --json both want stdout" run "${small[@]}" --junit - --json
refused 2 "--trace - and --junit - both want stdout" run "${small[@]}" --junit - --trace -
refused 2 "give each its own file" run "${small[@]}" --junit "$SCRATCH/x" --trace "$SCRATCH/x"
refused 2 "--trace needs the name of a file" run "${small[@]}" --trace ''
check_status 0 bash -c "set -o pipefail; '$STAMPEDE' run ${small[*]} --trace - | '$STAMPEDE' replay -"
check_contains reproduced

# --- closed and full streams
check_status 4 bash -c "'$STAMPEDE' run ${small[*]} --json --trace '$SCRATCH/closed.jsonl' >&-"
check "stdout did not go into the trace" test "$(tail -n 1 "$SCRATCH/closed.jsonl" | cut -c1-7)" = '{"end":'
for command in --version --help "run --help" "replay $SCRATCH/closed.jsonl" "diff $SCRATCH/closed.jsonl $SCRATCH/closed.jsonl"; do
  check_status 4 bash -c "'$STAMPEDE' $command >/dev/full"
  check_contains "cannot write" "$ERR"
done

# --- limits of the shell
mkdir "$SCRATCH/limits"
check_status 4 bash -c "ulimit -f 10; '$STAMPEDE' run ${small[*]} --quiet --trace '$SCRATCH/limits/t.jsonl'"
check_contains "File too large" "$ERR"
check "nothing is left of it" test -z "$(ls -A "$SCRATCH/limits")"

# --- words of the command line are UTF-8 in any locale
check_status 0 env LC_ALL=C "$STAMPEDE" run "${small[@]}" --set about=Überlast
