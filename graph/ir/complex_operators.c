// SPDX-License-Identifier: Apache-2.0
// Operators on complex tensors as operators on their real and imaginary parts.
#include "graph/ir/complex.h"
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define RE(v) complex_real(b, (v))
#define IM(v) complex_imag(b, (v))

// ---- between real and complex ----

static void wants_complex(struct build *b, struct node *n) {
  compose_error(b, n, E1005, "a complex tensor is required");
}

void compose_complex_only(struct build *b, struct node *n) { wants_complex(b, n); }

void complex_view_as_real(struct build *b, struct node *n) { n->results[0] = complex_pairs(b, X); }

void compose_view_as_complex(struct build *b, struct node *n) {
  struct value *x = X;
  if (x->rank == 0 || !expr_is(x->shape[x->rank - 1], 2))
    compose_error(b, n, E1004, "the last dimension of the tensor is not 2");
  else if (!dtype_is_float(x->dtype))
    compose_error(b, n, E1005, "a tensor of floats is required");
  else
    n->results[0] = complex_of_pairs(b, x);
}

void complex_real_part(struct build *b, struct node *n) { n->results[0] = RE(X); }
void complex_imag_part(struct build *b, struct node *n) { n->results[0] = IM(X); }

void complex_conj(struct build *b, struct node *n) {
  n->results[0] = complex_of_parts(b, RE(X), build_unop(b, OP_NEG, IM(X)));
}

void complex_adjoint(struct build *b, struct node *n) {
  if (n->op == OP_MATRIX_H && X->rank != 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions, not a matrix", X->rank);
    return;
  }
  struct value *v = BUILD(b, OP_TRANSPOSE, TENSOR(X), arg_int(b->g, -2), arg_int(b->g, -1));
  n->results[0] = v ? BUILD(b, OP_CONJ, TENSOR(v)) : NULL;
}

void compose_adjoint(struct build *b, struct node *n) { complex_adjoint(b, n); }

static struct value *length(struct build *b, struct value *z) {
  return build_binop(b, OP_HYPOT, RE(z), IM(z));
}

static struct value *direction(struct build *b, struct value *z) {
  return build_binop(b, OP_ATAN2, IM(z), RE(z));
}

void complex_abs(struct build *b, struct node *n) { n->results[0] = length(b, X); }
void complex_angle(struct build *b, struct node *n) { n->results[0] = direction(b, X); }

// Of a real number: 0 or pi.
void compose_angle(struct build *b, struct node *n) {
  struct value *x = dtype_is_float(X->dtype) ? X : build_convert(b, X, DTYPE_F32);
  struct value *below = build_real(b, OP_LT_TENSOR, x, 0);
  struct value *angle = build_scale(b, build_convert(b, below, x->dtype), M_PI);
  n->results[0] = build_where(b, build_unop(b, OP_ISNAN, x), x, angle);
}

static bool are_parts(struct build *b, const struct node *n) {
  if (X->dtype == Y->dtype && dtype_is_float(X->dtype))
    return true;
  compose_error(b, n, E1005, "the parts have the dtypes %s and %s; both need the same float",
                dtype_name(X->dtype), dtype_name(Y->dtype));
  return false;
}

void compose_complex(struct build *b, struct node *n) {
  if (are_parts(b, n))
    n->results[0] = complex_of_parts(b, X, Y);
}

// e^(i angle) size
void compose_polar(struct build *b, struct node *n) {
  if (are_parts(b, n))
    n->results[0] = complex_of_parts(b, build_mul(b, X, build_unop(b, OP_COS, Y)),
                                     build_mul(b, X, build_unop(b, OP_SIN, Y)));
}

// to a complex dtype, or to the real part
void complex_convert(struct build *b, struct node *n) {
  struct arg t = n->args[1];
  if (t.kind == ARG_COMPLEX)
    n->results[0] =
        complex_of_parts(b, build_convert(b, RE(X), t.dtype), build_convert(b, IM(X), t.dtype));
  else if (t.kind == ARG_DTYPE)
    n->results[0] = build_convert(b, RE(X), t.dtype);
  else
    n->results[0] = complex_of_parts(b, RE(X), IM(X));
}

// A constant: the number, or one part of it, of dtype `t`.
static struct value *constant(struct build *b, struct arg size, double value, enum dtype t) {
  return BUILD(b, OP_FULL, size, ARG_F(value), ARG_D(t));
}

