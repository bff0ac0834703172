#!/bin/bash
# confirm.sh [BUILD] - the confirmation suite: PostgreSQL 15, N clients with 4 KiB pages and, where the machine has them or lets
# us reserve them, huge pages; each with several seeds. Private pages that grow with a storm, which are not simulated, are taken
# from one iteration of another seed, so that no storm is judged by what it has itself measured; the server's malloc keeps no
# lists of freed pieces, or they would not be the same. Prints one row a figure: real, simulated, how far off, over all seeds;
# ends with "N passed, N failed" and status 1 when a figure is off by more than 4 % and more than one fault a backend, or page
# tables by more than 5 %.   CONFIRM_N="250 500 1000"   CONFIRM_SEEDS="1 2"   CONFIRM_OUT: a folder for the JSON documents
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=${1:-build} n_list=${CONFIRM_N:-250 500 1000} seeds=${CONFIRM_SEEDS:-1 2}
bin=$(tests/postgres_bin.sh 15) || { echo "PostgreSQL 15 is missing" >&2; exit 4; }
out=${CONFIRM_OUT:-} own=
[[ -n $out ]] || out=$(mktemp -d) own=$out
mkdir -p "$out"
passed=0 failed=0

# Huge pages: shared memory of 1200 slots takes some 80 MiB. What we reserve we give back.
reserved=
give_back() {
  [[ -z $reserved ]] || echo "$reserved" >/proc/sys/vm/nr_hugepages
  [[ -z $own ]] || rm -rf "$own"
}
trap give_back EXIT
huge_pages() {
  local free
  free=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
  ((free >= 80)) && return
  [[ -w /proc/sys/vm/nr_hugepages ]] || return 1
  reserved=${reserved:-$(</proc/sys/vm/nr_hugepages)}
  echo $((reserved + 80)) >/proc/sys/vm/nr_hugepages
  free=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
  ((free >= 80))
}

storm() { # N PAGES SEED FILE [OPTION...]
  "$build/stampede" calibrate postgres --bin "$bin" --clients "$1" --seed "$3" --plain-malloc \
    --huge-pages "$([[ $2 == 4KiB ]] && echo off || echo on)" --json "${@:5}" >"$4" && return
  echo "failed: $*"
  failed=$((failed + 1))
  rm -f "$4"
  return 1
}
one() { # N PAGES
  local beside="$out/beside-$1-$2.json" seed
  storm "$1" "$2" 4711 "$beside" --iterations 1 || return
  for seed in $seeds; do storm "$1" "$2" "$seed" "$out/$1-$2-$seed.json" --iterations 3 --beside "$beside"; done
}

rows() { # N PAGES: each figure over the seeds
  jq -rs --arg n "$1" --arg pages "$2" '
    [.[].agreement[]] | group_by(.what)[] |
    [$n, $pages, .[0].what, (map(.real) | min), (map(.real) | max), (map(.model) | min), (map(.model) | max),
     (map((.model - .real) | fabs) | max), (map(.allowed) | min), (map(.agrees) | all)] | @tsv' "$out/$1-$2-"*.json |
    awk -F'\t' '{ printf "%5s  %-5s %-40s %9.1f .. %9.1f %9.1f .. %9.1f %7.1f %7.1f  %s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 == "true" ? "agrees" : "DIFFERS" }'
}

# A backend that is alone: what is not simulated of it is measured there, N = 1, and so not judged.
alone() { # N PAGES
  jq -rs --arg n "$1" --arg pages "$2" '
    map(.alone) | ("faults", "pagetable_kib") as $what |
    [$n, $pages, "alone." + $what] + [("real.", "model.") as $side | map(.[$side + $what]) | min, max] | @tsv' "$out/$1-$2-"*.json |
    awk -F'\t' '{ printf "%5s  %-5s %-40s %9.1f .. %9.1f %9.1f .. %9.1f %7s %7s  measured, not judged\n", $1, $2, $3, $4, $5, $6, $7, "-", "-" }'
}

printf '%5s  %-5s %-40s %22s %22s %7s %7s\n' N pages figure 'real, over seeds' simulated 'off by' allowed
for pages in 4KiB 2MiB; do
  if [[ $pages == 2MiB ]] && ! huge_pages; then
    echo "       2MiB  not confirmed here: no huge pages, and none can be reserved"
    continue
  fi
  for n in $n_list; do
    one "$n" $pages
    alone "$n" $pages
    while IFS= read -r line; do
      echo "$line"
      case $line in *agrees) passed=$((passed + 1)) ;; *) failed=$((failed + 1)) ;; esac
    done < <(rows "$n" $pages)
  done
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
