// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs. Special registers, shuffles and barriers are LLVM intrinsics, approximate functions
// inline PTX. Memory accesses: ptx_memory.c, ptx_atomics.c.
#include "lowering/targets/ptx.h"

#include "base/wgmma.h"
#include "lowering/targets/remainder.h"

#include <assert.h>

enum { PTX_KERNEL_CALLING_CONVENTION = 71, SHARED_SPACE = 3, COMPUTING_BARRIER = 1 };

// ---- attributes ----

static void add_enum_attribute(struct emitter *e, LLVMAttributeIndex at, const char *name,
                               uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(e->function, at, LLVMCreateEnumAttribute(e->llvm, kind, value));
}

static void add_text_attribute(struct emitter *e, const char *name, const char *value) {
  LLVMAddAttributeAtIndex(e->function, LLVMAttributeFunctionIndex,
                          LLVMCreateStringAttribute(e->llvm, name, (unsigned)strlen(name), value,
                                                    (unsigned)strlen(value)));
}

// The value is in [0, end).
static LLVMValueRef with_range(struct emitter *e, LLVMValueRef call, uint32_t end) {
  LLVMMetadataRef bounds[] = {LLVMValueAsMetadata(const_i32(e, 0)),
                              LLVMValueAsMetadata(const_i32(e, end))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->llvm, bounds, 2);
  LLVMSetMetadata(call, LLVMGetMDKindIDInContext(e->llvm, "range", 5),
                  LLVMMetadataAsValue(e->llvm, node));
  return call;
}

// ---- the kernel and the functions it calls ----

static void begin_function(struct emitter *e) {
  e->thread_id = with_range(e, intrinsic(e, "llvm.nvvm.read.ptx.sreg.tid.x", 0, NULL, 0, NULL),
                            kernel_info_threads(e->info));
  e->lane = LLVMBuildAnd(e->b, e->thread_id, const_i32(e, 31), "lane");
  e->warp = LLVMBuildLShr(e->b, e->thread_id, const_i32(e, LANE_BITS), "warp");
}

static void begin_kernel(struct emitter *e, LLVMValueRef *ret_args) {
  const struct kernel_info *info = e->info;
  uint32_t n = info->param_count;
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, n + info->map_count + 1);
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    types[i] = p->is_pointer ? e->ptr : p->dtype == DTYPE_I1 ? e->i8 : type_of_dtype(e, p->dtype);
  }
  for (uint32_t i = 0; i < info->map_count; i++)
    types[n + i] = e->generic_ptr;
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), types, n + info->map_count, false);
  e->function = LLVMAddFunction(e->module, info->name, type);
  LLVMSetFunctionCallConv(e->function, PTX_KERNEL_CALLING_CONVENTION);
  add_enum_attribute(e, LLVMAttributeFunctionIndex, "nounwind", 0);
  add_text_attribute(e, "nvvm.reqntid", arena_printf(e->arena, "%u", kernel_info_threads(info)));
  MlirOperation module = mlirOperationGetParentOperation(e->kernel);
  // setmaxnreg needs to know the registers at entry: of those that the limit leaves, a multiple
  // of 8.
  int64_t registers = op_attr_int(module, "tilegpu.entry_registers",
                                  op_attr_int(module, "tilegpu.max_registers", 0));
  if (!registers && !info->producer_warps) // spill_to_shared.c
    registers = op_attr_int(e->kernel, "tilegpu.registers", 0);
  if (registers)
    add_text_attribute(e, "nvvm.maxnreg", arena_printf(e->arena, "%d", (int)registers));
  LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry"));
  for (uint32_t i = 0; i < info->param_count; i++) {
    const struct kernel_param *p = &info->params[i];
    LLVMValueRef arg = LLVMGetParam(e->function, i);
    LLVMSetValueName2(arg, p->name, strlen(p->name));
    if (p->is_pointer && is_pow2(p->divisible_by) && p->divisible_by > 1)
      add_enum_attribute(e, i + 1, "align", p->divisible_by);
    if (p->is_pointer && p->is_const)
      add_enum_attribute(e, i + 1, "readonly", 0);
    ret_args[i] = !p->is_pointer && p->dtype == DTYPE_I1
                      ? LLVMBuildICmp(e->b, LLVMIntNE, arg, const_int(e->i8, 0), "")
                      : arg;
  }
  ptx_begin_maps(e);
  begin_function(e);
}

