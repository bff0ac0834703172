#!/bin/bash
# make install puts a program that works from anywhere under DESTDIR and PREFIX; make uninstall leaves nothing behind.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

unset STAMPEDE_DATA
# With what the build under test was made (MADE_WITH, from `make check`): another flag would make the program anew under
# the tests that run beside.
read -ra made_with <<<"${MADE_WITH:-}"
make_to() { make --no-print-directory "${made_with[@]}" BUILD="$BUILD" PREFIX=/opt/st DESTDIR="$SCRATCH/root" "$1"; }
check_status 0 make_to install
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
# Glue, overlay and header for subjects are the installed ones; a manifest beside them finds them.
shipped=$prefix/share/stampede/subject
for file in include/stampede_subject.h postgres/glue.c postgres/manifest.yaml postgres/overlay/storage/s_lock.h \
            postgres/overlay/port/atomics/arch-x86.h; do
  check_same "sim/subject/$file" "$shipped/$file"
done
sed 's|[.][.]/[.][.]/sim/subject/||' tests/subjects/pgmini.yaml >"$shipped/pgmini.yaml"
check_status 0 "$prefix/bin/stampede" subject build --tree tests/subjects --manifest "$shipped/pgmini.yaml" -o "$SCRATCH/pgmini.so"
check_contains 'a small proc array'

check_status 0 make_to uninstall
check "nothing is left: $(find "$SCRATCH/root" -type f)" test -z "$(find "$SCRATCH/root" -type f)"
