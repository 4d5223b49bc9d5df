// SPDX-License-Identifier: Apache-2.0
// optimize-dot-operands: the path of an operand from memory to a matrix product.
//
// Elementwise ops between a load and a product move after the conversion, if it then moves no more
// bytes: the conversion moves the elements as loaded, and can be an asynchronous copy (pipeline).
//
//   %x = load i8   %f = sitofp %x   %o = convert_layout %f : dot_op
//   ->   %x = load i8   %c = convert_layout %x : dot_op   %o = sitofp %c
//
// Row or column factors that are loaded are loaded in the layout of their use.
//
// A transposed operand is the transposed view of a buffer, shared by all products that use the
// tile.
//
//   %t = trans %x   %o = convert_layout %t : dot_op
//   ->   %b = local_alloc %x   %v = local_trans %b   %o = local_load %v : dot_op
//
// An operand that a loop does not change stays in registers when it is small; otherwise its buffer
// is read in every iteration.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "lowering/passes/layout_versions.h"
#include "lowering/passes/loop_rewrite.h"
#include "lowering/passes/users.h"
#include "mlir-dialects/build.h"

enum {             // chosen, not measured
  MAX_DEPTH = 12,  // operations between a load and a product that are moved
  FEW = 3,         // of them, where the conversion moves the same number of bytes
  KEPT_BITS = 2048 // of a thread, for an operand that waits for its iterations in registers
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) conversions; // to dot operands
  VEC(MlirOperation) dots;
  struct map buffers;               // MlirValue.ptr -> MlirOperation.ptr of its local_alloc
  struct layout_versions *versions; // of addresses
  bool changed;
};

static MlirType type_of(MlirValue v) { return mlirValueGetType(v); }
static MlirAttribute layout_of(MlirValue v) { return tensor_encoding(type_of(v)); }
static MlirValue result_of(MlirOperation op) { return mlirOperationGetResult(op, 0); }

static bool is_def(struct state *s, MlirValue v, enum op_id id) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(s->c, def, id);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_TILE_DOT))
    vec_push(s->p->scratch, &s->dots, op);
  if (op_is(s->c, op, OP_GPU_CONVERT_LAYOUT) &&
      layout_is_dot_operand(s->c, layout_of(result_of(op))))
    vec_push(s->p->scratch, &s->conversions, op);
  return true;
}

// After everything that does not depend on the operand of the product.
static struct builder builder_at_user(struct state *s, MlirOperation conversion) {
  MlirOperation user = op_first_user(conversion);
  struct builder b = builder_before(s->c, mlirOperationIsNull(user) ? conversion : user);
  b.loc = mlirOperationGetLocation(conversion);
  return b;
}

static bool goes_through_memory(struct state *s, MlirOperation conversion) {
  return layout_convert_kind(s->c, type_of(mlirOperationGetOperand(conversion, 0)),
                             layout_of(result_of(conversion))) == CONVERT_SHARED;
}

// ---- computing after the conversion ----

// The tiles that would be converted instead of an operand.
struct survey {
  MlirBlock block;
  int64_t bits;        // of the tiles that would be converted
  unsigned operations; // that would move
  unsigned transposed; // transpositions on the way
  bool spread;         // with a vector that is broadcast
};

static bool is_slow(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_TILE_MAP:
  case OP_TILE_INLINE_ASM:
  case OP_ARITH_DIVF:
  case OP_ARITH_REMF:
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI:
  case OP_TILE_PRECISE_DIVF:
  case OP_TILE_PRECISE_SQRT:
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_SQRT:
  case OP_MATH_RSQRT:
  case OP_MATH_TANH: return true;
  default: return false;
  }
}

static bool is_splat(struct ir_context *c, MlirOperation op) {
  if (op_is(c, op, OP_ARITH_CONSTANT))
    return mlirDenseElementsAttrIsSplat(op_attr(op, "value"));
  return op_is(c, op, OP_TILE_SPLAT);
}

// Is `v` computed from loads of its own block by operations that may run after the conversion?
static bool can_follow(struct state *s, MlirValue v, struct survey *y, unsigned depth);

static bool operands_can_follow(struct state *s, MlirOperation op, struct survey *y,
                                unsigned depth) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (type_is_tensor(type_of(operand)) && !can_follow(s, operand, y, depth + 1))
      return false;
  }
  return true;
}

