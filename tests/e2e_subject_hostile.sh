#!/bin/bash
# Objects that are no subject although they have its symbol, crashes and wild accesses with their line, and text of the
# code's that would reach a terminal.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

build() { # NAME [FLAGS]: of NAME.c
  printf 'subject: %s\nabout: hostile\nsources: [%s.c]\nflags: [%s]\n' "$1" "$1" "${2:-}" >"$1.yaml"
  "$STAMPEDE" subject build --manifest "$1.yaml" -o "$1.so"
}
scenario() { printf 'scenario: hostile\nabout: a misdeed\nsubject: ./%s.so\nprocesses:\n  - {name: a, script: [%s]}\n' "$1" "$2" >"run-$2.yaml"; }
# loads_not NAME TEXT: builds, and is refused by whoever loads it.
loads_not() {
  check_status 0 build "$1"
  check_status 2 "$STAMPEDE" subject info "$1.so"
  check_contains "$2" "$ERR"
  scenario "$1" any
  check_status 2 "$STAMPEDE" run run-any.yaml
  check_contains "$2" "$ERR"
}

# --- the symbol, and what it lists
echo 'int stampede_subject = 3;' >number.c
loads_not number "stampede_subject is no StampedeSubject of stampede_subject.h"
subject() { # NAME ENTRIES CHECKS
  cat >"$1.c" <<END
#include "stampede_subject.h"
static void start(void) {}
static void act(int64_t a) { (void)a; }
static bool fine(char *why, size_t size) { (void)why, (void)size; return false; }
static const StampedeEntry entries[] = {$2};
static const StampedeCheck checks[] = {$3};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "$1", .about = "x", .start = start,
  .entries = entries, .n_entries = sizeof entries / sizeof *entries,
  .checks = checks, .n_checks = sizeof checks / sizeof *checks};
END
}
ENTRY='{"any", "x", act}' CHECK='{"good", "x", fine, false}'
subject nameless "$ENTRY, {0, \"x\", act}" "$CHECK"
loads_not nameless "its entry number 2 has no name"
subject twice "$ENTRY, $ENTRY" "$CHECK"
loads_not twice "it has two of entry any"
subject idle '{"any", "x", 0}' "$CHECK"
loads_not idle "its entry any has no function"
subject blind "$ENTRY" '{"good", "x", 0, false}'
loads_not blind "its check good has no function"
subject checked "$ENTRY" "$CHECK, $CHECK"
loads_not checked "it has two of check good"
subject coloured '{"a\033[31m", "x", act}' "$CHECK"
loads_not coloured 'the name of its entry "a\x1b[31m" cannot be shown'

# --- constructors: a variable keeps what it was given, an stm_ function is too early
cat >early.c <<'END'
#include "stampede_subject.h"
static int given, kept;
static void *cell;
static __attribute__((constructor)) void before(void) { given = 41; given++; }
static void start(void) { cell = stm_shared("cell", 64, 64); kept = given; }
static void any(int64_t a) { stm_panic(given == 42 && kept == 42 ? "kept" : "lost"); }
static const StampedeEntry entries[] = {{"any", "x", any}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "early", .about = "x", .start = start,
  .entries = entries, .n_entries = 1};
END
check_status 0 build early
scenario early any
check_status 1 "$STAMPEDE" run run-any.yaml
check_contains "PANIC: kept" "$OUT"
sed 's/given = 41; given++;/cell = stm_shared("cell", 64, 64);/; s/early/asks/' early.c >asks.c
loads_not asks "a constructor of the subject calls an stm_ function"

# --- what cannot become a subject is told when it is built
echo 'int f(void) { return 1; }' >none.c
check_status 2 build none
check_contains "neither the sources nor the glue define stampede_subject" "$ERR"
if [[ $(uname -m) == x86_64 ]]; then
  sed '$a __int128 wide; bool swap(void) { return __sync_bool_compare_and_swap(\&wide, 0, 1); }' early.c >wide.c
  check_status 2 build wide -mcx16
  check_contains "atomic operations of 16 bytes" "$ERR"
fi

printf 'subject: gone\nabout: x\nsources: [gone.c]\n' >gone.yaml
check_status 2 "$STAMPEDE" subject build --manifest gone.yaml -o gone.so
check_contains "the manifest's folder: there is no gone.c" "$ERR"
check_lacks "--tree ." "$ERR"
printf 'subject: gone\nabout: x\nsources: [%s/early.c]\n' "$SCRATCH" >gone.yaml
check_status 2 "$STAMPEDE" subject build --manifest gone.yaml -o gone.so
check_contains "early.c: a path within the tree is needed" "$ERR"

