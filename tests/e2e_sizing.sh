#!/bin/bash
# The sizing sweep of operators against the closed form of M/M/c: with the load a = rate x service, Erlang C is
#   C = P(wait > 0) = (a^c/c! c/(c-a)) / (sum of a^k/k!, k < c, + a^c/c! c/(c-a)),
# the mean wait C / (c mu - rate), the wait that 95 % stay below ln(C/0.05) / (c mu - rate), or 0 where C < 0.05, and the
# utilisation a/c. The knee named is that of the closed form's curve, by the rule that sim/README.md tells.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

# prints: c mean p95 utilisation, for c = 4..10 at 320/s and 10 ms
closed_form() {
  awk 'BEGIN { rate = 320; mu = 100; a = rate / mu
    for (c = 4; c <= 10; c++) {
      term = 1; sum = 0
      for (k = 0; k < c; k++) { sum += term; term *= a / (k + 1) }
      last = term * c / (c - a); C = last / (sum + last); spare = c * mu - rate
      print c, 1000 * C / spare, (C > 0.05 ? 1000 * log(C / 0.05) / spare : 0), a / c } }'
}
closed_form >"$SCRATCH/closed"
knee_of() { # COLUMN: of the closed form's curve
  awk -v column="$1" '{ x[NR] = $1; y[NR] = $column; if (NR == 1 || y[NR] > worst) worst = y[NR]; if (NR == 1 || y[NR] < best) best = y[NR] }
    END { for (i = 1; i <= NR; i++) if (y[i] - best <= 0.05 * (worst - best)) { print x[i]; exit } }' "$SCRATCH/closed"
}

for metric in wait_ms.mean wait_ms.p95; do
  column=$([[ $metric == wait_ms.mean ]] && echo 2 || echo 3)
  check_status 0 "$STAMPEDE" sweep pool-sizing --set end=400s --set 'pooler.pool_size=4:10:+1' --metric utilisation --jobs 2 --knee $metric \
    --out "$SCRATCH/$metric"
  knee=$(sed -n 's/.*pool_size=\([0-9]*\), .*worst.*/\1/p' "$OUT")
  check "knee of $metric: $knee, of the closed form $(knee_of "$column")" test "$knee" = "$(knee_of "$column")"
  check_contains "\"x\": $knee, \"value\": " "$SCRATCH/$metric/results.json"
  check "the plot names it" grep -q "knee at $knee" "$SCRATCH/$metric/plot.svg"
done

# 128,000 waits of a run of 400 s. At c = 4 they are autocorrelated over some 1/(1 - 0.8)^2 = 25 of each other and vary by
# 1.5 of their mean, at c = 5 over 8 and by 2.4: three sigma are 6.4 % and 5.7 %. A utilisation is of 128,000 independent
# times of service: less than 1 %.
near() { # SIZE METRIC EXPECTED SHARE
  local saw
  saw=$(awk -F, -v size="$1" -v metric="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == metric) at = i }
    $1 == size { print $at }' "$SCRATCH/wait_ms.p95/results.csv")
  check "pool_size $1: $2 is $saw, by the closed form $3" awk -v saw="$saw" -v is="$3" -v share="$4" \
    'BEGIN { d = saw - is; exit !((d < 0 ? -d : d) <= share * is) }'
}
while read -r size mean p95 used; do
  near "$size" utilisation "$used" 0.01
  ((size > 5)) || near "$size" wait_ms.mean "$mean" 0.064
  ((size > 5)) || near "$size" wait_ms.p95 "$p95" 0.064
done <"$SCRATCH/closed"

# --- the whole range: the table, and a plot that leaves out what is 0
check_status 0 "$STAMPEDE" sweep pool-sizing --set 'pooler.pool_size=1:64:*2' --metric wait_ms.p50,wait_ms.p95,utilisation,tps \
  --knee wait_ms.p95 --out "$SCRATCH/range"
check_contains "| pool_size | wait_ms.p50 | wait_ms.p95 | utilisation | tps |" "$SCRATCH/range/results.md"
check_contains "knee of wait_ms.p95, the smallest pool_size within 5 % of the way from worst to best"
check "the curve is drawn" test -s "$SCRATCH/range/plot.svg"
# More of tps is better: the smallest pool that keeps up.
check_status 0 "$STAMPEDE" sweep pool-sizing --set 'pooler.pool_size=1,2,3,4,5' --knee tps
check_contains "tps  pool_size=4, "
check_status 2 "$STAMPEDE" sweep pool-sizing --set pooler.pool_size=1,2 --knee tps
check_contains "--knee needs a list of three numbers" "$ERR"
check_status 2 "$STAMPEDE" sweep pool-sizing --set pooler.pool_size=1:4:+1 --knee tsp
