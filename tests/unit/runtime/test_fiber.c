// SPDX-License-Identifier: Apache-2.0
// Fibers: switching, registers and stacks kept, restarts, guard pages.
#include "runtime/fiber.h"
#include "suites.h"

#include <signal.h>
#include <string.h>

struct counter {
  struct fiber_pool *pool;
  unsigned id;
  int steps, seen;
  double sum;
};

static void count(void *user) {
  struct counter *c = user;
  volatile int on_stack[100];
  double x = 0.5; // lives in a register or on this stack across switches
  for (int i = 0; i < c->steps; i++) {
    on_stack[i % 100] = i;
    fiber_yield(c->pool, c->id);
    c->seen += on_stack[i % 100] == i;
    x += 1.0;
  }
  c->sum = x;
}

START_TEST(fibers_take_turns) {
  enum { N = 40 };
  struct fiber_pool *p = fiber_pool_create(N);
  struct counter c[N];
  ck_assert_uint_eq(fiber_pool_count(p), N);
  for (unsigned i = 0; i < N; i++) {
    c[i] = (struct counter){.pool = p, .id = i, .steps = 3 + (int)i};
    fiber_start(p, i, count, &c[i]);
  }
  unsigned running = N;
  bool ended[N] = {false};
  for (int round = 0; running; round++) {
    ck_assert_int_lt(round, 100);
    for (unsigned i = 0; i < N; i++) {
      if (ended[i] || fiber_resume(p, i))
        continue;
      ended[i] = true;
      running--;
      ck_assert_int_eq(round, c[i].steps);
    }
  }
  for (unsigned i = 0; i < N; i++) {
    ck_assert_int_eq(c[i].seen, c[i].steps);
    ck_assert(c[i].sum == 0.5 + c[i].steps);
  }
  fiber_pool_destroy(p);
}
END_TEST

START_TEST(a_restart_drops_the_old_frames) {
  struct fiber_pool *p = fiber_pool_create(1);
  for (int i = 0; i < 1000; i++) {
    struct counter c = {.pool = p, .steps = 5};
    fiber_start(p, 0, count, &c);
    ck_assert(fiber_resume(p, 0));
    ck_assert(fiber_resume(p, 0));
    ck_assert_int_eq(c.seen, 1);
  }
  fiber_pool_destroy(p);
}
END_TEST

static int touch_down(int depth) {
  volatile char frame[4096];
  memset((char *)(uintptr_t)frame, depth, sizeof frame);
  return depth == 0 ? frame[0] : touch_down(depth - 1) + frame[1];
}

#ifndef __SANITIZE_ADDRESS__ // which catches the overflow first
static void overflow(void *user) { *(int *)user = touch_down(1000); }

START_TEST(overflow_hits_the_guard) {
  struct fiber_pool *p = fiber_pool_create(2);
  int result = 0;
  fiber_start(p, 1, overflow, &result);
  fiber_resume(p, 1);
  ck_abort_msg("a fiber wrote past its stack");
}
END_TEST
#endif

static void use_most(void *user) { *(int *)user = touch_down(9); }

START_TEST(most_of_the_stack_is_usable) {
  struct fiber_pool *p = fiber_pool_create(1);
  int result = -1;
  fiber_start(p, 0, use_most, &result);
  ck_assert(!fiber_resume(p, 0));
  ck_assert_int_ne(result, -1);
  fiber_pool_destroy(p);
}
END_TEST

START_TEST(no_pool_of_absurd_size) {
  fiber_pool_destroy(NULL);
  ck_assert_ptr_null(fiber_pool_create(4000000000u));
}
END_TEST

Suite *suite_fiber(void) {
  Suite *s = suite_create("fiber");
  TCase *t = tcase_create("switching");
  tcase_add_test(t, fibers_take_turns);
  tcase_add_test(t, a_restart_drops_the_old_frames);
  tcase_add_test(t, most_of_the_stack_is_usable);
  tcase_add_test(t, no_pool_of_absurd_size);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  tcase_add_test_raise_signal(t, overflow_hits_the_guard, SIGSEGV);
#endif
  suite_add_tcase(s, t);
  return s;
}