# --- a signal while start runs ends the command as any other
sed 's/static void start(void) {/& for (volatile long i = 0; ; i++);/' early.c >forever.c
check_status 0 build forever
scenario forever any
for command in run check; do
  "$STAMPEDE" $command run-any.yaml >started.out 2>started.err &
  running=$!
  sleep 0.7
  kill -s TERM "$running"
  wait "$running"
  status=$?
  check "$command: status $status, not 130" test "$status" = 130
done

# --- no addresses for its memory: the machine's fault, not the code's
if grep -aq __asan_init "$STAMPEDE"; then
  echo "not tried: too little memory; AddressSanitizer itself needs more"
else
  check_status 4 bash -c 'ulimit -v 1000000; exec "$0" run run-any.yaml' "$STAMPEDE"
  check_contains "out of memory" "$ERR"
fi

# --- crashes, wild accesses, text
cat >bad.c <<'END'
#include "stampede_subject.h"
#include <errno.h>
#include <string.h>
static volatile char *cell;
static void (*volatile nowhere)(void);
static void *volatile hidden;
static void start(void) { cell = stm_shared("ce\033ll", 4096, 4096); }
#define ENTRY(name) static void name(int64_t a)
ENTRY(traps) { if (!a) __builtin_trap(); }
ENTRY(steps) { __asm__ volatile("int3"); }
ENTRY(calls) { nowhere(); }
ENTRY(smashes) { char small[16]; hidden = small; memset(hidden, 7, 160 << 10); }
ENTRY(beyond) { cell[4194304] = 1; }
ENTRY(below) { cell[-4096 * 64] = 1; }
ENTRY(member) { *(volatile char *)(uintptr_t)(0x10 + a) = 1; }
ENTRY(paints) { stm_panic("two\nlines\033[31m \xc3\xa4 \xff \xc2\x9b \xe2\x80\xae"); }
ENTRY(errs) { errno = 5; stm_spin(); stm_panic(errno == 5 ? "mine" : "another's"); }
ENTRY(spoils) { errno = 7; }
#define E(name) {#name, "misdeed", name}
static const StampedeEntry entries[] = {E(traps), E(steps), E(calls), E(smashes), E(beyond), E(below), E(member),
  E(paints), E(errs), E(spoils)};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "bad", .about = "bad",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END
check_status 0 build bad
does() { # WORD TEXT: told with the entry's line, twice the same
  scenario bad "$1"
  check_status 1 "$STAMPEDE" run "run-$1.yaml"
  check_contains "$2" "$OUT"
  check_contains "bad.c:$(grep -n "ENTRY($1)" bad.c | cut -d: -f1)" "$OUT"
  cp "$OUT" first
  check_status 1 "$STAMPEDE" run "run-$1.yaml"
  check_same "$OUT" first
}
does traps "illegal instruction"
[[ $(uname -m) == x86_64 ]] && does steps "trap instruction"
does calls "segmentation fault: NULL is called"
does smashes "access to 163840 bytes of its stack that end outside its memory"
does beyond '(nearest: ce\x1bll + 4194304)'
does below '(nearest: ce\x1bll - 262144)'
does member "access to the address 0x10 outside its memory"
does paints 'PANIC: two\nlines\x1b[31m ä \xff \xc2\x9b \xe2\x80\xae'
for format in "run --json" "check" "check --json"; do
  # shellcheck disable=SC2086 # a command and its option
  check_status 1 "$STAMPEDE" $format run-paints.yaml
  check "$format: no control characters" bash -c '! LC_ALL=C grep -q "[[:cntrl:]]" <(tr -d "\n" <"$1")' _ "$OUT"
  check "$format: UTF-8" iconv -f utf-8 -t utf-8 -o /dev/null "$OUT"
done

# --- errno is a process's own
printf 'scenario: own\nabout: errno\nsubject: ./bad.so\nprocesses:\n  - {name: a, script: [errs]}\n  - {name: b, script: [spoils]}\n' >own.yaml
check_status 1 "$STAMPEDE" check own.yaml
check_contains "PANIC: mine" "$OUT"

# --- equal stores of two branches stay two, each with its line (compilers make one of them, clang one without a line)
cat >branches.c <<'END'
#include "stampede_subject.h"
static volatile int *a;
static void start(void) { a = stm_shared("a", 64, 64); }
static void act(int64_t x) {
  if (x == 1) {
    a[1] = 5;
    a[2] = 6;
    a[3] = 7;
  } else {
    a[0] = 1;
    a[2] = 6;
    a[3] = 7;
  }
}
static const StampedeEntry entries[] = {{"act", "x", act}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "branches", .about = "x",
  .start = start, .entries = entries, .n_entries = 1};
