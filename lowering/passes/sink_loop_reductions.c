// SPDX-License-Identifier: Apache-2.0
// sink-loop-reductions: a loop that reduces a tile in every iteration, only to combine the result
// with what it carries, combines tiles element by element instead and reduces once, after the loop.
// Threads then communicate once.
//
//   %a = scf.for iter_args(%acc = %init) {          %t = scf.for iter_args(%acc = neutral tile) {
//     %r = tile.reduce %x {add}              ->        %n = addf %acc, %x
//     %n = addf %acc, %r                               yield %n
//     yield %n                                       %r = tile.reduce %t {add}
//                                                    %a = addf %init, %r
//
// The combination must be one associative operation; sums of floats are added in another order, as
// they are within any reduction. The attribute tile.keep_order on the loop or the reduction forbids
// it.
//
// Sums of rows that are rescaled in every iteration, as in attention, stay 8 columns wide until the
// loop ends: a thread's elements of a product's row are 8 columns apart, so that sums in the loop
// stay in the thread.
//
//   %r = reduce %x {add, axis = 1}           %y = reshape %x : 64x32 -> 64x4x8
//   %s = mulf %acc, %f                  ->   %r = reduce %y {add, axis = 1}         : 64x8
//   yield addf %s, %r                        %s = mulf %acc, broadcast %f
//                                            yield addf %s, %r          reduced behind the loop
#include "base/vec.h"
#include "lowering/analysis/collective.h"
#include "lowering/pass.h"
#include "lowering/passes/loop_rewrite.h"
#include "mlir-dialects/build.h"

#include <math.h>

// Chosen, not measured by themselves. Gains of the pass: docs/performance.md.
enum {
  MAX_ELEMENTS = 64, // elements per thread of a carried tile: more would spill
  MAX_HELD = 128,    // elements per thread of carried tiles and of the summands
  COLUMNS = 8        // of the accumulator of one matrix instruction
};

struct locality {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) loops; // inner ones first, then in their order
  bool changed;
};

// A carried value whose only use is the combination with a reduction.
struct chain {
  intptr_t at;           // its index among the carried values
  MlirOperation combine; // %n
  MlirOperation reduce;  // %r
  enum op_id id;         // of both
};

static MlirOperation no_op(void) { return (MlirOperation){NULL}; }

// n with x combined with it is x, for every x.
static MlirValue neutral(struct builder *b, enum op_id id, MlirType type) {
  unsigned bits = type_bits(b->c, element_type(type));
  int64_t highest = bits < 64 ? ((int64_t)1 << (bits - 1)) - 1 : INT64_MAX;
  switch (id) {
  case OP_ARITH_MULI: return build_const_int(b, type, 1);
  case OP_ARITH_ANDI:
  case OP_ARITH_MINUI: return build_const_int(b, type, -1);
  case OP_ARITH_MAXSI: return build_const_int(b, type, -highest - 1);
  case OP_ARITH_MINSI: return build_const_int(b, type, highest);
  case OP_ARITH_ADDF: return build_const_float(b, type, -0.0);
  case OP_ARITH_MULF: return build_const_float(b, type, 1.0);
  case OP_ARITH_MAXNUMF: // the number wins over NaN
  case OP_ARITH_MINNUMF: return build_const_float(b, type, (double)NAN);
  case OP_ARITH_MAXIMUMF: return build_const_float(b, type, -(double)INFINITY);
  case OP_ARITH_MINIMUMF: return build_const_float(b, type, (double)INFINITY);
  default: return build_const_int(b, type, 0);
  }
}

// ---- finding ----

// The only user of `v`; null if there are more or none.
static MlirOperation only_user(MlirValue v) {
  return value_use_count(v) == 1 ? mlirOpOperandGetOwner(mlirValueGetFirstUse(v)) : no_op();
}

static bool is_in(MlirOperation op, MlirBlock block) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), block);
}

