// SPDX-License-Identifier: Apache-2.0
// Shared memory of layout conversions: by bytes of an element in memory, in rounds where the tile
// is large.
#include "layouts/exchange_plan.h"
#include "lowering/analysis/convert_scratch.h"
#include "pass_session.h"
#include "suites.h"

// 2^bits elements, a bit of the number each: registers, then 5 lane bits, then warps; rotated by
// `first`.
static struct linear_layout rotated(unsigned bits, unsigned register_bits, unsigned first) {
  struct linear_layout l = ll_empty(1, &bits);
  for (unsigned b = 0; b < bits; b++)
    ll_push_basis(&l,
                  b < register_bits       ? LL_REGISTER
                  : b < register_bits + 5 ? LL_LANE
                                          : LL_WARP,
                  (uint32_t[]){1u << (b + first) % bits});
  return l;
}

START_TEST(elements_in_memory) {
  struct pass_session s = pass_session_open("module {}");
  struct ir_context *c = s.context.c;
  MlirType f16 = mlir_of_dtype(c, DTYPE_F16);
  ck_assert_uint_eq(memory_bits(c, mlir_of_dtype(c, DTYPE_I1)), 8);
  ck_assert_uint_eq(memory_bits(c, f16), 16);
  ck_assert_uint_eq(memory_bits(c, ptr_type(c, f16)), 64);
  struct linear_layout l = rotated(8, 1, 0);
  ck_assert_uint_eq(exchange_bytes(&l, 16), 512);
  ck_assert_uint_eq(exchange_bytes(NULL, 64), 8);
  pass_session_close(&s);
}
END_TEST

START_TEST(which_conversions_leave_the_warp) {
  struct linear_layout l = rotated(8, 2, 0), same = l, warps = rotated(8, 2, 1);
  ck_assert(!converts_through_shared(&l, &same));
  int r = ll_find_in(&same, LL_REGISTER);
  same.basis[r][0][0] = 2, same.basis[r][1][0] = 1; // registers renamed
  ck_assert(!converts_through_shared(&l, &same));
  ck_assert(converts_through_shared(&l, &warps)); // the warp's bit becomes another one
  ck_assert_uint_eq(convert_bytes(&l, &warps, 32), 1024);
  ck_assert_uint_eq(convert_bytes(NULL, NULL, 32), 4);
}
END_TEST

// 2^15 elements of 4 bytes are 128 KiB: in 4 rounds of 32 KiB.
START_TEST(large_tiles_go_in_rounds) {
  struct linear_layout l = rotated(15, 8, 0), other = rotated(15, 8, 4);
  ck_assert(converts_through_shared(&l, &other));
  ck_assert_uint_eq(convert_bytes(&l, &other, 32), 32 * 1024);
}
END_TEST

TCase *convert_scratch_tests(void) {
  TCase *t = tcase_create("convert_scratch");
  tcase_add_test(t, elements_in_memory);
  tcase_add_test(t, which_conversions_leave_the_warp);
  tcase_add_test(t, large_tiles_go_in_rounds);
  return t;
}
