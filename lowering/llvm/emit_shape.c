// SPDX-License-Identifier: Apache-2.0
// Shape operations. Each is linear on coordinates: the result's layout, seen in the operand's
// coordinates, says which element of the operand every register wants. The layout passes choose
// layouts where the thread holds it already, so that registers are only renamed; other layouts are
// converted.
#include "lowering/llvm/emit.h"

// Every bit of every input: calls fn with the basis, which it may change.
static void map_bases(struct linear_layout *l, void (*fn)(uint32_t *coords, const void *user),
                      const void *user) {
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      fn(l->basis[i][b], user);
}

static void clear_coordinate(uint32_t *coords, const void *user) {
  coords[*(const unsigned *)user] = 0;
}

// Where the result's registers find their elements in the operand.
static bool in_operand_coordinates(struct emitter *e, MlirOperation op, struct linear_layout *ret) {
  MlirType from = operand_type(op, 0), to = result_type(op, 0);
  const struct linear_layout *operand = layout_of(e, from), *result = layout_of(e, to);
  *ret = *result;
  switch (op_id(e->c, op)) {
  case OP_TILE_EXPAND_DIMS:
    *ret = ll_remove_out(result, (unsigned)op_attr_int(op, "axis", 0));
    break;
  case OP_TILE_BROADCAST:
    for (unsigned d = 0; d < ret->out_count; d++)
      if (operand->out_bits[d] == 0) {
        map_bases(ret, clear_coordinate, &d);
        ret->out_bits[d] = 0;
      }
    break;
  case OP_TILE_RESHAPE: return ll_reshape_outs(result, operand->out_count, operand->out_bits, ret);
  case OP_TILE_TRANS: {
    // Result dim i is operand dim order[i]; the way back is the inverse permutation.
    int32_t order[LL_MAX_OUT];
    unsigned back[LL_MAX_OUT] = {0};
    size_t n = op_attr_i32_array(op, "order", LL_MAX_OUT, order);
    for (size_t i = 0; i < n; i++)
      back[order[i]] = (unsigned)i;
    *ret = ll_transpose_outs(result, back);
    break;
  }
  default: return false;
  }
  return true;
}

bool emit_shape(struct emitter *e, MlirOperation op) {
  const struct emitted *x = operand_of(e, op, 0);
  struct emitted *r = result_of(e, op, 0);
  if (!layout_of(e, operand_type(op, 0))) { // a scalar
    for (unsigned i = 0; i < r->count; i++)
      r->at[i] = x->at[0];
    return true;
  }
  struct linear_layout wanted;
  if (!in_operand_coordinates(e, op, &wanted))
    return emit_unsupported(e, op, "`%s` of these shapes has no lowering",
                            op_info(op_id(e->c, op))->name);
  return convert_values(e, op, layout_of(e, operand_type(op, 0)), &wanted, x->at, r->at);
}
