// SPDX-License-Identifier: Apache-2.0
// The thread pool: each index once, worker numbers in range, callers from several threads.
#include "base/thread_pool.h"
#include "suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct tally {
  atomic_uint *counts;
  unsigned workers;
  atomic_bool bad_worker;
};

static void count(void *user, uint64_t i, unsigned worker) {
  struct tally *t = user;
  atomic_fetch_add(&t->counts[i], 1);
  if (worker >= t->workers)
    atomic_store(&t->bad_worker, true);
}

static void run_and_check(struct thread_pool *p, uint64_t n) {
  struct tally t = {.counts = calloc(n + 1, sizeof(atomic_uint)), .workers = thread_pool_size(p)};
  thread_pool_for(p, n, count, &t);
  for (uint64_t i = 0; i < n; i++)
    ck_assert_uint_eq(atomic_load(&t.counts[i]), 1);
  ck_assert_uint_eq(atomic_load(&t.counts[n]), 0);
  ck_assert(!atomic_load(&t.bad_worker));
  free(t.counts);
}

START_TEST(each_index_once) {
  for (unsigned threads = 1; threads <= 9; threads += 4) {
    struct thread_pool *p = thread_pool_create(threads);
    ck_assert_uint_eq(thread_pool_size(p), threads);
    for (int round = 0; round < 50; round++)
      for (uint64_t n = 0; n < 200; n = n * 2 + 1)
        run_and_check(p, n);
    run_and_check(p, 100003);
    thread_pool_destroy(p);
  }
  thread_pool_destroy(NULL);
}
END_TEST

static void *call_often(void *arg) {
  for (int i = 0; i < 100; i++)
    run_and_check(arg, 64);
  return NULL;
}

START_TEST(callers_take_turns) {
  struct thread_pool *p = thread_pool_create(0);
  pthread_t callers[4];
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&callers[i], NULL, call_often, p), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(callers[i], NULL);
  thread_pool_destroy(p);
}
END_TEST

struct outer {
  struct thread_pool *pool;
  atomic_uint inner;
  atomic_bool bad_worker;
};

static void count_inner(void *user, uint64_t i, unsigned worker) {
  struct outer *o = user;
  (void)i;
  atomic_fetch_add(&o->inner, 1);
  if (worker >= thread_pool_size(o->pool))
    atomic_store(&o->bad_worker, true);
}

static void call_inside(void *user, uint64_t i, unsigned worker) {
  struct outer *o = user;
  (void)worker;
  thread_pool_for(o->pool, i % 7, count_inner, o);
}

START_TEST(a_call_from_a_loop_runs_in_order) {
  struct thread_pool *p = thread_pool_create(3);
  struct outer o = {.pool = p};
  thread_pool_for(p, 7000, call_inside, &o);
  ck_assert_uint_eq(atomic_load(&o.inner), 21000);
  ck_assert(!atomic_load(&o.bad_worker));
  thread_pool_destroy(p);
}
END_TEST

// Indices of very different cost: whoever is done takes from the others.
static void work_for_index(void *user, uint64_t i, unsigned worker) {
  struct tally *t = user;
  volatile unsigned sink = 0;
  for (unsigned k = 0; k < (i < 10 ? 300000 : 10); k++)
    sink += k;
  count(t, i, worker);
}

START_TEST(uneven_work_is_shared) {
  struct thread_pool *p = thread_pool_create(4);
  for (int round = 0; round < 10; round++) {
    struct tally t = {.counts = calloc(501, sizeof(atomic_uint)), .workers = 4};
    thread_pool_for(p, 500, work_for_index, &t);
    for (uint64_t i = 0; i < 500; i++)
      ck_assert_uint_eq(atomic_load(&t.counts[i]), 1);
    ck_assert(!atomic_load(&t.bad_worker));
    free(t.counts);
  }
  thread_pool_destroy(p);
}
END_TEST

TCase *thread_pool_tests(void) {
  TCase *t = tcase_create("thread_pool");
  tcase_add_test(t, each_index_once);
  tcase_add_test(t, callers_take_turns);
  tcase_add_test(t, a_call_from_a_loop_runs_in_order);
  tcase_add_test(t, uneven_work_is_shared);
  tcase_set_timeout(t, 60);
  return t;
}
