#!/bin/bash
# The built-in dense arrays against the real procarray.c and proc.c of trees of yours, STAMPEDE_PG_TREE=DIR[:DIR...]
# (configured, with generated headers; sim/subject/README.md): the same random connects and disconnects agree call by
# call.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

if [[ -z ${STAMPEDE_PG_TREE:-} ]]; then
  echo "no tree given: with STAMPEDE_PG_TREE=DIR[:DIR...] procarray.c and proc.c of each are built and compared with the model, call by call"
  pass
  exit 0
fi
IFS=: read -ra trees <<<"$STAMPEDE_PG_TREE"
for tree in "${trees[@]}"; do
  version=$(sed -n 's/^#define PG_MAJORVERSION "\([0-9]*\).*/\1/p' "$tree/src/include/pg_config.h")
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$tree" -o "$SCRATCH/tree.so"
  # 20devel lays out and lists as 19 does.
  check_status 0 "$BUILD/tests/test_subject_agree" "$SCRATCH/tree.so" "$((version > 19 ? 19 : version))"
  echo "$tree: $(grep asserts "$OUT")"
done
