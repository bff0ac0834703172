#!/bin/bash
# Code that would not end: calls of the runtime, rounds of spinning, private memory; each is told with its line. Loops
# that do end are left alone, and a signal is heard whatever the code does.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1
cat >loops.c <<'END'
#include "stampede_subject.h"
#include <stdlib.h>
#include <string.h>
static volatile int *cell;
static StmLock lock;
static char *volatile kept;
static void start(void) { cell = stm_shared("cell", 4096, 4096); lock = stm_lock_new("l"); }
#define ENTRY(name) static void name(int64_t a)
ENTRY(locking) { for (;;) { stm_lock_acquire(lock, a); stm_lock_release(lock); } }
ENTRY(spinning) { for (;;) cell[1] = (int)a, stm_spin(); }
ENTRY(keeps_spinlock) { stm_spin_lock(cell + a); }
ENTRY(trying) { while (!stm_lock_try(lock, a)) stm_spin(); }
ENTRY(keeps_lock) { stm_lock_acquire(lock, a); stm_spin(); }
ENTRY(mallocs) { for (;;) { kept = malloc(1 << 20); kept[a] = 1; } }
ENTRY(privates) { for (;;) { kept = stm_private(1 << 20); kept[a] = 1; } }
ENTRY(fills) { static char b[1 << 16]; for (;;) memset(b, (int)a, sizeof b); }
ENTRY(counts) { for (volatile int64_t i = a; i < 9000; i++) stm_spin(); }
ENTRY(stores) { for (int i = 0; i < 9000; i++) cell[2 + a] = i, stm_spin(); }
static __attribute__((noinline)) int goes_up(volatile int *n, int64_t a) { return *n < 9000 + a && ++*n; } /* no register keeps it */
ENTRY(shares) { while (goes_up(cell + 9, a)) stm_spin(); }
ENTRY(owns) { static volatile int own; while (goes_up(&own, a)) stm_spin(); }
ENTRY(times) { int64_t end = stm_now_us() + 9000 + a; while (stm_now_us() < end) stm_spin(); }
ENTRY(waits) { while (!cell[a]) stm_spin(); }
ENTRY(gives) { stm_sleep_us(9000); cell[a] = 1; }
#define E(name) {#name, "a loop", name}
static const StampedeEntry entries[] = {E(locking), E(spinning), E(keeps_spinlock), E(trying), E(keeps_lock), E(mallocs),
  E(privates), E(fills), E(counts), E(stores), E(shares), E(owns), E(times), E(waits), E(gives)};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "loops", .about = "loops",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END
printf 'subject: loops\nabout: loops\nsources: [loops.c]\n' >loops.yaml
check_status 0 "$STAMPEDE" subject build --manifest loops.yaml -o loops.so
# scenario ENTRY ENTRY: two processes that call them
scenario() { printf 'scenario: two\nabout: two loops\nsubject: ./loops.so\nprocesses:\n  - {name: p, script: [%s]}\n  - {name: q, script: [%s]}\n' "$1" "$2" >two.yaml; }
# endless ENTRY ENTRY WORDS: told so, with the first one's line
endless() {
  scenario "$1" "$2"
  check_status 1 "$STAMPEDE" run two.yaml
  check_contains "$3"
  check_contains "$4 loops.c:$(grep -n "ENTRY($4)" loops.c | cut -d: -f1)"
}
ends() {
  scenario "$1" "$2"
  check_status 0 "$STAMPEDE" run two.yaml
}
endless locking locking "endless: 10000000 calls of stm_ functions in one call" locking
endless mallocs mallocs "out of memory of its own (256 MiB" mallocs
endless privates privates "out of memory of its own (256 MiB" privates
endless spinning spinning "it goes round for ever, the same state every" spinning # ties between them are drawn
endless keeps_spinlock keeps_spinlock "it goes round for ever, the same state every" keeps_spinlock
endless trying keeps_lock "it goes round for ever, the same state every" trying
endless waits stores "it goes round for ever, the same state every" waits
# What changes with each round (its stack, and nothing but shared memory, or its own), what looks at the clock, and what another is yet to change: they end.
ends counts counts
ends stores stores
ends shares shares
ends owns owns
ends times times
ends waits gives

# --- a signal, to the tool alone
for entry in fills mixed; do
  for signal in INT TERM; do
    if [[ $entry == fills ]]; then scenario fills fills; else scenario stores "{call: fills, with: 1}"; fi
    setsid env --default-signal=INT "$STAMPEDE" run two.yaml >out.txt 2>&1 &
    tool=$!
    sleep 0.7
    kill -s "$signal" "$tool"
    wait "$tool"
    status=$?
    check "$entry, $signal: status $status" test "$status" = 130
  done
done
