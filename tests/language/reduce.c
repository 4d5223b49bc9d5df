// SPDX-License-Identifier: Apache-2.0
// Reductions: every function and type, along every axis of ranks 1 to 4, with one to sixteen
// warps; NaN and ties; custom combine functions, also of tuples; masked rows.
#include "across.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- references ----

static void r_sum(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                  const void *user) {
  enum dtype t = *(const enum dtype *)user;
  double sum = 0, size = 0;
  int64_t ints = 0;
  for (size_t k = 0; k < n; k++) {
    sum += line[k].f;
    size += fabs(line[k].f);
    ints = (int64_t)((uint64_t)ints + (uint64_t)line[k].i);
  }
  *ret = dtype_is_float(t) ? num_float(t, sum) : num_int(t, ints);
  double eps = t == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
  *ret_atol = dtype_is_float(t) ? size * eps * log2((double)n + 1) : 0;
}

static size_t best(const struct num *line, size_t n, bool is_max) {
  size_t at = 0;
  for (size_t k = 1; k < n; k++) {
    struct num a = line[k], b = line[at];
    if (dtype_is_float(a.type) && (isnan(a.f) || isnan(b.f))) { // NaN loses
      if (isnan(b.f) && !isnan(a.f))
        at = k;
      continue;
    }
    int order = num_order(a, b);
    if (is_max ? order > 0 : order < 0)
      at = k;
  }
  return at;
}

struct extreme {
  bool is_max, is_index;
  enum dtype type;
};

static void r_extreme(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                      const void *user) {
  const struct extreme *x = user;
  size_t at = best(line, n, x->is_max);
  (void)ret_atol;
  *ret = x->is_index ? num_int(DTYPE_I32, (int64_t)at) : num_cast(line[at], x->type);
}

static void r_bits(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                   const void *user) {
  bool is_xor = *(const bool *)user;
  int64_t r = 0;
  (void)ret_atol;
  for (size_t k = 0; k < n; k++)
    r = is_xor ? r ^ line[k].i : r | line[k].i;
  *ret = num_int(line[0].type, r);
}

// ---- the functions by name ----

static enum dtype sum_type(enum dtype t) {
  if (dtype_is_float(t) || dtype_bits(t) >= 32)
    return t;
  return dtype_is_signed(t) ? DTYPE_I32 : DTYPE_U32;
}

static enum dtype extreme_type(enum dtype t) {
  if (dtype_bits(t) >= 32)
    return t;
  return dtype_is_float(t) ? DTYPE_F32 : DTYPE_I32;
}

// Along one axis, or all of them (axis == rank).
static void reduce(struct suite *s, const char *function, struct across *a, unsigned axis,
                   const char *options) {
  char expr[96], name[96];
  a->flat = axis == a->in.rank;
  a->axis = a->flat ? 0 : axis;
  a->drops_axis = true;
  if (a->flat)
    snprintf(expr, sizeof expr, "%s(a%s)", function, options);
  else
    snprintf(expr, sizeof expr, "%s(a, %u%s)", function, axis, options);
  snprintf(name, sizeof name, "%s", expr);
  a->expr = expr;
  across_case(s, name, a);
}

static void sums(struct suite *s, enum dtype t, struct tile shape, unsigned axis, unsigned warps) {
  enum dtype out = sum_type(t);
  struct across a = {.in = shape,
                     .type = t,
                     .out_type = out,
                     .draw = DRAW_SMALL,
                     .reference = r_sum,
                     .user = &out,
                     .ulps = 0.501,
                     .warps = warps};
  reduce(s, "tl.sum", &a, axis, "");
}

static void extremes(struct suite *s, enum dtype t, struct tile shape, unsigned axis,
                     unsigned warps, bool is_max) {
  struct extreme x = {is_max, false, extreme_type(t)};
  struct across a = {.in = shape,
                     .type = t,
                     .out_type = x.type,
                     .draw = num_kind(t) == '8' ? DRAW_FINITE : DRAW_ANY,
                     .reference = r_extreme,
                     .user = &x,
                     .ulps = 0.5,
                     .warps = warps};
  reduce(s, is_max ? "tl.max" : "tl.min", &a, axis, "");
  x.is_index = true;
  x.type = a.out_type = DTYPE_I32;
  a.draw = DRAW_SMALL; // equal ones among them
  if (axis < shape.rank)
    reduce(s, is_max ? "tl.argmax" : "tl.argmin", &a, axis, "");
}

