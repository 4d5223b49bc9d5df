// SPDX-License-Identifier: Apache-2.0
// One layout for each tile: accesses decide, elementwise ops follow, deeper loops weigh more.
#include "lowering/plan/layout_choice.h"
#include "pass_session.h"
#include "suites.h"

#define ROW                                                                                        \
  "#a = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"                                                                        \
  "#b = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"
#define LOAD(name, ptr, layout)                                                                    \
  name " = \"tile.load\"(" ptr ") {cache = \"\", evict = \"\", is_volatile = false, "              \
       "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<512x!tile.ptr<f32>, " layout ">) "    \
       "-> tensor<512xf32, " layout ">\n"
#define POINTERS(name, base, layout)                                                               \
  name "r = \"tile.make_range\"() {start = 0 : i32, end = 512 : i32} : () -> "                     \
       "tensor<512xi32, " layout ">\n" name "s = \"tile.splat\"(" base                             \
       ") : (!tile.ptr<f32>) -> tensor<512x!tile.ptr<f32>, " layout ">\n" name                     \
       " = \"tile.addptr\"(" name "s, " name "r) : (tensor<512x!tile.ptr<f32>, " layout            \
       ">, tensor<512xi32, " layout ">) -> tensor<512x!tile.ptr<f32>, " layout ">\n"
#define STORE(ptr, v, layout)                                                                      \
  "\"tile.store\"(" ptr ", " v                                                                     \
  ") {cache = \"\", evict = \"\"} : (tensor<512x!tile.ptr<f32>, " layout                           \
  ">, tensor<512xf32, " layout ">) -> ()\n"
#define KERNEL                                                                                     \
  ROW "module { func.func @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "       \
      "\"p\"}, %q: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = \"q\"}, %n: i32 "     \
      "{tile.name = \"n\"}) attributes {tile.kernel} {\n"                                          \
      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"

START_TEST(factors_of_loops) {
  struct pass_session s = pass_session_open(
      KERNEL "scf.for %i = %c0 to %n step %c1 : i32 {\nscf.for %j = %c0 to %n step %c1 : i32 {\n"
             "%k = arith.addi %i, %j : i32\n}\n}\nreturn } }");
  struct ir_context *c = s.context.c;
  MlirOperation outer = pass_session_op(&s, OP_SCF_FOR, 0),
                inner = pass_session_op(&s, OP_SCF_FOR, 1);
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDI, 0);
  ck_assert_int_eq(layout_loop_factor(c, mlirOperationGetBlock(outer)), 1);
  ck_assert_int_eq(layout_loop_factor(c, mlirOperationGetBlock(inner)), 4);
  ck_assert_int_eq(layout_loop_factor(c, mlirOperationGetBlock(add)), 16);
  pass_session_close(&s);
}
END_TEST

// %v is loaded and stored in #a; the sum was laid out as #b between two conversions.
START_TEST(accesses_decide) {
  struct pass_session s = pass_session_open(KERNEL POINTERS("%x", "%p", "#a") LOAD(
      "%v", "%x",
      "#a") "%y = \"tilegpu.convert_layout\"(%v) : (tensor<512xf32, #a>) -> tensor<512xf32, #b>\n"
            "%w = arith.addf %y, %y : tensor<512xf32, #b>\n"
            "%z = \"tilegpu.convert_layout\"(%w) : (tensor<512xf32, #b>) -> tensor<512xf32, "
            "#a>\n" STORE("%x", "%z", "#a") "return } }");
  struct pass_context *p = &s.context;
  MlirOperation root = mlirModuleGetOperation(p->module);
  MlirOperation store = pass_session_op(&s, OP_TILE_STORE, 0);
  MlirOperation add = pass_session_op(&s, OP_ARITH_ADDF, 0);
  MlirAttribute a = tensor_encoding(
      mlirValueGetType(mlirOperationGetResult(pass_session_op(&s, OP_TILE_LOAD, 0), 0)));
  struct layout_choice *x = layout_choice_begin(p->c, root, p->target, 3, s.arena);
  for (unsigned i = 2; i-- > 0;) { // the caller removes the conversions
    MlirOperation convert = pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, i);
    value_replace(mlirOperationGetResult(convert, 0), mlirOperationGetOperand(convert, 0));
    op_erase(convert);
  }
  layout_choice_solve(x);
  ck_assert(mlirAttributeEqual(layout_chosen(x, mlirOperationGetResult(add, 0)), a));
  ck_assert(mlirAttributeEqual(layout_wanted(x, store, 1), a));
  ck_assert(mlirAttributeEqual(layout_wanted(x, add, 0), a));
  pass_session_close(&s);
}
END_TEST

TCase *layout_choice_tests(void) {
  TCase *t = tcase_create("layout_choice");
  tcase_add_test(t, factors_of_loops);
  tcase_add_test(t, accesses_decide);
  return t;
}
