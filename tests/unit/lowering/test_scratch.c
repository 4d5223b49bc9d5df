// SPDX-License-Identifier: Apache-2.0
// Shared memory that single ops and buffers take.
#include "layouts/attr.h"
#include "lowering/analysis/scratch.h"
#include "pass_session.h"
#include "suites.h"

#define LAYOUTS                                                                                    \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [4, 1]}>\n"                                                                     \
  "#b = #tilegpu.blocked<{order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [1, 4]}>\n"

static const char text[] = LAYOUTS
    "#s = #tilegpu.shared<{max_phase = 1, order = [1, 0], per_phase = 1, vec = 1}>\n"
    "#n = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>\n"
    "!t = tensor<32x32xf16, #a>\n!p = tensor<32x32x!tile.ptr<i32>, #a>\n"
    "module attributes {tilegpu.shared_bytes = 4096 : i32} {\n"
    "func.func @k(%x: !t, %p: !p, %i: tensor<32x32xi32, #a>, %n: i32) attributes {tile.kernel} {\n"
    "%y = \"tilegpu.convert_layout\"(%x) {tilegpu.shared_offset = 512 : i32, "
    "tilegpu.shared_double_buffer = 2048 : i32} : (!t) -> tensor<32x32xf16, #b>\n"
    "%z = \"tilegpu.convert_layout\"(%x) : (!t) -> !t\n"
    "%o = \"tile.atomic_rmw\"(%p, %i) {kind = \"add\", sem = \"relaxed\", scope = \"gpu\"} : "
    "(!p, tensor<32x32xi32, #a>) -> tensor<32x32xi32, #a>\n"
    "%now = \"tile.special_register\"() {name = \"globaltimer\"} : () -> i64\n"
    "%then = \"tile.special_register\"() {name = \"globaltimer\"} : () -> i64\n"
    "%low = arith.trunci %now : i64 to i32\n"
    "%less = arith.cmpi slt, %low, %n : i32\nscf.if %less { scf.yield }\n"
    "%one = \"tilegpu.local_alloc\"(%x) : (!t) -> !tilegpu.memdesc<tensor<32x32xf16, #s>>\n"
    "%ring = \"tilegpu.local_alloc\"() {copies = 3 : i32} : () -> "
    "!tilegpu.memdesc<tensor<32x64xf16, #n>>\n"
    "return } }";

START_TEST(bytes_of_ops) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirOperation convert = pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, 0);
  ck_assert_uint_eq(scratch_bytes(c, convert, 4), 2 * 32 * 32);
  ck_assert_uint_eq(scratch_bytes(c, pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, 1), 4), 0);
  ck_assert_uint_eq(scratch_offset(convert), 512);
  ck_assert_uint_eq(scratch_double_buffer(convert), 2048);
  ck_assert_int_eq(scratch_total(s.context.module), 4096);
  // Nobody uses the old values.
  ck_assert_uint_eq(scratch_bytes(c, pass_session_op(&s, OP_TILE_ATOMIC_RMW, 0), 4), 0);
  // The first time decides a branch: all threads take the time of one.
  ck_assert_uint_eq(scratch_bytes(c, pass_session_op(&s, OP_TILE_SPECIAL, 0), 4), 8);
  ck_assert_uint_eq(scratch_bytes(c, pass_session_op(&s, OP_TILE_SPECIAL, 1), 4), 0);
  pass_session_close(&s);
}
END_TEST

START_TEST(bytes_of_buffers) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  MlirOperation one = pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 0),
                ring = pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 1);
  MlirType plain = mlirValueGetType(mlirOperationGetResult(one, 0)),
           swizzled = mlirValueGetType(mlirOperationGetResult(ring, 0));
  ck_assert_uint_eq(alloc_copies(one), 1);
  ck_assert_uint_eq(alloc_bytes(c, one), 2048);
  ck_assert_uint_eq(buffer_alignment(c, plain), SCRATCH_ALIGNMENT);
  ck_assert_uint_eq(buffer_alignment(c, swizzled), 8 * 128); // 8 rows of the swizzle
  ck_assert_uint_eq(buffer_bytes(c, swizzled), 4096);
  ck_assert_uint_eq(alloc_bytes(c, ring), 3 * 4096);
  pass_session_close(&s);
}
END_TEST

// 16 elements in 128 threads: 16 lanes hold them, the fifth lane bit and the warps repeat them.
START_TEST(threads_that_repeat) {
  struct linear_layout l = ll_empty(1, (unsigned[]){4});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){0});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){1});
  for (unsigned b = 1; b < 4; b++)
    ll_push_basis(&l, LL_LANE, (uint32_t[]){1u << b});
  ck_assert_uint_eq(thread_copies(&l, 4), 0x78);
  ck_assert_uint_eq(thread_copies(NULL, 4), 0x7f);
  ck_assert_uint_eq(register_copies(&l), 1);
}
END_TEST

TCase *scratch_tests(void) {
  TCase *t = tcase_create("scratch");
  tcase_add_test(t, bytes_of_ops);
  tcase_add_test(t, bytes_of_buffers);
  tcase_add_test(t, threads_that_repeat);
  return t;
}
