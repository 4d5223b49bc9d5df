// SPDX-License-Identifier: Apache-2.0
// The elements of a value at a position. Recursion is the algorithm: a deferred op evaluates its
// operands at the positions that it maps its own to.
#include "lowering/processor/strips.h"

// ---- what is known ----

// The value that stands behind VALUE_SAME.
static MlirValue resolved(struct strip_emitter *e, MlirValue v) {
  struct value *known = ptrmap_get(&e->values, v.ptr);
  while (known && known->kind == VALUE_SAME) {
    v = known->from;
    known = ptrmap_get(&e->values, v.ptr);
  }
  return v;
}

struct value *known_value(struct strip_emitter *e, MlirValue v) {
  return ptrmap_get(&e->values, resolved(e, v).ptr);
}

static struct value *bind(struct strip_emitter *e, MlirValue v, enum value_kind kind) {
  struct value *x = arena_new(e->arena, struct value);
  x->kind = kind;
  ptrmap_put(e->arena, &e->values, v.ptr, x);
  vec_push(e->arena, &e->bound, v);
  return x;
}

void unbind_since(struct strip_emitter *e, size_t count) {
  for (size_t i = count; i < e->bound.len; i++)
    ptrmap_put(e->arena, &e->values, e->bound.at[i].ptr, NULL);
  e->bound.len = count;
}

void bind_scalar(struct strip_emitter *e, MlirValue v, LLVMValueRef x) {
  bind(e, v, VALUE_SCALAR)->scalar = x;
}

void bind_buffer(struct strip_emitter *e, MlirValue v, struct buffer *b) {
  bind(e, v, VALUE_BUFFER)->buffer = b;
}

void bind_same(struct strip_emitter *e, MlirValue v, MlirValue from) {
  bind(e, v, VALUE_SAME)->from = from;
}

void bind_advanced(struct strip_emitter *e, MlirValue v, MlirValue from, LLVMValueRef by) {
  struct value *x = bind(e, v, VALUE_ADVANCED);
  x->from = from;
  x->scalar = by;
}

bool is_deferred(struct strip_emitter *e, MlirOperation op) {
  switch (op_id(e->c, op)) {
  case OP_ARITH_CONSTANT:
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_TRANS:
  case OP_TILE_GATHER:
  case OP_TILE_SPLIT:
  case OP_TILE_MAP: return is_tile(result(op, 0));
  case OP_TILE_LOAD: return is_tile(result(op, 0)) && !op_attr_bool(op, "is_volatile");
  case OP_TILE_INLINE_ASM: return false;
  default: return (op_flags(e->c, op) & OP_EW) && is_tile(result(op, 0));
  }
}

MlirOperation deferred_op(struct strip_emitter *e, MlirValue v) {
  v = resolved(e, v);
  MlirOperation op = value_def(v);
  return known_value(e, v) || mlirOperationIsNull(op) || !is_deferred(e, op) ? (MlirOperation){NULL}
                                                                             : op;
}

// ---- places ----

static struct position without_lane(const struct position *p) {
  struct position q = *p;
  q.lane = -1;
  q.lanes = 1;
  return q;
}

static LLVMValueRef of_expand_dims(struct strip_emitter *e, MlirOperation op,
                                   const struct position *p) {
  int axis = (int)op_attr_int(op, "axis", 0);
  struct position q = {.rank = p->rank - 1, .lane = p->lane, .lanes = p->lanes};
  for (unsigned d = 0, to = 0; d < p->rank; d++)
    if ((int)d != axis)
      q.at[to++] = p->at[d];
  if (p->lane == axis)
    q = without_lane(&q);
  else if (p->lane > axis)
    q.lane--;
  return evaluate(e, operand(op, 0), &q);
}

static LLVMValueRef of_broadcast(struct strip_emitter *e, MlirOperation op,
                                 const struct position *p) {
  MlirType from = mlirValueGetType(operand(op, 0));
  struct position q = *p;
  for (unsigned d = 0; d < p->rank; d++)
    if (tensor_dim(from, d) == 1) {
      q.at[d] = index_constant(e, 0);
      if (p->lane == (int)d) {
        q.lane = -1;
        q.lanes = 1;
      }
    }
  return repeat(e, evaluate(e, operand(op, 0), &q), p->lanes);
}

