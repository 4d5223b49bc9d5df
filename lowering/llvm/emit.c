// SPDX-License-Identifier: Apache-2.0
// Walks a kernel's blocks in program order and emits each operation by the function of its family.
#include "lowering/llvm/emit.h"

#include "base/limits.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/scratch.h"
#include "mlir-dialects/rings.h"

#include <llvm-c/Analysis.h>

typedef bool (*emit_fn)(struct emitter *e, MlirOperation op);

static bool emit_nothing(struct emitter *e, MlirOperation op) {
  (void)e, (void)op;
  return true;
}

static bool emit_assume(struct emitter *e, MlirOperation op) {
  LLVMValueRef cond = operand_of(e, op, 0)->at[0];
  intrinsic(e, "llvm.assume", 0, NULL, 1, &cond);
  return true;
}

static bool emit_barrier(struct emitter *e, MlirOperation op) {
  uint32_t warps = (uint32_t)op_attr_int(op, "warps", 0);
  if (warps)
    group_barrier(e, warps, op_attr_bool(op, "reads_only"));
  else if (op_is(e->c, op, OP_GPU_BARRIER) && op_attr_bool(op, "reads_only"))
    cta_barrier_behind_reads(e);
  else
    cta_barrier(e);
  return true;
}

// Ops with an emission of their own; other elementwise ones are in emit_elementwise.c. Terminators
// are emitted by the op around them.
static const emit_fn families[OP_ID_COUNT] = {
    [OP_TILE_PROGRAM_ID] = emit_program,
    [OP_TILE_NUM_PROGRAMS] = emit_program,
    [OP_TILE_MAKE_RANGE] = emit_program,
    [OP_ARITH_CONSTANT] = emit_constant,
    [OP_TILE_SPLAT] = emit_shape,
    [OP_TILE_EXPAND_DIMS] = emit_shape,
    [OP_TILE_BROADCAST] = emit_shape,
    [OP_TILE_RESHAPE] = emit_shape,
    [OP_TILE_TRANS] = emit_shape,
    [OP_TILE_LOAD] = emit_load,
    [OP_TILE_STORE] = emit_store,
    [OP_TILE_ATOMIC_RMW] = emit_atomic_rmw,
    [OP_TILE_ATOMIC_CAS] = emit_atomic_cas,
    [OP_TILE_MAP] = emit_map,
    [OP_TILE_INLINE_ASM] = emit_inline_asm,
    [OP_TILE_GATHER] = emit_gather,
    [OP_TILE_HISTOGRAM] = emit_histogram,
    [OP_TILE_JOIN] = emit_join,
    [OP_TILE_SPLIT] = emit_split,
    [OP_TILE_UNSPLAT] = emit_unsplat,
    [OP_TILE_SPECIAL] = emit_special,
    [OP_TILE_GRID_DEPENDENCY] = emit_special,
    [OP_FUNC_CALL] = emit_func_call,
    [OP_TILE_REDUCE] = emit_reduce,
    [OP_TILE_DOT] = emit_dot,
    [OP_GPU_WARP_GROUP_DOT] = emit_warp_group_dot,
    [OP_GPU_WARP_GROUP_DOT_WAIT] = emit_warp_group_dot_wait,
    [OP_GPU_PART] = emit_part,
    [OP_GPU_LOCAL_ALLOC] = emit_local_alloc,
    [OP_GPU_LOCAL_INDEX] = emit_local_index,
    [OP_GPU_LOCAL_TRANS] = emit_local_trans,
    [OP_GPU_LOCAL_LOAD] = emit_local_load,
    [OP_GPU_LOCAL_STORE] = emit_local_store,
    [OP_GPU_IS_PRODUCER] = emit_ring,
    [OP_GPU_SET_REGISTERS] = emit_ring,
    [OP_GPU_PING_PONG] = emit_ring,
    [OP_GPU_RING_INIT] = emit_ring,
    [OP_GPU_RING_EMPTY] = emit_ring,
    [OP_GPU_MAP_COPY] = emit_ring,
    [OP_GPU_MAP_STORE] = emit_ring,
    [OP_GPU_MAPS_OPEN] = emit_made_maps,
    [OP_GPU_MAP_MAKE] = emit_made_maps,
    [OP_GPU_MAPS_CLOSE] = emit_made_maps,
    [OP_GPU_RING_DRAIN] = emit_ring,
    [OP_GPU_MAP_WAIT] = emit_ring,
    [OP_GPU_RING_FULL] = emit_ring,
    [OP_GPU_RING_RELEASE] = emit_ring,
    [OP_GPU_CLUSTER_BARRIER] = emit_ring,
    [OP_GPU_RING_END] = emit_nothing,
    [OP_GPU_ASYNC_COPY] = emit_async_copy,
    [OP_GPU_ASYNC_COMMIT] = emit_async_commit,
    [OP_GPU_ASYNC_WAIT] = emit_async_wait,
    [OP_TILE_PRINT] = emit_print,
    [OP_TILE_ASSERT] = emit_assert,
    [OP_TILE_DEBUG_VALUE] = emit_debug_value,
    [OP_TILE_ASSUME] = emit_assume,
    [OP_TILE_BARRIER] = emit_barrier,
    [OP_GPU_BARRIER] = emit_barrier,
    [OP_GPU_CONVERT_LAYOUT] = emit_convert_layout,
    [OP_TILE_SCAN] = emit_scan,
    [OP_SCF_IF] = emit_scf_if,
    [OP_SCF_FOR] = emit_scf_for,
    [OP_SCF_WHILE] = emit_scf_while,
    [OP_SCF_YIELD] = emit_nothing,
    [OP_SCF_CONDITION] = emit_nothing,
    [OP_FUNC_RETURN] = emit_nothing,
};

