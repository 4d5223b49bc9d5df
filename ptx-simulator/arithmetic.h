// SPDX-License-Identifier: Apache-2.0
// The `info` of an arithmetic operation: its instruction for one lane, and how undefined bytes
// propagate from sources to result.
#ifndef TILE_SIMULATOR_ARITHMETIC_H
#define TILE_SIMULATOR_ARITHMETIC_H

#include "ptx-simulator/alu.h"
#include "ptx-simulator/decode.h"

enum spread {
  SPREAD_WHOLE, // the result is undefined if any byte of a source is
  SPREAD_AND,
  SPREAD_OR,
  SPREAD_BYTES, // byte by byte
  SPREAD_SHL,
  SPREAD_SHR,
  SPREAD_PACKED,
  SPREAD_CONVERT,
  SPREAD_PERMUTE,
  SPREAD_SELECT
};

struct arithmetic {
  struct alu_instruction in;
  enum spread spread;
};

enum spread spread_of(const struct str *parts, unsigned count, const struct alu_instruction *in);
void spread_arithmetic(struct warp *w, const struct op *op, uint32_t lanes);

#endif