// Factors of rows or columns: a loaded vector, expanded and broadcast.
static bool is_spread_load(struct state *s, MlirOperation op, struct survey *y) {
  while (op_is(s->c, op, OP_TILE_BROADCAST) || op_is(s->c, op, OP_TILE_EXPAND_DIMS) ||
         (op_flags(s->c, op) & OP_EW)) {
    if (mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1 ||
        is_slow(s->c, op))
      return false;
    op = value_def(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), y->block))
      return false;
  }
  return op_is(s->c, op, OP_TILE_LOAD) && !op_attr_bool(op, "is_volatile") &&
         tensor_rank(type_of(result_of(op))) == 1;
}

static bool can_follow(struct state *s, MlirValue v, struct survey *y, unsigned depth) {
  MlirOperation def = value_def(v);
  MlirType type = type_of(v);
  if (mlirOperationIsNull(def))
    return false;
  if (is_splat(s->c, def))
    return true;
  if (depth > MAX_DEPTH || !mlirBlockEqual(mlirOperationGetBlock(def), y->block))
    return false;
  if (op_is(s->c, def, OP_TILE_LOAD)) {
    y->bits += tensor_numel(type) * type_bits(s->c, element_type(type));
    return type_bits(s->c, element_type(type)) >= 8;
  }
  if (op_is(s->c, def, OP_TILE_BROADCAST)) {
    y->spread = true;
    return is_spread_load(s, def, y);
  }
  bool is_trans = op_is(s->c, def, OP_TILE_TRANS);
  if (mlirOperationGetNumResults(def) != 1 || is_slow(s->c, def) ||
      !(is_trans || (op_flags(s->c, def) & OP_EW)) || (is_trans && y->transposed++ > 0))
    return false;
  y->operations += !is_trans;
  return operands_can_follow(s, def, y, depth);
}

// Rebuilds a chain of operations after a conversion to `like`, on tiles of its shape and layout. A
// transposition in the chain (`trans`, else null) comes last.
struct rebuilt {
  struct builder b;
  MlirType like;
};

// `trans` applied to the loaded tile.
static MlirValue transpose_back(struct state *s, struct rebuilt *r, MlirValue loaded, MlirType type,
                                MlirOperation trans) {
  MlirOperation copy = mlirOperationClone(trans);
  mlirOperationSetOperand(copy, 0, loaded);
  mlirValueSetType(result_of(copy),
                   type_with_encoding(type, layout_of_result(s->c, copy, layout_of(loaded))));
  mlirBlockInsertOwnedOperationBefore(r->b.block, r->b.before, copy);
  return result_of(copy);
}

// A broadcast load in layout `encoding`: loaded again in the layout for it, which takes neither
// shared memory nor barriers.
static MlirValue spread(struct state *s, struct rebuilt *r, MlirValue v, MlirAttribute encoding) {
  MlirOperation def = value_def(v), copy = mlirOperationClone(def);
  bool loads = op_is(s->c, def, OP_TILE_LOAD);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    MlirValue operand = mlirOperationGetOperand(def, i);
    if (!type_is_tensor(type_of(operand)))
      continue;
    MlirAttribute need = layout_of_operand(s->c, def, encoding, layout_of(operand));
    mlirOperationSetOperand(copy, i,
                            loads ? layout_version(s->versions, operand, encoding)
                                  : spread(s, r, operand, need));
  }
  layout_set(s->c, result_of(copy), encoding);
  if (loads) // after its addresses
    mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(def), def, copy);
  else
    mlirBlockInsertOwnedOperationBefore(r->b.block, r->b.before, copy);
  return result_of(copy);
}

