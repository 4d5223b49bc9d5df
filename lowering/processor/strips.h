// SPDX-License-Identifier: Apache-2.0
// The state of the emission of a kernel for a processor, and the functions that the files of this
// folder share.
//
// A tile is a loop over *strips*: vectors of up to STRIP neighbours along one dimension, the lanes.
// Most ops are deferred: nothing is emitted for them until an op that needs every element (a
// *sink*: a store, a reduction, a product) runs the loop, whose body evaluates them at one
// position. Sinks with one shape share a loop (groups.c). Values that a later loop needs again, and
// that are expensive, are kept in a buffer of the program's scratch (deferred_uses.c).
#ifndef TILE_LOWERING_PROCESSOR_STRIPS_H
#define TILE_LOWERING_PROCESSOR_STRIPS_H

#include "base/vec.h"
#include "lowering/llvm/debug_info.h"
#include "lowering/processor/processor.h"

enum {
  STRIP = 16,      // lanes of a vector, on every processor, so that sums do not depend on it
  MAX_RANK = 8,    // dimensions of a tile
  MAX_LEVELS = 12, // loops around a position, and what is outside of them
  MAX_VALUES = 8   // of a reduction
};

// A tile in the scratch, in elements as memory has them (storage_type).
struct buffer {
  LLVMValueRef at;          // pointer
  LLVMTypeRef type;         // of an element in memory
  bool widened;             // f32 or i32 in memory, though the value's type is narrower
  bool is_shared;           // by values of several shapes
  int64_t stride[MAX_RANK]; // elements
};

enum value_kind { VALUE_SCALAR, VALUE_BUFFER, VALUE_ADVANCED, VALUE_SAME };

// What is known about a value of the kernel. Values of deferred ops have none.
struct value {
  enum value_kind kind;
  LLVMValueRef scalar;   // VALUE_SCALAR: of a scalar, or the one element of a tile.
                         // VALUE_ADVANCED: what was added to each element of `from`
  struct buffer *buffer; // VALUE_BUFFER
  MlirValue from;        // VALUE_ADVANCED, VALUE_SAME
};

// Where a tile is evaluated: `lanes` neighbours along dimension `lane` from `at` on.
struct position {
  unsigned rank;
  LLVMValueRef at[MAX_RANK]; // i64
  int lane;                  // -1: one element
  unsigned lanes;            // 1 where lane is -1
};

// A loop around the position that is being emitted, or, level 0, what is in front of all of them.
struct level {
  LLVMValueRef end;        // the branch to the deeper levels; NULL: the innermost
  LLVMBasicBlockRef inner; // the innermost: where it goes on, while the builder is elsewhere
  struct map memo;         // of evaluate()
};

struct loop {
  LLVMBasicBlockRef before, body;
  LLVMValueRef index; // i64
  int64_t trips, step;
  unsigned phi_count;
  LLVMValueRef phis[32], next[32];
};

// A store, reduction or copy that waits for its loop.
enum sink_kind { SINK_STORE, SINK_REDUCE, SINK_COPY };
struct sink {
  enum sink_kind kind;
  MlirOperation op;  // STORE, REDUCE
  MlirValue value;   // COPY
  struct buffer *to; // COPY
  unsigned rank;     // of the loop
  int64_t shape[MAX_RANK];
  int axis; // REDUCE; else -1
  int lane; // the dimension that has to be in lanes, plus 1; 0: any
};

struct strip_emitter {
  struct ir_context *c;
  struct arena *arena;
  struct axis_analysis *axis;
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMValueRef function, thread, scratch;
  const struct kernel_info *info;
  LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr;
  struct map values; // MlirValue -> struct value *
  uint64_t scratch_bytes, scratch_top;
  struct refusal refusal; // why: NULL while all is well

  VEC(MlirValue) bound; // those of `values`, in order

  // The loops around the position that is being emitted.
  unsigned level_count, at_level;
  struct level levels[MAX_LEVELS];
  struct map level_of; // index (LLVMValueRef) -> level + 1

