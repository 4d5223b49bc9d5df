// SPDX-License-Identifier: Apache-2.0
// What keeps a memory access narrow, as the source names it: the parameters and loaded values whose
// multiples, or whose value 1, are not known. For reports.
#ifndef TILE_LOWERING_COST_NARROW_ACCESS_H
#define TILE_LOWERING_COST_NARROW_ACCESS_H

#include "base/vec.h"
#include "lowering/analysis/axis_info.h"

enum narrow_kind {
  NARROW_PARAMETER, // a parameter that is not known to be a multiple
  NARROW_LOADED,    // an integer loaded from memory that is not known to be a multiple
  NARROW_STRIDE,    // a parameter that multiplies consecutive indices and is not known to be 1
};

struct narrow_root {
  enum narrow_kind kind;
  const char *parameter; // its name; NULL: NARROW_LOADED
  bool is_pointer;       // the parameter is one
  MlirOperation load;    // the tile.load of NARROW_LOADED
};

typedef VEC(struct narrow_root) narrow_root_list;

// Appends what keeps `v`, a pointer or a mask of the access `op`, from being a multiple of `wanted`
// elements of `bytes` bytes: found from `v` back through operands that are not such multiples
// themselves.
void narrow_roots(struct ir_context *c, struct arena *a, struct axis_analysis *axis,
                  MlirOperation op, MlirValue v, unsigned wanted, uint32_t bytes,
                  narrow_root_list *ret);

// Appends the parameters that multiply consecutive indices in the address `v` of the access `op`.
void narrow_strides(struct ir_context *c, struct arena *a, struct axis_analysis *axis,
                    MlirOperation op, MlirValue v, narrow_root_list *ret);

#endif
