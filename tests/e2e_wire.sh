#!/bin/bash
# e2e_wire.sh - the protocol library in both roles: what a real PostgreSQL 15 says to our client and to odd packets, message by
# message, is what our fake server says; psql and pgbench talk to the fake one, by each kind of password, with TLS and without.
# shellcheck source=tests/e2e.sh
. "$(dirname "$0")/e2e.sh"
bin=$(tests/postgres_bin.sh 15) || { echo "PostgreSQL 15 is missing: make deps"; exit 1; }
tools=$PWD/$BUILD/tests
chmod 755 "$SCRATCH"
as=()
if ((UID == 0)); then as=(setpriv --reuid=postgres --regid=postgres --clear-groups --); fi

# ---- a real server, whose users differ in how they are asked ----
real=$SCRATCH/real data=$SCRATCH/real/data
mkdir -m 755 "$real"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost \
  -keyout "$real/key" -out "$real/cert" 2>/dev/null
chmod 600 "$real/key"
if ((UID == 0)); then chown -R postgres: "$real"; fi
cd "$real" || exit 1
"${as[@]}" "$bin/initdb" -D "$data" -A trust -U postgres -E UTF8 --locale=C --no-sync >"$SCRATCH/initdb" 2>&1 || cat "$SCRATCH/initdb"
real_port=
for _ in {1..5}; do
  port=$((20000 + RANDOM % 20000))
  if "${as[@]}" "$bin/pg_ctl" -D "$data" -w -t 60 -l "$real/log" start -o "-k $real -p $port -c listen_addresses=127.0.0.1 \
    -c fsync=off -c ssl=on -c ssl_cert_file=$real/cert -c ssl_key_file=$real/key -c timezone=UTC" >"$SCRATCH/start" 2>&1; then
    real_port=$port
    break
  fi
done
cd - >/dev/null || exit 1
[[ $real_port ]] || { cat "$SCRATCH/start" "$real/log"; exit 1; }
servers=()
finish() {
  (cd "$real" && "${as[@]}" "$bin/pg_ctl" -D "$data" -m immediate stop) >/dev/null 2>&1
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null; done
  e2e_finish
}
trap finish EXIT
"$bin/psql" -qX -h "$real" -p "$real_port" -U postgres postgres <<'SQL' >"$SCRATCH/users" 2>&1 || cat "$SCRATCH/users"
create role trust login;
create role clear login password 'secret';
set password_encryption = md5;
create role md5 login password 'secret';
set password_encryption = 'scram-sha-256';
create role scram login password 'secret';
SQL
for kind in trust:trust clear:password md5:md5 scram:scram-sha-256; do
  printf 'local all %s %s\nhost all %s 127.0.0.1/32 %s\n' "${kind%:*}" "${kind#*:}" "${kind%:*}" "${kind#*:}"
done | "${as[@]}" tee "$data/pg_hba.conf" >/dev/null
"${as[@]}" "$bin/pg_ctl" -D "$data" reload >/dev/null

# ---- the fake one: serve KIND 30|32 tls|plain; its port is in $fake_port ----
serve() {
  mkfifo "$SCRATCH/life.$*"
  "$tools/wire_serve" "$SCRATCH" "$@" <>"$SCRATCH/life.$*" >"$SCRATCH/port" 2>"$SCRATCH/serve.$*.log" &
  servers+=($!)
  for _ in {1..200}; do [[ -s $SCRATCH/port ]] && break; sleep 0.02; done
  fake_port=$(cat "$SCRATCH/port")
  : >"$SCRATCH/port"
}

# What both say, at once. compare ABOUT LINES TOOL REAL_ARGUMENTS -- FAKE_ARGUMENTS
compare() {
  local about=$1 lines=$2 tool=$tools/$3 real_args=()
  shift 3
  while [[ $1 != -- ]]; do real_args+=("$1") && shift; done
  shift
  "$tool" "${real_args[@]}" >"$SCRATCH/said.real" 2>&1 &
  "$tool" "$@" >"$SCRATCH/said.fake" 2>&1
  wait $!
  check "$about: a whole talk, $(wc -l <"$SCRATCH/said.real") lines" test "$(wc -l <"$SCRATCH/said.real")" -ge "$lines"
  if diff "$SCRATCH/said.real" "$SCRATCH/said.fake" >"$SCRATCH/diff"; then pass; else fail "$about: real (<) and fake (>) differ"; cat "$SCRATCH/diff"; fi
}

