// SPDX-License-Identifier: Apache-2.0
// `tilegpu` IR to LLVM IR: the emitter's state, shared by the files of this folder. A tensor value
// is an array of LLVM values, one for each register its layout gives a thread (duplicates included,
// in register order); a scalar is an array of one.
#ifndef TILE_LOWERING_LLVM_EMIT_H
#define TILE_LOWERING_LLVM_EMIT_H

#include "base/kernel_info.h"
#include "layouts/attr.h"
#include "lowering/target.h"

#include <llvm-c/Core.h>

struct emitted {
  unsigned count;
  LLVMValueRef *at;
};

struct emitter {
  struct ir_context *c;
  const struct target *target;
  struct arena *arena; // of the emission
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMValueRef function;
  MlirOperation kernel;
  uint32_t num_warps;
  bool check;            // host: guard every access
  bool uses_collectives; // set by emission when a barrier, shuffle or shared memory was needed
  uint32_t shared_bytes; // scratch needed so far
  struct map values;     // MlirValue -> struct emitted *
  LLVMValueRef thread_id, lane, warp; // i32, in the entry block
  struct emit_private *p;             // debug info, string tables, places
};

// Hooks a target implements (lowering/targets/ptx.c, host.c). All emit at e->b.
struct target_hooks {
  void (*begin_module)(struct emitter *e);
  // Creates e->function with its parameters and e->thread_id, lane, warp; ret_args gets the values
  // of the kernel's run-time parameters.
  void (*begin_kernel)(struct emitter *e, const struct kernel_info *info, LLVMValueRef *ret_args);
  void (*end_kernel)(struct emitter *e, const struct kernel_info *info);
  LLVMValueRef (*program_id)(struct emitter *e, int axis);
  LLVMValueRef (*num_programs)(struct emitter *e, int axis);
  LLVMValueRef (*shuffle)(struct emitter *e, LLVMValueRef i32_value, LLVMValueRef source_lane);
  void (*barrier)(struct emitter *e);
  LLVMValueRef (*shared_base)(struct emitter *e); // pointer to the CTA's scratch
  // `count` words of `word_bits` bits (count * word_bits <= max_vector_bits) at ptr, as integers.
  // pred: i1 or NULL. other: `count` words or NULL (zero). op: for source place and provenance.
  void (*load)(struct emitter *e, MlirOperation op, LLVMValueRef ptr, LLVMValueRef pred,
               unsigned count, unsigned word_bits, const LLVMValueRef *other, LLVMValueRef *ret);
  void (*store)(struct emitter *e, MlirOperation op, LLVMValueRef ptr, LLVMValueRef pred,
                unsigned count, unsigned word_bits, const LLVMValueRef *words);
  LLVMValueRef (*atomic_rmw)(struct emitter *e, MlirOperation op, LLVMValueRef ptr,
                             LLVMValueRef pred, LLVMValueRef value);
  // f32 math in hardware: OP_MATH_EXP2, LOG2, SQRT, RSQRT, TANH; TILE_PRECISE_SQRT,
  // TILE_PRECISE_DIVF; OP_ARITH_DIVF (fast f32 division)
  LLVMValueRef (*math)(struct emitter *e, enum op_id id, size_t n, const LLVMValueRef *operands);
  LLVMValueRef (*convert_float)(struct emitter *e, LLVMValueRef x, enum dtype from, enum dtype to,
                                bool toward_zero); // fp8, bf16, rtz
  void (*print)(struct emitter *e, MlirOperation op);
  void (*assert_true)(struct emitter *e, MlirOperation op, LLVMValueRef cond);
};

// The module for a kernel in `tilegpu` form. False with a diagnostic on what cannot be lowered.
// On success *ret_info is complete and the caller owns *ret_module (in context `llvm`).
bool emit_llvm(struct ir_context *c, MlirModule module, const struct target *target,
               uint32_t num_warps, uint32_t num_stages, bool check, LLVMContextRef llvm,
               LLVMModuleRef *ret_module, struct kernel_info *ret_info);
// Optimises the module and generates PTX or an object file into `out`. Runs LLVM's new-pass-manager
// pipeline of the target.
bool codegen(LLVMModuleRef module, const struct target *target, bool optimise, struct arena *a,
             struct diag_engine *diag, struct str *out);

#endif
