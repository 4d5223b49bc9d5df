// SPDX-License-Identifier: Apache-2.0
// canonicalize: ops on constants, scalar or splat. Floats are computed in double and rounded once
// to their type, which equals the operation in that type: double has more than twice the bits of
// f32 and two, and f64 is double itself. fp8 is left alone, its conversions saturate.
#include "lowering/passes/canonicalize.h"

#include <mlir-c/BuiltinTypes.h>

#include <math.h>

struct number {
  enum { NOT_CONSTANT, INTEGER, FLOAT } kind;
  int64_t i;
  double f;
  enum dtype type;
};

MlirValue canon_int_constant(struct canon *k, MlirOperation op, MlirType type, int64_t value) {
  struct builder b = builder_before(k->c, op);
  return build_const_int(&b, type, value);
}

bool is_const_int(struct canon *k, MlirValue v, int64_t value) {
  int64_t i;
  if (!value_const_int(k->c, v, &i))
    return false;
  unsigned bits = type_bits(k->c, element_type(mlirValueGetType(v)));
  return zero_extend(i, bits) == zero_extend(value, bits);
}

static struct number read_number(struct canon *k, MlirValue v) {
  struct number n = {.kind = NOT_CONSTANT};
  n.type = dtype_of_mlir(element_type(mlirValueGetType(v)));
  if (n.type == DTYPE_NONE)
    return n;
  if (value_const_int(k->c, v, &n.i))
    n.kind = INTEGER;
  else if (dtype_bits(n.type) > 8 && value_const_float(k->c, v, &n.f))
    n.kind = FLOAT;
  return n;
}

// ---- floats ----

static double max_of(double x, double y) { return x > y || (x == y && !signbit(x)) ? x : y; }
static double min_of(double x, double y) { return x < y || (x == y && signbit(x)) ? x : y; }

static bool float_binary(enum op_id id, double x, double y, double *ret) {
  bool has_nan = isnan(x) || isnan(y);
  switch (id) {
  case OP_ARITH_ADDF: *ret = x + y; break;
  case OP_ARITH_SUBF: *ret = x - y; break;
  case OP_ARITH_MULF: *ret = x * y; break;
  case OP_ARITH_DIVF:
  case OP_TILE_PRECISE_DIVF: *ret = x / y; break;
  case OP_ARITH_REMF: *ret = fmod(x, y); break;
  case OP_ARITH_MAXIMUMF: *ret = has_nan ? (double)NAN : max_of(x, y); break;
  case OP_ARITH_MINIMUMF: *ret = has_nan ? (double)NAN : min_of(x, y); break;
  case OP_ARITH_MAXNUMF: *ret = isnan(x) ? y : isnan(y) ? x : max_of(x, y); break;
  case OP_ARITH_MINNUMF: *ret = isnan(x) ? y : isnan(y) ? x : min_of(x, y); break;
  default: return false;
  }
  if (isnan(*ret))
    *ret = (double)NAN; // the CPU may compute one with the sign set
  return true;
}

static bool float_unary(enum op_id id, double x, double *ret) {
  switch (id) {
  case OP_ARITH_NEGF: *ret = -x; return true;
  case OP_MATH_ABSF: *ret = fabs(x); return true;
  case OP_MATH_CEIL: *ret = ceil(x); return true;
  case OP_MATH_FLOOR: *ret = floor(x); return true;
  case OP_MATH_ROUNDEVEN: *ret = nearbyint(x); return true;
  case OP_TILE_PRECISE_SQRT:
  case OP_MATH_SQRT: *ret = sqrt(x); return !isnan(*ret);
  case OP_ARITH_EXTF:
  case OP_ARITH_TRUNCF: *ret = x; return true;
  default: return false;
  }
}

// Predicates 1 to 7 of arith.cmpf are sets of outcomes: bit 0 equal, bit 1 greater, bit 2 less. 8
// to 13 are the sets 1 to 6 and unordered, 14 is unordered alone.
static bool compare_floats(int predicate, double x, double y) {
  int outcome = isnan(x) || isnan(y) ? 8 : x < y ? 4 : x > y ? 2 : 1;
  int set = predicate < 8     ? predicate
            : predicate < 14  ? 8 | (predicate - 7)
            : predicate == 14 ? 8
                              : 15;
  return (set & outcome) != 0;
}

// ---- between the two ----

