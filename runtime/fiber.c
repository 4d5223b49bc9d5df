// SPDX-License-Identifier: Apache-2.0
// Fiber switches: about 20 instructions of assembly on x86-64 System V (callee-saved registers and
// the stack pointer), ucontext elsewhere. The floating-point control words are not switched:
// kernels never change them. AddressSanitizer and ThreadSanitizer are told of every switch.
#include "runtime/fiber.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// FIBER_UCONTEXT: uses ucontext on x86-64 too, for its test.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32) && !defined(FIBER_UCONTEXT)
#define FIBER_ASM 1
#else
#define FIBER_ASM 0
#include <ucontext.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif

#if defined(FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

struct fiber {
#if FIBER_ASM
  void *sp, *resumer_sp;
#else
  ucontext_t context, resumer;
#endif
  void (*entry)(void *user);
  void *user;
  bool ended;
#if defined(FIBER_ASAN)
  void *fake_stack, *resumer_fake_stack;
  const void *resumer_bottom;
  size_t resumer_size;
#elif defined(FIBER_TSAN)
  void *tsan, *resumer_tsan;
#endif
};

#define FIBER_MAX (1u << 16) // far above the threads of a CTA

struct fiber_pool {
  unsigned count;
  size_t page;
  char *map; // count times: a guard page, then a stack
  size_t map_bytes;
  struct fiber *fibers;
};

static size_t slot_bytes(const struct fiber_pool *p) { return p->page + FIBER_STACK_BYTES; }

static char *stack_bottom(const struct fiber_pool *p, unsigned i) {
  return p->map + i * slot_bytes(p) + p->page;
}

static bool protect_guards(struct fiber_pool *p) {
  for (unsigned i = 0; i < p->count; i++)
    if (mprotect(p->map + i * slot_bytes(p), p->page, PROT_NONE) != 0)
      return false;
  return true;
}

