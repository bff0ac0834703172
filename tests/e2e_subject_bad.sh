#!/bin/bash
# Subjects and trees that are wrong: one message that says what and what to do, the right status, nothing left behind.
# Building, loading and traps are input (2), what happens while the code runs is the run's (1).
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
ROOT=$PWD
cd "$SCRATCH" || exit 1
mkdir tmp
export TMPDIR=$SCRATCH/tmp

# --- trees
tree() { mkdir -p "$1/src/backend/storage/ipc" "$1/src/backend/storage/lmgr" "$1/src/include/utils"; }
pg() { "$STAMPEDE" subject build --tree "$1" -o x.so; }
check_status 2 pg nowhere
check_contains "--tree nowhere: no such directory" "$ERR"
mkdir empty
check_status 2 pg empty
check_contains "--tree empty: there is no src/backend/storage/ipc/procarray.c, which subject procarray is built of" "$ERR"
tree bare
touch bare/src/backend/storage/ipc/procarray.c bare/src/backend/storage/lmgr/proc.c
check_status 2 pg bare
check_contains "src/include/pg_config.h is missing; this makes it: cd bare && ./configure" "$ERR"
touch bare/src/include/pg_config.h
check_status 2 pg bare
check_contains "this makes it: cd bare && make -C src/backend generated-headers" "$ERR"
mkdir bare/src/include/storage
touch bare/src/include/utils/errcodes.h bare/src/include/storage/lwlocknames.h
echo 'int f(void) { return missing; }' >bare/src/backend/storage/ipc/procarray.c
check_status 2 pg bare
check_contains "error:" "$ERR"
check "the compiler's words come first: $(tail -n 1 "$ERR")" grep -q 'does not compile; the compiler.s words are above' <(tail -n 1 "$ERR")
check_status 2 "$STAMPEDE" subject build --tree bare --build nowhere -o x.so
check_status 2 "$STAMPEDE" subject build --tree bare
check_status 2 "$STAMPEDE" subject build --tree bare -o -
check_status 2 env CC=/no/such/cc "$STAMPEDE" subject build --tree bare -o x.so
check_status 2 env CC=false "$STAMPEDE" subject build --tree bare -o x.so
# --- build directories: what is missing there, and what makes it
touch bare/meson.build
mkdir out
rm bare/src/include/pg_config.h bare/src/include/utils/errcodes.h
there() { "$STAMPEDE" subject build --tree bare --build "$1" -o x.so; }
check_status 2 pg bare
check_contains "this makes it: cd bare && ./configure; or --build DIR, where its build is" "$ERR"
check_status 2 there out
check_same "$ERR" <(echo "stampede: out: src/include/pg_config.h is missing; this makes it: meson setup out bare")
touch out/build.ninja
mkdir -p out/src/include/utils
check_status 2 there out
check_contains "this makes it: ninja -C out build.ninja" "$ERR"
touch out/src/include/pg_config.h
check_status 2 there out
check_contains "out: src/include/utils/errcodes.h is missing; this makes it: ninja -C out src/backend/postgres_lib.a.p/" "$ERR"
rm out/build.ninja
touch out/config.status
check_status 2 there out
check_contains "this makes it: cd out && make -C src/backend generated-headers" "$ERR"
check "nothing was made of it" test ! -e x.so
check "no folder is left: $(ls tmp)" test -z "$(ls tmp)"

# --- a subject with an entry for each misdeed
cat >bad.c <<'END'
#include "stampede_subject.h"
#include <assert.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
extern void unknown_to_all(int);
static volatile int *cell, zero, sink;
static jmp_buf place;
static void start(void) { cell = stm_shared("cell", 4096, 4096); }
#define ENTRY(name) static void name(int64_t a)
ENTRY(touching) { for (;;) *cell = (int)a; }
ENTRY(idle) { for (;;) sink += (int)a; }
ENTRY(wild) { *(volatile int *)(uintptr_t)(0x10 + a) = 1; }
ENTRY(beyond) { cell[(1 << 20) + a] = 1; }
static __attribute__((noinline)) void deep(int n) { if (n) unknown_to_all(n); sink++; }
ENTRY(trap) { deep(1 + (int)a); sink++; }
ENTRY(jump) { if (!setjmp(place)) longjmp(place, 1 + (int)a); }
ENTRY(divide) { sink = (int)(7 + a) / zero; }
static int down(int n) { volatile char room[512]; room[n & 511] = (char)n; return down(n + 1) + room[3]; }
ENTRY(overflow) { sink = down((int)a); }
ENTRY(aborts) { if (!a) abort(); }
ENTRY(asserts) { assert(a == 1); }
ENTRY(in_libc) { sink = (int)strlen((const char *)(uintptr_t)a); }
#define E(name) {#name, "misdeed", name}
static const StampedeEntry entries[] = {E(touching), E(idle), E(wild), E(beyond), E(trap), E(jump), E(divide),
  E(overflow), E(aborts), E(asserts), E(in_libc)};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "bad", .about = "bad",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END
