// SPDX-License-Identifier: Apache-2.0
// Types: construction, comparison, names, and the MLIR types they map to.
#include "lang/eval/eval_types.h"
#include "suites_emit.h"

START_TEST(names) {
  char buf[TYPE_NAME_SIZE];
  struct type t = type_scalar(DTYPE_U32);
  ck_assert_str_eq(type_name(t, buf), "u32");
  ck_assert_str_eq(type_name(type_pointer(DTYPE_BF16), buf), "ptr[bf16]");
  struct type p = type_pointer(DTYPE_I1);
  p.ptr = 2;
  ck_assert_str_eq(type_name(p, buf), "ptr[ptr[i1]]");
  struct type tile = {.dtype = DTYPE_F8E4NV, .rank = 3, .shape = {2, 64, 1}};
  ck_assert_str_eq(type_name(tile, buf), "tile<2x64x1xf8e4nv>");
  struct type big = {.dtype = DTYPE_F8E4NV, .ptr = 2, .rank = TYPE_MAX_RANK};
  for (int i = 0; i < TYPE_MAX_RANK; i++)
    big.shape[i] = TYPE_MAX_NUMEL;
  ck_assert_uint_lt(strlen(type_name(big, buf)), TYPE_NAME_SIZE);
}
END_TEST

START_TEST(comparison) {
  struct type a = {.dtype = DTYPE_F32, .rank = 2, .shape = {4, 8}};
  struct type b = a;
  ck_assert(type_eq(a, b));
  b.is_const = true;
  ck_assert(type_eq(a, b));
  b.shape[1] = 16;
  ck_assert(!type_eq(a, b) && type_elem_eq(a, b) && !type_shape_eq(a, b));
  b = a;
  b.dtype = DTYPE_I32;
  ck_assert(!type_eq(a, b) && type_shape_eq(a, b));
  b = a;
  b.ptr = 1;
  ck_assert(!type_eq(a, b) && !type_is_float(b) && type_is_float(a));
}
END_TEST

START_TEST(parts) {
  struct type p = {.dtype = DTYPE_I16, .ptr = 1, .is_const = true, .rank = 1, .shape = {32}};
  struct type v = type_pointee(p);
  ck_assert(v.ptr == 0 && v.rank == 1 && v.dtype == DTYPE_I16 && !v.is_const);
  ck_assert(type_elem(p).rank == 0 && type_elem(p).ptr == 1);
  ck_assert_int_eq(type_numel(v), 32);
  ck_assert_int_eq(type_numel(type_elem(v)), 1);
  ck_assert(type_eq(type_shaped(type_scalar(DTYPE_I16), v), v));
  ck_assert(type_is_bool(type_scalar(DTYPE_I1)) && type_is_int(type_scalar(DTYPE_I1)));
  ck_assert(type_is_fp8(type_scalar(DTYPE_F8E5)) && !type_is_fp8(type_scalar(DTYPE_I8)));
}
END_TEST

START_TEST(images) {
  struct arena *a = arena_create();
  struct ir_context *c = ir_context_create(a, diag_engine_create(a));
  struct type tile = {.dtype = DTYPE_F16, .rank = 2, .shape = {4, 8}};
  MlirType m = type_to_mlir(c, tile);
  ck_assert(type_is_tensor(m) && tensor_rank(m) == 2 && tensor_dim(m, 1) == 8);
  ck_assert(dtype_of_mlir(element_type(m)) == DTYPE_F16);
  // Signedness is not in the IR, and booleans take a byte in memory.
  ck_assert(mlirTypeEqual(type_to_mlir(c, type_scalar(DTYPE_U32)),
                          type_to_mlir(c, type_scalar(DTYPE_I32))));
  ck_assert(mlirTypeEqual(type_to_mlir(c, type_pointer(DTYPE_I1)),
                          type_to_mlir(c, type_pointer(DTYPE_I8))));
  ck_assert(type_is_ptr(c, type_to_mlir(c, type_pointer(DTYPE_F32))));
  ir_context_destroy(c);
  arena_destroy(a);
}
END_TEST

TCase *types_tests(void) {
  TCase *t = tcase_create("types");
  tcase_add_test(t, names);
  tcase_add_test(t, comparison);
  tcase_add_test(t, parts);
  tcase_add_test(t, images);
  return t;
}
