#!/bin/bash
# What a subject's lines cost: source lines in hot spots, --annotate, call chains, flame graphs. The subject touches pages
# that nobody else does, so that each count is known: a page's first access is a fault.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1
cat >pages.c <<'END'
#include "stampede_subject.h"
enum { PAGES = 7, PAGE = 4096 };
static char *memory;
static void start(void) { memory = stm_shared("memory", PAGES * PAGE, PAGE); }
static inline __attribute__((always_inline)) void put(int page) {
  memory[page * PAGE] = 1; /* the line that faults: "put" */
}
static __attribute__((noinline)) void three(void) {
  for (int i = 0; i < 3; i++) put(i);
}
static void seven(int64_t unused) {
  (void)unused;
  three();
  for (int i = 3; i < PAGES; i++)
    memory[i * PAGE + 8] = 2; /* four more */
}
static const StampedeEntry entries[] = {{"seven", "touches seven pages", seven}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "pages", .about = "pages",
  .start = start, .entries = entries, .n_entries = 1};
END
printf 'subject: pages\nabout: pages\nsources: [pages.c]\n' >pages.yaml
cat >run.yaml <<'END'
scenario: pages
about: Two processes touch seven pages each.
subject: ./pages.so
machine: {profile: ramdisk-2026, fault_around: 0KiB}
processes:
  - {name: toucher, count: 2, script: [seven]}
END
check_status 0 "$STAMPEDE" subject build --manifest pages.yaml -o pages.so

# --- 2 x 3 faults in the inlined function, 2 x 4 in the entry itself
check_status 0 "$STAMPEDE" run run.yaml --annotate
check "an inlined line says where: $(grep 'put in' "$OUT")" grep -qE '^ +6 +42\.9 .* put in three pages\.c:6 +memory\[page \* PAGE\] = 1;' "$OUT"
check "the other line" grep -qE '^ +8 +57\.1 .* seven pages\.c:15 +memory\[i \* PAGE \+ 8\] = 2;' "$OUT"
sed -n '/^pages.c$/,$p' "$OUT" >annotated
check "annotated, in order" bash -c "grep -nE '^ +6 +0 .* 6    memory' annotated | cut -d: -f1 >a; grep -nE '^ +8 +0 .* 15      memory' annotated | cut -d: -f1 >b; test -s a && test \"\$(cat a)\" -lt \"\$(cat b)\""
check "the lines around have no count" grep -qE '^ +14    for' annotated
check_status 0 "$STAMPEDE" run run.yaml
check "without --annotate no listing" bash -c "! grep -q '^pages.c\$' '$OUT'"

# --- the JSON result: the source, and call chains that sum up to the hot spots
check_status 0 "$STAMPEDE" run run.yaml --json
cp "$OUT" result.json
check_contains '"source": "memory[page * PAGE] = 1; /* the line that faults: \"put\" */"'
check_contains '{"frames": ["seven", "three", "put", "pages.c:6"], "structure": "memory", "faults": 6,'
check_contains '{"frames": ["seven", "pages.c:15"], "structure": "memory", "faults": 8,'
check_status 0 "$STAMPEDE" run connect-storm --set workload.clients=5 --json
cp "$OUT" model.json
check_lacks '"stacks"'

# --- what cost neither faults nor time is no hot spot: on one page of 2 MiB, mapped by the first store, without prices
check_status 0 "$STAMPEDE" run run.yaml --set machine.profile=none --set machine.page_size=2MiB
check "the one line that faulted: $(grep -c 'pages\.c:' "$OUT")" test "$(grep -c 'pages\.c:' "$OUT")" = 1
check_status 0 "$STAMPEDE" run s37-double-return-bad --json
check "each row has a cost" jq -e '.hotspots | length > 0 and all(.faults > 0 or .stores > 0 or .ms > 0)' "$OUT"
# A line that only costs time stays: followers' words are stored to under the lock, on pages that are mapped.
check_status 0 "$STAMPEDE" run connect-storm --set workload.clients=100 --set workload.iterations=1 --set machine.page_size=2MiB
check "time alone: $(grep pgxactoff "$OUT")" grep -qE '^ +0 +0\.0 +[0-9.]+ +[0-9.]+ +PGPROC.pgxactoff +ProcArrayRemove' "$OUT"

# --- without its source the line is still named, and nothing fails
mv pages.c aside.c
check_status 0 "$STAMPEDE" run run.yaml --annotate
check_contains "put in three pages.c:6"
check_contains "(not to be had)"
mv aside.c pages.c

# --- flame graphs: widths are shares (962 dots in all: 6 and 8 of 14 faults)
check_status 0 "$STAMPEDE" viz result.json --view flame --weight faults -o faults.svg
check_contains "<title>put: 6 faults, 42.9 %</title>" faults.svg
check_contains "<title>pages.c:15: 8 faults, 57.1 %</title>" faults.svg
check_contains "<title>all: 14 faults, 100.0 %</title>" faults.svg
check "a width is its share" grep -qE '<title>pages.c:15: 8 .*width="549\.0"' faults.svg
check_status 0 bash -c "'$STAMPEDE' viz - --view flame --weight faults -o - <result.json"
check_same "$OUT" faults.svg
check_status 0 "$STAMPEDE" viz result.json --view flame -o ns.svg
check_contains "time of subject:pages" ns.svg
check_status 0 "$STAMPEDE" viz model.json --view flame --weight stores -o stores.svg
check_contains "<title>ProcArrayAdd: " stores.svg
check_status 0 "$STAMPEDE" viz model.json --view flame -o flame.png
check "it is a PNG" bash -c "head -c 4 flame.png | grep -q PNG"
check_status 2 "$STAMPEDE" viz run.yaml --view flame -o x.svg
check_contains "not the JSON result of a run" "$ERR"
check_status 2 "$STAMPEDE" viz result.json --view flame --weight lines -o x.svg
check_contains "there are ns, faults and stores" "$ERR"
echo '{"hotspots": []}' >empty.json
check_status 2 "$STAMPEDE" viz empty.json --view flame --weight stores -o x.svg
check_contains "no counted stores" "$ERR"
check_status 2 "$STAMPEDE" viz result.json --view states --weight ns -o x.svg
check "nothing was written" test ! -e x.svg

# --- a fault on a page of 2 MiB has the price of one: each process has one, for all that it touches
check_status 0 "$STAMPEDE" run run.yaml --json --set machine.page_size=2MiB --set costs.memory.fault_huge=3ms \
  --set costs.memory.page_table_page=0s
check "two faults of 3 ms" test "$(jq '[.hotspots[] | select(.faults > 0) | .ms] | add' "$OUT")" = 6
