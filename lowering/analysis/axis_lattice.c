// SPDX-License-Identifier: Apache-2.0
// The lattice of the axis analysis: its top, constants, join, equality, and the divisibility of the
// elements of a tile. Also the transfer function of pointwise ops, which axis_rules.c and
// axis_shape_rules.c begin with.
#include "lowering/analysis/axis_transfer.h"

int64_t axis_product(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) || r > AXIS_ANY ? AXIS_ANY : r;
}

int64_t axis_power_of_two(int64_t v) {
  if (v == 0)
    return AXIS_ANY;
  uint64_t u = (uint64_t)v;
  uint64_t low = u & (~u + 1);
  return low > (uint64_t)AXIS_ANY ? AXIS_ANY : (int64_t)low;
}

unsigned axis_rank_of(MlirType t) {
  unsigned rank = type_is_tensor(t) ? tensor_rank(t) : 1;
  return rank == 0 ? 1 : rank > LL_MAX_OUT ? LL_MAX_OUT : rank;
}

// The largest group a dimension can hold.
int64_t axis_dim_limit(MlirType t, unsigned d) {
  return type_is_tensor(t) && d < tensor_rank(t) ? axis_power_of_two(tensor_dim(t, d)) : 1;
}

int64_t axis_element_bytes(struct ir_context *c, MlirType type) {
  MlirType e = element_type(type);
  if (!type_is_ptr(c, e))
    return 1;
  unsigned bits = type_bits(c, ptr_pointee(c, e));
  return bits <= 8 ? 1 : (int64_t)bits / 8;
}

info_t axis_unknown(MlirType type) {
  info_t r = {.rank = axis_rank_of(type)};
  for (unsigned d = 0; d < r.rank; d++)
    r.contiguity[d] = r.divisibility[d] = r.constancy[d] = 1;
  return r;
}

info_t axis_of_constant(MlirType type, int64_t v) {
  info_t r = axis_unknown(type);
  for (unsigned d = 0; d < r.rank; d++) {
    r.divisibility[d] = axis_power_of_two(v);
    r.constancy[d] = axis_dim_limit(type, d);
  }
  r.is_constant = true;
  r.constant = v;
  r.is_nonnegative = v >= 0;
  return r;
}

bool axis_equal(const info_t *a, const info_t *b) {
  if (a->rank != b->rank || a->is_constant != b->is_constant ||
      a->is_nonnegative != b->is_nonnegative || (a->is_constant && a->constant != b->constant))
    return false;
  for (unsigned d = 0; d < a->rank; d++)
    if (a->contiguity[d] != b->contiguity[d] || a->divisibility[d] != b->divisibility[d] ||
        a->constancy[d] != b->constancy[d])
      return false;
  return true;
}

// What divides the element at every multiple of `group` along d. `bytes` is the step between
// neighbours.
int64_t axis_divides_at(const info_t *x, unsigned d, int64_t group, int64_t bytes) {
  return group >= x->contiguity[d] ? x->divisibility[d]
                                   : min64(x->divisibility[d], axis_product(group, bytes));
}

// What divides every element.
int64_t axis_divides_all(const info_t *x, int64_t bytes) {
  int64_t best = 1;
  for (unsigned d = 0; d < x->rank; d++)
    best = max64(best, axis_divides_at(x, d, 1, bytes));
  return best;
}

info_t axis_join(struct ir_context *c, MlirType type, const info_t *a, const info_t *b) {
  if (a->rank != b->rank)
    return axis_unknown(type);
  int64_t bytes = axis_element_bytes(c, type);
  info_t r = {.rank = a->rank};
  for (unsigned d = 0; d < r.rank; d++) {
    int64_t group = min64(a->contiguity[d], b->contiguity[d]);
    r.contiguity[d] = group;
    r.divisibility[d] =
        min64(axis_divides_at(a, d, group, bytes), axis_divides_at(b, d, group, bytes));
    r.constancy[d] = min64(a->constancy[d], b->constancy[d]);
  }
  r.is_constant = a->is_constant && b->is_constant && a->constant == b->constant;
  r.constant = r.is_constant ? a->constant : 0;
  r.is_nonnegative = a->is_nonnegative && b->is_nonnegative;
  return r;
}

// Any function of the operands taken element by element.
info_t axis_rule_pointwise(const struct transfer *t) {
  info_t r = axis_unknown(t->type);
  intptr_t n = mlirOperationGetNumOperands(t->op);
  for (unsigned d = 0; d < r.rank; d++) {
    r.constancy[d] = axis_dim_limit(t->type, d);
    for (intptr_t i = 0; i < n; i++)
      if (t->in[i].rank == r.rank)
        r.constancy[d] = min64(r.constancy[d], t->in[i].constancy[d]);
  }
  return r;
}
