// SPDX-License-Identifier: Apache-2.0
// Rounding to small float formats without bit arithmetic: lists all numbers of the format in order,
// and finds the two around a value by search.
#ifndef TESTS_UNIT_SIMULATOR_ROUND_ORACLE_H
#define TESTS_UNIT_SIMULATOR_ROUND_ORACLE_H

#include "base/attrs.h"

__extension__ typedef __float128 quad; // 113 digits

enum { MODE_RN, MODE_RZ, MODE_RM, MODE_RP, MODE_RNA };

struct oracle {
  unsigned exponent_bits, mantissa_bits;
  bool has_infinity;
  uint32_t count; // of finite numbers that are not negative
  double *values; // by their bits
};

struct oracle oracle_make(unsigned exponent_bits, unsigned mantissa_bits, bool has_infinity);
void oracle_free(struct oracle *o);
// Bits of a finite `x`, rounded; infinity beyond the last number, if the format has it.
uint32_t oracle_round(const struct oracle *o, quad x, int mode);
// The value of finite bits.
double oracle_value(const struct oracle *o, uint32_t bits);

#endif
