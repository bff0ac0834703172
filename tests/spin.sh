# shellcheck shell=bash
# spin.sh - sourced: SPIN beside stampede check.
#
#   spin_build PML FOLDER CFLAGS...   FOLDER/pan, a verifier without partial-order reduction, of the model as
#                                     $spin_model (-DN=3 ...) has it
#   spin_run FOLDER OPTIONS...        sets spin_states, spin_transitions, spin_bytes (a state), spin_cpu (seconds)
#   spin_shortest FOLDER              built with -DREACH; sets spin_steps, of the shortest way to an error (0: none)
#   timed COMMAND...                  runs it, output to $timed_out; sets cpu (seconds, user + system)
# shellcheck disable=SC2034 # what these set is the caller's
spin_model=() spin_states='' spin_transitions='' spin_bytes='' spin_cpu='' spin_errors='' spin_steps='' cpu='' timed_out=${timed_out:-/dev/null}
timed() {
  local times
  # shellcheck disable=SC2034 # for the caller
  times=$( { TIMEFORMAT='%U %S'; time "$@" >"$timed_out" 2>/dev/null; } 2>&1)
  cpu=$(awk '{ print $1 + $2 }' <<<"$times")
}

spin_build() {
  local pml folder=$2
  pml=$(realpath "$1")
  shift 2
  mkdir -p "$folder"
  (cd "$folder" && spin -a "${spin_model[@]}" "$pml" >/dev/null && gcc "${spin_opt:--O2}" -w -DSAFETY -DNOREDUCE=1 -DMEMLIM=3000 "$@" -o pan pan.c)
}

# shellcheck disable=SC2034 # results are the caller's
spin_run() {
  local folder=$1
  shift
  timed "$folder/pan" "$@"
  spin_cpu=$cpu
  spin_states=$(awk '/states, stored/ { print $1 }' "$timed_out")
  # pan counts the first state as a transition (stored + matched).
  spin_transitions=$(awk '/transitions \(= stored\+matched\)/ { print $1 - 1 }' "$timed_out")
  spin_bytes=$(awk '/actual memory usage for states|memory used for bit stack/ { m += $1 } /memory used for hash table/ { m += $1 }
                    /states, stored/ { n = $1 } END { printf "%.1f", n ? m * 1048576 / n : 0 }' "$timed_out")
  spin_errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$timed_out")
}

# pan keeps the shortest of the ways it finds in its trail: a line of header, then one a step.
# shellcheck disable=SC2034
spin_shortest() {
  rm -f "$1"/*.trail
  (cd "$1" && ./pan -m1000000 -i >/dev/null 2>&1)
  spin_steps=$(cat "$1"/*.trail 2>/dev/null | grep -c '^[0-9]')
}
