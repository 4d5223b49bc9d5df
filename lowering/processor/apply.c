// SPDX-License-Identifier: Apache-2.0
// Functions of scalars, applied to each lane of vectors: their ops in order, with both sides of a
// branch computed and the result selected. Recursion is the algorithm: branches nest, and functions
// call others.
#include "lowering/processor/strips.h"

struct application {
  struct strip_emitter *e;
  struct map values; // MlirValue -> LLVMValueRef
  unsigned depth;
};

enum { MAX_DEPTH = 16 };

static LLVMValueRef known(struct application *a, MlirValue v) {
  LLVMValueRef x = ptrmap_get(&a->values, v.ptr);
  return x ? x : scalar_of(a->e, v);
}

static void set(struct application *a, MlirValue v, LLVMValueRef x) {
  ptrmap_put(a->e->arena, &a->values, v.ptr, x);
}

static bool apply_block(struct application *a, MlirBlock block);

// Operands of one width: a constant is a scalar.
static void match(struct strip_emitter *e, LLVMValueRef *x, unsigned n) {
  unsigned lanes = 1;
  for (unsigned i = 0; i < n; i++)
    lanes = lanes_of(x[i]) > lanes ? lanes_of(x[i]) : lanes;
  for (unsigned i = 0; i < n; i++)
    x[i] = repeat(e, x[i], lanes);
}

static bool apply_if(struct application *a, MlirOperation op) {
  MlirBlock arms[2] = {mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)),
                       mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1))};
  for (int i = 0; i < 2; i++)
    if (mlirBlockIsNull(arms[i]) || !apply_block(a, arms[i]))
      return false;
  for (unsigned r = 0; r < (unsigned)mlirOperationGetNumResults(op); r++) {
    LLVMValueRef x[] = {known(a, operand(op, 0)),
                        known(a, operand(mlirBlockGetTerminator(arms[0]), r)),
                        known(a, operand(mlirBlockGetTerminator(arms[1]), r))};
    match(a->e, x, 3);
    set(a, result(op, r), LLVMBuildSelect(a->e->b, x[0], x[1], x[2], ""));
  }
  return true;
}

static bool apply_call(struct application *a, MlirOperation op) {
  struct application inner = {.e = a->e, .depth = a->depth + 1};
  MlirOperation function = op_function(a->e->c, op, "callee");
  if (mlirOperationIsNull(function) || inner.depth > MAX_DEPTH)
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    set(&inner, mlirBlockGetArgument(body, i), known(a, operand(op, i)));
  if (!apply_block(&inner, body))
    return false;
  for (unsigned r = 0; r < (unsigned)mlirOperationGetNumResults(op); r++)
    set(a, result(op, r), known(&inner, operand(mlirBlockGetTerminator(body), r)));
  return true;
}

static bool apply_op(struct application *a, MlirOperation op) {
  enum op_id id = op_id(a->e->c, op);
  LLVMValueRef x[3];
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  if (id == OP_SCF_IF)
    return apply_if(a, op);
  if (id == OP_FUNC_CALL)
    return apply_call(a, op);
  if (id == OP_TILE_DEBUG_VALUE) // functions of vectors have no variables
    return true;
  if (id == OP_ARITH_CONSTANT) {
    set(a, result(op, 0), scalar_of(a->e, result(op, 0)));
    return true;
  }
  if (!(op_flags(a->e->c, op) & OP_EW) || id == OP_TILE_MAP || id == OP_TILE_INLINE_ASM ||
      n > COUNT_OF(x))
    return false;
  for (unsigned i = 0; i < n; i++)
    x[i] = known(a, operand(op, i));
  match(a->e, x, n);
  set(a, result(op, 0), compute(a->e, op, x));
  return true;
}

static bool apply_block(struct application *a, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (op_flags(a->e->c, op) & OP_TERM)
      return true;
    if (!apply_op(a, op)) {
      refuse(a->e, op, "a function applied to elements has `%s`",
             op_info(op_id(a->e->c, op))->name);
      return false;
    }
  }
  return true;
}

bool apply_function(struct strip_emitter *e, MlirOperation function, const LLVMValueRef *args,
                    LLVMValueRef *ret) {
  struct application a = {.e = e};
  if (mlirOperationIsNull(function))
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  unsigned lanes = 1;
  for (unsigned i = 0; i < (unsigned)mlirBlockGetNumArguments(body); i++) {
    set(&a, mlirBlockGetArgument(body, i), args[i]);
    lanes = lanes_of(args[i]) > lanes ? lanes_of(args[i]) : lanes;
  }
  if (!apply_block(&a, body))
    return false;
  MlirOperation end = mlirBlockGetTerminator(body);
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(end); i++)
    ret[i] = repeat(e, known(&a, operand(end, i)), lanes);
  return true;
}
