// SPDX-License-Identifier: Apache-2.0
// The layout passes on random kernels: whatever the passes decide, both sides of every op must
// agree on where the elements are, nothing may be loaded or stored twice, and a second round must
// find nothing to do. Besides, the remarks of coalesce. What the passes should decide for typical
// kernels stands in tests/ir/passes.
#include "layouts/attr.h"
#include "pass_session.h"
#include "random_kernel.h"
#include "suites.h"

#include <stdio.h>

// ---- consistency, in terms of linear layouts alone ----

struct audit {
  struct ir_context *c;
  unsigned conversions, loads, stores;
  char problem[256];
};

static const struct linear_layout *layout(struct audit *a, MlirValue v) {
  return linear_of_type(a->c, mlirValueGetType(v));
}

// Registers that repeat others may come and go between the two sides of a shape op.
static bool same_locations(const struct linear_layout *x, const struct linear_layout *y) {
  struct linear_layout a = ll_remove_zero_bases(x, LL_REGISTER);
  struct linear_layout b = ll_remove_zero_bases(y, LL_REGISTER);
  return ll_equal(&a, &b);
}

// Do the tiles among n values have one layout?
static bool alike(MlirOperation op, intptr_t n, MlirValue (*at)(MlirOperation, intptr_t),
                  MlirAttribute *first) {
  for (intptr_t i = 0; i < n; i++) {
    MlirType type = mlirValueGetType(at(op, i));
    if (!type_is_tensor(type))
      continue;
    if (mlirAttributeIsNull(*first))
      *first = tensor_encoding(type);
    if (mlirAttributeIsNull(*first) || !mlirAttributeEqual(*first, tensor_encoding(type)))
      return false;
  }
  return true;
}

static bool operands_agree(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumOperands(op), mlirOperationGetOperand, &first);
}

static bool results_agree(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumResults(op), mlirOperationGetResult, &first);
}

static bool elementwise_agrees(MlirOperation op) {
  MlirAttribute first = {NULL};
  return alike(op, mlirOperationGetNumOperands(op), mlirOperationGetOperand, &first) &&
         alike(op, mlirOperationGetNumResults(op), mlirOperationGetResult, &first);
}

static bool shape_op_agrees(struct audit *a, MlirOperation op) {
  MlirValue operand = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  struct linear_layout from = *layout(a, operand), to = *layout(a, result), moved;
  int32_t order[LL_MAX_OUT];
  unsigned dims[LL_MAX_OUT];
  switch (op_id(a->c, op)) {
  case OP_TILE_EXPAND_DIMS:
    moved = ll_insert_out(&from, (unsigned)op_attr_int(op, "axis", -1));
    return same_locations(&moved, &to);
  case OP_TILE_RESHAPE:
    return ll_reshape_outs(&from, to.out_count, to.out_bits, &moved) && ll_equal(&moved, &to);
  case OP_TILE_TRANS:
    op_attr_i32_array(op, "order", LL_MAX_OUT, order);
    for (unsigned d = 0; d < to.out_count; d++)
      dims[d] = (unsigned)order[d];
    moved = ll_transpose_outs(&from, dims);
    return ll_equal(&moved, &to);
  default: // broadcast
    return elementwise_agrees(op);
  }
}

// Where the halves of `tile` are: its pairs stand in neighbouring registers of one thread.
static bool halves_agree(const struct linear_layout *tile, const struct linear_layout *half) {
  unsigned last = tile->out_count - 1;
  int at = ll_find_in(tile, LL_REGISTER);
  struct linear_layout without = *tile;
  if (at < 0 || tile->in_bits[at] == 0 || tile->basis[at][0][last] != 1)
    return false;
  memset(without.basis[at][0], 0, sizeof(without.basis[at][0]));
  for (unsigned i = 0; i < tile->in_count; i++)
    for (unsigned b = 0; b < tile->in_bits[i]; b++)
      if (without.basis[i][b][last] != 0)
        return false;
  without = ll_remove_out(&without, last);
  return same_locations(&without, half);
}

// A reduction leaves its operands' layout without the axis; scalars come from any layout.
static bool reduce_agrees(struct audit *a, MlirOperation op) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (!mlirAttributeEqual(tensor_encoding(from),
                            tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, i)))))
      return false;
    if (!type_is_tensor(mlirValueGetType(result)))
      continue;
    struct linear_layout rest = *layout(a, mlirOperationGetOperand(op, 0));
    rest = ll_remove_out(&rest, (unsigned)op_attr_int(op, "axis", -1));
    if (!same_locations(&rest, layout(a, result)))
      return false;
  }
  return true;
}

static bool agrees(struct audit *a, MlirOperation op) {
  switch (op_id(a->c, op)) {
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_BROADCAST: return shape_op_agrees(a, op);
  case OP_TILE_REDUCE: return reduce_agrees(a, op);
  case OP_TILE_JOIN:
    return operands_agree(op) && halves_agree(layout(a, mlirOperationGetResult(op, 0)),
                                              layout(a, mlirOperationGetOperand(op, 0)));
  case OP_TILE_SPLIT:
    return results_agree(op) && halves_agree(layout(a, mlirOperationGetOperand(op, 0)),
                                             layout(a, mlirOperationGetResult(op, 0)));
  case OP_TILE_GATHER:
    return mlirAttributeEqual(tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, 1))),
                              tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0))));
  case OP_TILE_HISTOGRAM: return operands_agree(op);
  default: return !(op_flags(a->c, op) & (OP_EW | OP_ANCHOR)) || elementwise_agrees(op);
  }
}

