// SPDX-License-Identifier: Apache-2.0
// assign-layouts: from `tile` to `tilegpu`. Every tile gets the default blocked layout of its
// shape, so elementwise ops need no conversions; around shape ops and reductions, whose operand and
// result layouts depend on each other, conversions are inserted. Later passes choose better layouts
// and remove them.
//
//   %e = tile.expand_dims %r {axis = 1}        %c = tilegpu.convert_layout %r : blocked -> slice<1>
//                                        =>    %e = tile.expand_dims %c {axis = 1}
//
// A matrix product gets layouts for fma: the accumulator is blocked, with a square of elements per
// thread, and the operands are dot_op of it.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct state {
  struct pass_context *p;
  VEC(MlirOperation) shape_ops, dots;
};

static void assign(struct state *s, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  if (!type_is_tensor(type) || !mlirAttributeIsNull(tensor_encoding(type)))
    return;
  layout_set(s->p->c, v, layout_default(s->p->c, type, s->p->num_warps));
}

// The type of a function follows its arguments; its results get the default layouts.
static void retype_function(struct state *s, MlirOperation func) {
  struct ir_context *c = s->p->c;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirAttribute attr = op_attr(func, "function_type");
  if (mlirBlockIsNull(entry) || mlirAttributeIsNull(attr))
    return;
  MlirType old = mlirTypeAttrGetValue(attr);
  intptr_t arg_count = mlirBlockGetNumArguments(entry);
  intptr_t result_count = mlirFunctionTypeGetNumResults(old);
  MlirType *args = arena_array(s->p->scratch, MlirType, (size_t)arg_count + 1);
  MlirType *results = arena_array(s->p->scratch, MlirType, (size_t)result_count + 1);
  for (intptr_t i = 0; i < arg_count; i++)
    args[i] = mlirValueGetType(mlirBlockGetArgument(entry, i));
  for (intptr_t i = 0; i < result_count; i++) {
    results[i] = mlirFunctionTypeGetResult(old, i);
    if (type_is_tensor(results[i]) && mlirAttributeIsNull(tensor_encoding(results[i])))
      results[i] = type_with_encoding(results[i], layout_default(c, results[i], s->p->num_warps));
  }
  MlirType type = mlirFunctionTypeGet(c->mlir, arg_count, args, result_count, results);
  mlirOperationSetAttributeByName(func, mlirStringRefCreateFromCString("function_type"),
                                  mlirTypeAttrGet(type));
}

static bool assign_op(MlirOperation op, void *user) {
  struct state *s = user;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    assign(s, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
        assign(s, mlirBlockGetArgument(block, i));
  }
  switch (op_id(s->p->c, op)) {
  case OP_FUNC_FUNC: retype_function(s, op); return true;
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_REDUCE:
  case OP_TILE_JOIN:
  case OP_TILE_SPLIT: vec_push(s->p->scratch, &s->shape_ops, op); return true;
  case OP_TILE_DOT: vec_push(s->p->scratch, &s->dots, op); return true;
  default: return true;
  }
}

// expand_dims, broadcast and split need their operand in the layout given by the result.
static void convert_operand(struct state *s, MlirOperation op) {
  struct ir_context *c = s->p->c;
  MlirValue operand = mlirOperationGetOperand(op, 0);
  MlirAttribute now = tensor_encoding(mlirValueGetType(operand));
  MlirAttribute result = tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0)));
  MlirAttribute need = layout_is_foreign(c, op) ? layout_of_pair(c, s->p->num_warps)
                                                : layout_of_operand(c, op, result, now);
  if (mlirAttributeEqual(now, need))
    return;
  struct builder b = builder_before(c, op);
  mlirOperationSetOperand(op, 0, build_convert_layout(&b, operand, need));
}

// reshape, trans, join and reduce do not move elements; their results are converted to the default.
static void convert_results(struct state *s, MlirOperation op) {
  struct ir_context *c = s->p->c;
  MlirType operand = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!type_is_tensor(type))
    return; // reduced to scalars
  MlirAttribute want = tensor_encoding(type);
  MlirAttribute have = layout_is_foreign(c, op) ? layout_of_pair(c, s->p->num_warps)
                                                : layout_of_result(c, op, tensor_encoding(operand));
  if (mlirAttributeIsNull(have) || mlirAttributeEqual(have, want))
    return;
  for (intptr_t i = mlirOperationGetNumResults(op); i-- > 0;) {
    MlirValue result = mlirOperationGetResult(op, i);
    layout_set(c, result, have);
    struct builder b = builder_after(c, op);
    MlirValue converted = build_convert_layout(&b, result, want);
    mlirValueReplaceAllUsesOfWith(result, converted);
    mlirOperationSetOperand(value_def(converted), 0, result);
  }
}

