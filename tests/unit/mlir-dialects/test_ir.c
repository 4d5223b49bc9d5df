// SPDX-License-Identifier: Apache-2.0
// Types, attributes, constants, locations and walks.
#include "suites.h"

static MlirStringRef ref(const char *s) { return mlirStringRefCreateFromCString(s); }

START_TEST(scalars_both_ways) {
  struct session s = session_open();
  for (enum dtype t = 0; t < DTYPE_COUNT; t++) {
    MlirType m = mlir_of_dtype(s.c, t);
    enum dtype back = dtype_of_mlir(m);
    bool is_unsigned = dtype_is_int(t) && !dtype_is_signed(t) && t != DTYPE_I1;
    if (t == DTYPE_F8E4B15) // a type of the language only
      back = back == DTYPE_I8 ? t : DTYPE_NONE;
    ck_assert_msg(is_unsigned ? dtype_bits(back) == dtype_bits(t) && dtype_is_signed(back)
                              : back == t,
                  "%s comes back as %s", dtype_name(t), dtype_name(back));
    ck_assert_uint_eq(type_bits(s.c, m), dtype_bits(t));
  }
  ck_assert_int_eq(dtype_of_mlir(mlirIndexTypeGet(s.c->mlir)), DTYPE_NONE);
  session_close(&s);
}
END_TEST

START_TEST(pointers_of_built_and_parsed_types) {
  struct session s = session_open();
  MlirType f32 = mlir_of_dtype(s.c, DTYPE_F32);
  MlirType p = ptr_type(s.c, f32), pp = ptr_type(s.c, p);
  ck_assert(mlirTypeEqual(p, ptr_type(s.c, f32)));
  ck_assert(type_is_ptr(s.c, p) && type_is_ptr(s.c, pp) && !type_is_ptr(s.c, f32));
  ck_assert(mlirTypeEqual(ptr_pointee(s.c, pp), p));
  ck_assert_uint_eq(type_bits(s.c, p), 64);
  // A type that is not in the table yet.
  MlirType parsed = mlirTypeParseGet(s.c->mlir, ref("!tile.ptr<!tile.ptr<bf16>>"));
  ck_assert(mlirTypeEqual(ptr_pointee(s.c, parsed), ptr_type(s.c, mlir_of_dtype(s.c, DTYPE_BF16))));
  ck_assert_int_eq(dtype_of_mlir(p), DTYPE_NONE);
  session_close(&s);
}
END_TEST

START_TEST(tensors) {
  struct session s = session_open();
  int64_t shape[] = {4, 8};
  MlirAttribute e = mlirAttributeParseGet(s.c->mlir, ref("#tilegpu.linear<{lane = []}>"));
  MlirType f16 = mlir_of_dtype(s.c, DTYPE_F16), i1 = mlir_of_dtype(s.c, DTYPE_I1);
  MlirType t = tensor_type(2, shape, f16, e);
  ck_assert(type_is_tensor(t) && !type_is_tensor(f16));
  ck_assert_uint_eq(tensor_rank(t), 2);
  ck_assert_int_eq(tensor_dim(t, 1), 8);
  ck_assert_int_eq(tensor_numel(t), 32);
  ck_assert_int_eq(tensor_numel(f16), 1);
  MlirType mask = type_with_element(t, i1);
  ck_assert(mlirTypeEqual(element_type(mask), i1));
  ck_assert(mlirAttributeEqual(tensor_encoding(mask), e));
  MlirType plain = type_with_encoding(t, mlirAttributeGetNull());
  ck_assert(mlirAttributeIsNull(tensor_encoding(plain)) && tensor_numel(plain) == 32);
  ck_assert(mlirTypeEqual(type_with_element(f16, i1), i1));
  session_close(&s);
}
END_TEST

