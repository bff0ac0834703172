#!/bin/bash
# No access is lost or counted twice, whatever its size and wherever it is counted (in the subject's code, front.c, or in
# a hook): each load costs a nanosecond and nothing else costs anything, so that a run takes as long as it loads; and
# the limit on accesses is met by one more than there may be. By both compilers.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1
cat >counts.c <<'END'
#include "stampede_subject.h"
#include <string.h>
enum { WORDS = 1000 };
typedef struct {
  volatile uint8_t b1[WORDS];
  volatile uint16_t b2[WORDS];
  volatile uint32_t b4[WORDS];
  volatile uint64_t b8[WORDS];
  __extension__ volatile unsigned __int128 b16[WORDS];
} Memory;
static Memory *m;
static volatile uint64_t own; /* nobody else's business: costs nothing */
static void start(void) { m = stm_shared("memory", sizeof *m, 4096); }
static void *bytes_of_memory(void) { return m; }
#define KIND(bytes) \
  static void load##bytes(int64_t n) { while (n--) for (int i = 0; i < WORDS; i++) own += (uint64_t)m->b##bytes[i]; } \
  static void store##bytes(int64_t n) { while (n--) for (int i = 0; i < WORDS; i++) m->b##bytes[i] = 1; } \
  static void both##bytes(int64_t n) { while (n--) for (int i = 0; i < WORDS; i++) m->b##bytes[i] = m->b##bytes[WORDS - 1 - i] + m->b##bytes[0]; }
KIND(1) KIND(2) KIND(4) KIND(8) KIND(16)
static void fill(int64_t bytes) { memset(bytes_of_memory(), 1, (size_t)bytes); }
static void poke(int64_t at) { ((volatile uint8_t *)bytes_of_memory())[at] = 1; }
static void down(int64_t at) { for (; at >= 0; at -= 64) poke(at); }
#define E(bytes) {"load" #bytes, "loads", load##bytes}, {"store" #bytes, "stores", store##bytes}, {"both" #bytes, "both", both##bytes}
static const StampedeEntry entries[] = {E(1), E(2), E(4), E(8), E(16), {"fill", "fills", fill}, {"poke", "pokes", poke}, {"down", "pokes downwards", down}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "counts", .about = "counts",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END
printf 'subject: counts\nabout: counts\nsources: [counts.c]\n' >counts.yaml
# calls ENTRY TIMES: a process that does
calls() {
  cat >run.yaml <<END
scenario: counts
about: One process loads and stores.
subject: ./counts.so
machine: {profile: none, lines: $lines}
costs: {procarray.scan_entry: 1ns}
processes:
  - {name: p, script: [{call: $1, with: $2}]}
END
}
# counted ENTRY TIMES LOADS STORES: so many of each
counted() {
  calls "$1" "$2"
  check_status 0 "$STAMPEDE" run run.yaml --json
  check "$compiler, lines $lines: $1 loads $3: $(jq .virtual_ms "$OUT")" jq -e "(.virtual_ms * 1e6 | round) == $3" "$OUT"
  check "$compiler, lines $lines: $1 stores $4: $(jq '[.hotspots[].stores] | add' "$OUT")" jq -e "([.hotspots[].stores] | add) == $4" "$OUT"
}

# A stretch of LINES lines that were another's: fetching them jumps once, the line behind it follows, and all of them are
# its own now, from the last to the first, so that none jumps. A fetch that jumps costs a nanosecond.
stretches() { # LINES
  cat >run.yaml <<END
scenario: stretches
about: Two processes fill the same stretch.
subject: ./counts.so
machine: {profile: none, lines: on, fault_around: 0KiB}
costs: {memory.line_transfer: 1ns}
processes:
  - {name: a, script: [{call: down, with: $((64 * $1))}]}
  - {name: b, script: [wait: 1ms, {call: fill, with: $((64 * $1))}, {call: poke, with: $((64 * $1))}, {call: down, with: $((64 * $1))}]}
END
  check_status 0 "$STAMPEDE" run run.yaml --json
  check "$compiler: $1 lines jump once: $(jq .virtual_ms "$OUT")" jq -e "(.virtual_ms * 1e6 | round) == 1000001" "$OUT"
}
# A process has touched the last page of PAGES, fills them all, and again: a fault each, once.
pages() { # PAGES
  cat >run.yaml <<END
scenario: pages
about: One process fills pages.
subject: ./counts.so
machine: {profile: none, fault_around: 0KiB}
processes:
  - {name: p, script: [{call: poke, with: $((4096 * $1 - 1))}, {call: fill, with: $((4096 * $1))}, {call: fill, with: $((4096 * $1))}]}
END
  check_status 0 "$STAMPEDE" run run.yaml --json
  check "$compiler: $1 pages: $(jq '[.hotspots[].faults] | add' "$OUT") faults" jq -e "([.hotspots[].faults] | add) == $1" "$OUT"
}

for compiler in gcc clang; do
  check_status 0 env CC=$compiler "$STAMPEDE" subject build --quiet --manifest counts.yaml -o counts.so
  for lines in on off; do
    for bytes in 1 2 4 8 16; do
      counted "load$bytes" 3 3000 0
      counted "store$bytes" 3 0 3000
      counted "both$bytes" 3 6000 3000
    done
  done
  for n in 1 2 15 16 17 18 32 33 100; do stretches $n; done
  for n in 1 2 5; do pages $n; done
  # 200,000,000 accesses in one call, and not one more: of one place, and of three that are counted apart.
  calls load8 200000
  check_status 0 "$STAMPEDE" run run.yaml
  calls load8 200001
  check_status 1 "$STAMPEDE" run run.yaml
  check_contains 'endless: 200000000 accesses to shared memory in one call at load8 counts.c'
  calls both4 66666
  check_status 0 "$STAMPEDE" run run.yaml
  calls both4 66667
  check_status 1 "$STAMPEDE" run run.yaml
  check_contains 'endless: 200000000 accesses to shared memory in one call at both4 counts.c'
done
