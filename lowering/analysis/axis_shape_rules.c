// SPDX-License-Identifier: Apache-2.0
// Transfer functions of ops that move elements: shape ops, and ops across elements. The bounds of
// axis_rules.c hold here too.
#include "lowering/analysis/axis_transfer.h"

static info_t rule_make_range(const struct transfer *t) {
  int64_t start = op_attr_int(t->op, "start", 0);
  if (tensor_numel(t->type) == 1)
    return axis_of_constant(t->type, start);
  info_t r = axis_unknown(t->type);
  r.contiguity[0] = axis_dim_limit(t->type, 0);
  r.divisibility[0] = axis_power_of_two(start);
  r.is_nonnegative = start >= 0;
  return r;
}

info_t axis_rule_splat(const struct transfer *t) {
  const info_t *x = &t->in[0];
  info_t r = *x;
  r.rank = axis_rank_of(t->type);
  for (unsigned d = 0; d < r.rank; d++) {
    r.contiguity[d] = 1;
    r.divisibility[d] = x->divisibility[0];
    r.constancy[d] = axis_dim_limit(t->type, d);
  }
  return r;
}

static info_t rule_expand_dims(const struct transfer *t) {
  const info_t *x = &t->in[0];
  unsigned axis = (unsigned)op_attr_int(t->op, "axis", 0);
  int64_t all = axis_divides_all(x, axis_element_bytes(t->c, t->type));
  info_t r = *x;
  r.rank = axis_rank_of(t->type);
  for (unsigned d = 0, from = 0; d < r.rank; d++) {
    bool is_new = d == axis;
    r.contiguity[d] = is_new ? 1 : x->contiguity[from];
    r.divisibility[d] = is_new ? all : x->divisibility[from];
    r.constancy[d] = is_new ? 1 : x->constancy[from];
    from += !is_new;
  }
  return r;
}

static info_t rule_broadcast(const struct transfer *t) {
  info_t r = t->in[0];
  for (unsigned d = 0; d < r.rank; d++)
    if (tensor_dim(operand_type(t, 0), d) == 1)
      r.constancy[d] = axis_dim_limit(t->type, d);
  return r;
}

static info_t rule_trans(const struct transfer *t) {
  const info_t *x = &t->in[0];
  int32_t order[LL_MAX_OUT];
  size_t n = op_attr_i32_array(t->op, "order", LL_MAX_OUT, order);
  info_t r = *x;
  for (unsigned d = 0; d < r.rank && d < n; d++) {
    unsigned from = (unsigned)order[d] < x->rank ? (unsigned)order[d] : 0;
    r.contiguity[d] = x->contiguity[from];
    r.divisibility[d] = x->divisibility[from];
    r.constancy[d] = x->constancy[from];
  }
  return r;
}

// Equal elements at steps of `stride` in the row-major order of x, in aligned groups of at most
// `limit` steps. Where a dimension is equal throughout, the next outer one counts too.
static int64_t constancy_at(const info_t *x, MlirType type, int64_t stride, int64_t limit) {
  int64_t group = 1, inner = 1;
  for (unsigned d = x->rank; d-- > 0;) {
    int64_t size = tensor_dim(type, d);
    if (stride < inner * size) {
      int64_t skip = stride > inner ? stride / inner : 1; // indices of d to a step
      group = axis_product(group, max64(x->constancy[d] / skip, 1));
      if (x->constancy[d] < size)
        break;
    }
    inner *= size;
  }
  return min64(group, limit);
}

static info_t rule_reshape(const struct transfer *t) {
  const info_t *x = &t->in[0];
  MlirType from = operand_type(t, 0);
  int64_t bytes = axis_element_bytes(t->c, t->type);
  info_t r = axis_unknown(t->type);
  if (x->is_constant)
    return axis_of_constant(t->type, x->constant);
  bool reorders = op_attr_bool(t->op, "allow_reorder");
  int64_t all = axis_divides_all(x, bytes), stride = 1;
  for (unsigned d = r.rank; d-- > 0;) {
    int64_t limit = axis_dim_limit(t->type, d), from_stride = 1;
    r.divisibility[d] = all;
    for (unsigned s = x->rank; !reorders && s-- > 0;) {
      if (from_stride == stride && tensor_dim(from, s) > 1) { // both step through the same elements
        r.contiguity[d] = min64(x->contiguity[s], limit);
        r.divisibility[d] = max64(all, axis_divides_at(x, s, r.contiguity[d], bytes));
        break;
      }
      from_stride *= tensor_dim(from, s);
    }
    r.constancy[d] = reorders ? 1 : constancy_at(x, from, stride, limit);
    stride *= tensor_dim(t->type, d);
  }
  r.is_nonnegative = x->is_nonnegative;
  return r;
}

