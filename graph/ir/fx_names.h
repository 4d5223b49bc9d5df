// SPDX-License-Identifier: Apache-2.0
// PyTorch's spelling in the text of graphs. Dtypes: short in annotations ("b8", "f8e4m3fn"), long
// in arguments ("torch.bool").
#ifndef TILE_GRAPH_IR_FX_NAMES_H
#define TILE_GRAPH_IR_FX_NAMES_H

#include "base/dtype.h"
#include "base/str.h"

const char *fx_dtype_short(enum dtype t); // "b8"
const char *fx_dtype_long(enum dtype t);  // "bool", without "torch."

// Of complex dtypes: "c64" for parts of f32; the dtype of the parts for "c64", "complex64" or
// "cfloat", DTYPE_NONE for other names.
const char *fx_complex_short(enum dtype part);
enum dtype fx_complex_part(struct str name);

enum fx_dtype_status {
  FX_DTYPE_KNOWN,
  FX_DTYPE_UNSUPPORTED, // PyTorch has it, this compiler does not: packed bits, ...
  FX_DTYPE_UNKNOWN
};
// From the short spelling; the dtype's own name here ("i1") is accepted too.
enum fx_dtype_status fx_dtype_from_short(struct str name, enum dtype *ret);
// From the long spelling and its aliases: "float32", "float", "half".
enum fx_dtype_status fx_dtype_from_long(struct str name, enum dtype *ret);

// The shortest text that reads back as the same number, as Python writes it.
void fx_print_real(double v, struct strbuf *out);
// A word as an argument: in quotes, but for names such as torch.strided and for dictionaries.
void fx_print_word(struct str s, struct strbuf *out);

#endif
