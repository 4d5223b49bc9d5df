// SPDX-License-Identifier: Apache-2.0
// Comparison of arrays.
#include "base/array.h"
#include "suites.h"

#include <math.h>

static struct array of_floats(float *data, uint64_t n) {
  return (struct array){.dtype = DTYPE_F32, .rank = 1, .shape = {n}, .count = n, .data = data};
}

static struct comparison compare_floats(float *x, float *y, uint64_t n, double rtol, double atol) {
  struct array a = of_floats(x, n), b = of_floats(y, n);
  return compare_arrays(&a, &b, rtol, atol);
}

START_TEST(tolerances) {
  float x[] = {1, 2, 100, -4}, y[] = {1, 2.5f, 101, -4};
  struct comparison c = compare_floats(x, y, 4, 0, 0);
  ck_assert(c.same_shape);
  ck_assert_uint_eq(c.mismatches, 2);
  ck_assert_uint_eq(c.first, 1);
  ck_assert_uint_eq(c.worst, 2);
  ck_assert(c.max_abs == 1);
  ck_assert_double_eq_tol(c.max_rel, 0.2, 1e-12);
  ck_assert_uint_eq(compare_floats(x, y, 4, 0, 0.5).mismatches, 1); // the limit itself is allowed
  ck_assert_uint_eq(compare_floats(x, y, 4, 0.2, 0).mismatches, 0);
  ck_assert_uint_eq(compare_floats(x, y, 4, 0.1, 0).mismatches, 1);
  ck_assert_uint_eq(compare_floats(x, y, 4, 0, 1).mismatches, 0);
}
END_TEST

START_TEST(special_values) {
  float inf = (float)INFINITY, nan = (float)NAN;
  float x[] = {nan, inf, -inf, nan, 1, inf, 0.0f, 1},
        y[] = {nan, inf, -inf, 1, nan, -inf, -0.0f, inf};
  struct comparison c = compare_floats(x, y, 8, 1e6, 1e6);
  ck_assert_uint_eq(c.mismatches, 4);
  ck_assert_uint_eq(c.first, 3);
  ck_assert_uint_eq(c.worst, 3);
  ck_assert(isinf(c.max_abs));
}
END_TEST

START_TEST(wide_integers_exactly) {
  int64_t x[] = {INT64_MAX, 1}, y[] = {INT64_MAX - 1, 1};
  struct array a = {.dtype = DTYPE_I64, .rank = 1, .shape = {2}, .count = 2, .data = x};
  struct array b = a;
  b.data = y;
  ck_assert_uint_eq(compare_arrays(&a, &b, 0, 0).mismatches, 1);
  ck_assert_uint_eq(compare_arrays(&a, &b, 0, 1).mismatches, 0);
  ck_assert_uint_eq(compare_arrays(&a, &a, 0, 0).mismatches, 0);
}
END_TEST

START_TEST(shapes_and_types) {
  float x[6] = {0};
  double y[6] = {0};
  struct array a = {.dtype = DTYPE_F32, .rank = 2, .shape = {2, 3}, .count = 6, .data = x};
  struct array b = {.dtype = DTYPE_F64, .rank = 2, .shape = {2, 3}, .count = 6, .data = y};
  ck_assert(compare_arrays(&a, &b, 0, 0).same_shape);
  b.shape[0] = 3;
  b.shape[1] = 2;
  ck_assert(!compare_arrays(&a, &b, 0, 0).same_shape);
  b.rank = 1;
  b.shape[0] = 6;
  ck_assert(!compare_arrays(&a, &b, 0, 0).same_shape);
}
END_TEST

START_TEST(defaults) {
  for (unsigned t = 0; t < DTYPE_COUNT; t++) {
    double rtol = -1, atol = -1;
    compare_defaults((enum dtype)t, &rtol, &atol);
    ck_assert_int_eq(rtol > 0, dtype_is_float((enum dtype)t));
    ck_assert_int_eq(atol > 0, dtype_is_float((enum dtype)t));
  }
}
END_TEST

START_TEST(indices) {
  struct array a = {.rank = 3, .shape = {2, 3, 4}, .count = 24};
  struct strbuf out = {0};
  format_index(&a, 23, &out);
  format_index(&a, 5, &out);
  a.rank = 0;
  format_index(&a, 0, &out);
  ck_assert_str_eq(out.ptr, "[1, 2, 3][0, 1, 1][]");
  strbuf_finish(&out);
}
END_TEST

// Comparing in parts of any length gives the same result as comparing the whole.
START_TEST(parts) {
  enum { N = 64 };
  float x[N], y[N];
  for (int i = 0; i < N; i++) {
    y[i] = (float)(i + 1);
    x[i] = i % 7 == 3 ? y[i] * 1.5f : i % 5 == 1 ? y[i] + 0.25f : y[i];
  }
  struct comparison whole = compare_floats(x, y, N, 0, 0.25);
  ck_assert_uint_gt(whole.mismatches, 5);
  for (uint64_t step = 1; step <= N; step++) {
    struct comparison sum = {.same_shape = true};
    for (uint64_t at = 0; at < N; at += step) {
      struct comparison part =
          compare_floats(x + at, y + at, at + step < N ? step : N - at, 0, 0.25);
      comparison_add(&sum, &part, at);
    }
    ck_assert_uint_eq(sum.mismatches, whole.mismatches);
    ck_assert_uint_eq(sum.first, whole.first);
    ck_assert_uint_eq(sum.worst, whole.worst);
    ck_assert(sum.max_abs == whole.max_abs && sum.max_rel == whole.max_rel);
    ck_assert(sum.max_over == whole.max_over);
  }
}
END_TEST

TCase *compare_tests(void) {
  TCase *t = tcase_create("compare");
  tcase_add_test(t, tolerances);
  tcase_add_test(t, special_values);
  tcase_add_test(t, wide_integers_exactly);
  tcase_add_test(t, shapes_and_types);
  tcase_add_test(t, defaults);
  tcase_add_test(t, indices);
  tcase_add_test(t, parts);
  return t;
}
