// SPDX-License-Identifier: Apache-2.0
// Rules of layout propagation. Shape ops do not move elements, so the layout on one side follows
// from the other; where no structured encoding expresses it, a linear one does.
#include "lowering/analysis/layout_flow.h"

MlirAttribute layout_default(struct ir_context *c, MlirType tensor, uint32_t num_warps) {
  unsigned rank = tensor_rank(tensor);
  int64_t shape[LL_MAX_OUT];
  uint32_t one[LL_MAX_OUT], order[LL_MAX_OUT];
  for (unsigned d = 0; d < rank; d++) {
    shape[d] = tensor_dim(tensor, d);
    one[d] = 1;
    order[d] = rank - 1 - d;
  }
  struct encoding e = encoding_blocked(rank, shape, one, order, num_warps);
  return encoding_attr(c, &e);
}

MlirAttribute layout_slice(struct ir_context *c, MlirAttribute parent, unsigned dim) {
  const struct encoding *p = encoding_of_attr(c, parent);
  if (!p)
    return mlirAttributeGetNull();
  struct encoding e = {.kind = ENC_SLICE, .rank = p->rank - 1};
  e.slice.dim = dim;
  e.slice.parent = p;
  return encoding_attr(c, &e);
}

MlirAttribute layout_dot_operand(struct ir_context *c, MlirAttribute parent, unsigned index,
                                 unsigned k_width) {
  const struct encoding *p = encoding_of_attr(c, parent);
  if (!p)
    return mlirAttributeGetNull();
  struct encoding e = {.kind = ENC_DOT_OP, .rank = p->rank};
  e.dot.op_idx = index;
  e.dot.k_width = k_width;
  e.dot.parent = p;
  return encoding_attr(c, &e);
}

bool layout_is_dot_operand(struct ir_context *c, MlirAttribute encoding) {
  const struct encoding *e = mlirAttributeIsNull(encoding) ? NULL : encoding_of_attr(c, encoding);
  return e && e->kind == ENC_DOT_OP;
}

static MlirAttribute linear_attr(struct ir_context *c, const struct linear_layout *l) {
  struct encoding e = {.kind = ENC_LINEAR, .rank = l->out_count, .linear = *l};
  return encoding_attr(c, &e);
}

static const struct linear_layout *linear_with(struct ir_context *c, MlirType tensor,
                                               MlirAttribute encoding) {
  return linear_of_type(c, type_with_encoding(tensor, encoding));
}

// Dimensions by the length of the runs in a thread's registers, longest first.
static void order_in_registers(struct ir_context *c, MlirType tile, uint32_t *ret) {
  MlirAttribute encoding = tensor_encoding(tile);
  const struct encoding *e = mlirAttributeIsNull(encoding) ? NULL : encoding_of_attr(c, encoding);
  const struct linear_layout *l = linear_of_type(c, tile);
  unsigned rank = tensor_rank(tile);
  for (unsigned i = 0; i < rank; i++) {
    uint32_t d = rank - 1 - i;
    if (e && e->kind == ENC_BLOCKED) {
      ret[i] = e->blocked.order[i];
      continue;
    }
    unsigned at = i;
    uint32_t run = l ? ll_consecutive(l, LL_REGISTER, d) : 1;
    for (; at > 0 && l && ll_consecutive(l, LL_REGISTER, ret[at - 1]) < run; at--)
      ret[at] = ret[at - 1];
    ret[at] = d;
  }
}

MlirAttribute layout_dot_buffer(struct ir_context *c, MlirType tile, MlirAttribute dot) {
  const struct encoding *operand = encoding_of_attr(c, dot);
  uint32_t order[LL_MAX_OUT] = {0};
  int64_t shape[LL_MAX_OUT];
  if (!operand)
    return mlirAttributeGetNull();
  for (unsigned d = 0; d < tensor_rank(tile); d++)
    shape[d] = tensor_dim(tile, d);
  order_in_registers(c, tile, order);
  struct encoding e =
      encoding_shared_for_dot(operand, shape, order, type_bits(c, element_type(tile)));
  return encoding_attr(c, &e);
}

bool layout_same(struct ir_context *c, MlirType tensor, MlirAttribute a, MlirAttribute b) {
  if (mlirAttributeEqual(a, b))
    return true;
  if (mlirAttributeIsNull(a) || mlirAttributeIsNull(b))
    return false;
  const struct linear_layout *la = linear_with(c, tensor, a), *lb = linear_with(c, tensor, b);
  return la && lb && ll_equal(la, lb);
}