static void fill(struct build *b, struct node *n, struct arg size, double value, struct arg t,
                 enum dtype otherwise) {
  if (t.kind == ARG_DTYPE) {
    n->results[0] = constant(b, size, value, t.dtype);
    return;
  }
  enum dtype part = t.kind == ARG_COMPLEX ? t.dtype : otherwise;
  n->results[0] = complex_of_parts(b, constant(b, size, value, part), constant(b, size, 0, part));
}

// size [fill_value] dtype
void complex_full(struct build *b, struct node *n) {
  bool is_scalar = n->op == OP_SCALAR_TENSOR;
  bool has_value = is_scalar || n->op == OP_FULL;
  double value = has_value ? node_real(n, is_scalar ? 0 : 1) : n->op == OP_ONES;
  fill(b, n, is_scalar ? arg_ints(b->g, 0, NULL) : n->args[0], value,
       n->args[n->op == OP_FULL ? 2 : 1], DTYPE_F32);
}

void complex_zero(struct build *b, struct node *n) {
  struct value *part = BUILD(b, OP_ZEROS_LIKE, TENSOR(RE(X)));
  n->results[0] = complex_of_parts(b, part, part);
}

// self [size] [fill_value] dtype
void complex_full_like(struct build *b, struct node *n) {
  bool has_value = n->op == OP_FULL_LIKE || n->op == OP_NEW_FULL;
  unsigned has_size = n->op == OP_NEW_ZEROS || n->op == OP_NEW_ONES || n->op == OP_NEW_FULL;
  struct arg size = has_size ? n->args[1] : arg_exprs(b->g, X->rank, X->shape);
  double value =
      has_value ? node_real(n, 1 + has_size) : n->op == OP_ONES_LIKE || n->op == OP_NEW_ONES;
  struct arg t = n->args[1 + has_size + has_value];
  if (t.kind == ARG_NONE && !X->complex)
    t = ARG_D(X->dtype);
  fill(b, n, size, value, t, X->dtype);
}

// ---- arithmetic ----

// A part of an operand, which may be a number.
static struct arg part(struct build *b, const struct node *n, unsigned i, bool imaginary) {
  struct value *v = node_value(n, i);
  if (!v)
    return imaginary ? ARG_F(0) : n->args[i];
  return TENSOR(imaginary ? IM(v) : RE(v));
}

static bool is_complex(const struct node *n, unsigned i) {
  return n->args[i].kind == ARG_VALUE && n->args[i].value->complex;
}

// x +- alpha y
void complex_add(struct build *b, struct node *n) {
  bool subtracts = n->op == OP_SUB_TENSOR || n->op == OP_SUB_SCALAR;
  struct value *re = BUILD(b, subtracts ? OP_SUB_TENSOR : OP_ADD_TENSOR, part(b, n, 0, false),
                           part(b, n, 1, false), n->args[2]);
  struct value *im;
  if (!is_complex(n, 1))
    im = IM(X);
  else if (is_complex(n, 0))
    im = BUILD(b, subtracts ? OP_SUB_TENSOR : OP_ADD_TENSOR, TENSOR(IM(X)), TENSOR(IM(Y)),
               n->args[2]);
  else
    im = build_scale(b, IM(Y), subtracts ? -node_real(n, 2) : node_real(n, 2));
  n->results[0] = complex_of_parts(b, re, im);
}

static struct value *times(struct build *b, struct value *x, struct value *y) {
  if (!x || !y)
    return NULL;
  if (!x->complex || !y->complex) {
    struct value *z = x->complex ? x : y, *real = x->complex ? y : x;
    return complex_of_parts(b, build_mul(b, RE(z), real), build_mul(b, IM(z), real));
  }
  struct value *re = build_sub(b, build_mul(b, RE(x), RE(y)), build_mul(b, IM(x), IM(y)));
  struct value *im = build_add(b, build_mul(b, RE(x), IM(y)), build_mul(b, IM(x), RE(y)));
  return complex_of_parts(b, re, im);
}

void complex_mul(struct build *b, struct node *n) {
  if (X && Y) {
    n->results[0] = times(b, X, Y);
    return;
  }
  unsigned z = X ? 0 : 1;
  struct value *v = node_value(n, z);
  n->results[0] = complex_of_parts(b, BUILD(b, OP_MUL_TENSOR, TENSOR(RE(v)), n->args[1 - z]),
                                   BUILD(b, OP_MUL_TENSOR, TENSOR(IM(v)), n->args[1 - z]));
}

