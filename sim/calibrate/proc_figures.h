/* proc_figures.h - what /proc says of a process, once it sleeps: then it has done all of what it was asked. */
#pragma once
#include "sim/calibrate/calibrate.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
  int64_t minor_faults;                /* /proc/PID/stat, field 10 */
  int64_t pagetable_kib, resident_kib; /* VmPTE, VmHWM of /proc/PID/status */
  int64_t own_pages; /* of 4 KiB that it alone has written to: Private_Dirty of private mappings, /proc/PID/smaps */
} ProcFigures;
bool proc_figures(pid_t pid, ProcFigures *out, GError **error);

/* Where its largest shared anonymous mapping begins ("/dev/zero (deleted)", "/anon_hugepage (deleted)"): the server's
 * main segment. 0: not known. */
uint64_t proc_shared_base(pid_t pid);
/* "Name: 123 kB" of /proc/PID/status or /proc/meminfo, in KiB, or a bare number; -1: there is none. */
int64_t proc_field(const char *file, const char *name);