static bool audit_op(MlirOperation op, void *user) {
  struct audit *a = user;
  enum op_id id = op_id(a->c, op);
  if (id == OP_GPU_CONVERT_LAYOUT) // other spellings of one layout cost nothing
    a->conversions += !ll_equal(layout(a, mlirOperationGetOperand(op, 0)),
                                layout(a, mlirOperationGetResult(op, 0)));
  a->loads += id == OP_TILE_LOAD;
  a->stores += id == OP_TILE_STORE || id == OP_TILE_ATOMIC_RMW;
  bool ok = true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (type_is_tensor(mlirValueGetType(mlirOperationGetResult(op, i))))
      ok &= layout(a, mlirOperationGetResult(op, i)) != NULL;
  ok = ok && agrees(a, op);
  if (!ok)
    snprintf(a->problem, sizeof(a->problem), "%s does not agree with itself", op_info(id)->name);
  return ok;
}

static struct audit check_module(struct pass_session *s, uint64_t seed, const char *after) {
  MlirOperation module = mlirModuleGetOperation(s->context.module);
  struct audit a = {.c = s->context.c};
  ir_walk(module, audit_op, &a);
  bool sound = a.problem[0] == '\0' && ir_verify(s->context.c, module);
  ck_assert_msg(sound, "kernel %llu after %s: %s%s", (unsigned long long)seed, after, a.problem,
                a.problem[0] ? "" : diag_first_error(s->diag));
  return a;
}

// ---- the passes one after another ----

START_TEST(random_kernels) {
  unsigned before = 0, after = 0;
  struct pass_session s = pass_session_open("module {}");
  for (uint64_t seed = (uint64_t)_i * 50 + 1; seed <= (uint64_t)_i * 50 + 50; seed++) {
    MlirLocation loc = mlirLocationUnknownGet(s.context.c->mlir);
    pass_session_replace(&s, mlirModuleCreateEmpty(loc));
    s.context.num_warps = 1u << seed % 4;
    random_kernel_build(&s, seed, false);
    ck_assert(ir_verify(s.context.c, mlirModuleGetOperation(s.context.module)));
    ck_assert(pass_assign_layouts(&s.context) == PASS_CHANGED);
    struct audit assigned = check_module(&s, seed, "assign-layouts");
    pass_coalesce(&s.context);
    struct audit coalesced = check_module(&s, seed, "coalesce");
    pass_remove_layout_conversions(&s.context);
    struct audit removed = check_module(&s, seed, "remove-layout-conversions");
    const char *once = pass_session_text(&s);
    ck_assert_msg(pass_remove_layout_conversions(&s.context) == PASS_UNCHANGED &&
                      strcmp(once, pass_session_text(&s)) == 0,
                  "kernel %llu: a second run finds something", (unsigned long long)seed);
    pass_reorder(&s.context);
    check_module(&s, seed, "reorder");
    ck_assert_uint_eq(removed.loads, assigned.loads);
    ck_assert_uint_eq(removed.stores, assigned.stores);
    before += coalesced.conversions;
    after += removed.conversions;
    ck_assert_msg(pass_reorder(&s.context) == PASS_UNCHANGED, "kernel %llu is reordered again",
                  (unsigned long long)seed);
  }
  pass_session_close(&s);
  // Not of every kernel: one conversion of a large tile may be traded for two of small ones.
  ck_assert_msg(after * 4 < before, "%u conversions of %u are left", after, before);
}
END_TEST

// ---- remarks ----

#define LOAD(offset)                                                                               \
  "module { func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = \"x\"}, "   \
  "%n: i32) attributes {tile.kernel} {\n"                                                          \
  "%r = \"tile.make_range\"() {end = 1024 : i32, start = 0 : i32} : () -> tensor<1024xi32>\n"      \
  "%ns = \"tile.splat\"(%n) : (i32) -> tensor<1024xi32>\n"                                         \
  "%shifted = arith.addi %r, %ns : tensor<1024xi32>\n"                                             \
  "%doubled = arith.addi %r, %r : tensor<1024xi32>\n"                                              \
  "%s = \"tile.splat\"(%x) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>\n"                    \
  "%a = \"tile.addptr\"(%s, " offset ") : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> "     \
  "tensor<1024x!tile.ptr<f32>>\n"                                                                  \
  "%v = \"tile.load\"(%a) {cache = \"\", evict = \"\", is_volatile = false, "                      \
  "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1024x!tile.ptr<f32>>) -> "                 \
  "tensor<1024xf32>\n"                                                                             \
  "return } }\n"

static const struct {
  const char *text, *want; // a part of the remark; NULL: no remark
} remarks[] = {
    {LOAD("%r"), NULL},
    {LOAD("%shifted"), "load of `x` is 1 element wide, not 4: the pointer's offset is "
                       "not known to be divisible by 4"},
    {LOAD("%doubled"),
     "load of `x` is 1 element wide, not 4: its addresses are not known to be consecutive"},
};

START_TEST(coalesce_remarks) {
  struct pass_session s = pass_session_open(remarks[_i].text);
  ck_assert(pass_assign_layouts(&s.context) == PASS_CHANGED);
  pass_coalesce(&s.context);
  struct strbuf text = {0};
  diag_render_text(s.diag, (struct diag_style){.remarks = true}, &text);
  if (remarks[_i].want)
    ck_assert_msg(strstr(strbuf_cstr(&text), remarks[_i].want) != NULL, "%s", strbuf_cstr(&text));
  else
    ck_assert_uint_eq(diag_count(s.diag), 0);
  strbuf_finish(&text);
  pass_session_close(&s);
}
END_TEST

TCase *layout_passes_tests(void) {
  TCase *t = tcase_create("layout_passes");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_kernels, 0, 8);
  tcase_add_loop_test(t, coalesce_remarks, 0, (int)COUNT_OF(remarks));
  return t;
}
