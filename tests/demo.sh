#!/bin/bash
# demo.sh BUILD - the main job: sweep the connect storm over clients, with the proc array as released and as patched;
# `sweep` prints the table beside the published one and writes the plot and all metrics to BUILD/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf "$1/demo"
"$1/stampede" sweep connect-storm --set 'workload.clients=512:8192:*2' --variant dense-arrays,split-pgxactoff \
  --jobs "$(nproc)" --out "$1/demo"
for file in plot.svg results.csv results.json; do
  [[ -s $1/demo/$file ]] || { echo "$1/demo/$file is missing" >&2; exit 1; }
done
echo "plot: $1/demo/plot.svg; all metrics: $1/demo/results.csv, results.json"
