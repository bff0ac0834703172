#!/bin/bash
# e2e_calibrate_postgres.sh - the short form of tests/confirm.sh, and what calibrate postgres does with bad input and signals:
# a real PostgreSQL 15, whose faults by iteration agree with the simulation, and which is gone afterwards whatever happens.
# shellcheck source=tests/e2e.sh
. "$(dirname "$0")/e2e.sh"
bin=$(tests/postgres_bin.sh 15) || { echo "PostgreSQL 15 is missing: make deps"; exit 1; }
open_scratch
postgres=("$STAMPEDE" calibrate postgres --bin "$bin")

# Nothing is left: no directory, no process of the server.
nothing_left() {
  for _ in {1..100}; do
    [[ -z $(ls -A "$TMPDIR") ]] && ! pgrep -f "$TMPDIR/stampede-server" >/dev/null && return
    sleep 0.1
  done
  ls -A "$TMPDIR"
  return 1
}

# What grows with a storm in private memory is another storm's: nothing is judged by what it has itself measured.
check_status 0 "${postgres[@]}" --clients 120 --iterations 1 --plain-malloc --seed 4711 --json
cp "$OUT" "$SCRATCH/beside.json"
check "private pages, a list an iteration" jq -e '.private_pages | map(length) == [120]' "$SCRATCH/beside.json"
check_status 0 "${postgres[@]}" --clients 120 --iterations 2 --plain-malloc --beside "$SCRATCH/beside.json" --confirm --json --out "$SCRATCH/out"
check "says whose they are" jq -e --arg file "$SCRATCH/beside.json" '.beside == $file' "$OUT"
check "and has them" jq -e --slurpfile other "$SCRATCH/beside.json" \
  '((.model["iteration[2].own_pages_beyond_alone"] - ($other[0].private_pages[0] | add / length)) | fabs) < 1e-6' "$OUT"
check "flat names in real and model" jq -e '.real["iteration[2].faults_mean"] and .model["iteration[2].faults_mean"]
  and .real["iteration[1].pagetable_kib"] and .model["iteration[1].faults_last50_minus_first50"] != null' "$OUT"
check "a backend takes some hundred faults" jq -e '.real["iteration[1].faults_mean"] | . > 200 and . < 2000' "$OUT"
check "all agree" jq -e '[.agreement[].agrees] | all' "$OUT"
if ((UID == 0)) && command -v perf >/dev/null; then
  check "faults by function" jq -e '.faults_by_function | test("%  _int_malloc")' "$OUT"
else
  echo "not looked at here, without perf or root: faults by function"
fi
check "a row a backend" test "$(wc -l <"$SCRATCH/out/backends.csv")" = 241
check "the same document" cmp -s <(jq .real "$OUT") <(jq .real "$SCRATCH/out/results.json")
check "a plot" grep -q '<svg' "$SCRATCH/out/backends.svg"
check "nothing left" nothing_left

# Code in place of the model, beside the same server: a child simulates it, and what it saw comes back.
check_status 0 "$STAMPEDE" subject build --quiet --tree tests/subjects --manifest tests/subjects/pgmini.yaml -o "$SCRATCH/mini.so"
check_status 0 "${postgres[@]}" --clients 60 --iterations 2 --plain-malloc --set subject="$SCRATCH/mini.so" --confirm --json
check "all agree: $(jq -c '[.agreement[] | select(.agrees | not)]' "$OUT")" jq -e '.agreement | length > 4 and all(.agrees)' "$OUT"
mkdir "$SCRATCH/panics"
sed 's/  tell_places(at + 1);/  if (at > 5) stm_panic("six");\n&/' tests/subjects/pgmini.c >"$SCRATCH/panics/pgmini.c"
check_status 0 "$STAMPEDE" subject build --quiet --tree "$SCRATCH/panics" --manifest tests/subjects/pgmini.yaml -o "$SCRATCH/panics.so"
check_status 2 "${postgres[@]}" --clients 60 --set subject="$SCRATCH/panics.so"
check_contains 'the simulation ended before all had left: PANIC: six at ' "$ERR"
check "nothing left" nothing_left

# Interrupted, asked to end, killed: the server goes with the tool.
for signal in INT TERM KILL; do
  "${postgres[@]}" --clients 100 >"$OUT" 2>"$ERR" </dev/null &
  tool=$!
  for _ in {1..300}; do compgen -G "$TMPDIR/stampede-server*/.s.PGSQL.5432" >/dev/null && break; sleep 0.1; done
  sleep 0.5
  kill -"$signal" "$tool"
  wait "$tool"
  status=$?
  [[ $signal == KILL ]] || check "130 after SIG$signal, not $status" test "$status" = 130
  check "nothing left after SIG$signal" nothing_left
