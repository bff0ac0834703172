#!/bin/bash
# The tables of policies (model/pooler/POLICIES.md, made by tests/table_c6.sh): parts of them, explored again, say the same;
# the claims of the published table stand in them, or their opposite where README.md says who is wrong.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
tables=model/pooler/POLICIES.md

# Notes are numbered within a sweep.
plain() { grep -E '^\| ' | grep -vE '^\| (---|server_identity|fence|auth|processes|scenario)' | sed 's/ \[[0-9]*\]//g'; }
# again HEADING SWEEP-ARGUMENTS...: each row that this sweep makes stands below the heading.
again() {
  local heading=$1 row
  shift
  rm -rf "$SCRATCH/again"
  check_status 0 "$STAMPEDE" sweep "$@" --job check --reduce none --out "$SCRATCH/again" --quiet
  sed -n "/^## $heading/,/^## /p" "$tables" | plain >"$SCRATCH/there"
  while IFS= read -r row; do check_contains "$row" "$SCRATCH/there"; done < <(plain <"$SCRATCH/again/results.md")
  check "rows were made" test -s "$SCRATCH/again/results.md"
}

again 'Identity, look-up and fence' c6-shared-pids c6-equal-pids c6-pid-reuse \
  --set 'pooler.server_identity=pid_only,unique_seq' --set 'pooler.lookup=at_arrival_copy,at_arrival_link' \
  --set 'pooler.fence=none,unlink_unforwarded,hold_until_eof,{retire_session: 0s}' \
  --set 'servers[0].signal=prompt,delayed' --set 'checks=[cancel-hits-its-query]' --across scenario,signal
again 'The server.s own key' c6-shared-pids --set pooler.client_identity=real_key_passthrough \
  --set pooler.pool_mode=session --set pooler.server_identity=pid_secret4 --set 'pooler.fence=none,drain_57014' \
  --set 'servers[0].signal=prompt,delayed' --across signal
again 'An identity is no fence' identity-without-fence fence-without-identity \
  --set 'pooler.server_identity=pid_only,unique_seq' --set 'pooler.fence=none,hold_until_eof' --set pooler.ack=wait_eof \
  --set pooler.taken=G4 --set 'checks=[cancel-hits-its-query, pool-accounting]' --across scenario
again 'A pooler that restarts' c6-pooler-restart --set 'pooler.auth=none,secret_eq' \
  --set 'pooler.server_identity=unique_seq,{unique_seq: {reset_on_restart: true}}'

# --- table C.6 of the facts, row by row: IDENTITY LOOKUP FENCE, then what must stand in the columns shared pids prompt,
# shared pids delayed, equal pids prompt, pid reuse prompt: v violated, h holds
c6() {
  local words=$1 claims=$2 row
  row=$(sed -n '/^### cancel-hits-its-query/,/^### /p' "$tables" | grep -F -- "| $words |" | head -1 |
    awk -F'|' '{ for (i = 5; i <= 9; i++) if (i != 8) printf "%s", $i ~ /violated/ ? "v" : $i ~ /holds/ ? "h" : "-" }')
  check "$words: $row, and C.6 says $claims" test "$row" = "$claims"
}
c6 'pid_only | at_arrival_copy | none' vvvv
c6 'pid_only | at_forward | none' vvvv
c6 'pid_only | at_arrival_link | none' vvvh # README: closed connections take their links along
c6 'pid_secret4 | at_arrival_copy | none' vvhh
c6 'pid_secret4 | at_arrival_copy | hold_until_eof' hvhh
c6 'unique_seq | at_arrival_copy | none' vvhh
c6 'unique_seq | at_arrival_copy | {generation_check: per_checkout}' vvhh
c6 'object_link | at_arrival_link | none' vvhh
c6 'object_link | at_arrival_link | unlink_unforwarded' vvhh
c6 'object_link | at_arrival_link | hold_until_eof' hvhh
c6 'object_link | at_forward | refcount_hold' hvhh
c6 'unique_seq | at_arrival_copy | {retire_session: 0s}' hhhh
c6 'unique_seq | at_arrival_copy | drain_57014' hhhh