  VEC(struct sink *) open; // the sinks that share the next loop
  VEC(MlirValue) loads;    // deferred loads so far, of this block and those around it
  struct map wanted;       // MlirValue -> the struct buffer * that it should be computed to
  struct vector_registers registers;
  unsigned products;        // functions made for them
  struct map done;          // MlirOperation -> itself: sinks that were emitted
  struct debug_info *debug; // NULL: none
};

// ---- strip_types.c ----
// Notes the first reason; the emission goes on with undefined values.
void refuse(struct strip_emitter *e, MlirOperation op, const char *fmt, ...) PRINTF(3, 4);
static inline MlirValue operand(MlirOperation op, unsigned i) {
  return mlirOperationGetOperand(op, (intptr_t)i);
}
static inline MlirValue result(MlirOperation op, unsigned i) {
  return mlirOperationGetResult(op, (intptr_t)i);
}
bool is_tile(MlirValue v);
unsigned rank_of(MlirValue v); // 0 for scalars
// In registers: bf16 and 8-bit floats are integers. In memory i1 is i8 and a pointer i64.
LLVMTypeRef register_type(struct strip_emitter *e, MlirType element);
LLVMTypeRef storage_type(struct strip_emitter *e, MlirType element);
unsigned storage_bytes(struct strip_emitter *e, LLVMTypeRef type);
enum dtype dtype_of(MlirValue v);                        // of the element
LLVMTypeRef vector_of(LLVMTypeRef type, unsigned lanes); // the type itself for one lane
// The type of v with another element, as many lanes.
LLVMTypeRef like(LLVMValueRef v, LLVMTypeRef element);
LLVMTypeRef scalar_type(LLVMValueRef v);
unsigned lanes_of(LLVMValueRef v);
LLVMValueRef int_constant(LLVMTypeRef type, uint64_t value); // also of vectors
LLVMValueRef float_constant(LLVMTypeRef type, double value);
LLVMValueRef index_constant(struct strip_emitter *e, int64_t value); // i64
void function_attribute(struct strip_emitter *e, LLVMValueRef function, const char *name);
LLVMValueRef repeat(struct strip_emitter *e, LLVMValueRef scalar, unsigned lanes);
LLVMValueRef counting(struct strip_emitter *e, LLVMTypeRef type, unsigned lanes); // 0, 1, 2...
LLVMValueRef call_intrinsic(struct strip_emitter *e, const char *name, unsigned overloads,
                            LLVMTypeRef *types, unsigned n, LLVMValueRef *args);
// An intrinsic of operands and result of one type, which overloads it.
LLVMValueRef plain_intrinsic(struct strip_emitter *e, const char *name, unsigned n,
                             const LLVMValueRef *args);
LLVMValueRef bits_of(struct strip_emitter *e, LLVMValueRef v);
LLVMValueRef of_bits(struct strip_emitter *e, LLVMValueRef bits, LLVMTypeRef element);

// ---- strip_loops.c ----
void levels_begin(struct strip_emitter *e); // a new nest, at the builder's position
void levels_end(struct strip_emitter *e);
struct loop loop_begin(struct strip_emitter *e, int64_t from, int64_t count, int64_t step);
// A value that the loop carries; the first instructions of the body.
LLVMValueRef loop_carry(struct strip_emitter *e, struct loop *l, LLVMValueRef first);
void loop_next(struct loop *l, unsigned i, LLVMValueRef next);
void loop_end(struct strip_emitter *e, struct loop *l); // phis keep their last values in next[]
LLVMValueRef index_plus(struct strip_emitter *e, LLVMValueRef index, int64_t n);
LLVMValueRef index_difference(struct strip_emitter *e, LLVMValueRef from, LLVMValueRef index);
// The level of the innermost loop whose index the position contains.
unsigned level_of_position(struct strip_emitter *e, const struct position *p);
unsigned go_to_level(struct strip_emitter *e, unsigned level); // returns the one before
// The value at the position, if it was evaluated at this level already.
LLVMValueRef memo_get(struct strip_emitter *e, unsigned level, MlirValue v,
                      const struct position *p);