static void bits(struct suite *s, enum dtype t, struct tile shape, unsigned axis, unsigned warps) {
  static const bool is_xor[] = {true, false};
  for (int k = 0; k < 2; k++) {
    struct across a = {.in = shape,
                       .type = t,
                       .out_type = t,
                       .draw = DRAW_ANY,
                       .reference = r_bits,
                       .user = &is_xor[k],
                       .warps = warps};
    reduce(s, k ? "tl.reduce_or" : "tl.xor_sum", &a, axis, "");
  }
}

static void by_name(struct suite *s) {
  unsigned variant = 0;
  for (size_t t = 0; t < COUNT_OF(number_types); t++)
    for (size_t k = 0; k < across_shape_count; k++)
      for (unsigned axis = 0; axis <= across_shapes[k].rank; axis++, variant++) {
        struct tile shape = across_shapes[k];
        unsigned warps = 1u << variant % 5;
        if (axis == shape.rank && shape.rank == 1)
          continue; // as along its only axis
        sums(s, number_types[t], shape, axis, warps);
        extremes(s, number_types[t], shape, axis, warps, variant % 2);
        if (!dtype_is_float(number_types[t]))
          bits(s, number_types[t], shape, axis, warps);
      }
}

// ---- every number of warps; rarer types ----

static void by_warps(struct suite *s) {
  for (size_t k = 0; k < across_shape_count; k++)
    for (unsigned axis = 0; axis < across_shapes[k].rank; axis++)
      for (unsigned warps = 1; warps <= 16; warps *= 2) {
        sums(s, DTYPE_F32, across_shapes[k], axis, warps);
        extremes(s, DTYPE_F32, across_shapes[k], axis, warps, true);
      }
}

static void rare_types(struct suite *s) {
  static const enum dtype small[] = {DTYPE_F8E5, DTYPE_F8E4NV};
  for (size_t t = 0; t < COUNT_OF(small); t++) {
    sums(s, small[t], TILE(16, 32), 1, 4);
    extremes(s, small[t], TILE(16, 32), 0, 4, true);
    extremes(s, small[t], TILE(256), 0, 2, false);
  }
  bits(s, DTYPE_I1, TILE(16, 32), 0, 4);
  bits(s, DTYPE_I1, TILE(64, 4), 1, 2);
}

// ---- options ----

// Sums with rounding errors.
static void inexact(struct suite *s, enum dtype t, struct tile shape, unsigned axis,
                    unsigned warps) {
  struct across a = {.in = shape,
                     .type = t,
                     .out_type = t,
                     .draw = DRAW_UNIT,
                     .reference = r_sum,
                     .user = &t,
                     .ulps = 0.501,
                     .warps = warps};
  reduce(s, "tl.sum", &a, axis, ", dtype=None");
}

static void kept(struct suite *s, struct tile shape, unsigned axis, bool is_method) {
  enum dtype t = DTYPE_F32;
  char expr[64];
  struct across a = {.expr = expr,
                     .in = shape,
                     .axis = axis,
                     .out_length = 1,
                     .type = t,
                     .out_type = t,
                     .draw = DRAW_SMALL,
                     .reference = r_sum,
                     .user = &t,
                     .ulps = 0.501,
                     .warps = 4};
  int backwards = (int)axis - (int)shape.rank;
  if (is_method)
    snprintf(expr, sizeof expr, "a.sum(axis=%d, keep_dims=True)", backwards);
  else
    snprintf(expr, sizeof expr, "tl.sum(a, %u, keep_dims=True)", axis);
  across_case(s, expr, &a);
}