static LLVMValueRef of_trans(struct strip_emitter *e, MlirOperation op, const struct position *p) {
  int32_t order[MAX_RANK];
  struct position q = *p;
  op_attr_i32_array(op, "order", MAX_RANK, order);
  for (unsigned d = 0; d < p->rank; d++)
    q.at[order[d]] = p->at[d];
  q.lane = p->lane < 0 ? -1 : order[p->lane];
  return evaluate(e, operand(op, 0), &q);
}

static LLVMValueRef of_range(struct strip_emitter *e, MlirOperation op, const struct position *p) {
  LLVMValueRef first = LLVMBuildTrunc(e->b, p->at[0], e->i32, "");
  uint64_t start = (uint64_t)op_attr_int(op, "start", 0);
  first = LLVMBuildAdd(e->b, first, int_constant(e->i32, start), "");
  LLVMValueRef v = repeat(e, first, p->lanes);
  return p->lanes == 1 ? v : LLVMBuildAdd(e->b, v, counting(e, e->i32, p->lanes), "");
}

// ---- other ops ----

static LLVMValueRef constant_of(struct strip_emitter *e, MlirOperation op) {
  MlirAttribute a = op_attr(op, "value");
  MlirType element = element_type(mlirValueGetType(result(op, 0)));
  LLVMTypeRef t = register_type(e, element);
  enum dtype dtype = dtype_of_mlir(element);
  if (mlirAttributeIsADenseElements(a)) {
    if (!mlirDenseElementsAttrIsSplat(a)) {
      refuse(e, op, "a constant tile with different elements");
      return LLVMGetUndef(t);
    }
    a = mlirDenseElementsAttrGetSplatValue(a);
  }
  if (mlirAttributeIsAInteger(a))
    return int_constant(t, (uint64_t)mlirIntegerAttrGetValueInt(a));
  double v = mlirAttributeIsAFloat(a) ? mlirFloatAttrGetValueDouble(a) : 0;
  if (t == e->i8 || t == e->i16) {
    uint8_t bytes[8] = {0};
    uint16_t word;
    dtype_store(dtype, bytes, v);
    memcpy(&word, bytes, sizeof word);
    return int_constant(t, t == e->i8 ? bytes[0] : word);
  }
  return float_constant(t, v);
}

// Indices outside the source are taken modulo its size, a power of two.
static LLVMValueRef of_gather(struct strip_emitter *e, MlirOperation op, const struct position *p) {
  MlirValue source = operand(op, 0);
  struct value *known = known_value(e, source);
  LLVMTypeRef element = register_type(e, element_type(mlirValueGetType(source)));
  unsigned axis = (unsigned)op_attr_int(op, "axis", 0);
  if (!known || known->kind == VALUE_SCALAR) // one element
    return evaluate(e, source, p);
  const struct buffer *b = known->buffer;
  LLVMValueRef index = evaluate(e, operand(op, 1), p);
  index = LLVMBuildSExt(e->b, index, like(index, e->i64), "");
  uint64_t size = (uint64_t)tensor_dim(mlirValueGetType(source), axis);
  index = LLVMBuildAnd(e->b, index, int_constant(LLVMTypeOf(index), size - 1), "");
  LLVMValueRef at =
      LLVMBuildMul(e->b, index, int_constant(LLVMTypeOf(index), (uint64_t)b->stride[axis]), "");
  struct position rest = without_lane(p);
  rest.at[axis] = index_constant(e, 0);
  if (p->lane >= 0 && p->lane != (int)axis) {
    LLVMValueRef steps =
        LLVMBuildMul(e->b, counting(e, e->i64, p->lanes),
                     int_constant(LLVMTypeOf(index), (uint64_t)b->stride[p->lane]), "");
    at = LLVMBuildAdd(e->b, at, steps, "");
  }
  LLVMValueRef first = scratch_address(e, b, &rest);
  LLVMValueRef pointers = LLVMBuildGEP2(e->b, b->type, first, &at, 1, "");
  LLVMValueRef v;
  if (p->lanes == 1)
    v = LLVMBuildLoad2(e->b, b->type, pointers, "");
  else
    v = gather_elements(e, b->type, pointers, NULL, NULL);
  return from_storage(e, v, element);
}

