// SPDX-License-Identifier: Apache-2.0
// Decoding of parsed instructions to operations: helpers with which each instruction family reads
// its modifiers and operands. All errors are found here, before anything runs.
#ifndef TILE_SIMULATOR_DECODE_H
#define TILE_SIMULATOR_DECODE_H

#include "ptx-simulator/sim_machine.h"

struct layout { // of a function in a program
  unsigned reg_base, local_base, call_base;
  unsigned entry;
  bool is_decoded;
  int32_t return_slot, carry_slot;
  uint32_t *op_of; // [instruction]: its first operation; one more for the end
};

// A VEC that has a name.
struct filled_slots {
  struct filled_slot *at;
  size_t len, cap;
};

struct decoder {
  struct arena *arena;
  struct sim_module *module;
  struct sim_error *error;
  struct program *program;
  const struct function *function;
  struct layout *layout;
  struct map layouts;           // by function's name
  VEC(struct function *) order; // callees first
  unsigned call_depth;
  const struct instruction *in;
  const uint32_t *wgmma_numbers; // of the function's registers (wgmma_fence.h)
  struct op op;                  // being built
  unsigned next_part;            // of the opcode
  VEC(uint64_t) constants;
  struct map constant_slots;
  struct filled_slots specials, shared_slots;
  VEC(struct target *) targets; // to be converted from instructions to operations
  bool failed;
};

// Branch targets: instruction indices while decoding, operation indices afterwards.
struct target {
  unsigned count;
  uint32_t *at;
  const struct layout *layout;
};

bool decode_module(struct sim_module *m, struct sim_error *ret_error);

// Always false.
bool decode_error(struct decoder *d, const char *format, ...) PRINTF(2, 3);

// ---- modifiers, from left to right ----

bool take_part(struct decoder *d, const char *part);
// One of `names` (ends with NULL), or -1.
int take_one_of(struct decoder *d, const char *const *names);
bool expect_part(struct decoder *d, const char *part);
bool expect_end(struct decoder *d); // an error names the first modifier that is left
struct str peek_part(const struct decoder *d);

struct value_type {
  char kind; // 'b', 'u', 's', 'f', 'p'
  unsigned bits;
  struct str name;
};
bool take_type(struct decoder *d, struct value_type *ret); // an error if there is none
enum sim_space take_space(struct decoder *d);              // SIM_GENERIC if there is none
// .acq_rel, .relaxed, ..., and a scope: bits of `enum order`.
unsigned take_order(struct decoder *d);
void take_cache_hints(struct decoder *d, bool *ret_policy); // .ca, .L1::..., .L2::cache_hint

// ---- operands ----

bool expect_operands(struct decoder *d, unsigned least, unsigned most);
int32_t source_slot(struct decoder *d, const struct operand *o, unsigned bits, bool is_float);
int32_t result_slot(struct decoder *d, const struct operand *o, unsigned bits);
int32_t constant_slot(struct decoder *d, uint64_t value);
int32_t new_slot(struct decoder *d);                                  // a fresh register
unsigned slot_bits(const struct decoder *d, const struct operand *o); // of a register; else 64
// `count` items of a vector, or a single operand.
bool vector_items(struct decoder *d, const struct operand *o, unsigned count,
                  const struct operand **ret);
bool constant_value(struct decoder *d, const struct operand *o, uint64_t *ret);

struct address {
  int32_t slot;
  unsigned bits; // 32 or 64, of the register
  int64_t offset;
  enum sim_space space; // of the variable; SIM_NO_SPACE for a register
  bool is_kernel_param;
};
bool decode_address(struct decoder *d, const struct operand *o, struct address *ret);
static inline uint64_t address_of(struct warp *w, const struct address *a, unsigned lane) {
  uint64_t base = row(w, a->slot)[lane];
  return (a->bits == 32 ? (uint32_t)base : base) + (uint64_t)a->offset;
}

// Completes d->op and appends it to the program.
void emit(struct decoder *d, op_fn *run, const int32_t *slots, unsigned slot_count,
          const void *info);
// The same for an instruction without operands, whose modifiers were all taken: false for any more.
bool emit_plain(struct decoder *d, op_fn *run);

// The families, by the opcode's first word (instructions.def).
typedef bool decode_fn(struct decoder *d);
#define INSTRUCTION(name, function) bool function(struct decoder *d);
#include "ptx-simulator/instructions.def"
#undef INSTRUCTION
bool decode_alu(struct decoder *d);
// The rest of instructions whose first words are in another file.
bool decode_bulk_copy(struct decoder *d);       // cp.async.bulk
bool decode_bulk_reduction(struct decoder *d);  // cp.reduce
bool decode_copy_arrival(struct decoder *d);    // cp.async.mbarrier
bool decode_prefetch_map(struct decoder *d);    // prefetch.tensormap
bool decode_cluster_barrier(struct decoder *d); // barrier.cluster
// A call of a function without a body.
bool decode_extern_call(struct decoder *d, const struct function *f, const struct operand *results,
                        const struct operand *arguments);
void exit_op(struct warp *w, const struct op *op, uint32_t lanes);
void return_op(struct warp *w, const struct op *op, uint32_t lanes);

#endif
