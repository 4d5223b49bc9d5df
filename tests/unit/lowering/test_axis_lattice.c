// SPDX-License-Identifier: Apache-2.0
// The lattice of axis info: saturation, constants, divisibility of elements, and the join of two
// paths.
#include "lowering/analysis/axis_transfer.h"
#include "pass_session.h"
#include "suites.h"

START_TEST(numbers_saturate) {
  ck_assert_int_eq(axis_product(4, 8), 32);
  ck_assert_int_eq(axis_product(AXIS_ANY, 2), AXIS_ANY);
  ck_assert_int_eq(axis_product(INT64_MAX, INT64_MAX), AXIS_ANY);
  ck_assert_int_eq(axis_power_of_two(48), 16);
  ck_assert_int_eq(axis_power_of_two(-8), 8);
  ck_assert_int_eq(axis_power_of_two(0), AXIS_ANY);
  ck_assert_int_eq(axis_power_of_two(INT64_MIN), AXIS_ANY);
}
END_TEST

START_TEST(a_constant_is_equal_everywhere) {
  struct pass_session s = pass_session_open("module {}");
  MlirType i32 = mlir_of_dtype(s.context.c, DTYPE_I32);
  MlirType tile = tensor_type(2, (int64_t[]){8, 16}, i32, mlirAttributeGetNull());
  struct axis_info x = axis_of_constant(tile, 24), top = axis_unknown(tile);
  ck_assert_uint_eq(x.rank, 2);
  ck_assert_int_eq(x.constancy[0], 8);
  ck_assert_int_eq(x.constancy[1], 16);
  ck_assert_int_eq(x.divisibility[1], 8);
  ck_assert(x.is_constant && x.is_nonnegative && axis_equal(&x, &x) && !axis_equal(&x, &top));
  ck_assert_uint_eq(axis_unknown(i32).rank, 1);
  pass_session_close(&s);
}
END_TEST

// Element i * g + k of a run that starts at multiples of 64 is divisible by what divides k.
START_TEST(what_divides_elements) {
  struct axis_info x = {.rank = 1, .contiguity = {16}, .divisibility = {64}, .constancy = {1}};
  ck_assert_int_eq(axis_divides_at(&x, 0, 16, 1), 64);
  ck_assert_int_eq(axis_divides_at(&x, 0, 4, 1), 4);
  ck_assert_int_eq(axis_divides_at(&x, 0, 4, 8), 32); // pointers: bytes
  ck_assert_int_eq(axis_divides_all(&x, 1), 1);
  x.contiguity[0] = 1;
  ck_assert_int_eq(axis_divides_all(&x, 1), 64);
}
END_TEST

START_TEST(two_paths_have_in_common) {
  struct pass_session s = pass_session_open("module {}");
  struct ir_context *c = s.context.c;
  MlirType ptr = ptr_type(c, mlir_of_dtype(c, DTYPE_F32));
  MlirType tile = tensor_type(1, (int64_t[]){32}, ptr, mlirAttributeGetNull());
  struct axis_info x = {.rank = 1, .contiguity = {32}, .divisibility = {64}, .constancy = {1}};
  struct axis_info y = {.rank = 1, .contiguity = {8}, .divisibility = {128}, .constancy = {1}};
  struct axis_info both = axis_join(c, tile, &x, &y);
  ck_assert_int_eq(both.contiguity[0], 8);
  ck_assert_int_eq(both.divisibility[0], 32); // the second group of 8 floats of x
  x.is_nonnegative = true;
  ck_assert(!axis_join(c, tile, &x, &y).is_nonnegative);
  struct axis_info a = axis_of_constant(mlir_of_dtype(c, DTYPE_I32), 12);
  struct axis_info b = axis_of_constant(mlir_of_dtype(c, DTYPE_I32), 20);
  struct axis_info ab = axis_join(c, mlir_of_dtype(c, DTYPE_I32), &a, &b);
  ck_assert(!ab.is_constant && ab.is_nonnegative);
  ck_assert_int_eq(ab.divisibility[0], 4);
  ck_assert(axis_join(c, mlir_of_dtype(c, DTYPE_I32), &a, &a).is_constant);
  pass_session_close(&s);
}
END_TEST

TCase *axis_lattice_tests(void) {
  TCase *t = tcase_create("axis_lattice");
  tcase_add_test(t, numbers_saturate);
  tcase_add_test(t, a_constant_is_equal_everywhere);
  tcase_add_test(t, what_divides_elements);
  tcase_add_test(t, two_paths_have_in_common);
  return t;
}