printf 'subject: bad\nabout: bad\nsources: [bad.c]\n' >bad.yaml
check_status 0 "$STAMPEDE" subject build --manifest bad.yaml -o bad.so
check_contains "unknown_to_all"
scenario() { printf 'scenario: bad\nabout: a misdeed\nsubject: ./%s\nprocesses:\n  - {name: villain, script: [%s]}\n' "$2" "$1" >"$1.yaml"; }
# does WORD STATUS TEXT PLACE: an entry ends the run so, and is told with its line.
does() {
  scenario "$1" bad.so
  check_status "$2" "$STAMPEDE" run "$1.yaml"
  cat "$ERR" >>"$OUT"
  check_contains "$3"
  check_contains "$4"
}
line() { grep -n "$1" bad.c | head -n 1 | cut -d: -f1; }
does touching 1 "endless: 200000000 accesses" "bad.c:$(line 'ENTRY(touching)')"
does idle 1 "endless: three seconds of CPU" "bad.c:$(line 'ENTRY(idle)')"
does wild 1 "outside its memory" "bad.c:$(line 'ENTRY(wild)')"
does beyond 1 "outside its memory" "bad.c:$(line 'ENTRY(beyond)')"
check_contains "nearest: cell"
does trap 2 "unknown_to_all is called, which nothing models" "bad.c:$(line 'void deep')"
check_contains "called at trap bad.c:$(line 'ENTRY(trap)')"
does jump 1 "longjmp is called" "bad.c:$(line 'ENTRY(jump)')"
does divide 1 "arithmetic fault" "bad.c:$(line 'ENTRY(divide)')"
does overflow 1 "out of stack" "bad.c:$(line 'int down')"
does aborts 1 "abort is called" "bad.c:$(line 'ENTRY(aborts)')"
does asserts 1 "assertion failed: a == 1" "bad.c:$(line 'ENTRY(asserts)')"
does in_libc 1 "segmentation fault in a library function" "bad.c:$(line 'ENTRY(in_libc)')"

# --- other commands meet them too
check_status 1 "$STAMPEDE" check trap.yaml # a way to it was found, and is told as any counterexample
check_contains "unknown_to_all is called, which nothing models" "$OUT"
check_status 1 "$STAMPEDE" sweep wild.yaml --repeat 2
check_status 2 "$STAMPEDE" sweep trap.yaml --repeat 2
check_contains "unknown_to_all" "$ERR"

# --- objects
cp "$STAMPEDE" lonely # a program with no subjects beside it
check_status 2 env STAMPEDE_DATA="${STAMPEDE_DATA:-$ROOT/sim}" ./lonely run s37-double-return-bad
check_contains "no bundled subject of this name beside the program or at" "$ERR"
check_contains "\`make\` builds those that there are" "$ERR"
# Made for another architecture: by its compiler where there is one, and any other by its header.
if [[ $(uname -m) != aarch64 ]] && command -v aarch64-linux-gnu-gcc >/dev/null; then
  aarch64-linux-gnu-gcc -shared -fPIC -nostdlib -I"$ROOT/sim/subject/include" -o arm.so -x c - <<<'#include "stampede_subject.h"
static void start(void) {}
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "arm", .about = "arm", .start = start};'
  check_status 2 "$STAMPEDE" subject info arm.so
  check_contains "made for another kind of machine" "$ERR"
  scenario divide arm.so
  check_status 2 "$STAMPEDE" run divide.yaml
  check_contains "made for another kind of machine" "$ERR"
else
  echo "no aarch64-linux-gnu-gcc here: another architecture is tried by a changed header alone"