// A tile without a layout, or with one that does not fit, cannot be emitted.
static bool check_types(struct emitter *e, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (type_is_tensor(t) && !layout_of(e, t))
      return emit_unsupported(e, op, "the tile has no layout that fits its shape");
  }
  return true;
}

// Counts the LLVM instructions every few operations, to stop before there are too many.
static bool check_size(struct emitter *e, MlirOperation op) {
  enum { CHECK_INTERVAL = 64 };
  if (++e->emitted % CHECK_INTERVAL != 0)
    return true;
  unsigned count = instruction_count(e->module);
  return count <= LIMIT_INSTRUCTIONS ||
         limit_error(e->c->diag, op_span(e->c, op), LIMIT_ID_INSTRUCTIONS, 0);
}

bool emit_block(struct emitter *e, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    enum op_id id = op_id(e->c, op);
    debug_info_at(e->debug, op);
    e->op = op;
    if (!check_types(e, op))
      return false;
    emit_fn fn = families[id];
    if (!fn && (op_flags(e->c, op) & OP_EW))
      fn = emit_elementwise;
    if (!fn) {
      MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
      return emit_unsupported(e, op, "`%.*s` has no lowering", (int)name.length, name.data);
    }
    if (!fn(e, op) || !check_size(e, op))
      return false;
    spill_result(e, op);
    e->is_behind_products |= mlirOperationEqual(op, e->last_product);
  }
  return true;
}

// ---- kernel facts ----

static const char *text_attr(struct ir_context *c, MlirAttribute a, const char *otherwise) {
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return otherwise;
  MlirStringRef s = mlirStringAttrGetValue(a);
  return arena_strndup(c->arena, s.data, s.length);
}

// Padding and block of the descriptor whose base the argument is (lang/frontend.h).
static void describe_descriptor(MlirAttribute a, struct kernel_param *ret) {
  intptr_t n = mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a)
                   ? 0
                   : mlirDenseArrayGetNumElements(a);
  if (!ret->is_pointer || n < 2 || n > 1 + (intptr_t)COUNT_OF(ret->block))
    return;
  ret->descriptor_rank = (uint32_t)n - 1;
  ret->pads_nan = mlirDenseI32ArrayGetElement(a, 0) != 0;
  for (intptr_t i = 1; i < n; i++)
    ret->block[i - 1] = (uint32_t)mlirDenseI32ArrayGetElement(a, i);
}

