#!/bin/bash
# list: every kind, every name it prints is explained, an unknown one is refused with the nearest.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

check_status 0 "$STAMPEDE" list
for kind in scenarios suites presets variants profiles checks metrics keys; do check_contains "$kind:"; done
for kind in scenarios suites variants profiles checks; do
  check_status 0 "$STAMPEDE" list $kind
  cp "$OUT" "$SCRATCH/$kind"
  check "there are $kind" test -s "$SCRATCH/$kind"
  while read -r name _; do
    check_status 0 "$STAMPEDE" list "$name"
    check_contains "$name"
  done <"$SCRATCH/$kind"
done
for file in sim/scenarios/*.yaml; do check_contains "$(basename "$file" .yaml)" "$SCRATCH/scenarios"; done
check_contains dense-arrays "$SCRATCH/variants"
check_status 0 "$STAMPEDE" list presets
check_contains postgres-19
check_lacks variant-

check_status 0 "$STAMPEDE" list workload.clients
check_contains "default: 1"
check_status 0 "$STAMPEDE" list 'expect[0].metric'
check_status 0 "$STAMPEDE" list 'iteration[3].connect_ms'
check_contains "unit: ms"
check_status 0 "$STAMPEDE" list slot-owned-once
check_contains "sees: "
check_status 0 "$STAMPEDE" list slot-owned-once --json
check_contains '{"name": "slot-owned-once", "kind": "check", "about": "'
check_status 2 "$STAMPEDE" list worklod.clients
check_contains "the nearest is workload.clients" "$ERR"
check_status 2 "$STAMPEDE" list scenarioss
check_contains "the nearest is scenarios" "$ERR"
check_status 2 "$STAMPEDE" list fence
check_contains "nothing is called fence; there is clients[].fence, pooler.fence" "$ERR"
check_status 2 "$STAMPEDE" list drain_57014
check_contains "it is a value of " "$ERR"
check_contains "pooler.fence" "$ERR"
check_status 2 "$STAMPEDE" list one two
check_status 2 "$STAMPEDE" list --seed 1
check_status 0 "$STAMPEDE" list --man-scenario
check_contains ".TH STAMPEDE"
to_full_disk() { "$@" >/dev/full; }
check_status 4 to_full_disk "$STAMPEDE" list
