/* arch-x86.h - stands before the tree's own: no assembly, so that atomics are the compiler's and the instrumentation
 * sees them. */
#define PG_HAVE_8BYTE_SINGLE_COPY_ATOMICITY