void memo_put(struct strip_emitter *e, unsigned level, MlirValue v, const struct position *p,
              LLVMValueRef x);

// ---- evaluate.c ----
// The elements of v at the position: a vector, or a scalar for one lane.
LLVMValueRef evaluate(struct strip_emitter *e, MlirValue v, const struct position *p);
LLVMValueRef scalar_of(struct strip_emitter *e, MlirValue v);    // of a scalar
struct value *known_value(struct strip_emitter *e, MlirValue v); // NULL: deferred
void bind_scalar(struct strip_emitter *e, MlirValue v, LLVMValueRef x);
void bind_buffer(struct strip_emitter *e, MlirValue v, struct buffer *b);
// Forgets what is known since e->bound had so many values: deferred ones are deferred again.
void unbind_since(struct strip_emitter *e, size_t count);
void bind_same(struct strip_emitter *e, MlirValue v, MlirValue from);
void bind_advanced(struct strip_emitter *e, MlirValue v, MlirValue from, LLVMValueRef by);
// The op that computes a deferred value, through VALUE_SAME; null if it is not deferred.
MlirOperation deferred_op(struct strip_emitter *e, MlirValue v);
bool is_deferred(struct strip_emitter *e, MlirOperation op); // its kind

// ---- buffers.c ----
struct buffer *buffer_new(struct strip_emitter *e, MlirType tile); // row-major
// For the result of an op: where it is wanted, or a new one.
struct buffer *buffer_for(struct strip_emitter *e, MlirValue v);
struct buffer *buffer_of_type(struct strip_emitter *e, LLVMTypeRef type, unsigned rank,
                              const int64_t *shape);
LLVMValueRef scratch_address(struct strip_emitter *e, const struct buffer *b,
                             const struct position *p);
LLVMValueRef scratch_load(struct strip_emitter *e, const struct buffer *b,
                          const struct position *p);
void scratch_store(struct strip_emitter *e, const struct buffer *b, const struct position *p,
                   LLVMValueRef v);
// A value in registers, as memory has it, and back.
LLVMValueRef to_storage(struct strip_emitter *e, LLVMValueRef v);
LLVMValueRef from_storage(struct strip_emitter *e, LLVMValueRef v, LLVMTypeRef register_element);

// ---- arithmetic.c, division.c, floats.c, functions.c ----
// An elementwise op of scalars or vectors.
LLVMValueRef compute(struct strip_emitter *e, MlirOperation op, const LLVMValueRef *x);
LLVMValueRef divide_integers(struct strip_emitter *e, enum op_id id, LLVMValueRef x,
                             LLVMValueRef y);
LLVMValueRef float_to_f32(struct strip_emitter *e, LLVMValueRef v, enum dtype from);
LLVMValueRef float_from_f32(struct strip_emitter *e, LLVMValueRef v, enum dtype to);
LLVMValueRef float_convert(struct strip_emitter *e, MlirOperation op, LLVMValueRef v,
                           enum dtype from, enum dtype to);
LLVMValueRef exp2_of(struct strip_emitter *e, LLVMValueRef x);
LLVMValueRef log2_of(struct strip_emitter *e, LLVMValueRef x);
LLVMValueRef tanh_of(struct strip_emitter *e, LLVMValueRef x);

// ---- apply.c ----
// The function of a reduction, scan or map, of scalars or vectors; branches become selects.
bool apply_function(struct strip_emitter *e, MlirOperation function, const LLVMValueRef *args,
                    LLVMValueRef *ret);

// ---- lane_steps.c ----
// What an element of v, an integer or a pointer (in elements), has more than the one before it
// along dimension `lane`. False: that is unknown or differs. Arithmetic of 32 and 64 bits does not
// overflow, as in axis_info.h.
bool lane_step(struct strip_emitter *e, MlirValue v, int lane, int64_t *ret);

