// SPDX-License-Identifier: Apache-2.0
// Layouts of buffers between a load and its users: swizzled for operands of products.
#include "layouts/attr.h"
#include "lowering/plan/loop_buffers.h"
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

static const char text[] = DOT_LAYOUTS
    "module { func.func @k(%p: tensor<32x32x!tile.ptr<f16>, #a>, %b: tensor<32x32x!tile.ptr<i1>, "
    "#a>) {\n" LOAD("%0", "%p", "f16") LOAD("%1", "%p", "f16") LOAD("%2", "%p", "f16")
        LOAD("%3", "%b", "i1") CONVERT("%x", "%0", "#x") CONVERT("%y", "%1", "#y")
            CONVERT("%z", "%1", "#x") "return } }";

static MlirAttribute layout_of(struct pass_session *s, unsigned load) {
  return loop_buffer_layout(s->context.c, s->context.target,
                            pass_session_op(s, OP_TILE_LOAD, load));
}

START_TEST(buffers) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  const struct encoding *one = encoding_of_attr(c, layout_of(&s, 0));
  const struct encoding *unused = encoding_of_attr(c, layout_of(&s, 2));
  ck_assert_int_eq(one->kind, ENC_SHARED);
  ck_assert_uint_eq(one->shared.order[0], 1); // as the load has it
  ck_assert_uint_gt(one->shared.max_phase, 1);
  ck_assert_uint_eq(one->shared.vec, 8); // 16 bytes, a row of a matrix
  ck_assert(!mlirAttributeEqual(layout_of(&s, 0), layout_of(&s, 2)));
  ck_assert_uint_eq(unused->shared.max_phase, 1);
  ck_assert(mlirAttributeIsNull(layout_of(&s, 3))); // elements of less than 8 bits
  pass_session_close(&s);
}
END_TEST

TCase *loop_buffers_tests(void) {
  TCase *t = tcase_create("loop_buffers");
  tcase_add_test(t, buffers);
  return t;
}
