// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the arithmetic: the sorted words of an opcode, and the families that build
// instructions from them.
#ifndef TILE_SIMULATOR_ALU_INTERNAL_H
#define TILE_SIMULATOR_ALU_INTERNAL_H

#include "ptx-simulator/alu.h"
#include "ptx-simulator/alu_float.h"

// Modifiers without a value.
enum alu_flag {
  FLAG_FTZ = 1 << 0,
  FLAG_SAT = 1 << 1,
  FLAG_RELU = 1 << 2,
  FLAG_SATFINITE = 1 << 3,
  FLAG_NAN = 1 << 4, // of min and max: NaN if one operand is
  FLAG_XORSIGN = 1 << 5,
  FLAG_ABS = 1 << 6,
  FLAG_APPROX = 1 << 7,
  FLAG_FULL = 1 << 8,
  FLAG_CC = 1 << 9, // writes the carry
  FLAG_LO = 1 << 10,
  FLAG_HI = 1 << 11,
  FLAG_WIDE = 1 << 12,
  FLAG_SHIFTAMT = 1 << 13,
  FLAG_LEFT = 1 << 14,
  FLAG_RIGHT = 1 << 15,
  FLAG_CLAMP = 1 << 16,
  FLAG_WRAP = 1 << 17,
  FLAG_INTEGRAL = 1 << 18, // the rounding is to an integer: .rni, .rzi, .rmi, .rpi
};

enum alu_comparison {
  COMPARE_NONE,
  COMPARE_EQ,
  COMPARE_NE,
  COMPARE_LT,
  COMPARE_LE,
  COMPARE_GT,
  COMPARE_GE,
  COMPARE_LO, // unsigned
  COMPARE_LS,
  COMPARE_HI,
  COMPARE_HS,
  COMPARE_EQU, // true if one operand is NaN
  COMPARE_NEU,
  COMPARE_LTU,
  COMPARE_LEU,
  COMPARE_GTU,
  COMPARE_GEU,
  COMPARE_NUM, // neither is NaN
  COMPARE_NAN
};

enum alu_combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

// Modes of prmt, properties of testp.
enum alu_mode {
  MODE_NONE,
  MODE_F4E,
  MODE_B4E,
  MODE_RC8,
  MODE_ECL,
  MODE_ECR,
  MODE_RC16,
  MODE_FINITE,
  MODE_INFINITE,
  MODE_NUMBER,
  MODE_NOTANUMBER,
  MODE_NORMAL,
  MODE_SUBNORMAL
};

enum alu_operation {
  OPERATION_ADD,
  OPERATION_SUB,
  OPERATION_MUL,
  OPERATION_MAD,
  OPERATION_MUL24,
  OPERATION_MAD24,
  OPERATION_ADDC,
  OPERATION_SUBC,
  OPERATION_SAD,
  OPERATION_DIV,
  OPERATION_REM,
  OPERATION_ABS,
  OPERATION_NEG,
  OPERATION_MIN,
  OPERATION_MAX,
  OPERATION_FMA,
  OPERATION_RCP,
  OPERATION_SQRT,
  OPERATION_RSQRT,
  OPERATION_SIN,
  OPERATION_COS,
  OPERATION_LG2,
  OPERATION_EX2,
  OPERATION_TANH,
  OPERATION_COPYSIGN,
  OPERATION_TESTP,
  OPERATION_POPC,
  OPERATION_CLZ,
  OPERATION_BFIND,
  OPERATION_BREV,
  OPERATION_BFE,
  OPERATION_BFI,
  OPERATION_FNS,
  OPERATION_DP4A,
  OPERATION_DP2A,
  OPERATION_SZEXT,
  OPERATION_BMSK,
  OPERATION_AND,
  OPERATION_OR,
  OPERATION_XOR,
  OPERATION_NOT,
  OPERATION_CNOT,
  OPERATION_LOP3,
  OPERATION_SHL,
  OPERATION_SHR,
  OPERATION_SHF,
  OPERATION_PRMT,
  OPERATION_SETP,
  OPERATION_SET,
  OPERATION_SELP,
  OPERATION_SLCT,
  OPERATION_CVT,
  OPERATION_CVT_PACK
};

enum { ALU_MAX_TYPES = 3 };

// The words after the name. A repeated or unknown word is an error.
struct alu_words {
  enum alu_operation operation;
  unsigned flags;
  enum alu_rounding rounding;
  enum alu_comparison comparison;
  enum alu_combine combine;
  enum alu_mode mode;
  const struct alu_format *types[ALU_MAX_TYPES];
  unsigned type_count;
};

typedef void alu_run_fn(const struct alu_instruction *in, const uint64_t *sources,
                        uint64_t *results);

// The type of that name ("f16x2"), NULL when there is none.
const struct alu_format *alu_format_named(const char *name);
static inline bool alu_is(const struct alu_format *f, const char *name) {
  return strcmp(f->name, name) == 0;
}

// Whether `w` has no modifiers except these flags.
bool alu_only_flags(const struct alu_words *w, unsigned flags);

// Starts an instruction of type `type` with the words' modifiers, without operands.
void alu_begin(struct alu_instruction *in, const struct alu_words *w,
               const struct alu_format *type);
void alu_add_source(struct alu_instruction *in, enum alu_kind kind, unsigned bits);
void alu_add_result(struct alu_instruction *in, enum alu_kind kind, unsigned bits);
// Adds `sources` operands of the instruction's type and one result, computed by `run` for each
// element.
void alu_finish(struct alu_instruction *in, unsigned sources, alu_run_fn *run);

static inline uint64_t alu_mask(uint64_t x, unsigned bits) {
  return bits >= 64 ? x : x & (((uint64_t)1 << bits) - 1);
}
static inline int64_t alu_signed(uint64_t x, unsigned bits) {
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}
// Sign or zero extends, by the type.
static inline uint64_t alu_extend(uint64_t x, enum alu_kind kind, unsigned bits) {
  return kind == ALU_SIGNED ? (uint64_t)alu_signed(x, bits) : alu_mask(x, bits);
}

// The families. False when the words are no valid instruction.
bool alu_decode_integer(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_bits(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_logic(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_float(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_function(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_compare(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_convert(const struct alu_words *w, struct alu_instruction *ret);
bool alu_decode_pack(const struct alu_words *w, struct alu_instruction *ret);

#endif