struct fiber_pool *fiber_pool_create(unsigned count) {
  if (count > FIBER_MAX)
    return NULL;
  struct fiber_pool *p = memory_zeroed(1, sizeof *p);
  if (!p)
    return NULL;
  long page = sysconf(_SC_PAGESIZE);
  p->page = page > 0 ? (size_t)page : 4096;
  p->count = count;
  p->map_bytes = count * slot_bytes(p);
  p->fibers = memory_zeroed(count, sizeof *p->fibers);
  void *map = mmap(NULL, p->map_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  p->map = map == MAP_FAILED ? NULL : map;
  if (!p->fibers || !p->map || !protect_guards(p)) {
    fiber_pool_destroy(p);
    return NULL;
  }
#if defined(FIBER_TSAN)
  for (unsigned i = 0; i < count; i++)
    p->fibers[i].tsan = __tsan_create_fiber(0);
#endif
  return p;
}

void fiber_pool_destroy(struct fiber_pool *p) {
  if (!p)
    return;
#if defined(FIBER_TSAN)
  for (unsigned i = 0; p->fibers && i < p->count; i++)
    if (p->fibers[i].tsan)
      __tsan_destroy_fiber(p->fibers[i].tsan);
#endif
  if (p->map)
    munmap(p->map, p->map_bytes);
  free(p->fibers);
  free(p);
}

unsigned fiber_pool_count(const struct fiber_pool *p) { return p->count; }

// ---- the switch itself ----

#if FIBER_ASM

// Pushes the callee-saved registers, stores the stack pointer in *save and switches to `to`.
__attribute__((naked, noinline)) static void switch_stacks(UNUSED void **save, UNUSED void *to) {
  __asm__ volatile("pushq %rbp\n\t"
                   "pushq %rbx\n\t"
                   "pushq %r12\n\t"
                   "pushq %r13\n\t"
                   "pushq %r14\n\t"
                   "pushq %r15\n\t"
                   "movq %rsp, (%rdi)\n\t"
                   "movq %rsi, %rsp\n\t"
                   "popq %r15\n\t"
                   "popq %r14\n\t"
                   "popq %r13\n\t"
                   "popq %r12\n\t"
                   "popq %rbx\n\t"
                   "popq %rbp\n\t"
                   "popq %rcx\n\t"
                   "jmpq *%rcx\n\t"); // a `ret` would always be mispredicted
}

// Entry of a new fiber: r12 holds the argument, r13 the function.
__attribute__((naked, noinline)) static void begin(void) {
  __asm__ volatile("movq %r12, %rdi\n\t"
                   "jmpq *%r13\n\t");
}

static void to_fiber(struct fiber *f) { switch_stacks(&f->resumer_sp, f->sp); }
static void to_resumer(struct fiber *f) { switch_stacks(&f->sp, f->resumer_sp); }

#else

static void to_fiber(struct fiber *f) { swapcontext(&f->resumer, &f->context); }
static void to_resumer(struct fiber *f) { swapcontext(&f->context, &f->resumer); }

#endif

// Leaves the fiber; returns when it is resumed.
static void leave(struct fiber *f) {
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(f->ended ? NULL : &f->fake_stack, f->resumer_bottom,
                                 f->resumer_size);
  to_resumer(f);
  __sanitizer_finish_switch_fiber(f->fake_stack, &f->resumer_bottom, &f->resumer_size);
#elif defined(FIBER_TSAN)
  __tsan_switch_to_fiber(f->resumer_tsan, 0);
  to_resumer(f);
#else
  to_resumer(f);
#endif
}

static void run(struct fiber *f) {
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(NULL, &f->resumer_bottom, &f->resumer_size);
#endif
  f->entry(f->user);
  f->ended = true;
  leave(f);
}

#if !FIBER_ASM
// makecontext passes ints: a pointer is passed as two.
static void run_split(unsigned high, unsigned low) {
  run((struct fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}
#endif

void fiber_start(struct fiber_pool *p, unsigned i, void (*entry)(void *user), void *user) {
  struct fiber *f = &p->fibers[i];
  f->entry = entry;
  f->user = user;
  f->ended = false;
#if defined(FIBER_ASAN)
  f->fake_stack = NULL;
  __asan_unpoison_memory_region(stack_bottom(p, i),
                                FIBER_STACK_BYTES); // clears the marks of dropped frames
#endif
#if FIBER_ASM
  // What switch_stacks pops, from below: r15 r14 r13 r12 rbx rbp, the return address, and a null
  // return address for `run`. The stack tops are staggered: at equal page offsets all stacks would
  // share the same few cache sets.
  char *end = stack_bottom(p, i) + FIBER_STACK_BYTES - i % 61 * 64;
  void **top = (void **)(void *)end;
  void (*function)(struct fiber *) = run;
  void (*start)(void) = begin;
  top[-1] = NULL;
  __builtin_memcpy(&top[-2], &start, sizeof start);
  top[-3] = NULL;
  top[-4] = NULL;
  top[-5] = f;
  __builtin_memcpy(&top[-6], &function, sizeof function);
  top[-7] = top[-8] = NULL;
  f->sp = &top[-8];
#else
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = stack_bottom(p, i);
  f->context.uc_stack.ss_size = FIBER_STACK_BYTES;
  f->context.uc_link = NULL;
  uint64_t address = (uint64_t)(uintptr_t)f;
  makecontext(&f->context, (void (*)(void))run_split, 2, (unsigned)(address >> 32),
              (unsigned)address);
#endif
}

bool fiber_resume(struct fiber_pool *p, unsigned i) {
  struct fiber *f = &p->fibers[i];
  assert(!f->ended);
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(&f->resumer_fake_stack, stack_bottom(p, i), FIBER_STACK_BYTES);
  to_fiber(f);
  __sanitizer_finish_switch_fiber(f->resumer_fake_stack, NULL, NULL);
#elif defined(FIBER_TSAN)
  f->resumer_tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(f->tsan, 0);
  to_fiber(f);
#else
  to_fiber(f);
#endif
  return !f->ended;
}

void fiber_yield(struct fiber_pool *p, unsigned i) { leave(&p->fibers[i]); }
