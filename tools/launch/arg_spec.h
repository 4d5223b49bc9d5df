// SPDX-License-Identifier: Apache-2.0
// The values of `--arg NAME=SPEC`: a .npy file, a generated array, or a number.
#ifndef TILE_TOOLS_ARG_SPEC_H
#define TILE_TOOLS_ARG_SPEC_H

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"

// FILL_EMPTY: the device's memory is not written.
enum fill_kind { FILL_VALUE, FILL_IOTA, FILL_EMPTY, FILL_UNIFORM, FILL_NORMAL };

struct fill {
  enum fill_kind kind;
  uint64_t seed;
  // FILL_VALUE: a is the value; FILL_UNIFORM: [a, b); FILL_NORMAL: mean a, standard deviation b
  double a, b;
};

enum { ARG_SPEC_BLOCK_RANK = 5 };

struct arg_value {
  bool is_none; // and nothing else
  bool is_array;
  struct array array;
  struct fill fill;    // of an array that was not read from a file
  bool is_descriptor;  // `:block(...)`: the array is passed as a tensor descriptor
  uint32_t block_rank; // 0: `:block()`, the kernel sets the block
  uint32_t block[ARG_SPEC_BLOCK_RANK];
  bool pads_nan; // `:pad(nan)`
  // scalars: the number as written; an integer fits `integer` (is_integer), else `real`
  bool is_integer;
  int64_t integer;
  double real;
  // `f32:1.5`, `i64:7`: a scalar with its type; DTYPE_NONE when only the number was written
  enum dtype scalar_type;
};

// SPEC: (`@file.npy` | TYPE `[` DIM (`x` DIM)* `]` [`:` FILL]) [`:block(` [DIM (`x` DIM)*] `)`
// [`:pad(nan)`]] | NUMBER | TYPE `:` NUMBER | True |
// False | None FILL: zeros (default) ones iota empty fill(V) rand(SEED[,LO,HI])
// randn(SEED[,MEAN,STD]) `as` is the element type that a .npy of uint16 or uint8 shall be read as
// (bf16, fp8), DTYPE_NONE: take the file's own. False with a diagnostic (E0720, E0714, or of
// npy_read) at `where`: a span in a source made of the command-line text.
bool arg_spec_parse(struct arena *a, struct diag_engine *diag, struct span where, struct str spec,
                    enum dtype as, struct arg_value *ret);

// The same, but generated arrays stay without data, for array_fill.
bool arg_spec_shape(struct arena *a, struct diag_engine *diag, struct span where, struct str spec,
                    enum dtype as, struct arg_value *ret);

// The generator behind rand and randn, counter-based: element i of seed s is a pure function of (s,
// i).
double fill_uniform(uint64_t seed, uint64_t index); // [0, 1)
double fill_normal(uint64_t seed, uint64_t index);

#endif