// One of the halves of a tile that is in a buffer.
static LLVMValueRef of_split(struct strip_emitter *e, MlirOperation op, MlirValue v,
                             const struct position *p) {
  struct position q = *p;
  q.at[q.rank++] = index_constant(e, mlirOpResultGetResultNumber(v));
  struct value *known = known_value(e, operand(op, 0));
  LLVMTypeRef element = register_type(e, element_type(mlirValueGetType(v)));
  if (!known || known->kind != VALUE_BUFFER) {
    refuse(e, op, "a split of a tile that is not in a buffer");
    return LLVMGetUndef(vector_of(element, p->lanes));
  }
  return from_storage(e, scratch_load(e, known->buffer, &q), element);
}

static LLVMValueRef of_map(struct strip_emitter *e, MlirOperation op, MlirValue v,
                           const struct position *p) {
  LLVMValueRef args[MAX_VALUES], results[MAX_VALUES];
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  LLVMValueRef none =
      LLVMGetUndef(vector_of(register_type(e, element_type(mlirValueGetType(v))), p->lanes));
  if (op_attr_int(op, "pack", 1) != 1 || n > MAX_VALUES) {
    refuse(e, op, "a map of several elements at a time");
    return none;
  }
  for (unsigned i = 0; i < n; i++)
    args[i] = evaluate(e, operand(op, i), p);
  if (!apply_function(e, op_function(e->c, op, "function"), args, results))
    return none;
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumResults(op); i++)
    memo_put(e, level_of_position(e, p), result(op, i), p, results[i]);
  return results[mlirOpResultGetResultNumber(v)];
}

// Whether all lanes have one element; then *ret is where it is evaluated, outside of the loop over
// strips.
static bool is_one_for_all_lanes(struct strip_emitter *e, MlirValue v, const struct position *p,
                                 struct position *ret) {
  MlirOperation op = deferred_op(e, v);
  if (p->lanes == 1 || mlirOperationIsNull(op))
    return false;
  *ret = without_lane(p);
  if (op_is(e->c, op, OP_TILE_SPLAT)) {
    for (unsigned d = 0; d < p->rank; d++)
      ret->at[d] = index_constant(e, 0);
    return true;
  }
  ret->at[p->lane] = index_constant(e, 0);
  return op_is(e->c, op, OP_TILE_BROADCAST) &&
         tensor_dim(mlirValueGetType(operand(op, 0)), (unsigned)p->lane) == 1;
}

// Quotients of f32 may be 2 ulp off: by one divisor for many elements they are products with its
// reciprocal. That of a divisor scaled by 2^64 or 2^-64 is neither infinite nor subnormal.
static LLVMValueRef quotient(struct strip_emitter *e, MlirOperation op, const struct position *p,
                             const struct position *at) {
  unsigned old = go_to_level(e, level_of_position(e, at));
  LLVMTypeRef t = e->f32;
  LLVMValueRef y = evaluate(e, operand(op, 1), at), size = plain_intrinsic(e, "llvm.fabs", 1, &y);
  LLVMValueRef small = LLVMBuildFCmp(e->b, LLVMRealOLT, size, float_constant(t, 0x1p-64), "");
  LLVMValueRef large = LLVMBuildFCmp(e->b, LLVMRealOGT, size, float_constant(t, 0x1p64), "");
  LLVMValueRef scale =
      LLVMBuildSelect(e->b, large, float_constant(t, 0x1p-64), float_constant(t, 1), "");
  scale = LLVMBuildSelect(e->b, small, float_constant(t, 0x1p64), scale, "");
  LLVMValueRef inverse =
      LLVMBuildFDiv(e->b, float_constant(t, 1), LLVMBuildFMul(e->b, y, scale, ""), "");
  inverse = repeat(e, inverse, p->lanes);
  scale = repeat(e, scale, p->lanes);
  go_to_level(e, old);
  LLVMValueRef x = repeat(e, evaluate(e, operand(op, 0), p), p->lanes);
  return LLVMBuildFMul(e->b, LLVMBuildFMul(e->b, x, scale, ""), inverse, "");
}

