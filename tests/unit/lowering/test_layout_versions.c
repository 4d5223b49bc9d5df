// SPDX-License-Identifier: Apache-2.0
// A tile in another layout: itself, recomputed, or converted.
#include "layouts/attr.h"
#include "lowering/passes/layout_versions.h"
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

static const char text[] = KERNEL POINTERS("%x", "%p", "#a") LOAD(
    "%v", "%x",
    "#a") "%w = arith.addf %v, %v : tensor<512xf32, #a>\n"
          "%y = \"tilegpu.convert_layout\"(%v) : (tensor<512xf32, #a>) -> tensor<512xf32, #b>\n"
          "return } }";

static unsigned conversions(const struct pass_session *s) {
  char *at = pass_session_text((struct pass_session *)(uintptr_t)s);
  unsigned n = 0;
  while ((at = strstr(at, "tilegpu.convert_layout")) != NULL)
    n++, at++;
  return n;
}

START_TEST(versions) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirValue range = mlirOperationGetResult(pass_session_op(&s, OP_TILE_MAKE_RANGE, 0), 0);
  MlirValue loaded = mlirOperationGetResult(pass_session_op(&s, OP_TILE_LOAD, 0), 0);
  MlirValue converted = mlirOperationGetResult(pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, 0), 0);
  MlirAttribute a = tensor_encoding(mlirValueGetType(range)),
                b = tensor_encoding(mlirValueGetType(converted));
  struct layout_versions *x = layout_versions_begin(c, s.arena);
  ck_assert(mlirValueEqual(layout_version(x, range, a), range));
  MlirValue other = layout_version(x, range, b); // two ranges are cheaper than shared memory
  ck_assert(op_is(c, value_def(other), OP_TILE_MAKE_RANGE));
  ck_assert(mlirAttributeEqual(tensor_encoding(mlirValueGetType(other)), b));
  ck_assert_uint_eq(conversions(&s), 1);
  ck_assert(mlirValueEqual(layout_version(x, range, b), other)); // shared
  MlirValue again = layout_version(x, loaded, b);                // a load is not repeated
  ck_assert(op_is(c, value_def(again), OP_GPU_CONVERT_LAYOUT));
  ck_assert(mlirValueEqual(mlirOperationGetOperand(value_def(again), 0), loaded));
  ck_assert(mlirOperationEqual(mlirOperationGetNextInBlock(value_def(loaded)), value_def(again)));
  layout_versions_finish(x);
  ck_assert(ir_verify(c, mlirModuleGetOperation(s.context.module)));
  pass_session_close(&s);
}
END_TEST

TCase *layout_versions_tests(void) {
  TCase *t = tcase_create("layout_versions");
  tcase_add_test(t, versions);
  return t;
}
