#!/bin/bash
# bench_live.sh [--goals] - the driver around Debian's PgBouncer, over Unix sockets; of several runs the median counts, start and end
# included. One JSON line a figure:
#   live_steps    inputs a second: one client, twenty thousand queries, by the clock and by CPU time of tool and pooler together
#   live_start    from the start of the pooler's process to its first quiet, ms
#   live_clients  five thousand clients at once, a pool of twenty: s
#   live_day      a day of virtual time, twenty server connections kept by min_pool_size: s
# --goals: a line a figure in words, with its goal and whether it is met (README.md); 1 where one is not.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${STAMPEDE:-build/stampede} pooler=/usr/sbin/pgbouncer
[[ -x $pooler ]] || { echo '{"bench":"live","skipped":"no PgBouncer (make deps)"}'; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/steps.yaml" <<'END'
scenario: live-steps
pooler: {preset: pgbouncer-1.18, pool_mode: transaction, pool_size: 1}
servers: [{name: s, host: db1}]
clients:
  - {name: a, script: [connect, loop: {times: 20000, do: [query: {tag: q1, runs: 1ms}]}]}
END
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# runs N EXPRESSION SCENARIO...: the expression (jq's) of each run's document; a run that fails ends the bench.
runs() {
  local n=$1 expression=$2
  shift 2
  for ((i = 0; i < n; i++)); do
    "$program" live "$@" --pooler "$pooler" --json >"$scratch/out"
    jq "$expression" "$scratch/out"
  done
}
TIMEFORMAT='%U %S'
cpu_of() { { time runs 1 .events "$scratch/steps.yaml" >/dev/null; } 2>&1 | awk -v n="$events" '{ print n / ($1 + $2) }'; }

events=$(runs 1 .events "$scratch/steps.yaml")
steps=$(runs 9 '.events / .measured.wall_ms * 1e3' "$scratch/steps.yaml" | median)
cpu=$(for _ in {1..5}; do cpu_of; done | median)
start=$(runs 25 .measured.start_ms tests/live/hit.yaml | median)
served=$(runs 5 'if .metrics."queries.ok" == 5000 then .measured.wall_ms / 1e3 else error("not all were served") end' \
  tests/live/login-storm.yaml --set 'clients[0].count=5000' | median)
day=$(runs 3 'if .virtual_ms >= 86400000 and .metrics.sockets_max >= 20 then .measured.wall_ms / 1e3 else error("no day") end' \
  tests/live/day.yaml | median)

if [[ ${1:-} == --goals ]]; then
  goal() { printf '%-58s %-14s %s\n' "$1" "$2" "$(awk -v v="$3" -v g="$4" -v up="$5" 'BEGIN { print (up ? v >= g : v < g) ? "met" : "missed" }')"; }
  {
    goal 'inputs in lockstep over Unix sockets' '>= 20000 a s' "$steps" 20000 1
    goal 'start of the pooler to its first quiet' '< 50 ms' "$start" 50 0
    goal '5000 clients in one run, a pool of twenty' 'all served' 5000 5000 1 # else the bench has ended
    goal 'a day of virtual time, 20 server connections kept open' '< 60 s' "$day" 60 0
  } | tee "$scratch/goals"
  if grep -q missed "$scratch/goals"; then exit 1; fi
else
  printf '{"bench":"live_steps","steps":%d,"steps_per_s":%.0f,"steps_per_cpu_s":%.0f,"goal_per_s":20000}\n' "$events" "$steps" "$cpu"
  printf '{"bench":"live_start","ms":%.1f,"goal_ms":50}\n' "$start"
  printf '{"bench":"live_clients","clients":5000,"s":%.2f}\n' "$served"
  printf '{"bench":"live_day","s":%.2f,"goal_s":60}\n' "$day"
fi
