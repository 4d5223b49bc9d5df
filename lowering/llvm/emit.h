// SPDX-License-Identifier: Apache-2.0
// `tilegpu` IR to LLVM IR: the emitter's state and the functions that the files of this folder and
// of lowering/targets share. A tensor value is an array of LLVM values, one for each register its
// layout gives a thread, in register order; registers that only replicate (a zero basis) share one
// value. A scalar is an array of one.
//
// Emission functions that can fail return false after a diagnostic. All build at e->b.
#ifndef TILE_LOWERING_LLVM_EMIT_H
#define TILE_LOWERING_LLVM_EMIT_H

#include "base/kernel_info.h"
#include "layouts/attr.h"
#include "lowering/llvm/debug_info.h"
#include "lowering/target.h"
#include "mlir-dialects/rings.h"

#include <llvm-c/Core.h>

struct axis_analysis;
struct combine_info;
struct mma_instruction;
struct exchange_side;

struct spilled;
struct double_buffer;

struct emitted {
  unsigned count;
  LLVMValueRef *at;
  const struct spilled *spilled; // part of it is in shared memory (spill.c); NULL: none
};

// A branch that is emitted as if its condition were false (emit_map.c).
struct skipped_branch {
  MlirOperation op;   // scf.if
  LLVMValueRef taken; // i1: the condition was true
};

struct emitter {
  struct ir_context *c;
  const struct target *target;
  struct arena *arena; // of the emission
  struct axis_analysis *axis;
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMBuilderRef entry;       // appends to the entry block: what depends on the thread alone
  LLVMValueRef function;      // being emitted: the kernel, or a function that it calls
  MlirOperation kernel, func; // the same as func.func
  struct map functions;       // func.func -> LLVMValueRef, of those called so far
  const struct kernel_info *info;
  uint32_t num_warps;
  bool check;              // cpu: guard every access
  unsigned emitted;        // operations so far
  bool uses_collectives;   // a barrier, shuffle or shared memory was needed
  uint32_t shared_bytes;   // scratch needed so far
  MlirOperation op;        // being emitted
  MlirOperation shared_op; // the one with the most scratch
  struct map values;       // MlirValue -> struct emitted *
  struct map strings;      // text -> its global
  LLVMTypeRef i1, i8, i16, i32, i64, f16, bf16, f32, f64;
  LLVMTypeRef ptr;                    // to global memory
  LLVMTypeRef generic_ptr;            // address space 0
  LLVMValueRef thread_id, lane, warp; // i32, in the entry block
  struct linear_memo *memo;           // values made by linear_of_thread
  LLVMValueRef cpu_thread;            // cpu: the struct cpu_thread
  struct cpu_locations *locations;    // cpu: rows of NAME__locations
  struct debug_info *debug;           // NULL: none
  struct skipped_branch *skipped;     // NULL: none

  // The module's tensor maps, those that the kernel makes included; and their addresses.
  uint32_t map_count;
  const struct kernel_map *map_shapes;
  LLVMValueRef *maps;
  struct {
    LLVMValueRef locks, slot;   // i64, i32
    uint32_t unpublished;       // maps that TMA does not see yet, by number
  } made;                       // ptx_made_maps.c
  struct ring_positions *rings; // emit_ring.c; by number

  // Products by wgmma read shared memory through another proxy (PTX ISA, "Proxies").
  bool has_warp_group_dots;
  bool has_map_stores;        // TMA reads buffers
  bool products_read_writes;  // some of them read what threads wrote, not only what TMA copied
  MlirOperation last_product; // the last op of the kernel's block that may contain one; or null
  bool is_behind_products;    // it was emitted

  // What allocate-shared planned; -1: it did not run.
  int64_t shared_total;
  // The last op that began to use its scratch.
  MlirOperation scratch_op;
  struct double_buffer
      *double_buffers; // of scratch with two slots: carried by loops (shared_access.c)
};

