// SPDX-License-Identifier: Apache-2.0
// Folding of integers against C: widths, wrapping, and operations that have no value.
#include "lowering/analysis/int_arith.h"
#include "suites.h"

START_TEST(extensions) {
  ck_assert_int_eq(sign_extend(0xff, 8), -1);
  ck_assert_int_eq(sign_extend(0x17f, 8), 127);
  ck_assert_int_eq(sign_extend(-1, 64), -1);
  ck_assert_uint_eq(zero_extend(-1, 8), 255);
  ck_assert_uint_eq(zero_extend(-1, 64), UINT64_MAX);
}
END_TEST

START_TEST(binary_operations_wrap) {
  int64_t r;
  ck_assert(int_binary(OP_ARITH_ADDI, 127, 1, 8, &r));
  ck_assert_int_eq(sign_extend(r, 8), -128);
  ck_assert(int_binary(OP_ARITH_MULI, INT32_MAX, 2, 32, &r));
  ck_assert_int_eq(sign_extend(r, 32), -2);
  ck_assert(int_binary(OP_ARITH_DIVSI, -7, 2, 32, &r));
  ck_assert_int_eq(sign_extend(r, 32), -3);
  ck_assert(int_binary(OP_ARITH_REMSI, -7, 2, 32, &r));
  ck_assert_int_eq(sign_extend(r, 32), -1);
}
END_TEST

START_TEST(no_value) {
  int64_t r;
  ck_assert(!int_binary(OP_ARITH_DIVSI, 1, 0, 32, &r));
  ck_assert(!int_binary(OP_ARITH_REMUI, 1, 0, 32, &r));
  ck_assert(!int_binary(OP_ARITH_SHLI, 1, 32, 32, &r));
  ck_assert(!int_binary(OP_ARITH_SHRUI, 1, 40, 32, &r));
  ck_assert(!int_binary(OP_ARITH_ADDF, 1, 1, 32, &r));
}
END_TEST

// Predicates of arith.cmpi: eq ne slt sle sgt sge ult ule ugt uge.
START_TEST(predicates) {
  static const int64_t values[] = {0, 1, -1, 127, -128};
  for (size_t i = 0; i < COUNT_OF(values); i++)
    for (size_t k = 0; k < COUNT_OF(values); k++) {
      int64_t x = values[i], y = values[k];
      uint8_t u = (uint8_t)x, v = (uint8_t)y;
      const bool expected[] = {x == y, x != y, x<y, x <= y, x> y, x >= y, u<v, u <= v, u> v,
                               u >= v};
      for (int p = 0; p < (int)COUNT_OF(expected); p++)
        ck_assert_int_eq(compare_ints(p, x, y, 8), expected[p]);
    }
}
END_TEST

TCase *int_arith_tests(void) {
  TCase *t = tcase_create("int_arith");
  tcase_add_test(t, extensions);
  tcase_add_test(t, binary_operations_wrap);
  tcase_add_test(t, no_value);
  tcase_add_test(t, predicates);
  return t;
}
