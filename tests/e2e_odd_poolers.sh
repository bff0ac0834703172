#!/bin/bash
# e2e_odd_poolers.sh - scenarios that random ones broke the pooler with: each runs, is explored, and its trace tells
# every thing by a name of its own.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

# ---- without a pooler: a second connection is refused, and its place is free before the session ends ----
cat >direct.yaml <<'EOT'
scenario: direct
pooler: {pool_size: 1, tick: none}
servers: [{name: s, max_connections: 1}]
clients:
  - {name: a, via: s, script: [connect, query: {tag: q1, runs: 1ms}]}
  - {name: b, via: s, script: [connect, query: {tag: q2, runs: 20ms}]}
checks: [pool-accounting, no-double-free]
EOT
check_status 0 "$STAMPEDE" check direct.yaml --reduce none
check_contains 'pool-accounting              holds'

# ---- without a pooler: the server dies while a query runs; the next one is an error ----
cat >dies.yaml <<'EOT'
scenario: dies
servers: [{name: s}]
clients:
  - {name: a, via: s, script: [connect, query: {tag: q1, runs: 10ms}, query: {tag: q2, runs: 1ms}]}
events: [{at: 5ms, kill: "server[s]"}]
expect:
  - {metric: queries.ok, within: [0, 0]}
  - {metric: queries.error, within: [2, 2]}
EOT
check_status 0 "$STAMPEDE" run dies.yaml
check_status 0 "$STAMPEDE" check dies.yaml --reduce none

# ---- pools of three processes, and of before and after a reload, each under its own name ----
cat >three.yaml <<'EOT'
scenario: three
pooler: {processes: 3, pool_size: 1, tick: none}
servers: [{name: s}]
clients: [{name: a, count: 3, script: [connect, query: {tag: q, runs: 10ms}]}]
events: [{at: 5ms, reload: pooler, set: {pooler.pool_size: 2}}]
EOT
check_status 0 "$STAMPEDE" run three.yaml --trace three.jsonl
check_status 0 "$STAMPEDE" replay three.jsonl
for name in 'pool s' 'pool s of pooler 1' 'pool s of pooler 2' 'pool s (before a reload)'; do
  check_contains "\"$name\":" three.jsonl
done