static void end_kernel(struct emitter *e) { (void)e; }

static LLVMValueRef program_id(struct emitter *e, int axis) {
  static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                      "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                      "llvm.nvvm.read.ptx.sreg.ctaid.z"};
  return intrinsic(e, names[axis], 0, NULL, 0, NULL);
}

static LLVMValueRef num_programs(struct emitter *e, int axis) {
  static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                      "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                      "llvm.nvvm.read.ptx.sreg.nctaid.z"};
  return intrinsic(e, names[axis], 0, NULL, 0, NULL);
}

static LLVMValueRef shuffle(struct emitter *e, LLVMValueRef value, LLVMValueRef lane) {
  LLVMValueRef args[] = {const_i32(e, UINT32_MAX), value, lane, const_i32(e, 31)};
  return intrinsic(e, "llvm.nvvm.shfl.sync.idx.i32", 0, NULL, 4, args);
}

static LLVMValueRef shuffle_xor(struct emitter *e, LLVMValueRef value, uint32_t mask) {
  LLVMValueRef args[] = {const_i32(e, UINT32_MAX), value, const_i32(e, mask), const_i32(e, 31)};
  return intrinsic(e, "llvm.nvvm.shfl.sync.bfly.i32", 0, NULL, 4, args);
}

// The redux.sync for an operation, NULL where there is none.
static const char *redux_name(enum op_id id) {
  switch (id) {
  case OP_ARITH_ADDI: return "llvm.nvvm.redux.sync.add";
  case OP_ARITH_ANDI: return "llvm.nvvm.redux.sync.and";
  case OP_ARITH_ORI: return "llvm.nvvm.redux.sync.or";
  case OP_ARITH_XORI: return "llvm.nvvm.redux.sync.xor";
  case OP_ARITH_MAXSI: return "llvm.nvvm.redux.sync.max";
  case OP_ARITH_MINSI: return "llvm.nvvm.redux.sync.min";
  case OP_ARITH_MAXUI: return "llvm.nvvm.redux.sync.umax";
  case OP_ARITH_MINUI: return "llvm.nvvm.redux.sync.umin";
  default: return NULL;
  }
}

static bool reduces_warp(struct emitter *e, enum op_id id, LLVMTypeRef type) {
  (void)e;
  return redux_name(id) && LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(type) <= 32;
}

// redux.sync has 32 bits: narrower values are extended by the signedness of the comparison.
static LLVMValueRef reduce_warp(struct emitter *e, enum op_id id, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  assert(reduces_warp(e, id, type));
  bool is_signed = id == OP_ARITH_MAXSI || id == OP_ARITH_MINSI, narrow = type != e->i32;
  if (narrow)
    value =
        is_signed ? LLVMBuildSExt(e->b, value, e->i32, "") : LLVMBuildZExt(e->b, value, e->i32, "");
  LLVMValueRef args[] = {value, const_i32(e, UINT32_MAX)};
  value = intrinsic(e, redux_name(id), 0, NULL, 2, args);
  return narrow ? LLVMBuildTrunc(e->b, value, type, "") : value;
}

// Of the warps that compute: producers do not take part.
static void barrier(struct emitter *e) {
  if (e->info->producer_warps) {
    LLVMValueRef args[] = {const_i32(e, COMPUTING_BARRIER), const_i32(e, 32 * e->num_warps)};
    intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.count", 0, NULL, 2, args);
    return;
  }
  LLVMValueRef id = const_i32(e, 0);
  intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", 0, NULL, 1, &id);
}

// Group i has the named barrier i behind that of all warps that compute.
static void warps_barrier(struct emitter *e, uint32_t warps) {
  LLVMValueRef group = LLVMBuildUDiv(e->b, e->warp, const_i32(e, warps), "");
  LLVMValueRef args[] = {LLVMBuildAdd(e->b, group, const_i32(e, COMPUTING_BARRIER + 1), ""),
                         const_i32(e, 32 * warps)};
  intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.count", 0, NULL, 2, args);
}

