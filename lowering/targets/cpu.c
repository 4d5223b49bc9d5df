// SPDX-License-Identifier: Apache-2.0
// The CPU target: the same kernel, one call per CUDA thread (base/cpu_abi.h). Predicated accesses
// are branches; collectives, printing and checks call the executor.
#include "lowering/targets/cpu.h"

#include "base/cpu_abi.h"
#include "base/vec.h"
#include "lowering/llvm/emit.h"
#include "lowering/targets/cpu_matrices.h"

// ---- the kernel ----

static LLVMValueRef thread_field(struct emitter *e, LLVMBuilderRef b, size_t offset,
                                 LLVMTypeRef type) {
  LLVMValueRef at = LLVMConstInt(e->i64, offset, false);
  return LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, e->i8, e->cpu_thread, &at, 1, ""), "");
}

// Invariants of the call are read in the entry block.
static LLVMValueRef fixed_field(struct emitter *e, size_t offset) {
  return thread_field(e, e->entry, offset, e->i32);
}

static void set_thread(struct emitter *e) {
  e->thread_id = thread_field(e, e->b, offsetof(struct cpu_thread, thread_id), e->i32);
  e->lane = LLVMBuildAnd(e->b, e->thread_id, const_i32(e, 31), "lane");
  e->warp = LLVMBuildLShr(e->b, e->thread_id, const_i32(e, LANE_BITS), "warp");
}

static void begin_kernel(struct emitter *e, LLVMValueRef *ret_args) {
  const struct kernel_info *info = e->info;
  LLVMTypeRef types[] = {e->generic_ptr, e->generic_ptr};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), types, 2, false);
  e->function = LLVMAddFunction(e->module, info->name, type);
  e->cpu_thread = LLVMGetParam(e->function, 0);
  LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry"));
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    LLVMValueRef index = LLVMConstInt(e->i64, i, false);
    LLVMValueRef slot =
        LLVMBuildGEP2(e->b, e->generic_ptr, LLVMGetParam(e->function, 1), &index, 1, "");
    LLVMValueRef at = LLVMBuildLoad2(e->b, e->generic_ptr, slot, "");
    bool is_bool = !p->is_pointer && p->dtype == DTYPE_I1;
    LLVMTypeRef t = p->is_pointer ? e->ptr : is_bool ? e->i8 : type_of_dtype(e, p->dtype);
    LLVMValueRef v = LLVMBuildLoad2(e->b, t, at, p->name);
    ret_args[i] = is_bool ? LLVMBuildICmp(e->b, LLVMIntNE, v, const_int(e->i8, 0), "") : v;
  }
  set_thread(e);
}

static void begin_function(struct emitter *e) {
  e->cpu_thread = LLVMGetParam(e->function, 0);
  set_thread(e);
}

static LLVMValueRef program_id(struct emitter *e, int axis) {
  return fixed_field(e, offsetof(struct cpu_thread, program_id) + 4 * (size_t)axis);
}

static LLVMValueRef num_programs(struct emitter *e, int axis) {
  return fixed_field(e, offsetof(struct cpu_thread, num_programs) + 4 * (size_t)axis);
}

static LLVMValueRef shared_base(struct emitter *e) {
  return thread_field(e, e->entry, offsetof(struct cpu_thread, shared), e->generic_ptr);
}

// ---- source locations ----

struct cpu_locations {
  LLVMTypeRef row;
  LLVMValueRef table; // placeholder for NAME__locations until its length is known
  VEC(LLVMValueRef) rows;
};

static LLVMTypeRef location_type(struct emitter *e) {
  LLVMTypeRef members[] = {e->generic_ptr, e->i32, e->i32};
  return LLVMStructTypeInContext(e->llvm, members, 3, false);
}

static struct cpu_locations *locations(struct emitter *e) {
  if (!e->locations) {
    e->locations = arena_new(e->arena, struct cpu_locations);
    e->locations->row = location_type(e);
    e->locations->table =
        LLVMAddGlobal(e->module, LLVMArrayType2(e->locations->row, 0), "locations_to_come");
  }
  return e->locations;
}

