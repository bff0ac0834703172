/* costs.h - what things cost, in picoseconds a unit. The names are the keys of a profile (sim/profiles), the same table
 * makes the reader, the man page and `stampede list`. A model asks for a cost by name and never holds a number itself;
 * what no mechanism explains is called unexplained.* and printed in every report that uses it. */
#pragma once
#include <stdint.h>

/* COST(identifier, "profile.key", what it is). Units: a time for one occurrence; *_per_byte: a time for one byte. */
#define COST_LIST(COST)                                                                                                \
  COST(FORK, "postmaster.fork", "one fork of a child by the postmaster, without the entries below")                    \
  COST(FORK_PER_PTE, "postmaster.fork_per_pte", "copying one page-table entry of the postmaster's memory at fork")     \
  COST(ACCEPT, "postmaster.accept", "accepting one connection")                                                        \
  COST(REAP, "postmaster.reap", "reaping one dead child, without the list walk")                                       \
  COST(CHILD_LIST_ENTRY, "postmaster.child_list_entry", "one entry of a walk over the postmaster's child list")        \
  COST(STARTUP_BEFORE, "backend.before_init_process", "a new child's work up to InitProcess, startup packet included") \
  COST(STARTUP_AFTER, "backend.startup", "a new backend's work from the proc array to ReadyForQuery")                  \
  COST(EXIT_WORK, "backend.exit", "an exiting backend's own work, without callbacks on shared memory")                 \
  COST(LOGIN_CPU, "backend.authenticate", "CPU of authentication")                                                     \
  COST(QUERY, "backend.query", "one select-only transaction on the server")                                            \
  COST(SPIN_SECTION, "lock.spinlock_section", "a critical section under a spinlock")                                   \
  COST(LOCK_ACQUIRE, "lock.acquire", "an uncontended LWLock acquire and release")                                      \
  COST(LOCK_HANDOVER, "lock.handover", "from a release to the waiter running: semaphore and switch")                   \
  COST(FAULT_WRITE, "memory.fault_write", "a minor fault on the first store to a page")                                \
  COST(FAULT_READ, "memory.fault_read", "a minor fault on the first load of a page, first page of the window")         \
  COST(FAULT_AROUND_PAGE, "memory.fault_around_page", "each further page that a read fault maps")                      \
  COST(FAULT_HUGE, "memory.fault_huge", "a minor fault on a page of 2 MiB or 1 GiB; 0: as fault_write")                \
  COST(PAGE_TABLE_PAGE, "memory.page_table_page", "allocating one page of page table")                                 \
  COST(UNMAP_PAGE, "memory.unmap_page", "unmapping one page at exit")                                                  \
  COST(LINE_TRANSFER, "memory.line_transfer", "a cache line last written by another process, fetched out of sequence") \
  COST(TLB_L2_HIT, "memory.tlb_l2_hit", "a first-level TLB miss that the second level holds")                          \
  COST(TLB_MISS, "memory.tlb_miss", "a TLB miss that walks the page table")                                            \
  COST(MOVE_BYTE, "memory.move_per_byte", "moving one byte within an array (memmove)")                                 \
  COST(SCAN_ENTRY, "procarray.scan_entry", "looking at one entry of a dense array")                                    \
  COST(STORE_ENTRY, "procarray.store_entry", "storing one follower's offset, without line transfer and faults")        \
  COST(SNAPSHOT, "procarray.snapshot", "one snapshot under the shared lock, without its scan")                         \
  COST(SECTION, "procarray.section", "ProcArrayAdd or Remove under its locks, without what grows with the entries")    \
  COST(CLIENT_CONNECT, "pgbench.connect", "a client's own work to open one connection")                                \
  COST(CLIENT_QUERY, "pgbench.query", "a client's own work for one transaction")                                       \
  COST(CLIENT_THREAD, "pgbench.thread", "creating one pgbench thread")                                                 \
  COST(SESSION_BETWEEN, "pgbench.between", "a short connection between iterations, beside its connect")                \
  COST(NETWORK, "network.one_way", "one message, one way, client to server")                                           \
  COST(POOLER_WORK, "pooler.transaction", "a pooler worker's own work for one transaction, without the bytes below")   \
  COST(POOLER_BYTE, "pooler.identity_per_byte", "a pooler copying or hashing one byte of an identity")                 \
  COST(UNEXPLAINED_RUN, "unexplained.start_of_run", "once an iteration, before the first connection is up")            \
  COST(UNEXPLAINED_SECTION, "unexplained.section", "each ProcArrayAdd, beside procarray.section")

typedef enum {
#define COST_ID(id, key, about) COST_##id,
  COST_LIST(COST_ID)
#undef COST_ID
      COST_COUNT
} CostId;

typedef struct {
  const char *key, *about;
} CostInfo;
extern const CostInfo cost_info[COST_COUNT];

/* Picoseconds a unit; at most 9.2e18 ps = 106 days. */
typedef struct {
  int64_t ps[COST_COUNT];
} Costs;

/* ns of `count` units, rounded half up; saturates at INT64_MAX. */
int64_t costs_ns(const Costs *c, CostId id, int64_t count);

/* The sum of two times, saturating. */
static inline int64_t ns_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Nine years. A part of a step costs no more, so that its parts can be added up without care; a step of so much is
 * never over: the clock ends first. */
#define NS_NEVER (INT64_MAX >> 5)
