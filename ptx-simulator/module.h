// SPDX-License-Identifier: Apache-2.0
// A parsed module of PTX: symbols, functions, and instructions with resolved operands. The parser
// builds it; decode.h turns it into operations.
#ifndef TILE_SIMULATOR_MODULE_H
#define TILE_SIMULATOR_MODULE_H

#include "base/map.h"
#include "base/vec.h"
#include "ptx-simulator/simulator.h"

// Limits that keep offsets and counts far from overflow.
enum { MAX_REGISTERS = 1 << 20, MAX_OPERANDS = 256 };
#define MAX_VARIABLE_BYTES ((uint64_t)1 << 30)

struct variable {
  const char *name;
  enum sim_space space;
  bool is_kernel_param;
  bool is_dynamic; // `.extern .shared x[]`: begins where static shared memory ends
  uint64_t bytes;
  unsigned align;
  uint64_t offset; // of shared, local and param; of global and const: in the module's memory
};

struct reg {
  struct str name;
  unsigned bits; // 1 for a predicate
};

enum operand_kind {
  OPERAND_REGISTER,
  OPERAND_INTEGER,
  OPERAND_FLOAT32,
  OPERAND_FLOAT64,
  OPERAND_SPECIAL,  // %tid.x
  OPERAND_VARIABLE, // with an offset
  OPERAND_FUNCTION,
  OPERAND_LABEL,
  OPERAND_ADDRESS, // [items[0] + offset]; or [items[0] + offset, items[1]], of tensors
  OPERAND_VECTOR,  // {a, b}
  OPERAND_PAIR,    // d|p
  OPERAND_LIST,    // (a, b), of calls
  OPERAND_SINK     // _
};

struct operand {
  enum operand_kind kind;
  bool negated; // !%p1
  unsigned line, column;
  struct str name;
  unsigned reg;   // index in the function
  uint64_t value; // bits of a number, with an integer's sign applied
  int64_t offset;
  const struct variable *variable;
  struct function *function;
  unsigned label; // index of the instruction
  struct operand *items;
  unsigned item_count;
};

struct instruction {
  struct str *parts; // the opcode split at its dots
  unsigned part_count;
  bool is_guarded;
  struct operand guard;
  struct operand *operands;
  unsigned operand_count;
  unsigned line, column;
  const char *text;
  struct sim_source source;
  unsigned source_file; // number of .file; 0: none
};

struct function {
  const char *name;
  bool is_entry, is_defined;
  struct variable **params; // in the function's parameter space
  unsigned param_count;
  struct variable **results;
  unsigned result_count;
  uint64_t param_bytes; // parameters of calls in its body; for a function also its own
  uint64_t local_bytes;
  unsigned required_block[3], largest_block[3], required_cluster[3], max_registers;
  VEC(struct reg) regs;
  VEC(struct instruction) code;
};

// Initial bytes of a variable, before the module's memory is allocated.
struct initialiser {
  uint64_t offset;
  const uint8_t *bytes;
  size_t size;
};

// A ring of `count` buffers in dynamic shared memory that a comment names (shared_names.c).
struct shared_buffer {
  uint32_t offset, count, bytes; // of one
  const char *what, *name;       // "buffer", "a"
};
void shared_names_read(struct sim_module *m, const char *ptx, size_t size);

struct sim_module {
  struct arena *arena;
  struct map variables; // struct variable, of the module
  struct map functions; // struct function
  VEC(struct function *) entries;
  VEC(const char *) files; // by number of .file
  uint64_t shared_bytes;   // static, of all kernels together
  bool has_dynamic_shared;
  unsigned dynamic_align;
  uint8_t *memory; // of .global and .const variables
  uint64_t memory_bytes;
  VEC(struct initialiser) initialisers;
  VEC(struct sim_kernel *) kernels;
  VEC(struct shared_buffer) shared_buffers;
};

#endif
