/* coro.h - coroutines, for code that cannot be a machine (subjects). x86-64 and aarch64 switch in a few instructions
 * (coro_switch.S), other machines through ucontext; ASan and valgrind are told of the stacks.
 * A coroutine runs on its own stack (guard page below) until it yields or its function returns. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Coro Coro;

/* fn(arg) starts at the first coro_resume. stack_bytes is rounded up to whole pages; 0 means 64 KiB. NULL when
 * there is no memory for the stack. */
Coro *coro_new(void (*fn)(Coro *self, void *arg), void *arg, size_t stack_bytes);
void coro_free(Coro *c); /* also one that has not ended: its frames are dropped, nothing is unwound */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Coro, coro_free)
bool coro_resume(Coro *c); /* run it until it yields (true) or ends (false); not from inside itself */
void coro_yield(Coro *c);  /* back to whoever resumed it; only from inside */
bool coro_ended(const Coro *c);
/* Give an ended or dropped coroutine a new function on the same stack, without system calls. */
void coro_reset(Coro *c, void (*fn)(Coro *self, void *arg), void *arg);

/* A coroutine that has yielded can be put back to where it was, as often as wanted, also after it went on or ended:
 * what it has on its stack is copied. False: not here (ASan and valgrind keep books of stacks, ucontext hides them). */
bool coro_can_go_back(void);
size_t coro_saved_bytes(const Coro *c);
void coro_save(const Coro *c, void *to); /* coro_saved_bytes(c) of them */
void coro_go_back(Coro *c, const void *saved, size_t bytes);
