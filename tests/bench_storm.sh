#!/bin/bash
# bench_storm.sh - the main job's speed and memory, one JSON line each: CPU seconds of one core, peak memory, and the
# goals that the issue set. Each is run three times; the fastest counts, since the machine is shared.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${STAMPEDE:-build/stampede}
TIMEFORMAT='%U %S'

# cpu COMMAND...: user plus system seconds of the fastest of three runs
cpu() {
  for _ in 1 2 3; do
    { time "$@" >/dev/null 2>&1 3>&-; } 2>&1
  done | awk '{ s = $1 + $2; if (NR == 1 || s < best) best = s } END { printf "%.3f", best }'
}
rss() { "$@" --json | sed -n 's/.*"peak_rss_mb": \([0-9.]*\).*/\1/p'; }
line() { # NAME CLIENTS GOAL_S GOAL_MB COMMAND...
  local name=$1 clients=$2 goal_s=$3 goal_mb=$4
  shift 4
  printf '{"bench":"%s","clients":%s,"cpu_s":%s,"goal_s":%s,"peak_rss_mb":%s,"goal_mb":%s}\n' \
    "$name" "$clients" "$(cpu "$@")" "$goal_s" "$(rss "$@")" "$goal_mb"
}

line storm-5-iterations 8192 1 200 "$program" run connect-storm --set workload.iterations=5
line storm-words 8192 null null "$program" run connect-storm --set workload.iterations=5 --set machine.touch=words --set machine.lines=off
line storm-largest 262107 60 4096 "$program" run connect-storm --set workload.clients=262107 \
  --set postgres.max_connections=262107 --set workload.iterations=2
printf '{"bench":"published-table","cpu_s":%s,"goal_s":5}\n' "$(cpu "$program" sweep connect-storm \
  --set 'workload.clients=512:8192:*2' --variant dense-arrays,split-pgxactoff)"