// One access of a thread to global memory, as hooks see it.
struct access {
  MlirOperation op; // for its source location, provenance and cache hints
  LLVMValueRef ptr;
  LLVMValueRef pred;         // i1; NULL: always
  unsigned count, word_bits; // words of 8, 16, 32 or 64 bits
  unsigned align;            // bytes, of the whole access
};

// An atomic operation of a thread on `width` neighbouring elements.
struct atomic {
  struct access access;
  struct str kind;     // of tile.atomic_rmw
  enum dtype dtype;    // DTYPE_NONE: pointers
  LLVMTypeRef element; // as a value
  unsigned width;
  bool unused; // the old values are unused
};

// A matrix instruction of the warp (layouts/exchange_matrix.h): 1, 2 or 4 matrices of 8 rows of 16
// bytes. `row` points to row lane % 8 of matrix lane / 8, with fewer matrices in the lower lanes.
struct matrices {
  LLVMValueRef row;
  unsigned count;
  bool transposed;
};

// One mma.sync of the warp (base/mma.h). Words are i32, those of f16 operands also <2 x half>,
// those of f64 operands f64; of C and D: f32, f64, i32, or i32 for a pair of f16.
struct mma_operands {
  const struct mma_instruction *instruction;
  const LLVMValueRef *a, *b, *c;
};

// A map that the kernel makes; dimension 0 is the outermost one.
struct made_map {
  uint32_t number;                           // in e->map_shapes
  bool joins;                                // the next map that is made publishes it
  LLVMValueRef words;                        // as of maps_open
  LLVMValueRef base;                         // i64
  LLVMValueRef sizes[KERNEL_MAP_RANK];       // i64, elements
  LLVMValueRef strides[KERNEL_MAP_RANK - 1]; // i64, bytes
};

// Inline assembly: registers in, one register or a struct of them out.
struct foreign_code {
  const char *text, *constraints;
  bool is_pure;
  unsigned arg_count;
  LLVMValueRef *args;
  LLVMTypeRef result;
};

struct print_record {
  const char *prefix;
  unsigned rank;                         // 0: a scalar
  LLVMValueRef coords[LL_MAX_OUT], flat; // indices of the element; its row-major offset
  LLVMValueRef value;                    // i64 or f64
  bool is_float, is_signed, hex;
};

