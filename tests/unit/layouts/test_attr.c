// SPDX-License-Identifier: Apache-2.0
// Encodings through MLIR attributes and tensor types, in one context.
#include "generate.h"
#include "layouts/attr.h"
#include "suites.h"

struct fixture {
  struct arena *arena;
  struct ir_context *c;
};

static struct fixture open_context(void) {
  struct fixture f = {.arena = arena_create()};
  f.c = ir_context_create(f.arena, diag_engine_create(f.arena));
  ck_assert_ptr_nonnull(f.c);
  return f;
}

static void close_context(struct fixture f) {
  ir_context_destroy(f.c);
  arena_destroy(f.arena);
}

START_TEST(round_trip) {
  struct fixture f = open_context();
  static const char *const texts[] = {
      "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[4,1]}>",
      "slice<{dim=0, parent=blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], "
      "warps_per_cta=[4,1]}>}>",
      "linear<{register=[[0,1]], lane=[[0,2],[1,0],[2,0]], warp=[], block=[]}>",
      "mma<{version=3, instr_shape=[16,64,16], warps_per_cta=[4,1]}>",
      "dot_op<{op_idx=0, k_width=2, parent=mma<{version=2, warps_per_cta=[4,1]}>}>",
      "shared<{vec=8, per_phase=1, max_phase=8, order=[1,0]}>",
      "nvmma_shared<{swizzle=128, transposed=true, element_bits=16}>",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    const struct encoding *e = encoding_must(f.arena, texts[i]);
    MlirAttribute attr = encoding_attr(f.c, e);
    ck_assert_msg(!mlirAttributeIsNull(attr), "%s", texts[i]);
    ck_assert(mlirAttributeEqual(attr, encoding_attr(f.c, e)));
    const struct encoding *back = encoding_of_attr(f.c, attr);
    ck_assert_msg(back && encoding_equal(back, e), "%s", texts[i]);
    ck_assert_ptr_eq(encoding_of_attr(f.c, attr), back); // cached
  }
  close_context(f);
}
END_TEST

START_TEST(of_types) {
  struct fixture f = open_context();
  MlirType f32 = mlirF32TypeGet(f.c->mlir);
  const char *text = "mma<{version=2, warps_per_cta=[4,1]}>";
  MlirAttribute attr = encoding_attr(f.c, encoding_must(f.arena, text));
  const int64_t shape[] = {64, 8}, odd[] = {48, 8};
  MlirType t = tensor_type(2, shape, f32, attr);
  const struct linear_layout *l = linear_of_type(f.c, t);
  ck_assert_ptr_nonnull(l);
  struct linear_layout expected = linear_must(f.arena, text, 2, shape);
  ck_assert(ll_equal(l, &expected));
  ck_assert_ptr_eq(linear_of_type(f.c, tensor_type(2, shape, f32, attr)), l);
  // No layout: scalars, tensors without an encoding, one that does not fit, one of another kind.
  MlirAttribute none = {NULL}, number = mlirIntegerAttrGet(mlirIntegerTypeGet(f.c->mlir, 32), 1);
  ck_assert_ptr_null(linear_of_type(f.c, f32));
  ck_assert_ptr_null(linear_of_type(f.c, tensor_type(2, shape, f32, none)));
  ck_assert_ptr_null(linear_of_type(f.c, tensor_type(2, odd, f32, attr)));
  ck_assert_ptr_null(encoding_of_attr(f.c, none));
  ck_assert_ptr_null(encoding_of_attr(f.c, number));
  ck_assert_ptr_null(encoding_of_attr(f.c, number));
  close_context(f);
}
END_TEST

TCase *attr_tests(void) {
  TCase *t = tcase_create("attr");
  tcase_add_test(t, round_trip);
  tcase_add_test(t, of_types);
  return t;
}
