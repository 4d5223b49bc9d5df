// SPDX-License-Identifier: Apache-2.0
// The loads of a loop: which may run ahead, how their tiles are staged, and why others stay.
#include "lowering/plan/loop_loads.h"
#include "pass_session.h"
#include "suites.h"

#define DOT_LAYOUTS                                                                                \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], "   \
  "warps_per_cta = [4, 1]}>\n"                                                                     \
  "#m = #tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [4, 1]}>\n"              \
  "#x = #tilegpu.dot_op<{op_idx = 0, k_width = 2, parent = #m}>\n"                                 \
  "#y = #tilegpu.dot_op<{op_idx = 1, k_width = 2, parent = #m}>\n"
#define LOAD(name, ptr, type)                                                                      \
  name " = \"tile.load\"(" ptr ") {cache = \"\", evict = \"\", is_volatile = false, "              \
       "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x32x!tile.ptr<" type ">, #a>) -> "  \
       "tensor<32x32x" type ", #a>\n"
#define CONVERT(name, of, layout)                                                                  \
  name " = \"tilegpu.convert_layout\"(" of                                                         \
       ") : (tensor<32x32xf16, #a>) -> tensor<32x32xf16, " layout ">\n"

#define KERNEL(body)                                                                               \
  DOT_LAYOUTS                                                                                      \
  "module { func.func @k(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16> "   \
  "{tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {\n"                          \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"                                   \
  "%r = \"tile.make_range\"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32, "           \
  "#tilegpu.slice<{dim = 0, parent = #a}>>\n"                                                      \
  "%e = \"tile.expand_dims\"(%r) {axis = 0 : i32} : (tensor<32xi32, #tilegpu.slice<{dim = 0, "     \
  "parent = #a}>>) -> tensor<1x32xi32, #a>\n"                                                      \
  "%f = \"tile.broadcast\"(%e) : (tensor<1x32xi32, #a>) -> tensor<32x32xi32, #a>\n"                \
  "%ps = \"tile.splat\"(%p) : (!tile.ptr<f16>) -> tensor<32x32x!tile.ptr<f16>, #a>\n"              \
  "%qs = \"tile.splat\"(%q) : (!tile.ptr<f16>) -> tensor<32x32x!tile.ptr<f16>, #a>\n"              \
  "%x = \"tile.addptr\"(%ps, %f) : (tensor<32x32x!tile.ptr<f16>, #a>, tensor<32x32xi32, #a>) -> "  \
  "tensor<32x32x!tile.ptr<f16>, #a>\n"                                                             \
  "%y = \"tile.addptr\"(%qs, %f) : (tensor<32x32x!tile.ptr<f16>, #a>, tensor<32x32xi32, #a>) -> "  \
  "tensor<32x32x!tile.ptr<f16>, #a>\n"                                                             \
  "%zero = arith.constant dense<0.0> : tensor<32x32xf32, #m>\n"                                    \
  "%sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32, #m>) : "   \
  "i32 {\n" LOAD("%u", "%x", "f16") LOAD("%v", "%y", "f16") CONVERT("%ux", "%u", "#x")             \
      CONVERT("%vy", "%v", "#y") body                                                              \
      "%d = \"tile.dot\"(%ux, %vy, %acc) {input_precision = \"tf32\", max_num_imprecise_acc = 0 "  \
      ": "                                                                                         \
      "i32} : (tensor<32x32xf16, #x>, tensor<32x32xf16, #y>, tensor<32x32xf32, #m>) -> "           \
      "tensor<32x32xf32, #m>\nscf.yield %d : tensor<32x32xf32, #m>\n}\nreturn } }"
#define STORE(ptr, v)                                                                              \
  "\"tile.store\"(" ptr ", " v ") {cache = \"\", evict = \"\"} : (tensor<32x32x!tile.ptr<f16>, "   \
  "#a>, tensor<32x32xf16, #a>) -> ()\n"

static struct loop_loads loads_of(struct pass_session *s) {
  struct pass_context *p = &s->context;
  struct axis_analysis *axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), s->arena);
  return loop_loads_of(p->c, axis, p->target, pass_session_op(s, OP_SCF_FOR, 0), false, s->arena);
}

START_TEST(operands_are_copied_ahead) {
  struct pass_session s = pass_session_open(KERNEL(""));
  struct loop_loads l = loads_of(&s);
  ck_assert_ptr_null(l.why);
  ck_assert_uint_eq(l.at.len, 2);
  for (size_t i = 0; i < l.at.len; i++) {
    ck_assert(l.at.at[i].feeds && l.at.at[i].wanted && !l.at.at[i].is_index);
    ck_assert_int_eq(l.at.at[i].staging, STAGING_SHARED);
    ck_assert(!mlirAttributeIsNull(l.at.at[i].buffer));
    ck_assert_uint_eq(l.at.at[i].level, 0);
    ck_assert_uint_eq(load_bytes_per_thread(s.context.c, l.at.at[i].op), 32 * 32 * 2 / 128);
  }
  pass_session_close(&s);
}
END_TEST

START_TEST(what_the_loop_writes_stays) {
  struct pass_session s = pass_session_open(KERNEL(STORE("%x", "%v")));
  struct loop_loads l = loads_of(&s);
  ck_assert_uint_eq(l.at.len, 2);
  ck_assert_int_eq(l.at.at[0].staging, STAGING_NONE); // %x is written
  ck_assert_ptr_nonnull(l.at.at[0].why);
  ck_assert_int_eq(l.at.at[1].staging, STAGING_SHARED);
  pass_session_close(&s);
}
END_TEST

START_TEST(a_barrier_keeps_all) {
  struct pass_session s = pass_session_open(KERNEL("\"tile.debug_barrier\"() : () -> ()\n"));
  struct loop_loads l = loads_of(&s);
  ck_assert_ptr_nonnull(l.why);
  pass_session_close(&s);
}
END_TEST

START_TEST(blocks_and_operands) {
  struct pass_session s = pass_session_open(KERNEL(""));
  MlirOperation loop = pass_session_op(&s, OP_SCF_FOR, 0);
  MlirOperation load = pass_session_op(&s, OP_TILE_LOAD, 0);
  bool asked;
  ck_assert(mlirOperationEqual(op_in_block(mlirOperationGetBlock(loop), load), loop));
  ck_assert(mlirOperationEqual(op_in_block(loop_block(loop), load), load));
  ck_assert(mlirBlockEqual(value_block(mlirOperationGetResult(load, 0)), loop_block(loop)));
  ck_assert(mlirValueIsNull(load_operand(load, 1)));
  ck_assert_uint_eq(loop_stages(s.context.c, loop, 4, &asked), 4);
  ck_assert(!asked);
  mlirOperationSetAttributeByName(loop, mlirStringRefCreateFromCString("tile.num_stages"),
                                  attr_i32(s.context.c, 2));
  ck_assert_uint_eq(loop_stages(s.context.c, loop, 4, &asked), 2);
  ck_assert(asked);
  pass_session_close(&s);
}
END_TEST

TCase *loop_loads_tests(void) {
  TCase *t = tcase_create("loop_loads");
  tcase_add_test(t, operands_are_copied_ahead);
  tcase_add_test(t, what_the_loop_writes_stays);
  tcase_add_test(t, a_barrier_keeps_all);
  tcase_add_test(t, blocks_and_operands);
  return t;
}
