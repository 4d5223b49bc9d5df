// SPDX-License-Identifier: Apache-2.0
// The table of matrix instructions: registers per lane, and which one is selected.
#include "base/mma.h"
#include "suites.h"

START_TEST(registers) {
  // 32 lanes hold each element of A, B and C once.
  for (unsigned i = 0; i < MMA_COUNT; i++) {
    const struct mma_instruction *m = mma_instruction((enum mma_id)i);
    unsigned word = m->a == DTYPE_F64 ? 64 : 32;
    ck_assert_uint_eq(m->id, i);
    ck_assert_uint_eq(32 * m->a_words * word, m->m * m->k * dtype_bits(m->a));
    ck_assert_uint_eq(32 * m->b_words * word, MMA_N * m->k * dtype_bits(m->b));
    ck_assert_uint_eq(32 * m->c_words * word, m->m * MMA_N * dtype_bits(m->c));
    ck_assert_uint_le(m->a_words, MMA_MAX_WORDS);
  }
}
END_TEST

START_TEST(which_fits) {
  const enum dtype half = DTYPE_F16, e4m3 = DTYPE_F8E4NV, f64 = DTYPE_F64;
  ck_assert_ptr_eq(mma_find(half, half, DTYPE_F32, 80, 64), mma_instruction(MMA_F16_F32));
  ck_assert_ptr_eq(mma_find(half, half, half, 90, 8), mma_instruction(MMA_F16_F16));
  ck_assert_ptr_null(mma_find(half, DTYPE_BF16, DTYPE_F32, 90, 64));
  // Instructions that an architecture lacks; the CPU has all.
  ck_assert_ptr_null(mma_find(e4m3, e4m3, DTYPE_F32, 86, 64));
  ck_assert_ptr_eq(mma_find(e4m3, e4m3, DTYPE_F32, 89, 64), mma_instruction(MMA_E4M3_E4M3_F32));
  ck_assert_ptr_eq(mma_find(e4m3, e4m3, DTYPE_F32, 0, 64), mma_instruction(MMA_E4M3_E4M3_F32));
  // The largest that K fills.
  ck_assert_ptr_eq(mma_find(f64, f64, f64, 80, 64), mma_instruction(MMA_F64_F64));
  ck_assert_ptr_eq(mma_find(f64, f64, f64, 90, 8), mma_instruction(MMA_F64_F64_WIDE));
  ck_assert_ptr_eq(mma_find(f64, f64, f64, 90, 4), mma_instruction(MMA_F64_F64));
  ck_assert_ptr_eq(mma_find(f64, f64, f64, 90, 2), mma_instruction(MMA_F64_F64));
}
END_TEST

TCase *mma_tests(void) {
  TCase *t = tcase_create("mma");
  tcase_add_test(t, registers);
  tcase_add_test(t, which_fits);
  return t;
}