START_TEST(constants) {
  struct session s = session_open();
  struct ir_context *c = s.c;
  MlirModule m = build_module(c, mlirLocationUnknownGet(c->mlir));
  struct builder b = builder_at_end(c, mlirModuleGetBody(m), mlirLocationUnknownGet(c->mlir));
  int64_t shape[] = {8}, i;
  double f;
  MlirType i8 = mlir_of_dtype(c, DTYPE_I8), i1 = mlir_of_dtype(c, DTYPE_I1);
  MlirType i64 = mlir_of_dtype(c, DTYPE_I64), f32 = mlir_of_dtype(c, DTYPE_F32);
  ck_assert(value_const_int(c, build_const_int(&b, i8, 200), &i) && i == -56);
  ck_assert(value_const_int(c, build_const_int(&b, i1, 1), &i) && i == 1);
  ck_assert(value_const_int(c, build_const_int(&b, i64, INT64_MIN), &i) && i == INT64_MIN);
  MlirType tile = tensor_type(1, shape, i8, mlirAttributeGetNull());
  ck_assert(value_const_int(c, build_const_int(&b, tile, -7), &i) && i == -7);
  MlirType mask = tensor_type(1, shape, i1, mlirAttributeGetNull());
  ck_assert(value_const_int(c, build_const_int(&b, mask, 1), &i) && i == 1);
  MlirValue third = build_const_float(&b, f32, 1.0 / 3);
  ck_assert(value_const_float(c, third, &f) && f == (double)(1.0f / 3));
  ck_assert(!value_const_int(c, third, &i));
  ck_assert(!value_const_float(c, build_const_int(&b, i8, 1), &f));
  MlirValue sum = build_binary(&b, OP_ARITH_ADDF, third, third);
  ck_assert(!value_const_float(c, sum, &f));
  ck_assert_uint_eq(value_use_count(third), 2);
  ck_assert(!value_has_uses(sum));
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

START_TEST(argument_attributes) {
  struct session s = session_open();
  MlirModule m = every_op(s.c);
  MlirOperation k = module_kernel(s.c, m);
  ck_assert(!mlirOperationIsNull(k));
  ck_assert(str_is(op_attr_str(k, "sym_name"), "k"));
  func_set_arg_attr(s.c, k, 0, "tile.name", attr_str(s.c, "x"));
  func_set_arg_attr(s.c, k, 0, "tile.divisibility", attr_i32(s.c, 8));
  ck_assert_int_eq(mlirIntegerAttrGetValueInt(func_arg_attr(k, 0, "tile.divisibility")), 8);
  ck_assert(!mlirAttributeIsNull(func_arg_attr(k, 0, "tile.name")));
  ck_assert(!mlirAttributeIsNull(func_arg_attr(k, 1, "tile.name")));
  ck_assert(mlirAttributeIsNull(func_arg_attr(k, 1, "tile.divisibility")));
  ck_assert(mlirAttributeIsNull(func_arg_attr(k, 99, "tile.name")));
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

START_TEST(locations_both_ways) {
  struct session s = session_open();
  struct source *src = source_create(s.arena, "a.tile", STR("first\nsecond line\n"));
  struct span span = {src, 6, 12};
  MlirLocation loc = loc_from_span(s.c, span);
  struct span back = loc_to_span(s.c, loc);
  ck_assert(back.source == src && back.begin == 6 && back.end == 12);
  back = loc_to_span(s.c, mlirLocationNameGet(s.c->mlir, ref("inlined"), loc));
  ck_assert(back.source == src && back.begin == 6);
  MlirLocation unknown = mlirLocationUnknownGet(s.c->mlir);
  ck_assert_ptr_null(loc_to_span(s.c, unknown).source);
  back = loc_to_span(s.c, mlirLocationCallSiteGet(loc, unknown));
  ck_assert(back.source == src && back.end == 12);
  MlirLocation elsewhere = mlirLocationFileLineColGet(s.c->mlir, ref("other.tile"), 1, 1);
  ck_assert_ptr_null(loc_to_span(s.c, elsewhere).source);
  ck_assert(mlirLocationEqual(loc_from_span(s.c, SPAN_NONE), unknown));
  session_close(&s);
}
END_TEST

// ---- walks ----

struct trace {
  struct ir_context *c;
  enum op_id erase;
  unsigned seen, erased;
  bool child_first;
};

static bool erase_unused(MlirOperation op, void *user) {
  struct trace *t = user;
  t->seen++;
  if (op_id(t->c, op) != t->erase)
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (value_has_uses(mlirOperationGetResult(op, i)))
      return true;
  t->erased++;
  op_erase(op);
  return true;
}

static bool stop_at_kernel(MlirOperation op, void *user) {
  struct trace *t = user;
  t->seen++;
  return mlirAttributeIsNull(op_attr(op, "tile.kernel"));
}

START_TEST(walks_survive_erasing) {
  struct session s = session_open();
  MlirModule m = every_op(s.c);
  MlirOperation root = mlirModuleGetOperation(m);
  struct trace all = {.c = s.c, .erase = OP_ID_COUNT};
  ir_walk(root, erase_unused, &all);
  struct trace post = {.c = s.c, .erase = OP_ID_COUNT};
  ir_walk_post(s.arena, root, erase_unused, &post);
  ck_assert_uint_eq(all.seen, post.seen);
  struct trace t = {.c = s.c, .erase = OP_SCF_IF}; // with its regions
  ir_walk(root, erase_unused, &t);
  ck_assert_uint_eq(t.erased, 1);
  ck_assert_uint_lt(t.seen, all.seen);
  struct trace u = {.c = s.c, .erase = OP_MATH_FMA};
  ir_walk_post(s.arena, root, erase_unused, &u);
  ck_assert_uint_eq(u.erased, 1);
  struct trace v = {.c = s.c};
  ir_walk(root, stop_at_kernel, &v);
  ck_assert_uint_eq(v.seen, 10); // the module, four functions with their returns, the kernel
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

START_TEST(purity_looks_into_regions) {
  struct session s = session_open();
  MlirModule m = ir_parse(s.c, "t.mlir",
                          STR("func.func @f(%c: i1, %x: i32) {\n"
                              "  scf.if %c { %a = arith.addi %x, %x : i32 }\n"
                              "  scf.if %c { \"tile.assume\"(%c) : (i1) -> () }\n"
                              "  return\n}\n"));
  ck_assert(!mlirModuleIsNull(m));
  MlirOperation f = mlirBlockGetFirstOperation(mlirModuleGetBody(m));
  MlirOperation pure = mlirBlockGetFirstOperation(func_entry(f));
  ck_assert(op_is_pure(s.c, pure));
  ck_assert(!op_is_pure(s.c, mlirOperationGetNextInBlock(pure)));
  ck_assert_uint_eq(op_flags(s.c, pure), OP_REGION);
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

static uint64_t print_of(MlirModule m) { return ir_fingerprint(mlirModuleGetOperation(m)); }

START_TEST(fingerprints_tell_what_was_touched) {
  struct session s = session_open();
  MlirModule m = ir_parse(s.c, "t.mlir",
                          STR("func.func @f(%c: i1, %x: i32, %y: i32) {\n"
                              "  scf.if %c { %a = arith.subi %x, %y : i32 }\n"
                              "  %b = arith.cmpi slt, %x, %y : i32\n"
                              "  return\n}\n"));
  ck_assert(!mlirModuleIsNull(m));
  uint64_t untouched = print_of(m);
  ck_assert(ir_verify(s.c, mlirModuleGetOperation(m)));
  ck_assert_uint_eq(print_of(m), untouched);
  MlirOperation f = mlirBlockGetFirstOperation(mlirModuleGetBody(m));
  MlirOperation branch = mlirBlockGetFirstOperation(func_entry(f));
  MlirOperation compare = mlirOperationGetNextInBlock(branch);
  MlirOperation nested =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(branch, 0)));

  mlirOperationSetOperand(nested, 0, mlirOperationGetOperand(nested, 1)); // an operand in a region
  uint64_t operand = print_of(m);
  mlirOperationSetAttributeByName(f, ref("note"), mlirUnitAttrGet(s.c->mlir));
  uint64_t attribute = print_of(m);
  MlirAttribute sgt = mlirIntegerAttrGet(mlir_of_dtype(s.c, DTYPE_I64), 4);
  mlirOperationSetInherentAttributeByName(compare, ref("predicate"), sgt); // a property
  uint64_t property = print_of(m);
  mlirOperationMoveBefore(compare, branch);
  uint64_t order = print_of(m);
  mlirBlockAddArgument(func_entry(f), mlirIndexTypeGet(s.c->mlir),
                       mlirLocationUnknownGet(s.c->mlir));
  uint64_t argument = print_of(m);
  op_erase(nested);
  uint64_t seen[] = {untouched, operand, attribute, property, order, argument, print_of(m)};
  for (size_t i = 0; i < COUNT_OF(seen); i++)
    for (size_t j = 0; j < i; j++)
      ck_assert_msg(seen[i] != seen[j], "changes %zu and %zu have one fingerprint", j, i);
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

START_TEST(more_values_than_one_print_holds) {
  struct session s = session_open();
  MlirModule m = build_module(s.c, mlirLocationUnknownGet(s.c->mlir));
  MlirOperation f =
      build_func(s.c, m, "f", 0, NULL, 0, NULL, true, mlirLocationUnknownGet(s.c->mlir));
  struct builder b = builder_at_end(s.c, func_entry(f), mlirLocationUnknownGet(s.c->mlir));
  MlirValue values[20];
  int32_t is_signed[20];
  for (int i = 0; i < 20; i++) {
    values[i] = build_const_int(&b, mlir_of_dtype(s.c, DTYPE_I32), i);
    is_signed[i] = 1;
  }
  build_print(&b, "x", false, 20, values, is_signed);
  build_return(&b, 0, NULL);
  ck_assert_msg(ir_verify(s.c, mlirModuleGetOperation(m)), "%s", diag_first_error(s.diag));
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

TCase *ir_tests(void) {
  TCase *t = tcase_create("ir");
  tcase_add_test(t, scalars_both_ways);
  tcase_add_test(t, pointers_of_built_and_parsed_types);
  tcase_add_test(t, tensors);
  tcase_add_test(t, constants);
  tcase_add_test(t, argument_attributes);
  tcase_add_test(t, locations_both_ways);
  tcase_add_test(t, walks_survive_erasing);
  tcase_add_test(t, purity_looks_into_regions);
  tcase_add_test(t, fingerprints_tell_what_was_touched);
  tcase_add_test(t, more_values_than_one_print_holds);
  return t;
}
