/* arch-arm.h - stands before the tree's own: no assembly, so that atomics are the compiler's and the instrumentation
 * sees them. */
#include "port/atomics/unassembled.h"
