// SPDX-License-Identifier: Apache-2.0
// Layouts of joins and splits: the dimension of 2 is a register bit.
#include "lowering/analysis/pair_view.h"
#include "suites.h"

START_TEST(a_pair_of_tiles) {
  struct linear_layout half = ll_empty(1, (unsigned[]){2});
  ll_push_basis(&half, LL_LANE, (uint32_t[]){1});
  ll_push_basis(&half, LL_LANE, (uint32_t[]){2});
  struct linear_layout pair = pair_view(&half);
  ck_assert_uint_eq(pair.out_count, 2);
  ck_assert_uint_eq(pair.out_bits[0], 2);
  ck_assert_uint_eq(pair.out_bits[1], 1);
  uint32_t at[LL_MAX_OUT];
  ll_apply(&pair, (uint32_t[LL_NO_IN]){[LL_REGISTER] = 1, [LL_LANE] = 2}, at);
  ck_assert_uint_eq(at[0], 2);
  ck_assert_uint_eq(at[1], 1);
}
END_TEST

START_TEST(registers_of_the_halves) {
  struct linear_layout half = ll_empty(1, (unsigned[]){2});
  ll_push_basis(&half, LL_REGISTER, (uint32_t[]){1});
  ll_push_basis(&half, LL_LANE, (uint32_t[]){2});
  struct linear_layout pair = pair_view(&half), view = half_view(&pair);
  uint32_t at[LL_MAX_OUT];
  ck_assert_uint_eq(view.out_count, 1);
  for (uint32_t r = 0; r < 4; r++) { // register 2r + k of the pair is register r of half k
    ll_apply(&view, (uint32_t[LL_NO_IN]){[LL_REGISTER] = r, [LL_LANE] = 1}, at);
    ck_assert_uint_eq(at[0], (r >> 1) + 2);
    ll_apply(&pair, (uint32_t[LL_NO_IN]){[LL_REGISTER] = r, [LL_LANE] = 1}, at);
    ck_assert_uint_eq(at[1], r & 1);
  }
}
END_TEST

START_TEST(a_pair_of_scalars) {
  struct linear_layout pair = pair_view(NULL);
  ck_assert_uint_eq(pair.out_count, 1);
  ck_assert_uint_eq(pair.out_bits[0], 1);
  ck_assert_uint_eq(pair.basis[ll_find_in(&pair, LL_REGISTER)][0][0], 1);
  ck_assert_uint_eq(ll_in_bits(&pair, LL_LANE), 0);
}
END_TEST

TCase *pair_view_tests(void) {
  TCase *t = tcase_create("pair_view");
  tcase_add_test(t, a_pair_of_tiles);
  tcase_add_test(t, registers_of_the_halves);
  tcase_add_test(t, a_pair_of_scalars);
  return t;
}
