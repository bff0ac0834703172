#!/bin/bash
# subject build and info: what an object tells of itself, on a small tree of our own; offsets are those of the C ABI.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
tree=$SCRATCH/tree
mkdir -p "$tree/src" "$tree/glue"
cat >"$tree/src/list.c" <<'END'
#include "stampede_subject.h"
#include "list.h"
typedef struct { int first; char mark; int64_t sum; short tail[3]; } Head;
static Head *head;
extern void given(int);
extern void not_given(int);
static void start(void) {
  head = stm_shared("head", sizeof *head, 64);
  stm_structure("head", head, sizeof *head, 1, "Head");
}
static void push(int64_t by) {
  int one = (int)by;
  __asm__ __volatile__("lock; xaddl %0,%1" : "+r"(one), "+m"(head->first));
  int seen;
  __asm__ __volatile__("movl %1,%0" : "=r"(seen) : "m"(head->first));
  __asm__ __volatile__("rep; nop" ::: "memory");
  in_header(&head->first);
  given(seen);
  if (by > 100) not_given(seen);
}
static const StampedeEntry entries[] = {{"push", "adds", push}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "list", .about = "a list",
  .start = start, .entries = entries, .n_entries = 1};
END
cat >"$tree/src/list.h" <<'END'
static inline void in_header(int *at) {
  __asm__ __volatile__("movl $1,%0" : "=m"(*at));
}
END
echo 'void given(int n) { (void)n; }' >"$tree/glue/glue.c"
cat >"$tree/list.yaml" <<'END'
subject: list
about: a list
sources: [src/list.c]
includes: [src]
glue: [glue/glue.c]
flags: [-DLIST=1]
END
build() { "$STAMPEDE" subject build --tree "$tree" --manifest "$tree/list.yaml" "$@"; }
asm() { sed -n '/inline assembly/,$p' "$1"; }

# --- what build says
check_status 0 build -o "$SCRATCH/list.so"
check_contains "modelled: 1"
check_contains "traps: 1"
check_contains "  not_given"
check_contains "inline assembly that writes memory, unseen: 2"
if [[ $(uname -m) == x86_64 ]]; then
  check_contains "list.c:13: lock; xaddl"
  check_contains "list.h:2: movl \$1,"
  check_lacks "list.c:15"
  check_lacks "nop"
fi
check_status 0 build -o "$SCRATCH/again.so"
check_same "$SCRATCH/list.so" "$SCRATCH/again.so"
check_status 0 build --quiet -o "$SCRATCH/again.so"
check "quiet is quiet" test ! -s "$OUT"

# --- the same from what it has put into the object
check_status 0 "$STAMPEDE" subject info "$SCRATCH/list.so" --struct Head
cp "$OUT" "$SCRATCH/info.txt"
check_contains "built by     $("$STAMPEDE" --version), "
check_contains "tree         $tree"
check_contains "flags        -DLIST=1"
check_contains "sources      src/list.c"
check_contains "entry        push: adds"
check_contains "struct Head: 24 bytes, 1 cache lines"
check "offsets are the ABI's" grep -qE '^ +8 +8 +0  sum$' "$OUT"
check "and so is that of an array" grep -qE '^ +16 +6 +0  tail$' "$OUT"
check_contains "  given"
check_contains "  not_given"
"$STAMPEDE" subject build --tree "$tree" --manifest "$tree/list.yaml" -o "$SCRATCH/again.so" >"$SCRATCH/build.txt"
asm "$SCRATCH/build.txt" >"$SCRATCH/asm.build" && asm "$SCRATCH/info.txt" >"$SCRATCH/asm.info"
check_same "$SCRATCH/asm.build" "$SCRATCH/asm.info"
check_status 0 "$STAMPEDE" subject info "$SCRATCH/list.so" --struct Head --json
check_contains '{"name": "sum", "offset": 8, "size": 8}'
check_contains '"traps": ["not_given"]'
check_status 2 "$STAMPEDE" subject info "$SCRATCH/list.so" --struct Tail
check_contains "it has no struct Tail" "$ERR"
check_status 2 "$STAMPEDE" subject info
check_status 2 "$STAMPEDE" subject info "$SCRATCH/none.so"

# --- options that would mean nothing
check_status 2 build -o "$SCRATCH/x.so" --seed 3
check_status 2 build -o "$SCRATCH/x.so" --json
check "nothing was built" test ! -e "$SCRATCH/x.so"

# --- a build directory as meson leaves one: what decides the code's meaning is taken, and no more
mkdir "$SCRATCH/out"
printf '[{"directory": "%s", "file": "../tree/src/list.c", "command": "cc -DFROM_MESON=1 -Isub -O3 -Wall -c x.c"}]' \
  "$SCRATCH/out" >"$SCRATCH/out/compile_commands.json"
check_status 0 build --build "$SCRATCH/out" -o "$SCRATCH/meson.so"
check_status 0 "$STAMPEDE" subject info "$SCRATCH/meson.so"
check_contains "flags        -DLIST=1 -DFROM_MESON=1 -I$SCRATCH/out/sub"
check_contains "flags from   the manifest, $SCRATCH/out/compile_commands.json"
check_lacks "-O3"

# --- clang's marks stand elsewhere; its places are the same
if command -v clang >/dev/null && [[ $(uname -m) == x86_64 ]]; then
  check_status 0 env CC=clang "$STAMPEDE" subject build --tree "$tree" --manifest "$tree/list.yaml" -o "$SCRATCH/clang.so"
  check_contains "inline assembly that writes memory, unseen: 2"
  check_contains "list.c:13: xaddl"
  check_contains "list.h:2: movl \$1,"
fi
