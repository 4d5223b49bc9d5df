// SPDX-License-Identifier: Apache-2.0
// Tier-1 code: a version of a kernel that compiles fast. The compile time of a product grows with
// the code of one thread, which has an instruction for every accumulator of the thread, in the loop
// and after it. Tier-1 code has more warps for the same blocks, and one masked loop over the keys
// instead of the two loops of attention.
//
// The results are the same bits. Accumulators of matrix instructions add products in the order of
// k, in any warp; the epilogue is elementwise; row reductions stay within one warp, in the same
// lanes; and a mask that is all true changes nothing.
#include "graph/plan/tier1.h"

#include "graph/plan/attention_plan.h"

#include <string.h>

enum {
  MOST_SUMS = 64,   // accumulators per thread in tier-1 code
  MOST_WARPS = 16,  // more leave each thread too few registers
  WARP_ROWS = 16,   // rows of a matrix instruction per warp: a row is within a warp
  SUMS_APART = 128, // above it `sink-loop-reductions` adds rows in another order
};

static uint32_t constant_of(const struct graph_kernel *k, const char *name) {
  uint64_t n;
  for (size_t i = 0; i < k->constants.len; i++)
    if (strcmp(k->constants.at[i].name, name) == 0 &&
        str_to_u64(str_from(k->constants.at[i].value), &n) && n <= UINT32_MAX)
      return (uint32_t)n;
  return 0;
}

static uint32_t tier1_warps(const struct graph_kernel *k) {
  uint64_t rows = constant_of(k, "BLOCK_M"), columns = constant_of(k, "BLOCK_N");
  uint64_t sums = rows * (columns * k->sums.tiles + k->sums.columns) / 32;
  uint32_t warps = k->num_warps, most = MOST_WARPS;
  if (k->sums.are_of_rows && rows / WARP_ROWS < most)
    most = (uint32_t)(rows / WARP_ROWS);
  bool has_room = warps && sums / warps <= SUMS_APART && rows <= 32 * (uint64_t)warps;
  if (!warps || (k->sums.are_of_rows && !has_room))
    return warps;
  while (warps * 2 <= most && sums / warps > MOST_SUMS)
    warps *= 2;
  return warps;
}

static bool take_one_loop(struct arena *a, struct graph_kernel *k) {
  const struct kernel_constant *from = k->constants.at;
  if (constant_of(k, KERNEL_LOOPS) != 2)
    return false;
  k->constants.at = arena_array(a, struct kernel_constant, k->constants.len);
  for (size_t i = 0; i < k->constants.len; i++) {
    k->constants.at[i] = from[i];
    if (strcmp(from[i].name, KERNEL_LOOPS) == 0)
      k->constants.at[i].value = "1";
  }
  return true;
}

bool kernel_tier1_form(struct arena *a, const struct graph_kernel *k, struct graph_kernel *ret) {
  *ret = *k;
  ret->num_warps = tier1_warps(k);
  return take_one_loop(a, ret) || ret->num_warps != k->num_warps;
}
