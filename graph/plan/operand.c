// SPDX-License-Identifier: Apache-2.0
// Classifies operands of tl.dot: loads used directly, or computed values.
#include "graph/plan/operand.h"

#include <math.h>

static bool is_zero(const struct scalar *v) {
  return v->kind == SCALAR_CONST &&
         (dtype_is_float(v->dtype) ? v->constant.real == 0 : v->constant.integer == 0);
}

// Does every value of t have one in `wide`, and does tl.dot take operands of t?
static bool is_exact(enum dtype t, enum dtype wide) {
  if (dtype_is_float(t))
    return dtype_bits(t) < dtype_bits(wide);
  return t == DTYPE_I8 && wide == DTYPE_I32;
}

const struct scalar *operand_load(const struct scalar *v) {
  if (v->kind == SCALAR_LOAD)
    return v->buffer ? v : NULL;
  if (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_LOAD &&
      is_exact(v->in[0]->dtype, v->dtype))
    return operand_load(v->in[0]);
  if (v->kind == SCALAR_MASKED && is_zero(v->in[2]))
    return operand_load(v->in[1]);
  return NULL;
}

enum dtype operand_loaded(const struct scalar *v) {
  const struct scalar *load = operand_load(v);
  return load && (dtype_is_float(load->dtype) || load->dtype == DTYPE_I8) ? load->dtype
                                                                          : DTYPE_NONE;
}

bool operand_is_plain(struct exprs *x, const struct scalar *v, const struct expr *a,
                      const struct expr *b) {
  const struct scalar *load = operand_load(v);
  const struct expr *stride, *rest;
  return load && expr_linear(x, load->index, a, &stride, &rest) &&
         expr_linear(x, rest, b, &stride, &rest);
}

bool operand_is_small_integer(const struct scalar *v) {
  enum { MOST_ZERO = 128 };
  if (v->kind == SCALAR_APPLY && v->op == SCALAR_SUB && v->in[1]->kind == SCALAR_CONST) {
    double zero = v->in[1]->constant.real;
    return zero >= 0 && zero <= MOST_ZERO && zero == floor(zero) && operand_is_small_integer(v->in[0]);
  }
  return v->kind == SCALAR_CONVERT && v->dtype == DTYPE_F32 && dtype_is_int(v->in[0]->dtype) &&
         dtype_bits(v->in[0]->dtype) <= 8 && v->in[0]->has_load;
}

static bool is_eight_bits(enum dtype t) { return t == DTYPE_F8E4NV || t == DTYPE_F8E5; }

enum dtype operand_dtype(const struct scalar *a, const struct scalar *b, enum dtype out) {
  enum dtype x = operand_loaded(a), y = operand_loaded(b);
  if (x == y && x != DTYPE_NONE)
    return x;
  if (is_eight_bits(x) && is_eight_bits(y)) // f16 represents the values of both
    return DTYPE_F16;
  if (a->dtype == DTYPE_F64 || b->dtype == DTYPE_F64)
    return DTYPE_F64;
  return out == DTYPE_F16 || out == DTYPE_BF16 ? out : DTYPE_F32;
}
