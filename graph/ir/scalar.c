// SPDX-License-Identifier: Apache-2.0
// Evaluates operations on single elements, for the interpreter and for constant folding.
#include "graph/ir/scalar.h"

#include <math.h>

static const struct scalar_row rows[] = {
#define SCALAR(id, arity, type, text) {#id, arity, #type[0], text},
#include "graph/ir/scalars.def"
};

const struct scalar_row *scalar_row(enum scalar_op op) { return &rows[op]; }

// ---- floats ----

static double floor_remainder(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// floor(a / b) without the rounding of the division.
static double floor_quotient(double a, double b) {
  if (b == 0)
    return a / b;
  double r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0))
    q -= 1;
  double whole = floor(q);
  return q - whole > 0.5 ? whole + 1 : q == 0 ? copysign(0, a / b) : whole;
}

static double choose(double a, double b, bool largest) {
  if (isnan(a) || isnan(b))
    return NAN;
  return (largest ? a > b : a < b) ? a : b;
}

static double sign_of(double a) { return (a > 0) - (a < 0); } // 0 for NaN

static double sigmoid(double a) { return a >= 0 ? 1 / (1 + exp(-a)) : exp(a) / (1 + exp(a)); }

// Newton iterations from a logarithmic approximation.
static double erfinv(double a) {
  if (!(fabs(a) < 1))
    return fabs(a) == 1 ? a * (double)INFINITY : (double)NAN;
  double size = fabs(a), l = log1p(-size * size), half = 4.33 + l / 2,
         x = sqrt(sqrt(half * half - l / 0.147) - half);
  for (int i = 0; i < 8 && size > 0; i++) {
    // Near 1, erfc is more accurate.
    double error = size > 0.5 ? (1 - size) - erfc(x) : erf(x) - size;
    double step = error * exp(x * x) * 0.88622692545275801;
    x -= step / (1 + x * step);
  }
  return size > 0 ? copysign(x, a) : a;
}

static double normcdf(double a) { return erfc(-a * 0.70710678118654752) / 2; }

// The inverse of normcdf: Newton iterations on its logarithm from a rational approximation
// (Abramowitz and Stegun 26.2.23).
static double ndtri(double p) {
  if (!(p > 0 && p < 1))
    return p == 0 ? -(double)INFINITY : p == 1 ? (double)INFINITY : (double)NAN;
  if (p > 0.5)
    return -ndtri(1 - p);
  double u = sqrt(-2 * log(p));
  double x = (2.515517 + u * (0.802853 + u * 0.010328)) /
                 (1 + u * (1.432788 + u * (0.189269 + u * 0.001308))) -
             u;
  for (int i = 0; i < 5; i++) {
    double c = normcdf(x), density = exp(-x * x / 2) * 0.39894228040143268;
    x -= log(c / p) * (c / density);
  }
  return x;
}

// Operations from floats to floats. False if `op` is not one of them.
static bool eval_arithmetic(enum scalar_op op, const double *in, double *ret) {
  double a = in[0], b = in[1];
  switch (op) {
#define CASE(op, value)                                                                            \
  case SCALAR_##op: *ret = (value); return true;
    CASE(ADD, a + b)
    CASE(SUB, a - b)
    CASE(MUL, a * b)
    CASE(DIV, a / b)
    CASE(FLOOR_DIV, floor_quotient(a, b))
    CASE(TRUNC_DIV, trunc(a / b))
    CASE(REMAINDER, floor_remainder(a, b))
    CASE(FMOD, fmod(a, b))
    CASE(POW, pow(a, b))
    CASE(ATAN2, atan2(a, b))
    CASE(MAXIMUM, choose(a, b, true))
    CASE(MINIMUM, choose(a, b, false))
    CASE(FMA, fma(a, b, in[2]))
    CASE(NEG, -a)
    CASE(ABS, fabs(a))
    CASE(SIGN, sign_of(a))
    CASE(FLOOR, floor(a))
    CASE(CEIL, ceil(a))
    CASE(TRUNC, trunc(a))
    CASE(ROUND, nearbyint(a))
  default: return false;
  }
}

// Modified Bessel function of order 0 or 1: all terms of its power series have one sign.
static double bessel_i(int order, double x) {
  double half = x / 2, term = order ? half : 1, sum = term;
  if (isinf(x))
    return order ? x : (double)INFINITY;
  for (int k = 1; fabs(term) > fabs(sum) * 1e-17 && !isinf(sum); k++)
    sum += term *= half * half / (k * (double)(k + order));
  return sum;
}

