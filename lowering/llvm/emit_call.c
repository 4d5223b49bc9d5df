// SPDX-License-Identifier: Apache-2.0
// Functions of the module: functions of scalars are inlined, others are called. A callee is an LLVM
// function, built at its first call: registers in, registers out (several as a struct); on the CPU
// the thread's record is the first argument. Its shared memory and barriers count as the kernel's.
#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"

static MlirBlock body_of(MlirOperation func) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
}

// ---- inlining ----

bool emit_inlined(struct emitter *e, MlirOperation func, const LLVMValueRef *args,
                  LLVMValueRef *ret) {
  MlirBlock body = body_of(func);
  MlirOperation op = e->op;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
    value_bind(e, mlirBlockGetArgument(body, i))->at[0] = args[i];
  if (!emit_block(e, body))
    return false;
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++)
    ret[i] = operand_of(e, end, (unsigned)i)->at[0];
  e->op = op;
  debug_info_at(e->debug, op);
  return true;
}

// ---- registers of several values ----

struct types {
  VEC(LLVMTypeRef) all;
};
struct registers {
  VEC(LLVMValueRef) all;
};

// Replicas are not passed.
static void put_types(struct emitter *e, struct types *s, MlirType t) {
  const struct linear_layout *l = layout_of(e, t);
  uint32_t replicas = register_replicas(l);
  for (uint32_t r = 0; r < register_count(l); r++)
    if (!(r & replicas))
      vec_push(e->arena, &s->all, type_of_mlir(e, element_type(t)));
}

static void put_registers(struct emitter *e, struct registers *s, MlirValue v) {
  const struct emitted *x = value_of(e, v);
  uint32_t replicas = register_replicas(layout_of(e, mlirValueGetType(v)));
  for (uint32_t r = 0; r < x->count; r++)
    if (!(r & replicas))
      vec_push(e->arena, &s->all, x->at[r]);
}

// Binds v to registers from `next` on; returns how many it took.
static size_t take_registers(struct emitter *e, MlirValue v, const LLVMValueRef *next) {
  struct emitted *x = value_bind(e, v);
  uint32_t replicas = register_replicas(layout_of(e, mlirValueGetType(v)));
  size_t taken = 0;
  for (uint32_t r = 0; r < x->count; r++)
    x->at[r] = r & replicas ? x->at[r & ~replicas] : next[taken++];
  return taken;
}

// ---- the callee ----

static void add_attribute(struct emitter *e, LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

static LLVMTypeRef result_of_callee(struct emitter *e, MlirType signature) {
  struct types results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(signature); i++)
    put_types(e, &results, mlirFunctionTypeGetResult(signature, i));
  if (results.all.len == 0)
    return LLVMVoidTypeInContext(e->llvm);
  return results.all.len == 1
             ? results.all.at[0]
             : LLVMStructTypeInContext(e->llvm, results.all.at, (unsigned)results.all.len, false);
}

static LLVMValueRef declare(struct emitter *e, MlirOperation func, const char *name) {
  MlirType signature = mlirTypeAttrGetValue(op_attr(func, "function_type"));
  struct types args = {0};
  if (e->target->is_cpu)
    vec_push(e->arena, &args.all, e->generic_ptr);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(signature); i++)
    put_types(e, &args, mlirFunctionTypeGetInput(signature, i));
  LLVMTypeRef type =
      LLVMFunctionType(result_of_callee(e, signature), args.all.at, (unsigned)args.all.len, false);
  LLVMValueRef f = LLVMAddFunction(e->module, name, type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(e, f, "noinline");
  add_attribute(e, f, "nounwind");
  add_attribute(e, f, "convergent"); // there may be barriers inside
  return f;
}

// State of the emission of the calling function.
struct caller {
  LLVMValueRef function, thread_id, lane, warp, cpu_thread;
  MlirOperation func, op;
  struct linear_memo *memo;
  struct axis_analysis *axis;
  LLVMBuilderRef entry;
  LLVMBasicBlockRef block;
};

static struct caller save_caller(struct emitter *e) {
  return (struct caller){
      e->function, e->thread_id, e->lane, e->warp,  e->cpu_thread,           e->func,
      e->op,       e->memo,      e->axis, e->entry, LLVMGetInsertBlock(e->b)};
}

