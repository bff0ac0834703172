/* bench.h - what calibrate machine measures: each a function that fills SampleStats of nanoseconds a unit. n = 0: it
 * could not be measured here. */
#pragma once
#include "sim/calibrate/samples.h"

/* Faults of a forked child on shared memory that its parent has filled (bench_faults.c). */
typedef enum {
  FAULTS_STORE,      /* one a page: memory.fault_write */
  FAULTS_LOAD_ALONE, /* loads of pages whose neighbours are not there: memory.fault_read */
  FAULTS_LOAD,       /* loads of pages whose windows are: a window a fault */
  FAULTS_APART,      /* stores 2 MiB apart: a fault and a page of page table each */
  FAULTS_UNMAP,      /* munmap of pages that are mapped, a page */
  FAULTS_HUGE        /* stores to pages of 2 MiB (MAP_HUGETLB) */
} FaultKind;
SampleStats bench_faults(FaultKind kind);
SampleStats bench_around(int64_t window); /* each neighbour that a read fault maps, `window` pages at once */
SampleStats bench_table(void);            /* a page of page table */
int64_t bench_fault_around(void);         /* pages a read fault maps, counted; 1: fault-around is off; 0: not known */

/* bench_process.c */
SampleStats bench_fork(void);     /* fork(), in the parent, as small as this process is */
SampleStats bench_fork_pte(void); /* an entry more: with 32 MiB of private memory on 4 KiB pages, less without */
SampleStats bench_reap(void);     /* waitpid of a child that is dead */
SampleStats bench_accept(void);   /* accept of a Unix-socket connection that waits */
SampleStats bench_message(void);  /* a byte to another process over a Unix socket, one way */
SampleStats bench_handover(void); /* semaphore (futex) in shared memory: post until the other runs */
SampleStats bench_switch(void);   /* the same with both on one core: two context switches a round */
SampleStats bench_line(void);     /* a cache line written by another core */

/* bench_cpu.c */
SampleStats bench_memmove(int64_t bytes); /* a byte, moved by 4 within an array of so many */
SampleStats bench_scan(void);             /* an entry of an int array looked at */
SampleStats bench_store(void);            /* a 4-byte store every 896 bytes */
SampleStats bench_lock(void);             /* compare-and-swap and decrement of a line that is near */
SampleStats bench_spin(void);             /* exchange, two stores, release */