// exp(x^2) erfc(x); for large x the asymptotic series.
static double erfcx(double x) {
  if (x < 25)
    return exp(x * x) * erfc(x);
  double y = 1 / (2 * x * x);
  return (1 - y * (1 - 3 * y * (1 - 5 * y))) / (x * sqrt(M_PI));
}

// Functions of one float. False if `op` is not one of them.
static bool eval_function(enum scalar_op op, double a, double *ret) {
  switch (op) {
    CASE(EXP, exp(a))
    CASE(EXP2, exp2(a))
    CASE(EXPM1, expm1(a))
    CASE(LOG, log(a))
    CASE(LOG2, log2(a))
    CASE(LOG1P, log1p(a))
    CASE(SQRT, sqrt(a))
    CASE(RSQRT, 1 / sqrt(a))
    CASE(RECIPROCAL, 1 / a)
    CASE(SIN, sin(a))
    CASE(COS, cos(a))
    CASE(TAN, tan(a))
    CASE(ASIN, asin(a))
    CASE(ACOS, acos(a))
    CASE(ATAN, atan(a))
    CASE(SINH, sinh(a))
    CASE(COSH, cosh(a))
    CASE(TANH, tanh(a))
    CASE(ERF, erf(a))
    CASE(ERFC, erfc(a))
    CASE(ERFINV, erfinv(a))
    CASE(LGAMMA, lgamma(a))
    CASE(BESSEL_J0, j0(a))
    CASE(BESSEL_J1, j1(a))
    CASE(BESSEL_Y0, y0(a))
    CASE(BESSEL_Y1, y1(a))
    CASE(BESSEL_I0, bessel_i(0, a))
    CASE(BESSEL_I1, bessel_i(1, a))
    CASE(ERFCX, erfcx(a))
    CASE(NDTRI, ndtri(a))
    CASE(SIGMOID, sigmoid(a))
    CASE(FAST_EXP, exp(a))
    CASE(FAST_SQRT, sqrt(a))
    CASE(FAST_TANH, tanh(a))
    CASE(FAST_ERF, erf(a))
    CASE(FAST_SIGMOID, sigmoid(a))
    CASE(FAST_NORMCDF, normcdf(a))
    CASE(FAST_GELU, a * normcdf(a))
#undef CASE
  default: return false;
  }
}

static bool eval_real(enum scalar_op op, const double *in, double *ret) {
  return eval_arithmetic(op, in, ret) || eval_function(op, in[0], ret);
}

// Operations from floats to bool.
static bool test_real(enum scalar_op op, double a, double b, bool *ret) {
  switch (op) {
#define CASE(op, value)                                                                            \
  case SCALAR_##op: *ret = (value); return true;
    CASE(ISNAN, isnan(a))
    CASE(ISINF, isinf(a))
    CASE(EQ, a == b)
    CASE(NE, a != b)
    CASE(LT, a < b)
    CASE(LE, a <= b)
    CASE(GT, a > b)
    CASE(GE, a >= b)
    CASE(NOT, a == 0)
    CASE(AND, a != 0 && b != 0)
    CASE(OR, a != 0 || b != 0)
    CASE(XOR, (a != 0) != (b != 0))
#undef CASE
  default: return false;
  }
}

// ---- bits of floats ----

// Wraps to the width of `t`, two's complement.
static int64_t wrap(int64_t v, enum dtype t) {
  unsigned bits = dtype_bits(t);
  if (t == DTYPE_I1)
    return v != 0;
  if (bits >= 64)
    return v;
  uint64_t low = (uint64_t)v & ((1ull << bits) - 1);
  if (dtype_is_signed(t) && low >> (bits - 1))
    low |= ~0ull << bits;
  return (int64_t)low;
}

static const struct {
  enum dtype dtype;
  enum scalar_op to_bits, from_bits;
} bit_casts[] = {
    {DTYPE_F64, SCALAR_BITS_OF_F64, SCALAR_BITS_TO_F64},
    {DTYPE_F32, SCALAR_BITS_OF_F32, SCALAR_BITS_TO_F32},
    {DTYPE_F16, SCALAR_BITS_OF_F16, SCALAR_BITS_TO_F16},
    {DTYPE_BF16, SCALAR_BITS_OF_BF16, SCALAR_BITS_TO_BF16},
    {DTYPE_F8E4NV, SCALAR_BITS_OF_F8E4NV, SCALAR_BITS_TO_F8E4NV},
    {DTYPE_F8E5, SCALAR_BITS_OF_F8E5, SCALAR_BITS_TO_F8E5},
};
enum { BIT_CASTS = sizeof bit_casts / sizeof bit_casts[0] };