info_t axis_transfer_shape(const struct transfer *t) {
  switch (t->id) {
  case OP_TILE_MAKE_RANGE: return rule_make_range(t);
  case OP_TILE_SPLAT: return axis_rule_splat(t);
  case OP_TILE_EXPAND_DIMS: return rule_expand_dims(t);
  case OP_TILE_BROADCAST: return rule_broadcast(t);
  case OP_TILE_TRANS: return rule_trans(t);
  case OP_TILE_RESHAPE: return rule_reshape(t);
  default: // OP_GPU_CONVERT_LAYOUT
    return t->in[0];
  }
}

// ---- across elements ----

// Equal rows have equal results for integers; floats may be combined in another order in another
// row.
static info_t rule_reduce(const struct transfer *t) {
  unsigned axis = (unsigned)op_attr_int(t->op, "axis", 0);
  info_t r = axis_unknown(t->type);
  if (!type_is_tensor(t->type) || t->bits == 0)
    return r;
  for (unsigned d = 0; d < r.rank; d++) {
    r.constancy[d] = axis_dim_limit(t->type, d);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(t->op); i++)
      r.constancy[d] = min64(r.constancy[d], t->in[i].constancy[d + (d >= axis)]);
  }
  return r;
}

static info_t rule_scan(const struct transfer *t) {
  unsigned axis = (unsigned)op_attr_int(t->op, "axis", 0);
  info_t r = t->bits ? axis_rule_pointwise(t) : axis_unknown(t->type);
  if (axis < r.rank)
    r.constancy[axis] = 1;
  return r;
}

// out[.., i, ..] = source[.., index[.., i, ..], ..]: along the axis only the index varies.
static info_t rule_gather(const struct transfer *t) {
  const info_t *source = &t->in[0], *index = &t->in[1];
  unsigned axis = (unsigned)op_attr_int(t->op, "axis", 0);
  int64_t all = axis_divides_all(source, axis_element_bytes(t->c, t->type));
  info_t r = axis_unknown(t->type);
  for (unsigned d = 0; d < r.rank; d++) {
    r.constancy[d] =
        d == axis ? index->constancy[d] : min64(index->constancy[d], source->constancy[d]);
    r.divisibility[d] = all;
  }
  r.is_nonnegative = source->is_nonnegative;
  return r;
}

// The last dimension, of size 2, holds the two operands.
static info_t rule_join(const struct transfer *t) {
  int64_t bytes = axis_element_bytes(t->c, t->type);
  info_t r = axis_unknown(t->type);
  if (!type_is_tensor(operand_type(t, 0)))
    return r;
  info_t both = axis_join(t->c, operand_type(t, 0), &t->in[0], &t->in[1]);
  unsigned last = both.rank;
  for (unsigned d = 0; d < last; d++) {
    r.contiguity[d] = both.contiguity[d];
    r.divisibility[d] = both.divisibility[d];
    r.constancy[d] = both.constancy[d];
  }
  r.divisibility[last] =
      min64(axis_divides_all(&t->in[0], bytes), axis_divides_all(&t->in[1], bytes));
  r.is_nonnegative = both.is_nonnegative;
  return r;
}

static info_t rule_split(const struct transfer *t) {
  info_t r = t->in[0];
  if (!type_is_tensor(t->type)) {
    r = axis_unknown(t->type);
    r.divisibility[0] = axis_divides_all(&t->in[0], axis_element_bytes(t->c, t->type));
    r.is_nonnegative = t->in[0].is_nonnegative;
    return r;
  }
  r.rank--;
  return r;
}

static info_t rule_unsplat(const struct transfer *t) {
  info_t r = t->in[0];
  r.rank = 1;
  r.contiguity[0] = r.constancy[0] = 1;
  r.divisibility[0] = axis_divides_all(&t->in[0], axis_element_bytes(t->c, t->type));
  return r;
}

info_t axis_transfer_across(const struct transfer *t) {
  switch (t->id) {
  case OP_TILE_REDUCE: return rule_reduce(t);
  case OP_TILE_SCAN: return rule_scan(t);
  case OP_TILE_GATHER: return rule_gather(t);
  case OP_TILE_JOIN: return rule_join(t);
  case OP_TILE_SPLIT: return rule_split(t);
  default: return rule_unsplat(t);
  }
}