// What targets implement (lowering/targets/ptx.c, cpu.c).
struct target_hooks {
  // Creates e->function with its entry block, e->thread_id, lane and warp; ret_args gets the values
  // of the kernel's run-time parameters.
  void (*begin_kernel)(struct emitter *e, LLVMValueRef *ret_args);
  void (*end_kernel)(struct emitter *e); // after the last block, before verification
  // The same for a function that the kernel calls: e->function and its entry block are there.
  void (*begin_function)(struct emitter *e);
  LLVMValueRef (*program_id)(struct emitter *e, int axis);
  LLVMValueRef (*num_programs)(struct emitter *e, int axis);
  LLVMValueRef (*shuffle)(struct emitter *e, LLVMValueRef i32_value, LLVMValueRef source_lane);
  LLVMValueRef (*shuffle_xor)(struct emitter *e, LLVMValueRef i32_value, uint32_t lane_mask);
  // Whether one instruction combines a value of this type over all lanes of a warp by the
  // operation, and that instruction: all lanes get the result. NULL: the target has none.
  bool (*reduces_warp)(struct emitter *e, enum op_id id, LLVMTypeRef type);
  LLVMValueRef (*reduce_warp)(struct emitter *e, enum op_id id, LLVMValueRef value);
  void (*barrier)(struct emitter *e);
  void (*group_barrier)(struct emitter *e, uint32_t warps); // where the target has_tma
  LLVMValueRef (*shared_base)(struct emitter *e);           // pointer to the CTA's shared memory
  // Reports a wrong access of `bytes` at `ptr` in shared memory; built with e->check only. NULL:
  // the target does not check.
  void (*shared_check)(struct emitter *e, LLVMValueRef ptr, unsigned bytes, bool is_write);
  // One word (i32) of each matrix; all lanes of the warp take part.
  void (*load_matrices)(struct emitter *e, const struct matrices *m, LLVMValueRef *ret);
  void (*store_matrices)(struct emitter *e, const struct matrices *m, const LLVMValueRef *words);
  // D = A B + C. All lanes of the warp take part.
  void (*mma)(struct emitter *e, const struct mma_operands *m, LLVMValueRef *ret);
  // A sequence of wgmma, convergent, with a memory clobber; where the target has_wgmma.
  LLVMValueRef (*warp_group_asm)(struct emitter *e, const char *text, const char *constraints,
                                 LLVMTypeRef result, LLVMValueRef *args, unsigned n);
  // Makes what the thread wrote to shared memory visible to wgmma; where the target has_wgmma.
  void (*async_proxy_fence)(struct emitter *e);
  // Copies an access of 4, 8 or 16 bytes to `to` in shared memory without waiting; zeros where the
  // predicate is false.
  void (*async_copy)(struct emitter *e, const struct access *a, LLVMValueRef to);
  void (*async_commit)(struct emitter *e);
  void (*async_wait)(struct emitter *e, unsigned pending); // groups that may be in flight
  // Rings, where the target has_tma. Addresses in shared memory are i32.
  void (*mbarrier_init)(struct emitter *e, LLVMValueRef at, LLVMValueRef arrivals); // by one thread
  void (*mbarriers_ready)(struct emitter *e); // all threads of the CTA see them
  void (*mbarrier_wait)(struct emitter *e, LLVMValueRef at, LLVMValueRef parity);
  // By the warp, of the lanes whose predicate is true; cta: at the mbarrier of that CTA of the
  // cluster, NULL: at its own.
  void (*mbarrier_arrive)(struct emitter *e, LLVMValueRef at, LLVMValueRef pred, LLVMValueRef cta);
  void (*mbarrier_expect)(struct emitter *e, LLVMValueRef at, unsigned bytes);
  // A box of the map at `coords` (outermost dimension first) to `to`, counted by an mbarrier; ctas:
  // to the first so many CTAs of the cluster, 0: to its own.
  void (*map_copy)(struct emitter *e, LLVMValueRef map, LLVMValueRef to, LLVMValueRef mbarrier,
                   unsigned rank, const LLVMValueRef *coords, unsigned ctas);
  // The reverse, from `from`, as a group of its own of the executing thread; and the wait until all
  // groups of the thread have been read.
  // With a reduction (rings.h) what is there is combined with it.
  void (*map_store)(struct emitter *e, LLVMValueRef map, LLVMValueRef from, unsigned rank,
                    const LLVMValueRef *coords, struct str reduction);
  void (*map_wait)(struct emitter *e);
  // The number of this CTA in its cluster, and of the CTAs of that; all their threads meet.
  LLVMValueRef (*cluster_rank)(struct emitter *e);
  LLVMValueRef (*cluster_size)(struct emitter *e);
  void (*cluster_barrier)(struct emitter *e);
  // Maps that the kernel makes (mlir-dialects/rings.h), by one thread. `words`: the address in
  // shared memory of the first of them.
  void (*maps_open)(struct emitter *e, LLVMValueRef words);
  void (*map_make)(struct emitter *e, const struct made_map *m);
  void (*maps_close)(struct emitter *e);
  void (*set_registers)(struct emitter *e, unsigned count, bool grows);
  void (*ping_pong)(struct emitter *e, enum ping_pong step); // of warpgroups (tilegpu.ping_pong)
  // Words as integers. other: `count` words or NULL (zero) for a false predicate.
  void (*load)(struct emitter *e, const struct access *a, const LLVMValueRef *other,
               LLVMValueRef *ret);
  void (*store)(struct emitter *e, const struct access *a, const LLVMValueRef *words);
  // How many of a->width neighbours one instruction takes: a power of two; 0 where there is none.
  unsigned (*atomic_width)(struct emitter *e, const struct atomic *a);
  // ret: the old values (zero where the predicate is false), undefined where unused.
  void (*atomic_rmw)(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                     LLVMValueRef *ret);
  // Compares and exchanges bits: integers of 16, 32 or 64 bits.
  LLVMValueRef (*atomic_cas)(struct emitter *e, const struct access *a, LLVMValueRef compare,
                             LLVMValueRef value);
  // f32: OP_MATH_EXP2, LOG2, SQRT, RSQRT, TANH, OP_TILE_PRECISE_SQRT, PRECISE_DIVF and
  // OP_ARITH_DIVF; f64: SQRT and RSQRT.
  LLVMValueRef (*math)(struct emitter *e, enum op_id id, LLVMTypeRef type, const LLVMValueRef *x);
  LLVMValueRef (*remainder)(struct emitter *e, LLVMTypeRef type, LLVMValueRef x, LLVMValueRef y);
  // By instruction, NULL where there is none: two f32 or f16 to a 16-bit pair of `to`, rounded to
  // nearest even, saturating; a pair of f8e4nv or f8e5 (i16) to <2 x half>. The first is the lower
  // one.
  LLVMValueRef (*floats_to_fp8)(struct emitter *e, const LLVMValueRef x[2], enum dtype to);
  LLVMValueRef (*fp8_to_f16x2)(struct emitter *e, LLVMValueRef pair, enum dtype from);
  LLVMValueRef (*special_register)(struct emitter *e, struct str name);
  void (*grid_dependency)(struct emitter *e, struct str kind);
  // NULL: the target has no inline assembly.
  LLVMValueRef (*inline_asm)(struct emitter *e, const struct foreign_code *code);
  // One record of device_print.
  void (*print)(struct emitter *e, const struct print_record *p);
  void (*assert_fail)(struct emitter *e, MlirOperation op, const char *message);
};