// The operation that the reduction's function applies to its two arguments, or unknown.
static enum op_id combination_of(struct ir_context *c, MlirOperation reduce) {
  MlirOperation f = op_function(c, reduce, "combine");
  if (mlirOperationIsNull(f) || mlirOperationGetNumOperands(reduce) != 1)
    return OP_UNKNOWN;
  MlirBlock body = loop_body(f);
  MlirOperation op = mlirBlockGetFirstOperation(body), end = mlirBlockGetTerminator(body);
  if (mlirOperationEqual(op, end) || !mlirOperationEqual(mlirOperationGetNextInBlock(op), end) ||
      mlirOperationGetNumOperands(op) != 2 || mlirOperationGetNumResults(op) != 1 ||
      !mlirValueEqual(mlirOperationGetOperand(end, 0), mlirOperationGetResult(op, 0)))
    return OP_UNKNOWN;
  MlirValue a = mlirBlockGetArgument(body, 0), b = mlirBlockGetArgument(body, 1);
  MlirValue x = mlirOperationGetOperand(op, 0), y = mlirOperationGetOperand(op, 1);
  bool both = (mlirValueEqual(x, a) && mlirValueEqual(y, b)) ||
              (mlirValueEqual(x, b) && mlirValueEqual(y, a));
  return both ? op_id(c, op) : OP_UNKNOWN;
}

static bool find_chain(struct locality *l, MlirOperation loop, intptr_t at, struct chain *ret) {
  MlirBlock body = loop_body(loop);
  MlirValue acc = mlirBlockGetArgument(body, at + 1);
  MlirOperation combine = only_user(acc);
  if (!is_in(combine, body) || !combine_is_free(op_id(l->c, combine)))
    return false;
  MlirValue result = mlirOperationGetResult(combine, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (value_use_count(result) != 1 || !mlirValueEqual(mlirOperationGetOperand(yield, at), result))
    return false;
  bool first = mlirValueEqual(mlirOperationGetOperand(combine, 0), acc);
  MlirOperation reduce = value_def(mlirOperationGetOperand(combine, first ? 1 : 0));
  if (!is_in(reduce, body) || !op_is(l->c, reduce, OP_TILE_REDUCE) ||
      combination_of(l->c, reduce) != op_id(l->c, combine) ||
      mlirOperationIsNull(only_user(mlirOperationGetResult(reduce, 0))))
    return false;
  *ret = (struct chain){at, combine, reduce, op_id(l->c, combine)};
  return true;
}

static bool keeps_order(MlirOperation op) {
  return !mlirAttributeIsNull(op_attr(op, "tile.keep_order"));
}

// False, with a remark, when the rewrite does not pay off.
static bool is_welcome(struct locality *l, MlirOperation loop, const struct chain *k) {
  MlirValue x = mlirOperationGetOperand(k->reduce, 0);
  long long elements = tensor_numel(mlirValueGetType(x)) / ((int64_t)l->p->num_warps * 32);
  if (keeps_order(loop) || keeps_order(k->reduce)) {
    pass_remark(l->p, k->reduce, "reduce",
                "reduces in every iteration: `tile.keep_order` asks for it");
    return false;
  }
  if (elements > MAX_ELEMENTS) {
    pass_remark(l->p, k->reduce, "reduce",
                "reduces in every iteration: a tile of %lld elements a thread would be carried",
                elements);
    return false;
  }
  return loop_defines(loop, x); // an invariant is reduced once anyway
}

// ---- rewriting ----

static MlirOperation rewrite(struct locality *l, MlirOperation loop, const struct chain *k) {
  MlirBlock body = loop_body(loop);
  MlirValue acc = mlirBlockGetArgument(body, k->at + 1);
  MlirValue x = mlirOperationGetOperand(k->reduce, 0);
  MlirValue init = mlirOperationGetOperand(loop, k->at + 3);
  MlirType type = mlirValueGetType(x);
  struct builder before = builder_before(l->c, loop);
  mlirOperationSetOperand(loop, k->at + 3, neutral(&before, k->id, type));
  mlirValueSetType(acc, type);
  struct builder inside = builder_before(l->c, k->combine);
  MlirValue next = build_binary(&inside, k->id, acc, x);
  mlirOperationSetOperand(mlirBlockGetTerminator(body), k->at, next);
  op_erase(k->combine);
  mlirOperationRemoveFromParent(k->reduce);
  MlirOperation wide = loop_rebuild(loop, l->p->scratch);
  MlirValue carried = mlirOperationGetResult(wide, k->at);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(wide), wide, k->reduce);
  struct builder after = builder_after(l->c, k->reduce);
  MlirValue total = build_binary(&after, k->id, init, mlirOperationGetResult(k->reduce, 0));
  value_replace(carried, total);
  mlirOperationSetOperand(k->reduce, 0, carried);
  return wide;
}

