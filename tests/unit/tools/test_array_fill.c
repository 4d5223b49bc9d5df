// SPDX-License-Identifier: Apache-2.0
// Generated values: fixed, independent of the number of threads, with the documented distribution.
#include "suites.h"
#include "tools/launch/array_fill.h"

#include <math.h>
#include <stdlib.h>

static struct array make(enum dtype type, uint64_t count, struct fill f) {
  struct array x = {.dtype = type, .rank = 1, .shape = {count}, .count = count};
  x.data = malloc(count * dtype_bytes(type));
  array_fill(&x, &f);
  return x;
}

// Pinned: files and expected results made with one version must hold for the next.
START_TEST(values_are_pinned) {
  struct {
    uint64_t seed, index;
    double value;
  } rows[] = {{0, 0, 0.28176129772258496},
              {0, 1, 0.6524484863740322},
              {1, 0, 0.8986165502083497},
              {12345, 67890, 0.9512047645043172}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    ck_assert_double_eq_tol(fill_uniform(rows[i].seed, rows[i].index), rows[i].value, 1e-15);
}
END_TEST

START_TEST(threads_do_not_matter) {
  // Large enough for the thread pool; each element must depend on its index alone.
  uint64_t n = 2000003;
  struct array x =
      make(DTYPE_F64, n, (struct fill){.kind = FILL_UNIFORM, .seed = 5, .a = 0, .b = 1});
  const double *p = x.data;
  for (uint64_t i = 0; i < n; i += 997)
    ck_assert(p[i] == fill_uniform(5, i));
  array_finish(&x);
}
END_TEST

START_TEST(uniform_moments) {
  double sum = 0, squares = 0;
  int n = 1000000, buckets[16] = {0};
  for (int i = 0; i < n; i++) {
    double u = fill_uniform(7, (uint64_t)i);
    ck_assert(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
    buckets[(int)(u * 16)]++;
  }
  ck_assert_double_eq_tol(sum / n, 0.5, 0.002);
  ck_assert_double_eq_tol(squares / n, 1.0 / 3, 0.002);
  for (int i = 0; i < 16; i++)
    ck_assert_int_lt(abs(buckets[i] - n / 16), 1500);
}
END_TEST

START_TEST(normal_moments) {
  double sum = 0, squares = 0, fourth = 0;
  int n = 400000;
  for (int i = 0; i < n; i++) {
    double v = fill_normal(3, (uint64_t)i);
    ck_assert(isfinite(v));
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
  }
  ck_assert_double_eq_tol(sum / n, 0, 0.01);
  ck_assert_double_eq_tol(squares / n, 1, 0.02);
  ck_assert_double_eq_tol(fourth / n, 3, 0.1);
}
END_TEST

START_TEST(seeds_differ) {
  int same = 0;
  for (uint64_t i = 0; i < 1000; i++)
    for (uint64_t seed = 0; seed < 8; seed++)
      same += fill_uniform(seed, i) == fill_uniform(seed + 1, i);
  ck_assert_int_eq(same, 0);
}
END_TEST

START_TEST(interval_stays_half_open) {
  // In f8e5 most values near 1 would round to 1.
  const enum dtype types[] = {DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F16, DTYPE_BF16, DTYPE_F32};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    struct array x =
        make(types[t], 100000, (struct fill){.kind = FILL_UNIFORM, .seed = 1, .a = 0, .b = 1});
    const char *p = x.data;
    for (uint64_t i = 0; i < x.count; i++, p += dtype_bytes(types[t])) {
      double v = dtype_load(types[t], p);
      ck_assert(v >= 0 && v < 1);
    }
    array_finish(&x);
  }
}
END_TEST

START_TEST(integers_are_equally_likely) {
  struct array x =
      make(DTYPE_I32, 60000, (struct fill){.kind = FILL_UNIFORM, .seed = 2, .a = -3, .b = 3});
  const int32_t *p = x.data;
  int counts[6] = {0};
  for (uint64_t i = 0; i < x.count; i++) {
    ck_assert(p[i] >= -3 && p[i] < 3);
    counts[p[i] + 3]++;
  }
  for (int i = 0; i < 6; i++)
    ck_assert_int_lt(abs(counts[i] - 10000), 500);
  array_finish(&x);
}
END_TEST

TCase *array_fill_tests(void) {
  TCase *t = tcase_create("array_fill");
  tcase_add_test(t, values_are_pinned);
  tcase_add_test(t, threads_do_not_matter);
  tcase_add_test(t, uniform_moments);
  tcase_add_test(t, normal_moments);
  tcase_add_test(t, seeds_differ);
  tcase_add_test(t, interval_stays_half_open);
  tcase_add_test(t, integers_are_equally_likely);
  tcase_set_timeout(t, 60);
  return t;
}