// Warpgroup i waits at a barrier of its own, at which the one before it arrives. The first one need
// not wait for its first turn: the last one opens by arriving there (FlashAttention-3, arXiv
// 2407.08608, section 3.1).
static void ping_pong(struct emitter *e, enum ping_pong step) {
  uint32_t groups = e->num_warps / WGMMA_WARPS, first = COMPUTING_BARRIER + 1 + groups;
  LLVMValueRef group = LLVMBuildUDiv(e->b, e->warp, const_i32(e, WGMMA_WARPS), "");
  LLVMValueRef last = LLVMBuildICmp(e->b, LLVMIntEQ, group, const_i32(e, groups - 1), "");
  LLVMValueRef next = LLVMBuildAdd(e->b, group, const_i32(e, first + 1), "");
  next = LLVMBuildSelect(e->b, last, const_i32(e, first), next, "");
  LLVMValueRef args[] = {
      step == PING_PONG_BEGIN ? LLVMBuildAdd(e->b, group, const_i32(e, first), "") : next,
      const_i32(e, 2 * 32 * WGMMA_WARPS)};
  struct branch br;
  if (step == PING_PONG_OPEN)
    br = branch_begin(e, last);
  intrinsic(e,
            step == PING_PONG_BEGIN ? "llvm.nvvm.barrier.cta.sync.aligned.count"
                                    : "llvm.nvvm.barrier.cta.arrive.aligned.count",
            0, NULL, 2, args);
  if (step == PING_PONG_OPEN)
    branch_end(e, &br);
}

// Dynamic shared memory: its size is given at the launch.
static LLVMValueRef shared_base(struct emitter *e) {
  static const char name[] = "global_smem";
  LLVMValueRef global = LLVMGetNamedGlobal(e->module, name);
  if (!global) {
    global = LLVMAddGlobalInAddressSpace(e->module, LLVMArrayType2(e->i8, 0), name, SHARED_SPACE);
    LLVMSetLinkage(global, LLVMExternalLinkage);
    LLVMSetAlignment(global,
                     e->has_warp_group_dots || e->map_count ? 1024 : 128); // of swizzles
  }
  return global;
}

// ---- mathematics ----

static bool is_one(LLVMValueRef v) {
  LLVMBool inexact;
  return LLVMIsAConstantFP(v) && LLVMConstRealGetDouble(v, &inexact) == 1;
}

static LLVMValueRef math(struct emitter *e, enum op_id id, LLVMTypeRef type,
                         const LLVMValueRef *x) {
  LLVMValueRef arg = x[0];
  if (type == e->f64) {
    if (id != OP_MATH_SQRT && id != OP_MATH_RSQRT && id != OP_TILE_PRECISE_SQRT)
      return NULL;
    LLVMValueRef root = intrinsic(e, "llvm.sqrt", 1, &type, 1, &arg);
    return id == OP_MATH_RSQRT ? LLVMBuildFDiv(e->b, LLVMConstReal(type, 1), root, "") : root;
  }
  switch (id) {
  case OP_MATH_EXP2: return ptx_pure_asm(e, "ex2.approx.ftz.f32 $0, $1;", "=f,f", type, x, 1);
  case OP_MATH_LOG2: return ptx_pure_asm(e, "lg2.approx.ftz.f32 $0, $1;", "=f,f", type, x, 1);
  case OP_MATH_SQRT: return ptx_pure_asm(e, "sqrt.approx.ftz.f32 $0, $1;", "=f,f", type, x, 1);
  case OP_MATH_RSQRT: return ptx_pure_asm(e, "rsqrt.approx.ftz.f32 $0, $1;", "=f,f", type, x, 1);
  case OP_MATH_TANH: return ptx_pure_asm(e, "tanh.approx.f32 $0, $1;", "=f,f", type, x, 1);
  case OP_ARITH_DIVF:
    // div.full scales both operands, for quotients of large numbers; not necessary for 1.
    if (is_one(x[0]))
      return ptx_pure_asm(e, "rcp.approx.ftz.f32 $0, $1;", "=f,f", type, x + 1, 1);
    return ptx_pure_asm(e, "div.full.f32 $0, $1, $2;", "=f,f,f", type, x, 2);
  case OP_TILE_PRECISE_SQRT: return intrinsic(e, "llvm.sqrt", 1, &type, 1, &arg);
  case OP_TILE_PRECISE_DIVF: return LLVMBuildFDiv(e->b, x[0], x[1], "");
  default: return NULL;
  }
}

