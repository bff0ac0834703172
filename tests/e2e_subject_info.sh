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

# --- a build directory as meson leaves one: what decides the code's meaning is taken, and no more; headers are found there.
# meson writes a Makefile.global as well, and other files' commands stand beside the source's.
mkdir -p "$SCRATCH/out/src"
printf 'CFLAGS = -DFROM_MAKEFILE=1\n' >"$SCRATCH/out/src/Makefile.global"
printf '[{"directory": "%s", "file": "../tree/src/xlist.c", "command": "cc -DOF_ANOTHER=1 -c x.c"},
  {"directory": "%s", "file": "../tree/src/list.c", "command": "ccache cc -DFROM_MESON=1 -Isub -O3 -Wall -c x.c"}]' \
  "$SCRATCH/out" "$SCRATCH/out" >"$SCRATCH/out/compile_commands.json"
check_status 0 build --build "$SCRATCH/out" -o "$SCRATCH/meson.so"
check_status 0 "$STAMPEDE" subject info "$SCRATCH/meson.so"
check_contains "flags        -DLIST=1 -DFROM_MESON=1 -I$SCRATCH/out/sub"
check_contains "flags from   the manifest, $SCRATCH/out/compile_commands.json"
check_lacks "-O3"
check_lacks "FROM_MAKEFILE"
check_lacks "OF_ANOTHER"
printf '#include "generated.h"\nint generated = GENERATED + FROM_MESON;\n' >"$tree/src/uses.c"
sed 's,sources: .*,sources: [src/list.c\, src/uses.c],; $ a needs: [{file: src/generated.h}]' "$tree/list.yaml" >"$tree/uses.yaml"
uses() { "$STAMPEDE" subject build --tree "$tree" --manifest "$tree/uses.yaml" --build "$SCRATCH/out" -o "$SCRATCH/uses.so"; }
check_status 2 uses
check_contains "$SCRATCH/out: src/generated.h is missing; the manifest does not say what makes it" "$ERR"
touch "$SCRATCH/out/build.ninja"
check_status 2 uses
check_contains "this makes it: ninja -C $SCRATCH/out src/generated.h" "$ERR"
echo '#define GENERATED 1' >"$SCRATCH/out/src/generated.h"
check_status 0 uses
# Folders by the names that the user has: that of the build begins with that of the tree.
cp -r "$tree" "$SCRATCH/in" && mv "$SCRATCH/out" "$SCRATCH/in-build"
sed -i "s,$SCRATCH/out,$SCRATCH/in-build,; s,-Isub,-I../in/sub -Isub," "$SCRATCH/in-build/compile_commands.json"
(cd "$SCRATCH" && "$STAMPEDE" subject build --quiet --tree in --manifest in/list.yaml --build in-build -o names.so)
check_status 0 "$STAMPEDE" subject info "$SCRATCH/names.so"
check_contains "-Iin-build/../in/sub -Iin-build/sub"
check_lacks "$SCRATCH/in"

# --- entry points: found when it is built, or told with the manifest's line; scripts may call those that have a name
cat >"$tree/src/more.c" <<'END'
#include "stampede_subject.h"
static int64_t sum;
extern void not_given(int);
void add_up(int by) { if (by != 7) not_given(by); }
int64_t look(void) { return sum; }
void both(int a, int b) { sum += a + b; }
void text(const char *a) { sum += a[0]; }
void real(double a) { sum += (int64_t)a; }
void many(int a, ...) { sum += a; }
static void hidden(void) { sum = 0; }
void (*const keep)(void) = hidden;
END
manifest() { sed "s,sources: .*,sources: [src/list.c\, src/more.c],; \$ a entries:\n$1" "$tree/list.yaml" >"$tree/with.yaml"; }
with() { "$STAMPEDE" subject build --tree "$tree" --manifest "$tree/with.yaml" -o "$SCRATCH/with.so"; }
manifest '  - look\n  - [not_there, both]\n  - {name: add, calls: add_up, about: adds \"up\"}'
check_status 0 with
for side in build info; do
  [[ $side == build ]] || check_status 0 "$STAMPEDE" subject info "$SCRATCH/with.so"
  check_contains "called from outside: 3"
  check_contains "  both (or not_there)"
  check_contains "  add_up, by scripts as add"
