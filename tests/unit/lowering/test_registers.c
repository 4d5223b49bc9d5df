// SPDX-License-Identifier: Apache-2.0
// Registers of a thread: words of tiles, what costs none, and the most crowded point of a loop.
#include "lowering/analysis/liveness.h"
#include "lowering/cost/registers.h"
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

static const char text[] = KERNEL POINTERS("%x", "%p", "#a")
    LOAD("%v", "%x", "#a") "%h = arith.truncf %v : tensor<512xf32, #a> to tensor<512xf16, #a>\n"
                           "return } }";

static const char loop[] = KERNEL POINTERS("%x", "%p", "#a") LOAD(
    "%v", "%x",
    "#a") "%r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %v) -> (tensor<512xf32, #a>) : "
          "i32 {\n" LOAD("%u", "%x", "#a") "%next = arith.addf %acc, %u : tensor<512xf32, #a>\n"
                                           "scf.yield %next : tensor<512xf32, #a>\n}\n" STORE(
                                               "%x", "%r", "#a") "return } }";

// 512 elements in 128 threads: 4 of a thread.
START_TEST(words) {
  struct pass_session s = pass_session_open(text);
  struct pass_context *p = &s.context;
  struct axis_analysis *axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), s.arena);
  MlirValue range = mlirOperationGetResult(pass_session_op(&s, OP_TILE_MAKE_RANGE, 0), 0);
  MlirValue loaded = mlirOperationGetResult(pass_session_op(&s, OP_TILE_LOAD, 0), 0);
  MlirValue narrow = mlirOperationGetResult(pass_session_op(&s, OP_ARITH_TRUNCF, 0), 0);
  MlirValue at = mlirOperationGetResult(pass_session_op(&s, OP_TILE_ADDPTR, 0), 0);
  ck_assert_uint_eq(tile_words(p->c, mlirValueGetType(loaded)), 4);
  ck_assert_uint_eq(tile_words(p->c, mlirValueGetType(narrow)), 2); // pairs of f16
  ck_assert_uint_eq(register_words(p->c, loaded), 4);
  ck_assert_uint_eq(register_words(p->c, range), 0);     // recomputed
  ck_assert_uint_eq(registers_apart(p->c, axis, at), 1); // neighbours
  ck_assert_uint_eq(registers_apart(p->c, axis, loaded), 4);
  pass_session_close(&s);
}
END_TEST

START_TEST(in_a_loop) {
  struct pass_session s = pass_session_open(loop);
  struct pass_context *p = &s.context;
  MlirOperation func = pass_session_op(&s, OP_FUNC_FUNC, 0);
  struct axis_analysis *axis = axis_analyse(p->c, func, s.arena);
  struct register_census *r =
      register_census_of(p->c, axis, liveness_of(p->c, func, s.arena), func, s.arena);
  // The sum and what is added to it.
  ck_assert_uint_eq(registers_in_loop(r, pass_session_op(&s, OP_SCF_FOR, 0)), 8);
  ck_assert_uint_gt(registers_reserved(r), 0);
  pass_session_close(&s);
}
END_TEST

#define WGMMA "#tilegpu.mma<{version = 3, instr_shape = [16, 32, 32], warps_per_cta = [4, 1]}>"
#define BYTES(transposed)                                                                          \
  "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = " transposed "}>"
#define A_BUFFER "!tilegpu.memdesc<tensor<128x64xf8E4M3FN, " BYTES("false") ">>"
#define B_BUFFER "!tilegpu.memdesc<tensor<64x32xf8E4M3FN, " BYTES("true") ">>"
#define SUMS "tensor<128x32xf32, " WGMMA ">"
#define PRODUCTS(promoted)                                                                         \
  "module { func.func @k(%n: i32, %acc: " SUMS ") -> " SUMS " attributes {tile.kernel} {\n"        \
  "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"                                   \
  "%a = \"tilegpu.local_alloc\"() : () -> " A_BUFFER "\n"                                          \
  "%b = \"tilegpu.local_alloc\"() : () -> " B_BUFFER "\n"                                          \
  "%r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %acc) -> (" SUMS ") : i32 {\n"              \
  "%d = \"tilegpu.warp_group_dot\"(%a, %b, %c) {pending = 0 : i32" promoted "} : (" A_BUFFER       \
  ", " B_BUFFER ", " SUMS ") -> " SUMS "\nscf.yield %d : " SUMS "\n}\nreturn %r : " SUMS " } }"

static unsigned in_loop_of(const char *ir) {
  struct pass_session s = pass_session_open(ir);
  struct pass_context *p = &s.context;
  MlirOperation func = pass_session_op(&s, OP_FUNC_FUNC, 0);
  struct axis_analysis *axis = axis_analyse(p->c, func, s.arena);
  struct register_census *r =
      register_census_of(p->c, axis, liveness_of(p->c, func, s.arena), func, s.arena);
  unsigned n = registers_in_loop(r, pass_session_op(&s, OP_SCF_FOR, 0));
  pass_session_close(&s);
  return n;
}

// 32 accumulators of a thread, and as many sums.
START_TEST(promoted_sums) {
  unsigned in_place = in_loop_of(PRODUCTS(""));
  ck_assert_uint_ge(in_place, 32);
  ck_assert_uint_eq(in_loop_of(PRODUCTS(", promoted_every = 32 : i32")), in_place + 32);
}
END_TEST

TCase *registers_tests(void) {
  TCase *t = tcase_create("registers");
  tcase_add_test(t, words);
  tcase_add_test(t, in_a_loop);
  tcase_add_test(t, promoted_sums);
  return t;
}
