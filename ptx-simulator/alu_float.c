// SPDX-License-Identifier: Apache-2.0
// Floats as integers times powers of two: decoded from bits, combined exactly, rounded once to
// bits.
#include "ptx-simulator/alu_float.h"

#include <assert.h>

enum { TOP = 125 }; // bit of the first digit in operands of sums

static unsigned first_digit(alu_wide x) {
  uint64_t high = (uint64_t)(x >> 64);
  return high ? 64 + log2_floor(high) : log2_floor((uint64_t)x);
}

// x / 2^n; digits shifted out are ORed into the lowest digit.
static alu_wide shift_sticky(alu_wide x, unsigned n) {
  if (n == 0)
    return x;
  if (n > TOP + 1)
    return x != 0;
  alu_wide rest = x & (((alu_wide)1 << n) - 1);
  return x >> n | (rest != 0);
}

// The same number with its first digit at bit TOP.
static struct number normalise(struct number a) {
  unsigned up = TOP - first_digit(a.digits);
  assert(first_digit(a.digits) <= TOP);
  a.digits <<= up;
  a.exponent -= (int)up;
  return a;
}

// ---- from bits ----

static bool has_infinity(const struct alu_format *f) {
  return f->exponent_bits != 4; // e4m3 has finite numbers at the highest exponent
}

static int bias(const struct alu_format *f) { return (1 << (f->exponent_bits - 1)) - 1; }

// Unused low bits of a format: tf32 occupies the upper bits of an f32.
static unsigned unused_bits(const struct alu_format *f) {
  return f->bits - 1 - f->exponent_bits - f->mantissa_bits;
}

struct number number_of(const struct alu_format *f, uint64_t bits, bool flush_subnormal) {
  bits >>= unused_bits(f);
  uint64_t mantissa = bits & (((uint64_t)1 << f->mantissa_bits) - 1);
  unsigned highest = (1u << f->exponent_bits) - 1;
  unsigned exponent = (unsigned)(bits >> f->mantissa_bits) & highest;
  struct number ret = {NUMBER_FINITE, bits >> (f->exponent_bits + f->mantissa_bits) & 1, 0, 0};
  if (exponent == highest && has_infinity(f)) {
    ret.class = mantissa ? NUMBER_NAN : NUMBER_INFINITE;
    return ret;
  }
  if (exponent == highest && mantissa == ((uint64_t)1 << f->mantissa_bits) - 1) {
    ret.class = NUMBER_NAN;
    return ret;
  }
  if (exponent == 0 && (mantissa == 0 || flush_subnormal)) {
    ret.class = NUMBER_ZERO;
    return ret;
  }
  ret.digits = exponent ? mantissa | (uint64_t)1 << f->mantissa_bits : mantissa;
  ret.exponent = (int)(exponent ? exponent : 1) - bias(f) - (int)f->mantissa_bits;
  return ret;
}

struct number number_of_integer(uint64_t magnitude, bool negative) {
  return (struct number){magnitude ? NUMBER_FINITE : NUMBER_ZERO, magnitude && negative, 0,
                         magnitude};
}

// ---- operations ----

static struct number not_a_number(void) { return (struct number){.class = NUMBER_NAN}; }

struct number number_product(struct number a, struct number b) {
  bool negative = a.negative != b.negative;
  bool zero = a.class == NUMBER_ZERO || b.class == NUMBER_ZERO;
  bool infinite = a.class == NUMBER_INFINITE || b.class == NUMBER_INFINITE;
  if (a.class == NUMBER_NAN || b.class == NUMBER_NAN || (zero && infinite))
    return not_a_number();
  if (zero || infinite)
    return (struct number){zero ? NUMBER_ZERO : NUMBER_INFINITE, negative, 0, 0};
  return (struct number){NUMBER_FINITE, negative, a.exponent + b.exponent, a.digits * b.digits};
}