// The innermost source location in the kernel's own file: for a library function, its call.
static struct source_location own_location(struct emitter *e, MlirOperation op) {
  struct source_location kernel =
      source_location_of(e->c->arena, mlirOperationGetLocation(e->kernel));
  MlirLocation loc = mlirOperationGetLocation(op);
  for (; mlirLocationIsACallSite(loc); loc = mlirLocationCallSiteGetCaller(loc)) {
    struct source_location at = source_location_of(e->c->arena, mlirLocationCallSiteGetCallee(loc));
    if (at.file && kernel.file && strcmp(at.file, kernel.file) == 0)
      return at;
  }
  return source_location_of(e->c->arena, loc);
}

LLVMValueRef cpu_location(struct emitter *e, MlirOperation op) {
  struct cpu_locations *p = locations(e);
  struct source_location at = own_location(e, op);
  LLVMValueRef members[] = {at.file ? text_pointer(e, at.file) : LLVMConstNull(e->generic_ptr),
                            const_i32(e, at.line), const_i32(e, at.col)};
  LLVMValueRef row = LLVMConstStructInContext(e->llvm, members, 3, false);
  size_t i = 0;
  while (i < p->rows.len && p->rows.at[i] != row)
    i++;
  if (i == p->rows.len)
    vec_push(e->arena, &p->rows, row);
  LLVMValueRef index = LLVMConstInt(e->i64, i, false);
  return LLVMConstGEP2(p->row, p->table, &index, 1);
}

LLVMValueRef cpu_checked_location(struct emitter *e) {
  return e->check ? cpu_location(e, e->op) : LLVMConstNull(e->generic_ptr);
}

static LLVMValueRef shuffle(struct emitter *e, LLVMValueRef value, LLVMValueRef lane) {
  LLVMValueRef args[] = {e->cpu_thread, value, lane, cpu_checked_location(e)};
  return call_routine(e, "tile_cpu_shuffle", e->i32, 4, args);
}

static LLVMValueRef shuffle_xor(struct emitter *e, LLVMValueRef value, uint32_t mask) {
  return shuffle(e, value, LLVMBuildXor(e->b, e->lane, const_i32(e, mask), ""));
}

static void barrier(struct emitter *e) {
  LLVMValueRef args[] = {e->cpu_thread, cpu_checked_location(e)};
  call_routine(e, "tile_cpu_barrier", LLVMVoidTypeInContext(e->llvm), 2, args);
}

static void shared_check(struct emitter *e, LLVMValueRef ptr, unsigned bytes, bool is_write) {
  LLVMValueRef args[] = {e->cpu_thread, cpu_checked_location(e), ptr, const_i32(e, bytes),
                         const_i32(e, is_write ? CPU_STORE : CPU_LOAD)};
  call_routine(e, "tile_cpu_shared_check", LLVMVoidTypeInContext(e->llvm), 5, args);
}

static void mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef *ret) {
  cpu_mma(e, m, cpu_checked_location(e), ret);
}

static void end_kernel(struct emitter *e) {
  struct cpu_locations *p = e->locations;
  size_t count = p ? p->rows.len : 0;
  LLVMTypeRef row = location_type(e);
  const char *name = e->info->name;
  if (e->check || count) {
    LLVMValueRef table = LLVMAddGlobal(e->module, LLVMArrayType2(row, count),
                                       arena_printf(e->arena, "%s__locations", name));
    LLVMSetInitializer(table, LLVMConstArray2(row, p ? p->rows.at : NULL, count));
    LLVMSetGlobalConstant(table, true);
    LLVMValueRef length =
        LLVMAddGlobal(e->module, e->i32, arena_printf(e->arena, "%s__location_count", name));
    LLVMSetInitializer(length, const_i32(e, (uint32_t)count));
    LLVMSetGlobalConstant(length, true);
    if (p) {
      LLVMReplaceAllUsesWith(p->table, table);
      LLVMDeleteGlobal(p->table);
    }
  }
}

// ---- the device ----

// There is only one multiprocessor.
static LLVMValueRef special_register(struct emitter *e, struct str name) {
  return str_is(name, "globaltimer") ? call_routine(e, "tile_cpu_clock", e->i64, 1, &e->cpu_thread)
                                     : const_i32(e, 0);
}

