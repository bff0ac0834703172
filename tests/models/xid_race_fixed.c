/* xid_race_fixed.c - xid_race.c as mended: the lock is held over reading the limit and the scan. */
#define FIXED
#include "xid_race.c"
