// SPDX-License-Identifier: Apache-2.0
// tile.map_elementwise: the body of its function once for each `pack` registers. The last group is
// filled up with its last register where a thread holds fewer.
#include "lowering/llvm/emit.h"

enum { MAX_VALUES = 8, MAX_PACK = 32 };

bool emit_map(struct emitter *e, MlirOperation op) {
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  unsigned m = (unsigned)mlirOperationGetNumResults(op);
  unsigned pack = (unsigned)op_attr_int(op, "pack", 1);
  MlirOperation function = op_function(e->c, op, "function");
  if (n > MAX_VALUES || m > MAX_VALUES || pack > MAX_PACK || mlirOperationIsNull(function))
    return emit_unsupported(e, op, "this `tile.map_elementwise` has no lowering");
  const struct linear_layout *l = layout_of(e, result_type(op, 0));
  unsigned *at, count = distinct_registers(e, l, &at);
  struct emitted *results[MAX_VALUES];
  for (unsigned k = 0; k < m; k++)
    results[k] = result_of(e, op, k);
  for (unsigned g = 0; g < count; g += pack) {
    LLVMValueRef args[MAX_VALUES * MAX_PACK], ret[MAX_VALUES * MAX_PACK];
    for (unsigned k = 0; k < n; k++)
      for (unsigned i = 0; i < pack; i++)
        args[k * pack + i] = operand_of(e, op, k)->at[at[g + i < count ? g + i : count - 1]];
    if (!emit_inlined(e, function, args, ret))
      return false;
    for (unsigned k = 0; k < m; k++)
      for (unsigned i = 0; i < pack && g + i < count; i++)
        results[k]->at[at[g + i]] = ret[k * pack + i];
  }
  for (unsigned k = 0; k < m; k++)
    fill_replicas(l, results[k]);
  return true;
}
