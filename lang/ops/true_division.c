// SPDX-License-Identifier: Apache-2.0
// `/` of integers gives floats; where an integer is needed, `//` was meant.
#include "lang/ops/ops.h"

#define MAX_DEPTH 3 // operators between the division and the value

// The division of integers that x was computed by, or SPAN_NONE.
static struct span find_division(struct eval *e, MlirValue x, unsigned depth) {
  if (depth > MAX_DEPTH || !mlirValueIsAOpResult(x))
    return SPAN_NONE;
  MlirOperation op = mlirOpResultGetOwner(x);
  enum op_id id = op_id(e->c, op);
  bool is_division = id == OP_ARITH_DIVF, is_from_integer = false;
  struct span found = SPAN_NONE;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !found.source; i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    enum op_id from =
        mlirValueIsAOpResult(operand) ? op_id(e->c, mlirOpResultGetOwner(operand)) : OP_UNKNOWN;
    is_from_integer = is_from_integer || from == OP_ARITH_SITOFP || from == OP_ARITH_UITOFP;
    bool goes_on = id == OP_ARITH_ADDF || id == OP_ARITH_SUBF || id == OP_ARITH_MULF ||
                   id == OP_TILE_SPLAT || id == OP_TILE_EXPAND_DIMS || id == OP_TILE_BROADCAST;
    if (goes_on)
      found = find_division(e, operand, depth + 1);
  }
  return is_division && is_from_integer ? op_span(e->c, op) : found;
}

bool help_true_division(struct eval *e, struct diag *d, struct value x) {
  if (x.kind != VALUE_RT || !type_is_float(x.type))
    return false;
  struct span at = find_division(e, x.rt, 0);
  const char *text = at.source ? at.source->text.ptr + at.begin : "";
  if (at.end - at.begin > 2 || text[0] != '/' || (at.end - at.begin == 2 && text[1] != '='))
    return false;
  diag_label(d, at, "`/` gives %s", type_text(e->a, type_elem(x.type)));
  diag_help(d, "`//` divides integers and gives an integer");
  diag_fixit(d, (struct span){at.source, at.begin, at.begin + 1}, "//");
  return true;
}
