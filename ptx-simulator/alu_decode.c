// SPDX-License-Identifier: Apache-2.0
// Decodes arithmetic opcodes: sorts their words into types, flags, roundings and so on; the family
// of the name builds the instruction or rejects it.
#include "ptx-simulator/alu_internal.h"

// ---- types ----

#define INTEGER(name, kind, bits)                                                                  \
  { name, kind, bits, 1, 0, 0 }
static const struct alu_format types[] = {
    INTEGER("pred", ALU_PREDICATE, 1),  INTEGER("b8", ALU_BITS, 8),
    INTEGER("b16", ALU_BITS, 16),       INTEGER("b32", ALU_BITS, 32),
    INTEGER("b64", ALU_BITS, 64),       INTEGER("u2", ALU_UNSIGNED, 2),
    INTEGER("u4", ALU_UNSIGNED, 4),     INTEGER("u8", ALU_UNSIGNED, 8),
    INTEGER("u16", ALU_UNSIGNED, 16),   INTEGER("u32", ALU_UNSIGNED, 32),
    INTEGER("u64", ALU_UNSIGNED, 64),   INTEGER("s2", ALU_SIGNED, 2),
    INTEGER("s4", ALU_SIGNED, 4),       INTEGER("s8", ALU_SIGNED, 8),
    INTEGER("s16", ALU_SIGNED, 16),     INTEGER("s32", ALU_SIGNED, 32),
    INTEGER("s64", ALU_SIGNED, 64),     {"u16x2", ALU_UNSIGNED, 16, 2, 0, 0},
    {"s16x2", ALU_SIGNED, 16, 2, 0, 0}, {"e4m3x2", ALU_FLOAT, 8, 2, 4, 3},
    {"e5m2x2", ALU_FLOAT, 8, 2, 5, 2},  {"f16", ALU_FLOAT, 16, 1, 5, 10},
    {"f16x2", ALU_FLOAT, 16, 2, 5, 10}, {"bf16", ALU_FLOAT, 16, 1, 8, 7},
    {"bf16x2", ALU_FLOAT, 16, 2, 8, 7}, {"tf32", ALU_FLOAT, 32, 1, 8, 10},
    {"f32", ALU_FLOAT, 32, 1, 8, 23},   {"f64", ALU_FLOAT, 64, 1, 11, 52},
};

static const struct alu_format *type_of(struct str name) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(name, types[i].name))
      return &types[i];
  return NULL;
}

const struct alu_format *alu_format_named(const char *name) { return type_of(str_from(name)); }

// ---- other words ----

struct named {
  const char *name;
  unsigned value;
};

static const struct named flags[] = {
    {"ftz", FLAG_FTZ},
    {"sat", FLAG_SAT},
    {"relu", FLAG_RELU},
    {"NaN", FLAG_NAN},
    {"xorsign", FLAG_XORSIGN},
    {"abs", FLAG_ABS},
    {"approx", FLAG_APPROX},
    {"full", FLAG_FULL},
    {"cc", FLAG_CC},
    {"lo", FLAG_LO},
    {"hi", FLAG_HI},
    {"wide", FLAG_WIDE},
    {"shiftamt", FLAG_SHIFTAMT},
    {"l", FLAG_LEFT},
    {"r", FLAG_RIGHT},
    {"clamp", FLAG_CLAMP},
    {"wrap", FLAG_WRAP},
    {"satfinite", FLAG_SATFINITE},
};
static const struct named roundings[] = {{"rn", ROUND_NEAREST},
                                         {"rz", ROUND_ZERO},
                                         {"rm", ROUND_DOWN},
                                         {"rp", ROUND_UP},
                                         {"rna", ROUND_AWAY}};
static const struct named integral_roundings[] = {
    {"rni", ROUND_NEAREST}, {"rzi", ROUND_ZERO}, {"rmi", ROUND_DOWN}, {"rpi", ROUND_UP}};
