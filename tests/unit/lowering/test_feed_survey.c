// SPDX-License-Identifier: Apache-2.0
// What fills the buffers of a kernel, and what they are called.
#include "lowering/cost/feed_survey.h"
#include "pass_session.h"
#include "suites.h"

#define RING_LAYOUT "#tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>"
#define BUFFER "!tilegpu.memdesc<tensor<64x64xf16, " RING_LAYOUT ">>"
#define BARRIERS                                                                                   \
  "!tilegpu.memdesc<tensor<4xi64, #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, "    \
  "vec = 1}>>>"
#define MAPS                                                                                       \
  "{tile.maps = [{base = 1 : i32, box = array<i32: 64, 64>, dtype = \"f16\", offset = \"0\", "     \
  "pads_nan = false, sizes = [\"64\", \"64\"], strides = [\"64\"], swizzle = 128 : i32}], "        \
  "tilegpu.entry_registers = 168 : i32, tilegpu.producer_warps = 4 : i32}"
#define KERNEL                                                                                     \
  "module attributes " MAPS " { func.func @k(%n: i32 {tile.name = \"n\"}, %p: !tile.ptr<f16> "     \
  "{tile.name = \"rows\"}) attributes {tile.kernel} {\n"                                           \
  "%r = \"tilegpu.local_alloc\"() {copies = 2 : i32} : () -> " BUFFER "\n"                         \
  "%t = \"tilegpu.local_alloc\"() : () -> " BUFFER "\n"                                            \
  "%m = \"tilegpu.local_alloc\"() : () -> " BARRIERS "\n"                                          \
  "\"tilegpu.ring_init\"(%m) {ring = 0 : i32, slots = 2 : i32} : (" BARRIERS ") -> ()\n"           \
  "%is = \"tilegpu.is_producer\"() {leader = false} : () -> i1\n"                                  \
  "scf.if %is {\n\"tilegpu.set_registers\"() {count = 40 : i32, grows = false} : () -> ()\n"       \
  "%lead = \"tilegpu.is_producer\"() {leader = true} : () -> i1\nscf.if %lead {\n"                 \
  "%e = \"tilegpu.ring_empty\"(%m) {bytes = 8192 : i32, ring = 0 : i32, slots = 2 : i32} : "       \
  "(" BARRIERS ") -> i32\n"                                                                        \
  "%b = \"tilegpu.local_index\"(%r, %e) : (" BUFFER ", i32) -> " BUFFER "\n"                       \
  "\"tilegpu.map_copy\"(%b, %m, %e, %n, %n) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : "   \
  "(" BUFFER ", " BARRIERS ", i32, i32, i32) -> ()\n}\n} else {\n"                                 \
  "\"tilegpu.set_registers\"() {count = 232 : i32, grows = true} : () -> ()\n"                     \
  "%c1 = arith.constant 1 : i32\n%c0 = arith.constant 0 : i32\n"                                   \
  "%all = \"tile.get_num_programs\"() {axis = 0 : i32} : () -> i32\n"                              \
  "scf.for %i = %c0 to %n step %all : i32 {\n"                                                     \
  "\"tilegpu.map_store\"(%t, %n, %n) {map = 0 : i32} : (" BUFFER ", i32, i32) -> ()\n}\n}\n"       \
  "return } }"

START_TEST(copies_stores_and_barriers) {
  struct pass_session s = pass_session_open(KERNEL);
  struct ir_context *c = s.context.c;
  MlirOperation ring = pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 0);
  MlirOperation staging = pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 1);
  MlirOperation barriers = pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 2);
  ck_assert_int_eq((int)buffer_feed(c, ring).engine, (int)FEED_TMA);
  ck_assert_str_eq(buffer_name(c, ring), "rows");
  ck_assert_int_eq((int)buffer_use_of(c, ring), (int)BUFFER_DATA);
  ck_assert_int_eq((int)buffer_use_of(c, staging), (int)BUFFER_STAGING);
  ck_assert_str_eq(buffer_name(c, staging), "rows");
  ck_assert_int_eq((int)buffer_use_of(c, barriers), (int)BUFFER_BARRIERS);
  ck_assert_str_eq(buffer_name(c, barriers), "rows");
  pass_session_close(&s);
}
END_TEST

START_TEST(warps_and_the_loop_over_tiles) {
  struct pass_session s = pass_session_open(KERNEL);
  struct ir_context *c = s.context.c;
  struct warp_registers r = warp_registers_of(c, mlirModuleGetOperation(s.context.module));
  ck_assert_uint_eq(r.entry, 168);
  ck_assert_uint_eq(r.computing, 232);
  ck_assert_uint_eq(r.producer, 40);
  MlirOperation loop = persistent_loop(c, module_kernel(c, s.context.module));
  ck_assert(mlirOperationEqual(loop, pass_session_op(&s, OP_SCF_FOR, 0)));
  pass_session_close(&s);
}
END_TEST

TCase *feed_survey_tests(void) {
  TCase *t = tcase_create("feed_survey");
  tcase_add_test(t, copies_stores_and_barriers);
  tcase_add_test(t, warps_and_the_loop_over_tiles);
  return t;
}
