#!/bin/bash
# bench_schedules.sh - schedules of a subject's code a second, by the tool's own clock: two backends that end their
# transactions as a group, and a lock group that is left, both exhausted with reduction. One JSON line each.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${STAMPEDE:-build/stampede}

line() { # SCENARIO
  "$program" check "$1" --json | awk -v name="$1" '
    /"schedules": /       { gsub(/[^0-9]/, ""); n = $0 }
    /"longest": /         { gsub(/[^0-9]/, ""); longest = $0 }
    /"schedules_per_s": / { sub(/.*"schedules_per_s": /, ""); sub(/}.*/, ""); rate = $0 }
    END { printf "{\"bench\":\"schedules\",\"scenario\":\"%s\",\"schedules\":%s,\"steps_at_most\":%s,\"schedules_per_s\":%.0f,\"goal_per_s\":100000}\n", name, n, longest, rate }'
}

line bug-4aec49899e-good
line s37-double-return-good