done
check_contains "entry        add: adds \"up\""
check_contains "entry        push: adds"
check_status 0 "$STAMPEDE" subject info "$SCRATCH/with.so" --json
check "in JSON" jq -e '.entries == ["push", "add"] and .called == ["look", "both (or not_there)", "add_up, by scripts as add"]' "$OUT"
cat >"$SCRATCH/calls.yaml" <<END
scenario: calls
about: A script calls a function of the sources by the manifest's name.
subject: $SCRATCH/with.so
processes:
  - {name: caller, script: [{call: add, with: 7}, push]}
END
check_status 0 "$STAMPEDE" run "$SCRATCH/calls.yaml"
check_status 2 "$STAMPEDE" run "$SCRATCH/calls.yaml" --set 'processes[0].script=[{call: add, with: 8}]'
check "it was called, with 8: $(cat "$OUT" "$ERR")" grep -q 'not_given is called.* at add_up more.c:4' "$OUT" "$ERR"
# refused LINE MESSAGE: by the manifest's third line of entries.
refused() {
  manifest "$1"
  check_status 2 with
  check_contains "$tree/with.yaml:$(($(grep -n '^entries' "$tree/with.yaml" | cut -d: -f1) + 1)):5: entries: $2" "$ERR"
  check "one line: $(wc -l <"$ERR")" test "$(wc -l <"$ERR")" = 1
}
refused '  - loook' 'the sources define no loook, or it is static; look would be right'
refused '  - hidden' 'the sources define no hidden, or it is static'
refused '  - [not_there, nor_this]' 'the sources define none of not_there, nor_this, or it is static'
refused '  - {name: add, calls: both}' 'both takes several arguments; a script gives one number'
refused '  - {name: add, calls: text}' 'text takes something other than a number'
refused '  - {name: add, calls: real}' 'real takes something other than a number'
refused '  - {name: add, calls: many}' 'many takes something other than a number'
# told LINE MESSAGE: what is no entry.
told() {
  manifest "$1"
  check_status 2 with
  check_contains "$2" "$ERR"
}
told '  - {name: add}' '`name` and `calls` are needed'
told '  - {name: a b, calls: look}' 'name: must be a word'
told '  - {name: add, call: look}' 'no such key; name, calls, about would be right'
told '  - {name: add, calls: [look, both]}' 'must be a text'
told '  - {name: a, calls: look}\n  - {name: a, calls: both}' 'an entry of this name is declared already'
told '  - []' 'names no function'
manifest '  - {name: push, calls: look}'
check_status 0 with
check_status 2 "$STAMPEDE" subject info "$SCRATCH/with.so"
check_contains "with.so: its manifest has an entry push, and so has its code" "$ERR"

# --- clang's marks stand elsewhere; its places are the same
if command -v clang >/dev/null && [[ $(uname -m) == x86_64 ]]; then
  check_status 0 env CC=clang "$STAMPEDE" subject build --tree "$tree" --manifest "$tree/list.yaml" -o "$SCRATCH/clang.so"
  check_contains "inline assembly that writes memory, unseen: 2"
  check_contains "list.c:13: xaddl"
  check_contains "list.h:2: movl \$1,"
fi

# --- glue is told of members, which have no symbols: as the tree is, and as a patch leaves it
grep -q '^glue:' "$tree/list.yaml" || echo 'glue: [names.c]' >>"$tree/list.yaml"
sed -i 's,^glue: .*,glue: [glue/names.c],' "$tree/list.yaml"
printf '#include "needs.h"\n#ifndef NAMES_mark\n#error no mark\n#endif\n#ifdef NAMES_patched\n#error patched\n#endif\n' >"$tree/glue/names.c"
check_status 0 build -o "$SCRATCH/names.so"
sed -i 's/char mark;/char patched;/' "$tree/src/list.c"
check_status 2 build -o "$SCRATCH/names.so"
check_contains "#error no mark" "$ERR"
check_contains "#error patched" "$ERR"