fi
check_status 2 "$STAMPEDE" subject info none.so
check_same "$ERR" <(echo "stampede: none.so: cannot be read: No such file or directory")
check_status 2 "$STAMPEDE" run connect-storm --subject none.so # by the option that was given
check_same "$ERR" <(echo "stampede: --subject: $SCRATCH/none.so: cannot be read: No such file or directory")
check_status 2 "$STAMPEDE" run connect-storm --set subject=./none.so
check_contains "--set subject=./none.so: subject: $SCRATCH/none.so: cannot be read" "$ERR"
check_status 2 "$STAMPEDE" run connect-storm --subject .
check_contains "--subject: $SCRATCH: cannot be read: a directory, not a file" "$ERR"
check_status 2 "$STAMPEDE" subject info bad.c
check_contains "not a shared object; \`stampede subject build\` makes one" "$ERR"
sed 's/"stampede":"[0-9.]*"/"stampede":"0.0.9"/' bad.so >old.so
check_status 2 "$STAMPEDE" subject info old.so
check_contains "built by stampede 0.0.9, this is $("$STAMPEDE" --version | cut -d' ' -f2); build it again" "$ERR"
scenario divide old.so
check_status 2 "$STAMPEDE" run divide.yaml
check_contains "built by stampede 0.0.9" "$ERR"
cp bad.so foreign.so
printf '\xf3\x00' | dd of=foreign.so bs=1 seek=18 conv=notrunc status=none # e_machine: RISC-V
check_status 2 "$STAMPEDE" subject info foreign.so
check_contains "made for another kind of machine" "$ERR"
for bytes in 10 64 3000 9000; do
  head -c $bytes bad.so >cut.so
  check_status 2 "$STAMPEDE" subject info cut.so
done

# One byte of it is another: in the headers, the code, the debug information, the end.
size=$(stat -c %s bad.so)
for at in 17 32 70 200 1000 4200 8500 12000 $((size / 2)) $((size - 40)) $((size - 1)); do
  cp bad.so damaged.so
  printf '\xee' | dd of=damaged.so bs=1 seek=$at conv=notrunc status=none
  cmp -s bad.so damaged.so && printf '\xdd' | dd of=damaged.so bs=1 seek=$at conv=notrunc status=none
  check_status 2 "$STAMPEDE" subject info damaged.so
  check "damaged at $at: one line: $(cat "$ERR")" test "$(wc -l <"$ERR")" = 1
done
strip -o stripped.so bad.so
check_status 2 "$STAMPEDE" subject info stripped.so
check_contains "build it again" "$ERR"

# --- output that cannot be written; nothing beside it
check_status 4 "$STAMPEDE" subject build --manifest bad.yaml -o nowhere/x.so
check_contains "nowhere/x.so" "$ERR"
check_status 4 "$STAMPEDE" subject build --manifest bad.yaml -o /dev/full
check_contains "/dev/full" "$ERR"
check_status 4 bash -c 'ulimit -f 4; exec "$0" subject build --manifest bad.yaml -o small.so' "$STAMPEDE" # KiB, for the compiler
check_contains "no more than 4 KiB" "$ERR"
check "no half of it is there" test ! -e small.so
mkdir folder
check_status 4 "$STAMPEDE" subject build --manifest bad.yaml -o folder
check "nothing is left: $(ls tmp)" test -z "$(ls tmp)"

# --- a signal while the compiler works: 130, and nothing is left
cat >slow-cc <<'END'
#!/bin/bash
[[ $1 == --version ]] && exec cc --version
touch "$SLOW_STARTED"
sleep 600
END
chmod +x slow-cc
for signal in INT TERM; do
  rm -f started
  # A shell ignores SIGINT for what it starts in the background; a job of its own does not.
  SLOW_STARTED=$SCRATCH/started CC=$SCRATCH/slow-cc setsid env --default-signal=INT "$STAMPEDE" subject build \
    --manifest bad.yaml -o slow.so >slow.out 2>slow.err &
  build=$!
  for _ in $(seq 100); do [[ -e started ]] && break; sleep 0.1; done
  kill -s "$signal" "$build"
  wait "$build"
  status=$?
  check "$signal: status $status" test "$status" = 130
  check_contains "interrupted; nothing was built" slow.err
  check "$signal leaves nothing: $(ls tmp)" test -z "$(ls tmp)"
done
