#!/bin/bash
# bench_live.sh - lockstep steps a second around Debian's PgBouncer, over Unix sockets: one client, twenty thousand queries, start
# and end included; the fastest of five runs counts, by the clock and by CPU time of the tool and the pooler together. One JSON line.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${STAMPEDE:-build/stampede} pooler=/usr/sbin/pgbouncer
[[ -x $pooler ]] || { echo '{"bench":"live","skipped":"no PgBouncer (make deps)"}'; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '%s\n' 'scenario: live-steps' 'pooler: {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 1}' \
  'servers: [{name: s, host: db1}]' 'clients:' \
  '  - {name: a, script: [connect, loop: {times: 20000, do: [query: {tag: q1, runs: 1ms}]}]}' >"$scratch/steps.yaml"
TIMEFORMAT='%R %U %S'
for _ in 1 2 3 4 5; do
  { time "$program" live "$scratch/steps.yaml" --pooler "$pooler" --json >"$scratch/out"; } 2>&1
done | awk -v steps="$("$program" live "$scratch/steps.yaml" --pooler "$pooler" --json | jq .events)" '
  { cpu = $2 + $3; if (!wall || $1 < wall) wall = $1; if (!best || cpu < best) best = cpu }
  END { printf "{\"bench\":\"live\",\"steps\":%d,\"steps_per_s\":%.0f,\"steps_per_cpu_s\":%.0f,\"goal_per_s\":20000}\n", steps, steps / wall, steps / best }'
