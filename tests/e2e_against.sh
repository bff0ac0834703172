#!/bin/bash
# e2e_against.sh - stampede live A --against B: the table, JSON, Markdown, JUnit and gates of compare for two real poolers.
# What differs between two of them is known beforehand: one makes its pool larger than it is told to.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
open_scratch
mkdir -m 755 "$SCRATCH/bin"
pooler=/usr/sbin/pgbouncer tiny=$PWD/$BUILD/tests/live/tiny
check "PgBouncer is there (make deps)" test -x "$pooler"
check "the tests' own pooler is built (make check)" test -x "$tiny" -a -x "$tiny-static"
cp "$pooler" "$SCRATCH/bin/pgbouncer-copy"
cp "$tiny" "$SCRATCH/bin/tiny"
cp "$tiny-static" "$SCRATCH/bin/tiny-static"
copy=$SCRATCH/bin/pgbouncer-copy flight=tests/live/cancel-in-flight.yaml
against() { timeout -k 1 60 "$STAMPEDE" live "$@"; }

# The head says what the figures are; nothing of it is simulated but the clients and servers.
check_status 0 against "$flight" --pooler "$pooler" --against "$copy" --gate 'wait_ms.mean <= +0%' --junit "$SCRATCH/junit"
check_contains "live --against live-cancel-in-flight  baseline $pooler  patch $copy"
check_contains "two real poolers, each between simulated clients and servers, on a virtual clock"
check_lacks "costs of profile"
check_contains "gate met"
check_contains "1 same"
check_contains 'name="not broken by the patch"' "$SCRATCH/junit"
check_contains 'name="wait_ms.mean &lt;= +0%"' "$SCRATCH/junit"
check_status 1 against "$flight" --pooler "$pooler" --against "$copy" --gate 'wait_ms.mean <= -5%'
check_contains "NOT MET"
# a gets its answer after 10 ms, b waits for the one connection until then: 9 ms from its start at 1 ms.
check_status 0 against "$flight" --pooler "$pooler" --against "$copy" --json
check "JSON: one case, the same, with its metrics, checks, and no profile" \
  jq -e '.command == "live --against" and .profile == null and .caveats == {baseline: null, patch: null} and .complete and
         (.cases | length) == 1 and (.cases[0] | .verdict == "same" and .metric == "wait_ms.mean" and .baseline == 9 and .patch == 9 and
         .seed_decides_nothing and ([.checks[].patch] == ["not-violated", "not-violated"]) and
         .metrics["cancel.noop"] == {baseline: 1, patch: 1})' "$OUT"
check_status 0 against "$flight" tests/live/hit.yaml --pooler "$pooler" --against "$copy" --markdown
check_contains "| cancel-in-flight | wait_ms.mean | 9 | 9 | 0.00 % | zero variance: one run says it | - | 2/2 2/2 | same |"
check_contains "**stampede "
check_status 0 against "$flight" --pooler "$pooler" --against "$copy" --quiet
check "--quiet says nothing" test ! -s "$OUT"
# With a second connection b does not wait, which is better; and it is one more than the pool may have, which is broken.
cat >"$SCRATCH/bin/pgbouncer-wide" <<EOF
#!/bin/sh
sed -i s/pool_size=1/pool_size=2/ "\$1"
exec $pooler "\$1"
EOF
chmod 755 "$SCRATCH/bin/pgbouncer-wide"
check_status 0 against "$flight" --pooler "$pooler" --against "$SCRATCH/bin/pgbouncer-wide" --json --set 'expect=[]' --set 'checks=[no-crash]'
check "a wider pool is better" jq -e '.cases[0] | .verdict == "better" and .baseline == 9 and .patch == 0' "$OUT"
check_status 1 against "$flight" --pooler "$pooler" --against "$SCRATCH/bin/pgbouncer-wide"
check_contains "1 broken"
check_contains "pool s: 2 server connections, 1 allowed"

# What the scenario expects to be violated is no difference: a pooler is the same as itself. Not expected, it is nothing to compare.
check_status 0 against tests/live/late-cancel.yaml --pooler "$pooler" --against "$copy"
check_contains "0 better, 1 same, 0 worse"
check_contains "on both sides, as the scenario expects, check cancel-hits-only-its-query violated"
check_status 3 against tests/live/late-cancel.yaml --pooler "$pooler" --against "$copy" --set 'expect=[]' --set 'checks=[cancel-hits-only-its-query]'
check_contains "1 incomplete"

# A list of --set is a case each; where the seed draws something there is a pair a seed.
check_status 0 against "$flight" --pooler "$pooler" --against "$copy" --repeat 3 --json \
  --set 'network.cancel_to_server={delay: {uniform: [1ms, 20ms]}, connect: 0ms}' --set 'pooler.pool_size=1,2'
check "two cases of three pairs" jq -e '[.cases[] | (.pairs | length)] == [3, 3]' "$OUT"
# A side that cannot be gated says so, in every form, and is run for every seed, as no run says what the next one would.
check_status 0 against tests/live/gate/crowd.yaml --adapter tests/live/adapters/tiny.yaml --repeat 2 \
  --pooler "$SCRATCH/bin/tiny" --against "$SCRATCH/bin/tiny-static" --set 'expect=[]' \
  --set 'clients=[{name: a, script: [connect, query: {tag: q1, runs: 7ms}]}]'
check_contains "on a real clock"
check_contains "patch: best effort: tiny-static is linked statically"

# What makes no sense together, and what is no pooler.
check_status 2 against "$flight" --pooler "$pooler" --against /no/such/pooler
check_status 2 against "$flight" --pooler "$pooler" --against "$copy" --trace "$SCRATCH/trace"
check_contains "--against writes no trace" "$ERR"
check_status 2 against "$flight" --pooler "$pooler" --against "$copy" --json --markdown
check_status 2 against "$flight" --pooler "$pooler" --against "$copy" --explore
check_status 4 against "$flight" --pooler "$pooler" --adapter pgbouncer --against /bin/true
check_contains "/bin/true was never ready" "$ERR"
check_status 4 against "$flight" --pooler "$pooler" --against "$copy" --junit /no/such/folder/junit
check "nothing is left" test -z "$(ls "$TMPDIR")"
