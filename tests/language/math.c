// SPDX-License-Identifier: Apache-2.0
// Mathematical functions, compared with the C library in extended precision; tolerances are those
// of lang/REFERENCE.md, plus the errors of the hardware's approximations on a GPU.
#include "suite.h"

#include <math.h>
#include <stdio.h>

static long double r_sigmoid(long double x) { return 1 / (1 + expl(-x)); }
static long double r_rsqrt(long double x) { return 1 / sqrtl(x); }
static long double r_fdiv(long double x) { return 3 / x; }

struct function {
  const char *expr;
  long double (*reference)(long double x);
  double low, high;
  // In units of the last place of f32, here and on a GPU; absolute error; ulp of f64.
  double cpu_ulps, gpu_ulps, atol, f64_ulps;
};

static const struct function functions[] = {
    {"exp(a)", expl, -10, 10, 2, 16, 0, 1},
    {"tl.math.exp(a)", expl, -80, 80, 2, 100, 0, 1},
    {"exp2(a)", exp2l, -10, 10, 1, 3, 0, 1.2},
    {"log(a)", logl, 0.001, 100, 1.3, 4, 2.5e-7, 1.2},
    {"log2(a)", log2l, 0.001, 100, 1, 4, 2.5e-7, 1.5},
    {"sin(a)", sinl, -30, 30, 0, 0, 2e-7, 1.5},
    {"cos(a)", cosl, -30, 30, 0, 0, 2e-7, 1.5},
    {"tl.math.tanh(a)", tanhl, -5, 5, 2, 8, 0, 2},
    {"tl.math.erf(a)", erfl, -3, 3, 2.7, 8, 0, 1.5},
    {"sigmoid(a)", r_sigmoid, -10, 10, 3, 16, 0, 2},
    {"sqrt(a)", sqrtl, 0, 1000, 0.501, 2, 0, 0.501},
    {"tl.sqrt_rn(a)", sqrtl, 0, 1000, 0.501, 0.501, 0, 0.501},
    {"rsqrt(a)", r_rsqrt, 0.001, 1000, 1.5, 4, 0, 1.6},
    {"tl.math.div_rn(3.0, a)", r_fdiv, 0.01, 10, 0.501, 0.501, 0, 0.501},
    {"tl.fdiv(3.0, a)", r_fdiv, 0.01, 10, 2, 2.5, 0, 0.501},
    {"a.exp()", expl, -5, 5, 2, 16, 0, 1},
    {"a.log()", logl, 0.5, 50, 1.3, 4, 2.5e-7, 1.2},
};

// Quotients of 16-bit types are f32.
static enum dtype type_of(const struct function *f, enum dtype t) {
  return f->reference == r_fdiv && t != DTYPE_F64 ? DTYPE_F32 : t;
}

static struct num reference(const struct num *in, const void *user) {
  const struct function *f = user;
  return num_float(type_of(f, in->type), (double)f->reference(in->f));
}

static struct elementwise row_of(const struct suite *s, const struct function *f, enum dtype t) {
  struct elementwise e = {.expr = f->expr,
                          .arity = 1,
                          .in = {t},
                          .low = f->low,
                          .high = f->high,
                          .out = type_of(f, t),
                          .reference = reference,
                          .user = f};
  double ulps = s->on_cpu ? f->cpu_ulps : f->gpu_ulps;
  if (t == DTYPE_F64) {
    e.ulps = f->f64_ulps;
    e.atol = f->atol * 1e-9;
  } else {
    e.ulps = e.out == DTYPE_F32 ? ulps : 0.51; // narrower types: one rounding more
    e.atol = f->atol;
  }
  return e;
}

// f(inf), f(-inf), f(nan), f(0), f(-0).
static void specials(struct suite *s, const struct function *f, enum dtype t) {
  static const double values[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0};
  if (!case_begin(s, "%s of special values %s", f->expr, dtype_name(t)))
    return;
  case_source(s,
              "@jit\ndef k(x, out):\n    i = arange(0, 8)\n    a = load(x + i)\n"
              "    store(out + i, %s)\n",
              f->expr);
  struct array *x = case_input(s, t, 8), *out = case_output(s, type_of(f, t), 8);
  for (size_t i = 0; i < 8; i++)
    array_set(x, i, num_float(t, values[i % COUNT_OF(values)]));
  if (case_run(s, 1))
    for (size_t i = 0; i < 8; i++)
      case_expect(s, out, i, num_float(out->type, (double)f->reference(array_get(x, i).f)), 2,
                  1e-7);
  case_end(s);
}

void family_math(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
  for (size_t k = 0; k < COUNT_OF(functions); k++)
    for (size_t t = 0; t < COUNT_OF(types); t++) {
      struct elementwise e = row_of(s, &functions[k], types[t]);
      char name[64];
      snprintf(name, sizeof name, "%s %s", e.expr, dtype_name(types[t]));
      elementwise_lengths(s, &e, name);
      specials(s, &functions[k], types[t]);
    }
}