static struct kernel_param param_of(struct ir_context *c, MlirOperation kernel, unsigned i) {
  MlirType type = mlirValueGetType(mlirBlockGetArgument(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)), (intptr_t)i));
  MlirAttribute divisibility = func_arg_attr(kernel, i, "tile.divisibility");
  struct kernel_param p = {
      .name =
          text_attr(c, func_arg_attr(kernel, i, "tile.name"), arena_printf(c->arena, "arg%u", i)),
      .is_pointer = type_is_ptr(c, type),
      .divisible_by = 1,
      .is_const = !mlirAttributeIsNull(func_arg_attr(kernel, i, "tile.const")),
  };
  if (!mlirAttributeIsNull(divisibility) && mlirAttributeIsAInteger(divisibility))
    p.divisible_by = (uint32_t)mlirIntegerAttrGetValueInt(divisibility);
  p.dtype = dtype_of_mlir(p.is_pointer ? ptr_pointee(c, type) : type);
  // Signedness is only in the attribute, and that bytes behind a pointer are i1.
  const char *name = text_attr(c, func_arg_attr(kernel, i, "tile.dtype"), NULL);
  enum dtype named;
  if (name && dtype_parse(str_from(name), &named) &&
      (dtype_bits(named) == dtype_bits(p.dtype) || (p.is_pointer && named == DTYPE_I1)))
    p.dtype = named;
  describe_descriptor(func_arg_attr(kernel, i, "tile.descriptor"), &p);
  return p;
}

// Symbols that kernels must not define: symbols of generated code (the mathematical functions also
// with an `f` behind), and PTX's own names.
static const char *const reserved[] = {
    "WARP_SZ", "_",         "__assertfail",   "acos",  "asin",   "atan",    "atan2",
    "ceil",    "cos",       "cosh",           "erf",   "exp",    "exp2",    "expm1",
    "floor",   "fma",       "fmax",           "fmin",  "fmod",   "log",     "global_smem",
    "ldexp",   "log10",     "log1p",          "log2",  "memcpy", "memmove", "memset",
    "pow",     "nearbyint", "rint",           "round", "sin",    "sinh",    "sqrt",
    "tan",     "tanh",      "tile_remainder", "trunc", "vprintf"};

static bool is_reserved(struct str name) {
  for (size_t i = 0; i < COUNT_OF(reserved); i++) {
    struct str r = str_from(reserved[i]);
    if (str_starts(name, r.ptr) &&
        (name.len == r.len || (name.len == r.len + 1 && name.ptr[r.len] == 'f')))
      return true;
  }
  return str_starts(name, "tile_cpu_");
}

// The kernel's name as a symbol: letters beyond ASCII, which Python allows, are written as `_uXX`
// per byte, for PTX.
const char *symbol_of(struct arena *a, const char *name) {
  struct strbuf b = {.arena = a};
  for (const char *p = name; *p; p++) {
    bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
    if (plain || *p == '_')
      strbuf_putc(&b, *p);
    else
      strbuf_printf(&b, "_u%02x", (unsigned)(unsigned char)*p);
  }
  if (is_reserved(str_from(name)))
    strbuf_puts(&b, "_kernel");
  const char *symbol = arena_strdup(a, strbuf_cstr(&b));
  strbuf_finish(&b);
  return symbol;
}

// Maps that copies use and the launch makes; those of loads before specialize-warps have no swizzle
// yet.
static bool describe_maps(struct ir_context *c, MlirModule module, struct kernel_info *ret) {
  MlirOperation m = mlirModuleGetOperation(module);
  ret->producer_warps = (uint32_t)op_attr_int(m, "tilegpu.producer_warps", 0);
  uint32_t count = module_map_count(m);
  ret->maps = arena_array(c->arena, struct kernel_map, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    struct kernel_map *map = &ret->maps[ret->map_count];
    if (!module_map(c, m, i, map)) {
      diag_error(c->diag, op_span(c, m), E0604, "map %u of `tile.maps` is malformed", i);
      return false;
    }
    ret->map_count += !map->made;
  }
  return true;
}

// The others, too.
static void take_maps(struct emitter *e, MlirOperation module) {
  e->map_count = module_map_count(module);
  struct kernel_map *all = arena_array(e->arena, struct kernel_map, e->map_count + 1);
  for (uint32_t i = 0; i < e->map_count; i++)
    module_map(e->c, module, i, &all[i]);
  e->map_shapes = all;
}

