// SPDX-License-Identifier: Apache-2.0
// Transfers of 128 bytes of an access, by its layout.
#include "layouts/attr.h"
#include "lowering/cost/access_cost.h"
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

// %x: 512 neighbours in vectors of 4; %y: the same one by one; %z: every 32nd element.
static const char text[] = KERNEL POINTERS("%x", "%p", "#a") LOAD("%0", "%x",
                                                                  "#a") POINTERS("%y", "%p", "#b")
    LOAD("%1", "%y", "#b") "%k = arith.constant dense<32> : tensor<512xi32, #b>\n"
                           "%zr = arith.muli %yr, %k : tensor<512xi32, #b>\n"
                           "%z = \"tile.addptr\"(%ys, %zr) : (tensor<512x!tile.ptr<f32>, #b>, "
                           "tensor<512xi32, #b>) -> "
                           "tensor<512x!tile.ptr<f32>, #b>\n" LOAD("%2", "%z", "#b") "return } }";

static int64_t cost_of(struct pass_session *s, unsigned load, unsigned layout) {
  struct pass_context *p = &s->context;
  struct axis_analysis *axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), s->arena);
  MlirOperation model = pass_session_op(s, OP_TILE_LOAD, layout);
  return access_cost(p->c, axis, p->target, pass_session_op(s, OP_TILE_LOAD, load),
                     tensor_encoding(mlirValueGetType(mlirOperationGetResult(model, 0))));
}

START_TEST(transfers) {
  struct pass_session s = pass_session_open(text);
  ck_assert_int_eq(cost_of(&s, 0, 0), 4); // 32 lanes of 16 bytes, once
  ck_assert_int_eq(cost_of(&s, 1, 1), 4); // 32 lanes of 4 bytes, four times
  ck_assert_int_eq(cost_of(&s, 0, 1), 4);
  ck_assert_int_eq(cost_of(&s, 2, 1), 4 * 8); // a sector a lane: 32 of them, four times
  pass_session_close(&s);
}
END_TEST

START_TEST(as_cheap_elsewhere) {
  struct pass_session s = pass_session_open(text);
  struct pass_context *p = &s.context;
  struct axis_analysis *axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), s.arena);
  MlirOperation load = pass_session_op(&s, OP_TILE_LOAD, 0);
  MlirAttribute a = tensor_encoding(mlirValueGetType(mlirOperationGetResult(load, 0)));
  MlirAttribute b = tensor_encoding(
      mlirValueGetType(mlirOperationGetResult(pass_session_op(&s, OP_TILE_LOAD, 1), 0)));
  ck_assert(access_gives_way(p->c, axis, p->target, load, a, b)); // the same number of transfers
  pass_session_close(&s);
}
END_TEST

TCase *access_cost_tests(void) {
  TCase *t = tcase_create("access_cost");
  tcase_add_test(t, transfers);
  tcase_add_test(t, as_cheap_elsewhere);
  return t;
}
