#!/bin/bash
# e2e_preset_rules.sh - rules of presets whose programs no package has (pgcat, Odyssey): each with what it must do, worked out from
# the source that the preset names, and a mutant that does not.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch

# scenario NAME POOLER CLIENTS [REST]
scenario() {
  printf 'scenario: %s\npooler: {%s}\nservers: [{name: s, host: db1%s}]\nclients:\n%s\n%s\n' "$1" "$2" "${5:-}" "$3" "${4:-}" >"$SCRATCH/$1.yaml"
}
metric() { "$STAMPEDE" run "$SCRATCH/$1.yaml" "${@:3}" --json | grep -o "\"$2\": *[0-9.]*" | head -1 | grep -o '[0-9.]*$'; }
expect() { # expect WANTED SCENARIO METRIC [ARGUMENTS]
  local saw
  saw=$(metric "$2" "$3" "${@:4}")
  check "$2 ${*:4}: $3 is $1 (saw $saw)" test "$saw" = "$1"
}

# pgcat, impl Drop for Client: the first cancel, which hits, takes the entry away; the second, 5 ms later, finds nothing while
# its query runs. Without, it arrives as well, at an idle backend.
scenario two-cancels 'preset: pgcat, pool_size: 1' \
  $'  - {name: a, script: [connect, query: {tag: q1, runs: 30ms}, cancel: {of: q1, at: 5ms}, cancel: {of: q1, at: 10ms}]}' \
  'network: {cancel_to_server: {delay: 12ms, connect: 0ms}}'
expect 1 two-cancels cancel.lost
expect 0 two-cancels cancel.lost --set pooler.cancel_forgets=false

# pgcat, Server::startup: a server without BackendKeyData has process id 0, and a cancel of it is sent, to be LOST.
scenario no-key 'preset: pgcat, pool_size: 1' \
  $'  - {name: a, script: [connect, query: {tag: q1, runs: 30ms}, cancel: {of: q1, at: 5ms}]}' '' ', key: none'
expect 1 no-key cancel.lost
expect 0 no-key cancel.lost --set pooler.server_key=optional

# bb8, reap: one of two is idle for 30 s, is closed though two are wanted, and another one is opened: 3 in 45 s. Else 2.
scenario idle 'preset: pgcat, pool_size: 2, min_pool_size: 2' $'  - {name: a, script: [connect, query: {tag: q1, runs: 45s}]}'
expect 3 idle opens
expect 2 idle opens --set pooler.idle_below_min=false

# Odyssey, od_frontend_setup_params and od_router_try_create_new_server: three come at once, and a connect takes 5 ms. The first
# is there at 5; the second looked at 5 before that was over, opens at 6, is there at 11; the third likewise at 17, and its query
# of 1 ms ends at 18. Looked for at once each would be 5 ms behind the one before, and the last end at 16; and had the
# first login let all in, sooner.
scenario logins 'preset: odyssey-2026, pool_mode: session, pool_size: 3' \
  $'  - {name: a, count: 3, script: [connect, query: {tag: q1, runs: 1ms}, wait: 10s]}' \
  $'ties: event_first\nnetwork: {pooler_to_server: {connect: 5ms}}'
ready() { "$STAMPEDE" run "$SCRATCH/logins.yaml" "$@" --trace "$SCRATCH/t" >"$SCRATCH/o"; grep '"message":"ready"' "$SCRATCH/t" | grep -o '"t_ns":[0-9]*' | cut -d: -f2 | tr '\n' ' '; }
check "openings come a look after the one before: $(ready)" test "$(ready)" = "5000000 11000000 17000000 "
check "else at once: $(ready --set pooler.growth.look=none)" test "$(ready --set pooler.growth.look=none)" != "5000000 11000000 17000000 "
asks() { ready "$@" >/dev/null; grep '"message":"q1"' "$SCRATCH/t" | grep '"to":"pooler"' | grep -o '"t_ns":[0-9]*' | cut -d: -f2 | tr '\n' ' '; }
check "each login has a connection of its own before it asks: $(asks)" test "$(asks)" = "5000000 11000000 17000000 "
check "else a look after the first lets in all: $(asks --set pooler.first_login_takes=false)" \
  test "$(asks --set pooler.first_login_takes=false)" = "5000000 6000000 6000000 "