static void return_to(struct emitter *e, const struct caller *k) {
  e->function = k->function;
  e->thread_id = k->thread_id;
  e->lane = k->lane;
  e->warp = k->warp;
  e->cpu_thread = k->cpu_thread;
  e->func = k->func;
  e->op = k->op;
  e->memo = k->memo;
  e->axis = k->axis;
  e->entry = k->entry;
  LLVMPositionBuilderAtEnd(e->b, k->block);
}

static void build_return_of(struct emitter *e, MlirOperation end) {
  struct registers r = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++)
    put_registers(e, &r, mlirOperationGetOperand(end, i));
  if (r.all.len == 0)
    LLVMBuildRetVoid(e->b);
  else if (r.all.len == 1)
    LLVMBuildRet(e->b, r.all.at[0]);
  else
    LLVMBuildAggregateRet(e->b, r.all.at, (unsigned)r.all.len);
}

// The body, between e->entry (what depends on the thread alone) and the return.
static bool define(struct emitter *e) {
  MlirBlock body = body_of(e->func);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry");
  LLVMPositionBuilderAtEnd(e->entry, entry);
  LLVMPositionBuilderAtEnd(e->b, entry);
  LLVMSetCurrentDebugLocation2(e->b, NULL);
  e->target->hooks->begin_function(e);
  LLVMPositionBuilderAtEnd(e->entry, LLVMGetInsertBlock(e->b));
  LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(e->llvm, e->function, "body");
  LLVMPositionBuilderAtEnd(e->b, first);
  LLVMValueRef *params = arena_array(e->arena, LLVMValueRef, LLVMCountParams(e->function) + 1);
  LLVMGetParams(e->function, params);
  size_t next = e->target->is_cpu ? 1 : 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
    next += take_registers(e, mlirBlockGetArgument(body, i), params + next);
  if (!emit_block(e, body))
    return false;
  build_return_of(e, mlirBlockGetTerminator(body));
  LLVMBuildBr(e->entry, first);
  return true;
}

static bool emit_callee(struct emitter *e, MlirOperation func, const char *name) {
  struct caller caller = save_caller(e);
  e->function = declare(e, func, name);
  ptrmap_put(e->arena, &e->functions, func.ptr, e->function);
  e->func = func;
  e->memo = NULL;
  e->axis = axis_analyse(e->c, func, e->arena);
  e->entry = LLVMCreateBuilderInContext(e->llvm);
  debug_info_enter(e->debug, e->function, func, name);
  bool ok = define(e);
  LLVMDisposeBuilder(e->entry);
  return_to(e, &caller);
  debug_info_leave(e->debug);
  debug_info_at(e->debug, e->op);
  return ok;
}

static LLVMValueRef callee_of(struct emitter *e, MlirOperation op) {
  MlirOperation func = op_function(e->c, op, "callee");
  if (mlirOperationIsNull(func) || mlirBlockIsNull(body_of(func))) {
    emit_unsupported(e, op, "a call of a function that the module does not define");
    return NULL;
  }
  LLVMValueRef known = ptrmap_get(&e->functions, func.ptr);
  if (known)
    return known;
  struct str name = op_attr_str(func, "sym_name");
  const char *symbol =
      arena_printf(e->arena, "%s__%s", e->info->name,
                   symbol_of(e->arena, arena_strndup(e->arena, name.ptr, name.len)));
  return emit_callee(e, func, symbol) ? ptrmap_get(&e->functions, func.ptr) : NULL;
}

// ---- the call ----

bool emit_func_call(struct emitter *e, MlirOperation op) {
  LLVMValueRef callee = callee_of(e, op);
  if (!callee)
    return false;
  struct registers args = {0}, results = {0};
  if (e->target->is_cpu)
    vec_push(e->arena, &args.all, e->cpu_thread);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    put_registers(e, &args, mlirOperationGetOperand(op, i));
  LLVMTypeRef type = LLVMGlobalGetValueType(callee), result = LLVMGetReturnType(type);
  LLVMValueRef call = LLVMBuildCall2(e->b, type, callee, args.all.at, (unsigned)args.all.len, "");
  bool is_struct = LLVMGetTypeKind(result) == LLVMStructTypeKind;
  unsigned n = is_struct ? LLVMCountStructElementTypes(result) : 1;
  for (unsigned i = 0; i < n; i++)
    vec_push(e->arena, &results.all, is_struct ? LLVMBuildExtractValue(e->b, call, i, "") : call);
  size_t next = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    next += take_registers(e, mlirOperationGetResult(op, i), results.all.at + next);
  return true;
}