// ---- strip_access.c ----
LLVMValueRef load_at(struct strip_emitter *e, MlirOperation op, const struct position *p);
void store_at(struct strip_emitter *e, MlirOperation op, const struct position *p,
              LLVMValueRef value);
LLVMValueRef gather_elements(struct strip_emitter *e, LLVMTypeRef storage, LLVMValueRef pointers,
                             LLVMValueRef mask, LLVMValueRef otherwise);
void scatter_elements(struct strip_emitter *e, LLVMValueRef pointers, LLVMValueRef mask,
                      LLVMValueRef stored);
LLVMValueRef nowhere(struct strip_emitter *e); // 64 bytes of scratch that nobody reads
MlirValue load_mask(MlirOperation op);         // null: none
MlirValue load_other(MlirOperation op);
MlirValue store_mask(MlirOperation op);

// ---- deferred_uses.c ----
struct deferred {
  VEC(MlirValue) at;
};
// The deferred values that the roots are computed from, themselves included, users first.
struct deferred deferred_of(struct strip_emitter *e, const MlirValue *roots, size_t count);
// Whether an op that is not yet emitted needs the value, other than through a value of `kept`
// (MlirValue -> anything). `seen` remembers answers while what is emitted stays the same, and
// values are kept users first; NULL: nothing.
bool is_needed_later(struct strip_emitter *e, MlirValue v, const struct map *kept,
                     struct map *seen);
// Roughly the cycles of an evaluation of a vector, without addresses.
unsigned cost_of(struct strip_emitter *e, MlirValue v);
bool reads_memory(struct strip_emitter *e, MlirValue v);
bool depends_on_open(struct strip_emitter *e, MlirValue v);

// ---- groups.c ----
void add_store(struct strip_emitter *e, MlirOperation op);
void add_reduce(struct strip_emitter *e, MlirOperation op);
void flush(struct strip_emitter *e); // emits the open sinks
bool has_open_store(struct strip_emitter *e);
// The value in a buffer, which is its own from then on. Flushes where that needs a loop.
struct buffer *in_buffer(struct strip_emitter *e, MlirValue v);
// lane: the dimension that has to be in lanes; -1: any.
void copy_to(struct strip_emitter *e, MlirValue v, struct buffer *to, int lane);
void add_copy(struct strip_emitter *e, MlirValue v, struct buffer *to); // as a sink
// Before a write that is no sink: deferred loads that are needed later are made now.
void finish_loads(struct strip_emitter *e);
// Before an op with regions: what they use is known, or cheap to evaluate again and again.
void finish_captured(struct strip_emitter *e, MlirOperation op);

// ---- nests.c ----
// Runs the loop of sinks that share a shape. `kept`: values of that shape to keep in buffers.
struct kept_value {
  MlirValue value;
  struct buffer *to;
};
void run_nest(struct strip_emitter *e, struct sink *const *sinks, size_t count,
              const struct kept_value *kept, size_t kept_count);

// An element x of v as a buffer holds it.
LLVMValueRef copied_value(struct strip_emitter *e, MlirValue v, const struct buffer *to,
                          LLVMValueRef x);

// ---- reduce.c ----
struct reduction {
  MlirOperation op, function;
  unsigned count;
  enum op_id simple[MAX_VALUES]; // OP_UNKNOWN: another function
  bool commutative;
};
bool reduction_of(struct strip_emitter *e, MlirOperation op, struct reduction *ret);
// Neither changes what it is combined with; NULL: the function has none that is known.
LLVMValueRef neutral_element(struct strip_emitter *e, const struct reduction *r, unsigned i,
                             unsigned lanes);
void combine(struct strip_emitter *e, const struct reduction *r, const LLVMValueRef *x,
             const LLVMValueRef *y, LLVMValueRef *ret);
// The half of a vector that begins at lane `from`.
LLVMValueRef half_of(struct strip_emitter *e, LLVMValueRef v, unsigned from);
// All lanes of each value combined, scalars.
void combine_lanes(struct strip_emitter *e, const struct reduction *r, const LLVMValueRef *x,
                   LLVMValueRef *ret);

