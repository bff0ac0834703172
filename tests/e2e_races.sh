#!/bin/bash
# e2e_races.sh - check --races of code that races in known ways: declared in its manifest and not, told with both call
# chains and the schedule; declarations that are wrong, or that nothing needs. What is expected follows from the source.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1
cat >racy.c <<'END_OF_C'
#include "stampede_subject.h"
#include <string.h>
typedef struct { int64_t first, second; } Pair;
static int64_t *counter, *other;
static Pair *pair;
static StmLock lock;
static void start(void) {
  counter = stm_shared("counter", sizeof *counter, 64);
  other = stm_shared("other", sizeof *other, 64);
  pair = stm_shared("pair", sizeof *pair, 64);
  stm_structure("pair", pair, sizeof *pair, 1, "Pair");
  lock = stm_lock_new("CounterLock");
}
static __attribute__((noinline)) void put(int64_t *at, int64_t value) {
  *at = value; /* line 15 */
}
static __attribute__((noinline)) void through(int64_t *at, int64_t value) {
  put(at, value + 1); /* line 18 */
}
static void count(int64_t by) {
  through(counter, by); /* line 21 */
}
static void both(int64_t by) {
  put(counter, by);
  put(other, by);
}
static void safe(int64_t by) {
  stm_lock_acquire(lock, false);
  put(counter, by);
  stm_lock_release(lock);
}
static void copy(int64_t by) {
  Pair p = {by, by};
  memcpy(pair, &p, by > 99 ? 8 : sizeof p);
}
static void first(int64_t by) { pair->first = by; }
static const StampedeEntry entries[] = {{"count", "", count}, {"both", "", both}, {"safe", "", safe},
  {"copy", "", copy}, {"first", "", first}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "racy", .about = "races",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END_OF_C
manifest() { printf 'subject: racy\nabout: races\nsources: [racy.c]\n%s\n' "$1" >racy.yaml; }
# subject RACES: racy.so with these declarations.
subject() {
  manifest "$1"
  check_status 0 "$STAMPEDE" subject build --quiet --manifest racy.yaml -o racy.so
}
# races STATUS ENTRY [OTHER] [OPTION...]: two processes, one call each.
races() {
  printf '%s\n' 'scenario: racy' 'about: two calls' 'subject: ./racy.so' 'processes:' \
    "  - {name: a, script: [{call: $2, with: 1}]}" "  - {name: b, script: [{call: ${3:-$2}, with: 2}]}" >two.yaml
  check_status "$1" "$STAMPEDE" check two.yaml --races "${@:4}"
}

# --- not declared: a failure, with both call chains and the schedule that has it; each time the same
subject ''
races 1 count
RACE='race: a writes counter at put racy.c:15; b writes counter at put racy.c:15'
CHAIN='at put racy.c:15, called at through racy.c:18, called at count racy.c:21'
check_contains "$RACE"
check_contains "first access  $CHAIN"
check_contains "second access $CHAIN"
check "the accesses are the last two steps of two: $(grep -c ' \* ' "$OUT")" test "$(grep -Ec '^ +[01] \* [ab] +count +writes counter' "$OUT")" = 2
cp "$OUT" once
races 1 count
check_same <(grep -v 'schedules/s' once) <(grep -v 'schedules/s' "$OUT")
races 1 count count --json
check "JSON tells the same" jq -e --arg race "$RACE" '.races | length == 1 and .[0].race == $race and .[0].declared == null
  and .[0].first == ["put racy.c:15", "through racy.c:18", "count racy.c:21"] and .[0].first == .[0].second
  and .[0].first_step == 0 and (.[0].steps | length) == 2' "$OUT"
check_status 0 "$STAMPEDE" check two.yaml --json
check "nobody looked for races" jq -e '.races == null' "$OUT"

# --- what a lock puts in order is none, and is one without the lock
races 0 safe
check_contains 'no race in these schedules'
races 1 safe safe --without-lock CounterLock
check_contains 'race: a writes counter at put racy.c:15; b writes counter at put racy.c:15'
races 1 safe both # the lock is one side's alone
check_contains 'race: a writes counter'
check_contains 'first access  at put racy.c:15, called at safe racy.c:29'
check_contains 'second access at put racy.c:15, called at both racy.c:24'

# --- declared by name: told with its reason, no failure; of the same line, what is not declared is one
subject 'races: [{at: counter, reason: an estimate}]'
races 0 count
check_contains "$RACE"
check_contains 'declared, counter: an estimate'
check_lacks 'no race in these schedules'
check_lacks 'first access'
races 0 count count --json
check "JSON has the reason" jq -e '.races[0].declared == {at: "counter", reason: "an estimate"} and .races_unused == []' "$OUT"
races 1 both
check_contains 'declared, counter: an estimate'
check_contains 'race: a writes other at put racy.c:15; b writes other at put racy.c:15'
check "what failed is the other: $(grep '^  race' "$OUT")" grep -q '^  race: a writes other' "$OUT"

# --- a declaration that nothing needs is told, and is no failure
races 0 safe
check_contains 'declared, but no race in these schedules: counter (an estimate)'
races 0 safe safe --json
check "JSON has what is not needed" jq -e '.races == [] and .races_unused == [{at: "counter", reason: "an estimate"}]' "$OUT"
check_status 0 "$STAMPEDE" subject info racy.so
check_contains 'races on purpose: 1'
check_contains '  counter: an estimate'
check_status 0 "$STAMPEDE" subject info racy.so --json
check "info's JSON" jq -e '.races == [{at: "counter", reason: "an estimate"}]' "$OUT"

# --- by line, of either access; the next line is another
subject 'races: [{at: "racy.c:15", reason: both the same word}]'
races 0 both
check_contains 'declared, racy.c:15: both the same word'
subject 'races: [{at: "racy.c:14", reason: a line that has moved}]'
races 1 both
check_contains 'declared, but no race in these schedules: racy.c:14 (a line that has moved)'

# --- a member is not the whole, nor a name that begins alike
subject 'races: [{at: pair.first, reason: of one member}]'
races 0 first
races 0 copy first
races 1 copy
subject 'races: [{at: pair, reason: of all of it}]'
races 0 copy
races 0 first
subject 'races: [{at: count, reason: not counter}]'
races 1 count

# --- the shipped ones that race on purpose say so
check_status 0 "$STAMPEDE" check s37-double-return-good --races
check_contains 'declared, lock-group.c:73: '
sed 's/racy.so/x/; s/^subject: .*/subject: proc-array-add-unlocked/; s/call: [a-z]*, with: 1/call: add, with: 4/; s/call: [a-z]*, with: 2/call: add, with: 5/' two.yaml >add.yaml
check_status 1 "$STAMPEDE" check add.yaml --races --all 9 --json # its check is broken, as it should be
check "each of its races is declared, and each declaration needed" jq -e \
  '(.races | length) > 9 and all(.races[]; .declared != null) and .races_unused == []' "$OUT"

# --- a message passed by an atomic: in order exactly where it is released and acquired, by its order or by a fence, in
# both memory orders; a compare-and-exchange that fails has its second order
cat >message.c <<'END_OF_C'
#include "stampede_subject.h"
static int64_t *data;
static int *flag;
static void start(void) {
  data = stm_shared("data", sizeof *data, 64);
  flag = stm_shared("flag", sizeof *flag, 64);
}
static void post(int64_t how) {
  *data = 1;
  if (how == 0) __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  if (how == 1) __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  if (how == 2) __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
  if (how == 3) { __atomic_thread_fence(__ATOMIC_RELEASE); __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }
  if (how == 4) __atomic_fetch_add(flag, 1, __ATOMIC_ACQUIRE);
}
static int swapped(int failed) {
  int expected = 9;
  if (failed) __atomic_compare_exchange_n(flag, &expected, 9, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  else __atomic_compare_exchange_n(flag, &expected, 9, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return expected;
}
static void take(int64_t how) {
  int seen = how == 0 ? __atomic_load_n(flag, __ATOMIC_RELAXED) : how == 1 ? __atomic_load_n(flag, __ATOMIC_ACQUIRE)
    : how == 2 ? __atomic_load_n(flag, __ATOMIC_SEQ_CST) : how == 3 ? __atomic_load_n(flag, __ATOMIC_RELAXED)
    : swapped(how == 5);
  if (how == 3) __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (seen) *data = 2;
}
static const StampedeEntry entries[] = {{"post", "", post}, {"take", "", take}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "message", .about = "a message",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries};
END_OF_C
printf 'subject: message\nabout: a message\nsources: [message.c]\n' >message.yaml
check_status 0 "$STAMPEDE" subject build --quiet --manifest message.yaml -o message.so
message() { # HOW-POSTED HOW-TAKEN STATUS
  printf '%s\n' 'scenario: message' 'about: one posts, one takes' 'subject: ./message.so' 'processes:' \
    "  - {name: a, script: [{call: post, with: $1}]}" "  - {name: b, script: [{call: take, with: $2}]}" >message-s.yaml
  check_status "$3" "$STAMPEDE" check message-s.yaml --races --set machine.memory_order=sc
  check_status "$3" "$STAMPEDE" check message-s.yaml --races --set machine.memory_order=tso --jobs 2
}
for posted in 0 1 2 3 4; do
  for taken in 0 1 2 3 4 5; do
    case $posted$taken in
    [123][1235]) message "$posted" "$taken" 0 ;;
    *) message "$posted" "$taken" 1 ;;
    esac
  done
done

# --- declarations that are wrong: one line with the place
wrong() {
  manifest "$1"
  check_status 2 "$STAMPEDE" subject build --manifest racy.yaml -o wrong.so
  check_contains "racy.yaml:$2: $3" "$ERR"
  check "one line: $(cat "$ERR")" test "$(wc -l <"$ERR")" = 1
}
FORM='{at: FILE:LINE or NAME, reason: TEXT}'
wrong 'races: counter' 4:8 "races: must be a list of $FORM"
wrong 'races: [counter]' 4:9 "must be $FORM"
wrong 'races: [{at: counter}]' 4:9 "\`reason\` is missing: $FORM"
wrong 'races: [{reason: why}]' 4:9 "\`at\` is missing: $FORM"
wrong 'races: [{at: counter, reason: ""}]' 4:31 'reason: must say why the race is right'
wrong 'races: [{at: counter, reason: [x]}]' 4:31 'reason: must be a text'
wrong 'races: [{at: counter, because: x}]' 4:32 'because: no such key; at, reason would be right'
wrong 'races: [{at: "racy.c:", reason: x}]' 4:14 'at: must be FILE:LINE, LINE from 1, or a name'
wrong 'races: [{at: "racy.c:0", reason: x}]' 4:14 'at: must be FILE:LINE'
wrong 'races: [{at: "racy.c:1x", reason: x}]' 4:14 'at: must be FILE:LINE'
wrong 'races: [{at: ":16", reason: x}]' 4:14 'at: must be FILE:LINE'
wrong 'races: [{at: "src/racy.c:16", reason: x}]' 4:14 'at: FILE stands without its folders'
wrong 'races: [{at: "slots[3].pid", reason: x}]' 4:14 'at: a name stands without an index'
wrong 'races: [{at: "", reason: x}]' 4:14 'at: must be FILE:LINE or a name'
wrong 'races: [{at: counter, reason: x}, {at: counter, reason: y}]' 4:40 'at: is declared already'
check "nothing was made of it" test ! -e wrong.so

# Equal functions, equal ends of branches: each access at its own line, though a compiler would make one of both.
cat >equal.c <<'END_OF_C'
#include "stampede_subject.h"
static volatile int *cell;
static void start(void) { cell = stm_shared("cell", 64, 64); }
static void one(int64_t a) { if (cell[4]) cell[8] = 1; }   /* line 4 */
static void other(int64_t a) { if (cell[4]) cell[8] = 1; } /* line 5 */
static void sets(int64_t a) { cell[4] = 1; }
static void branches(int64_t a) {
  if (a == 1) {
    cell[1] = 5;
    cell[2] = 6; /* line 10 */
  } else {
    cell[0] = 1;
    cell[2] = 6; /* line 13 */
  }
}
static const StampedeEntry entries[] = {{"one", "", one}, {"other", "", other}, {"sets", "", sets},
  {"branches", "", branches}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "equal", .about = "equal",
  .start = start, .entries = entries, .n_entries = 4};
END_OF_C
printf 'subject: equal\nabout: equal\nsources: [equal.c]\n' >equal.yaml
check_status 0 "$STAMPEDE" subject build --quiet --manifest equal.yaml -o racy.so
races 1 branches
check_contains ' equal.c:10; b writes cell+8 at branches equal.c:13'
races 1 one sets
check_contains 'reads cell+16 at one equal.c:4'
races 1 other sets
check_contains 'reads cell+16 at other equal.c:5'