// ---- sums of rows that are rescaled ----

struct rescaled {
  intptr_t at;
  MlirOperation add, scale, reduce;
  MlirValue factor;
};

// The other operand of an operation with two, one of which is `v`.
static MlirValue beside(MlirOperation op, MlirValue v) {
  bool first = mlirValueEqual(mlirOperationGetOperand(op, 0), v);
  return mlirOperationGetOperand(op, first ? 1 : 0);
}

// Elements of a tensor-core product, and elementwise ops on them.
static bool comes_of_product(struct locality *l, struct map *seen, MlirBlock body, MlirValue v) {
  MlirOperation def = value_def(v);
  if (!is_in(def, body) || ptrmap_get(seen, def.ptr))
    return false;
  ptrmap_put(l->p->scratch, seen, def.ptr, l);
  if (op_is(l->c, def, OP_TILE_DOT)) {
    MlirType operand = mlirValueGetType(mlirOperationGetOperand(def, 0));
    return type_bits(l->c, element_type(operand)) <= 16;
  }
  bool found = false;
  for (intptr_t i = 0; (op_flags(l->c, def) & OP_EW) && i < mlirOperationGetNumOperands(def); i++)
    found = found || comes_of_product(l, seen, body, mlirOperationGetOperand(def, i));
  return found;
}

static bool sums_rows(struct locality *l, MlirOperation reduce) {
  if (!op_is(l->c, reduce, OP_TILE_REDUCE) || combination_of(l->c, reduce) != OP_ARITH_ADDF ||
      keeps_order(reduce) || mlirOperationIsNull(only_user(mlirOperationGetResult(reduce, 0))))
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(reduce, 0));
  return tensor_rank(type) == 2 && op_attr_int(reduce, "axis", 0) == 1 &&
         tensor_dim(type, 1) >= 2 * COLUMNS;
}

static int64_t elements_held(struct locality *l, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  return type_is_tensor(type) ? tensor_numel(type) / ((int64_t)l->p->num_warps * 32) : 0;
}

// Not where registers are short.
static bool has_room(struct locality *l, MlirOperation loop, MlirOperation reduce) {
  int64_t held = elements_held(l, mlirOperationGetOperand(reduce, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); i++)
    if (elements_held(l, mlirOperationGetResult(loop, i)) > 1)
      held += elements_held(l, mlirOperationGetResult(loop, i));
  return held <= MAX_HELD;
}

static bool find_rescaled(struct locality *l, MlirOperation loop, intptr_t at,
                          struct rescaled *ret) {
  MlirBlock body = loop_body(loop);
  MlirValue acc = mlirBlockGetArgument(body, at + 1);
  MlirOperation scale = only_user(acc), yield = mlirBlockGetTerminator(body);
  if (!is_in(scale, body) || !op_is(l->c, scale, OP_ARITH_MULF) || keeps_order(loop))
    return false;
  MlirValue scaled = mlirOperationGetResult(scale, 0);
  MlirOperation add = only_user(scaled);
  if (!is_in(add, body) || !op_is(l->c, add, OP_ARITH_ADDF) ||
      !mlirOperationEqual(only_user(mlirOperationGetResult(add, 0)), yield) ||
      !mlirValueEqual(mlirOperationGetOperand(yield, at), mlirOperationGetResult(add, 0)))
    return false;
  MlirOperation reduce = value_def(beside(add, scaled));
  struct map seen = {0};
  if (!is_in(reduce, body) || !sums_rows(l, reduce) || !has_room(l, loop, reduce) ||
      !comes_of_product(l, &seen, body, mlirOperationGetOperand(reduce, 0)))
    return false;
  *ret = (struct rescaled){at, add, scale, reduce, beside(scale, acc)};
  return true;
}

// Rows of `v`, repeated along the columns.
static MlirValue widened(struct builder *b, MlirValue v) {
  int64_t shape[2] = {tensor_dim(mlirValueGetType(v), 0), COLUMNS};
  return build_broadcast(b, build_expand_dims(b, v, 1), 2, shape);
}