// ---- matrix products ----

enum { SQUARE = 4, LANES_ALONG_N = 8 };

// How often a tile of a product repeats along each dimension.
struct repetition {
  unsigned rank;
  int64_t left[LL_MAX_OUT];
};

// The dimension along which to double lanes or warps: products of a batch share nothing, so the
// batch first; within a product, a thread's part should be square. Beyond the tile, rows are
// replicated.
static unsigned next_dim(const struct repetition *r) {
  unsigned m = r->rank - 2, n = r->rank - 1;
  if (r->rank == 3 && r->left[0] > 1)
    return 0;
  return r->left[n] > r->left[m] ? n : m;
}

static void deal(struct repetition *r, unsigned d, uint32_t *count) {
  count[d] *= 2;
  r->left[d] = r->left[d] > 1 ? r->left[d] / 2 : 1;
}

// Each operand element that a thread loads is used once for every row or column it has. Eight
// neighbouring lanes read 128 bytes of B at once.
static MlirAttribute layout_of_product(struct ir_context *c, MlirType acc, uint32_t num_warps) {
  struct encoding e = {.kind = ENC_BLOCKED, .rank = tensor_rank(acc)};
  struct repetition r = {.rank = e.rank};
  int64_t share = tensor_numel(acc) / (32 * (int64_t)num_warps);
  uint32_t side = 1;
  while (side < SQUARE && 4 * (int64_t)side * side <= share)
    side *= 2;
  for (unsigned d = 0; d < e.rank; d++) {
    int64_t size = tensor_dim(acc, d), own = d + 2 < e.rank ? 1 : side < size ? side : size;
    r.left[d] = size / own;
    e.blocked.size_per_thread[d] = (uint32_t)own;
    e.blocked.threads_per_warp[d] = e.blocked.warps_per_cta[d] = 1;
    e.blocked.order[d] = e.rank - 1 - d;
  }
  for (uint32_t lanes = 1; lanes < 32; lanes *= 2) {
    bool row = lanes < LANES_ALONG_N && r.left[e.rank - 1] > 1;
    deal(&r, row ? e.rank - 1 : next_dim(&r), e.blocked.threads_per_warp);
  }
  for (uint32_t warps = 1; warps < num_warps; warps *= 2)
    deal(&r, next_dim(&r), e.blocked.warps_per_cta);
  return encoding_attr(c, &e);
}

static void convert_dot(struct state *s, MlirOperation op) {
  struct ir_context *c = s->p->c;
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirAttribute given = tensor_encoding(mlirValueGetType(result));
  MlirAttribute own = layout_of_product(c, mlirValueGetType(result), s->p->num_warps);
  struct builder before = builder_before(c, op), after = builder_after(c, op);
  for (intptr_t i = 0; i < 3; i++) {
    MlirAttribute need = i == 2 ? own : layout_dot_operand(c, own, (unsigned)i, 1);
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (!mlirAttributeEqual(tensor_encoding(mlirValueGetType(operand)), need))
      mlirOperationSetOperand(op, i, build_convert_layout(&before, operand, need));
  }
  if (mlirAttributeEqual(own, given))
    return;
  layout_set(c, result, own);
  MlirValue back = build_convert_layout(&after, result, given);
  mlirValueReplaceAllUsesOfWith(result, back);
  mlirOperationSetOperand(value_def(back), 0, result);
}

static void set_module_attributes(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  struct ir_context *c = p->c;
  mlirOperationSetAttributeByName(module, mlirStringRefCreateFromCString("tilegpu.num_warps"),
                                  attr_i32(c, (int32_t)p->num_warps));
  mlirOperationSetAttributeByName(
      module, mlirStringRefCreateFromCString("tilegpu.threads_per_warp"), attr_i32(c, 32));
  mlirOperationSetAttributeByName(module, mlirStringRefCreateFromCString("tilegpu.target"),
                                  attr_str(c, p->target->name));
}

enum pass_result pass_assign_layouts(struct pass_context *p) {
  struct state s = {.p = p};
  set_module_attributes(p);
  ir_walk(mlirModuleGetOperation(p->module), assign_op, &s);
  for (size_t i = 0; i < s.shape_ops.len; i++) {
    MlirOperation op = s.shape_ops.at[i];
    if (op_is(p->c, op, OP_TILE_EXPAND_DIMS) || op_is(p->c, op, OP_TILE_BROADCAST) ||
        op_is(p->c, op, OP_TILE_SPLIT))
      convert_operand(&s, op);
    else
      convert_results(&s, op);
  }
  for (size_t i = 0; i < s.dots.len; i++)
    convert_dot(&s, s.dots.at[i]);
  return PASS_CHANGED;
}