// Layout of a tile whose dimension i is dimension order[i] of a tile of type `from` laid out by
// `encoding`. A blocked layout stays blocked.
static MlirAttribute transposed(struct ir_context *c, MlirType from, MlirAttribute encoding,
                                const unsigned *order) {
  const struct encoding *e = encoding_of_attr(c, encoding);
  unsigned rank = tensor_rank(from);
  if (!e)
    return mlirAttributeGetNull();
  if (e->kind != ENC_BLOCKED) {
    const struct linear_layout *l = linear_with(c, from, encoding);
    if (!l)
      return mlirAttributeGetNull();
    struct linear_layout t = ll_transpose_outs(l, order);
    return linear_attr(c, &t);
  }
  struct encoding t = *e;
  for (unsigned d = 0; d < rank; d++) {
    t.blocked.size_per_thread[d] = e->blocked.size_per_thread[order[d]];
    t.blocked.threads_per_warp[d] = e->blocked.threads_per_warp[order[d]];
    t.blocked.warps_per_cta[d] = e->blocked.warps_per_cta[order[d]];
    for (unsigned k = 0; k < rank; k++)
      if (order[k] == e->blocked.order[d])
        t.blocked.order[d] = k;
  }
  return encoding_attr(c, &t);
}

// Layout of a tile of type `to` whose elements, in row-major order, lie where those of a tile of
// type `from` lie under `encoding`. `current` is preferred when it is the same layout.
static MlirAttribute reshaped(struct ir_context *c, MlirType from, MlirAttribute encoding,
                              MlirType to, MlirAttribute current) {
  const struct linear_layout *l = linear_with(c, from, encoding);
  unsigned bits[LL_MAX_OUT];
  struct linear_layout r;
  for (unsigned d = 0; d < tensor_rank(to); d++)
    bits[d] = log2_floor((uint64_t)tensor_dim(to, d));
  if (!l || !ll_reshape_outs(l, tensor_rank(to), bits, &r))
    return mlirAttributeGetNull();
  if (!mlirAttributeIsNull(current)) {
    const struct linear_layout *now = linear_with(c, to, current);
    if (now && ll_equal(now, &r))
      return current;
  }
  return linear_attr(c, &r);
}

static bool trans_order(MlirOperation op, unsigned *ret_order, unsigned *ret_inverse) {
  int32_t order[LL_MAX_OUT];
  size_t n = op_attr_i32_array(op, "order", LL_MAX_OUT, order);
  for (size_t i = 0; i < n; i++) {
    ret_order[i] = (unsigned)order[i];
    ret_inverse[order[i]] = (unsigned)i;
  }
  return n > 0;
}

static MlirType operand_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetOperand(op, 0));
}

static MlirType result_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetResult(op, 0));
}

// ---- join and split: both elements of a pair in one thread ----

// Inserts the register bit of the new dimension below the others.
static MlirAttribute joined_linear(struct ir_context *c, const struct linear_layout *l) {
  struct linear_layout j = ll_insert_out(l, l->out_count);
  unsigned last = j.out_count - 1;
  int at = ll_find_in(&j, LL_REGISTER);
  if (at < 0 || j.in_bits[at] == LL_MAX_BITS)
    return mlirAttributeGetNull();
  memmove(j.basis[at][1], j.basis[at][0], j.in_bits[at] * sizeof(j.basis[at][0]));
  memset(j.basis[at][0], 0, sizeof(j.basis[at][0]));
  j.basis[at][0][last] = 1;
  j.in_bits[at]++;
  j.out_bits[last] = 1;
  return linear_attr(c, &j);
}

// Register 1 holds the neighbour of register 0 along the last dimension, and no other bit of the
// layout moves along it.
static bool holds_pairs(const struct linear_layout *l) {
  unsigned last = l->out_count - 1;
  int at = ll_find_in(l, LL_REGISTER);
  if (l->out_bits[last] != 1 || at < 0 || l->in_bits[at] == 0)
    return false;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      if ((l->basis[i][b][last] != 0) != ((int)i == at && b == 0))
        return false;
  for (unsigned d = 0; d < last; d++)
    if (l->basis[at][0][d] != 0)
      return false;
  return true;
}

