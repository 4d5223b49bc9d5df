// SPDX-License-Identifier: Apache-2.0
// The CPU as a GPU: the same kernel, one call a CUDA thread (base/cpu_abi.h). Predicated accesses
// are branches; collectives and everything that reports call the executor.
#include "lowering/targets/cpu.h"

#include "base/cpu_abi.h"
#include "base/vec.h"
#include "lowering/analysis/provenance.h"
#include "lowering/llvm/emit.h"
#include "lowering/targets/cpu_matrices.h"

// ---- the kernel ----

static LLVMValueRef thread_field(struct emitter *e, LLVMBuilderRef b, size_t offset,
                                 LLVMTypeRef type) {
  LLVMValueRef at = LLVMConstInt(e->i64, offset, false);
  return LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, e->i8, e->cpu_thread, &at, 1, ""), "");
}

// What does not change during the call is read in the entry block.
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
  LLVMValueRef table; // stands in for NAME__locations until its length is known
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

// The innermost source location in the kernel's own file: of what a library function does, the call
// of it.
static struct source_location own_location(struct emitter *e, MlirOperation op) {
  struct source_location kernel = source_location_of(e, mlirOperationGetLocation(e->kernel));
  MlirLocation loc = mlirOperationGetLocation(op);
  for (; mlirLocationIsACallSite(loc); loc = mlirLocationCallSiteGetCaller(loc)) {
    struct source_location at = source_location_of(e, mlirLocationCallSiteGetCallee(loc));
    if (at.file && kernel.file && strcmp(at.file, kernel.file) == 0)
      return at;
  }
  return source_location_of(e, loc);
}

static LLVMValueRef location_pointer(struct emitter *e, MlirOperation op) {
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
  return e->check ? location_pointer(e, e->op) : LLVMConstNull(e->generic_ptr);
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

// ---- accesses ----

// Buffers on the CPU need not have the alignment that the kernel was promised: vector accesses are
// unaligned ones, which cost nothing on today's CPUs.

int cpu_param_of(struct emitter *e, const struct access *a) {
  // Only the kernel's own parameters have numbers.
  bool in_kernel = mlirOperationEqual(e->func, e->kernel);
  return in_kernel ? pointer_argument(e->c, mlirOperationGetOperand(a->op, 0)) : -1;
}

static LLVMValueRef check_call(struct emitter *e, const struct access *a, enum cpu_access kind) {
  LLVMValueRef args[] = {e->cpu_thread,
                         location_pointer(e, a->op),
                         const_i32(e, (uint32_t)cpu_param_of(e, a)),
                         a->ptr,
                         const_i32(e, a->count * a->word_bits / 8),
                         const_i32(e, kind)};
  LLVMValueRef ok = call_routine(e, "tile_cpu_check", e->i8, 6, args);
  return LLVMBuildICmp(e->b, LLVMIntNE, ok, const_int(e->i8, 0), "");
}

// Up to two branches around an access: its predicate, and the check of its address.
struct guards {
  unsigned count;
  struct branch at[2];
};

static struct guards guards_begin(struct emitter *e, const struct access *a, enum cpu_access kind) {
  struct guards g = {0};
  if (a->pred)
    g.at[g.count++] = branch_begin(e, a->pred);
  if (e->check) {
    LLVMValueRef ok = check_call(e, a, kind);
    g.at[g.count++] = branch_begin(e, ok);
  }
  return g;
}

// Ends the branches; the result is `inside` where all were taken, else `otherwise`. Both may be
// NULL.
static LLVMValueRef guards_end(struct emitter *e, struct guards *g, LLVMValueRef inside,
                               LLVMValueRef otherwise) {
  while (g->count) {
    const struct branch *br = &g->at[--g->count];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), skipped = br->from;
    branch_end(e, br);
    if (!inside)
      continue;
    LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(inside), "");
    LLVMAddIncoming(phi, &inside, &from, 1);
    LLVMAddIncoming(phi, &otherwise, &skipped, 1);
    inside = phi;
  }
  return inside;
}

