// SPDX-License-Identifier: Apache-2.0
// The symbols that generated CPU code is linked against: routines of the CPU executor, mathematical
// functions that LLVM calls for intrinsics, memory functions, and the half-precision conversions of
// compiler-rt for processors that lack the instructions.
#include "runtime/cpu_symbols.h"

#include "base/cpu_abi.h"
#include "base/dtype.h"

#include <math.h>
#include <string.h>

// Half-precision results are returned in the low 16 bits of a float register.
static float as_half_register(uint16_t bits) {
  uint32_t word = bits;
  float f;
  memcpy(&f, &word, sizeof f);
  return f;
}

static uint16_t half_register(float f) {
  uint32_t word;
  memcpy(&word, &f, sizeof word);
  return (uint16_t)word;
}

static float half_from_single(float x) { return as_half_register(half_from_float(x)); }
static float bfloat_from_single(float x) { return as_half_register(bfloat_from_float(x)); }
static float single_from_half(float x) { return half_to_float(half_register(x)); }

// Through dtype_store, which rounds a double only once.
static float half_from_double(double x) {
  uint16_t bits;
  dtype_store(DTYPE_F16, &bits, x);
  return as_half_register(bits);
}

static float bfloat_from_double(double x) {
  uint16_t bits;
  dtype_store(DTYPE_BF16, &bits, x);
  return as_half_register(bits);
}

// name in the object, type, function here
#define MATH(X, name, f_type, d_type)                                                              \
  X(#name "f", f_type, name##f)                                                                    \
  X(#name, d_type, name)
typedef float (*float_1)(float);
typedef double (*double_1)(double);
typedef float (*float_2)(float, float);
typedef double (*double_2)(double, double);
typedef float (*float_3)(float, float, float);
typedef double (*double_3)(double, double, double);
typedef float (*float_scaled)(float, int);
typedef double (*double_scaled)(double, int);
typedef float (*narrow)(double);
typedef void *(*copy)(void *, const void *, size_t);
typedef void *(*set)(void *, int, size_t);

#define SYMBOLS(X)                                                                                 \
  MATH(X, exp, float_1, double_1)                                                                  \
  MATH(X, exp2, float_1, double_1)                                                                 \
  MATH(X, ldexp, float_scaled, double_scaled) /* LLVM: exp2 of an integer */                       \
  MATH(X, expm1, float_1, double_1)                                                                \
  MATH(X, log, float_1, double_1)                                                                  \
  MATH(X, log2, float_1, double_1)                                                                 \
  MATH(X, log10, float_1, double_1)                                                                \
  MATH(X, log1p, float_1, double_1)                                                                \
  MATH(X, sin, float_1, double_1)                                                                  \
  MATH(X, cos, float_1, double_1)                                                                  \
  MATH(X, tan, float_1, double_1)                                                                  \
  MATH(X, asin, float_1, double_1)                                                                 \
  MATH(X, acos, float_1, double_1)                                                                 \
  MATH(X, atan, float_1, double_1)                                                                 \
  MATH(X, atan2, float_2, double_2)                                                                \
  MATH(X, sinh, float_1, double_1)                                                                 \
  MATH(X, cosh, float_1, double_1)                                                                 \
  MATH(X, tanh, float_1, double_1)                                                                 \
  MATH(X, erf, float_1, double_1)                                                                  \
  MATH(X, sqrt, float_1, double_1)                                                                 \
  MATH(X, pow, float_2, double_2)                                                                  \
  MATH(X, fmod, float_2, double_2)                                                                 \
  MATH(X, fma, float_3, double_3)                                                                  \
  MATH(X, fmin, float_2, double_2)                                                                 \
  MATH(X, fmax, float_2, double_2)                                                                 \
  MATH(X, floor, float_1, double_1)                                                                \
  MATH(X, ceil, float_1, double_1)                                                                 \
  MATH(X, trunc, float_1, double_1)                                                                \
  MATH(X, round, float_1, double_1)                                                                \
  MATH(X, rint, float_1, double_1)                                                                 \
  MATH(X, nearbyint, float_1, double_1)                                                            \
  X("memcpy", copy, memcpy)                                                                        \
  X("memmove", copy, memmove)                                                                      \
  X("memset", set, memset)                                                                         \
  X("__truncsfhf2", float_1, half_from_single)                                                     \
  X("__gnu_f2h_ieee", float_1, half_from_single)                                                   \
  X("__extendhfsf2", float_1, single_from_half)                                                    \
  X("__gnu_h2f_ieee", float_1, single_from_half)                                                   \
  X("__truncdfhf2", narrow, half_from_double)                                                      \
  X("__truncsfbf2", float_1, bfloat_from_single)                                                   \
  X("__truncdfbf2", narrow, bfloat_from_double)

enum {
#define X(name, type, function) +1
  LIBRARY_COUNT = SYMBOLS(X),
#undef X
#define X(name, result, params) +1
  ROUTINE_COUNT = CPU_ROUTINES(X)
#undef X
};

_Static_assert(LIBRARY_COUNT + ROUTINE_COUNT <= CPU_SYMBOL_MAX, "CPU_SYMBOL_MAX is too small");

size_t cpu_symbols(struct cpu_symbol ret[CPU_SYMBOL_MAX]) {
  size_t n = 0;
  // Through variables: ISO C cannot cast a function pointer to an integer.
#define X(symbol, type, function)                                                                  \
  {                                                                                                \
    type f = function;                                                                             \
    ret[n].name = symbol;                                                                          \
    memcpy(&ret[n++].address, &f, sizeof f);                                                       \
  }
  SYMBOLS(X)
#undef X
#define X(symbol, result, params)                                                                  \
  {                                                                                                \
    result(*f) params = symbol;                                                                    \
    ret[n].name = #symbol;                                                                         \
    memcpy(&ret[n++].address, &f, sizeof f);                                                       \
  }
  CPU_ROUTINES(X)
#undef X
  return n;
}
