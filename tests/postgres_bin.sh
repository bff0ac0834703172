#!/bin/bash
# postgres_bin.sh MAJOR - print the folder with initdb and postgres of that version; status 1 if there is none. Installs it where
# that needs no more than a Debian package: tests that want a server do not pass by without one.
set -euo pipefail
find_it() {
  local dir
  for dir in "${PGBIN:-}" /usr/lib/postgresql/"$1"/bin; do
    [[ -x $dir/postgres && -x $dir/initdb ]] && { echo "$dir"; return 0; }
  done
  return 1
}
find_it "$1" && exit
if command -v apt-get >/dev/null && (($(id -u) == 0)); then
  { DEBIAN_FRONTEND=noninteractive apt-get -q update && apt-get -q -y --no-install-recommends install "postgresql-$1"; } >&2 </dev/null
fi
find_it "$1"