static struct number sum_of_finite(struct number a, struct number b, bool zero_is_negative) {
  a = normalise(a);
  b = normalise(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.digits < b.digits)) {
    struct number t = a;
    a = b;
    b = t;
  }
  b.digits = shift_sticky(b.digits, (unsigned)(a.exponent - b.exponent));
  a.digits = a.negative == b.negative ? a.digits + b.digits : a.digits - b.digits;
  if (a.digits == 0)
    return (struct number){NUMBER_ZERO, zero_is_negative, 0, 0};
  return a;
}

struct number number_sum(struct number a, struct number b, enum alu_rounding rounding) {
  if (a.class == NUMBER_NAN || b.class == NUMBER_NAN)
    return not_a_number();
  if (a.class == NUMBER_INFINITE)
    return b.class == NUMBER_INFINITE && a.negative != b.negative ? not_a_number() : a;
  if (b.class == NUMBER_INFINITE)
    return b;
  bool zero_is_negative = rounding == ROUND_DOWN;
  if (a.class == NUMBER_ZERO && b.class == NUMBER_ZERO) {
    a.negative = a.negative == b.negative ? a.negative : zero_is_negative;
    return a;
  }
  if (a.class == NUMBER_ZERO || b.class == NUMBER_ZERO)
    return a.class == NUMBER_ZERO ? b : a;
  return sum_of_finite(a, b, zero_is_negative);
}

struct number number_quotient(struct number a, struct number b) {
  bool negative = a.negative != b.negative;
  if (a.class == NUMBER_NAN || b.class == NUMBER_NAN ||
      (a.class == b.class && a.class != NUMBER_FINITE))
    return not_a_number();
  if (a.class == NUMBER_INFINITE || b.class == NUMBER_ZERO)
    return (struct number){NUMBER_INFINITE, negative, 0, 0};
  if (a.class == NUMBER_ZERO || b.class == NUMBER_INFINITE)
    return (struct number){NUMBER_ZERO, negative, 0, 0};
  a = normalise(a);
  alu_wide q = a.digits / b.digits;
  return (struct number){NUMBER_FINITE, negative, a.exponent - b.exponent,
                         q | (q * b.digits != a.digits)};
}

struct number number_root(struct number a) {
  if (a.class == NUMBER_NAN || a.class == NUMBER_ZERO)
    return a;
  if (a.negative)
    return not_a_number();
  if (a.class == NUMBER_INFINITE)
    return a;
  a = normalise(a);
  if (a.exponent % 2) {
    a.digits <<= 1;
    a.exponent--;
  }
  alu_wide root = 0;
  for (unsigned bit = 64; bit-- > 0;) {
    alu_wide next = root | (alu_wide)1 << bit;
    if (next * next <= a.digits)
      root = next;
  }
  bool exact = root * root == a.digits;
  return (struct number){NUMBER_FINITE, false, a.exponent / 2 - 1, root << 1 | !exact};
}

// ---- rounding ----

// digits / 2^n, rounded.
static alu_wide shift_rounded(alu_wide digits, unsigned n, bool negative,
                              enum alu_rounding rounding) {
  if (n == 0)
    return digits;
  bool beyond = n > 127; // all digits are shifted out and are less than half
  alu_wide kept = beyond ? 0 : digits >> n;
  alu_wide half = beyond ? 0 : (alu_wide)1 << (n - 1);
  alu_wide rest = beyond ? digits : digits & (2 * half - 1);
  bool above = !beyond && rest > half, tie = !beyond && rest == half;
  switch (rounding) {
  case ROUND_NEAREST: return kept + (above || (tie && (kept & 1)));
  case ROUND_AWAY: return kept + (above || tie);
  case ROUND_DOWN: return kept + (rest && negative);
  case ROUND_UP: return kept + (rest && !negative);
  case ROUND_NONE: assert(rest == 0); return kept;
  case ROUND_ZERO: break;
  }
  return kept;
}

struct number number_integral(struct number a, enum alu_rounding rounding) {
  if (a.class != NUMBER_FINITE || a.exponent >= 0)
    return a;
  a.digits = shift_rounded(a.digits, (unsigned)-a.exponent, a.negative, rounding);
  a.exponent = 0;
  if (a.digits == 0)
    a.class = NUMBER_ZERO;
  return a;
}

