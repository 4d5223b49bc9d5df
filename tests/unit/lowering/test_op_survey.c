// SPDX-License-Identifier: Apache-2.0
// What single ops cost: vectors and sectors of accesses, conversions, reductions, products.
#include "lowering/cost/op_survey.h"
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

#define MMA "#tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>"

static const char text[] = KERNEL POINTERS("%x", "%p", "#a") LOAD(
    "%v", "%x",
    "#a") "%w = \"tilegpu.convert_layout\"(%v) : (tensor<512xf32, #a>) -> tensor<512xf32, #b>\n"
          "%sum = \"tile.reduce\"(%v) {axis = 0 : i32, combine = @add, operandSegmentSizes = "
          "array<i32: "
          "1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : "
          "(tensor<512xf32, #a>) -> f32\n"
          "%l = arith.constant dense<1.0> : tensor<64x64xf16, #tilegpu.dot_op<{op_idx = 0, k_width "
          "= 2, "
          "parent = " MMA "}>>\n"
          "%m = arith.constant dense<1.0> : tensor<64x32xf16, #tilegpu.dot_op<{op_idx = 1, k_width "
          "= 2, "
          "parent = " MMA "}>>\n"
          "%acc = arith.constant dense<0.0> : tensor<64x32xf32, " MMA ">\n"
          "%d = \"tile.dot\"(%l, %m, %acc) {input_precision = \"tf32\", max_num_imprecise_acc = 0 "
          ": "
          "i32} : (tensor<64x64xf16, #tilegpu.dot_op<{op_idx = 0, k_width = 2, parent = " MMA
          "}>>, "
          "tensor<64x32xf16, #tilegpu.dot_op<{op_idx = 1, k_width = 2, parent = " MMA "}>>, "
          "tensor<64x32xf32, " MMA ">) -> tensor<64x32xf32, " MMA ">\n"
          "return }\nfunc.func private @add(%x: f32, %y: f32) -> f32 {\n"
          "%s = arith.addf %x, %y : f32\nreturn %s : f32 } }";

static struct op_survey survey_of(struct pass_session *s) {
  struct pass_context *p = &s->context;
  return (struct op_survey){p->c, p->target, 4, s->arena,
                            axis_analyse(p->c, mlirModuleGetOperation(p->module), s->arena)};
}

START_TEST(accesses) {
  struct pass_session s = pass_session_open(text);
  struct op_survey x = survey_of(&s);
  struct memory_access m;
  ck_assert(survey_access(&x, pass_session_op(&s, OP_TILE_LOAD, 0), &m));
  ck_assert_str_eq(m.what, "load");
  ck_assert_str_eq(m.parameter, "p");
  ck_assert_uint_eq(m.width, 4);
  ck_assert_uint_eq(m.count, 1);
  ck_assert_uint_eq(m.sectors, 16); // 32 lanes of 16 bytes
  ck_assert_uint_eq(m.least_sectors, 16);
  ck_assert_uint_eq(m.bytes, 2048);
  ck_assert_ptr_null(m.why);
  ck_assert(!survey_access(&x, pass_session_op(&s, OP_TILE_DOT, 0), &m));
  pass_session_close(&s);
}
END_TEST

START_TEST(conversions_and_reductions) {
  struct pass_session s = pass_session_open(text);
  struct op_survey x = survey_of(&s);
  struct layout_conversion v;
  struct reduction_cost r;
  ck_assert(survey_conversion(&x, pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, 0), &v));
  ck_assert_str_eq(v.kind, "shared memory");
  ck_assert_uint_eq(v.bytes, 2048);
  ck_assert_uint_ge(v.wavefronts, v.least_wavefronts);
  ck_assert(survey_reduction(&x, pass_session_op(&s, OP_TILE_REDUCE, 0), &r));
  ck_assert_uint_eq(r.in_thread, 2);    // 4 registers
  ck_assert_uint_eq(r.across_lanes, 5); // 32 lanes
  ck_assert(r.across_warps);
  pass_session_close(&s);
}
END_TEST

// A warp has 32 x 16 of the result: 2 x 2 instructions for each 16 of K.
START_TEST(products) {
  struct pass_session s = pass_session_open(text);
  struct op_survey x = survey_of(&s);
  struct product_cost d;
  ck_assert(survey_product(&x, pass_session_op(&s, OP_TILE_DOT, 0), &d));
  ck_assert_ptr_nonnull(strstr(d.instruction, "mma.sync.m16n8k16"));
  ck_assert_uint_eq(d.count, 2 * 2 * 4);
  ck_assert_uint_eq(d.flops, 2 * 16 * 8 * 16);
  ck_assert(!d.is_wgmma);
  pass_session_close(&s);
}
END_TEST

#define WGMMA "#tilegpu.mma<{version = 3, instr_shape = [16, 32, 32], warps_per_cta = [4, 1]}>"
#define BYTES(transposed)                                                                          \
  "#tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = " transposed "}>"
#define A_BUFFER "!tilegpu.memdesc<tensor<128x64xf8E4M3FN, " BYTES("false") ">>"
#define B_BUFFER "!tilegpu.memdesc<tensor<64x32xf8E4M3FN, " BYTES("true") ">>"

static const char promoted[] =
    "module { func.func @k() attributes {tile.kernel} {\n"
    "%a = \"tilegpu.local_alloc\"() : () -> " A_BUFFER "\n"
    "%b = \"tilegpu.local_alloc\"() : () -> " B_BUFFER "\n"
    "%acc = arith.constant dense<0.0> : tensor<128x32xf32, " WGMMA ">\n"
    "%d = \"tilegpu.warp_group_dot\"(%a, %b, %acc) {pending = 0 : i32, promoted_every = 32 : i32} "
    ": (" A_BUFFER ", " B_BUFFER ", tensor<128x32xf32, " WGMMA ">) -> tensor<128x32xf32, " WGMMA
    ">\nreturn } }";

// Two tiles of 64 rows with 16 registers, two instructions and two sums of each.
START_TEST(promoted_sums) {
  struct pass_session s = pass_session_open(promoted);
  struct op_survey x = survey_of(&s);
  struct product_cost d;
  ck_assert(survey_product(&x, pass_session_op(&s, OP_GPU_WARP_GROUP_DOT, 0), &d));
  ck_assert_str_eq(d.instruction, "wgmma.m64n32k32");
  ck_assert_uint_eq(d.count, 2 * 2);
  ck_assert_uint_eq(d.additions, 2 * 16 * 2);
  ck_assert(d.is_wgmma);
  pass_session_close(&s);
}
END_TEST

TCase *op_survey_tests(void) {
  TCase *t = tcase_create("op_survey");
  tcase_add_test(t, accesses);
  tcase_add_test(t, conversions_and_reductions);
  tcase_add_test(t, products);
  tcase_add_test(t, promoted_sums);
  return t;
}
