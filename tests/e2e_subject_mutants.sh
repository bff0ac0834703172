#!/bin/bash
# Each check of the proc array catches its mutant in real code: the shipped subject, one line of it changed, as the
# server's proc array. The subject as it is violates none.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"

checks='proc-array-sorted pgxactoff-matches dense-arrays-agree slot-owned-once'

# mutant NAME SED: the subject with that line changed, as $SCRATCH/NAME.so.
mutant() {
  mkdir "$SCRATCH/$1"
  sed "$2" tests/subjects/pgmini.c >"$SCRATCH/$1/pgmini.c"
  [[ $1 == none ]] || check "$1: the line is there" test -n "$(diff tests/subjects/pgmini.c "$SCRATCH/$1/pgmini.c")"
  check_status 0 "$STAMPEDE" subject build --quiet --tree "$SCRATCH/$1" --manifest tests/subjects/pgmini.yaml -o "$SCRATCH/$1.so"
}
storm() {
  check_status "$1" "$STAMPEDE" run connect-storm --subject "$SCRATCH/$2.so" --set workload.clients=40 \
    --set postgres.max_connections=100 --set workload.iterations=2 --set "checks=[$3]"
}

# backends STATUS NAME CHECK: the same by `check`, in every order of two backends that connect and leave.
cat >"$SCRATCH/backends.yaml" <<END
scenario: backends
about: Two backends connect and leave.
postgres: {version: 15, max_connections: 9}
processes:
  - {name: backend, count: 2, script: [connect, leave]}
END
backends() { check_status "$1" "$STAMPEDE" check "$SCRATCH/backends.yaml" --subject "$SCRATCH/$2.so" --set "checks=[$3]"; }

mutant none ''
storm 0 none "${checks// /,}"
backends 0 none "${checks// /,}"
for check in $checks; do check "$check holds in every order" grep -Eq "$check +holds" "$OUT"; done
# Without `checks` and `expect` these four are asked, by check, run and replay alike; an empty list asks for none, and is told.
unasked() { check_status "$1" "$STAMPEDE" check "$SCRATCH/backends.yaml" --subject "$SCRATCH/$2.so" --trace "$SCRATCH/unasked.jsonl"; }
unasked 0 none
for check in $checks; do check "$check is asked and holds" grep -Eq "$check +holds" "$OUT"; done
check_lacks 'no check is judged'
check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml" --subject "$SCRATCH/none.so" --set 'checks=[]'
check_contains 'no check is judged: '
check_lacks 'proc-array-sorted'
check_status 0 "$STAMPEDE" check "$SCRATCH/backends.yaml" --subject "$SCRATCH/none.so" --set 'checks=[waiter-is-served]'
check "what code cannot show is not said to hold" grep -Eq 'waiter-is-served +unknown' "$OUT"
check_lacks 'proc-array-sorted'
check_status 2 "$STAMPEDE" check connect-storm --subject "$SCRATCH/none.so"
check_contains "a scenario with \`processes\` is searched, order by order" "$ERR"
storm 0 none "${checks// /,}"
for check in $checks; do check "$check is not violated" grep -Eq "check $check +not-violated" "$OUT"; done

# Faults are told by backend too, with several jobs the same bytes.
check_status 0 "$STAMPEDE" run connect-storm --subject "$SCRATCH/none.so" --set workload.clients=40 --json
check "each backend's faults: their mean is that of all" jq -e \
  '.metrics["iteration[1].faults_mean"] == .metrics["iteration[1].connect_faults_per_backend"]' "$OUT"
for jobs in 1 2; do
  check_status 0 "$STAMPEDE" sweep connect-storm --subject "$SCRATCH/none.so" --set workload.clients=10,20,40 --repeat 2 \
    --jobs $jobs --quiet --out "$SCRATCH/jobs$jobs"
done
check_same "$SCRATCH/jobs1/results.csv" "$SCRATCH/jobs2/results.csv"
check_same <(sed '/"measured"/d' "$SCRATCH/jobs1/results.json") <(sed '/"measured"/d' "$SCRATCH/jobs2/results.json")

mutant unsorted 's/pgprocnos\[at\] <= procno)/pgprocnos[at] >= 0)/'
storm 1 unsorted proc-array-sorted
check_contains 'not above pgprocnos'
backends 1 unsorted proc-array-sorted
check_contains "violated"
mutant follower 's/  tell_places(at + 1);/  tell_places(at + 2);/'
storm 1 follower pgxactoff-matches
check_contains 'violated after step'
backends 1 follower pgxactoff-matches
check_contains "violated"
unasked 1 follower
check "asked, and broken" grep -Eq 'pgxactoff-matches +violated' "$OUT"
check_status 0 "$STAMPEDE" replay "$SCRATCH/unasked.jsonl"
check_status 1 "$STAMPEDE" run "$SCRATCH/backends.yaml" --subject "$SCRATCH/follower.so"
check "run asks too" grep -Eq 'pgxactoff-matches +violated' "$OUT"
mutant status 's/  memmove(&ProcGlobal->statusFlags\[from.*/  (void)0;/'
storm 1 status dense-arrays-agree
check_contains 'but PGPROC has'
backends 1 status dense-arrays-agree
check_contains "violated"
mutant pop 's/  if (proc) \*list = /  if (proc \&\& proc->pgprocno % 8) *list = /'
storm 1 pop slot-owned-once
check_contains 'violated after step'
backends 1 pop slot-owned-once
check_contains "violated"
mutant push 's/  if (leader != proc || last) push(proc);/  if (proc->pgprocno % 8) push(proc);/'
storm 1 push slot-owned-once
check_contains 'is lost'
backends 1 push slot-owned-once
check_contains "violated"