// ---- values.c: types, constants, calls, branches ----
LLVMTypeRef type_of_dtype(struct emitter *e, enum dtype t); // fp8: i8
LLVMTypeRef type_of_mlir(struct emitter *e, MlirType scalar);
// NULL for scalars.
const struct linear_layout *layout_of(struct emitter *e, MlirType t);
unsigned register_count(const struct linear_layout *l); // 1 for NULL
// Bits of a register index whose basis is zero.
uint32_t register_replicas(const struct linear_layout *l);
LLVMValueRef const_i32(struct emitter *e, uint32_t v);
LLVMValueRef const_int(LLVMTypeRef type, uint64_t v);
// Call of an intrinsic; `overloads` are the types in its name, if any.
LLVMValueRef intrinsic(struct emitter *e, const char *name, unsigned overload_count,
                       LLVMTypeRef *overloads, unsigned n, LLVMValueRef *args);
// A declared function of the run-time environment, called.
LLVMValueRef call_routine(struct emitter *e, const char *name, LLVMTypeRef result, unsigned n,
                          LLVMValueRef *args);
// A NUL-terminated constant text, as a generic pointer.
LLVMValueRef text_pointer(struct emitter *e, const char *text);
// The word as one integer of its own width, and back.
LLVMValueRef to_bits(struct emitter *e, LLVMValueRef x);
LLVMValueRef from_bits(struct emitter *e, LLVMValueRef bits, LLVMTypeRef type);
bool emit_unsupported(struct emitter *e, MlirOperation op, const char *fmt, ...) PRINTF(3, 4);
// Builds `if (cond)`: what follows is built in the branch until branch_end.
struct branch {
  LLVMBasicBlockRef from, after;
};
struct branch branch_begin(struct emitter *e, LLVMValueRef cond);
void branch_end(struct emitter *e, const struct branch *br);