static const struct named comparisons[] = {
    {"eq", COMPARE_EQ},   {"ne", COMPARE_NE},   {"lt", COMPARE_LT},   {"le", COMPARE_LE},
    {"gt", COMPARE_GT},   {"ge", COMPARE_GE},   {"lo", COMPARE_LO},   {"ls", COMPARE_LS},
    {"hi", COMPARE_HI},   {"hs", COMPARE_HS},   {"equ", COMPARE_EQU}, {"neu", COMPARE_NEU},
    {"ltu", COMPARE_LTU}, {"leu", COMPARE_LEU}, {"gtu", COMPARE_GTU}, {"geu", COMPARE_GEU},
    {"num", COMPARE_NUM}, {"nan", COMPARE_NAN}};
static const struct named combines[] = {
    {"and", COMBINE_AND}, {"or", COMBINE_OR}, {"xor", COMBINE_XOR}};
static const struct named modes[] = {{"f4e", MODE_F4E},       {"b4e", MODE_B4E},
                                     {"rc8", MODE_RC8},       {"ecl", MODE_ECL},
                                     {"ecr", MODE_ECR},       {"rc16", MODE_RC16},
                                     {"finite", MODE_FINITE}, {"infinite", MODE_INFINITE},
                                     {"number", MODE_NUMBER}, {"notanumber", MODE_NOTANUMBER},
                                     {"normal", MODE_NORMAL}, {"subnormal", MODE_SUBNORMAL}};

// The value of a word, 0 if it is not in the list; no value of a list is 0.
static unsigned find(const struct named *list, size_t count, struct str word) {
  for (size_t i = 0; i < count; i++)
    if (str_is(word, list[i].name))
      return list[i].value;
  return 0;
}
#define FIND(list, word) find(list, COUNT_OF(list), word)

static bool set_once(unsigned value, unsigned *ret) {
  if (!value || *ret)
    return false;
  *ret = value;
  return true;
}

static bool set_flag(unsigned flag, unsigned *ret) {
  if (!flag || *ret & flag)
    return false;
  *ret |= flag;
  return true;
}

struct values {
  unsigned rounding, comparison, combine, mode;
};

static bool sort_word(struct str word, bool compares, struct alu_words *w, struct values *v) {
  const struct alu_format *type = type_of(word);
  if (type) {
    if (w->type_count == ALU_MAX_TYPES)
      return false;
    w->types[w->type_count++] = type;
    return true;
  }
  if (compares && FIND(comparisons, word)) // before the flags .lo and .hi
    return set_once(FIND(comparisons, word), &v->comparison);
  unsigned integral = FIND(integral_roundings, word);
  if (integral)
    return set_once(integral, &v->rounding) && set_flag(FLAG_INTEGRAL, &w->flags);
  return set_flag(FIND(flags, word), &w->flags) || set_once(FIND(roundings, word), &v->rounding) ||
         set_once(FIND(combines, word), &v->combine) || set_once(FIND(modes, word), &v->mode);
}

// ---- instructions ----

// Names shared by floats and integers: dispatches on the type.
static bool decode_arithmetic(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count == 0)
    return false;
  return (w->types[0]->kind == ALU_FLOAT ? alu_decode_float : alu_decode_integer)(w, ret);
}

