#!/bin/bash
# demo.sh BUILD - the main job: sweep the connect storm, and print the simulated table beside the published one.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 out=$1/demo published=sim/data/connect-storm.csv
"$build/stampede" sweep connect-storm --set 'workload.clients=512:8192:*2' \
  --variant dense-arrays,split-pgxactoff --out "$out" --quiet

# Published columns: clients, then baseline and patched, first and warm, each with the author's spread.
LC_ALL=C awk -F, '
  function cell(clients, variant, name, published, spread,   saw, off, note) {
    saw = simulated[clients, variant, name]
    off = published ? 100 * (saw - published) / published : 0
    note = clients == 512 && variant == "split-pgxactoff" && name == "warm" ? "  not counted (see the data file)" : ""
    if (!note && (off < 0 ? -off : off) > worst) worst = off < 0 ? -off : off
    printf "%7d  %-16s %-5s %12d %6d %12.0f %+8.1f %%%s\n", clients, variant, name, published, spread, saw, off, note }
  /^#/ { next }
  FILENAME != results && /^clients,/ { next }
  FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; next }
  FILENAME == results {
    clients = $column[results, "workload.clients"]; variant = $column[results, "variant"]
    simulated[clients, variant, "first"] = $column[results, "first.connect_ms"]
    simulated[clients, variant, "warm"] = $column[results, "warm.connect_ms"]; next }
  !printed++ { print "clients  variant          run    published     +-   simulated  difference (ms)" }
  { cell($1, "dense-arrays", "first", $2, $3); cell($1, "dense-arrays", "warm", $4, $5)
    cell($1, "split-pgxactoff", "first", $6, $7); cell($1, "split-pgxactoff", "warm", $8, $9) }
  END { printf "worst counted cell: %.1f %% off; simulated with the profile that the sweep names\n", worst }
' results="$out/results.csv" "$out/results.csv" "$published"
echo "plot: $out/plot.svg"
