#!/bin/bash
# e2e_symmetry.sh - where the names in a pooler's state mean nothing: the smallest scenarios in which a form was once wrong,
# each tried in every state (--verify-reductions), or in as many as time allows; the cause stands beside it.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

# verified NAME STATUS MAX_STATES < the scenario, without its first lines
verified() {
  { printf 'scenario: %s\nabout: Forms.\n' "$1"; cat; } >"$1.yaml"
  check_status "$2" "$STAMPEDE" check "$1.yaml" --verify-reductions --reduce symmetry --max-states "$3"
  check_contains 'reductions verified'
}

# A session whose key is passed through has none before its check-out; a number in its place equalled a secret.
verified real-key 0 20000 <<'END'
pooler: {pool_size: 1, tick: none, pool_mode: session, client_identity: real_key_passthrough}
servers: [{name: s0}]
clients:
  - {name: a, script: [connect, query: {tag: q}]}
  - {name: b, script: [connect, query: {tag: r}]}
END
# Such a key outlives the tenancy: whose connection it names is part of what a client and a cancel are.
verified real-key-cancel 3 1500 <<'END'
pooler: {pool_size: 2, tick: none, pool_mode: session, client_identity: real_key_passthrough, steps: {check_in: skip}}
servers: [{name: s0}]
clients:
  - {name: a, count: 2, script: [connect, query: {tag: q, dirty: true}, cancel: {of: q, after: 0s}, disconnect]}
END
# A late step goes by who had the connection last.
verified late-unmap 0 2000 <<'END'
pooler: {pool_size: 1, tick: none, steps: {unmap: {late: 2ms}}}
servers: [{name: s0}]
clients:
  - {name: a, script: [connect, query: {tag: q}]}
  - {name: b, script: [connect, query: {tag: r}, disconnect]}
END
# What opens the reserve knows a session by its place: copies are told apart.
verified reserve 3 1500 <<'END'
pooler: {pool_size: 1, reserve_pool_size: 1, reserve_pool_timeout: 5ms, tick: none}
servers: [{name: s0}]
clients: [{name: a, count: 2, script: [connect, query: {tag: q}]}]
explore: {fire: [reserve_pool_timeout]}
END
# Clients without a pooler: what is theirs alone (a closing connection, a cancel of a server that told no pid).
verified direct 3 1500 <<'END'
pooler: {pool_size: 1, tick: none}
servers: [{name: s0, key: none}]
clients: [{name: a, count: 2, via: s0, script: [connect, query: {tag: q}, cancel: {of: q, times: 2}, vanish]}]
END
# Who stands where in the queue of a lock of the database.
verified lock 3 1500 <<'END'
pooler: {pool_size: 3, tick: none}
servers: [{name: s0}]
clients: [{name: a, count: 3, script: [connect, query: {tag: q, lock: row, hold: transaction}]}]
END
# A list of pairs has an order.
verified pairs 0 2000 <<'END'
pooler: {pool_size: 2, tick: none, taken: G0}
servers: [{name: s0}]
clients: [{name: a, count: 2, script: [connect, query: {tag: q}]}]
END
# An event that befalls all copies befalls them in turn: the first one killed hands its connection to the second.
verified killed-copies 3 1500 <<'END'
pooler: {pool_size: 1, tick: none, pool_mode: session}
servers: [{name: s0}]
clients: [{name: a, count: 2, script: [connect, query: {tag: q}]}]
events: [{when: "query[q] running", kill: "client[a]"}]
END
# One that sees any of them, and acts on a server, tells none apart.
verified restarted 3 1500 <<'END'
pooler: {pool_size: 1, tick: none}
servers: [{name: s0}]
clients: [{name: a, count: 2, script: [connect, query: {tag: q}]}]
events: [{when: "query[q] running", restart: "server[s0]"}]
END
check_status 0 "$STAMPEDE" check restarted.yaml --set 'checks=[pool-accounting]' --json
reduced=$(sed -n 's/^ *"states": \([0-9]*\),*$/\1/p' "$OUT" | head -n 1)
check_status 0 "$STAMPEDE" check restarted.yaml --set 'checks=[pool-accounting]' --json --reduce none
plain=$(sed -n 's/^ *"states": \([0-9]*\),*$/\1/p' "$OUT" | head -n 1)
check "two copies: $reduced states, not $plain" test $((reduced * 3)) -lt $((plain * 2))

# ---- what is not tried is not said to be verified, and an estimate is one of the space that is searched ----
check_status 0 "$STAMPEDE" check real-key.yaml --verify-reductions --set 'checks=[waiter-is-served]'
check_contains 'no reductions are used here, so that nothing was tried'
check_lacks 'verified'
check_status 0 "$STAMPEDE" check real-key.yaml --verify-reductions --reduce por
check_lacks 'symmetry'
for reduce in none all; do
  check_status 0 "$STAMPEDE" check s01-stale-cancel-good --json --reduce $reduce
  states=$(sed -n 's/^ *"states": \([0-9]*\),*$/\1/p' "$OUT" | head -n 1)
  check_status 0 "$STAMPEDE" check s01-stale-cancel-good --estimate --json --reduce $reduce
  check_contains "\"states\": $states, "
done
check_status 3 "$STAMPEDE" check s02-pool-good --estimate --max-states 500
check_contains 'the limit of states'
check_status 0 "$STAMPEDE" check s02-pool-good --estimate --max-depth 10
check_contains 'as far as level 10: the limit of depth'
check_status 2 "$STAMPEDE" check s02-pool-good --estimate --trace t.jsonl
