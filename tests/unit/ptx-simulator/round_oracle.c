// SPDX-License-Identifier: Apache-2.0
// Lists the numbers of a format by ldexp and searches in them.
#include "round_oracle.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

struct oracle oracle_make(unsigned exponent_bits, unsigned mantissa_bits, bool has_infinity) {
  struct oracle o = {exponent_bits, mantissa_bits, has_infinity, 0, NULL};
  uint32_t step = 1u << mantissa_bits, exponents = 1u << exponent_bits;
  o.count = has_infinity ? (exponents - 1) * step : exponents * step - 1;
  o.values = malloc((o.count + 1) * sizeof *o.values);
  ck_assert(o.values != NULL);
  int bias = (int)exponents / 2 - 1;
  for (uint32_t i = 0; i <= o.count; i++) { // the last one is the limit of infinity
    int exponent = (int)(i / step);
    double digits = exponent ? step + i % step : i % step;
    o.values[i] = ldexp(digits, (exponent ? exponent : 1) - bias - (int)mantissa_bits);
  }
  return o;
}

void oracle_free(struct oracle *o) { free(o->values); }

// The highest number that is at most x.
static uint32_t below(const struct oracle *o, quad x) {
  uint32_t low = 0, high = o->count; // values[low] <= x < values[high]
  if (x >= (quad)o->values[high])
    return high;
  while (high - low > 1) {
    uint32_t mid = (low + high) / 2;
    if ((quad)o->values[mid] <= x)
      low = mid;
    else
      high = mid;
  }
  return low;
}

uint32_t oracle_round(const struct oracle *o, quad x, int mode) {
  bool negative = x < 0;
  uint32_t sign = negative ? 1u << (o->exponent_bits + o->mantissa_bits) : 0;
  quad magnitude = negative ? -x : x;
  uint32_t low = below(o, magnitude);
  bool toward = mode == MODE_RZ || mode == (negative ? MODE_RP : MODE_RM);
  if (low == o->count) // beyond all
    return sign | (toward || !o->has_infinity ? low - 1 : low);
  quad rest = magnitude - (quad)o->values[low],
       gap = (quad)o->values[low + 1] - (quad)o->values[low];
  bool up = !toward && rest > 0;
  if (mode == MODE_RN || mode == MODE_RNA)
    up = 2 * rest > gap || (2 * rest == gap && (low % 2 || mode == MODE_RNA));
  low += up;
  return sign | (low == o->count && !o->has_infinity ? low - 1 : low);
}

double oracle_value(const struct oracle *o, uint32_t bits) {
  uint32_t sign = 1u << (o->exponent_bits + o->mantissa_bits);
  double x = o->values[bits & (sign - 1)];
  return bits & sign ? -x : x;
}
