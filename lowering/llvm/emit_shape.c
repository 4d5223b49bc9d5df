// SPDX-License-Identifier: Apache-2.0
// Shape operations: conversions in the operand's coordinates (lowering/analysis/shape_view.h). The
// layout passes choose layouts where the thread holds the elements already, so that registers are
// only renamed; other layouts are converted.
#include "lowering/analysis/part_view.h"
#include "lowering/analysis/shape_view.h"
#include "lowering/llvm/emit.h"

bool emit_shape(struct emitter *e, MlirOperation op) {
  const struct emitted *x = operand_of(e, op, 0);
  struct emitted *r = result_of(e, op, 0);
  if (!layout_of(e, operand_type(op, 0))) { // a scalar
    for (unsigned i = 0; i < r->count; i++)
      r->at[i] = x->at[0];
    return true;
  }
  struct linear_layout wanted;
  if (!shape_view(e->c, op, &wanted))
    return emit_unsupported(e, op, "`%s` of these shapes has no lowering",
                            op_info(op_id(e->c, op))->name);
  return convert_values(e, op, layout_of(e, operand_type(op, 0)), &wanted, x->at, r->at);
}

bool emit_part(struct emitter *e, MlirOperation op) {
  const struct emitted *x = operand_of(e, op, 0);
  struct emitted *ret = result_of(e, op, 0);
  const struct linear_layout *whole = layout_of(e, operand_type(op, 0));
  const struct linear_layout *part = layout_of(e, result_type(op, 0));
  int32_t at[LL_MAX_OUT] = {0};
  struct part_view view;
  op_attr_i32_array(op, "offsets", LL_MAX_OUT, at);
  if (!whole || !part || !part_view_make(whole, part, at, &view))
    return emit_unsupported(e, op, "a part of a tile that other threads hold");
  for (uint32_t r = 0; r < ret->count; r++)
    ret->at[r] = x->at[part_view_register(&view, r)];
  return true;
}
