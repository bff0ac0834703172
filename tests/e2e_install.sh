#!/bin/bash
# make install puts a program that works from anywhere under DESTDIR and PREFIX; make uninstall leaves nothing behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

unset STAMPEDE_DATA
check_status 0 make --no-print-directory BUILD="$BUILD" PREFIX=/opt/st DESTDIR="$SCRATCH/root" install
prefix=$SCRATCH/root/opt/st
for file in bin/stampede share/man/man1/stampede.1 share/man/man5/stampede-scenario.5 \
            share/bash-completion/completions/stampede; do
  check "$file is installed" test -s "$prefix/$file"
done
for folder in scenarios suites presets profiles; do
  for file in sim/"$folder"/*.yaml; do check_same "$file" "$prefix/share/stampede/$folder/${file##*/}"; done
done

# A copy of the program alone, moved from where it was built, must find the installed files by name.
cd "$SCRATCH" || exit 1
check_status 0 "$prefix/bin/stampede" list scenarios
check_contains connect-storm
check_status 0 "$prefix/bin/stampede" run connect-storm --set workload.clients=8 --set postgres.max_connections=40 --quiet
check_status 0 "$prefix/bin/stampede" check xid-race-bad --quiet
cd - >/dev/null || exit 1

check_status 0 make --no-print-directory BUILD="$BUILD" PREFIX=/opt/st DESTDIR="$SCRATCH/root" uninstall
check "nothing is left: $(find "$SCRATCH/root" -type f)" test -z "$(find "$SCRATCH/root" -type f)"