// y is scaled to about 1, so that its square neither overflows nor vanishes.
static struct value *quotient(struct build *b, struct arg xre, struct arg xim, struct value *y) {
  struct value *re = RE(y), *im = IM(y);
  struct value *size =
      build_binop(b, OP_MAXIMUM, build_unop(b, OP_ABS, re), build_unop(b, OP_ABS, im));
  struct value *c = build_div(b, re, size), *d = build_div(b, im, size);
  struct value *norm = build_add(b, build_mul(b, re, c), build_mul(b, im, d));
#define TIMES(x, y) BUILD(b, OP_MUL_TENSOR, (x), TENSOR(y))
  struct value *above = build_add(b, TIMES(xre, c), TIMES(xim, d));
  struct value *beside = build_sub(b, TIMES(xim, c), TIMES(xre, d));
#undef TIMES
  return complex_of_parts(b, build_div(b, above, norm), build_div(b, beside, norm));
}

void complex_div(struct build *b, struct node *n) {
  if (is_complex(n, 1)) {
    n->results[0] = quotient(b, part(b, n, 0, false), part(b, n, 0, true), Y);
    return;
  }
  n->results[0] = complex_of_parts(b, BUILD(b, OP_DIV_TENSOR, TENSOR(RE(X)), n->args[1]),
                                   BUILD(b, OP_DIV_TENSOR, TENSOR(IM(X)), n->args[1]));
}

static struct value *reciprocal(struct build *b, struct value *z) {
  return quotient(b, ARG_F(1), ARG_F(0), z);
}

void complex_reciprocal(struct build *b, struct node *n) { n->results[0] = reciprocal(b, X); }
void complex_square(struct build *b, struct node *n) { n->results[0] = times(b, X, X); }

static struct value *exponential(struct build *b, struct value *z) {
  struct value *size = build_unop(b, OP_EXP, RE(z));
  return complex_of_parts(b, build_mul(b, size, build_unop(b, OP_COS, IM(z))),
                          build_mul(b, size, build_unop(b, OP_SIN, IM(z))));
}

static struct value *logarithm(struct build *b, struct value *z) {
  return complex_of_parts(b, build_unop(b, OP_LOG, length(b, z)), direction(b, z));
}

// t = sqrt((|re| + |z|) / 2) is one part, |im| / 2t the other: no cancellation.
static struct value *root(struct build *b, struct value *z) {
  struct value *re = RE(z), *im = IM(z);
  struct value *sum = build_add(b, build_unop(b, OP_ABS, re), length(b, z));
  struct value *t = build_unop(b, OP_SQRT, build_scale(b, sum, 0.5));
  struct value *is_zero = build_real(b, OP_EQ_TENSOR, t, 0);
  struct value *other = build_div(b, build_unop(b, OP_ABS, im), build_scale(b, t, 2));
  other = build_where(b, is_zero, t, other);
  struct value *right = build_real(b, OP_GE_TENSOR, re, 0);
  return complex_of_parts(b, build_where(b, right, t, other),
                          build_binop(b, OP_COPYSIGN_TENSOR, build_where(b, right, other, t), im));
}

void complex_exp(struct build *b, struct node *n) { n->results[0] = exponential(b, X); }
void complex_log(struct build *b, struct node *n) { n->results[0] = logarithm(b, X); }
void complex_sqrt(struct build *b, struct node *n) { n->results[0] = root(b, X); }

void complex_sin(struct build *b, struct node *n) {
  struct value *re = RE(X), *im = IM(X);
  n->results[0] =
      complex_of_parts(b, build_mul(b, build_unop(b, OP_SIN, re), build_unop(b, OP_COSH, im)),
                       build_mul(b, build_unop(b, OP_COS, re), build_unop(b, OP_SINH, im)));
}

void complex_cos(struct build *b, struct node *n) {
  struct value *re = RE(X), *im = IM(X);
  struct value *down = build_mul(b, build_unop(b, OP_SIN, re), build_unop(b, OP_SINH, im));
  n->results[0] =
      complex_of_parts(b, build_mul(b, build_unop(b, OP_COS, re), build_unop(b, OP_COSH, im)),
                       build_unop(b, OP_NEG, down));
}

enum { MAX_FACTORS = 16 };

// z to a whole number above 0
static struct value *repeated(struct build *b, struct value *z, int exponent) {
  struct value *v = NULL;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      v = v ? times(b, v, z) : z;
    z = exponent > 1 ? times(b, z, z) : z;
  }
  return v;
}

