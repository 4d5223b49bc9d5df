// SPDX-License-Identifier: Apache-2.0
// Axis info (Triton's AxisInfo): contiguity, divisibility and constancy of the values of a tile
// along each dimension. They decide how wide a memory access may be and in which order a tile is
// laid out.
//
// For dimension d of a value, all powers of two:
//   contiguity    each aligned group of that many elements along d counts up by one
//   divisibility  the first element of each such group is a multiple of it (pointers: of bytes)
//   constancy     each aligned group of that many elements along d is equal
// Pointers count in elements of their pointee. Every entry is a lower bound: 1 is always true. A
// scalar is described as a tile of one dimension of size 1.
//
// Address arithmetic in 32 or 64 bits is assumed not to overflow; narrower arithmetic may. Divisors
// of a scalar that is known not to be negative are assumed to be positive, as in `pid //
// group_size`.
#ifndef TILE_LOWERING_ANALYSIS_AXIS_INFO_H
#define TILE_LOWERING_ANALYSIS_AXIS_INFO_H

#include "layouts/linear.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

struct axis_info {
  unsigned rank; // 1 for scalars
  int64_t contiguity[LL_MAX_OUT];
  int64_t divisibility[LL_MAX_OUT];
  int64_t constancy[LL_MAX_OUT];
  bool is_constant; // every element is `constant`
  int64_t constant;
  bool is_nonnegative; // every element is known to be >= 0
};

struct axis_analysis;

// Analyses everything under `root` (a function or a module). The results are on `a` and are valid
// until the IR changes; layouts do not matter to them.
struct axis_analysis *axis_analyse(struct ir_context *c, MlirOperation root, struct arena *a);

// Never NULL: a value the analysis has not seen gets all ones.
const struct axis_info *axis_info_of(struct axis_analysis *x, MlirValue v);

int64_t axis_contiguity(struct axis_analysis *x, MlirValue v, unsigned dim);
int64_t axis_constancy(struct axis_analysis *x, MlirValue v, unsigned dim);
// The dimension of the highest contiguity of `ptr`; the last one of several.
unsigned axis_fastest_dim(struct axis_analysis *x, MlirValue ptr);
// How many aligned and contiguous elements along `dim` may be accessed at once through `ptr`.
int64_t axis_pointer_alignment(struct axis_analysis *x, MlirValue ptr, unsigned dim);
// The same as far as the access's mask allows it; a null mask allows everything (INT64_MAX).
int64_t axis_mask_alignment(struct axis_analysis *x, MlirValue mask, unsigned dim);

// A vector access of one thread.
struct axis_vector {
  unsigned width; // elements, at least 1
  unsigned dim;   // the dimension they run along
  bool uniform;   // the mask is known to be the same for all of them; otherwise vectors that it
                  // cuts must be accessed element by element
};
// The vectors of the tile.load, tile.store or tile.atomic_rmw `op` whose pointer, value and mask
// have the layout `l`: each aligned group of `width` registers (r, r+1, ...) holds neighbours in
// memory, at an address aligned to the whole group. Width 1 for scalars (pass NULL) and for other
// ops.
struct axis_vector axis_vector_of(struct axis_analysis *x, MlirOperation op,
                                  const struct target *target, const struct linear_layout *l);
// The same of any access through `ptr`; mask: null for none.
struct axis_vector axis_vector_through(struct axis_analysis *x, MlirValue ptr, MlirValue mask,
                                       const struct target *target, const struct linear_layout *l);

// "contiguity [1024] divisibility [any] constancy [1]", with " constant 7" where it is one; "any"
// is the divisibility of zero.
void axis_describe_value(struct axis_analysis *x, MlirValue v, struct strbuf *out);
// One line for each op result and block argument, in program order, each after its op's name. For
// tests and debugging.
void axis_describe(struct axis_analysis *x, MlirOperation root, struct strbuf *out);

#endif