// f32 is computed in f64, which holds its remainders exactly.
static LLVMValueRef remainder_(struct emitter *e, LLVMTypeRef type, LLVMValueRef x,
                               LLVMValueRef y) {
  if (type == e->f64)
    return remainder_call(e, x, y);
  LLVMValueRef r =
      remainder_call(e, LLVMBuildFPExt(e->b, x, e->f64, ""), LLVMBuildFPExt(e->b, y, e->f64, ""));
  return LLVMBuildFPTrunc(e->b, r, type, "");
}

static LLVMValueRef floats_to_fp8(struct emitter *e, const LLVMValueRef x[2], enum dtype to) {
  if (e->target->sm < 89)
    return NULL;
  const char *format = to == DTYPE_F8E5 ? "e5m2x2" : "e4m3x2";
  if (LLVMTypeOf(x[0]) == e->f16) {
    LLVMValueRef f16x2 = LLVMBuildBitCast(e->b, pair_of(e, x[0], x[1]), e->i32, "");
    const char *text = arena_printf(e->arena, "cvt.rn.satfinite.%s.f16x2 $0, $1;", format);
    return ptx_pure_asm(e, text, "=h,r", e->i16, &f16x2, 1);
  }
  const LLVMValueRef args[] = {x[1], x[0]}; // the upper one first
  const char *text = arena_printf(e->arena, "cvt.rn.satfinite.%s.f32 $0, $1, $2;", format);
  return ptx_pure_asm(e, text, "=h,f,f", e->i16, args, 2);
}

static LLVMValueRef fp8_to_f16x2(struct emitter *e, LLVMValueRef pair, enum dtype from) {
  if (e->target->sm < 89)
    return NULL;
  const char *text =
      from == DTYPE_F8E5 ? "cvt.rn.f16x2.e5m2x2 $0, $1;" : "cvt.rn.f16x2.e4m3x2 $0, $1;";
  LLVMValueRef f16x2 = ptx_pure_asm(e, text, "=r,h", e->i32, &pair, 1);
  return LLVMBuildBitCast(e->b, f16x2, LLVMVectorType(e->f16, 2), "");
}

// ---- the device ----

static LLVMValueRef special_register(struct emitter *e, struct str name) {
  bool clock = str_is(name, "globaltimer");
  const char *text = clock ? "mov.u64 $0, %globaltimer;" : "mov.u32 $0, %smid;";
  return ptx_memory_asm(e, text, clock ? "=l" : "=r", clock ? e->i64 : e->i32, NULL, 0);
}

// Older GPUs start a kernel after the one before it has ended.
static void grid_dependency(struct emitter *e, struct str kind) {
  if (!target_has_pdl(e->target))
    return;
  ptx_memory_asm(
      e, str_is(kind, "wait") ? "griddepcontrol.wait;" : "griddepcontrol.launch_dependents;", "",
      LLVMVoidTypeInContext(e->llvm), NULL, 0);
}

// Whether the result depends on which lanes execute the text: PTX marks collective instructions by
// `.sync`, except activemask and those from before sm_70.
static bool is_collective(const char *text) {
  static const char *const words[] = {".sync", "activemask", "shfl.", "vote.", "bar."};
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (strstr(text, words[i]))
      return true;
  return false;
}

static LLVMValueRef inline_asm(struct emitter *e, const struct foreign_code *c) {
  if (c->is_pure) {
    LLVMValueRef call = ptx_pure_asm(e, c->text, c->constraints, c->result, c->args, c->arg_count);
    if (is_collective(c->text))
      ptx_set_convergent(e, call);
    return call;
  }
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, c->arg_count + 1);
  for (unsigned i = 0; i < c->arg_count; i++)
    types[i] = LLVMTypeOf(c->args[i]);
  LLVMTypeRef type = LLVMFunctionType(c->result, types, c->arg_count, false);
  LLVMValueRef fn =
      LLVMGetInlineAsm(type, c->text, strlen(c->text), c->constraints, strlen(c->constraints), true,
                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, c->args, c->arg_count, "");
  ptx_set_convergent(e, call);
  return call;
}

// ---- printing and assertions: the driver's vprintf and __assertfail ----

// The buffer of arguments is in the entry block, so that loops do not grow the stack.
static LLVMValueRef print_buffer(struct emitter *e, LLVMTypeRef type) {
  LLVMValueRef buffer = LLVMBuildAlloca(e->entry, type, "");
  LLVMSetAlignment(buffer, 8);
  return buffer;
}

