// SPDX-License-Identifier: Apache-2.0
// Prints reductions: neutral elements, combinations of two values, reductions of a tile along an
// axis. NaN wins in maxima and minima; argmax and argmin give the first index.
#include "graph/emit/rows_writer.h"

#include <math.h>

static const char nan_max[] = "@jit\n"
                              "def largest(a, b):\n"
                              "    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)";
static const char nan_min[] = "@jit\n"
                              "def smallest(a, b):\n"
                              "    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)";
static const char times[] = "@jit\n"
                            "def times(a, b):\n"
                            "    return a * b";
static const char first_largest[] = "@jit\n"
                                    "def first_largest(a, i, b, j):\n"
                                    "    above = (a > b) | ((a != a) & (b == b))\n"
                                    "    same = (a == b) | ((a != a) & (b != b))\n"
                                    "    take = above | (same & (i < j))\n"
                                    "    return tl.where(take, a, b), tl.where(take, i, j)";
static const char first_smallest[] = "@jit\n"
                                     "def first_smallest(a, i, b, j):\n"
                                     "    below = (a < b) | ((a != a) & (b == b))\n"
                                     "    same = (a == b) | ((a != a) & (b != b))\n"
                                     "    take = below | (same & (i < j))\n"
                                     "    return tl.where(take, a, b), tl.where(take, i, j)";

static union element extreme(enum dtype t, bool largest) {
  union element v;
  unsigned bits = dtype_bits(t);
  if (dtype_is_float(t))
    v.real = largest ? (double)INFINITY : (double)-INFINITY;
  else if (!dtype_is_signed(t))
    v.integer = largest ? (int64_t)(bits == 64 ? UINT64_MAX : (1ull << bits) - 1) : 0;
  else if (largest)
    v.integer = bits == 64 ? INT64_MAX : (1ll << (bits - 1)) - 1;
  else // the smallest + 1: the literal would need 64 bits
    v.integer = bits == 64 ? -INT64_MAX : -(1ll << (bits - 1));
  return v;
}

const char *reduce_neutral(struct emitter *e, const struct row_reduction *d) {
  enum dtype t = reduce_dtype(d);
  union element v = {0};
  switch (d->stage->op) {
  case REDUCE_SUM:
  case REDUCE_ANY: break;
  case REDUCE_PROD:
  case REDUCE_ALL:
    if (dtype_is_float(t))
      v.real = 1;
    else
      v.integer = 1;
    break;
  case REDUCE_MAX:
  case REDUCE_ARGMAX: v = extreme(t, false); break;
  case REDUCE_MIN:
  case REDUCE_ARGMIN: v = extreme(t, true); break;
  }
  return emit_number(e, t, v);
}

const char *reduce_tile(struct emitter *e, const struct row_reduction *d, const char *of,
                        const char *along) {
  bool floats = dtype_is_float(reduce_dtype(d));
  const char *function = NULL;
  switch (d->stage->op) {
  case REDUCE_SUM: return arena_printf(e->arena, "tl.sum(%s, %s)", of, along);
  case REDUCE_PROD:
    emit_helper(e, times);
    function = "times";
    break;
  case REDUCE_ANY: return arena_printf(e->arena, "tl.max(%s, %s)", of, along);
  case REDUCE_ALL: return arena_printf(e->arena, "tl.min(%s, %s)", of, along);
  case REDUCE_MAX:
    if (!floats)
      return arena_printf(e->arena, "tl.max(%s, %s)", of, along);
    emit_helper(e, nan_max);
    function = "largest";
    break;
  case REDUCE_MIN:
    if (!floats)
      return arena_printf(e->arena, "tl.min(%s, %s)", of, along);
    emit_helper(e, nan_min);
    function = "smallest";
    break;
  case REDUCE_ARGMAX:
    emit_helper(e, first_largest);
    function = "first_largest";
    break;
  case REDUCE_ARGMIN:
    emit_helper(e, first_smallest);
    function = "first_smallest";
    break;
  }
  return arena_printf(e->arena, "tl.reduce(%s, combine_fn=%s, %s)", of, function, along);
}

const char *reduce_two(struct emitter *e, const struct row_reduction *d, const char *a,
                       const char *b) {
  const char *nan = dtype_is_float(reduce_dtype(d)) ? ", propagate_nan=tl.PropagateNan.ALL" : "";
  switch (d->stage->op) {
  case REDUCE_SUM: return arena_printf(e->arena, "%s + %s", a, b);
  case REDUCE_PROD: return arena_printf(e->arena, "%s * %s", a, b);
  case REDUCE_ANY: return arena_printf(e->arena, "tl.maximum(%s, %s)", a, b);
  case REDUCE_ALL: return arena_printf(e->arena, "tl.minimum(%s, %s)", a, b);
  case REDUCE_MAX: return arena_printf(e->arena, "tl.maximum(%s, %s%s)", a, b, nan);
  case REDUCE_MIN: return arena_printf(e->arena, "tl.minimum(%s, %s%s)", a, b, nan);
  default: UNREACHABLE();
  }
}

bool reduce_keeps_zero(const struct scalar *v, const struct expr *axis) {
  switch (v->kind) {
  case SCALAR_LOAD: return v->buffer->id != UINT32_MAX && scalar_has_axis(v, axis);
  case SCALAR_CONVERT: return reduce_keeps_zero(v->in[0], axis);
  case SCALAR_APPLY: break;
  default: return false;
  }
  switch (v->op) {
  case SCALAR_NEG:
  case SCALAR_ABS: return reduce_keeps_zero(v->in[0], axis);
  case SCALAR_MUL: // both: the other factor may be infinite
  case SCALAR_ADD:
  case SCALAR_SUB: return reduce_keeps_zero(v->in[0], axis) && reduce_keeps_zero(v->in[1], axis);
  default: return false;
  }
}
