#!/bin/bash
# deps.sh build|all - install the Debian packages that are missing: those that `make` needs, or those for tests as well.
# Does nothing when all are there. On a system without apt it prints the list and stops with status 1.
set -euo pipefail
build=(gcc libc6-dev make pkg-config libglib2.0-dev libyaml-dev libjson-glib-dev libxxhash-dev libgraphviz-dev
       libnlopt-dev libdw-dev libssl-dev graphviz gnuplot-nox)
tests=(libcunit1-dev clang clang-format clang-tidy cppcheck libclang-rt-14-dev valgrind libc6-dbg shellcheck gcovr
       librsvg2-bin man-db locales spin postgresql-15 pgbouncer pgpool2 libfaketime jq procps
       postgresql-server-dev-15)
case ${1:-all} in
build) wanted=("${build[@]}") ;;
all) wanted=("${build[@]}" "${tests[@]}") ;;
*) echo "usage: $0 build|all" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system. Please install what these Debian packages hold: ${wanted[*]}" >&2
  exit 1
fi
missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $state == 'install ok installed' ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

echo "installing: ${missing[*]}"
root=()
if (($(id -u) != 0)); then
  command -v sudo >/dev/null || { echo "As root, please run: apt-get install ${missing[*]}" >&2; exit 1; }
  root=(sudo)
fi
"${root[@]}" apt-get -q update
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"