static MlirValue rebuild(struct state *s, struct rebuilt *r, MlirValue v, MlirOperation trans) {
  MlirOperation def = value_def(v), copy;
  MlirType type = type_with_element(r->like, element_type(type_of(v)));
  if (op_is(s->c, def, OP_TILE_TRANS))
    return rebuild(s, r, mlirOperationGetOperand(def, 0), def);
  if (op_is(s->c, def, OP_TILE_BROADCAST))
    return spread(s, r, v, tensor_encoding(r->like));
  if (op_is(s->c, def, OP_TILE_LOAD)) {
    v = mlirOperationIsNull(trans) ? v : transpose_back(s, r, v, type, trans);
    return build_convert_layout(&r->b, v, tensor_encoding(r->like));
  }
  copy = mlirOperationClone(def);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    MlirValue operand = mlirOperationGetOperand(def, i);
    if (type_is_tensor(type_of(operand)))
      mlirOperationSetOperand(copy, i, rebuild(s, r, operand, trans));
  }
  mlirValueSetType(result_of(copy), type);
  if (op_is(s->c, def, OP_ARITH_CONSTANT))
    mlirOperationSetAttributeByName(copy, mlirStringRefCreateFromCString("value"),
                                    mlirDenseElementsAttrReshapeGet(op_attr(def, "value"), type));
  mlirBlockInsertOwnedOperationBefore(r->b.block, r->b.before, copy);
  return result_of(copy);
}

// wgmma reads B from shared memory: nothing can be computed between the two.
static bool is_read_in_memory(struct state *s, MlirValue operand) {
  const struct encoding *e = encoding_of_attr(s->c, layout_of(operand));
  return e->dot.op_idx == 1 && e->dot.parent->kind == ENC_MMA && e->dot.parent->mma.version == 3;
}

static void compute_behind(struct state *s, MlirOperation conversion) {
  MlirValue v = mlirOperationGetOperand(conversion, 0);
  MlirType type = type_of(v);
  int64_t bits = tensor_numel(type) * type_bits(s->c, element_type(type));
  struct survey y = {.block = mlirOperationGetBlock(conversion)};
  if (is_read_in_memory(s, result_of(conversion)))
    return;
  if (!goes_through_memory(s, conversion) || !can_follow(s, v, &y, 0) || y.operations == 0 ||
      (y.spread && y.transposed) || y.bits == 0 || y.bits > bits ||
      (y.bits == bits && y.operations > FEW))
    return;
  struct rebuilt r = {.b = builder_before(s->c, conversion),
                      .like = type_of(result_of(conversion))};
  MlirValue moved = rebuild(s, &r, v, (MlirOperation){NULL});
  value_replace(result_of(conversion), moved);
  op_erase(conversion);
  s->changed = true;
}

// ---- buffers ----

// Right after the definition of `x`. All products that use `x` share it.
static MlirValue buffer_of(struct state *s, MlirValue x, MlirAttribute layout) {
  MlirOperation alloc = {ptrmap_get(&s->buffers, x.ptr)};
  if (!mlirOperationIsNull(alloc))
    return result_of(alloc);
  struct builder b = builder_after(s->c, value_def(x));
  MlirValue buffer = build_local_alloc(&b, x, type_with_encoding(type_of(x), layout));
  ptrmap_put(s->p->scratch, &s->buffers, x.ptr, value_def(buffer).ptr);
  return buffer;
}

static void replace_by_load(struct state *s, MlirOperation op, MlirValue buffer) {
  struct builder b = builder_at_user(s, op);
  MlirValue result = result_of(op);
  value_replace(result, build_local_load(&b, buffer, layout_of(result)));
  op_erase(op);
  s->changed = true;
}

// The layout of a tile whose transposed view has layout `e`.
static MlirAttribute untransposed(struct state *s, MlirAttribute e, const int32_t *order) {
  struct encoding x = *encoding_of_attr(s->c, e);
  uint32_t own[LL_MAX_OUT];
  if (x.kind == ENC_NVMMA_SHARED) {
    x.nvmma.transposed = !x.nvmma.transposed;
    return encoding_attr(s->c, &x);
  }
  for (unsigned k = 0; k < x.rank; k++)
    own[k] = (uint32_t)order[x.shared.order[k]];
  memcpy(x.shared.order, own, sizeof own);
  return encoding_attr(s->c, &x);
}

static MlirAttribute transposed_layout(struct state *s, MlirAttribute e, const int32_t *order) {
  int32_t inverse[LL_MAX_OUT];
  const struct encoding *x = encoding_of_attr(s->c, e);
  for (unsigned d = 0; d < x->rank; d++)
    inverse[order[d]] = (int32_t)d;
  return untransposed(s, e, inverse);
}