bool describe_kernel(struct ir_context *c, MlirModule module, const struct target *target,
                     uint32_t num_warps, uint32_t num_stages, struct kernel_info *ret) {
  MlirOperation kernel = module_kernel(c, module), m = mlirModuleGetOperation(module);
  if (mlirOperationIsNull(kernel)) {
    diag_error(c->diag, op_span(c, m), E0604,
               "the module has no kernel: a `func.func` with the attribute `tile.kernel`");
    return false;
  }
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  unsigned n = (unsigned)mlirBlockGetNumArguments(entry);
  *ret = (struct kernel_info){
      .name = symbol_of(c->arena, text_attr(c, op_attr(kernel, "sym_name"), "kernel")),
      .target = target->name,
      .num_warps = num_warps,
      .num_stages = num_stages,
      .num_ctas = (uint32_t)op_attr_int(m, "tilegpu.num_ctas", 0),
      .launch_pdl = !mlirAttributeIsNull(op_attr(m, "tilegpu.launch_pdl")),
      .param_count = n,
      .params = arena_array(c->arena, struct kernel_param, n + 1),
  };
  if (!describe_maps(c, module, ret))
    return false;
  for (unsigned i = 0; i < n; i++) {
    ret->params[i] = param_of(c, kernel, i);
    if (ret->params[i].dtype == DTYPE_NONE) {
      diag_error(c->diag, op_span(c, kernel), E0604,
                 "parameter `%s` is of a type that no launch can pass", ret->params[i].name);
      return false;
    }
  }
  return true;
}

// ---- the module ----

static void set_types(struct emitter *e) {
  LLVMContextRef c = e->llvm;
  e->i1 = LLVMInt1TypeInContext(c);
  e->i8 = LLVMInt8TypeInContext(c);
  e->i16 = LLVMInt16TypeInContext(c);
  e->i32 = LLVMInt32TypeInContext(c);
  e->i64 = LLVMInt64TypeInContext(c);
  e->f16 = LLVMHalfTypeInContext(c);
  e->bf16 = LLVMBFloatTypeInContext(c);
  e->f32 = LLVMFloatTypeInContext(c);
  e->f64 = LLVMDoubleTypeInContext(c);
  e->ptr = LLVMPointerTypeInContext(c, e->target->is_cpu ? 0 : 1);
  e->generic_ptr = LLVMPointerTypeInContext(c, 0);
}

// Of the stack of a thread on the CPU (runtime/fiber.h), for variables that debuggers see.
enum { VARIABLE_BYTES = 32 << 10 };

// The entry block holds what depends on the thread alone; the body follows it.
static bool emit_kernel(struct emitter *e) {
  unsigned n = e->info->param_count;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(e->kernel, 0));
  LLVMValueRef *args = arena_array(e->arena, LLVMValueRef, n + 1);
  e->target->hooks->begin_kernel(e, args);
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(e->b);
  LLVMPositionBuilderAtEnd(e->entry, entry);
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->llvm, e->function, "body");
  LLVMPositionBuilderAtEnd(e->b, body);
  e->debug = debug_info_begin(&(struct debug_module){.a = e->c->arena,
                                                     .llvm = e->llvm,
                                                     .module = e->module,
                                                     .b = e->b,
                                                     .kernel = e->kernel,
                                                     .function = e->function,
                                                     .name = e->info->name,
                                                     .is_cpu = e->target->is_cpu,
                                                     .variable_bytes = VARIABLE_BYTES});
  for (unsigned i = 0; i < n; i++)
    value_bind(e, mlirBlockGetArgument(block, (intptr_t)i))->at[0] = args[i];
  bool ok = emit_block(e, block);
  if (ok) {
    LLVMBuildRetVoid(e->b);
    LLVMBuildBr(e->entry, body);
    e->target->hooks->end_kernel(e);
  }
  debug_info_end(e->debug);
  return ok;
}

static bool check_module(struct emitter *e) {
  char *message = NULL;
  bool bad = LLVMVerifyModule(e->module, LLVMReturnStatusAction, &message);
  if (bad)
    diag_error(e->c->diag, op_span(e->c, e->kernel), E0990, "malformed LLVM IR: %s", message);
  LLVMDisposeMessage(message);
  return !bad;
}

static bool check_all(struct emitter *e) {
  unsigned count = instruction_count(e->module);
  return count <= LIMIT_INSTRUCTIONS ||
         limit_error(e->c->diag, op_span(e->c, e->kernel), LIMIT_ID_INSTRUCTIONS, count);
}