// The layout of a result of split for a tile laid out by `encoding`; null when its pairs are not in
// adjacent registers.
static MlirAttribute half_of(struct ir_context *c, MlirType tile, MlirAttribute encoding) {
  const struct encoding *e = encoding_of_attr(c, encoding);
  const struct linear_layout *l = linear_with(c, tile, encoding);
  if (!e || !l || !holds_pairs(l))
    return mlirAttributeGetNull();
  unsigned last = l->out_count - 1;
  bool whole = e->kind == ENC_BLOCKED && e->blocked.threads_per_warp[last] == 1 &&
               e->blocked.warps_per_cta[last] == 1;
  if (!whole)
    return layout_slice(c, encoding, last);
  struct encoding h = *e;
  h.rank = last;
  for (unsigned d = 0, n = 0; d <= last; d++)
    if (e->blocked.order[d] != last)
      h.blocked.order[n++] = e->blocked.order[d];
  return encoding_attr(c, &h);
}

MlirAttribute layout_of_pair(struct ir_context *c, uint32_t num_warps) {
  uint32_t first[1] = {0}, two[1] = {2};
  struct encoding e = encoding_blocked(1, (int64_t[]){2}, two, first, num_warps);
  return encoding_attr(c, &e);
}

// A tile of `half` with a last dimension of 2.
static MlirType doubled(MlirType half) {
  int64_t shape[LL_MAX_OUT + 1];
  unsigned rank = tensor_rank(half);
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(half, d);
  shape[rank] = 2;
  return tensor_type(rank + 1, shape, element_type(half), mlirAttributeGetNull());
}

// `encoding` with one dimension more, the last one, whose two elements are registers 2i and 2i+1.
static MlirAttribute joined(struct ir_context *c, MlirType from, MlirAttribute encoding) {
  const struct encoding *e = encoding_of_attr(c, encoding);
  unsigned rank = tensor_rank(from);
  if (!e || rank == LL_MAX_OUT)
    return mlirAttributeGetNull();
  if (e->kind == ENC_SLICE && e->slice.dim == rank) {
    MlirAttribute parent = encoding_attr(c, e->slice.parent);
    if (mlirAttributeEqual(half_of(c, doubled(from), parent), encoding))
      return parent;
  }
  if (e->kind != ENC_BLOCKED) {
    const struct linear_layout *l = linear_with(c, from, encoding);
    return l ? joined_linear(c, l) : mlirAttributeGetNull();
  }
  struct encoding j = *e;
  j.rank = rank + 1;
  j.blocked.size_per_thread[rank] = 2;
  j.blocked.threads_per_warp[rank] = j.blocked.warps_per_cta[rank] = 1;
  j.blocked.order[0] = rank;
  for (unsigned d = 0; d < rank; d++)
    j.blocked.order[d + 1] = e->blocked.order[d];
  return encoding_attr(c, &j);
}

bool layout_flows_through(struct ir_context *c, MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 0 || !type_is_tensor(result_type(op)))
    return false;
  switch (op_id(c, op)) {
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_REDUCE:
  case OP_TILE_SCAN:
  case OP_TILE_GATHER:
  case OP_TILE_SPLIT: return true;
  case OP_TILE_JOIN: return type_is_tensor(operand_type(op));
  default: return (op_flags(c, op) & OP_EW) != 0;
  }
}

bool layout_is_foreign(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_UNKNOWN:
  case OP_FUNC_CALL:
  case OP_FUNC_RETURN: return true;
  case OP_TILE_JOIN: return !type_is_tensor(operand_type(op));
  case OP_TILE_SPLIT: return !type_is_tensor(result_type(op));
  default: return false;
  }
}

bool layout_ties_operand(struct ir_context *c, MlirOperation op, intptr_t i) {
  return layout_flows_through(c, op) &&
         type_is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))) &&
         !(i == 0 && op_is(c, op, OP_TILE_GATHER)); // elements of the source may be in any thread
}

// The layout that `slice` is a slice of along the op's axis; null when it is none.
static MlirAttribute parent_of_slice(struct ir_context *c, MlirOperation op, MlirAttribute slice) {
  const struct encoding *e = encoding_of_attr(c, slice);
  if (!e || e->kind != ENC_SLICE || (int64_t)e->slice.dim != op_attr_int(op, "axis", -1))
    return mlirAttributeGetNull();
  return encoding_attr(c, e->slice.parent);
}