// One launch ends before the next one begins.
static void grid_dependency(struct emitter *e, struct str kind) { (void)e, (void)kind; }

// ---- mathematics ----

static LLVMValueRef math(struct emitter *e, enum op_id id, LLVMTypeRef type,
                         const LLVMValueRef *x) {
  LLVMValueRef arg = x[0];
  bool root = id == OP_MATH_SQRT || id == OP_MATH_RSQRT || id == OP_TILE_PRECISE_SQRT;
  if (type == e->f64 && !root)
    return NULL; // as on GPUs
  switch (id) {
  case OP_MATH_EXP2: return intrinsic(e, "llvm.exp2", 1, &type, 1, &arg);
  case OP_MATH_LOG2: return intrinsic(e, "llvm.log2", 1, &type, 1, &arg);
  case OP_MATH_SQRT:
  case OP_TILE_PRECISE_SQRT: return intrinsic(e, "llvm.sqrt", 1, &type, 1, &arg);
  case OP_MATH_RSQRT:
    return LLVMBuildFDiv(e->b, LLVMConstReal(type, 1), intrinsic(e, "llvm.sqrt", 1, &type, 1, &arg),
                         "");
  case OP_MATH_TANH: return intrinsic(e, "llvm.tanh", 1, &type, 1, &arg);
  case OP_ARITH_DIVF:
  case OP_TILE_PRECISE_DIVF: return LLVMBuildFDiv(e->b, x[0], x[1], "");
  default: return NULL;
  }
}

static LLVMValueRef remainder_(struct emitter *e, LLVMTypeRef type, LLVMValueRef x,
                               LLVMValueRef y) {
  (void)type;
  return LLVMBuildFRem(e->b, x, y, "");
}

static LLVMValueRef floats_to_fp8(struct emitter *e, const LLVMValueRef x[2], enum dtype to) {
  (void)e, (void)x, (void)to;
  return NULL;
}

static LLVMValueRef fp8_to_f16x2(struct emitter *e, LLVMValueRef pair, enum dtype from) {
  (void)e, (void)pair, (void)from;
  return NULL;
}

// ---- printing and assertions ----

static void print(struct emitter *e, const struct print_record *p) {
  LLVMTypeRef none = LLVMVoidTypeInContext(e->llvm);
  LLVMValueRef args[] = {e->cpu_thread, text_pointer(e, p->prefix), p->flat, p->value, NULL};
  if (p->is_float) {
    call_routine(e, "tile_cpu_print_f64", none, 4, args);
    return;
  }
  args[4] = const_i32(e, (p->hex ? CPU_PRINT_HEX : 0u) | (p->is_signed ? 0u : CPU_PRINT_UNSIGNED));
  call_routine(e, "tile_cpu_print_i64", none, 5, args);
}

static void assert_fail(struct emitter *e, MlirOperation op, const char *message) {
  LLVMValueRef args[] = {e->cpu_thread, cpu_location(e, op), text_pointer(e, message)};
  call_routine(e, "tile_cpu_assert_fail", LLVMVoidTypeInContext(e->llvm), 3, args);
}

const struct target_hooks cpu_hooks = {
    .begin_kernel = begin_kernel,
    .end_kernel = end_kernel,
    .begin_function = begin_function,
    .program_id = program_id,
    .num_programs = num_programs,
    .shuffle = shuffle,
    .shuffle_xor = shuffle_xor,
    .barrier = barrier,
    .shared_base = shared_base,
    .shared_check = shared_check,
    .load_matrices = cpu_load_matrices,
    .store_matrices = cpu_store_matrices,
    .async_copy = cpu_async_copy,
    .async_commit = cpu_async_commit,
    .async_wait = cpu_async_wait,
    .mma = mma,
    .load = cpu_load_words,
    .store = cpu_store_words,
    .atomic_width = cpu_atomic_width,
    .atomic_rmw = cpu_atomic_rmw,
    .atomic_cas = cpu_atomic_cas,
    .special_register = special_register,
    .grid_dependency = grid_dependency,
    .math = math,
    .remainder = remainder_,
    .floats_to_fp8 = floats_to_fp8,
    .fp8_to_f16x2 = fp8_to_f16x2,
    .print = print,
    .assert_fail = assert_fail,
};
