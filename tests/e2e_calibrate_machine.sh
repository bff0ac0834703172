#!/bin/bash
# e2e_calibrate_machine.sh - calibrate machine: a profile that a scenario can stand on, figures within bounds that hold for any
# machine of this century, and the one refusal that is allowed: a machine too busy to measure.
# shellcheck source=tests/e2e.sh
. "$(dirname "$0")/e2e.sh"
command -v jq >/dev/null || { echo "jq is missing: make deps"; exit 1; }

started=$SECONDS
"$STAMPEDE" calibrate machine --json -o "$SCRATCH/here.yaml" >"$OUT" 2>"$ERR" </dev/null
status=$?
check "takes no more than a minute" test $((SECONDS - started)) -le 60
check "JSON" jq -e . "$OUT"

# NAME LOW HIGH: ns of the median. An order of magnitude beside what machines of 2010 to 2030 do.
within() {
  check "$1 between $2 and $3 ns, not $(jq -r ".measured[] | select(.name == \"$1\") | .median_ns" "$OUT")" \
    jq -e ".measured[] | select(.name == \"$1\") | .samples >= 9 and .median_ns > $2 and .median_ns < $3" "$OUT"
}
within memory.fault_write 50 20000
within memory.fault_read 50 20000
within memory.unmap_page 5 5000
within postmaster.fork 10000 20000000
within postmaster.accept 100 1000000
within postmaster.reap 100 1000000
within memory.move_per_byte 0.005 2
within procarray.scan_entry 0.05 20
within lock.acquire 1 500
within lock.handover 500 5000000
within network.one_way 500 5000000
within "context switch" 200 1000000
within memory.line_transfer 5 20000

# Independent of the program: what the kernel and the shell say.
check "kernel" test "$(jq -r .kernel "$OUT")" = "$(uname -s) $(uname -r) $(uname -m)"
check "cores" test "$(jq -r .cores "$OUT")" = "$(getconf _NPROCESSORS_ONLN)"

if ((status == 4)) && grep -Eq 'no profile is written: .*(spread of|time was over)' "$ERR"; then
  echo "too busy to measure: $(cat "$ERR")"
  check "refused, and nothing written" test ! -e "$SCRATCH/here.yaml"
else
  check "status 0, not $status: $(cat "$ERR")" test "$status" = 0
  check_contains "kernel $(uname -s) $(uname -r)" "$SCRATCH/here.yaml"
  check_contains 'from: measured' "$SCRATCH/here.yaml"
  check_contains 'stampede calibrate machine' "$SCRATCH/here.yaml"
  check_status 0 "$STAMPEDE" run connect-storm --set workload.clients=64 --set machine.profile="$SCRATCH/here.yaml"
  check_contains "$SCRATCH/here.yaml"
fi

check_status 4 "$STAMPEDE" calibrate machine -o "$SCRATCH/no/such/folder/here.yaml"
check_status 2 "$STAMPEDE" calibrate machine --set workload.clients=1
check_status 2 "$STAMPEDE" calibrate machine --json -o -
check_status 2 "$STAMPEDE" calibrate