static void print(struct emitter *e, const struct print_record *p) {
  struct strbuf format = {.arena = e->arena};
  LLVMValueRef values[LL_MAX_OUT + 4];
  LLVMTypeRef types[LL_MAX_OUT + 4];
  unsigned n = 0;
  for (int axis = 0; axis < 3; axis++)
    values[n++] = program_id(e, axis);
  strbuf_puts(&format, "pid (%d, %d, %d) idx (");
  for (unsigned d = 0; d < p->rank; d++) {
    strbuf_puts(&format, d ? ", %d" : "%d");
    values[n++] = p->coords[d];
  }
  strbuf_puts(&format, ") ");
  for (const char *s = p->prefix; *s; s++)
    strbuf_puts(&format, *s == '%' ? "%%" : (char[]){*s, 0});
  strbuf_puts(&format, p->is_float    ? ": %g\n"
                       : p->hex       ? ": 0x%llx\n"
                       : p->is_signed ? ": %lld\n"
                                      : ": %llu\n");
  values[n++] = p->value;
  for (unsigned i = 0; i < n; i++)
    types[i] = LLVMTypeOf(values[i]);
  LLVMTypeRef record = LLVMStructTypeInContext(e->llvm, types, n, false);
  LLVMValueRef buffer = print_buffer(e, record);
  for (unsigned i = 0; i < n; i++)
    LLVMBuildStore(e->b, values[i], LLVMBuildStructGEP2(e->b, record, buffer, i, ""));
  const char *text = arena_strdup(e->arena, strbuf_cstr(&format));
  strbuf_finish(&format);
  LLVMValueRef args[] = {text_pointer(e, text), buffer};
  call_routine(e, "vprintf", e->i32, 2, args);
}

static void assert_fail(struct emitter *e, MlirOperation op, const char *message) {
  struct source_location at = source_location_of(e->c->arena, mlirOperationGetLocation(op));
  LLVMValueRef args[] = {text_pointer(e, message), text_pointer(e, at.file ? at.file : "unknown"),
                         const_i32(e, at.line), text_pointer(e, e->info->name),
                         LLVMConstInt(e->i64, 1, false)};
  call_routine(e, "__assertfail", LLVMVoidTypeInContext(e->llvm), 5, args);
}

const struct target_hooks ptx_hooks = {
    .begin_kernel = begin_kernel,
    .end_kernel = end_kernel,
    .begin_function = begin_function,
    .program_id = program_id,
    .num_programs = num_programs,
    .shuffle = shuffle,
    .shuffle_xor = shuffle_xor,
    .reduces_warp = reduces_warp,
    .reduce_warp = reduce_warp,
    .barrier = barrier,
    .group_barrier = warps_barrier,
    .shared_base = shared_base,
    .load_matrices = ptx_load_matrices,
    .store_matrices = ptx_store_matrices,
    .mma = ptx_mma,
    .warp_group_asm = ptx_warp_group_asm,
    .async_proxy_fence = ptx_async_proxy_fence,
    .mbarrier_init = ptx_mbarrier_init,
    .mbarriers_ready = ptx_mbarriers_ready,
    .mbarrier_wait = ptx_mbarrier_wait,
    .mbarrier_arrive = ptx_mbarrier_arrive,
    .mbarrier_expect = ptx_mbarrier_expect,
    .map_copy = ptx_map_copy,
    .cluster_rank = ptx_cluster_rank,
    .cluster_size = ptx_cluster_size,
    .cluster_barrier = ptx_cluster_barrier,
    .map_store = ptx_map_store,
    .map_wait = ptx_map_wait,
    .maps_open = ptx_maps_open,
    .map_make = ptx_map_make,
    .maps_close = ptx_maps_close,
    .set_registers = ptx_set_registers,
    .ping_pong = ping_pong,
    .async_copy = ptx_async_copy,
    .async_commit = ptx_async_commit,
    .async_wait = ptx_async_wait,
    .load = ptx_load,
    .store = ptx_store,
    .atomic_width = ptx_atomic_width,
    .atomic_rmw = ptx_atomic_rmw,
    .atomic_cas = ptx_atomic_cas,
    .math = math,
    .remainder = remainder_,
    .floats_to_fp8 = floats_to_fp8,
    .fp8_to_f16x2 = fp8_to_f16x2,
    .special_register = special_register,
    .grid_dependency = grid_dependency,
    .inline_asm = inline_asm,
    .print = print,
    .assert_fail = assert_fail,
};