// ---- value_table.c: the values of each MLIR value, one a register ----
const struct emitted *value_of(struct emitter *e, MlirValue v);
// The registers that are no replicas, in order; the number of them.
unsigned distinct_registers(struct emitter *e, const struct linear_layout *l, unsigned **ret);
// Gives replicas the values of what they repeat.
void fill_replicas(const struct linear_layout *l, struct emitted *x);
// Room for the registers of `v`, bound to it; the caller fills all.
struct emitted *value_bind(struct emitter *e, MlirValue v);
static inline const struct emitted *operand_of(struct emitter *e, MlirOperation op, unsigned i) {
  return value_of(e, mlirOperationGetOperand(op, (intptr_t)i));
}
static inline struct emitted *result_of(struct emitter *e, MlirOperation op, unsigned i) {
  return value_bind(e, mlirOperationGetResult(op, (intptr_t)i));
}
static inline MlirType operand_type(MlirOperation op, unsigned i) {
  return mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i));
}
static inline MlirType result_type(MlirOperation op, unsigned i) {
  return mlirValueGetType(mlirOperationGetResult(op, (intptr_t)i));
}

// ---- indices.c: layouts as arithmetic on the thread's number ----
enum { THREAD_BITS = 10, LANE_BITS = 5 };
// The xor of image[b] over the set bits b of the thread's number (lane below, warp above).
LLVMValueRef linear_of_thread(struct emitter *e, const uint32_t image[THREAD_BITS]);
// i1: the parity of the thread's number under the mask.
LLVMValueRef thread_parity(struct emitter *e, uint32_t mask);
// Coordinate `dim` of each register's element, or (dim < 0) its row-major offset in the tensor.
void layout_indices(struct emitter *e, const struct linear_layout *l, int dim, LLVMValueRef *ret);
// Offsets (dimension 0), xor `start`, in the form for addresses in loops: for each register a value
// of the entry block, and a constant to be added to it.
void layout_offsets(struct emitter *e, const struct linear_layout *l, uint32_t start,
                    LLVMValueRef *ret_thread, uint32_t *ret_rest);
// i1: this thread is the first of those that hold the same elements; NULL if each is the only
// holder. NULL layout: a scalar, held by all.
LLVMValueRef owner_predicate(struct emitter *e, const struct linear_layout *l);
// Registers among several of one thread that hold the same element: bits that must be 0.
uint32_t owner_registers(const struct linear_layout *l);

// ---- packing.c: elements as words of memory ----
struct packing {
  LLVMTypeRef element; // as a value; i1 is a byte in memory, a pointer 64 bits
  unsigned bits;       // of an element in memory
  unsigned width;      // elements an access
  unsigned word_bits, word_count, per_word;
};
struct packing packing_of(struct emitter *e, LLVMTypeRef element, unsigned width);
// elements[width] to ret[word_count], and back.
void pack_elements(struct emitter *e, const struct packing *p, const LLVMValueRef *elements,
                   LLVMValueRef *ret);
void unpack_elements(struct emitter *e, const struct packing *p, const LLVMValueRef *words,
                     LLVMValueRef *ret);
// Several words as one vector, one as itself, and back.
LLVMTypeRef words_type(struct emitter *e, unsigned count, unsigned word_bits);
LLVMValueRef join_words(struct emitter *e, unsigned count, const LLVMValueRef *words);
void split_words(struct emitter *e, unsigned count, LLVMValueRef joined, LLVMValueRef *ret);

// ---- one file an op family ----
bool emit_block(struct emitter *e, MlirBlock block); // emit.c; without the terminator
bool emit_elementwise(struct emitter *e, MlirOperation op);
LLVMValueRef emit_math(struct emitter *e, MlirOperation op, const LLVMValueRef *x);
LLVMValueRef convert_float(struct emitter *e, LLVMValueRef x, enum dtype from, enum dtype to,
                           bool toward_zero);
