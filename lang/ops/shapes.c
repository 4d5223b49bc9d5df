// SPDX-License-Identifier: Apache-2.0
// Shapes: limits, broadcasting (NumPy's rule, aligned at the right) and the operations it needs.
#include "lang/ops/ops.h"

#include <assert.h>

bool shape_check(struct eval *e, struct type t, struct span at) {
  int64_t numel = 1;
  for (unsigned i = 0; i < t.rank; i++) {
    if (!is_pow2((uint64_t)t.shape[i])) {
      struct diag *d = eval_error(
          e, at, E0205, "dimension %u of the tile is %d, not a power of two", i, t.shape[i]);
      int32_t up = t.shape[i] > 0 && t.shape[i] < TYPE_MAX_NUMEL
                       ? (int32_t)2 << log2_floor((uint64_t)t.shape[i])
                       : 1;
      diag_help(d, "use %d and mask the rest: `mask=offsets < %d`", up, t.shape[i]);
      return false;
    }
    numel *= t.shape[i];
    if (numel > TYPE_MAX_NUMEL) {
      struct diag *d = eval_error(e, at, E0206, "tile of more than %d elements", TYPE_MAX_NUMEL);
      diag_help(d, "let each program work on a smaller block, or loop over blocks");
      return false;
    }
  }
  return true;
}

bool shape_from_value(struct eval *e, struct operand x, struct type *ret) {
  if (value_is_poison(x.v))
    return false;
  struct value one[1] = {x.v};
  struct tuple dims = {one, 1};
  if (x.v.kind == VALUE_TUPLE)
    dims = x.v.tuple;
  if (dims.len > TYPE_MAX_RANK) {
    diag_help(eval_error(e, x.at, E0207, "shape of rank %zu; tiles have at most %d dimensions",
                         dims.len, TYPE_MAX_RANK),
              "join dimensions of the shape: `[2, 3, 4]` becomes `[2, 12]`");
    return false;
  }
  memset(ret, 0, sizeof *ret);
  ret->rank = (uint8_t)dims.len;
  for (size_t i = 0; i < dims.len; i++) {
    int64_t n;
    if (!need_const_int(e, (struct operand){dims.at[i], x.at}, "a shape", &n))
      return false;
    if (n < 1 || n > TYPE_MAX_NUMEL) {
      diag_help(eval_error(e, x.at, n < 1 ? E0205 : E0206,
                           n < 1 ? "dimension %zu of the shape is %lld"
                                 : "dimension %zu of the shape is %lld, more than a tile can hold",
                           i, (long long)n),
                n == -1 ? "nothing is computed for -1: write the number, such as `x.numel // 8`"
                        : "each dimension is a power of two, 1 or more");
      return false;
    }
    ret->shape[i] = (int32_t)n;
  }
  return shape_check(e, *ret, x.at);
}

struct value emit_expand_dims(struct eval *e, struct value v, unsigned axis) {
  struct type t = v.type;
  assert(v.kind == VALUE_RT && axis <= t.rank && t.rank < TYPE_MAX_RANK);
  if (t.rank == 0) // a scalar becomes a tile of one element
    return emit_splat(e, v, (struct type){.rank = 1, .shape = {1}});
  for (unsigned i = t.rank; i > axis; i--)
    t.shape[i] = t.shape[i - 1];
  t.shape[axis] = 1;
  t.rank++;
  return value_rt(build_expand_dims(&e->b, v.rt, axis), t);
}

struct value emit_splat(struct eval *e, struct value scalar, struct type shape_of) {
  assert(scalar.kind == VALUE_RT && !scalar.type.rank);
  if (!shape_of.rank)
    return scalar;
  struct type t = type_shaped(scalar.type, shape_of);
  int64_t n;
  double f;
  if (!t.ptr && value_const_int(e->c, scalar.rt, &n))
    return value_rt(build_const_int(&e->b, type_to_mlir(e->c, t), n), t);
  if (!t.ptr && value_const_float(e->c, scalar.rt, &f))
    return value_rt(build_const_float(&e->b, type_to_mlir(e->c, t), f), t);
  int64_t shape[TYPE_MAX_RANK];
  for (unsigned i = 0; i < shape_of.rank; i++)
    shape[i] = shape_of.shape[i];
  return value_rt(build_splat(&e->b, scalar.rt, shape_of.rank, shape), t);
}

static bool fits(struct type from, struct type to) {
  if (from.rank > to.rank)
    return false;
  for (unsigned i = 0; i < from.rank; i++) {
    int32_t n = from.shape[from.rank - 1 - i];
    if (n != 1 && n != to.shape[to.rank - 1 - i])
      return false;
  }
  return true;
}

static struct value broadcast_fitting(struct eval *e, struct value v, struct type t) {
  assert(fits(v.type, t));
  if (type_shape_eq(v.type, t))
    return v;
  if (!v.type.rank)
    return emit_splat(e, v, t);
  while (v.type.rank < t.rank)
    v = emit_expand_dims(e, v, 0);
  if (type_shape_eq(v.type, t))
    return v;
  int64_t shape[TYPE_MAX_RANK];
  for (unsigned i = 0; i < t.rank; i++)
    shape[i] = t.shape[i];
  return value_rt(build_broadcast(&e->b, v.rt, t.rank, shape), type_shaped(v.type, t));
}

bool broadcast_pair(struct eval *e, struct operand *a, struct operand *b, struct span at) {
  struct type x = a->v.type, y = b->v.type;
  if (type_shape_eq(x, y))
    return true;
  struct type t = x.rank >= y.rank ? x : y, other = x.rank >= y.rank ? y : x;
  bool ok = true;
  for (unsigned i = 0; i < other.rank; i++) {
    int32_t *n = &t.shape[t.rank - 1 - i], m = other.shape[other.rank - 1 - i];
    ok = ok && (*n == m || *n == 1 || m == 1);
    if (*n == 1)
      *n = m;
  }
  if (!ok) {
    report_broadcast_pair(e, *a, *b, at);
    return false;
  }
  if (!shape_check(e, t, at))
    return false;
  a->v = broadcast_fitting(e, a->v, t);
  b->v = broadcast_fitting(e, b->v, t);
  return true;
}

struct value broadcast_to(struct eval *e, struct operand x, struct type t, const char *what,
                          struct span pointer) {
  if (value_is_poison(x.v))
    return x.v;
  if (fits(x.v.type, t))
    return broadcast_fitting(e, x.v, t);
  report_broadcast_to(e, x, t, what, pointer);
  return VALUE_ERROR;
}
