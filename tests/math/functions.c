// SPDX-License-Identifier: Apache-2.0
// The table of functions, and references that the C library lacks.
#include "functions.h"

#include <math.h>
#include <stdlib.h>

static const real pi = 3.14159265358979323846264338327950288L;

static real rsqrt(real x) { return 1 / sqrtl(x); }
static real sigmoid(real x) { return 1 / (1 + expl(-x)); }
static real rcbrt(real x) { return 1 / cbrtl(x); }
static real exp10_(real x) { return powl(10, x); }
static real sinpi(real x) {
  real r = fmodl(x, 2), sign = r < 0 ? -1 : 1;
  r = fabsl(r);
  if (r == 0 || r == 1)
    return copysignl(0, x);
  if (r > 1)
    r -= 1, sign = -sign;
  return sign * (r > 0.5L ? sinl(pi * (1 - r)) : sinl(pi * r));
}
static real cospi(real x) {
  real r = fabsl(fmodl(x, 2));
  if (r > 1)
    r = 2 - r;
  if (r == 0.5L)
    return 0;
  return r <= 0.25L ? cosl(pi * r) : r <= 0.75L ? sinl(pi * (0.5L - r)) : -cosl(pi * (1 - r));
}
// By the asymptotic series where erfc underflows.
static real erfcx(real x) {
  if (x < 100)
    return expl(x * x) * erfcl(x);
  real s = 1 / (x * x);
  return (1 - s / 2 + 3 * s * s / 4 - 15 * s * s * s / 8) / (x * sqrtl(pi));
}
static real normcdf(real x) { return erfcl(-x / sqrtl(2)) / 2; }
static real gelu(real x) { return x * normcdf(x); }
static real saturate(real x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static real rhypot(real x, real y) { return 1 / hypotl(x, y); }
static real norm3d(real x, real y, real z) { return hypotl(hypotl(x, y), z); }
static real rnorm3d(real x, real y, real z) { return 1 / norm3d(x, y, z); }

// ---- functions of Bessel, gamma ----

static real jn_(real n, real x) {
  real r = jnl(abs((int)n), x);
  return n < 0 && (int)n % 2 ? -r : r;
}
static real yn_(real n, real x) {
  real r = x < 0 ? (real)NAN : ynl(abs((int)n), x);
  return n < 0 && (int)n % 2 ? -r : r;
}
static real y0_(real x) { return x < 0 ? NAN : y0l(x); }
static real y1_(real x) { return x < 0 ? NAN : y1l(x); }

// By the power series, all of whose terms are positive.
static real growing(int order, real x) {
  if (isnan(x) || fabsl(x) > 800)
    return order ? x * INFINITY : x * x * INFINITY;
  real q = x * x / 4, term = order ? x / 2 : 1, sum = term;
  for (int k = 1; fabsl(term) > fabsl(sum) * 1e-21L; k++)
    sum += term *= q / ((real)k * (k + order));
  return sum;
}
static real i0_(real x) { return growing(0, x); }
static real i1_(real x) { return growing(1, x); }

static real oscillation(real x, real from) {
  return fabsl(x) > from && !isinf(x) ? sqrtl(2 / (pi * fabsl(x))) : 0;
}
static real peak_j(const double *x) { return oscillation((real)x[0], 2); }
static real peak_y(const double *x) { return oscillation((real)x[0], 0.5L); }
static real peak_n(const double *x) {
  return oscillation((real)x[1], fabsl((real)x[0]) > 0.5L ? fabsl((real)x[0]) : 0.5L);
}
static real peak_lgamma(const double *x) {
  return x[0] < -2 && !isinf(x[0]) ? 1 + fabsl(lgammal(-(real)x[0])) : 0;
}

// ---- inverse functions, by Newton's method on the logarithm of the function ----

static real erfcinv_tail(real y) { // 0 < y <= 1/2
  real l = -logl(y), z = sqrtl(l);
  for (int i = 0; i < 40; i++)
    z += (logl(erfcl(z)) + l) * erfcl(z) * sqrtl(pi) / 2 * expl(z * z);
  return z;
}
static real erfinv_middle(real x) {
  real z = x;
  for (int i = 0; i < 40; i++)
    z -= (erfl(z) - x) * sqrtl(pi) / 2 * expl(z * z);
  return z;
}
static real erfcinv(real y) {
  if (!(y >= 0 && y <= 2))
    return NAN;
  if (y == 0 || y == 2)
    return y == 0 ? INFINITY : -INFINITY;
  if (y < 0.5L)
    return erfcinv_tail(y);
  return y > 1.5L ? -erfcinv_tail(2 - y) : erfinv_middle(1 - y);
}
static real erfinv(real x) {
  if (!(fabsl(x) <= 1))
    return NAN;
  return fabsl(x) < 0.5L ? erfinv_middle(x) : copysignl(erfcinv(1 - fabsl(x)), x);
}
static real normcdfinv(real p) {
  real z = erfcinv(2 * p);
  return z == 0 ? 0 : -sqrtl(2) * z;
}

#define ALL 0, 0
// clang-format off
const struct function functions[] = {
    {"exp", expl, 0, 0, -90, 90, 2, 2, ALL},
    {"exp2", exp2l, 0, 0, -130, 130, 2, 2, ALL},
    {"exp10", exp10_, 0, 0, -38, 38, 2, 2, ALL},
    {"expm1", expm1l, 0, 0, -3, 3, 2, 2, ALL},
    {"log", logl, 0, 0, 0.25, 4, 2, 2, ALL},
    {"log2", log2l, 0, 0, 0.25, 4, 2, 2, ALL},
    {"log10", log10l, 0, 0, 0.25, 4, 2, 2, ALL},
    {"log1p", log1pl, 0, 0, -0.9, 3, 2, 2, ALL},
    {"pow", 0, powl, 0, 0.25, 8, 2, 2, ALL},
    {"sqrt", sqrtl, 0, 0, 0, 4, 2, 0.5, ALL},
    {"rsqrt", rsqrt, 0, 0, 0, 4, 2, 2, ALL},
    {"cbrt", cbrtl, 0, 0, -4, 4, 2, 2, ALL},
    {"rcbrt", rcbrt, 0, 0, -4, 4, 2, 2, ALL},
    {"sin", sinl, 0, 0, -8, 8, 2, 2, ALL},
    {"cos", cosl, 0, 0, -8, 8, 2, 2, ALL},
    {"tan", tanl, 0, 0, -8, 8, 2, 2, ALL},
    {"sinpi", sinpi, 0, 0, -4, 4, 2, 2, ALL},
    {"cospi", cospi, 0, 0, -4, 4, 2, 2, ALL},
    {"asin", asinl, 0, 0, -1, 1, 2, 2, ALL},
    {"acos", acosl, 0, 0, -1, 1, 2, 2, ALL},
    {"atan", atanl, 0, 0, -4, 4, 2, 2, ALL},
    {"atan2", 0, atan2l, 0, -4, 4, 2, 2, ALL},
    {"sinh", sinhl, 0, 0, -4, 4, 2, 2, ALL},
    {"cosh", coshl, 0, 0, -4, 4, 2, 2, ALL},
    {"tanh", tanhl, 0, 0, -4, 4, 2, 2, ALL},
    {"asinh", asinhl, 0, 0, -4, 4, 2, 2, ALL},
    {"acosh", acoshl, 0, 0, 1, 8, 2, 2, ALL},
    {"atanh", atanhl, 0, 0, -1, 1, 2, 2, ALL},
    {"sigmoid", sigmoid, 0, 0, -90, 90, 3, 2, ALL},
    {"erf", erfl, 0, 0, -4, 4, 3, 2, ALL},
    {"erfc", erfcl, 0, 0, -4, 12, 2, 3, ALL},
    {"erfcx", erfcx, 0, 0, -4, 12, 2, 3, ALL},
    {"normcdf", normcdf, 0, 0, -8, 8, 2, 3.5, ALL},
    {"hypot", 0, hypotl, 0, -4, 4, 2, 2, ALL},
    {"rhypot", 0, rhypot, 0, -4, 4, 2, 2, ALL},
    {"norm3d", 0, 0, norm3d, -4, 4, 2, 2, ALL},
    {"rnorm3d", 0, 0, rnorm3d, -4, 4, 2, 2, ALL},
    {"floor", floorl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"ceil", ceill, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"trunc", truncl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"rint", rintl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"nearbyint", rintl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"round", roundl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"fmod", 0, fmodl, 0, -4, 4, 0.001, 0.001, ALL},
    {"remainder", 0, remainderl, 0, -4, 4, 0.001, 0.001, ALL},
    {"fdim", 0, fdiml, 0, -4, 4, 0.5, 0.5, ALL},
    {"copysign", 0, copysignl, 0, -4, 4, 0.001, 0.001, ALL},
    {"logb", logbl, 0, 0, -4, 4, 0.001, 0.001, ALL},
    {"erfinv", erfinv, 0, 0, -1, 1, 2, 4, ALL},
    {"erfcinv", erfcinv, 0, 0, 0, 2, 2, 4, ALL},
    {"normcdfinv", normcdfinv, 0, 0, 0, 1, 2, 4, ALL},
    {"lgamma", lgammal, 0, 0, -20, 20, 2, 6, ALL, peak_lgamma},
    {"tgamma", tgammal, 0, 0, -190, 175, 2, 6, ALL},
    {"j0", j0l, 0, 0, -40, 40, 2, 6, ALL, peak_j},
    {"j1", j1l, 0, 0, -40, 40, 2, 6, ALL, peak_j},
    {"jn", 0, jn_, 0, -40, 40, 2, 60, ALL, peak_n, 20},
    {"y0", y0_, 0, 0, 0, 40, 2, 6, ALL, peak_y},
    {"y1", y1_, 0, 0, 0, 40, 2, 6, ALL, peak_y},
    {"yn", 0, yn_, 0, 0, 40, 2, 60, ALL, peak_n, 20},
    {"cyl_bessel_i0", i0_, 0, 0, -40, 40, 2, 6, ALL},
    {"cyl_bessel_i1", i1_, 0, 0, -40, 40, 2, 6, ALL},
    {"fast_tanhf", tanhl, 0, 0, -4, 4, 1024, 0, ALL},
    {"fast_sigmoidf", sigmoid, 0, 0, -80, 80, 256, 0, 1e-38, 86},
    {"fast_erff", erfl, 0, 0, -4, 4, 4096, 0, ALL},
    {"fast_normcdff", normcdf, 0, 0, -5, 5, 4096, 0, 0, 4.4},
    {"fast_geluf", gelu, 0, 0, -5, 5, 4096, 0, 1e-37, 4.4},
    {"saturatef", saturate, 0, 0, -4, 4, 0.001, 0, ALL},
};
// clang-format on
const size_t function_count = sizeof functions / sizeof *functions;
