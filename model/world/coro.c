/* coro.c - stacks, and what the switch (coro_switch.S, or ucontext) needs around it.
 *
 * A coroutine is one mapping:  guard page | stack, growing down ... | Coro | rest of the last page.
 * The Coro lies on top of its own stack, so that a switch touches one page and few cache lines. Where in the last page
 * differs from one coroutine to the next (`colour`): stacks are whole pages apart, so with the same offset the hot
 * lines of all of them would share one set of the first-level cache. Addresses decide only this, never a result.
 *
 * In the plain build coro_resume and coro_yield end in a jump to coro_switch, so nothing runs after a switch. */
#include "model/world/coro.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined CORO_UCONTEXT && !defined __x86_64__ && !defined __aarch64__
#define CORO_UCONTEXT
#endif
#ifdef CORO_UCONTEXT
#include <ucontext.h>
#endif

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define CORO_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CORO_ASAN
#endif
#ifdef CORO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined __has_include
/* cppcheck-suppress preprocessorErrorDirective ; it does not know __has_include */
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define CORO_VALGRIND
#endif
#endif

enum { DEFAULT_STACK = 64 << 10, LINE = 64, COLOURS = 16, COLOUR = 256 /* bytes: what a switch touches */ };

struct Coro {
  void *sp, *caller_sp;
  void (*fn)(Coro *self, void *arg);
  void *arg;
  bool running, ended;
  void *mapping; /* from here, the guard page, `mapped` bytes */
  size_t mapped, guard;
#ifdef CORO_UCONTEXT
  ucontext_t context, caller;
#endif
#ifdef CORO_ASAN
  void *fake_stack, *caller_fake_stack;
  const void *caller_bottom;
  size_t caller_size;
#endif
#ifdef CORO_VALGRIND
  unsigned valgrind_stack;
#endif
};

static char *stack_bottom(const Coro *c) {
  return (char *)c->mapping + c->guard;
}
static size_t stack_size(const Coro *c) {
  return (size_t)((const char *)c - stack_bottom(c));
}

/* ---- ASan keeps the bounds of the stack it is on and must be told before and after each switch ---- */
#ifdef CORO_ASAN
static void leave_caller(Coro *c) {
  __sanitizer_start_switch_fiber(&c->caller_fake_stack, stack_bottom(c), stack_size(c));
}
static void back_in_caller(Coro *c) {
  __sanitizer_finish_switch_fiber(c->caller_fake_stack, NULL, NULL);
}
static void leave_coro(Coro *c, bool for_good) {
  __sanitizer_start_switch_fiber(for_good ? NULL : &c->fake_stack, c->caller_bottom, c->caller_size);
}
static void in_coro(Coro *c, bool first) {
  __sanitizer_finish_switch_fiber(first ? NULL : c->fake_stack, &c->caller_bottom, &c->caller_size);
}
/* Frames that were dropped leave their red zones behind. */
static void forget_frames(Coro *c) {
  __asan_unpoison_memory_region(stack_bottom(c), stack_size(c));
}
#else
static void leave_coro(Coro *c, bool for_good) {
  (void)c, (void)for_good;
}
static void in_coro(Coro *c, bool first) {
  (void)c, (void)first;
}
static void forget_frames(Coro *c) {
  (void)c;
}
#endif

/* ---- the switch itself: to_coro and to_caller return when the other side comes back, with what it passed ---- */
static void start(Coro *c);
#ifdef CORO_UCONTEXT
static bool to_coro(Coro *c) {
  int failed = swapcontext(&c->caller, &c->context);
  g_assert(!failed);
  return !c->ended;
}
static bool to_caller(Coro *c, bool alive) {
  (void)alive;
  int failed = swapcontext(&c->context, &c->caller);
  g_assert(!failed);
  return true;
}
/* makecontext passes ints only. */
static void coro_begin(unsigned high, unsigned low) {
  start((Coro *)(((uintptr_t)high << 16 << 16) | low));
}
static void lay_out(Coro *c) {
  uintptr_t self = (uintptr_t)c;
  c->context.uc_stack = (stack_t){.ss_sp = stack_bottom(c), .ss_size = stack_size(c)};
  c->context.uc_link = NULL;
  makecontext(&c->context, (void (*)(void))coro_begin, 2, (unsigned)(self >> 16 >> 16), (unsigned)self);
}
static void first_layout(Coro *c) {
  int failed = getcontext(&c->context); /* a system call; lay_out needs it only once */
  g_assert(!failed);
  lay_out(c);
}
#else
bool coro_switch(void **save_sp, void *to_sp, bool value);
void coro_start(void);
void coro_main(Coro *c);
static bool to_coro(Coro *c) {
  return coro_switch(&c->caller_sp, c->sp, true);
}
static bool to_caller(Coro *c, bool alive) {
  return coro_switch(&c->sp, c->caller_sp, alive);
}
void coro_main(Coro *c) {
  start(c);
}
#ifdef __x86_64__
/* r15 r14 r13 r12 rbx rbp, return address; above them a 16-byte aligned stack for coro_start to call from */
enum { FRAME_WORDS = 7, FRAME_SELF = 4, FRAME_RETURN = 6 };
#else
/* x19..x28 x29 x30, d8..d15 */
enum { FRAME_WORDS = 20, FRAME_SELF = 0, FRAME_RETURN = 11 };
#endif
static void lay_out(Coro *c) {
  uintptr_t *frame = (uintptr_t *)(void *)c - FRAME_WORDS;
  for (int i = 0; i < FRAME_WORDS; i++) frame[i] = 0;
  frame[FRAME_SELF] = (uintptr_t)c;
  frame[FRAME_RETURN] = (uintptr_t)coro_start;
  c->sp = frame;
}
static void first_layout(Coro *c) {
  lay_out(c);
}
#endif