// f32 sums of integers and of narrow floats, by dtype=.
static void typed(struct suite *s, enum dtype in, enum dtype out) {
  char options[48];
  snprintf(options, sizeof options, ", dtype=tl.%s", dtype_language_name(out));
  enum dtype user = out;
  struct across a = {.in = TILE(32, 16),
                     .type = in,
                     .out_type = out,
                     .draw = DRAW_SMALL,
                     .reference = r_sum,
                     .user = &user,
                     .ulps = 0.501,
                     .warps = 4};
  if (!dtype_is_float(in) && dtype_is_float(out))
    return; // the reference sums integers
  reduce(s, "tl.sum", &a, 1, options);
}

static bool is_a_maximum(const struct num *line, size_t n, struct num got) {
  size_t at = best(line, n, true);
  return got.i >= 0 && (size_t)got.i < n && num_order(line[got.i], line[at]) == 0;
}

static void ties(struct suite *s) {
  for (unsigned warps = 1; warps <= 16; warps *= 2) {
    struct across a = {.in = TILE(64, 32),
                       .type = DTYPE_I32,
                       .out_type = DTYPE_I32,
                       .draw = DRAW_SMALL,
                       .accepts = is_a_maximum,
                       .warps = warps};
    reduce(s, "tl.argmax", &a, 0, ", tie_break_left=False");
    reduce(s, "tl.argmax", &a, 1, ", tie_break_left=False");
  }
}

// Values and indices at once.
static void with_indices(struct suite *s, enum dtype t, struct tile shape, unsigned axis,
                         unsigned warps) {
  enum dtype wide = t == DTYPE_BF16 ? DTYPE_F32 : t;
  for (int is_max = 0; is_max < 2; is_max++)
    for (int is_index = 0; is_index < 2; is_index++) {
      struct extreme x = {is_max, is_index, is_index ? DTYPE_I32 : wide};
      char body[128];
      snprintf(body, sizeof body, "    value, index = tl.%s(a, %u, return_indices=True)\n",
               is_max ? "max" : "min", axis);
      struct across a = {.body = body,
                         .expr = is_index ? "index" : "value",
                         .in = shape,
                         .axis = axis,
                         .drops_axis = true,
                         .type = t,
                         .out_type = x.type,
                         .draw = DRAW_ANY,
                         .reference = r_extreme,
                         .user = &x,
                         .ulps = 0.5,
                         .warps = warps};
      across_case(s,
                  is_max ? (is_index ? "index of max" : "max beside index")
                         : (is_index ? "index of min" : "min beside index"),
                  &a);
    }
}

static void all_nan(struct suite *s, struct array *a) {
  (void)s;
  for (size_t i = 0; i < a->count; i++)
    array_set(a, i, num_float(a->type, (double)NAN));
}

static void nans(struct suite *s) {
  for (int is_max = 0; is_max < 2; is_max++) {
    struct extreme x = {is_max, false, DTYPE_F32};
    struct across a = {.in = TILE(8, 64),
                       .type = DTYPE_F32,
                       .out_type = DTYPE_F32,
                       .fill = all_nan,
                       .reference = r_extreme,
                       .user = &x,
                       .ulps = 0.5,
                       .warps = 4};
    reduce(s, is_max ? "tl.max" : "tl.min", &a, 1, ", keep_dims=False");
    x.is_index = true;
    a.out_type = DTYPE_I32;
    reduce(s, is_max ? "tl.argmax" : "tl.argmin", &a, 1, ", keep_dims=False");
  }
}