static void load(struct emitter *e, const struct access *a, const LLVMValueRef *other,
                 LLVMValueRef *ret) {
  LLVMTypeRef type = words_type(e, a->count, a->word_bits);
  LLVMValueRef otherwise = other ? join_words(e, a->count, other) : LLVMConstNull(type);
  struct guards g = guards_begin(e, a, CPU_LOAD);
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, a->ptr, "");
  LLVMSetAlignment(v, 1);
  LLVMSetVolatile(v, op_attr_bool(a->op, "is_volatile"));
  v = guards_end(e, &g, v, otherwise);
  split_words(e, a->count, v, ret);
}

static void store(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  LLVMValueRef v = join_words(e, a->count, words);
  struct guards g = guards_begin(e, a, CPU_STORE);
  LLVMSetAlignment(LLVMBuildStore(e->b, v, a->ptr), 1);
  guards_end(e, &g, NULL, NULL);
}

static bool atomic_opcode(struct str kind, LLVMAtomicRMWBinOp *ret) {
  static const struct {
    const char *kind;
    LLVMAtomicRMWBinOp op;
  } ops[] = {{"add", LLVMAtomicRMWBinOpAdd},   {"fadd", LLVMAtomicRMWBinOpFAdd},
             {"and", LLVMAtomicRMWBinOpAnd},   {"or", LLVMAtomicRMWBinOpOr},
             {"xor", LLVMAtomicRMWBinOpXor},   {"max", LLVMAtomicRMWBinOpMax},
             {"min", LLVMAtomicRMWBinOpMin},   {"umax", LLVMAtomicRMWBinOpUMax},
             {"umin", LLVMAtomicRMWBinOpUMin}, {"xchg", LLVMAtomicRMWBinOpXchg}};
  for (size_t i = 0; i < COUNT_OF(ops); i++)
    if (str_is(kind, ops[i].kind)) {
      *ret = ops[i].op;
      return true;
    }
  return false;
}

static unsigned atomic_width(struct emitter *e, const struct atomic *a) {
  (void)e;
  LLVMAtomicRMWBinOp op;
  enum dtype t = a->dtype;
  bool is_float = t != DTYPE_NONE && dtype_is_float(t), is_sum = str_is(a->kind, "fadd");
  return atomic_opcode(a->kind, &op) && (str_is(a->kind, "xchg") || is_float == is_sum) &&
                 (t == DTYPE_NONE || dtype_bits(t) >= (is_sum ? 16 : 32))
             ? 1
             : 0;
}

// Any order asked for is met by the strongest one.
static void atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                       LLVMValueRef *ret) {
  LLVMAtomicRMWBinOp op = LLVMAtomicRMWBinOpXchg;
  atomic_opcode(a->kind, &op);
  bool takes_bits = op == LLVMAtomicRMWBinOpXchg;
  LLVMValueRef operand = takes_bits ? to_bits(e, values[0]) : values[0];
  struct guards g = guards_begin(e, &a->access, CPU_ATOMIC);
  LLVMValueRef old = LLVMBuildAtomicRMW(e->b, op, a->access.ptr, operand,
                                        LLVMAtomicOrderingSequentiallyConsistent, false);
  old = guards_end(e, &g, old, LLVMConstNull(LLVMTypeOf(operand)));
  ret[0] = takes_bits ? from_bits(e, old, a->element) : old;
}

static LLVMValueRef atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                               LLVMValueRef value) {
  struct guards g = guards_begin(e, a, CPU_ATOMIC);
  LLVMValueRef pair =
      LLVMBuildAtomicCmpXchg(e->b, a->ptr, compare, value, LLVMAtomicOrderingSequentiallyConsistent,
                             LLVMAtomicOrderingSequentiallyConsistent, false);
  LLVMValueRef old = LLVMBuildExtractValue(e->b, pair, 0, "");
  return guards_end(e, &g, old, LLVMConstNull(LLVMTypeOf(value)));
}

// ---- the device ----

// There is one multiprocessor.
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
  LLVMValueRef args[] = {e->cpu_thread, location_pointer(e, op), text_pointer(e, message)};
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
    .load = load,
    .store = store,
    .atomic_width = atomic_width,
    .atomic_rmw = atomic_rmw,
    .atomic_cas = atomic_cas,
    .special_register = special_register,
    .grid_dependency = grid_dependency,
    .math = math,
    .remainder = remainder_,
    .floats_to_fp8 = floats_to_fp8,
    .fp8_to_f16x2 = fp8_to_f16x2,
    .print = print,
    .assert_fail = assert_fail,
};
