// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic on binary floats, rounded once: a number is an integer times a power of two,
// operations are exact except for a sticky last digit, and `number_round` gives the bits of any
// format in any direction.
//
// Why one rounding is enough. Operands have at most 53 digits, so a product has at most 106 and is
// exact in 128 bits. A sum places the operand with the higher first digit at bit 125; the other is
// shifted right, and digits shifted out become the sticky bit. More than one leading digit cancels
// only if the shift is at most 1, where nothing is shifted out; else at least 123 digits stay, 70
// more than a result keeps. So the sticky bit is below every digit, and half digit, of a result.
#ifndef TILE_SIMULATOR_ALU_FLOAT_H
#define TILE_SIMULATOR_ALU_FLOAT_H

#include "ptx-simulator/alu.h"

__extension__ typedef unsigned __int128 alu_wide;

enum alu_rounding {
  ROUND_NONE, // no modifier: the result is exact
  ROUND_NEAREST,
  ROUND_ZERO,
  ROUND_DOWN,
  ROUND_UP,
  ROUND_AWAY // to nearest, ties away from zero
};

enum number_class { NUMBER_ZERO, NUMBER_FINITE, NUMBER_INFINITE, NUMBER_NAN };

// digits * 2^exponent; the digits of a finite number are not 0. The lowest digit may be a sticky
// bit in a sum, quotient or root.
struct number {
  enum number_class class;
  bool negative;
  int exponent;
  alu_wide digits;
};

// Modifiers of a result.
enum {
  NUMBER_FTZ = 1,       // subnormal results are zeros of the same sign
  NUMBER_SAT = 2,       // into [+0, 1], NaN becomes +0
  NUMBER_RELU = 4,      // negative results and -0 become +0
  NUMBER_SATFINITE = 8, // overflow gives the largest finite number
};

struct number number_of(const struct alu_format *f, uint64_t bits, bool flush_subnormal);
struct number number_of_integer(uint64_t magnitude, bool negative);

struct number number_product(struct number a, struct number b);
struct number number_sum(struct number a, struct number b, enum alu_rounding rounding);
struct number number_quotient(struct number a, struct number b);
struct number number_root(struct number a); // square root

// Rounds to an integral value; NaN and infinities are unchanged.
struct number number_integral(struct number a, enum alu_rounding rounding);
// A finite integral value as an integer, clamped to [low, high]. The caller handles NaN and
// infinities.
uint64_t number_clamped(struct number a, int64_t low, uint64_t high);

uint64_t number_round(struct number a, const struct alu_format *f, enum alu_rounding rounding,
                      unsigned flags);
uint64_t number_nan(const struct alu_format *f); // the canonical NaN

#endif