done

# Refused before a server is started.
check_status 2 "${postgres[@]}" --clients 120 --plain-malloc --seed 4711 --beside "$SCRATCH/beside.json"
check_contains 'of seed 4711 too' "$ERR"
check_status 2 "${postgres[@]}" --clients 121 --plain-malloc --beside "$SCRATCH/beside.json"
check_contains 'are needed beside this run' "$ERR"
check_status 2 "${postgres[@]}" --clients 120 --beside "$SCRATCH/beside.json"
check_contains 'with --plain-malloc; this run is without' "$ERR"
for pages in '"x"' 9e18 null; do
  jq ".private_pages[0][0] = $pages" "$SCRATCH/beside.json" >"$SCRATCH/bad.json"
  check_status 2 "${postgres[@]}" --clients 120 --plain-malloc --beside "$SCRATCH/bad.json"
  check_contains 'whole numbers' "$ERR"
done
check_status 2 "${postgres[@]}" --beside "$SCRATCH/out/backends.csv"
check_contains 'Parse error' "$ERR"
check_status 2 "${postgres[@]}" --beside "$SCRATCH/no-such.json"
check_contains 'no-such.json' "$ERR"

# In each phase: initdb, the server that it makes catalogs with, the real one's start, while clients connect. Shared memory of
# System V has the inode of the data directory for its key.
for phase in data/PG_VERSION data/global/pg_control data/postmaster.pid .s.PGSQL.5432; do
  "${postgres[@]}" --clients 100 >"$OUT" 2>"$ERR" </dev/null &
  tool=$!
  for _ in {1..600}; do compgen -G "$TMPDIR/stampede-server*/$phase" >/dev/null && break; sleep 0.02; done
  key=$(printf '0x%08x' $(($(stat -c %i "$TMPDIR"/stampede-server*/data) & 0xffffffff)))
  kill -INT "$tool"
  wait "$tool"
  check "130 once there is $phase" test $? = 130
  check "nothing left once there was $phase" nothing_left
  check "no shared memory left once there was $phase" test -z "$(ipcs -m | grep "^$key")"
done

# A directory by a link, and a name that is no single item of a list of directories unless quoted: it serves, and is gone.
mkdir "$SCRATCH/real, one" && ln -s "real, one" "$SCRATCH/link"
check_status 0 "${postgres[@]}" --clients 2 --iterations 1 --dir "$SCRATCH/link"
check "what the link led to is removed" test ! -e "$SCRATCH/real, one"
mkdir -m 700 "$SCRATCH/closed"
if ((UID == 0)); then
  check_status 4 env TMPDIR="$SCRATCH/closed" "${postgres[@]}"
  check_contains 'Permission denied' "$ERR"
fi
check_status 4 "${postgres[@]}" --dir "$ERR"
check_contains 'is not a directory' "$ERR"

check_status 2 "$STAMPEDE" calibrate postgres
check_contains '--bin' "$ERR"
check_status 4 "$STAMPEDE" calibrate postgres --bin "$SCRATCH"
check_contains 'there is no postgres' "$ERR"
check_status 2 "${postgres[@]}" --clients 50 --max-connections 20
check_contains 'not be more than' "$ERR"
for zero in clients iterations max-connections; do check_status 2 "${postgres[@]}" --$zero 0; done
check_status 2 "${postgres[@]}" --set workload.threads=3
check_contains 'threads must be 1' "$ERR"
check_status 2 "${postgres[@]}" --set postgres.version=17
check_contains 'read from the server' "$ERR"
check_status 4 "${postgres[@]}" --clients 200000
check_contains 'not enough' "$ERR"
check_status 4 env -i PATH="$PATH" bash -c "ulimit -n 64; exec \"\$@\"" - "${postgres[@]}" --clients 100
check_contains 'not enough open files' "$ERR"
check_status 4 env -i PATH="$PATH" bash -c "ulimit -n 60; exec \"\$@\"" - "${postgres[@]}" --clients 3
check_contains 'not enough open files: 64' "$ERR"
mkdir -p "$SCRATCH/taken/data" && touch "$SCRATCH/taken/data/postmaster.pid"
check_status 4 "${postgres[@]}" --dir "$SCRATCH/taken"
check_contains 'running here already' "$ERR"
mkdir "$SCRATCH/full" && touch "$SCRATCH/full/file"
check_status 4 "${postgres[@]}" --dir "$SCRATCH/full"
check_contains 'not empty' "$ERR"
check "what was there is there still" test -e "$SCRATCH/full/file"
check "nothing left" nothing_left