END
printf 'scenario: branches\nabout: two ways to one store\nsubject: ./branches.so\nprocesses:\n  - {name: p, script: [{call: act, with: 1}]}\n  - {name: q, script: [{call: act, with: 2}]}\n' >branches-run.yaml
printf 'subject: branches\nabout: x\nsources: [branches.c]\n' >branches.yaml
for compiler in gcc clang; do
  if ! command -v $compiler >/dev/null; then
    echo "no $compiler here: its lines of equal stores are not tried"
    continue
  fi
  check_status 0 env CC=$compiler "$STAMPEDE" subject build --manifest branches.yaml -o branches.so
  check_status 1 "$STAMPEDE" check branches-run.yaml --races
  for line in 7 8 11 12; do check_contains "branches.c:$line" "$OUT"; done
  check_lacks "branches.c:0" "$OUT"
done

# Its stack: a loop beyond its end, a frame overwritten; and constructors that call what is renamed, or end badly.
cat >stack.c <<'END'
#include "stampede_subject.h"
#include <signal.h>
#include <string.h>
static char early[64];
static __attribute__((constructor)) void before(void) { memset(early, 1, sizeof early); memcpy(early, early + 8, 8); early[0] = (char)strlen("four"); EARLY; }
static volatile int *m;
static void start(void) { m = stm_shared("m", 4096, 4096); }
static void act(int64_t n) {
  char b[8];
  for (int64_t i = 0; i < n; i++) ((volatile char *)b)[i] = 0;
  if (n == 8) raise(SIGUSR1);
  m[0] = early[0] + b[3];
}
static const StampedeEntry entries[] = {{"act", "x", act}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "stack", .about = "x",
  .start = start, .entries = entries, .n_entries = 1};
END
# stack BYTES STATUS WORDS
stack() {
  printf 'scenario: stack\nabout: x\nsubject: ./stack.so\nprocesses:\n  - {name: p, script: [{call: act, with: %s}]}\n' "$1" >stack-run.yaml
  check_status "$2" "$STAMPEDE" run stack-run.yaml
  check_contains "$3"
}
printf 'subject: stack\nabout: x\nflags: [-fstack-protector-all, -DEARLY=]\nsources: [stack.c]\n' >stack.yaml
check_status 0 "$STAMPEDE" subject build --manifest stack.yaml -o stack.so
stack 7 0 pass
stack 8 1 'raise is called, with signal 10 at act stack.c:11'
stack 16 1 "its stack is overwritten (the stack protector's check) at act stack.c:13"
stack 60000 1 'access beyond the end of its stack at act stack.c:10'
for early in '*(volatile int *)8 = 1|loading the subject ends in signal 11' 'raise(SIGTERM)|a constructor of the subject does what no subject may: raise'; do
  sed "s/-DEARLY=/'-DEARLY=${early%%|*}'/" stack.yaml >early.yaml
  check_status 0 "$STAMPEDE" subject build --manifest early.yaml -o stack.so
  check_status 2 "$STAMPEDE" subject info stack.so
  check_contains "${early#*|}" "$ERR"
  check_status 2 "$STAMPEDE" run stack-run.yaml
  check_contains "${early#*|}" "$ERR"
done

# Names of its files: whatever they hold the subject is found, a trace finds it again, and no name reaches a terminal or a
# table as it is.
mini=$(realpath "$OLDPWD/$BUILD/tests/subjects/pgmini.so")
storm=(connect-storm --set workload.clients=5 --set postgres.version=15 --set workload.iterations=2)
for name in $'new\nline' $'es\e[31mc' 'co: lon' ' blank ' '#hash' 'ümlaut' "quo'te\"" '{x}' '%s' '~' null 'back\n' 'a|b`<x>'; do
  cp "$mini" "$name.so"
  check_status 0 "$STAMPEDE" run "${storm[@]}" --subject "$name.so" --trace t.jsonl
  check_status 0 "$STAMPEDE" replay t.jsonl
  check_status 0 "$STAMPEDE" compare "${storm[@]}" --repeat 1 --baseline "$name.so" --patch "./$name.so" --markdown
  check "control characters of $(printf %q "$name")" test -z "$(tr -d '\n' <"$OUT" | LC_ALL=C tr -dc '\000-\037\177')"
  check_status 0 "$STAMPEDE" compare "${storm[@]}" --repeat 1 --baseline "$name.so" --patch "./$name.so" --json
  check "JSON with $(printf %q "$name")" jq -e '.cases | length == 1' "$OUT"
done