enum scalar_op scalar_to_bits(enum dtype t) {
  for (unsigned i = 0; i < BIT_CASTS; i++)
    if (bit_casts[i].dtype == t)
      return bit_casts[i].to_bits;
  return SCALAR_NONE;
}

enum scalar_op scalar_from_bits(enum dtype t) {
  for (unsigned i = 0; i < BIT_CASTS; i++)
    if (bit_casts[i].dtype == t)
      return bit_casts[i].from_bits;
  return SCALAR_NONE;
}

enum dtype dtype_of_bits(enum dtype t) {
  switch (dtype_bytes(t)) {
  case 1: return DTYPE_I8;
  case 2: return DTYPE_I16;
  case 4: return DTYPE_I32;
  default: return DTYPE_I64;
  }
}

static bool eval_bit_cast(enum scalar_op op, union element in, union element *ret) {
  for (unsigned i = 0; i < BIT_CASTS; i++) {
    enum dtype t = bit_casts[i].dtype;
    uint64_t bits = (uint64_t)in.integer;
    if (bit_casts[i].from_bits == op)
      return ret->real = dtype_load(t, &bits), true;
    if (bit_casts[i].to_bits != op)
      continue;
    bits = 0;
    dtype_store(t, &bits, in.real);
    ret->integer = wrap((int64_t)bits, dtype_of_bits(t));
    return true;
  }
  return false;
}

// ---- integers ----

static int64_t divide(int64_t a, int64_t b, bool is_signed, bool floors) {
  if (b == 0)
    return 0;
  if (!is_signed)
    return (int64_t)((uint64_t)a / (uint64_t)b);
  if (b == -1)
    return (int64_t)(0 - (uint64_t)a);
  return a / b - (floors && a % b != 0 && (a < 0) != (b < 0));
}

static int64_t power(int64_t a, int64_t b, bool is_signed) {
  uint64_t base = (uint64_t)a, result = 1;
  if (is_signed && b < 0)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  for (uint64_t n = (uint64_t)b; n > 0; n >>= 1, base *= base)
    result *= n & 1 ? base : 1;
  return (int64_t)result;
}

