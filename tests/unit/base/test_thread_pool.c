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

TCase *thread_pool_tests(void) {
  TCase *t = tcase_create("thread_pool");
  tcase_add_test(t, each_index_once);
  tcase_add_test(t, callers_take_turns);
  tcase_set_timeout(t, 60);
  return t;
}