static bool float_to_int(enum op_id id, double x, unsigned bits, int64_t *ret) {
  double limit = ldexp(1.0, (int)bits - (id == OP_ARITH_FPTOSI));
  double low = id == OP_ARITH_FPTOSI ? -limit : 0;
  x = trunc(x);
  if (!(x >= low && x < limit)) // no value
    return false;
  *ret = id == OP_ARITH_FPTOSI ? (int64_t)x : (int64_t)(uint64_t)x;
  return true;
}

static int64_t bits_of_float(enum dtype t, double f) {
  int64_t bits = 0;
  dtype_store(t, &bits, f);
  return bits;
}

// ---- ops ----

struct folding {
  struct builder b;
  MlirType type; // of the result
  enum dtype dtype;
};

static MlirValue made_int(struct folding *f, int64_t v) {
  return build_const_int(&f->b, f->type, v);
}

static MlirValue made_float(struct folding *f, double v) {
  // fp8 saturates in conversions, which the constant's own rounding would not do.
  return dtype_bits(f->dtype) > 8 ? build_const_float(&f->b, f->type, v) : no_value();
}

static MlirValue fold_int_unary(struct folding *f, enum op_id id, struct number x) {
  unsigned bits = dtype_bits(x.type);
  int64_t s = sign_extend(x.i, bits), folded;
  if (int_unary(id, x.i, bits, &folded))
    return made_int(f, folded);
  switch (id) {
  case OP_ARITH_SITOFP:
  case OP_ARITH_UITOFP: {
    // Beyond 2^53 an integer is already rounded to double.
    int64_t v = id == OP_ARITH_SITOFP ? s : (int64_t)zero_extend(x.i, bits);
    bool exact = v > -(INT64_C(1) << 53) && v < (INT64_C(1) << 53);
    return exact && (v >= 0 || id == OP_ARITH_SITOFP) ? made_float(f, (double)v) : no_value();
  }
  case OP_ARITH_BITCAST:
  case OP_TILE_BITCAST: {
    if (!dtype_is_float(f->dtype))
      return no_value();
    double v = dtype_load(f->dtype, &x.i);
    return isnan(v) ? no_value() : made_float(f, v); // the payload would be lost
  }
  default: return no_value();
  }
}

static MlirValue fold_float_unary(struct folding *f, enum op_id id, struct number x) {
  int64_t i;
  double v;
  switch (id) {
  case OP_ARITH_FPTOSI:
  case OP_ARITH_FPTOUI:
    return float_to_int(id, x.f, dtype_bits(f->dtype), &i) ? made_int(f, i) : no_value();
  case OP_ARITH_BITCAST:
  case OP_TILE_BITCAST:
    return dtype_is_int(f->dtype) && !isnan(x.f) ? made_int(f, bits_of_float(x.type, x.f))
                                                 : no_value();
  default: return float_unary(id, x.f, &v) ? made_float(f, v) : no_value();
  }
}

static MlirValue fold_binary(struct folding *f, MlirOperation op, enum op_id id, struct number x,
                             struct number y) {
  int64_t i;
  double v;
  int predicate = (int)op_attr_int(op, "predicate", 0);
  if (id == OP_ARITH_CMPI)
    return made_int(f, compare_ints(predicate, x.i, y.i, dtype_bits(x.type)));
  if (id == OP_ARITH_CMPF)
    return made_int(f, compare_floats(predicate, x.f, y.f));
  if (x.kind == INTEGER)
    return int_binary(id, x.i, y.i, dtype_bits(x.type), &i) ? made_int(f, i) : no_value();
  return float_binary(id, x.f, y.f, &v) ? made_float(f, v) : no_value();
}

MlirValue canon_fold(struct canon *k, MlirOperation op, enum op_id id) {
  intptr_t n = mlirOperationGetNumOperands(op);
  if (!(op_info(id)->flags & OP_EW) || n < 1 || n > 2)
    return no_value();
  struct number x = read_number(k, operand(op, 0));
  struct number y = n == 2 ? read_number(k, operand(op, 1)) : x;
  struct folding f = {.b = builder_before(k->c, op), .type = result_type(op)};
  f.dtype = dtype_of_mlir(element_type(f.type));
  if (x.kind == NOT_CONSTANT || x.kind != y.kind || f.dtype == DTYPE_NONE)
    return no_value();
  if (n == 2)
    return fold_binary(&f, op, id, x, y);
  return x.kind == INTEGER ? fold_int_unary(&f, id, x) : fold_float_unary(&f, id, x);
}
