#!/bin/bash
# coverage.sh BUILD - line coverage by folder and in all, from the counters that an instrumented run left in BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."
# Only the library's own objects: a suite may include a source to compile it another way, which gcovr 5 cannot merge.
gcovr --root . --exclude 'tests/' "$1/obj" --csv "$1/coverage.csv" >/dev/null
awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  { folder = $column["filename"]; if (!sub("/[^/]*$", "", folder)) folder = "(top)"
    lines[folder] += $column["line_total"]; covered[folder] += $column["line_covered"]
    all += $column["line_total"]; all_covered += $column["line_covered"] }
  END { for (folder in lines) printf "%-20s %6d of %6d lines  %5.1f %%\n", folder, covered[folder], lines[folder],
          lines[folder] ? 100 * covered[folder] / lines[folder] : 0 | "LC_ALL=C sort"
        close("LC_ALL=C sort")
        printf "%-20s %6d of %6d lines  %5.1f %%\n", "all", all_covered, all, all ? 100 * all_covered / all : 0 }
' "$1/coverage.csv"
