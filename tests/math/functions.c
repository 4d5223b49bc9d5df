// SPDX-License-Identifier: Apache-2.0
// The table of functions. References without a function of the C library are computed here.
#include "functions.h"

#include <math.h>

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
// By the asymptotic series where erfc would vanish.
static real erfcx(real x) {
  if (x < 100)
    return expl(x * x) * erfcl(x);
  real s = 1 / (x * x);
  return (1 - s / 2 + 3 * s * s / 4 - 15 * s * s * s / 8) / (x * sqrtl(pi));
}
static real normcdf(real x) { return erfcl(-x / sqrtl(2)) / 2; }
static real saturate(real x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static real rhypot(real x, real y) { return 1 / hypotl(x, y); }
static real norm3d(real x, real y, real z) { return hypotl(hypotl(x, y), z); }
static real rnorm3d(real x, real y, real z) { return 1 / norm3d(x, y, z); }

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
    {"saturatef", saturate, 0, 0, -4, 4, 0.001, 0, ALL},
};
// clang-format on
const size_t function_count = sizeof functions / sizeof *functions;
