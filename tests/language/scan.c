// SPDX-License-Identifier: Apache-2.0
// Scans: cumsum, cumprod and custom functions, forward and in reverse, along every axis of
// ranks 1 to 4, with one to sixteen warps.
#include "across.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct row {
  bool reverse;
  enum dtype type; // of the result
};

// Element k of the line in scan order.
static size_t nth(const struct row *r, size_t n, size_t k) { return r->reverse ? n - 1 - k : k; }

static void r_cumsum(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                     const void *user) {
  const struct row *r = user;
  double sum = 0, size = 0;
  uint64_t ints = 0;
  for (size_t k = 0; k < n; k++) {
    size_t at = nth(r, n, k);
    sum += line[at].f;
    size += fabs(line[at].f);
    ints += (uint64_t)line[at].i;
    ret[at] = dtype_is_float(r->type) ? num_float(r->type, sum) : num_int(r->type, (int64_t)ints);
  }
  double eps = r->type == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
  *ret_atol = dtype_is_float(r->type) ? size * eps * log2((double)n + 1) : 0;
}

static void r_cumprod(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                      const void *user) {
  const struct row *r = user;
  double product = 1;
  uint64_t ints = 1;
  (void)ret_atol;
  for (size_t k = 0; k < n; k++) {
    size_t at = nth(r, n, k);
    product *= line[at].f;
    ints *= (uint64_t)line[at].i;
    ret[at] =
        dtype_is_float(r->type) ? num_float(r->type, product) : num_int(r->type, (int64_t)ints);
  }
}

static void r_cummax(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                     const void *user) {
  const struct row *r = user;
  struct num most = line[nth(r, n, 0)];
  (void)ret_atol;
  for (size_t k = 0; k < n; k++) {
    size_t at = nth(r, n, k);
    if (num_order(line[at], most) > 0)
      most = line[at];
    ret[at] = most;
  }
}

// value = value * 3 + element: order matters.
static void r_recurrence(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                         const void *user) {
  const struct row *r = user;
  uint64_t value = 0;
  (void)ret_atol;
  for (size_t k = 0; k < n; k++) {
    size_t at = nth(r, n, k);
    value = value * 3 + (uint64_t)line[at].i;
    ret[at] = num_int(r->type, (int64_t)value);
  }
}

// ---- cases ----

static enum dtype sum_type(enum dtype t) {
  if (t == DTYPE_BF16)
    return DTYPE_F32;
  if (dtype_is_float(t) || dtype_bits(t) >= 32)
    return t;
  return dtype_is_signed(t) ? DTYPE_I32 : DTYPE_U32;
}

static enum dtype product_type(enum dtype t) { return t == DTYPE_BF16 ? DTYPE_F32 : t; }

// 1 or -1, sometimes 2 or 1/2: products stay exact.
static void fill_factors(struct suite *s, struct array *a) {
  for (size_t i = 0; i < a->count; i++) {
    uint64_t r = random_bits(s);
    double v = dtype_is_signed(a->type) && r & 1 ? -1 : 1;
    bool is_bigger = r % 64 < 2;
    array_set(a, i,
              num_number(a->type, is_bigger                               ? v * 2
                                  : r % 64 < 4 && dtype_is_float(a->type) ? v / 2
                                                                          : v));
  }
}

static void scan(struct suite *s, const char *what, struct across *a, struct row *r,
                 const char *expr, struct tile shape, unsigned axis, unsigned warps) {
  char name[64];
  a->in = shape;
  a->axis = axis;
  a->out_length = shape.dim[axis];
  a->expr = expr;
  a->warps = warps;
  a->out_type = r->type;
  a->user = r;
  snprintf(name, sizeof name, "%s%s", what, r->reverse ? " reverse" : "");
  across_case(s, name, a);
}

static void named(struct suite *s, enum dtype t, struct tile shape, unsigned axis, bool reverse,
                  unsigned warps) {
  char expr[64];
  const char *option = reverse ? ", reverse=True" : "";
  struct row r = {reverse, sum_type(t)};
  struct across a = {.type = t, .draw = DRAW_SMALL, .reference = r_cumsum, .ulps = 0.501};
  snprintf(expr, sizeof expr, "tl.cumsum(a, %u%s)", axis, option);
  scan(s, "cumsum", &a, &r, expr, shape, axis, warps);
  a = (struct across){.type = t, .fill = fill_factors, .reference = r_cumprod, .ulps = 0.501};
  r.type = product_type(t);
  snprintf(expr, sizeof expr, "tl.cumprod(a, axis=%u%s)", axis, option);
  scan(s, "cumprod", &a, &r, expr, shape, axis, warps);
}

static const char own_functions[] =
    "@jit\ndef larger(a, b):\n    return where(a > b, a, b)\n\n"
    "@jit\ndef affine(scale, value, other_scale, other_value):\n"
    "    return scale * other_scale, value * other_scale + other_value\n\n";

static void own(struct suite *s, struct tile shape, unsigned axis, bool reverse, unsigned warps) {
  char expr[96], body[160];
  const char *option = reverse ? ", reverse=True" : "";
  struct row r = {reverse, DTYPE_F32};
  struct across a = {
      .prelude = own_functions, .type = DTYPE_F32, .draw = DRAW_UNIT, .reference = r_cummax};
  snprintf(expr, sizeof expr, "tl.associative_scan(a, %u, larger%s)", axis, option);
  scan(s, "running maximum", &a, &r, expr, shape, axis, warps);
  snprintf(body, sizeof body,
           "    scale, value = tl.associative_scan((tl.zeros_like(a) + 3, a), %u, affine%s)\n",
           axis, option);
  a = (struct across){.prelude = own_functions,
                      .body = body,
                      .type = DTYPE_I32,
                      .draw = DRAW_ANY,
                      .reference = r_recurrence};
  r.type = DTYPE_I32;
  scan(s, "recurrence by a scan of two", &a, &r, "value", shape, axis, warps);
}

void family_scan(struct suite *s) {
  unsigned variant = 0;
  for (size_t k = 0; k < across_shape_count; k++)
    for (unsigned axis = 0; axis < across_shapes[k].rank; axis++) {
      for (size_t t = 0; t < COUNT_OF(number_types); t++, variant++)
        for (int reverse = 0; reverse < 2; reverse++)
          named(s, number_types[t], across_shapes[k], axis, reverse,
                1u << (variant + (unsigned)reverse) % 5);
      for (unsigned warps = 1; warps <= 16; warps *= 2) {
        named(s, DTYPE_F32, across_shapes[k], axis, warps % 3 == 1, warps);
        own(s, across_shapes[k], axis, warps % 3 == 2, warps);
      }
    }
  for (unsigned warps = 1; warps <= 16; warps *= 2) { // both directions everywhere
    own(s, TILE(32, 64), 0, true, warps);
    own(s, TILE(32, 64), 1, false, warps);
    own(s, TILE(2048), 0, true, warps);
    own(s, TILE(2048), 0, false, warps);
  }
}
