#!/bin/bash
# e2e_subject_strings.sh - libc's string functions in a subject: what each reads and writes of shared memory is an access
# at its line, and it does what libc's does, whoever goes on in between.
# shellcheck source=tests/e2e.sh
source "$(dirname "$0")/e2e.sh"
cd "$SCRATCH" || exit 1

cat >strings.c <<'END_OF_C'
#include "stampede_subject.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *name, *other;
static int *result;
static volatile int off; /* the compiler does not know what is called */
static void start(void) {
  name = stm_shared("name", 64, 64);
  other = stm_shared("other", 64, 64);
  result = stm_shared("result", sizeof *result, 64);
  strcpy(name, "12ab");
  strcpy(other, "ab");
}
static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
#define ENTRY(what, body) static void do_##what(int64_t a) { (void)a; int r = 0; body; *result = r; }
#define IS(what, truth) ENTRY(what, if (!(truth)) stm_panic(#what " is wrong"))
#define N (name + off)
#define O (other + off)
IS(strlen, strlen(N) == 4)
IS(strnlen, strnlen(N, 2) == 2)
IS(strchr, strchr(N, 'a') == name + 2 && !strchr(N, 'x'))
IS(strrchr, strrchr(N, 'b') == name + 3)
IS(memchr, memchr(N, '2', (size_t)(off + 4)) == name + 1)
IS(strtol, strtol(N, NULL, 10) == 12)
IS(strtoul, strtoul(N, NULL, 16) == 0x12ab)
IS(strcmp, strcmp(N, "12ac" + off) < 0 && strcmp(N, O) < 0)
IS(strncmp, strncmp(N, "12xx" + off, (size_t)(off + 2)) == 0)
IS(strspn, strspn(N, "21" + off) == 2)
IS(strcspn, strcspn(N, O) == 2)
IS(strstr, strstr(N, O) == name + 2)
IS(sprintf, (sprintf(N, "%d", off + 7), name[0] == '7' && !name[1]))
IS(snprintf, snprintf(N, (size_t)(off + 3), "%d", off + 1234) == 4 && name[1] == '2' && !name[2])
IS(strcpy, strcpy(N, O) == name && !memcmp(name, "ab\0b", 5))
IS(strncpy, strncpy(N, O, (size_t)(off + 4)) == name && !memcmp(name, "ab\0\0", 5))
IS(strcat, strcat(N, O) == name && !memcmp(name, "12abab", 7))
ENTRY(qsort, qsort(N, (size_t)(off + 4), 1, order))
ENTRY(sorts, char mine[] = "ba"; qsort(mine + off, 2, 1, order); if (mine[0] != 'a') stm_panic("sorts is wrong"))
ENTRY(writes, name[0] = 'x')
ENTRY(looks, r = ((volatile char *)name)[0])
ENTRY(follows, r = ((volatile char *)name)[5])
ENTRY(grows, name[4] = 'c'; name[5] = 0)
static void do_length(int64_t a) { (void)a; *result = (int)strlen(N); }
static void do_equal(int64_t a) { (void)a; *result = 1 + (strcmp(N, O) == 0); }
static void do_swap(int64_t a) { (void)a; name[0] = 'a'; name[1] = 'b'; name[2] = 0; other[0] = 'y'; }
#define E(name) {#name, "calls it", do_##name}
static const StampedeEntry entries[] = {E(strlen), E(strnlen), E(strchr), E(strrchr), E(memchr), E(strtol), E(strtoul),
  E(strcmp), E(strncmp), E(strspn), E(strcspn), E(strstr), E(sprintf), E(snprintf), E(strcpy), E(strncpy), E(strcat),
  E(qsort), E(sorts), E(writes), E(looks), E(follows), E(grows), E(length), E(equal), E(swap)};
static bool four(char *why, size_t n) { snprintf(why, n, "%d", *result); return *result == 4; }
static bool five(char *why, size_t n) { snprintf(why, n, "%d", *result); return *result == 5; }
static bool six(char *why, size_t n) { snprintf(why, n, "%d", *result); return *result > 5; }
static bool equal(char *why, size_t n) { snprintf(why, n, "%d", *result); return *result == 2; }
static const StampedeCheck checks[] = {{"four", "", four, true}, {"five", "", five, true}, {"six", "", six, true},
  {"equal", "", equal, true}};
const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION, .name = "strings", .about = "strings",
  .start = start, .entries = entries, .n_entries = sizeof entries / sizeof *entries, .checks = checks, .n_checks = 4};
END_OF_C
printf 'subject: strings\nabout: strings\nsources: [strings.c]\nflags: [-fno-builtin]\n' >strings.yaml
check_status 0 "$STAMPEDE" subject build --quiet --manifest strings.yaml -o strings.so

scenario() { # ENTRY...
  printf '%s\n' 'scenario: s' 'about: strings' 'subject: ./strings.so' 'processes:' >s.yaml
  for entry; do echo "  - {name: p$((++p)), script: [$entry]}" >>s.yaml; done
  p=0
}
p=0
line() { grep -n "^[A-Z]*($1," strings.c | cut -d: -f1; }

# Alone each does what libc's does. Beside a store to what it reads, or a load of what it writes, it races at its line.
for reads in strlen strnlen strchr strrchr memchr strtol strtoul strcmp strncmp strspn strcspn strstr; do
  scenario $reads
  check_status 0 "$STAMPEDE" run s.yaml
  scenario $reads writes
  "$STAMPEDE" check s.yaml --races >"$OUT"
  check_contains " reads name+0 at do_$reads strings.c:$(line $reads)" <(grep '^ *race: .* at do_writes' "$OUT")
done
for writes in sprintf snprintf strcpy strncpy; do
  scenario $writes
  check_status 0 "$STAMPEDE" run s.yaml
  scenario $writes looks
  "$STAMPEDE" check s.yaml --races >"$OUT"
  check_contains " writes name+0 at do_$writes strings.c:$(line $writes)" <(grep '^ *race: .* at do_looks' "$OUT")
done
scenario strcat
check_status 0 "$STAMPEDE" run s.yaml
scenario strcat follows
"$STAMPEDE" check s.yaml --races >"$OUT"
check_contains " writes name+4 at do_strcat strings.c:$(line strcat)" <(grep '^ *race: .* at do_follows' "$OUT")
scenario sorts
check_status 0 "$STAMPEDE" run s.yaml
scenario qsort
check_status 1 "$STAMPEDE" check s.yaml
check_contains 'qsort of shared memory, which is not modelled'

# A string that grows before it is read: 4 or 5, as the end is there before, and nothing else; in any number of jobs.
scenario length grows
for search in '--strategy dpor' '--strategy dfs' '--strategy dpor --jobs 2'; do
  # shellcheck disable=SC2086 # several words
  check_status 1 "$STAMPEDE" check s.yaml --all 9 $search
  check_contains 'every order was tried'
  check_contains 'four                         violated'
  check_contains 'five                         violated'
  check_lacks 'six                          violated'
done
# Of two the first is kept as it was read: equal where it was read after, the second before.
scenario equal swap
check_status 1 "$STAMPEDE" check s.yaml --all 9
check_contains 'equal                        violated'
"$STAMPEDE" check s.yaml --all 9 --json | grep -v measured >one
"$STAMPEDE" check s.yaml --all 9 --json --jobs 2 | grep -v measured >two
check_same one two
