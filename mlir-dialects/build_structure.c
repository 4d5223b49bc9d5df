// SPDX-License-Identifier: Apache-2.0
// Builders of ops with regions: modules, functions, structured control flow.
#include "mlir-dialects/build.h"
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

MlirModule build_module(struct ir_context *c, MlirLocation loc) {
  (void)c;
  return mlirModuleCreateEmpty(loc);
}

// A region with one block whose arguments have these types; *ret is the block.
static MlirRegion region_with_block(size_t n, const MlirType *types, MlirLocation loc,
                                    MlirBlock *ret) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (size_t i = 0; i < n; i++)
    mlirBlockAddArgument(block, types[i], loc);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  if (ret)
    *ret = block;
  return region;
}

static MlirOperation build_with_regions(struct builder *b, enum op_id id, size_t operand_count,
                                        const MlirValue *operands, size_t result_count,
                                        const MlirType *results, size_t region_count,
                                        const MlirRegion *regions) {
  MlirOperationState state = mlirOperationStateGet(ref_of(op_info(id)->name), b->loc);
  mlirOperationStateAddOperands(&state, (intptr_t)operand_count, operands);
  mlirOperationStateAddResults(&state, (intptr_t)result_count, results);
  mlirOperationStateAddOwnedRegions(&state, (intptr_t)region_count, regions);
  return build_insert(b, mlirOperationCreate(&state));
}

MlirOperation build_func(struct ir_context *c, MlirModule m, const char *name, size_t arg_count,
                         const MlirType *args, size_t result_count, const MlirType *results,
                         bool kernel, MlirLocation loc) {
  MlirType type =
      mlirFunctionTypeGet(c->mlir, (intptr_t)arg_count, args, (intptr_t)result_count, results);
  MlirNamedAttribute attrs[] = {
      named_attr(c, "sym_name", attr_str(c, name)),
      named_attr(c, "function_type", mlirTypeAttrGet(type)),
      named_attr(c, "tile.kernel", mlirUnitAttrGet(c->mlir)),
  };
  MlirRegion body = region_with_block(arg_count, args, loc, NULL);
  MlirOperationState state = mlirOperationStateGet(ref_of("func.func"), loc);
  mlirOperationStateAddAttributes(&state, kernel ? 3 : 2, attrs);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation func = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(m), func);
  return func;
}

MlirBlock func_entry(MlirOperation func) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
}

void build_return(struct builder *b, size_t n, const MlirValue *values) {
  build_op(b, OP_FUNC_RETURN, n, values, 0, NULL, 0, NULL);
}

MlirOperation build_if(struct builder *b, MlirValue cond, size_t result_count,
                       const MlirType *results, MlirBlock *ret_then, MlirBlock *ret_else) {
  MlirRegion regions[2] = {region_with_block(0, NULL, b->loc, ret_then)};
  regions[1] =
      ret_else || result_count ? region_with_block(0, NULL, b->loc, ret_else) : mlirRegionCreate();
  return build_with_regions(b, OP_SCF_IF, 1, &cond, result_count, results, 2, regions);
}

// `first` (omitted when null) and the types of `n` values, on the arena.
static MlirType *types_of(struct ir_context *c, MlirType first, size_t n, const MlirValue *values) {
  MlirType *types = arena_array(c->arena, MlirType, n + 1);
  size_t at = 0;
  if (!mlirTypeIsNull(first))
    types[at++] = first;
  for (size_t i = 0; i < n; i++)
    types[at++] = mlirValueGetType(values[i]);
  return types;
}

MlirOperation build_for(struct builder *b, MlirValue lower, MlirValue upper, MlirValue step,
                        size_t init_count, const MlirValue *inits, MlirBlock *ret_body) {
  MlirType *types = types_of(b->c, mlirValueGetType(lower), init_count, inits);
  MlirValue *operands = arena_array(b->c->arena, MlirValue, init_count + 3);
  operands[0] = lower;
  operands[1] = upper;
  operands[2] = step;
  for (size_t i = 0; i < init_count; i++)
    operands[3 + i] = inits[i];
  MlirRegion body = region_with_block(init_count + 1, types, b->loc, ret_body);
  return build_with_regions(b, OP_SCF_FOR, init_count + 3, operands, init_count, types + 1, 1,
                            &body);
}

MlirOperation build_while(struct builder *b, size_t init_count, const MlirValue *inits,
                          size_t pass_count, const MlirType *pass_types, MlirBlock *ret_before,
                          MlirBlock *ret_after) {
  MlirType *types = types_of(b->c, (MlirType){NULL}, init_count, inits);
  MlirRegion regions[2] = {region_with_block(init_count, types, b->loc, ret_before),
                           region_with_block(pass_count, pass_types, b->loc, ret_after)};
  return build_with_regions(b, OP_SCF_WHILE, init_count, inits, pass_count, pass_types, 2, regions);
}

void build_yield(struct builder *b, size_t n, const MlirValue *values) {
  build_op(b, OP_SCF_YIELD, n, values, 0, NULL, 0, NULL);
}

void build_condition(struct builder *b, MlirValue cond, size_t n, const MlirValue *values) {
  MlirValue *operands = arena_array(b->c->arena, MlirValue, n + 1);
  operands[0] = cond;
  for (size_t i = 0; i < n; i++)
    operands[1 + i] = values[i];
  build_op(b, OP_SCF_CONDITION, n + 1, operands, 0, NULL, 0, NULL);
}