static bool less(int64_t a, int64_t b, bool is_signed) {
  return is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

// Shifts by at least the width, or by a negative count: shifts out all bits, as in PyTorch.
static int64_t shift_left(int64_t a, int64_t by, unsigned bits) {
  return (uint64_t)by < bits ? (int64_t)((uint64_t)a << by) : 0;
}

static int64_t shift_right(int64_t a, int64_t by, unsigned bits, bool is_signed) {
  if ((uint64_t)by >= bits)
    return is_signed && a < 0 ? -1 : 0;
  return is_signed ? a >> by : (int64_t)((uint64_t)a >> by);
}

// Operations from integers to integers. False if `op` is not one of them.
static bool eval_bits(enum scalar_op op, enum dtype t, const int64_t *in, int64_t *ret) {
  const bool is_signed = dtype_is_signed(t);
  int64_t a = in[0], b = in[1];
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  switch (op) {
#define CASE(op, value)                                                                            \
  case SCALAR_##op: *ret = (int64_t)(value); return true;
    CASE(ADD, ua + ub)
    CASE(SUB, ua - ub)
    CASE(MUL, ua * ub)
    CASE(FMA, ua * ub + (uint64_t)in[2])
    CASE(FLOOR_DIV, divide(a, b, is_signed, true))
    CASE(TRUNC_DIV, divide(a, b, is_signed, false))
    CASE(REMAINDER, b == 0 ? 0 : ua - (uint64_t)divide(a, b, is_signed, true) * ub)
    CASE(FMOD, b == 0 ? 0 : ua - (uint64_t)divide(a, b, is_signed, false) * ub)
    CASE(POW, power(a, b, is_signed))
    CASE(MAXIMUM, less(a, b, is_signed) ? b : a)
    CASE(MINIMUM, less(b, a, is_signed) ? b : a)
    CASE(NEG, 0 - ua)
    CASE(ABS, is_signed && a < 0 ? 0 - ua : ua)
    CASE(SIGN, is_signed ? (a > 0) - (a < 0) : a != 0)
    CASE(FLOOR, a)
    CASE(CEIL, a)
    CASE(TRUNC, a)
    CASE(ROUND, a)
    CASE(BIT_NOT, ~ua)
    CASE(BIT_AND, ua & ub)
    CASE(BIT_OR, ua | ub)
    CASE(BIT_XOR, ua ^ ub)
    CASE(SHIFT_LEFT, shift_left(a, b, dtype_bits(t)))
    CASE(SHIFT_RIGHT, shift_right(a, b, dtype_bits(t), is_signed))
  default: return false;
  }
}

// Operations from integers to bool. False if `op` is not one of them.
static bool test_integer(enum scalar_op op, enum dtype t, int64_t a, int64_t b, int64_t *ret) {
  const bool is_signed = dtype_is_signed(t);
  switch (op) {
    CASE(ISNAN, false)
    CASE(ISINF, false)
    CASE(EQ, a == b)
    CASE(NE, a != b)
    CASE(LT, less(a, b, is_signed))
    CASE(LE, !less(b, a, is_signed))
    CASE(GT, less(b, a, is_signed))
    CASE(GE, !less(a, b, is_signed))
    CASE(NOT, a == 0)
    CASE(AND, a != 0 && b != 0)
    CASE(OR, a != 0 || b != 0)
    CASE(XOR, (a != 0) != (b != 0))
#undef CASE
  default: return false;
  }
}

static bool eval_integer(enum scalar_op op, enum dtype t, const int64_t *in, int64_t *ret) {
  return eval_bits(op, t, in, ret) || test_integer(op, t, in[0], in[1], ret);
}

static double integer_to_real(int64_t v, enum dtype t) {
  return t == DTYPE_U64 ? (double)(uint64_t)v : (double)v;
}

union element scalar_eval(enum scalar_op op, enum dtype t, const union element *in) {
  union element e = {.integer = 0};
  unsigned arity = scalar_row(op)->arity;
  bool is_float = dtype_is_float(t), truth;
  if (op == SCALAR_WHERE)
    return in[0].integer ? in[1] : in[2];
  if (scalar_row(op)->type == 'X')
    return eval_bit_cast(op, in[0], &e), e;
  if (op == SCALAR_BIT_NOT && t == DTYPE_I1)
    return (union element){.integer = !in[0].integer};
  double reals[3] = {0};
  int64_t integers[3] = {0};
  for (unsigned i = 0; i < arity; i++) {
    integers[i] = is_float ? 0 : in[i].integer;
    reals[i] = is_float ? in[i].real : integer_to_real(in[i].integer, t);
  }
  if (is_float && test_real(op, reals[0], reals[1], &truth))
    e.integer = truth;
  else if (!is_float && scalar_row(op)->type != 'F' && eval_integer(op, t, integers, &e.integer))
    e.integer = scalar_row(op)->type == 'S' ? wrap(e.integer, t) : e.integer;
  else
    eval_real(op, reals, &e.real);
  return e;
}

// ---- conversions ----

// Truncates; values beyond 64 bits are clamped, NaN is 0.
static int64_t truncate(double v, bool is_signed) {
  if (isnan(v))
    return 0;
  if (is_signed || v < 0)
    return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
  return v >= 0x1p64 ? (int64_t)UINT64_MAX : (int64_t)(uint64_t)v;
}

union element element_convert(union element e, enum dtype from, enum dtype to) {
  union element r;
  if (dtype_is_float(to)) {
    r.real = dtype_is_float(from) ? e.real : integer_to_real(e.integer, from);
    return r;
  }
  if (to == DTYPE_I1)
    r.integer = dtype_is_float(from) ? e.real != 0 : e.integer != 0;
  else
    r.integer = wrap(dtype_is_float(from) ? truncate(e.real, dtype_is_signed(to)) : e.integer, to);
  return r;
}

union element element_round(union element e, enum dtype t) {
  if (!dtype_is_float(t)) {
    e.integer = wrap(e.integer, t);
    return e;
  }
  if (t == DTYPE_F64)
    return e;
  uint64_t bits = 0;
  dtype_store(t, &bits, e.real);
  e.real = dtype_load(t, &bits);
  return e;
}

union element element_cast(union element e, enum dtype from, enum dtype to, bool half_precision) {
  e = element_convert(e, from, to);
  bool is_half = to == DTYPE_F16 || to == DTYPE_BF16;
  bool narrows = dtype_is_float(to) && to != DTYPE_F64 && from != to;
  bool was_single = dtype_is_float(from) && from != DTYPE_F64 && to == DTYPE_F32;
  return narrows && !was_single && (half_precision || !is_half) ? element_round(e, to) : e;
}
