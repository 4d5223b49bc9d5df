// SPDX-License-Identifier: Apache-2.0
// Parts of a tile: the registers of the whole that a part takes, and parts that other threads hold.
#include "lowering/analysis/part_view.h"
#include "suites.h"

// 8 x 8 or 8 x 16: registers (0,1), (4,0), and (0,8) for the columns beyond 8.
static struct linear_layout tile(unsigned column_bits) {
  struct linear_layout l = ll_empty(2, (unsigned[]){3, column_bits});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){0, 1});
  if (column_bits == 4)
    ll_push_basis(&l, LL_REGISTER, (uint32_t[]){0, 8});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){4, 0});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){0, 2});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){0, 4});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){1, 0});
  ll_push_basis(&l, LL_WARP, (uint32_t[]){2, 0});
  return l;
}

START_TEST(registers_of_a_part) {
  struct linear_layout whole = tile(4), part = tile(3);
  struct part_view v;
  ck_assert(part_view_make(&whole, &part, (int32_t[]){0, 0}, &v));
  ck_assert_uint_eq(part_view_register(&v, 0), 0);
  ck_assert_uint_eq(part_view_register(&v, 2), 4);
  ck_assert(part_view_make(&whole, &part, (int32_t[]){0, 8}, &v));
  ck_assert_uint_eq(v.first, 2);
  ck_assert_uint_eq(part_view_register(&v, 1), 3);
  ck_assert_uint_eq(part_view_register(&v, 3), 7);
  // Every register of the part is the element of the whole at the part's corner.
  for (uint32_t r = 0; r < 4; r++) {
    uint32_t x[LL_MAX_OUT], y[LL_MAX_OUT];
    ll_apply(&part, (uint32_t[LL_NO_IN]){[LL_REGISTER] = r, [LL_LANE] = 5, [LL_WARP] = 1}, x);
    ll_apply(&whole,
             (uint32_t[LL_NO_IN]){
                 [LL_REGISTER] = part_view_register(&v, r), [LL_LANE] = 5, [LL_WARP] = 1},
             y);
    ck_assert_uint_eq(y[0], x[0]);
    ck_assert_uint_eq(y[1], x[1] + 8);
  }
}
END_TEST

START_TEST(what_other_threads_hold) {
  struct linear_layout whole = tile(4), part = tile(3);
  struct part_view v;
  ck_assert(!part_view_make(&whole, &part, (int32_t[]){1, 0}, &v)); // a lane
  ck_assert(!part_view_make(&whole, &part, (int32_t[]){2, 0}, &v)); // a warp
  part.basis[ll_find_in(&part, LL_LANE)][0][1] = 4;
  part.basis[ll_find_in(&part, LL_LANE)][1][1] = 2;
  ck_assert(!part_view_make(&whole, &part, (int32_t[]){0, 8}, &v));
}
END_TEST

TCase *part_view_tests(void) {
  TCase *t = tcase_create("part_view");
  tcase_add_test(t, registers_of_a_part);
  tcase_add_test(t, what_other_threads_hold);
  return t;
}
