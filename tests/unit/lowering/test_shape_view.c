// SPDX-License-Identifier: Apache-2.0
// Shape ops as maps of coordinates: which element of the operand each register of the result takes.
#include "lowering/analysis/shape_view.h"
#include "pass_session.h"
#include "suites.h"

static const char text[] =
    "#a = #tilegpu.linear<{block = [], lane = [[0, 2], [0, 4], [2, 0]], register = [[0, 1], "
    "[1, 0]], warp = []}>\n"
    "#t = #tilegpu.linear<{block = [], lane = [[1, 0], [2, 0], [0, 2]], register = [[4, 0], "
    "[0, 1]], warp = []}>\n"
    "#f = #tilegpu.linear<{block = [], lane = [[1], [2], [4]], register = [[8], [16]], warp = "
    "[]}>\n"
    "module { func.func @k(%x: tensor<4x8xi32, #a>, %y: tensor<1x8xi32, #a>, %z: "
    "tensor<8xi32, #tilegpu.slice<{dim = 0, parent = #a}>>) {\n"
    "%t = \"tile.trans\"(%x) {order = array<i32: 1, 0>} : (tensor<4x8xi32, #a>) -> "
    "tensor<8x4xi32, #t>\n"
    "%b = \"tile.broadcast\"(%y) : (tensor<1x8xi32, #a>) -> tensor<4x8xi32, #a>\n"
    "%r = \"tile.reshape\"(%x) {allow_reorder = false} : (tensor<4x8xi32, #a>) -> "
    "tensor<32xi32, #f>\n"
    "%e = \"tile.expand_dims\"(%z) {axis = 0 : i32} : (tensor<8xi32, #tilegpu.slice<{dim = 0, "
    "parent = #a}>>) -> tensor<1x8xi32, #a>\n"
    "%s = arith.addi %b, %b : tensor<4x8xi32, #a>\nreturn } }";

// Where register r and lane l of the result find their element.
static void check(struct pass_session *s, enum op_id id, uint32_t r, uint32_t lane, unsigned rank,
                  uint32_t row, uint32_t column) {
  struct linear_layout view;
  uint32_t at[LL_MAX_OUT];
  ck_assert(shape_view(s->context.c, pass_session_op(s, id, 0), &view));
  ck_assert_uint_eq(view.out_count, rank);
  ll_apply(&view, (uint32_t[LL_NO_IN]){[LL_REGISTER] = r, [LL_LANE] = lane}, at);
  ck_assert_uint_eq(at[0], row);
  if (rank == 2)
    ck_assert_uint_eq(at[1], column);
}

START_TEST(coordinates_in_the_operand) {
  struct pass_session s = pass_session_open(text);
  check(&s, OP_TILE_TRANS, 1, 4, 2, 2, 4);       // (4, 2) of the result
  check(&s, OP_TILE_BROADCAST, 3, 1, 2, 0, 3);   // (1, 3)
  check(&s, OP_TILE_RESHAPE, 3, 5, 2, 3, 5);     // 29
  check(&s, OP_TILE_EXPAND_DIMS, 1, 2, 1, 5, 0); // (0, 5)
  struct linear_layout view;
  ck_assert(!shape_view(s.context.c, pass_session_op(&s, OP_ARITH_ADDI, 0), &view));
  pass_session_close(&s);
}
END_TEST

TCase *shape_view_tests(void) {
  TCase *t = tcase_create("shape_view");
  tcase_add_test(t, coordinates_in_the_operand);
  return t;
}