MlirAttribute layout_of_result(struct ir_context *c, MlirOperation op, MlirAttribute operand) {
  unsigned order[LL_MAX_OUT], inverse[LL_MAX_OUT];
  switch (op_id(c, op)) {
  case OP_TILE_EXPAND_DIMS: return parent_of_slice(c, op, operand);
  case OP_TILE_RESHAPE:
    return reshaped(c, operand_type(op), operand, result_type(op),
                    tensor_encoding(result_type(op)));
  case OP_TILE_TRANS:
    if (!trans_order(op, order, inverse))
      return mlirAttributeGetNull();
    return transposed(c, operand_type(op), operand, order);
  case OP_TILE_REDUCE: return layout_slice(c, operand, (unsigned)op_attr_int(op, "axis", 0));
  case OP_TILE_JOIN: return joined(c, operand_type(op), operand);
  case OP_TILE_SPLIT: return half_of(c, operand_type(op), operand);
  default: return operand;
  }
}

MlirAttribute layout_of_operand(struct ir_context *c, MlirOperation op, MlirAttribute result,
                                MlirAttribute current) {
  unsigned order[LL_MAX_OUT], inverse[LL_MAX_OUT];
  switch (op_id(c, op)) {
  case OP_TILE_EXPAND_DIMS: return layout_slice(c, result, (unsigned)op_attr_int(op, "axis", 0));
  case OP_TILE_RESHAPE: return reshaped(c, result_type(op), result, operand_type(op), current);
  case OP_TILE_TRANS:
    if (!trans_order(op, order, inverse))
      return mlirAttributeGetNull();
    return transposed(c, result_type(op), result, inverse);
  case OP_TILE_REDUCE: return parent_of_slice(c, op, result);
  case OP_TILE_JOIN: return half_of(c, result_type(op), result);
  case OP_TILE_SPLIT: return joined(c, result_type(op), result);
  case OP_TILE_BROADCAST: // a linear layout fits its own size and dimensions of one
    return linear_with(c, operand_type(op), result) ? result : mlirAttributeGetNull();
  default: return result;
  }
}

void layout_set(struct ir_context *c, MlirValue v, MlirAttribute encoding) {
  MlirType type = type_with_encoding(mlirValueGetType(v), encoding);
  mlirValueSetType(v, type);
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !op_is(c, def, OP_ARITH_CONSTANT))
    return;
  MlirAttribute value = op_attr(def, "value");
  mlirOperationSetAttributeByName(def, mlirStringRefCreateFromCString("value"),
                                  mlirDenseElementsAttrReshapeGet(value, type));
}

MlirAttribute layout_of_access(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_TILE_LOAD:
  case OP_TILE_STORE:
  case OP_TILE_ATOMIC_RMW:
  case OP_TILE_ATOMIC_CAS: break;
  default: return mlirAttributeGetNull();
  }
  bool tiles = type_is_tensor(operand_type(op));
  return tiles ? tensor_encoding(operand_type(op)) : mlirAttributeGetNull();
}

unsigned layout_registers(struct ir_context *c, MlirType tensor) {
  const struct linear_layout *l = linear_of_type(c, tensor);
  if (!l)
    return 1;
  uint32_t duplicates[LL_NO_IN];
  ll_free_masks(l, duplicates);
  unsigned bits = ll_in_bits(l, LL_REGISTER);
  return 1u << (bits - (unsigned)__builtin_popcount(duplicates[LL_REGISTER]));
}

static bool convert_plan(struct ir_context *c, MlirType tensor, MlirAttribute to,
                         struct convert_plan *ret) {
  const struct linear_layout *src = linear_of_type(c, tensor);
  const struct linear_layout *dst = linear_with(c, tensor, to);
  return src && dst && convert_plan_make(src, dst, ret);
}

unsigned layout_convert_cost(struct ir_context *c, MlirType tensor, MlirAttribute to) {
  struct convert_plan plan;
  if (!convert_plan(c, tensor, to, &plan))
    return 1u << 20; // no plan: prohibitive
  unsigned bits = type_bits(c, element_type(tensor));
  return convert_plan_cost(&plan, bits < 8 ? 8 : bits); // a boolean is moved as a byte
}

enum convert_kind layout_convert_kind(struct ir_context *c, MlirType tensor, MlirAttribute to) {
  struct convert_plan plan;
  return convert_plan(c, tensor, to, &plan) ? plan.kind : CONVERT_SHARED;
}