// Resources are checked before LLVM spends time on the kernel.
static bool check_shared_memory(struct emitter *e) {
  const struct target *t = e->target;
  if (e->shared_bytes <= t->shared_limit)
    return true;
  struct diag *d =
      diag_error(e->c->diag, op_span(e->c, e->shared_op), E0605,
                 "exchanging this between threads needs %u bytes of shared memory; `%s` has %u",
                 e->shared_bytes, t->name, t->shared_limit);
  diag_help(d, "use smaller blocks or a narrower element type");
  return false;
}

// Is the buffer a slot of a ring, which only TMA writes?
static bool is_slot(struct emitter *e, MlirValue buffer) {
  MlirOperation def = value_def(buffer);
  while (!mlirOperationIsNull(def) &&
         (op_is(e->c, def, OP_GPU_LOCAL_INDEX) || op_is(e->c, def, OP_GPU_LOCAL_TRANS)))
    def = value_def(mlirOperationGetOperand(def, 0));
  if (mlirOperationIsNull(def) || !op_is(e->c, def, OP_GPU_LOCAL_ALLOC))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(def, 0));
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (op_is(e->c, mlirOpOperandGetOwner(use), OP_GPU_RING_END))
      return true;
  return false;
}

static bool note_warp_group_dot(MlirOperation op, void *user) {
  struct emitter *e = user;
  e->has_map_stores |= op_is(e->c, op, OP_GPU_MAP_STORE);
  if (!op_is(e->c, op, OP_GPU_WARP_GROUP_DOT))
    return true;
  e->has_warp_group_dots = true;
  for (intptr_t i = 0; i < 2; i++)
    e->products_read_writes |=
        type_is_memdesc(e->c, operand_type(op, i)) && !is_slot(e, mlirOperationGetOperand(op, i));
  return true;
}

static bool note_last_product(MlirOperation op, void *user) {
  struct emitter *e = user;
  if (!op_is(e->c, op, OP_GPU_WARP_GROUP_DOT) && !op_is(e->c, op, OP_FUNC_CALL))
    return true;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(e->kernel, 0));
  while (!mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  e->last_product = op;
  return true;
}

static void find_products(struct emitter *e, MlirModule module) {
  if (!e->target->has_wgmma)
    return;
  ir_walk(mlirModuleGetOperation(module), note_warp_group_dot, e);
  if (!e->has_warp_group_dots)
    return;
  ir_walk(e->kernel, note_last_product, e);
  LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, WGMMA_FLAG, sizeof WGMMA_FLAG - 1,
                    LLVMValueAsMetadata(const_i32(e, 1)));
}

LLVMModuleRef emit_llvm(struct ir_context *c, MlirModule module, const struct target *target,
                        uint32_t num_warps, uint32_t num_stages, bool check, LLVMContextRef llvm,
                        struct kernel_info *ret_info) {
  if (!describe_kernel(c, module, target, num_warps, num_stages, ret_info))
    return NULL;
  MlirOperation kernel = module_kernel(c, module);
  struct emitter e = {
      .c = c,
      .target = target,
      .arena = c->arena,
      .axis = axis_analyse(c, kernel, c->arena),
      .llvm = llvm,
      .module = LLVMModuleCreateWithNameInContext(ret_info->name, llvm),
      .b = LLVMCreateBuilderInContext(llvm),
      .entry = LLVMCreateBuilderInContext(llvm),
      .kernel = kernel,
      .func = kernel,
      .info = ret_info,
      .num_warps = num_warps,
      .check = check,
      .shared_total = scratch_total(module),
  };
  set_types(&e);
  take_maps(&e, mlirModuleGetOperation(module));
  find_products(&e, module);
  bool ok = emit_kernel(&e) && check_shared_memory(&e) && check_all(&e) && check_module(&e);
  ret_info->shared_bytes = e.shared_total < 0 ? e.shared_bytes : (uint32_t)e.shared_total;
  ret_info->uses_collectives = e.uses_collectives || ret_info->shared_bytes != 0;
  LLVMDisposeBuilder(e.b);
  LLVMDisposeBuilder(e.entry);
  if (ok)
    return e.module;
  LLVMDisposeModule(e.module);
  return NULL;
}
