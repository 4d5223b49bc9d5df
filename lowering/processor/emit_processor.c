// SPDX-License-Identifier: Apache-2.0
// The function of a kernel: its parameters, its body, its module.
#include "base/cpu_abi.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"
#include "lowering/processor/strips.h"

#include <llvm-c/Analysis.h>

enum {
  VARIABLE_BYTES = 1 << 20,
  NOWHERE_BYTES = 256,
  MAX_INSTRUCTIONS = 60000,
  MAX_OPERATIONS = 4000
};

static void set_types(struct strip_emitter *e) {
  LLVMContextRef c = e->llvm;
  e->i1 = LLVMInt1TypeInContext(c);
  e->i8 = LLVMInt8TypeInContext(c);
  e->i16 = LLVMInt16TypeInContext(c);
  e->i32 = LLVMInt32TypeInContext(c);
  e->i64 = LLVMInt64TypeInContext(c);
  e->f16 = LLVMHalfTypeInContext(c);
  e->f32 = LLVMFloatTypeInContext(c);
  e->f64 = LLVMDoubleTypeInContext(c);
  e->ptr = LLVMPointerTypeInContext(c, 0);
}

static void bind_parameter(struct strip_emitter *e, MlirBlock block, unsigned i) {
  MlirValue arg = mlirBlockGetArgument(block, i);
  MlirType type = mlirValueGetType(arg);
  LLVMValueRef index = index_constant(e, i);
  LLVMValueRef slot = LLVMBuildGEP2(e->b, e->ptr, LLVMGetParam(e->function, 1), &index, 1, "");
  LLVMValueRef at = LLVMBuildLoad2(e->b, e->ptr, slot, "");
  LLVMTypeRef in_register = register_type(e, type);
  LLVMTypeRef t = in_register == e->i1 ? e->i8 : in_register;
  LLVMValueRef v = LLVMBuildLoad2(e->b, t, at, e->info->params[i].name);
  bind_scalar(e, arg, in_register == e->i1 ? from_storage(e, v, e->i1) : v);
}

static bool count_operation(MlirOperation op, void *user) {
  (void)op;
  return ++*(unsigned *)user <= MAX_OPERATIONS;
}

// Values are evaluated by recursion, which takes some hundred bytes of stack an operation.
static void check_length(struct strip_emitter *e, MlirOperation kernel) {
  unsigned operations = 0;
  ir_walk(kernel, count_operation, &operations);
  if (operations > MAX_OPERATIONS)
    refuse(e, kernel, "it has more than %d operations", MAX_OPERATIONS);
}

static void emit_kernel(struct strip_emitter *e, MlirOperation kernel) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  LLVMTypeRef types[] = {e->ptr, e->ptr};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), types, 2, false);
  e->function = LLVMAddFunction(e->module, e->info->name, type);
  function_attribute(e, e->function, "nounwind");
  e->thread = LLVMGetParam(e->function, 0);
  LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry"));
  LLVMValueRef at = index_constant(e, offsetof(struct cpu_thread, shared));
  at = LLVMBuildGEP2(e->b, e->i8, e->thread, &at, 1, "");
  e->scratch = LLVMBuildLoad2(e->b, e->ptr, at, "scratch");
  e->scratch_top = e->scratch_bytes = NOWHERE_BYTES;
  e->debug = debug_info_begin(&(struct debug_module){.a = e->arena,
                                                     .llvm = e->llvm,
                                                     .module = e->module,
                                                     .b = e->b,
                                                     .kernel = kernel,
                                                     .function = e->function,
                                                     .name = e->info->name,
                                                     .is_cpu = true,
                                                     .variable_bytes = VARIABLE_BYTES});
  for (unsigned i = 0; i < e->info->param_count; i++)
    bind_parameter(e, block, i);
  emit_ops(e, block);
  debug_info_end(e->debug);
  LLVMBuildRetVoid(e->b);
}

static bool check_module(struct strip_emitter *e) {
  char *message = NULL;
  bool bad = LLVMVerifyModule(e->module, LLVMReturnStatusAction, &message);
  if (bad)
    refuse(e, (MlirOperation){NULL}, "malformed LLVM IR: %s", message);
  LLVMDisposeMessage(message);
  if (!bad && instruction_count(e->module) > MAX_INSTRUCTIONS)
    refuse(e, (MlirOperation){NULL}, "the code is too long");
  return !e->refusal.why;
}

static void add_features(struct strip_emitter *e, const struct target *t) {
  e->registers = processor_registers(t, e->arena);
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, STRIPS_FLAG, sizeof STRIPS_FLAG - 1,
                    LLVMValueAsMetadata(int_constant(e->i32, 1)));
}

// Vectors as wide as the registers; no calls of the C library for loops that look like its own.
static void finish_functions(struct strip_emitter *e) {
  static const char *const attributes[][2] = {{"prefer-vector-width", "512"}, {"no-builtins", ""}};
  for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f))
    for (size_t i = 0; !LLVMIsDeclaration(f) && i < COUNT_OF(attributes); i++)
      LLVMAddAttributeAtIndex(
          f, LLVMAttributeFunctionIndex,
          LLVMCreateStringAttribute(e->llvm, attributes[i][0], (unsigned)strlen(attributes[i][0]),
                                    attributes[i][1], (unsigned)strlen(attributes[i][1])));
}

LLVMModuleRef emit_processor(struct ir_context *c, MlirModule module, const struct target *target,
                             uint32_t num_warps, uint32_t num_stages, LLVMContextRef llvm,
                             struct kernel_info *ret_info, struct refusal *ret_refusal) {
  if (!describe_kernel(c, module, target, num_warps, num_stages, ret_info))
    return NULL;
  MlirOperation kernel = module_kernel(c, module);
  struct strip_emitter *e = arena_new(c->arena, struct strip_emitter);
  *e = (struct strip_emitter){.c = c,
                              .arena = c->arena,
                              .axis = axis_analyse(c, kernel, c->arena),
                              .llvm = llvm,
                              .info = ret_info,
                              .module = LLVMModuleCreateWithNameInContext(ret_info->name, llvm),
                              .b = LLVMCreateBuilderInContext(llvm)};
  set_types(e);
  add_features(e, target);
  check_length(e, kernel);
  emit_kernel(e, kernel);
  LLVMDisposeBuilder(e->b);
  if (e->refusal.why || !check_module(e)) {
    LLVMDisposeModule(e->module);
    *ret_refusal = e->refusal;
    return NULL;
  }
  finish_functions(e);
  ret_info->calls_programs = true;
  ret_info->shared_bytes = (uint32_t)e->scratch_bytes;
  return e->module;
}
