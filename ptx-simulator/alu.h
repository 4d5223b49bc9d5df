// SPDX-License-Identifier: Apache-2.0
// Arithmetic of PTX for one lane: integers, bits, comparisons, floats and conversions (PTX ISA,
// 9.7.1 to 9.7.9: everything without memory, other lanes or control flow; `mov` is not here).
//
// A register is a 64-bit word. A source counts in the lowest bits of its type's width, as a
// register that is wider than the type does. A result of a signed type is sign extended to 64 bits,
// any other zero extended; the caller keeps as many bits as the destination register has.
// Predicates are 0 and 1.
//
// Numbers. add, sub, mul, fma, div.r*, rcp.r*, sqrt.r* and cvt are exact results rounded once, in
// any format and direction. `.ftz` clears subnormal inputs, and results that are subnormal after
// rounding. NaN results are canonical: 0x7fffffff (f32, tf32), 0x7fff (f16, bf16), 0x7f (fp8),
// 0xfff8000000000000 (f64). The approximations (div.full, div.approx, rcp.approx, sqrt.approx,
// rsqrt, ex2, lg2, sin, cos, tanh) are the function in double rounded to nearest: a GPU differs
// from that by the error that the PTX ISA states for each, a few ulp. Integer division by zero,
// which the PTX ISA leaves open, gives a quotient of all ones and the dividend as remainder.
#ifndef TILE_SIMULATOR_ALU_H
#define TILE_SIMULATOR_ALU_H

#include "base/str.h"

enum { ALU_MAX_SOURCES = 6, ALU_MAX_RESULTS = 3 };

enum alu_kind { ALU_PREDICATE, ALU_BITS, ALU_UNSIGNED, ALU_SIGNED, ALU_FLOAT };

// The type of an operand; `bits` is 1 of a predicate, 32 of two packed halves (f16x2).
struct alu_type {
  enum alu_kind kind;
  unsigned bits;
};

// The type of an element, as the opcode says it.
struct alu_format {
  const char *name;
  enum alu_kind kind;
  unsigned bits, elements;               // of one element; 2 of a packed type
  unsigned exponent_bits, mantissa_bits; // of a float
};

struct alu_instruction {
  // Sources and results in the order in which PTX writes them; results first, as in `d|p`.
  // A carry, where there is one, is a predicate behind the others and no operand of the text.
  unsigned source_count, result_count;
  // How many of them must be written: `setp` may leave out its second result, and the predicate
  // that a comparison is combined with counts as written.
  unsigned result_required;
  bool carry_in, carry_out;
  struct alu_type sources[ALU_MAX_SOURCES], results[ALU_MAX_RESULTS];
  // One lane. All sources must be given, all results are written. Thread-safe.
  void (*run)(const struct alu_instruction *in, const uint64_t *sources, uint64_t *results);

  // What `run` reads; see alu_internal.h.
  unsigned operation, flags, rounding, comparison, combine, mode;
  struct alu_format type, from;
  void (*element)(const struct alu_instruction *in, const uint64_t *sources, uint64_t *results);
};

// The instruction of an opcode split at its dots ("fma", "rn", "f32"). False when it is no
// arithmetic, or when the PTX ISA has no such combination of modifiers and types: a modifier is
// never ignored.
bool alu_decode(const struct str *parts, size_t count, struct alu_instruction *ret);

#endif