// e^(y log x); 0 for x = 0, if the real part of y is positive
static struct value *power(struct build *b, struct value *x, struct value *y) {
  struct value *z = exponential(b, times(b, logarithm(b, x), y));
  struct value *zero = build_binop(b, OP_LOGICAL_AND, build_real(b, OP_EQ_TENSOR, RE(x), 0),
                                   build_real(b, OP_EQ_TENSOR, IM(x), 0));
  struct value *ends = build_binop(b, OP_LOGICAL_AND, zero, build_real(b, OP_GT_TENSOR, RE(y), 0));
  return complex_of_parts(b, build_where_else(b, build_unop(b, OP_LOGICAL_NOT, ends), RE(z), 0),
                          build_where_else(b, build_unop(b, OP_LOGICAL_NOT, ends), IM(z), 0));
}

void complex_pow(struct build *b, struct node *n) {
  struct value *x = X->complex ? X : complex_of_parts(b, X, IM(X));
  if (Y) {
    n->results[0] = power(b, x, Y->complex ? Y : complex_of_parts(b, Y, IM(Y)));
    return;
  }
  double y = node_real(n, 1), size = fabs(y);
  if (y == 0.5)
    n->results[0] = root(b, x);
  else if (size >= 1 && size <= MAX_FACTORS && size == floor(size))
    n->results[0] = y > 0 ? repeated(b, x, (int)size) : reciprocal(b, repeated(b, x, (int)size));
  else
    n->results[0] = power(b, x, build_number(b, y, RE(x)->dtype));
}

// z / |z|
void complex_sgn(struct build *b, struct node *n) {
  struct value *size = length(b, X);
  size = build_where_else(b, build_real(b, OP_NE_TENSOR, size, 0), size, 1);
  n->results[0] = complex_of_parts(b, build_div(b, RE(X), size), build_div(b, IM(X), size));
}

void complex_equal(struct build *b, struct node *n) {
  bool differs = n->op == OP_NE_TENSOR || n->op == OP_NE_SCALAR;
  enum operator_id op = differs ? OP_NE_TENSOR : OP_EQ_TENSOR;
  struct value *re = BUILD(b, op, part(b, n, 0, false), part(b, n, 1, false));
  struct value *im = BUILD(b, op, part(b, n, 0, true), part(b, n, 1, true));
  n->results[0] = build_binop(b, differs ? OP_LOGICAL_OR : OP_LOGICAL_AND, re, im);
}

void complex_product(struct build *b, struct node *n) {
  struct value *x = X, *y = Y;
  if (!x->complex || !y->complex) {
    n->results[0] =
        complex_of_parts(b, build_binop(b, n->op, RE(x), RE(y)),
                         build_binop(b, n->op, x->complex ? IM(x) : x, x->complex ? y : IM(y)));
    return;
  }
  struct value *re =
      build_sub(b, build_binop(b, n->op, RE(x), RE(y)), build_binop(b, n->op, IM(x), IM(y)));
  struct value *im =
      build_add(b, build_binop(b, n->op, RE(x), IM(y)), build_binop(b, n->op, IM(x), RE(y)));
  n->results[0] = complex_of_parts(b, re, im);
}

static struct value *scaled(struct build *b, struct value *v, double by) {
  return by == 1 ? v : BUILD(b, OP_MUL_TENSOR, TENSOR(v), ARG_F(by));
}

// beta self + alpha (x y)
void complex_add_product(struct build *b, struct node *n) {
  enum operator_id op = n->op == OP_ADDMM ? OP_MM : OP_BMM;
  struct value *product = build_binop(b, op, Y, node_value(n, 2));
  double beta = node_real(n, 3), alpha = node_real(n, 4);
  n->results[0] = beta == 0 ? scaled(b, product, alpha)
                            : build_add(b, scaled(b, X, beta), scaled(b, product, alpha));
}

// The sum of the products of two vectors, or of a matrix's rows and a vector.
void complex_dot(struct build *b, struct node *n) {
  if (!X->complex || !Y->complex || X->dtype != Y->dtype) {
    compose_error(b, n, E1005, "operands of different dtypes; both need the same complex one");
    return;
  }
  if (Y->rank != 1 || X->rank != (n->op == OP_MV ? 2 : 1)) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions", X->rank, Y->rank);
    return;
  }
  struct value *x = n->op == OP_VDOT ? build_unop(b, OP_CONJ, X) : X;
  n->results[0] = BUILD(b, OP_SUM_DIM, TENSOR(build_mul(b, x, Y)), arg_int(b->g, -1), ARG_B(false));
}

