#!/bin/bash
# e2e_live_prepared.sh - stampede live: clients that speak the extended protocol (clients[].query_mode), around PgBouncer.
# What is right is PostgreSQL's documentation of the protocol ("Extended Query"), and PgBouncer's of prepared statements:
# before 1.21 there are none in pool_mode: transaction.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch
trace=$SCRATCH/trace

# around MODE POOL_MODE SCRIPT [SCRIPT]: clients a and b around one pool of two
around() {
  cat >"$SCRATCH/s.yaml" <<END
scenario: s
about: Clients that speak the extended protocol.
pooler: {preset: pgbouncer-1.18, pool_mode: $2, pool_size: 2, pools: [{name: p, host: db1}]}
servers: [{name: s, host: db1}]
clients:
  - {name: a, query_mode: $1, script: [$3]}
  - {name: b, query_mode: ${5:-simple}, start: 10ms, script: [${4:-connect}]}
checks: [no-client-error, no-crash, no-deadlock, cancel-hits-only-its-query]
END
}
live() { check_status "$1" "$STAMPEDE" live "$SCRATCH/s.yaml" --pooler "$pooler" --trace "$trace"; }
# said FROM MESSAGE N: so many messages that begin so
said() {
  local n
  n=$(jq -s --arg from "$1" --arg message "$2" \
    '[.[] | .args? // {} | select((.from // "" | startswith($from)) and (.message // "" | startswith($message)))] | length' "$trace")
  check "$1 says $2 $n times, not $3" test "$n" = "$3"
}

ten='connect, loop: {times: 10, do: [query: {tag: q1, runs: 1ms}]}, begin, query: {tag: q2, runs: 1ms}, query: {tag: q3}, commit, disconnect'
for pool_mode in session transaction; do
  around simple "$pool_mode" "$ten"
  live 0
  said "client a" "Query (" 13
  around extended "$pool_mode" "$ten"
  live 0
  said "client a" "Parse, Execute (" 13
  said "server" "answer (q" 12
  # A statement is parsed once; the end of a transaction has none.
  around prepared "$pool_mode" "$ten"
  live 0
  said "client a" "Parse, Execute (" 4
  said "client a" "Execute (" 9
  said "server" "answer (q" 12
  said "server" "ErrorResponse" 0
done

# An error in a transaction: what is behind it up to Sync is skipped, the next is refused by the server, not the pooler.
fails='connect, begin, query: {tag: q1, ends: error}, query: {tag: q2}, rollback, query: {tag: q3}, disconnect'
for mode in simple extended prepared; do
  around $mode transaction "$fails"
  live 0
  check_contains "queries.error                         2"
  check_contains "queries.ok                            1"
  said "pooler" "ErrorResponse (25P02 current transaction is aborted" 1
done

# A cancel hits its query, whatever that was said by.
for mode in simple extended prepared; do
  around $mode transaction 'connect, begin, query: {tag: q1, runs: 50ms}, cancel: {of: q1, at: 20ms}, rollback, query: {tag: q2}, disconnect'
  live 0
  check_contains "cancel.hit                            1"
  said "pooler" "ErrorResponse (57014" 1
done

# One server connection for two: the second would prepare a name that is there.
check_status 0 "$STAMPEDE" live tests/live/modes/prepared.yaml --pooler "$pooler"
check_contains 'client b is told "prepared statement "S_1" already exists", by a server that another has prepared it at'
check_status 0 "$STAMPEDE" live tests/live/modes/prepared.yaml --pooler "$pooler" --set 'clients[1].query_mode=extended' --set 'expect=[]'
check_status 0 "$STAMPEDE" live tests/live/modes/prepared.yaml --pooler "$pooler" --set pooler.pool_mode=session --set 'expect=[]'

# b has prepared at the second connection, which a then keeps; at the first there is nothing, or a statement of a's.
twice='connect, loop: {times: 2, do: [query: {tag: q2, runs: 90ms}, wait: 100ms]}'
keeps='connect, query: {tag: q1, runs: 50ms}, wait: 60ms, query: {tag: keeps, runs: 500ms}'
around simple transaction "$keeps" "$twice" prepared
live 1
check_contains 'client b is told "prepared statement "S_1" does not exist", by a server that it has not prepared it at'
around prepared transaction "$keeps" "$twice" prepared
live 1
check_contains 'client b executes its q2, and runs q1 of client a'
around prepared session "$keeps" "$twice" prepared
live 0

# Without a pooler between; beside the model, to which all queries are alike; in any order, and again.
around prepared transaction "$ten"
sed -i 's/name: a,/name: a, via: s,/' "$SCRATCH/s.yaml"
live 0
said "client a" "Execute (" 9
around extended transaction "$ten"
check_status 0 "$STAMPEDE" live --conform "$SCRATCH/s.yaml" --pooler "$pooler"
check_contains "1 agree"
check_status 0 "$STAMPEDE" live --explore tests/live/modes/prepared.yaml --pooler "$pooler" --max-runs 50 --trace "$trace"
check_contains "one breaks a check"
check_status 0 "$STAMPEDE" live --replay "$trace" --pooler "$pooler"
check_contains "reproduced"
around prepared transaction "$keeps" "$twice" prepared
live 1
cp "$trace" "$SCRATCH/first"
live 1
check_same "$SCRATCH/first" "$trace"
check_status 2 "$STAMPEDE" run "$SCRATCH/s.yaml" --set 'clients[0].query_mode=pipelined'
check_contains "one of simple extended prepared" "$ERR"
check "nothing is left" test -z "$(ls "$TMPDIR")"
