// SPDX-License-Identifier: Apache-2.0
// Builders: one function per op, result types inferred. All insert before `before` in `block` (at
// its end when `before` is null) at location `loc`.
#ifndef TILE_MLIR_DIALECTS_BUILD_H
#define TILE_MLIR_DIALECTS_BUILD_H

#include "mlir-dialects/ir.h"

struct builder {
  struct ir_context *c;
  MlirBlock block;
  MlirOperation before; // null: append
  MlirLocation loc;
};

struct builder builder_at_end(struct ir_context *c, MlirBlock block, MlirLocation loc);
struct builder builder_before(struct ir_context *c, MlirOperation op); // takes op's location
struct builder builder_after(struct ir_context *c, MlirOperation op);

// Any op of the table by id, for ops without a builder.
MlirOperation build_op(struct builder *b, enum op_id id, size_t operand_count,
                       const MlirValue *operands, size_t result_count, const MlirType *results,
                       size_t attr_count, const MlirNamedAttribute *attrs);
MlirNamedAttribute named_attr(struct ir_context *c, const char *name, MlirAttribute a);

// ---- constants: scalar when `type` is a scalar, splat when it is a tensor ----
MlirValue build_const_int(struct builder *b, MlirType type, int64_t value);
MlirValue build_const_float(struct builder *b, MlirType type, double value);

// ---- elementwise ----
// Same-typed operands and result (arith.addi, arith.maxnumf, math.exp2, math.fma, ...).
MlirValue build_unary(struct builder *b, enum op_id id, MlirValue x);
MlirValue build_binary(struct builder *b, enum op_id id, MlirValue x, MlirValue y);
MlirValue build_ternary(struct builder *b, enum op_id id, MlirValue x, MlirValue y, MlirValue z);
// Result has `element` as element type, shape and encoding of x (casts, bitcast, fp_to_fp, ...).
MlirValue build_cast(struct builder *b, enum op_id id, MlirValue x, MlirType element);
MlirValue build_fp_to_fp(struct builder *b, MlirValue x, MlirType element, const char *rounding);
// MLIR's predicate numbers: cmpi 0 eq 1 ne 2 slt 3 sle 4 sgt 5 sge 6 ult 7 ule 8 ugt 9 uge;
// cmpf 1 oeq 2 ogt 3 oge 4 olt 5 ole 6 one 7 ord 8 ueq 9 ugt 10 uge 11 ult 12 ule 13 une 14 uno.
MlirValue build_cmpi(struct builder *b, int predicate, MlirValue x, MlirValue y);
MlirValue build_cmpf(struct builder *b, int predicate, MlirValue x, MlirValue y);
MlirValue build_select(struct builder *b, MlirValue cond, MlirValue x, MlirValue y);
MlirValue build_clampf(struct builder *b, MlirValue x, MlirValue lo, MlirValue hi,
                       bool propagate_nan);

// ---- program and shape ----
MlirValue build_program_id(struct builder *b, int axis);
MlirValue build_num_programs(struct builder *b, int axis);
MlirValue build_make_range(struct builder *b, int32_t start, int32_t end);
MlirValue build_splat(struct builder *b, MlirValue scalar, unsigned rank, const int64_t *shape);
MlirValue build_expand_dims(struct builder *b, MlirValue x, unsigned axis);
MlirValue build_broadcast(struct builder *b, MlirValue x, unsigned rank, const int64_t *shape);
MlirValue build_reshape(struct builder *b, MlirValue x, unsigned rank, const int64_t *shape,
                        bool allow_reorder);
MlirValue build_trans(struct builder *b, MlirValue x, unsigned rank, const int32_t *order);

// ---- memory; null values for an absent mask or other ----
MlirValue build_addptr(struct builder *b, MlirValue ptr, MlirValue offset);
MlirValue build_load(struct builder *b, MlirValue ptr, MlirValue mask, MlirValue other,
                     const char *cache, const char *evict, bool is_volatile);
void build_store(struct builder *b, MlirValue ptr, MlirValue value, MlirValue mask,
                 const char *cache, const char *evict);
MlirValue build_atomic_rmw(struct builder *b, const char *kind, MlirValue ptr, MlirValue value,
                           MlirValue mask, const char *sem, const char *scope);

// ---- debugging and hints ----
void build_print(struct builder *b, const char *prefix, bool hex, size_t n, const MlirValue *values,
                 const int32_t *is_signed);
// The variable `name` of the source has this value, whose elements, or those that it points to, are
// of `dtype` ("u32" where signedness matters); argument: its number among the function's
// parameters, from 1 on, or 0.
void build_debug_value(struct builder *b, const char *name, const char *dtype, unsigned argument,
                       MlirValue value);
void build_assert(struct builder *b, MlirValue cond, const char *message);
void build_assume(struct builder *b, MlirValue cond);
void build_barrier(struct builder *b);

// ---- across elements; `combine` and `function` name private functions of scalars ----
enum { COLLECTIVE_MAX_VALUES = 8 };
void build_reduce(struct builder *b, size_t n, const MlirValue *values, unsigned axis,
                  const char *combine, MlirValue *ret);
void build_scan(struct builder *b, size_t n, const MlirValue *values, unsigned axis,
                const char *combine, bool reverse, MlirValue *ret);
// The results have the shape of values[0].
void build_map(struct builder *b, size_t n, const MlirValue *values, const char *function,
               unsigned pack, size_t result_count, const MlirType *elements, MlirValue *ret);
void build_inline_asm(struct builder *b, const char *text, const char *constraints, unsigned pack,
                      bool is_pure, size_t n, const MlirValue *values, size_t result_count,
                      const MlirType *results, MlirValue *ret);
