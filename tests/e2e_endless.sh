#!/bin/bash
# e2e_endless.sh - runs that would never end: refused openings that are tried again for ever, turns taken at one
# instant. What provably goes round fails and says where; what only reaches a limit of steps is incomplete.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

cat >refused.yaml <<'END'
scenario: refused
about: A server that never lets anybody in.
pooler: {pool_size: 1, tick: 25ms}
servers: [{name: s0}]
clients: [{name: a, script: [connect, query: {tag: q, runs: 5ms}]}]
network: {pooler_to_server: {delay: 5ms, fault: refuse}}
checks: [no-deadlock]
END
# connect (two ways: 10 ms), then the next tick: 25 ms a round; two ticks would be 50.
check_status 1 "$STAMPEDE" run refused.yaml
check_contains 'ended early: it goes round for ever, the same state every'
check_contains '] connect'
check_status 1 "$STAMPEDE" run refused.yaml --json
grep -v '"measured"' "$OUT" | sed '/"measured"/,$d' >once.json
check_status 1 "$STAMPEDE" run refused.yaml --json
grep -v '"measured"' "$OUT" | sed '/"measured"/,$d' >again.json
check_same once.json again.json
check_status 3 "$STAMPEDE" run refused.yaml --set max_steps=5000
check_contains 'ended early: the limit of 5000 steps (max_steps), at '
check_status 0 "$STAMPEDE" run refused.yaml --set end=100s # a run with an end is a measurement
check_status 0 "$STAMPEDE" check refused.yaml
check_contains 'exhausted: '

# ---- no virtual time passes: an `end` does not help ----
cat >livelock.yaml <<'END'
scenario: livelock
about: One of two connections is one too many, and each refusal pokes the next opening.
end: 300ms
pooler: {pool_size: 2, tick: none, growth: {poke: each_opening}, steps: {turn: skip}}
servers: [{name: s0, max_connections: 1}]
clients:
  - {name: a, script: [connect, query: {tag: q0, runs: 10ms}]}
  - {name: b, start: 0s, script: [connect, query: {tag: q1, runs: 10ms}]}
END
check_status 1 "$STAMPEDE" run livelock.yaml
check_contains 'ended early: livelock: the same state every 6 steps, and no time passes: '
check_contains 'log in, server['
check_status 3 "$STAMPEDE" run livelock.yaml --set max_steps_at_once=1000
check_contains 'ended early: the limit of steps at one instant (max_steps_at_once), after '
check_status 2 "$STAMPEDE" run livelock.yaml --set max_steps_at_once=0
check_status 2 "$STAMPEDE" run livelock.yaml --set max_steps=1us

# ---- a failure more is no state more: attempts are counted no further than a back-off grows ----
cat >down.yaml <<'END'
scenario: down
about: A restart that takes its time; the pool tries again and again.
pooler: {pool_size: 1, tick: none}
servers: [{name: s0}]
clients: [{name: a, script: [connect, query: {tag: q0, runs: 10ms}, query: {tag: q1, runs: 10ms}]}]
events: [{at: 2ms, restart: "server[s0]", takes: 2ms}, {at: 3ms, restart: "server[s0]", takes: 2ms}]
checks: [pool-accounting, no-deadlock]
END
check_status 0 "$STAMPEDE" check down.yaml --max-states 20000
check_contains 'exhausted: '
check_status 0 "$STAMPEDE" check down.yaml --max-states 200000 --set 'pooler.growth={back_off: {first: 1ms, factor: 2, max: 2ms}}'
check_contains 'exhausted: '