// Two at a time, rounded to nearest; for conversions that pairing_of names.
void convert_float_pair(struct emitter *e, const LLVMValueRef x[2], enum dtype from, enum dtype to,
                        LLVMValueRef ret[2]);
// bytes.c: four elements of an op on one or two operands of 8-bit integers. False: it has no form
// for four.
bool compute_bytes(struct emitter *e, MlirOperation op, const LLVMValueRef x[4],
                   const LLVMValueRef y[4], LLVMValueRef ret[4]);
// fusing.c: whether this product or sum may be part of an fma, as CUDA compilers make them by
// default. Not in mathematical functions that rely on separate rounding, and no sum of a product
// that was moved to other elements: the result would depend on layouts.
bool may_fuse(struct emitter *e, MlirOperation op);
// pairs.c: whether two registers go together.
enum pairing { PAIRS_NEVER, PAIRS_COMPUTE, PAIRS_CONVERT };
enum pairing pairing_of(struct emitter *e, MlirOperation op);
LLVMValueRef pair_of(struct emitter *e, LLVMValueRef x, LLVMValueRef y); // as a vector
bool emit_constant(struct emitter *e, MlirOperation op);
bool emit_program(struct emitter *e, MlirOperation op);
bool emit_shape(struct emitter *e, MlirOperation op);
bool emit_load(struct emitter *e, MlirOperation op);
bool emit_store(struct emitter *e, MlirOperation op);
bool emit_atomic_rmw(struct emitter *e, MlirOperation op);
bool emit_atomic_cas(struct emitter *e, MlirOperation op);
bool emit_func_call(struct emitter *e, MlirOperation op);
bool emit_map(struct emitter *e, MlirOperation op);
bool emit_inline_asm(struct emitter *e, MlirOperation op);
bool emit_gather(struct emitter *e, MlirOperation op);
bool emit_histogram(struct emitter *e, MlirOperation op);
bool emit_part(struct emitter *e, MlirOperation op);
bool emit_join(struct emitter *e, MlirOperation op);
bool emit_split(struct emitter *e, MlirOperation op);
bool emit_unsplat(struct emitter *e, MlirOperation op);
bool emit_special(struct emitter *e, MlirOperation op);
bool emit_convert_layout(struct emitter *e, MlirOperation op);
bool emit_dot(struct emitter *e, MlirOperation op);
bool emit_warp_group_dot(struct emitter *e, MlirOperation op);
bool emit_warp_group_dot_wait(struct emitter *e, MlirOperation op);
bool emit_reduce(struct emitter *e, MlirOperation op);
bool emit_scan(struct emitter *e, MlirOperation op);
bool emit_local_alloc(struct emitter *e, MlirOperation op);
bool emit_local_index(struct emitter *e, MlirOperation op);
bool emit_ring(struct emitter *e, MlirOperation op);      // emit_ring.c
bool emit_made_maps(struct emitter *e, MlirOperation op); // emit_made_maps.c
bool emit_local_trans(struct emitter *e, MlirOperation op);
bool emit_local_load(struct emitter *e, MlirOperation op);
bool emit_local_store(struct emitter *e, MlirOperation op);
bool emit_async_copy(struct emitter *e, MlirOperation op);
bool emit_async_commit(struct emitter *e, MlirOperation op);
bool emit_async_wait(struct emitter *e, MlirOperation op);
bool emit_print(struct emitter *e, MlirOperation op);
bool emit_assert(struct emitter *e, MlirOperation op);
bool emit_debug_value(struct emitter *e, MlirOperation op);
bool emit_scf_if(struct emitter *e, MlirOperation op);
bool emit_scf_for(struct emitter *e, MlirOperation op);
bool emit_scf_while(struct emitter *e, MlirOperation op);

// ---- combine.c: the function of a reduction or scan (lowering/analysis/collective.h) ----
// lhs, rhs, ret: one scalar a value.
bool emit_combine(struct emitter *e, const struct combine_info *f, const LLVMValueRef *lhs,
                  const LLVMValueRef *rhs, LLVMValueRef *ret);