MlirValue build_gather(struct builder *b, MlirValue source, MlirValue index, unsigned axis);
MlirValue build_histogram(struct builder *b, MlirValue x, MlirValue mask, int64_t bins);
MlirValue build_join(struct builder *b, MlirValue x, MlirValue y);
void build_split(struct builder *b, MlirValue x, MlirValue ret[2]);
MlirValue build_unsplat(struct builder *b, MlirValue x);

// ---- programs and devices ----
MlirValue build_atomic_cas(struct builder *b, MlirValue ptr, MlirValue compare, MlirValue value,
                           const char *sem, const char *scope);
MlirValue build_special_register(struct builder *b, const char *name, enum dtype type);
void build_grid_dependency(struct builder *b, const char *kind); // "wait", "launch_dependents"
void build_call(struct builder *b, const char *function, size_t n, const MlirValue *values,
                size_t result_count, const MlirType *results, MlirValue *ret);

// ---- matrix products ----
// acc + x y; the result has acc's type. input_precision: how f32 operands are rounded
// (verify_shared.c lists the values).
MlirValue build_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                    const char *input_precision, int32_t max_num_imprecise_acc);
// The same by warpgroups; x: a tile or a buffer in shared memory, y: a buffer. When it ends, at
// most `pending` products of the warpgroup are in flight, this one included; 0: it is complete.
MlirValue build_warp_group_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                               int32_t pending);
// Complete when it ends. Each sum of `every` elements of K begins at zero and is added to `acc`.
MlirValue build_promoted_warp_group_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                                        int32_t every);
// `acc`, when at most `pending` products are in flight. uses (at most WAIT_USES): tensors of 32-bit
// elements that are computed before the wait.
enum { WAIT_USES = 4 };
MlirValue build_warp_group_dot_wait(struct builder *b, MlirValue acc, int32_t pending, size_t n,
                                    const MlirValue *uses);

// The part of type `part` of a tile at offsets that are multiples of its dimensions; each thread
// holds it in its own registers.
MlirValue build_part(struct builder *b, MlirValue x, MlirType part, const int32_t *offsets);

// ---- shared memory ----
// A buffer for a tile whose type has a shared encoding; x (may be null) fills it.
MlirValue build_local_alloc(struct builder *b, MlirValue x, MlirType tile);
// A ring of `copies` such buffers, contiguous in memory. The result is number 0.
MlirValue build_local_ring(struct builder *b, MlirType tile, int32_t copies);
// Buffer `number` (i32, less than the ring's copies). phase: in iteration t of the innermost
// enclosing scf.for, from 0, the number is (t + phase) modulo the copies, by which insert-barriers
// distinguishes buffers; -1: not known unless `number` is a constant.
MlirValue build_local_index(struct builder *b, MlirValue ring, MlirValue number, int32_t phase);
// `tile`: the permuted type, with an encoding that keeps every element at its address.
MlirValue build_local_trans(struct builder *b, MlirValue buffer, MlirType tile,
                            const int32_t *order);
MlirValue build_local_load(struct builder *b, MlirValue buffer, MlirAttribute encoding);
// The part of type `part` at offsets that are multiples of its dimensions.
MlirValue build_local_load_part(struct builder *b, MlirValue buffer, MlirType part,
                                const int32_t *offsets);
void build_local_store(struct builder *b, MlirValue x, MlirValue buffer);
// The layout of the pointers determines which thread copies which element; mask may be null.
void build_async_copy(struct builder *b, MlirValue ptr, MlirValue buffer, MlirValue mask,
                      const char *cache, const char *evict);
void build_async_commit(struct builder *b);
// The buffers are those that are read afterwards; copies by other threads are complete after a
// barrier. Buffers of several types need several ops.
void build_async_wait(struct builder *b, size_t n, const MlirValue *buffers, int32_t pending);
// warps: groups of so many neighbouring warps meet, each for itself; 0: the CTA.
void build_gpu_barrier(struct builder *b, bool reads_only, int32_t warps);

// ---- layouts ----
MlirValue build_convert_layout(struct builder *b, MlirValue x, MlirAttribute encoding);

// ---- structure ----
MlirModule build_module(struct ir_context *c, MlirLocation loc);
// A func.func with one entry block; `kernel` adds the unit attribute tile.kernel.
MlirOperation build_func(struct ir_context *c, MlirModule m, const char *name, size_t arg_count,
                         const MlirType *args, size_t result_count, const MlirType *results,
                         bool kernel, MlirLocation loc);
MlirBlock func_entry(MlirOperation func);
void build_return(struct builder *b, size_t n, const MlirValue *values);
// Blocks are created empty, without terminators; the caller fills them and terminates them with
// build_yield or build_condition. Any ret_ pointer may be NULL.
MlirOperation build_if(struct builder *b, MlirValue cond, size_t result_count,
                       const MlirType *results, MlirBlock *ret_then, MlirBlock *ret_else);
// Body block arguments: induction variable, then one per init.
MlirOperation build_for(struct builder *b, MlirValue lower, MlirValue upper, MlirValue step,
                        size_t init_count, const MlirValue *inits, MlirBlock *ret_body);
// before: one argument per init; ends with build_condition. after: one argument per value the
// condition passes on (`pass_types`); ends with build_yield.
MlirOperation build_while(struct builder *b, size_t init_count, const MlirValue *inits,
                          size_t pass_count, const MlirType *pass_types, MlirBlock *ret_before,
                          MlirBlock *ret_after);
void build_yield(struct builder *b, size_t n, const MlirValue *values);
void build_condition(struct builder *b, MlirValue cond, size_t n, const MlirValue *values);

#endif
