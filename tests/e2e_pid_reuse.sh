#!/bin/bash
# S17, the figure: the share of cancels by pid alone that hit a stranger, over the number of pids W and the rate of forks f,
# against closed forms. Forks are Poisson, each stranger runs for an exponential time of mean L, the pid is free from 0 on and
# the cancel arrives at T. In turn the pid is given again to the W-th fork, the 2W-th, ...; the n-th comes at a time of density
# f^n s^(n-1) e^(-fs)/(n-1)!, and still runs at T with the chance e^(-(T-s)/L): the share is the sum of these over n = W, 2W, ..,
# for T long against W/f simply f L / W. At once (lowest pid first) the pid is a server that takes a fork whenever it is free:
# f L / (1 + f L) (1 - e^(-(f + 1/L) T)). In turn a pid that is still in use would be passed over, with a chance of
# (f L / (1 + f L))^W, 2 % at most here.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
seeds=300

in_turn() { # W RATE
  awk -v W="$1" -v f="$2" 'BEGIN { L = 0.002; T = 0.04; steps = 4000; ds = T / steps
    for (i = 0; i < steps; i++) { s = (i + 0.5) * ds
      for (n = W; n <= f * T * 3 + 30; n += W) {
        logd = n * log(f) + (n - 1) * log(s) - f * s - (T - s) / L
        for (k = 2; k < n; k++) logd -= log(k)
        P += exp(logd) * ds } }
    print P }'
}
at_once() { awk -v f="$1" 'BEGIN { L = 0.002; T = 0.04; print f * L / (1 + f * L) * (1 - exp(-(f + 1 / L) * T)) }'; }

# Three sigma of a share of so many, and the 2 % of pids passed over.
near() { # WORDS SAW EXPECTED
  check "$1: saw $2, by the closed form $3" awk -v saw="$2" -v is="$3" -v n=$seeds 'BEGIN { d = saw - is
    exit !((d < 0 ? -d : d) <= 3 * sqrt(is * (1 - is) / n) + 0.02 * is + 1e-9) }'
}
row() { sed -n "/cancel.foreign/,\$p" "$1" | sed -n "s/^| $2 | \\([0-9.]*\\) | \\([0-9.]*\\) |.*/\\1 \\2/p"; }

rates='clients[1].arrive={poisson: 400/s},{poisson: 800/s}'
check_status 0 "$STAMPEDE" sweep s17-pid-reuse-figure --set 'servers[0].pids.max=8:64:*2' --set "$rates" --repeat $seeds \
  --metric cancel.foreign --across arrive --jobs 2 --out "$SCRATCH/turn"
for pids in 8 16 32 64; do
  read -r slow fast < <(row "$SCRATCH/turn/results.md" $pids)
  near "$pids pids in turn, 400/s" "$slow" "$(in_turn $pids 400)"
  near "$pids pids in turn, 800/s" "$fast" "$(in_turn $pids 800)"
done
check_status 0 "$STAMPEDE" sweep s17-pid-reuse-figure --set 'servers[0].pids.reuse=in_turn,at_once' --set "$rates" \
  --repeat $seeds --metric cancel.foreign --across arrive --jobs 2 --out "$SCRATCH/once"
read -r slow fast < <(row "$SCRATCH/once/results.md" at_once)
near "at once, 400/s" "$slow" "$(at_once 400)"
near "at once, 800/s" "$fast" "$(at_once 800)"

# A key closes this window whatever the pids are.
check_status 0 "$STAMPEDE" sweep s17-pid-reuse-figure --set pooler.server_identity=pid_secret4 \
  --set 'servers[0].pids.reuse=in_turn,at_once' --repeat 50 --metric cancel.foreign,cancel.lost --out "$SCRATCH/key"
check_contains "| at_once | 0 | 1 |" "$SCRATCH/key/results.md"