bench() { # OPTIONS: 4 clients, 80 transactions in all
  check_status 0 "$bin/pgbench" -n -f "$SCRATCH/script" -c 4 -t 20 "$@"
  check_contains 'number of transactions actually processed: 80/80' "$OUT"
}
cat >"$SCRATCH/script" <<'SQL'
begin;
update pgbench_accounts set abalance = abalance + 1 where aid = :client_id;
select abalance from pgbench_accounts where aid = :client_id;
insert into pgbench_history (tid) values (1);
end;
SQL
cat >"$SCRATCH/pipeline" <<'SQL'
\startpipeline
begin;
select abalance from pgbench_accounts where aid = :client_id;
end;
\endpipeline
SQL

for kind in trust clear md5 scram; do
  export PGPASSWORD=secret PGUSER=$kind PGDATABASE=postgres PGCONNECT_TIMEOUT=20
  serve "$kind" 30 plain
  plain_port=$fake_port
  serve "$kind" 30 tls
  compare "$kind, odd packets" 9 wire_first "$real" "$real_port" "$kind" -- "$SCRATCH" "$plain_port" "$kind"
  for password in secret wrong; do
    compare "$kind, $password, Unix socket" 1 wire_ask "$real" "$real_port" "$kind" $password 30 plain login -- "$SCRATCH" "$plain_port" "$kind" $password 30 plain login
    compare "$kind, $password, TCP and TLS" 1 wire_ask - "$real_port" "$kind" $password 30 tls login -- - "$fake_port" "$kind" $password 30 tls login
  done
  # libpq: each way to talk, each transport.
  check_status 0 "$bin/psql" -XAtq "host=127.0.0.1 port=$fake_port sslmode=require" -c 'select 1'
  check "psql has its row" test "$(cat "$OUT")" = 1
  compare "$kind, TCP" 1 wire_ask - "$real_port" "$kind" secret 30 plain login -- - "$plain_port" "$kind" secret 30 plain login
  bench -M simple -C -h "$SCRATCH" -p "$plain_port"
  PGSSLMODE=require bench -M extended -C -h 127.0.0.1 -p "$fake_port"
  if [[ $kind != trust ]]; then
    check_status 2 env PGPASSWORD=wrong "$bin/psql" -XAtq -h "$SCRATCH" -p "$plain_port" -c 'select 1'
    check_contains "password authentication failed for user \"$kind\"" "$ERR"
    continue
  fi
  check_status 0 "$bin/pgbench" -n -M extended -f "$SCRATCH/pipeline" -c 2 -t 10 -h "$SCRATCH" -p "$plain_port"
  check_contains 'number of transactions actually processed: 20/20' "$OUT"
  PGSSLMODE=require bench -M prepared -h 127.0.0.1 -p "$fake_port"
  check_status 2 "$bin/psql" -XAtq "host=127.0.0.1 port=$plain_port sslmode=require" -c 'select 1'
  check_contains 'server does not support SSL' "$ERR"
  check_status 3 "$bin/psql" -X -h "$SCRATCH" -p "$plain_port" -v ON_ERROR_STOP=1 -f <(echo 'copy t from stdin;')
  check_contains 'COPY is not supported' "$ERR"
  # The whole talk: queries, transactions, the extended protocol, cancels; who asks for 3.2 is told 3.0 by both.
  compare "a talk over a Unix socket" 84 wire_ask "$real" "$real_port" trust - 32 plain -- "$SCRATCH" "$plain_port" trust - 32 plain
  check_contains 'protocol 3.0, a key of 4' "$SCRATCH/said.fake"
  compare "a talk over TCP inside TLS" 84 wire_ask - "$real_port" trust - 30 tls -- - "$fake_port" trust - 30 tls
  compare "requests for encryption, granted" 6 wire_first - "$real_port" encryption -- - "$fake_port" encryption
  compare "requests for encryption, refused" 16 wire_first "$real" "$real_port" encryption -- "$SCRATCH" "$plain_port" encryption
done

# 3.2 where it is spoken; channel binding, which libpq insists on.
serve scram 32 tls
check_status 0 "$bin/psql" -X "host=127.0.0.1 port=$fake_port user=scram sslmode=require channel_binding=require" -c "select 1"
"$tools/wire_ask" - "$fake_port" scram secret 32 tls >"$OUT" 2>&1
check_contains 'protocol 3.2, a key of 32'
for log in "$SCRATCH"/serve.*.log; do check "$log is empty: $(head -n 3 "$log")" test ! -s "$log"; done
