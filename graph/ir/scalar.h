// SPDX-License-Identifier: Apache-2.0
// Operations on single elements: the rows of graph/ir/scalars.def.
#ifndef TILE_GRAPH_IR_SCALAR_H
#define TILE_GRAPH_IR_SCALAR_H

#include "base/dtype.h"

enum scalar_op {
#define SCALAR(id, arity, type, text) SCALAR_##id,
#include "graph/ir/scalars.def"
  SCALAR_OP_COUNT,
  SCALAR_NONE = SCALAR_OP_COUNT
};

struct scalar_row {
  const char *name; // "ADD"
  unsigned arity;
  char type;        // of the result: S B F X
  const char *text; // NULL: printed by graph/emit/emit_scalar.c
};
const struct scalar_row *scalar_row(enum scalar_op op);

// The dtype in which values of dtype `t` are computed: f32 for narrower floats.
static inline enum dtype dtype_to_compute(enum dtype t) {
  return dtype_is_float(t) && dtype_bits(t) < 32 ? DTYPE_F32 : t;
}
// NOT, AND, OR, XOR of booleans.
static inline bool scalar_op_is_logical(enum scalar_op op) {
  return op == SCALAR_NOT || op == SCALAR_AND || op == SCALAR_OR || op == SCALAR_XOR;
}

// The operation that gives the bits of a float of dtype `t` as an integer, and its inverse;
// SCALAR_NONE for a dtype that PyTorch does not have.
enum scalar_op scalar_to_bits(enum dtype t);
enum scalar_op scalar_from_bits(enum dtype t);
// The signed integer of that width in memory.
enum dtype dtype_of_bits(enum dtype t);

// One element, as the interpreter stores it: integers and booleans exactly, floats as double.
union element {
  double real;
  int64_t integer;
};

// The value of `op` for operands of dtype `t` (for WHERE: of the last two), in double precision for
// floats. Integers wrap; an integer division by zero is 0.
union element scalar_eval(enum scalar_op op, enum dtype t, const union element *in);
// Converts between dtypes: floats to integers truncate, to bool compare with 0. A float converted
// to a narrower float is not rounded.
union element element_convert(union element e, enum dtype from, enum dtype to);
// The same, but rounds to 8-bit floats, from f64 to f32, and to f16 and bf16 if `half_precision`.
union element element_cast(union element e, enum dtype from, enum dtype to, bool half_precision);
// Rounded to what `t` can hold.
union element element_round(union element e, enum dtype t);

#endif
