// SPDX-License-Identifier: Apache-2.0
// Arithmetic of PTX for one lane: integers, bits, comparisons, floats and conversions (PTX ISA,
// 9.7.1 to 9.7.9: everything without memory, other lanes or control flow; `mov` is in move.c).
//
// A register is a 64-bit word. A source is read from the low bits, as many as its type has. A
// result of a signed type is sign extended to 64 bits, any other zero extended; the caller
// truncates it to the destination register. Predicates are 0 and 1.
//
// Floats: add, sub, mul, fma, div.r*, rcp.r*, sqrt.r* and cvt are exact results rounded once, in
// any format and direction. `.ftz` flushes subnormal inputs, and results that are subnormal after
// rounding. NaN results are canonical: 0x7fffffff (f32, tf32), 0x7fff (f16, bf16), 0x7f (fp8),
// 0xfff8000000000000 (f64). The approximations (div.full, div.approx, rcp.approx, sqrt.approx,
// rsqrt, ex2, lg2, sin, cos, tanh) are computed in double and rounded to nearest: a GPU differs by
// the error that the PTX ISA states for each, a few ulp. Integer division by zero, undefined in the
// PTX ISA, gives a quotient of all ones and the dividend as remainder.
#ifndef TILE_SIMULATOR_ALU_H
#define TILE_SIMULATOR_ALU_H

#include "base/str.h"

enum { ALU_MAX_SOURCES = 6, ALU_MAX_RESULTS = 3 };

enum alu_kind { ALU_PREDICATE, ALU_BITS, ALU_UNSIGNED, ALU_SIGNED, ALU_FLOAT };

// The type of an operand; `bits` is 1 for a predicate, 32 for a packed type (f16x2).
struct alu_type {
  enum alu_kind kind;
  unsigned bits;
};

// The type of an element, as in the opcode.
struct alu_format {
  const char *name;
  enum alu_kind kind;
  unsigned bits, elements;               // of one element; 2 for a packed type
  unsigned exponent_bits, mantissa_bits; // of a float
};

struct alu_instruction {
  // Sources and results in the order of the PTX text; results first, as in `d|p`. A carry is a
  // predicate after the others, which the text does not name.
  unsigned source_count, result_count;
  // How many results must be written: `setp` may omit its second result. The predicate that a
  // comparison is combined with is a source.
  unsigned result_required;
  bool carry_in, carry_out;
  struct alu_type sources[ALU_MAX_SOURCES], results[ALU_MAX_RESULTS];
  // Executes one lane. All sources must be given, all results are written. Thread-safe.
  void (*run)(const struct alu_instruction *in, const uint64_t *sources, uint64_t *results);

  // Inputs of `run`; see alu_internal.h.
  unsigned operation, flags, rounding, comparison, combine, mode;
  struct alu_format type, from;
  void (*element)(const struct alu_instruction *in, const uint64_t *sources, uint64_t *results);
};

// Decodes an opcode split at its dots ("fma", "rn", "f32"). False when it is no arithmetic, or when
// the PTX ISA has no such combination of modifiers and types: no modifier is ever ignored.
bool alu_decode(const struct str *parts, size_t count, struct alu_instruction *ret);

#endif