static const struct name {
  const char *name;
  enum alu_operation operation;
  bool (*decode)(const struct alu_words *w, struct alu_instruction *ret);
} names[] = {
    {"add", OPERATION_ADD, decode_arithmetic},
    {"sub", OPERATION_SUB, decode_arithmetic},
    {"mul", OPERATION_MUL, decode_arithmetic},
    {"mad", OPERATION_MAD, decode_arithmetic},
    {"fma", OPERATION_FMA, decode_arithmetic},
    {"mul24", OPERATION_MUL24, alu_decode_integer},
    {"mad24", OPERATION_MAD24, alu_decode_integer},
    {"addc", OPERATION_ADDC, alu_decode_integer},
    {"subc", OPERATION_SUBC, alu_decode_integer},
    {"sad", OPERATION_SAD, alu_decode_integer},
    {"div", OPERATION_DIV, decode_arithmetic},
    {"rem", OPERATION_REM, alu_decode_integer},
    {"abs", OPERATION_ABS, decode_arithmetic},
    {"neg", OPERATION_NEG, decode_arithmetic},
    {"min", OPERATION_MIN, decode_arithmetic},
    {"max", OPERATION_MAX, decode_arithmetic},
    {"rcp", OPERATION_RCP, alu_decode_function},
    {"sqrt", OPERATION_SQRT, alu_decode_function},
    {"rsqrt", OPERATION_RSQRT, alu_decode_function},
    {"sin", OPERATION_SIN, alu_decode_function},
    {"cos", OPERATION_COS, alu_decode_function},
    {"lg2", OPERATION_LG2, alu_decode_function},
    {"ex2", OPERATION_EX2, alu_decode_function},
    {"tanh", OPERATION_TANH, alu_decode_function},
    {"copysign", OPERATION_COPYSIGN, alu_decode_float},
    {"testp", OPERATION_TESTP, alu_decode_float},
    {"popc", OPERATION_POPC, alu_decode_bits},
    {"clz", OPERATION_CLZ, alu_decode_bits},
    {"bfind", OPERATION_BFIND, alu_decode_bits},
    {"brev", OPERATION_BREV, alu_decode_bits},
    {"bfe", OPERATION_BFE, alu_decode_bits},
    {"bfi", OPERATION_BFI, alu_decode_bits},
    {"fns", OPERATION_FNS, alu_decode_bits},
    {"dp4a", OPERATION_DP4A, alu_decode_bits},
    {"dp2a", OPERATION_DP2A, alu_decode_bits},
    {"szext", OPERATION_SZEXT, alu_decode_bits},
    {"bmsk", OPERATION_BMSK, alu_decode_bits},
    {"and", OPERATION_AND, alu_decode_logic},
    {"or", OPERATION_OR, alu_decode_logic},
    {"xor", OPERATION_XOR, alu_decode_logic},
    {"not", OPERATION_NOT, alu_decode_logic},
    {"cnot", OPERATION_CNOT, alu_decode_logic},
    {"lop3", OPERATION_LOP3, alu_decode_logic},
    {"shl", OPERATION_SHL, alu_decode_logic},
    {"shr", OPERATION_SHR, alu_decode_logic},
    {"shf", OPERATION_SHF, alu_decode_logic},
    {"prmt", OPERATION_PRMT, alu_decode_logic},
    {"setp", OPERATION_SETP, alu_decode_compare},
    {"set", OPERATION_SET, alu_decode_compare},
    {"selp", OPERATION_SELP, alu_decode_compare},
    {"slct", OPERATION_SLCT, alu_decode_compare},
    {"cvt", OPERATION_CVT, alu_decode_convert},
};

bool alu_decode(const struct str *parts, size_t count, struct alu_instruction *ret) {
  if (count == 0)
    return false;
  const struct name *n = NULL;
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (str_is(parts[0], names[i].name))
      n = &names[i];
  if (!n)
    return false;
  struct alu_words w = {.operation = n->operation};
  struct values v = {0};
  bool compares = n->operation == OPERATION_SETP || n->operation == OPERATION_SET;
  bool packs = n->operation == OPERATION_CVT && count > 1 && str_is(parts[1], "pack");
  for (size_t i = packs ? 2 : 1; i < count; i++)
    if (!sort_word(parts[i], compares, &w, &v))
      return false;
  w.rounding = (enum alu_rounding)v.rounding;
  w.comparison = (enum alu_comparison)v.comparison;
  w.combine = (enum alu_combine)v.combine;
  w.mode = (enum alu_mode)v.mode;
  if (packs)
    w.operation = OPERATION_CVT_PACK;
  return packs ? alu_decode_pack(&w, ret) : n->decode(&w, ret);
}
