#!/bin/bash
# bench_schedules.sh - schedules of a subject's code a second of one core (CPU time: the machine is shared; the fastest of
# five runs counts). Two backends that do one ProcArrayAdd each: without its locks, so that there is something to search,
# exhausted with reduction; with them, drawn at random, each schedule from its first step. Then a lock group that
# is left. One JSON line each.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${STAMPEDE:-build/stampede}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

add() { # SUBJECT: a scenario's path
  printf '%s\n' "scenario: $1" "about: two backends, one ProcArrayAdd each" "subject: $1" 'processes:' \
    '  - {name: a, script: [{call: add, with: 4}]}' '  - {name: b, script: [{call: add, with: 5}]}' >"$scratch/$1.yaml"
  echo "$scratch/$1.yaml"
}

line() { # NAME GOAL COMMAND...
  local name=$1 goal=$2
  shift 2
  for _ in 1 2 3 4 5; do "$@" --json || true; done | awk -v name="$name" -v goal="$goal" '
    /"schedules": /   { gsub(/[^0-9]/, ""); n = $0 }
    /"longest": /     { gsub(/[^0-9]/, ""); longest = $0 }
    /"cpu_seconds": / { sub(/.*"cpu_seconds": /, ""); sub(/[},].*/, ""); if (!best || $0 < best) best = $0 }
    END { printf "{\"bench\":\"schedules\",\"scenario\":\"%s\",\"schedules\":%s,\"steps_at_most\":%s,\"schedules_per_s\":%.0f,\"goal_per_s\":%s}\n", name, n, longest, n / best, goal }'
}

# The broken check is one finding; with --all 2 the search goes on to the end.
line proc-array-add-unlocked 100000 "$program" check "$(add proc-array-add-unlocked)" --all 2
line proc-array-add-random null "$program" check "$(add proc-array-add)" --strategy random --walks 50000
line s37-double-return-good 100000 "$program" check s37-double-return-good
line s37-double-return-good-races null "$program" check s37-double-return-good --races

# Two processes: by the clock, as it is what they save; the machine must be idle for the goal, nearly twice the first.
clock() { # JOBS
  for _ in 1 2 3; do "$program" check s37-double-return-good --jobs "$1" --json; done | awk -v jobs="$1" '
    /"measured": / { sub(/.*"schedules_per_s": /, ""); sub(/[,}].*/, ""); if ($0 > best) best = $0 }
    END { printf "{\"bench\":\"schedules-jobs\",\"jobs\":%s,\"schedules_per_s\":%.0f}\n", jobs, best }'
}
clock 1
clock 2
