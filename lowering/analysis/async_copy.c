// SPDX-License-Identifier: Apache-2.0
// The width of asynchronous copies, from pointers, mask and both layouts.
#include "lowering/analysis/async_copy.h"

#include "layouts/attr.h"
#include "lowering/analysis/convert_scratch.h"

enum { LEAST_BYTES = 4, MOST_BYTES = 16 };

// Consecutive registers of a thread that are consecutive in the buffer.
static unsigned run_in_buffer(const struct linear_layout *offsets) {
  int registers = ll_find_in(offsets, LL_REGISTER);
  unsigned k = 0;
  for (; k < ll_in_bits(offsets, LL_REGISTER); k++) {
    if (offsets->basis[registers][k][0] != 1u << k)
      break;
    for (unsigned i = 0; i < offsets->in_count; i++)
      for (unsigned b = 0; b < offsets->in_bits[i]; b++)
        if (((int)i != registers || b != k) && (offsets->basis[i][b][0] >> k & 1))
          return 1u << k;
  }
  return 1u << k;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

// The first of the three limits that is below the smallest copy.
static const char *reason(unsigned in_memory, unsigned in_buffer, unsigned element_bytes) {
  if (in_memory * element_bytes < LEAST_BYTES)
    return "no 4 bytes of a thread are known to be neighbours in memory and aligned";
  if (in_buffer * element_bytes < LEAST_BYTES)
    return "the buffer does not keep 4 bytes of a thread together";
  return "the mask may cut every 4 bytes";
}

bool async_copy_plan_of(struct ir_context *c, struct axis_analysis *x, const struct target *target,
                        MlirValue ptr, MlirValue mask, MlirType tile, struct async_copy_plan *ret) {
  const struct linear_layout *l = linear_of_type(c, mlirValueGetType(ptr));
  const struct linear_layout *offsets_in_buffer = linear_of_type(c, tile);
  *ret = (struct async_copy_plan){.width = 1};
  if (!l || !offsets_in_buffer || !ll_invert_and_compose(l, offsets_in_buffer, &ret->offsets))
    return false;
  struct axis_vector v = axis_vector_through(x, ptr, mask, target, l);
  unsigned bytes = memory_bits(c, element_type(tile)) / 8, widest = MOST_BYTES / bytes;
  unsigned in_memory = v.width, in_buffer = run_in_buffer(&ret->offsets);
  int64_t in_mask = axis_mask_alignment(x, mask, v.dim);
  unsigned width = least(widest, least(in_memory, in_buffer));
  if (in_mask < (int64_t)width)
    width = (unsigned)in_mask;
  if (width * bytes >= LEAST_BYTES) {
    ret->width = width;
    ret->bytes = width * bytes;
  } else {
    ret->why = reason(in_memory, in_buffer, bytes);
  }
  return true;
}