uint64_t number_clamped(struct number a, int64_t low, uint64_t high) {
  assert(low <= 0 && a.class != NUMBER_NAN);
  if (a.class == NUMBER_ZERO)
    return 0;
  assert(a.class == NUMBER_INFINITE || a.exponent >= 0);
  bool large = a.class == NUMBER_INFINITE || first_digit(a.digits) + (unsigned)a.exponent > 63;
  uint64_t magnitude = large ? UINT64_MAX : (uint64_t)a.digits << a.exponent;
  if (!a.negative)
    return magnitude > high ? high : magnitude;
  uint64_t lowest = -(uint64_t)low;
  return -(magnitude > lowest ? lowest : magnitude);
}

uint64_t number_nan(const struct alu_format *f) {
  if (f->bits == 64)
    return 0xfff8000000000000;
  return ((uint64_t)1 << (f->bits - 1)) - 1;
}

// Bits without sign, before `unused_bits`.
static uint64_t largest_finite(const struct alu_format *f) {
  uint64_t infinity = (((uint64_t)1 << f->exponent_bits) - 1) << f->mantissa_bits;
  return has_infinity(f) ? infinity - 1 : (infinity | (((uint64_t)1 << f->mantissa_bits) - 1)) - 1;
}

static uint64_t overflowed(const struct alu_format *f, bool negative, enum alu_rounding rounding,
                           unsigned flags) {
  bool stays = flags & NUMBER_SATFINITE || rounding == ROUND_ZERO ||
               rounding == (negative ? ROUND_UP : ROUND_DOWN);
  return stays || !has_infinity(f) ? largest_finite(f) : largest_finite(f) + 1;
}

// A finite number's bits without sign. The exponent of the last digit is at least that of the
// smallest normal number, so that subnormal numbers round like all others; a carry out of the
// digits correctly increments the exponent.
static uint64_t magnitude_of(struct number a, const struct alu_format *f,
                             enum alu_rounding rounding, unsigned flags) {
  int first = (int)first_digit(a.digits) + a.exponent, smallest = 1 - bias(f);
  int above = first > smallest ? first - smallest : 0;
  if (first > bias(f) + 1)
    return overflowed(f, a.negative, rounding, flags);
  int shift = smallest + above - (int)f->mantissa_bits - a.exponent;
  alu_wide digits = shift <= 0 ? a.digits << -shift
                               : shift_rounded(a.digits, (unsigned)shift, a.negative, rounding);
  uint64_t bits = ((uint64_t)above << f->mantissa_bits) + (uint64_t)digits;
  if (bits > largest_finite(f))
    return overflowed(f, a.negative, rounding, flags);
  bool subnormal = bits < (uint64_t)1 << f->mantissa_bits;
  return subnormal && flags & NUMBER_FTZ ? 0 : bits;
}

uint64_t number_round(struct number a, const struct alu_format *f, enum alu_rounding rounding,
                      unsigned flags) {
  if (a.class == NUMBER_NAN)
    return flags & NUMBER_SAT ? 0 : number_nan(f);
  if (a.negative && flags & (NUMBER_SAT | NUMBER_RELU))
    return 0;
  uint64_t magnitude = 0;
  if (a.class == NUMBER_FINITE)
    magnitude = magnitude_of(a, f, rounding, flags);
  else if (a.class == NUMBER_INFINITE)
    magnitude =
        flags & NUMBER_SATFINITE || !has_infinity(f) ? largest_finite(f) : largest_finite(f) + 1;
  uint64_t one = (uint64_t)bias(f) << f->mantissa_bits;
  if (flags & NUMBER_SAT && magnitude > one)
    magnitude = one;
  uint64_t sign = (uint64_t)a.negative << (f->exponent_bits + f->mantissa_bits);
  return (sign | magnitude) << unused_bits(f);
}
