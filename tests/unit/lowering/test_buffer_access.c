// SPDX-License-Identifier: Apache-2.0
// Accesses to buffers: as wide as registers and buffer have neighbours in common, parts at the
// offset of their corner.
#include "lowering/analysis/buffer_access.h"
#include "pass_session.h"
#include "suites.h"

#define LAYOUTS                                                                                    \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [4, 1]}>\n"                                                                     \
  "#b = #tilegpu.blocked<{order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [4, 8], "   \
  "warps_per_cta = [1, 4]}>\n"

#define SHARED(order)                                                                              \
  "#tilegpu.shared<{max_phase = 1, order = [" order "], per_phase = 1, vec = 1}>"

static const char text[] =
    LAYOUTS "!t = tensor<32x32xi32, #a>\n"
            "!rows = !tilegpu.memdesc<tensor<32x32xi32, " SHARED(
                "1, 0") ">>\n"
                        "!columns = !tilegpu.memdesc<tensor<32x32xi32, " SHARED(
                            "0, 1") ">>\n"
                                    "module { func.func @k(%x: !t) {\n"
                                    "%r = \"tilegpu.local_alloc\"(%x) : (!t) -> !rows\n"
                                    "%c = \"tilegpu.local_alloc\"(%x) : (!t) -> !columns\n"
                                    "%0 = \"tilegpu.local_load\"(%r) : (!rows) -> !t\n"
                                    "%1 = \"tilegpu.local_load\"(%r) {offsets = array<i32: 16, 0>} "
                                    ": (!rows) -> "
                                    "tensor<16x32xi32, #a>\n"
                                    "return } }";

static MlirType type_of(const struct pass_session *s, enum op_id id, unsigned n) {
  return mlirValueGetType(mlirOperationGetResult(pass_session_op(s, id, n), 0));
}

START_TEST(widths) {
  struct pass_session s = pass_session_open(text);
  struct ir_context *c = s.context.c;
  struct exchange_side side;
  MlirType tile = type_of(&s, OP_GPU_LOCAL_LOAD, 0);
  MlirType rows = type_of(&s, OP_GPU_LOCAL_ALLOC, 0), columns = type_of(&s, OP_GPU_LOCAL_ALLOC, 1);
  ck_assert(buffer_store_side(c, s.context.target, tile, rows, &side));
  ck_assert_uint_eq(side.vec_bits, 2); // 4 elements of a row
  ck_assert(buffer_store_side(c, s.context.target, tile, columns, &side));
  ck_assert_uint_eq(side.vec_bits, 0);
  ck_assert(buffer_read_side(c, s.context.target, tile, rows, &side));
  ck_assert_uint_eq(side.vec_bits, 2);
  ck_assert(!buffer_store_side(c, s.context.target, mlir_of_dtype(c, DTYPE_I32), rows, &side));
  pass_session_close(&s);
}
END_TEST

START_TEST(parts) {
  struct pass_session s = pass_session_open(text);
  struct exchange_side side;
  ck_assert(buffer_load_side(s.context.c, s.context.target,
                             pass_session_op(&s, OP_GPU_LOCAL_LOAD, 0), &side));
  ck_assert_uint_eq(side.start, 0);
  ck_assert(buffer_load_side(s.context.c, s.context.target,
                             pass_session_op(&s, OP_GPU_LOCAL_LOAD, 1), &side));
  ck_assert_uint_eq(side.start, 16 * 32);
  ck_assert_uint_eq(side.vec_bits, 2);
  pass_session_close(&s);
}
END_TEST

TCase *buffer_access_tests(void) {
  TCase *t = tcase_create("buffer_access");
  tcase_add_test(t, widths);
  tcase_add_test(t, parts);
  return t;
}
