// SPDX-License-Identifier: Apache-2.0
// The scalar types of the language, for front end, tools, runtime and file formats, and conversion
// between their stored bits and double.
#ifndef TILE_BASE_DTYPE_H
#define TILE_BASE_DTYPE_H

#include "base/str.h"

// id, short name (signatures, --arg), language name, bits, kind: b bool, i signed, u unsigned, f
// float
#define DTYPES(X)                                                                                  \
  X(DTYPE_I1, "i1", "int1", 1, 'b')                                                                \
  X(DTYPE_I8, "i8", "int8", 8, 'i')                                                                \
  X(DTYPE_I16, "i16", "int16", 16, 'i')                                                            \
  X(DTYPE_I32, "i32", "int32", 32, 'i')                                                            \
  X(DTYPE_I64, "i64", "int64", 64, 'i')                                                            \
  X(DTYPE_U8, "u8", "uint8", 8, 'u')                                                               \
  X(DTYPE_U16, "u16", "uint16", 16, 'u')                                                           \
  X(DTYPE_U32, "u32", "uint32", 32, 'u')                                                           \
  X(DTYPE_U64, "u64", "uint64", 64, 'u')                                                           \
  X(DTYPE_F8E5, "f8e5", "float8e5", 8, 'f')                                                        \
  X(DTYPE_F8E4NV, "f8e4nv", "float8e4nv", 8, 'f')                                                  \
  X(DTYPE_F16, "f16", "float16", 16, 'f')                                                          \
  X(DTYPE_BF16, "bf16", "bfloat16", 16, 'f')                                                       \
  X(DTYPE_F32, "f32", "float32", 32, 'f')                                                          \
  X(DTYPE_F64, "f64", "float64", 64, 'f')                                                          \
  X(DTYPE_F8E4B15, "f8e4b15", "float8e4b15", 8, 'f')

enum dtype {
#define X(id, name, language_name, bits, kind) id,
  DTYPES(X)
#undef X
      DTYPE_COUNT,
  DTYPE_NONE = DTYPE_COUNT
};

const char *dtype_name(enum dtype t);          // "f32"
const char *dtype_language_name(enum dtype t); // "float32"
unsigned dtype_bits(enum dtype t);
unsigned dtype_bytes(enum dtype t); // in memory: i1 takes one byte
bool dtype_is_float(enum dtype t);
bool dtype_is_int(enum dtype t);    // i1 included
bool dtype_is_signed(enum dtype t); // signed integers and floats; i1 is unsigned
// Accepts both names, and "fp16"/"fp32"/"fp64"/"u1" and "fp8e5"/"fp8e4nv"/"fp8e4b15".
bool dtype_parse(struct str name, enum dtype *ret);
// The name here of a type of Python, C or NumPy: "f32" for "float"; NULL if it is none.
const char *dtype_of_other_language(struct str name);

// One element at `p` as double, and back: floats round to nearest even, f8e4nv saturates to its
// largest finite value, f8e5 and f16 overflow to infinity; f8e4b15, which has neither infinity nor
// NaN, is rounded to f16 first, then with halves away from zero, and saturates to 1.75; integers
// truncate toward zero and saturate.
double dtype_load(enum dtype t, const void *p);
void dtype_store(enum dtype t, void *p, double value);

float half_to_float(uint16_t h);
uint16_t half_from_float(float f);
float bfloat_to_float(uint16_t b);
uint16_t bfloat_from_float(float f);

#endif