// The own side comes second where `later` (i1) holds.
bool emit_combine_in_order(struct emitter *e, const struct combine_info *f, LLVMValueRef later,
                           const LLVMValueRef *own, const LLVMValueRef *other, LLVMValueRef *ret);

// ---- emit_convert.c: values from other lanes, and other layouts ----
// A value of any type, of another lane.
LLVMValueRef shuffle_value(struct emitter *e, LLVMValueRef x, LLVMValueRef lane);
// `count` values of one type become those of lane (own ^ mask); narrow ones travel together.
void shuffle_values_xor(struct emitter *e, uint32_t count, LLVMValueRef *values, uint32_t mask);
// values: registers in layout `from`; ret: in layout `to`.
bool convert_values(struct emitter *e, MlirOperation op, const struct linear_layout *from,
                    const struct linear_layout *to, const LLVMValueRef *values, LLVMValueRef *ret);

// ---- emit_call.c ----
// The body of a function of scalars, in place: args in, ret gets what it returns. May build blocks.
bool emit_inlined(struct emitter *e, MlirOperation func, const LLVMValueRef *args,
                  LLVMValueRef *ret);

// ---- emit_memory.c: accesses ----
struct access access_of(MlirOperation op, const struct packing *p, LLVMValueRef ptr,
                        LLVMValueRef pred);
// NULL when the op has no operand `i`.
const struct emitted *optional_operand(struct emitter *e, MlirOperation op, unsigned i);
// The conjunction of two predicates; NULL: always true.
LLVMValueRef both(struct emitter *e, LLVMValueRef a, LLVMValueRef b);
// The predicate of register r; true masks need none.
LLVMValueRef mask_at(const struct emitted *mask, unsigned r);

// ---- shared_access.c: the op's scratch in shared memory (lowering/analysis/scratch.h) ----
// Byte `offset` of the CTA's shared memory.
LLVMValueRef shared_pointer(struct emitter *e, uint32_t offset);
// Pointer to the scratch of `op`. The op writes, calls cta_barrier, reads, calls scratch_end. An op
// that does so several times needs a barrier in between.
LLVMValueRef scratch_begin(struct emitter *e, MlirOperation op, uint32_t bytes);
void cta_barrier(struct emitter *e);
void cta_barrier_behind_reads(struct emitter *e); // products need see no write before it
// Of each group of so many neighbouring warps. reads_only: TMA need see no write before it.
void group_barrier(struct emitter *e, uint32_t warps, bool reads_only);
// Around the body of a loop, at its head (entered from `before`) and its end: scratch that has two
// slots alternates. double_buffers_end takes the result of double_buffers_begin.
struct double_buffer *double_buffers_begin(struct emitter *e, MlirOperation loop,
                                           LLVMBasicBlockRef before);
void double_buffers_end(struct emitter *e, struct double_buffer *outer);
// The op's threads may still read; the next user of the memory comes after a barrier.
void scratch_end(struct emitter *e);
// Addresses of registers in a buffer that begins `at` bytes (i32) into shared memory. What depends
// on the thread is computed in the entry block, so that a loop over the buffers of a ring adds
// `at`.
struct buffer_addresses {
  LLVMTypeRef element;
  LLVMValueRef at, *thread; // of each register: pointers as if `at` were 0
  uint32_t *rest;           // elements after them
};
// offsets: in elements of element_bits, one dimension; xor `start`.
struct buffer_addresses buffer_addresses_of(struct emitter *e, const struct linear_layout *offsets,
                                            uint32_t start, unsigned element_bits, LLVMValueRef at);