static void read_transposed(struct state *s, MlirOperation conversion) {
  MlirValue t = mlirOperationGetOperand(conversion, 0);
  int32_t order[LL_MAX_OUT];
  if (!is_def(s, t, OP_TILE_TRANS) || !goes_through_memory(s, conversion))
    return;
  MlirOperation trans = value_def(t);
  MlirValue x = mlirOperationGetOperand(trans, 0);
  if (is_def(s, x, OP_GPU_CONVERT_LAYOUT))
    x = mlirOperationGetOperand(value_def(x), 0); // the buffer is as good
  op_attr_i32_array(trans, "order", LL_MAX_OUT, order);
  if (mlirOperationIsNull(value_def(x)))
    return;
  MlirAttribute view = layout_dot_buffer(s->c, type_of(t), layout_of(result_of(conversion)));
  MlirValue buffer = buffer_of(s, x, untransposed(s, view, order));
  MlirAttribute own = tensor_encoding(memdesc_tile(s->c, type_of(buffer)));
  struct builder b = builder_at_user(s, conversion);
  MlirType type = type_with_encoding(type_of(t), transposed_layout(s, own, order));
  replace_by_load(s, conversion, build_local_trans(&b, buffer, type, order));
}

// A tile that has a buffer for its transposed view is also read from there untransposed.
static void read_as_it_is(struct state *s, MlirOperation conversion) {
  MlirValue x = mlirOperationGetOperand(conversion, 0);
  MlirOperation alloc = {ptrmap_get(&s->buffers, x.ptr)};
  if (!mlirOperationIsNull(alloc) && goes_through_memory(s, conversion))
    replace_by_load(s, conversion, result_of(alloc));
}

// ---- operands that a loop does not change ----

static MlirOperation loop_around(struct state *s, MlirOperation op) {
  op = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(op) && !op_is(s->c, op, OP_SCF_FOR) && !op_is(s->c, op, OP_SCF_WHILE))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static void reload_in_loop(struct state *s, MlirOperation dot, intptr_t i) {
  MlirValue operand = mlirOperationGetOperand(dot, i);
  MlirOperation loop = loop_around(s, dot), def = value_def(operand);
  if (mlirOperationIsNull(loop) || mlirOperationIsNull(def) || loop_defines(loop, operand))
    return;
  bool converts = op_is(s->c, def, OP_GPU_CONVERT_LAYOUT);
  bool reads = op_is(s->c, def, OP_GPU_LOCAL_LOAD);
  MlirType type = type_of(operand);
  if ((!converts && !reads) || (converts && !goes_through_memory(s, def)) ||
      layout_registers(s->c, type) * type_bits(s->c, element_type(type)) <= KEPT_BITS)
    return;
  MlirValue from = mlirOperationGetOperand(def, 0);
  MlirValue buffer = from;
  if (converts) {
    if (mlirOperationIsNull(value_def(from)))
      return;
    buffer = buffer_of(s, from, layout_dot_buffer(s->c, type_of(from), layout_of(operand)));
  }
  struct builder b = builder_before(s->c, dot);
  mlirOperationSetOperand(dot, i, build_local_load(&b, buffer, layout_of(operand)));
  if (!value_has_uses(operand))
    op_erase(def);
  s->changed = true;
}

// ---- the pass ----

static void visit_conversions(struct state *s, MlirOperation module,
                              void (*fn)(struct state *, MlirOperation)) {
  s->conversions.len = s->dots.len = 0;
  ir_walk(module, collect, s);
  for (size_t i = 0; i < s->conversions.len; i++)
    fn(s, s->conversions.at[i]);
}

enum pass_result pass_optimize_dot_operands(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  MlirOperation module = mlirModuleGetOperation(p->module);
  s.versions = layout_versions_begin(p->c, p->scratch);
  visit_conversions(&s, module, compute_behind);
  layout_versions_finish(s.versions);
  visit_conversions(&s, module, read_transposed);
  visit_conversions(&s, module, read_as_it_is);
  for (size_t i = 0; i < s.dots.len; i++)
    for (intptr_t k = 0; k < 2; k++)
      reload_in_loop(&s, s.dots.at[i], k);
  if (s.changed)
    ir_erase_dead(s.c, module);
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