static MlirValue sum_of(struct builder *b, MlirOperation like, MlirValue x, MlirType type) {
  MlirOperation copy = mlirOperationClone(like);
  mlirOperationSetOperand(copy, 0, x);
  mlirValueSetType(mlirOperationGetResult(copy, 0), type);
  mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
  return mlirOperationGetResult(copy, 0);
}

// Is `v` the sum of rows of that many columns, with a single use?
static bool is_sum_of_columns(struct locality *l, MlirValue v) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !op_is(l->c, def, OP_TILE_REDUCE) ||
      combination_of(l->c, def) != OP_ARITH_ADDF || keeps_order(def) || value_use_count(v) != 1)
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(def, 0));
  return tensor_rank(type) == 2 && op_attr_int(def, "axis", 0) == 1 &&
         tensor_dim(type, 1) == COLUMNS;
}

// The loop's init, by columns.
static MlirValue first_sums(struct locality *l, MlirOperation loop, intptr_t at) {
  struct builder b = builder_before(l->c, loop);
  MlirValue init = mlirOperationGetOperand(loop, at + 3);
  if (is_sum_of_columns(l, init))
    return mlirOperationGetOperand(value_def(init), 0);
  MlirValue share = build_const_float(&b, mlirValueGetType(init), 1.0 / COLUMNS);
  return widened(&b, build_binary(&b, OP_ARITH_MULF, init, share)); // exact, unless subnormal
}

static MlirOperation rewrite_rescaled(struct locality *l, MlirOperation loop,
                                      const struct rescaled *k) {
  MlirValue x = mlirOperationGetOperand(k->reduce, 0);
  MlirValue acc = mlirBlockGetArgument(loop_body(loop), k->at + 1);
  MlirType type = mlirValueGetType(x);
  int64_t split[3] = {tensor_dim(type, 0), tensor_dim(type, 1) / COLUMNS, COLUMNS};
  MlirValue init = first_sums(l, loop, k->at);
  mlirOperationSetOperand(loop, k->at + 3, init);
  mlirValueSetType(acc, mlirValueGetType(init));
  struct builder inside = builder_before(l->c, k->add);
  MlirValue parts = build_reshape(&inside, x, 3, split, false);
  MlirValue sums = sum_of(&inside, k->reduce, parts, mlirValueGetType(init));
  MlirValue kept = build_binary(&inside, OP_ARITH_MULF, acc, widened(&inside, k->factor));
  MlirValue next = build_binary(&inside, OP_ARITH_ADDF, kept, sums);
  mlirOperationSetOperand(mlirBlockGetTerminator(loop_body(loop)), k->at, next);
  op_erase(k->add);
  op_erase(k->scale);
  mlirOperationRemoveFromParent(k->reduce);
  MlirOperation wide = loop_rebuild(loop, l->p->scratch);
  MlirValue carried = mlirOperationGetResult(wide, k->at);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(wide), wide, k->reduce);
  value_replace(carried, mlirOperationGetResult(k->reduce, 0));
  mlirOperationSetOperand(k->reduce, 0, carried);
  return wide;
}

// The init of a loop has been rewritten before it.
static void collect(struct locality *l, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); i++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      for (MlirOperation at = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(at);
           at = mlirOperationGetNextInBlock(at))
        collect(l, at);
  if (op_is(l->c, op, OP_SCF_FOR))
    vec_push(l->p->scratch, &l->loops, op);
}

enum pass_result pass_sink_loop_reductions(struct pass_context *p) {
  struct locality l = {.p = p, .c = p->c};
  collect(&l, mlirModuleGetOperation(p->module));
  for (size_t i = 0; i < l.loops.len; i++) {
    MlirOperation loop = l.loops.at[i];
    for (intptr_t at = 0; at < mlirOperationGetNumResults(loop); at++) {
      struct chain k;
      struct rescaled r;
      if (find_chain(&l, loop, at, &k) && is_welcome(&l, loop, &k))
        loop = rewrite(&l, loop, &k);
      else if (find_rescaled(&l, loop, at, &r))
        loop = rewrite_rescaled(&l, loop, &r);
      else
        continue;
      l.changed = true;
    }
  }
  return l.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
