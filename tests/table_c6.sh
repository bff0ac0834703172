#!/bin/bash
# table_c6.sh BUILD FILE - writes the tables of policies, with pid-reuse.svg beside, each by the sweep that stands above it: which identity, look-up
# and fence is open to what, in which environment. What they say beside the published table C.6 is told in
# model/pooler/README.md. tests/e2e_policies.sh makes a part of them again and compares.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 file=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/stampede-table.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

quoted() {
  local word
  for word; do
    case $word in
    *[!A-Za-z0-9_.,=/-]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "$word" ;;
    esac
  done
}

# table SWEEP-ARGUMENTS...: the command, then what it writes. Runs whose own expectations are for other policies say 1.
table() {
  local status=0
  # shellcheck disable=SC2016
  printf '```\nstampede sweep%s\n```\n\n' "$(quoted "$@")"
  rm -rf "$scratch/out"
  "$build/stampede" sweep "$@" --jobs "$(nproc)" --out "$scratch/out" --quiet || status=$?
  ((status <= 1)) || exit "$status"
  cat "$scratch/out/results.md"
  printf '\n'
}

# Of the strict check only the first environment says more than the table above it.
first_environment_of_strict() {
  awk '/^###/ { strict = /hits-only/ }
       strict && /^\|/ { n = split($0, cell, "|"); print "|" cell[2] "|" cell[3] "|" cell[4] "|" cell[5] "|" cell[6] "|"; next }
       { print }'
}

everything() {
  cat <<'END'
# Policies against each other
Made by `make table`; do not edit. `holds`: every order of events was tried and none breaks the check. `violated in k steps`: the
shortest that does has k. `-`: the policies contradict each other. What is broken, or why, is the note below each table.
What this says beside table C.6 of the facts, and who is right where they differ: [README.md](README.md), "The table of policies".

## Identity, look-up and fence
The columns are environments (`stampede list scenarios` tells them): one pid space, where the connection changes hands; equal pids
behind one address; a pid that is given again; each with signals that are handled at once and at any time later. `delayed` is of the
first postmaster.

END
  table c6-shared-pids c6-equal-pids c6-pid-reuse \
    --set 'pooler.server_identity=pid_only,pid_secret4,host_pid_secret,unique_seq,object_link' \
    --set 'pooler.lookup=at_arrival_copy,at_arrival_link,at_forward' \
    --set 'pooler.fence=none,unlink_unforwarded,hold_until_eof,{hold_until_eof_with_timeout: 10s},refcount_hold,{generation_check: per_checkout},{retire_session: 0s},drain_57014' \
    --set 'servers[0].signal=prompt,delayed' --across scenario,signal --job check --reduce none | first_environment_of_strict
  cat <<'END'
## A pid given again at any moment
As the third environment, but without the clock: the pid may also change hands between the server's look at the key and its kill().

END
  table c6-pid-race --set 'pooler.server_identity=pid_only,pid_secret4,unique_seq' \
    --set 'pooler.lookup=at_arrival_copy,at_arrival_link,at_forward' \
    --set 'pooler.fence=none,hold_until_eof,drain_57014' --set 'checks=[cancel-hits-its-query]' --across lookup --job check --reduce none
  cat <<'END'
## How likely a pid given again is hit
The share of cancels by pid alone that hit a stranger, over the number of pids and the rate of forks, of 400 runs each; closed forms:
`tests/e2e_pid_reuse.sh`.

END
  table s17-pid-reuse-figure --set 'servers[0].pids.max=4:64:*2' \
    --set 'clients[1].arrive={poisson: 200/s},{poisson: 400/s},{poisson: 800/s}' --repeat 400 --metric cancel.foreign \
    --across arrive
  cp "$scratch/out/plot.svg" "$scratch/plot.svg"
  cat <<'END'
![The same as a plot](pid-reuse.svg)

## The server's own key given to the client
A connection keeps its key when it goes to the next client, and so does the client that has left it.

END
  table c6-shared-pids --set pooler.client_identity=real_key_passthrough --set pooler.pool_mode=session \
    --set pooler.server_identity=pid_secret4 --set 'pooler.fence=none,hold_until_eof,{retire_session: 0s},drain_57014' \
    --set 'servers[0].signal=prompt,delayed' --across signal --job check --reduce none
  cat <<'END'
## Identity and the generation of the table of checked-out connections
Two postmasters behind one address, each of whose first backends has the same pid.

END
  table s02-pool-bad --set 'pooler.server_identity=pid_only,pid_secret4,unique_seq,object_link' \
    --set 'pooler.taken=G0,G1,G2,G3,G4' --across taken --job check --reduce none
  cat <<'END'
## A pooler that restarts
Its tables are empty then: what an identity is counted from (`reset_on_restart`) changes nothing, as no old one is left to be
mistaken. What outlives the restart is the client's key, which a counter gives again, and a cancel that has left already.

END
  table c6-pooler-restart --set 'pooler.auth=none,secret_eq' \
    --set 'pooler.server_identity=unique_seq,{unique_seq: {reset_on_restart: true}}' --job check --reduce none
  cat <<'END'
## Several processes without peering
Runs in virtual time, of 30000 cancels: each finds the process that knows its key with the chance 1/N.

END
  table s11-balancer-figure-bad --set pooler.processes=1:4:+1 --metric cancel.hit,cancel.lost
  cat <<'END'
## An identity is no fence, a fence no identity
Each scenario needs one of the two, and only both together pass in both.

END
  table identity-without-fence fence-without-identity --set 'pooler.server_identity=pid_only,unique_seq' \
    --set 'pooler.fence=none,hold_until_eof' --set pooler.ack=wait_eof --set pooler.taken=G4 \
    --set 'checks=[cancel-hits-its-query, pool-accounting]' --across scenario --job check --reduce none
}

everything >"$scratch/file"
cp "$scratch/file" "$file.new"
mv "$file.new" "$file"
mv "$scratch/plot.svg" "$(dirname "$file")/pid-reuse.svg"
echo "wrote $file"