// ---- each.c ----
// A nest over a shape; the body gets the position of each strip along `lane`, of each element if
// that is -1. It may end in another block than it began, but evaluates before it branches.
void each_strip(struct strip_emitter *e, unsigned rank, const int64_t *shape, int lane,
                void (*body)(struct strip_emitter *e, const struct position *p, void *user),
                void *user);

// ---- ops with loops of their own ----
void emit_scan_loops(struct strip_emitter *e, MlirOperation op); // scans.c
void emit_product(struct strip_emitter *e, MlirOperation op);    // products.c
// Operand 0 or 1 of a product in a buffer of `type`, whose strides are those of its dimensions
// (product_operands.c). ROWS_OF_K: elements along K are neighbours.
enum operand_order { ANY_ORDER, ROWS_OF_K };
struct buffer *product_operand(struct strip_emitter *e, MlirOperation op, unsigned i,
                               LLVMTypeRef type, enum operand_order order);
// The dimension along which the loads that v is computed from are contiguous; the last one if there
// are none.
unsigned fastest_dim(struct strip_emitter *e, MlirValue v);
// STRIP vectors of STRIP elements of 32 bits: rows become columns.
void transpose_square(struct strip_emitter *e, LLVMValueRef *rows);

// ---- product_rows.c ----
// Whether the product has few rows, and operand 1 comes from memory, so that it need not be packed.
bool product_streams(struct strip_emitter *e, MlirOperation op, LLVMTypeRef sum);
// The product added to `c`, or, from_zero, stored there.
void emit_streamed_product(struct strip_emitter *e, MlirOperation op, LLVMTypeRef sum,
                           struct buffer *c, bool from_zero);

// ---- product_words.c ----
// How many elements along K share a word of the operands of a product of integers: 4 or 2; 1: they
// are multiplied one by one.
unsigned product_group(struct strip_emitter *e, MlirOperation op);
// Operand 0 or 1 in words; its strides are those of its dimensions, in words. Operand 0 in groups
// of 4 and ANY_ORDER has 128 added to each element.
struct buffer *product_words(struct strip_emitter *e, MlirOperation op, unsigned i, unsigned group,
                             enum operand_order order);
// As many words as p has lanes, along dimension p->lane, from element p->at on. In groups of 4, 128
// is added to each element.
LLVMValueRef streamed_words(struct strip_emitter *e, MlirValue v, unsigned group,
                            const struct position *p);
// For groups of 4: what each column of the result has too much, one row of i32 per batch, of
// operand 1 in words.
struct buffer *product_excess(struct strip_emitter *e, MlirOperation op, const struct buffer *b);
// sum + the product of words, one or lanes of them.
LLVMValueRef multiply_words(struct strip_emitter *e, unsigned group, LLVMValueRef x, LLVMValueRef y,
                            LLVMValueRef sum);
// sum + x * y, of words if group > 1.
LLVMValueRef multiply_add(struct strip_emitter *e, unsigned group, LLVMValueRef x, LLVMValueRef y,
                          LLVMValueRef sum);
void emit_atomic_loops(struct strip_emitter *e, MlirOperation op); // atomic_loops.c
void emit_histogram_loops(struct strip_emitter *e, MlirOperation op);
void emit_join_loops(struct strip_emitter *e, MlirOperation op); // joins.c
void emit_split_buffer(struct strip_emitter *e, MlirOperation op);
void emit_reshape_view(struct strip_emitter *e, MlirOperation op);

// ---- regions.c ----
void emit_branches(struct strip_emitter *e, MlirOperation op);
void emit_for_loop(struct strip_emitter *e, MlirOperation op);
void emit_while_loop(struct strip_emitter *e, MlirOperation op);

// ---- ops.c ----
// The one element of a tile of one, or a scalar.
LLVMValueRef single_element(struct strip_emitter *e, MlirValue v);
void emit_ops(struct strip_emitter *e, MlirBlock block);

#endif
