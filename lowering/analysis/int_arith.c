// SPDX-License-Identifier: Apache-2.0
// Two's complement, as arith defines it.
#include "lowering/analysis/int_arith.h"

#include <assert.h>

int64_t sign_extend(int64_t v, unsigned bits) {
  assert(bits >= 1);
  if (bits >= 64)
    return v;
  return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

uint64_t zero_extend(int64_t v, unsigned bits) {
  assert(bits >= 1);
  return bits >= 64 ? (uint64_t)v : (uint64_t)v & ((UINT64_C(1) << bits) - 1);
}

bool compare_ints(int predicate, int64_t x, int64_t y, unsigned bits) {
  assert(predicate >= 0 && predicate < 10);
  int64_t a = sign_extend(x, bits), b = sign_extend(y, bits);
  uint64_t ua = zero_extend(x, bits), ub = zero_extend(y, bits);
  switch (predicate) {
  case 0: return ua == ub;
  case 1: return ua != ub;
  case 2: return a < b;
  case 3: return a <= b;
  case 4: return a > b;
  case 5: return a >= b;
  case 6: return ua < ub;
  case 7: return ua <= ub;
  case 8: return ua > ub;
  default: return ua >= ub;
  }
}

static bool divide(enum op_id id, int64_t a, int64_t b, unsigned bits, int64_t *ret) {
  uint64_t ua = zero_extend(a, bits), ub = zero_extend(b, bits);
  bool is_signed = id == OP_ARITH_DIVSI || id == OP_ARITH_REMSI;
  bool overflows = is_signed && b == -1 && ua == UINT64_C(1) << (bits - 1);
  if (b == 0 || overflows) // no value
    return false;
  switch (id) {
  case OP_ARITH_DIVSI: *ret = a / b; break;
  case OP_ARITH_REMSI: *ret = a % b; break;
  case OP_ARITH_DIVUI: *ret = (int64_t)(ua / ub); break;
  default: *ret = (int64_t)(ua % ub); break;
  }
  return true;
}

static bool shift(enum op_id id, int64_t a, uint64_t by, unsigned bits, int64_t *ret) {
  if (by >= bits) // no value
    return false;
  if (id == OP_ARITH_SHLI)
    *ret = (int64_t)((uint64_t)a << by);
  else
    *ret = id == OP_ARITH_SHRSI ? a >> by : (int64_t)(zero_extend(a, bits) >> by);
  return true;
}

bool int_binary(enum op_id id, int64_t x, int64_t y, unsigned bits, int64_t *ret) {
  int64_t a = sign_extend(x, bits), b = sign_extend(y, bits);
  uint64_t ua = zero_extend(x, bits), ub = zero_extend(y, bits);
  switch (id) {
  case OP_ARITH_ADDI: *ret = (int64_t)((uint64_t)a + (uint64_t)b); return true;
  case OP_ARITH_SUBI: *ret = (int64_t)((uint64_t)a - (uint64_t)b); return true;
  case OP_ARITH_MULI: *ret = (int64_t)((uint64_t)a * (uint64_t)b); return true;
  case OP_ARITH_ANDI: *ret = a & b; return true;
  case OP_ARITH_ORI: *ret = a | b; return true;
  case OP_ARITH_XORI: *ret = a ^ b; return true;
  case OP_ARITH_MAXSI: *ret = a > b ? a : b; return true;
  case OP_ARITH_MINSI: *ret = a < b ? a : b; return true;
  case OP_ARITH_MAXUI: *ret = ua > ub ? a : b; return true;
  case OP_ARITH_MINUI: *ret = ua < ub ? a : b; return true;
  case OP_ARITH_SHLI:
  case OP_ARITH_SHRSI:
  case OP_ARITH_SHRUI: return shift(id, a, ub, bits, ret);
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return divide(id, a, b, bits, ret);
  case OP_TILE_MULHIUI:
    if (bits > 32)
      return false;
    *ret = (int64_t)(ua * ub >> bits);
    return true;
  default: return false;
  }
}

bool int_unary(enum op_id id, int64_t x, unsigned bits, int64_t *ret) {
  int64_t s = sign_extend(x, bits);
  switch (id) {
  case OP_ARITH_EXTSI: *ret = s; return true;
  case OP_ARITH_EXTUI: *ret = (int64_t)zero_extend(x, bits); return true;
  case OP_ARITH_TRUNCI: *ret = x; return true;
  case OP_MATH_ABSI: *ret = s < 0 ? (int64_t)(0 - (uint64_t)s) : s; return true;
  default: return false;
  }
}
