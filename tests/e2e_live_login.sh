#!/bin/bash
# e2e_live_login.sh - live with passwords and TLS: every way to ask that PgBouncer knows, on both sides; the same traces each time, and
# refused where an adapter cannot.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
pooler=/usr/sbin/pgbouncer
all=tests/live/login/everything.yaml
check "PgBouncer is there (make deps)" test -x "$pooler"
open_scratch

check_status 0 "$STAMPEDE" run $all
check_status 0 "$STAMPEDE" live $all --pooler "$pooler"
check_contains "met     cancel.hit within [1, 1] (saw 1)"
plain=(--set "servers[s].tls=disable" --set "clients[a].tls=disable")
for pair in trust:trust trust:password password:md5 md5:scram-sha-256 scram-sha-256:scram-sha-256; do
  check_status 0 "$STAMPEDE" live $all --pooler "$pooler" "${plain[@]}" --set "pooler.client_auth=${pair%:*}" --set "servers[s].auth=${pair#*:}"
done
check_status 0 "$STAMPEDE" live $all --pooler "$pooler" --set pooler.client_auth=scram-sha-256 # inside TLS, without binding to it
# Over loopback, and over Unix sockets: the same; TLS on one side, and on the other.
for options in "--tcp" "" "--set servers[s].tls=require" "--set clients[a].tls=require"; do
  # shellcheck disable=SC2086
  check_status 0 "$STAMPEDE" live $all --pooler "$pooler" "${plain[@]}" $options --trace "$SCRATCH/trace"
  tail -n +2 "$SCRATCH/trace" >"$SCRATCH/steps.${options//[^a-z]/_}"
done
check_same "$SCRATCH/steps." "$SCRATCH/steps.__tcp"
for options in "--set servers[s].tls=require" "--set clients[a].tls=require"; do
  for say in StartupMessage CancelRequest ReadyForQuery; do
    check "$options: as many of $say as without" test "$(grep -c "$say" "$SCRATCH/steps.")" = "$(grep -c "$say" "$SCRATCH/steps.${options//[^a-z]/_}")"
  done
done
for i in 1 2 3 4; do
  "$STAMPEDE" live $all --pooler "$pooler" --quiet --trace "$SCRATCH/again.$i" 2>"$ERR"
  check_same "$SCRATCH/again.1" "$SCRATCH/again.$i"
done

# What is asked for is really asked: a pooler that is not told of it does not get in, and clients that know another password neither.
sed 's/= {server_sslmode}/= disable/' sim/adapters/pgbouncer.yaml >"$SCRATCH/pgbouncer-plain.yaml"
check_status 1 "$STAMPEDE" live $all --pooler "$pooler" --adapter "$SCRATCH/pgbouncer-plain.yaml" --trace "$SCRATCH/refused"
check_contains 'no pg_hba.conf entry for host' "$SCRATCH/refused"
check_contains 'no encryption' "$SCRATCH/refused"
sed 's/= {client_sslmode}/= disable/' sim/adapters/pgbouncer.yaml >"$SCRATCH/pgbouncer-nossl.yaml"
check_status 1 "$STAMPEDE" live $all --pooler "$pooler" --adapter "$SCRATCH/pgbouncer-nossl.yaml"
check_contains 'the server has no TLS'
for auth in password md5 scram-sha-256; do
  sed 's/text: "{users}"/text: "\\"stampede\\" \\"another\\"\\n"/' sim/adapters/pgbouncer.yaml >"$SCRATCH/pgbouncer-another.yaml"
  check_status 1 "$STAMPEDE" live $all --pooler "$pooler" --adapter "$SCRATCH/pgbouncer-another.yaml" "${plain[@]}" \
    --set pooler.client_auth=$auth --set "servers[s].auth=trust" --trace "$SCRATCH/refused"
  check_contains ' authentication failed' "$SCRATCH/refused"
  check_status 1 "$STAMPEDE" live $all --pooler "$pooler" --adapter "$SCRATCH/pgbouncer-another.yaml" "${plain[@]}" \
    --set pooler.client_auth=trust --set "servers[s].auth=$auth" --trace "$SCRATCH/refused"
  check_contains '"FATAL (password authentication failed for user \"stampede\")"' "$SCRATCH/refused"
done

# Clients without a pooler between: inside TLS; without it, at a server that wants it.
cat >"$SCRATCH/direct.yaml" <<'YAML'
scenario: live-direct-login
about: Two clients at a server without a pooler between, and one through it.
pooler: {preset: pgbouncer-1.18}
servers: [{name: s, auth: md5, tls: require}]
clients:
  - {name: a, via: s, tls: require, script: [connect, query: {tag: q1, runs: 1ms}, disconnect]}
  - {name: b, via: s, script: [connect, query: {tag: q2, runs: 1ms}]}
  - {name: c, script: [connect, query: {tag: q3, runs: 1ms}]}
expect: [{metric: queries.ok, within: [2, 2]}]
YAML
check_status 0 "$STAMPEDE" live "$SCRATCH/direct.yaml" --pooler "$pooler" --trace "$SCRATCH/direct"
check_contains 'no encryption' "$SCRATCH/direct"
check_status 2 "$STAMPEDE" live "$SCRATCH/direct.yaml" --pooler "$pooler" --set "servers[s].tls=disable"
check_contains 'live does not drive a client inside TLS at a server without' "$ERR"

# Refused: what an adapter does not know, what cannot change in a run, words that are none.
check_status 2 "$STAMPEDE" live $all --pooler /usr/sbin/pgpool "${plain[@]}" --set "servers[s].auth=trust"
check_contains 'client_auth: this adapter does not say that its pooler knows md5; pooler.client_auth wants it' "$ERR"
check_status 2 "$STAMPEDE" live $all --pooler /usr/sbin/pgpool --set pooler.client_auth=trust "${plain[@]}"
check_contains 'server_auth: this adapter does not say that its pooler knows scram-sha-256; servers[].auth wants it' "$ERR"
check_status 2 "$STAMPEDE" live $all --pooler /usr/sbin/pgpool --set pooler.client_auth=trust --set "servers[s].auth=trust" --set "clients[a].tls=disable"
check_contains 'tls: this adapter does not say that its pooler knows TLS to servers; servers[].tls wants it' "$ERR"
check_status 2 "$STAMPEDE" live $all --pooler "$pooler" --set 'events=[{at: 1ms, set: {servers: [{name: s, tls: disable}]}}]'
check_contains 'live does not drive a change of `tls` in a run' "$ERR"
check_status 2 "$STAMPEDE" run $all --set pooler.client_auth=gss
check_contains 'it must be one of trust password md5 scram-sha-256' "$ERR"
check "no directory is left" test -z "$(ls "$TMPDIR")"