static void options(struct suite *s) {
  static const enum dtype floats[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
  for (size_t t = 0; t < COUNT_OF(floats); t++)
    for (unsigned warps = 1; warps <= 16; warps *= 2) {
      inexact(s, floats[t], TILE(2048), 0, warps);
      inexact(s, floats[t], TILE(32, 128), 1, warps);
      inexact(s, floats[t], TILE(128, 16), 0, warps);
      with_indices(s, floats[t], TILE(16, 64), warps % 2, warps);
    }
  for (size_t k = 0; k < across_shape_count; k++)
    for (unsigned axis = 0; axis < across_shapes[k].rank; axis++) {
      kept(s, across_shapes[k], axis, false);
      kept(s, across_shapes[k], axis, true);
    }
  for (size_t i = 0; i < COUNT_OF(number_types); i++)
    for (size_t j = 0; j < COUNT_OF(number_types); j++)
      if (dtype_is_float(number_types[i]) == dtype_is_float(number_types[j]) &&
          dtype_bits(number_types[j]) >= 32)
        typed(s, number_types[i], number_types[j]);
  ties(s);
  nans(s);
}

// ---- custom combine functions ----

static void r_product(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                      const void *user) {
  uint64_t product = 1;
  (void)user, (void)ret_atol;
  for (size_t k = 0; k < n; k++)
    product *= (uint64_t)line[k].i;
  *ret = num_int(line[0].type, (int64_t)product);
}

// Mean and sum of squared differences of the whole line, combined pair by pair.
static void r_variance(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                       const void *user) {
  double mean = 0, m2 = 0;
  (void)user;
  for (size_t k = 0; k < n; k++)
    mean += line[k].f / (double)n;
  for (size_t k = 0; k < n; k++)
    m2 += (line[k].f - mean) * (line[k].f - mean);
  *ret = num_float(DTYPE_F32, m2);
  *ret_atol = (double)n * 4e-7;
}

// Order matters: the last element of the line, and the line written as digits modulo 2^32.
static void r_polynomial(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                         const void *user) {
  uint64_t value = 0;
  (void)user, (void)ret_atol;
  for (size_t k = 0; k < n; k++)
    value = value * 31 + (uint64_t)line[k].i;
  *ret = num_int(DTYPE_U32, (int64_t)value);
}

static const char own_functions[] =
    "@jit\ndef product(a, b):\n    return a * b\n\n"
    "@jit\ndef welford(mean, m2, weight, other_mean, other_m2, other_weight):\n"
    "    delta = other_mean - mean\n    total = weight + other_weight\n"
    "    share = other_weight / total\n"
    "    return mean + delta * share, m2 + other_m2 + delta * delta * weight * share, total\n\n"
    "@jit\ndef digits(value, scale, other_value, other_scale):\n"
    "    return value * other_scale + other_value, scale * other_scale\n\n";

static void own(struct suite *s, struct tile shape, unsigned axis, unsigned warps) {
  char expr[96], body[256];
  snprintf(expr, sizeof expr, "tl.reduce(a, %u, product)", axis);
  struct across a = {.prelude = own_functions,
                     .expr = expr,
                     .in = shape,
                     .axis = axis,
                     .drops_axis = true,
                     .type = DTYPE_I64,
                     .out_type = DTYPE_I64,
                     .draw = DRAW_NONZERO,
                     .reference = r_product,
                     .warps = warps};
  across_case(s, "product by reduce", &a);
  snprintf(body, sizeof body,
           "    mean, m2, weight = tl.reduce((a, tl.zeros_like(a), tl.zeros_like(a) + 1), %u, "
           "welford)\n",
           axis);
  a.body = body;
  a.expr = "m2";
  a.type = a.out_type = DTYPE_F32;
  a.draw = DRAW_UNIT;
  a.reference = r_variance;
  a.ulps = 8;
  across_case(s, "variance by reduce of three", &a);
  snprintf(body, sizeof body,
           "    value, scale = tl.reduce((a, tl.zeros_like(a) + 31), %u, digits)\n", axis);
  a.expr = "value";
  a.type = a.out_type = DTYPE_U32;
  a.draw = DRAW_ANY;
  a.reference = r_polynomial;
  a.ulps = 0;
  across_case(s, "order kept by reduce", &a);
}

// ---- tuples of different types ----

// The sum of the line, its length, and if `user` is set its largest element as int16.
static void r_tuple(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                    const void *user) {
  uint64_t sum = n;
  int64_t largest = INT16_MIN;
  (void)ret_atol;
  for (size_t k = 0; k < n; k++) {
    int64_t narrow = num_int(DTYPE_I16, line[k].i).i;
    sum += (uint64_t)line[k].i;
    largest = narrow > largest ? narrow : largest;
  }
  *ret = num_int(DTYPE_I32, (int64_t)sum + (*(const bool *)user ? largest : 0));
}

static const char tuple_functions[] =
    "@jit\ndef add2(a, b, c, d):\n    return a + c, b + d\n\n"
    "@jit\ndef add_max(a, b, m, c, d, n):\n    return a + c, b + d, tl.maximum(m, n)\n\n";

// A GPU reduces integers of a warp with one instruction (redux), other values in five shuffles:
// tests both, with a third of the kinds at each number of warps.
static void tuples(struct suite *s, struct tile shape, unsigned axis, unsigned warps,
                   unsigned number) {
  static const struct {
    const char *name, *results, *values, *function;
    bool has_max;
  } kinds[] = {
      {"int32 and float32", "n, c", "a, one.to(tl.float32)", "add2", false},
      {"float32 and int32", "c, n", "one.to(tl.float32), a", "add2", false},
      {"int32 and int64", "n, c", "a, one.to(tl.int64)", "add2", false},
      {"float64 and uint32", "c, n", "one.to(tl.float64), a.to(tl.uint32)", "add2", false},
      {"int32 and int16", "n, c", "a, one.to(tl.int16)", "add2", false},
      {"three", "n, c, m", "a, one.to(tl.float32), a.to(tl.int16)", "add_max", true},
      {"three integers", "c, n, m", "one, a, a.to(tl.int16)", "add_max", true},
  };
  for (size_t k = number % 3; k < COUNT_OF(kinds); k += 3) {
    char body[256], name[64];
    snprintf(body, sizeof body,
             "    one = tl.zeros_like(a) + 1\n    %s = tl.reduce((%s), %u, %s)\n", kinds[k].results,
             kinds[k].values, axis, kinds[k].function);
    snprintf(name, sizeof name, "tuple of %s", kinds[k].name);
    struct across a = {.prelude = tuple_functions,
                       .body = body,
                       .expr = kinds[k].has_max ? "n.to(tl.int32) + c.to(tl.int32) + m.to(tl.int32)"
                                                : "n.to(tl.int32) + c.to(tl.int32)",
                       .in = shape,
                       .axis = axis,
                       .drops_axis = true,
                       .type = DTYPE_I32,
                       .out_type = DTYPE_I32,
                       .draw = DRAW_ANY,
                       .reference = r_tuple,
                       .user = &kinds[k].has_max,
                       .warps = warps};
    across_case(s, name, &a);
  }
}

// ---- rows of any length ----

static void row_sums(struct suite *s, unsigned n, unsigned block, unsigned warps) {
  enum { ROWS = 5 };
  if (!case_begin(s, "softmax of rows n=%u B=%u warps=%u", n, block, warps))
    return;
  case_source(
      s,
      "@jit\ndef k(x, out, n):\n    row = program_id(0)\n    i = arange(0, %u)\n"
      "    m = i < n\n    v = load(x + row * n + i, mask=m, other=-float(\"inf\"))\n"
      "    e = exp(v - tl.max(v, 0))\n    store(out + row * n + i, e / tl.sum(e, 0), mask=m)\n",
      block);
  case_warps(s, warps);
  struct array *x = case_input(s, DTYPE_F32, ROWS * n), *out = case_output(s, DTYPE_F32, ROWS * n);
  array_draw(s, x, DRAW_UNIT);
  case_int(s, (int32_t)n);
  bool ran = case_run(s, ROWS);
  for (unsigned r = 0; ran && r < ROWS; r++) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
      sum += exp(array_get(x, r * n + i).f);
    for (unsigned i = 0; i < n; i++)
      case_expect(s, out, r * n + i, num_float(DTYPE_F32, exp(array_get(x, r * n + i).f) / sum), 32,
                  0);
  }
  case_end(s);
}

void family_reduce(struct suite *s) {
  by_name(s);
  by_warps(s);
  rare_types(s);
  options(s);
  unsigned number = 0;
  for (size_t k = 0; k < across_shape_count; k++)
    for (unsigned axis = 0; axis < across_shapes[k].rank; axis++) {
      own(s, across_shapes[k], axis, 1u << (k + axis) % 5);
      tuples(s, across_shapes[k], axis, 1u << (k + axis) % 5, number++);
    }
  for (unsigned warps = 1; warps <= 16; warps *= 2)
    for (unsigned block = 128; block <= 2048; block *= 4) {
      const unsigned lengths[] = {1, block - 1, block, block / 2 + 1, 97};
      for (size_t i = 0; i < COUNT_OF(lengths); i++)
        row_sums(s, lengths[i], block, warps);
    }
}
