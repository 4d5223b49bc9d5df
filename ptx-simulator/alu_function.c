// SPDX-License-Identifier: Apache-2.0
// rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh: with a rounding modifier exact results rounded once;
// approximations are computed in double and rounded to nearest.
#include "ptx-simulator/alu_internal.h"

#include <assert.h>
#include <math.h>

static unsigned result_flags(const struct alu_instruction *in) {
  return in->flags & FLAG_FTZ ? NUMBER_FTZ : 0;
}

static void run_rounded(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct number x = number_of(&in->type, s[0], in->flags & FLAG_FTZ);
  struct number y = in->operation == OPERATION_RCP ? number_quotient(number_of_integer(1, false), x)
                                                   : number_root(x);
  r[0] = number_round(y, &in->type, (enum alu_rounding)in->rounding, result_flags(in));
}

static double function(enum alu_operation operation, double x) {
  switch (operation) {
  case OPERATION_RCP: return 1 / x;
  case OPERATION_SQRT: return sqrt(x);
  case OPERATION_RSQRT: return 1 / sqrt(x);
  case OPERATION_SIN: return sin(x);
  case OPERATION_COS: return cos(x);
  case OPERATION_LG2: return log2(x);
  case OPERATION_EX2: return exp2(x);
  default: assert(operation == OPERATION_TANH); return tanh(x);
  }
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write the upper 32 bits of their operands.
static uint64_t upper_half(const struct alu_instruction *in, uint64_t x) {
  return in->type.bits == 64 && in->flags & FLAG_FTZ ? x >> 32 << 32 : x;
}

static void run_approximate(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *f64 = &in->from;
  struct number n = number_of(&in->type, upper_half(in, s[0]), in->flags & FLAG_FTZ);
  uint64_t bits = number_round(n, f64, ROUND_NONE, 0);
  double x;
  memcpy(&x, &bits, sizeof x);
  x = function((enum alu_operation)in->operation, x);
  memcpy(&bits, &x, sizeof x);
  bits = number_round(number_of(f64, bits, false), &in->type, ROUND_NEAREST, result_flags(in));
  r[0] = upper_half(in, bits);
}

// ---- decoding ----

enum { APPROX = FLAG_APPROX, APPROX_FTZ = FLAG_APPROX | FLAG_FTZ };

// Whether the approximation exists; `flags` are the modifiers besides the type.
static bool approximates(enum alu_operation operation, const struct alu_format *f, unsigned flags) {
  bool f32 = alu_is(f, "f32");
  if (flags != APPROX && flags != APPROX_FTZ)
    return false;
  switch (operation) {
  case OPERATION_RCP: return f32 || (alu_is(f, "f64") && flags == APPROX_FTZ);
  case OPERATION_RSQRT: return f32 || alu_is(f, "f64");
  case OPERATION_SQRT:
  case OPERATION_SIN:
  case OPERATION_COS:
  case OPERATION_LG2: return f32;
  case OPERATION_EX2:
    return f32 || (f->bits == 16 && flags == (f->exponent_bits == 8 ? APPROX_FTZ : APPROX));
  case OPERATION_TANH: return (f32 || f->bits == 16) && flags == APPROX;
  default: return false;
  }
}

bool alu_decode_function(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->type_count == 1 ? w->types[0] : NULL;
  if (!f || f->kind != ALU_FLOAT || w->comparison || w->combine || w->mode)
    return false;
  bool exact = w->rounding != ROUND_NONE;
  if (exact) {
    bool roots = w->operation == OPERATION_RCP || w->operation == OPERATION_SQRT;
    unsigned flags = alu_is(f, "f32") ? FLAG_FTZ : 0;
    if (!roots || !(alu_is(f, "f32") || alu_is(f, "f64")) || w->flags & ~flags ||
        w->rounding == ROUND_AWAY)
      return false;
  } else if (!approximates(w->operation, f, w->flags)) {
    return false;
  }
  alu_begin(ret, w, f);
  ret->from = *alu_format_named("f64"); // approximations are computed in f64
  alu_finish(ret, 1, exact ? run_rounded : run_approximate);
  return true;
}