// Of the absolute values.
void complex_norm(struct build *b, struct node *n) {
  struct arg args[OPERATOR_MAX_PARAMETERS];
  for (unsigned i = 0; i < n->arg_count; i++)
    args[i] = n->args[i].kind == ARG_COMPLEX ? ARG_D(n->args[i].dtype) : n->args[i];
  args[0] = TENSOR(length(b, X));
  struct node *real = graph_append(b->g, n->op, args, n->arg_count, b->at);
  n->results[0] = real ? real->results[0] : NULL;
}

// ---- the same for each part ----

// Another reference to the same parts.
void complex_same(struct build *b, struct node *n) {
  n->results[0] = X->complex->pairs ? complex_of_pairs(b, X->complex->pairs)
                                    : complex_of_parts(b, RE(X), IM(X));
}

// The arguments for one part. `reals`: the imaginary part of a real tensor is 0; else a real tensor
// is an index, and the same for both.
static struct arg part_of_arg(struct build *b, struct arg a, bool imaginary, bool reals) {
  if (a.kind == ARG_COMPLEX)
    return ARG_D(a.dtype);
  if (a.kind == ARG_VALUE && (a.value->complex || reals))
    return TENSOR(imaginary ? IM(a.value) : RE(a.value));
  if (a.kind == ARG_LIST) {
    struct arg list = a;
    list.list.at = arena_array(b->g->arena, struct arg, a.list.count);
    for (size_t i = 0; i < a.list.count; i++)
      list.list.at[i] = part_of_arg(b, a.list.at[i], imaginary, reals);
    return list;
  }
  return a;
}

// A condition, or indices, which have one part.
static bool is_real(struct build *b, const struct node *n, unsigned i) {
  if (!complex_in(&n->args[i], 1))
    return true;
  size_t count;
  compose_error(b, n, E1005, "`%.*s` is complex; only numbers can be, not conditions and indices",
                STR_ARG(operator_parameters(n->op, &count)[i].name));
  return false;
}

// Appends the operator for each part. Bit i of `kept`: argument i is no tensor of numbers but a
// condition, or indices. Bit i of `numbers`: it is a number, or may be one, whose imaginary part
// is 0.
static void each_part(struct build *b, struct node *n, unsigned kept, bool reals,
                      unsigned numbers) {
  struct node *parts[2];
  for (unsigned i = 0; i < n->arg_count; i++)
    if (kept >> i & 1 && !is_real(b, n, i))
      return;
  for (unsigned k = 0; k < 2; k++) {
    struct arg args[OPERATOR_MAX_PARAMETERS];
    for (unsigned i = 0; i < n->arg_count; i++) {
      bool is_number = numbers >> i & 1 && n->args[i].kind != ARG_VALUE;
      args[i] = is_number && k  ? ARG_F(0)
                : kept >> i & 1 ? n->args[i]
                                : part_of_arg(b, n->args[i], k, reals);
    }
    if (!(parts[k] = graph_append(b->g, n->op, args, n->arg_count, b->at)))
      return;
  }
  n->result_count = parts[0]->result_count;
  n->results = arena_array(b->g->arena, struct value *, n->result_count);
  for (uint32_t i = 0; i < n->result_count; i++)
    n->results[i] = complex_of_parts(b, parts[0]->results[i], parts[1]->results[i]);
}

void complex_parts(struct build *b, struct node *n) { each_part(b, n, 0, false, 0); }

// Real operands are promoted.
void complex_mixed(struct build *b, struct node *n) {
  switch (n->op) {
  case OP_WHERE_SELF: each_part(b, n, 1, true, 6); break; // condition self other
  case OP_INDEX_PUT: each_part(b, n, 2, true, 0); break;  // self indices values
  case OP_SCATTER_SRC:                                    // self dim index src
  case OP_SCATTER_ADD: each_part(b, n, 4, true, 0); break;
  default: each_part(b, n, 0, true, 0);
  }
}

void complex_masked_fill(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_WHERE_SELF, TENSOR(Y), n->args[2], TENSOR(X));
}

// self pad value
void complex_pad(struct build *b, struct node *n) { each_part(b, n, 0, false, 4); }