LLVMValueRef buffer_address(struct emitter *e, const struct buffer_addresses *p, uint32_t r);
// One access of `bytes` by this thread, aligned to its size; checked where the target can.
LLVMValueRef shared_load(struct emitter *e, LLVMTypeRef type, LLVMValueRef ptr, unsigned bytes);
void shared_store(struct emitter *e, LLVMValueRef value, LLVMValueRef ptr, unsigned bytes);

// ---- spill.c: registers spilled to shared memory (lowering/analysis/scratch.h) ----
// After the emission of an op: stores what is spilled.
void spill_result(struct emitter *e, MlirOperation op);
// The value with its spilled part loaded.
const struct emitted *reload_spilled(struct emitter *e, const struct emitted *x);
// Metadata of accesses to spilled rows: the row.
unsigned spill_kind(LLVMContextRef llvm);

// ---- schedule.c ----
// Reorders what functions that spill, and large blocks, compute, to lower register pressure.
void schedule_module(LLVMModuleRef module, const struct target *target, struct arena *a);

// ---- exchange.c: through the CTA's scratch ----
// Gives every thread the elements that owners (owner: i1 or NULL) hold in registers of `from`, in
// the layout `to`. values and ret may be the same. NULL layouts: a scalar.
bool exchange_through_shared(struct emitter *e, LLVMTypeRef type, const struct linear_layout *from,
                             const struct linear_layout *to, LLVMValueRef owner,
                             const LLVMValueRef *values, LLVMValueRef *ret);

// One side of an exchange (layouts/exchange_plan.h): accesses of this thread, at `base`.
void exchange_store(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                    LLVMValueRef base, const LLVMValueRef *values);
void exchange_load(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                   LLVMValueRef base, LLVMValueRef *ret);
// The same in a buffer that begins `at` bytes (i32) into shared memory.
void buffer_store(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                  LLVMValueRef at, const LLVMValueRef *values);
void buffer_load(struct emitter *e, const struct exchange_side *plan, LLVMTypeRef type,
                 LLVMValueRef at, LLVMValueRef *ret);

// ---- emit.c ----
// A name of the source as a symbol.
const char *symbol_of(struct arena *a, const char *name);
// The kernel's facts, except those that the emission finds (shared memory, collectives). They live
// on the arena of `c`.
bool describe_kernel(struct ir_context *c, MlirModule module, const struct target *target,
                     uint32_t num_warps, uint32_t num_stages, struct kernel_info *ret);
// The module for a kernel in `tilegpu` form, in context `llvm`; NULL after diagnostics on what
// cannot be lowered. ret_info is complete then, on the arena of `c`.
LLVMModuleRef emit_llvm(struct ir_context *c, MlirModule module, const struct target *target,
                        uint32_t num_warps, uint32_t num_stages, bool check, LLVMContextRef llvm,
                        struct kernel_info *ret_info);

// ---- cpu_bf16.c ----
// Replaces arithmetic on bf16 by f32 and integers.
void cpu_rounds_bf16(LLVMModuleRef module);

// ---- emit_dot.c ----
#define PRODUCT_FLAG "tile.product" // module flag: it has matrix products

// ---- loop_steps.c ----
#define WGMMA_FLAG "tile.wgmma" // module flag: its kernel has products by wgmma
// The PTX with steps of addresses as shifts, on `a`.
struct str shift_loop_steps(struct str ptx, struct arena *a);

// ---- codegen.c ----
// Module flag: a version of PTX above the target's own, which the kernel needs.
#define PTX_VERSION_FLAG "tile.ptx_version"
// Module flag: loops over vectors, for a processor (lowering/processor).
#define STRIPS_FLAG "tile.strips"
unsigned instruction_count(LLVMModuleRef module); // of all functions
// Optimises the module and generates PTX, or for processors an object file or assembly, on `a`.
bool codegen(LLVMModuleRef module, const struct target *target, bool is_assembly, struct arena *a,
             struct diag_engine *diag, struct str *ret);
// The module as text, on `a`.
struct str llvm_text(LLVMModuleRef module, struct arena *a);

#endif
