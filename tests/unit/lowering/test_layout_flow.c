// SPDX-License-Identifier: Apache-2.0
// Layouts through ops: of results given operands, of operands given results, and what conversions
// between two take.
#include "lowering/analysis/layout_flow.h"
#include "pass_session.h"
#include "suites.h"

#define LAYOUTS                                                                                    \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [4, 1]}>\n"                                                                     \
  "#b = #tilegpu.blocked<{order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [1, 4]}>\n"

#define ONE                                                                                        \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, "  \
  "0, 0, 0, 0, 0, 0, 0>"

static const char text[] = LAYOUTS
    "#l = #tilegpu.linear<{block = [], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], "
    "register = [[0, 1], [0, 2], [16, 0]], warp = [[4, 0], [8, 0]]}>\n"
    "!t = tensor<32x32xf32, #a>\n"
    "module {\n"
    "func.func private @add(%x: f32, %y: f32) -> f32 {\n"
    "%s = arith.addf %x, %y : f32\nreturn %s : f32 }\n"
    "func.func @k(%x: !t, %y: tensor<32x32xf32, #b>, %z: tensor<32x32xf32, #l>, "
    "%p: tensor<32x32x!tile.ptr<f32>, #b>) {\n"
    "%s = arith.addf %x, %x : !t\n"
    "%r = \"tile.reduce\"(%x) {axis = 1 : i32, combine = @add, " ONE
    "} : (!t) -> tensor<32xf32, #tilegpu.slice<{dim = 1, parent = #a}>>\n"
    "%e = \"tile.expand_dims\"(%r) {axis = 1 : i32} : (tensor<32xf32, #tilegpu.slice<{dim = 1, "
    "parent = #a}>>) -> tensor<32x1xf32, #a>\n"
    "%v = \"tile.load\"(%p) {cache = \"\", evict = \"\", is_volatile = false, operandSegmentSizes "
    "= array<i32: 1, 0, 0>} : (tensor<32x32x!tile.ptr<f32>, #b>) -> tensor<32x32xf32, #b>\n"
    "func.call @f(%x) : (!t) -> ()\nreturn }\n"
    "func.func private @f(%x: !t) { return } }";

static MlirType argument_type(const struct pass_session *s, intptr_t i) {
  MlirOperation load = pass_session_op(s, OP_TILE_LOAD, 0);
  return mlirValueGetType(mlirBlockGetArgument(mlirOperationGetBlock(load), i));
}

START_TEST(through_ops) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirAttribute a = tensor_encoding(argument_type(&s, 0)),
                b = tensor_encoding(argument_type(&s, 1));
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDF, 1);
  MlirOperation reduce = pass_session_op(&s, OP_TILE_REDUCE, 0);
  MlirOperation expand = pass_session_op(&s, OP_TILE_EXPAND_DIMS, 0);
  MlirOperation load = pass_session_op(&s, OP_TILE_LOAD, 0);
  ck_assert(mlirAttributeEqual(layout_of_result(c, add, b), b));
  ck_assert(mlirAttributeEqual(layout_of_operand(c, add, b, a), b));
  ck_assert(mlirAttributeEqual(layout_of_result(c, reduce, b), layout_slice(c, b, 1)));
  ck_assert(mlirAttributeEqual(layout_of_operand(c, expand, b, a), layout_slice(c, b, 1)));
  ck_assert(mlirAttributeEqual(layout_of_result(c, expand, layout_slice(c, b, 1)), b));
  ck_assert(layout_flows_through(c, add) && !layout_flows_through(c, load));
  ck_assert(mlirAttributeEqual(layout_of_access(c, load), b));
  ck_assert(mlirAttributeIsNull(layout_of_access(c, add)));
  ck_assert(layout_is_foreign(c, pass_session_op(&s, OP_FUNC_CALL, 0)));
  ck_assert(!layout_is_foreign(c, add));
  pass_session_close(&s);
}
END_TEST

// 32 x 32 elements in 128 threads are 8 registers.
START_TEST(conversions) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirType t = argument_type(&s, 0);
  MlirAttribute a = tensor_encoding(t), b = tensor_encoding(argument_type(&s, 1)),
                l = tensor_encoding(argument_type(&s, 2));
  ck_assert(layout_same(c, t, a, l) && !mlirAttributeEqual(a, l));
  ck_assert(!layout_same(c, t, a, b));
  ck_assert_uint_eq(layout_registers(c, t), 8);
  ck_assert_int_eq(layout_convert_kind(c, t, l), CONVERT_NOTHING);
  ck_assert_int_eq(layout_convert_kind(c, t, b), CONVERT_SHARED);
  ck_assert_uint_eq(layout_convert_cost(c, t, l), 0);
  ck_assert_uint_gt(layout_convert_cost(c, t, b), 8);
  pass_session_close(&s);
}
END_TEST

START_TEST(defaults) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirType t = argument_type(&s, 0);
  MlirAttribute plain = layout_default(c, t, 4);
  const struct encoding *e = encoding_of_attr(c, plain);
  ck_assert_int_eq(e->kind, ENC_BLOCKED);
  ck_assert_uint_eq(e->blocked.order[0], 1);
  ck_assert_uint_eq(e->blocked.size_per_thread[0] * e->blocked.size_per_thread[1], 1);
  MlirAttribute operand = layout_dot_operand(c, plain, 1, 2);
  ck_assert(layout_is_dot_operand(c, operand) && !layout_is_dot_operand(c, plain));
  pass_session_close(&s);
}
END_TEST

TCase *layout_flow_tests(void) {
  TCase *t = tcase_create("layout_flow");
  tcase_add_test(t, through_ops);
  tcase_add_test(t, conversions);
  tcase_add_test(t, defaults);
  return t;
}