static LLVMValueRef of_elementwise(struct strip_emitter *e, MlirOperation op,
                                   const struct position *p) {
  LLVMValueRef x[3];
  struct position one;
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  if (op_is(e->c, op, OP_ARITH_DIVF) && dtype_of(result(op, 0)) == DTYPE_F32 &&
      is_one_for_all_lanes(e, operand(op, 1), p, &one))
    return quotient(e, op, p, &one);
  if (n > COUNT_OF(x)) {
    refuse(e, op, "`%s`", op_info(op_id(e->c, op))->name);
    n = COUNT_OF(x);
  }
  for (unsigned i = 0; i < n; i++)
    x[i] = repeat(e, evaluate(e, operand(op, i), p), p->lanes);
  return compute(e, op, x);
}

static LLVMValueRef of_op(struct strip_emitter *e, MlirOperation op, MlirValue v,
                          const struct position *p) {
  switch (op_id(e->c, op)) {
  case OP_ARITH_CONSTANT: return repeat(e, constant_of(e, op), p->lanes);
  case OP_TILE_MAKE_RANGE: return of_range(e, op, p);
  case OP_TILE_SPLAT: return repeat(e, scalar_of(e, operand(op, 0)), p->lanes);
  case OP_TILE_EXPAND_DIMS: return of_expand_dims(e, op, p);
  case OP_TILE_BROADCAST: return of_broadcast(e, op, p);
  case OP_TILE_TRANS: return of_trans(e, op, p);
  case OP_TILE_LOAD: return load_at(e, op, p);
  case OP_TILE_GATHER: return of_gather(e, op, p);
  case OP_TILE_SPLIT: return of_split(e, op, v, p);
  case OP_TILE_MAP: return of_map(e, op, v, p);
  default: return of_elementwise(e, op, p);
  }
}

static LLVMValueRef of_known(struct strip_emitter *e, const struct value *known, MlirValue v,
                             const struct position *p) {
  MlirType element = element_type(mlirValueGetType(v));
  if (known->kind == VALUE_SCALAR)
    return repeat(e, known->scalar, p->lanes);
  if (known->kind == VALUE_BUFFER) {
    LLVMValueRef x = scratch_load(e, known->buffer, p);
    if (known->buffer->widened)
      return float_from_f32(e, x, dtype_of_mlir(element));
    return from_storage(e, x, register_type(e, element));
  }
  LLVMValueRef x = evaluate(e, known->from, p), by = repeat(e, known->scalar, lanes_of(x));
  if (scalar_type(x) != e->ptr)
    return LLVMBuildAdd(e->b, x, by, "");
  return LLVMBuildGEP2(e->b, storage_type(e, ptr_pointee(e->c, element)), x, &by, 1, "");
}

// The instructions of `op` have its location, those behind them the one before.
static LLVMValueRef of_op_at(struct strip_emitter *e, MlirOperation op, MlirValue v,
                             const struct position *p) {
  LLVMMetadataRef before = e->debug ? LLVMGetCurrentDebugLocation2(e->b) : NULL;
  debug_info_at(e->debug, op);
  LLVMValueRef x = of_op(e, op, v, p);
  if (e->debug)
    LLVMSetCurrentDebugLocation2(e->b, before);
  return x;
}

LLVMValueRef evaluate(struct strip_emitter *e, MlirValue v, const struct position *p) {
  v = resolved(e, v);
  unsigned level = level_of_position(e, p);
  LLVMValueRef x = memo_get(e, level, v, p);
  if (x)
    return x;
  unsigned old = go_to_level(e, level);
  struct value *known = known_value(e, v);
  MlirOperation op = deferred_op(e, v);
  if (known)
    x = of_known(e, known, v, p);
  else if (!mlirOperationIsNull(op))
    x = of_op_at(e, op, v, p);
  if (!x || e->refusal.why) {
    refuse(e, value_def(v), "a value that is not known here");
    x = LLVMGetUndef(vector_of(register_type(e, element_type(mlirValueGetType(v))), p->lanes));
  }
  memo_put(e, level, v, p, x);
  go_to_level(e, old);
  return x;
}

LLVMValueRef scalar_of(struct strip_emitter *e, MlirValue v) {
  struct value *known = known_value(e, v);
  if (known && known->kind == VALUE_SCALAR)
    return known->scalar;
  MlirOperation op = value_def(v);
  if (!mlirOperationIsNull(op) && op_is(e->c, op, OP_ARITH_CONSTANT))
    return constant_of(e, op);
  refuse(e, op, "a scalar that is not known here");
  return LLVMGetUndef(register_type(e, element_type(mlirValueGetType(v))));
}
