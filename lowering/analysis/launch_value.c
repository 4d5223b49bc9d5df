// SPDX-License-Identifier: Apache-2.0
// Follows integers back to parameters and constants. Arithmetic of 32 bits is evaluated in 64:
// sizes that overflow in the kernel have no meaning.
#include "lowering/analysis/launch_value.h"

struct search {
  struct ir_context *c;
  MlirBlock entry; // of the kernel
  struct launch_expr *e;
};

static bool push(struct search *s, enum launch_op op, int64_t number) {
  if (s->e->count == LAUNCH_EXPR_MAX)
    return false;
  s->e->terms[s->e->count++] = (struct launch_term){op, number};
  return true;
}

static bool add_value(struct search *s, MlirValue v);

static bool add_binary(struct search *s, MlirOperation def, enum launch_op op) {
  return add_value(s, mlirOperationGetOperand(def, 0)) &&
         add_value(s, mlirOperationGetOperand(def, 1)) && push(s, op, 0);
}

// At most LAUNCH_EXPR_MAX calls deep: each level adds a term, except extensions of parameters.
static bool add_value(struct search *s, MlirValue v) {
  int64_t n;
  if (value_const_int(s->c, v, &n))
    return push(s, LAUNCH_CONST, n);
  if (mlirValueIsABlockArgument(v))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(v), s->entry) &&
           push(s, LAUNCH_PARAM, mlirBlockArgumentGetArgNumber(v));
  MlirOperation def = mlirOpResultGetOwner(v);
  switch (op_id(s->c, def)) {
  case OP_ARITH_EXTSI:
  case OP_ARITH_EXTUI: {
    MlirValue from = mlirOperationGetOperand(def, 0);
    return !mlirTypeEqual(mlirValueGetType(from), mlir_of_dtype(s->c, DTYPE_I1)) &&
           add_value(s, from);
  }
  case OP_ARITH_ADDI: return add_binary(s, def, LAUNCH_ADD);
  case OP_ARITH_SUBI: return add_binary(s, def, LAUNCH_SUB);
  case OP_ARITH_MULI: return add_binary(s, def, LAUNCH_MUL);
  case OP_ARITH_DIVSI: return add_binary(s, def, LAUNCH_DIV);
  case OP_ARITH_REMSI: return add_binary(s, def, LAUNCH_REM);
  case OP_ARITH_MINSI: return add_binary(s, def, LAUNCH_MIN);
  case OP_ARITH_MAXSI: return add_binary(s, def, LAUNCH_MAX);
  default: return false;
  }
}

static struct search search_of(struct ir_context *c, MlirOperation kernel, struct arena *a,
                               struct launch_expr *ret) {
  *ret = (struct launch_expr){.terms = arena_array(a, struct launch_term, LAUNCH_EXPR_MAX)};
  return (struct search){c, mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)), ret};
}

bool launch_value_of(struct ir_context *c, MlirOperation kernel, MlirValue v, struct arena *a,
                     struct launch_expr *ret) {
  struct search s = search_of(c, kernel, a, ret);
  return add_value(&s, v);
}

bool launch_pointer_of(struct ir_context *c, MlirOperation kernel, MlirValue v, struct arena *a,
                       uint32_t *ret_param, struct launch_expr *ret_offset) {
  struct search s = search_of(c, kernel, a, ret_offset);
  unsigned parts = 0;
  for (; !mlirValueIsABlockArgument(v); parts++) {
    MlirOperation def = mlirOpResultGetOwner(v);
    if (!op_is(c, def, OP_TILE_ADDPTR) || !add_value(&s, mlirOperationGetOperand(def, 1)))
      return false;
    if (parts && !push(&s, LAUNCH_ADD, 0))
      return false;
    v = mlirOperationGetOperand(def, 0);
  }
  *ret_param = (uint32_t)mlirBlockArgumentGetArgNumber(v);
  return mlirBlockEqual(mlirBlockArgumentGetOwner(v), s.entry) &&
         (parts || push(&s, LAUNCH_CONST, 0));
}