static void start(Coro *c) {
  in_coro(c, true);
  c->fn(c, c->arg);
  c->running = false;
  c->ended = true;
  leave_coro(c, true);
  to_caller(c, false);
  g_assert_not_reached();
}

/* Where in its last page the Coro lies: 0..COLOURS-1, different for neighbouring mappings. */
static size_t colour(const void *mapping, size_t page) {
  return (uintptr_t)mapping / page * 0x9e3779b1u >> 16 & (COLOURS - 1);
}

Coro *coro_new(void (*fn)(Coro *self, void *arg), void *arg, size_t stack_bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), head = (sizeof(Coro) + LINE - 1) / LINE * LINE;
  size_t want = stack_bytes ? stack_bytes : DEFAULT_STACK;
  if (want > SIZE_MAX / 2) return NULL;
  size_t stack = (want + page - 1) / page * page, top = (head + COLOURS * COLOUR + page - 1) / page * page;
  size_t mapped = page + stack + top;
  char *mapping =
      mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return NULL;
  if (mprotect(mapping, page, PROT_NONE) != 0) { /* too many mappings */
    munmap(mapping, mapped);
    return NULL;
  }
  Coro *c = (Coro *)(void *)(mapping + mapped - head - colour(mapping, page) * COLOUR);
  *c = (Coro){.fn = fn, .arg = arg, .mapping = mapping, .mapped = mapped, .guard = page};
  g_assert(stack_size(c) >= stack);
#ifdef CORO_VALGRIND
  c->valgrind_stack = VALGRIND_STACK_REGISTER(stack_bottom(c), c);
#endif
  first_layout(c);
  return c;
}

void coro_free(Coro *c) {
  if (!c) return;
  g_assert(!c->running);
#ifdef CORO_VALGRIND
  VALGRIND_STACK_DEREGISTER(c->valgrind_stack);
#endif
  forget_frames(c);
  munmap(c->mapping, c->mapped);
}

bool coro_resume(Coro *c) {
  g_assert(!c->running && !c->ended);
  c->running = true;
#ifdef CORO_ASAN
  leave_caller(c);
  bool alive = to_coro(c);
  back_in_caller(c);
  return alive;
#else
  return to_coro(c);
#endif
}

void coro_yield(Coro *c) {
  g_assert(c->running);
  c->running = false;
  leave_coro(c, false);
  to_caller(c, true);
  in_coro(c, false);
}

bool coro_ended(const Coro *c) {
  return c->ended;
}

void coro_reset(Coro *c, void (*fn)(Coro *self, void *arg), void *arg) {
  g_assert(!c->running);
  forget_frames(c);
  c->fn = fn;
  c->arg = arg;
  c->ended = false;
  lay_out(c);
}

/* ---- back to where it was ---- */

bool coro_can_go_back(void) {
#if defined CORO_UCONTEXT || defined CORO_ASAN
  return false;
#elif defined CORO_VALGRIND
  return !RUNNING_ON_VALGRIND;
#else
  return true;
#endif
}

/* All that the switch needs lies on the stack, from sp up to the Coro. */
size_t coro_saved_bytes(const Coro *c) {
  g_assert(!c->running && !c->ended);
  return (size_t)((const char *)c - (const char *)c->sp);
}

void coro_save(const Coro *c, void *to) {
  memcpy(to, c->sp, coro_saved_bytes(c));
}

void coro_go_back(Coro *c, const void *saved, size_t bytes) {
  g_assert(!c->running && bytes <= stack_size(c));
  c->sp = (char *)c - bytes;
  c->ended = false;
  memcpy(c->sp, saved, bytes);
}
