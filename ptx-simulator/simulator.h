// SPDX-License-Identifier: Apache-2.0
// A functional simulator of PTX: executes the instructions that a GPU would execute, on the CPU.
// Warps have 32 lanes with a program counter each (independent thread scheduling, PTX ISA 3.1);
// warps and CTAs interleave in an order drawn from a seed. It does not model time.
//
// Every access is checked for bounds and alignment, and every barrier and lane mask for lanes that
// never arrive. With `check` it also reports uses of undefined values, races in shared and global
// memory, and reads of shared memory before a cp.async has completed. A report is a
// `sim_violation`.
//
// An unknown instruction, modifier or type is an error of the parser and never ignored.
#ifndef TILE_SIMULATOR_SIMULATOR_H
#define TILE_SIMULATOR_SIMULATOR_H

#include "base/arena.h"

enum { SIM_TEXT = 2048, SIM_LANES = 32 };

// ---- modules ----

struct sim_error {
  unsigned line, column; // in the PTX, from 1
  char text[SIM_TEXT];
};

struct sim_param {
  unsigned offset, size, align; // bytes; the offset in the kernel's parameter space
};

// Properties of an entry point.
struct sim_kernel {
  const char *name;
  const struct sim_module *module;
  const struct sim_param *params;
  unsigned param_count, param_bytes;
  unsigned static_shared_bytes; // dynamic shared memory starts after it
  bool has_dynamic_shared;      // the module has an `.extern .shared` array
  unsigned local_bytes;         // per thread
  unsigned required_block[3];   // .reqntid; 0 when there is none
  unsigned largest_block[3];    // .maxntid; 0 when there is none
  unsigned required_cluster[3]; // .reqnctapercluster; 0 when there is none
  unsigned max_registers;       // .maxnreg; 0 when there is none
  unsigned instruction_count, register_count;
};

// A position in the source program, from `.file` and `.loc`.
struct sim_source {
  const char *file; // NULL when there is none
  unsigned line, column;
};

struct sim_module;

// Parses and checks a whole module. All memory is the arena's, which must outlive the module; when
// the arena is out of memory, its handler is called. `ptx` is not needed afterwards. NULL on error;
// then *ret_error has the position and text.
struct sim_module *sim_module_parse(struct arena *a, const char *ptx, size_t size,
                                    struct sim_error *ret_error);
// NULL when the module has no such entry point.
const struct sim_kernel *sim_module_kernel(const struct sim_module *m, const char *name);
size_t sim_module_kernel_count(const struct sim_module *m);
const struct sim_kernel *sim_module_kernel_at(const struct sim_module *m, size_t i);

// ---- tensor maps ----

enum { SIM_TENSOR_MAP_BYTES = 128, SIM_TENSOR_RANK = 5 };

// With the driver's numbers (CUtensorMapDataType, CUtensorMapSwizzle).
enum sim_tensor_type {
  SIM_TENSOR_U8,
  SIM_TENSOR_U16,
  SIM_TENSOR_U32,
  SIM_TENSOR_I32,
  SIM_TENSOR_U64,
  SIM_TENSOR_I64,
  SIM_TENSOR_F16,
  SIM_TENSOR_F32,
  SIM_TENSOR_F64,
  SIM_TENSOR_BF16,
  SIM_TENSOR_F32_FTZ,
  SIM_TENSOR_TF32,
  SIM_TENSOR_TF32_FTZ,
};
enum sim_swizzle { SIM_SWIZZLE_NONE, SIM_SWIZZLE_32, SIM_SWIZZLE_64, SIM_SWIZZLE_128 };

// The arguments of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
// Dimension 0 is the innermost one.
struct sim_tensor {
  enum sim_tensor_type type;
  unsigned rank;
  uint64_t address;
  uint64_t sizes[SIM_TENSOR_RANK];       // elements
  uint64_t strides[SIM_TENSOR_RANK - 1]; // bytes, of dimensions 1, 2, ...
  unsigned box[SIM_TENSOR_RANK];         // elements
  unsigned element_strides[SIM_TENSOR_RANK];
  unsigned interleave; // 0: none
  enum sim_swizzle swizzle;
  unsigned promotion; // of L2: 0 to 3
  bool fill_nan;      // elements outside of the array are NaN rather than 0
};

// Encodes a tensor map for launches of the simulator; its bytes mean nothing to a GPU. False, with
// the reason in ret_text, for arguments that the driver refuses or the simulator does not support.
bool sim_tensor_map_encode(const struct sim_tensor *tensor, uint8_t ret_map[SIM_TENSOR_MAP_BYTES],
                           char *ret_text, size_t text_size);

// ---- violations ----

enum sim_kind {
  // What may be a fault, a hang or garbage on a GPU: ends the launch.
  SIM_OUT_OF_BOUNDS, // an address outside its space
  SIM_MISALIGNED,    // an address that is no multiple of the access size
  SIM_READ_ONLY,     // a write to parameters or constants
  SIM_BAD_MASK,      // a lane mask without the executing lane, or lanes that never arrive
  SIM_BAD_LANE,      // a value from a lane that does not participate
  SIM_DIVERGENCE,    // an aligned instruction that some lanes of the warp do not execute
  SIM_DEADLOCK,      // all remaining threads wait at barriers
  SIM_BAD_BARRIER,   // an invalid or contradictory barrier number or thread count
  SIM_BAD_MBARRIER,  // a misused mbarrier: the text has its address, phase and what is pending
  SIM_BAD_CLUSTER, // a misused cluster: its barrier, or memory of a CTA that has ended, or may have
  SIM_BAD_STATE,   // any other operand that the PTX ISA does not allow
  SIM_TRAP,        // trap, or a failed assertion, which the text names
  SIM_TOO_LONG,    // the instruction limit was reached
  // With `check` only; the launch continues. One violation per instruction and kind.
  SIM_UNINITIALISED, // an undefined value decides an address or a branch, or is stored
                     // to global memory; `other` is where it was read first, and the address | that
                     // of global memory if it was read there
  SIM_RACE,          // two unordered accesses of shared memory, at least one a write
  SIM_EARLY_READ,    // an access to what an asynchronous copy writes, before a wait for it
  SIM_ASYNC_ORDER,   // what no proxy fence or wait orders: an operand of wgmma, the source of a
                     // bulk store; or copies that end after their phase or CTA. The text says which
  SIM_GLOBAL_RACE,   // SIM_RACE in global memory; a store that does not change memory is no write
};

enum sim_space {
  SIM_NO_SPACE,
  SIM_GENERIC,
  SIM_GLOBAL,
  SIM_SHARED,
  SIM_LOCAL,
  SIM_PARAM,
  SIM_CONST,
  SIM_SHARED_CLUSTER, // in PTX only: violations have SIM_SHARED
};

// A thread at an instruction.
struct sim_site {
  unsigned ctaid[3], warp, lane;
  unsigned line;           // in the PTX
  const char *instruction; // its text
  struct sim_source source;
};

struct sim_violation {
  enum sim_kind kind;
  struct sim_site at;
  enum sim_space space; // SIM_NO_SPACE when no memory is involved
  uint64_t address;     // in that space: the device address for global memory, else an offset
  unsigned bytes;       // of the access
  const struct sim_buffer *buffer; // the nearest buffer of global memory, or NULL
  int64_t buffer_offset;           // of `address` in it; negative before it
  bool has_other;
  struct sim_site other; // the other access of a race; where an undefined value was read
  char text[SIM_TEXT];   // one sentence, without the positions
};

const char *sim_kind_name(enum sim_kind kind);    // "out of bounds"
const char *sim_space_name(enum sim_space space); // "shared"

// ---- launches ----

// Global memory that the kernel may access: `address` is the device address, `base` the bytes.
// Leave gaps between addresses: an access beyond a buffer is found if it hits no other one.
// Addresses must be below 1 << 62.
struct sim_buffer {
  uint64_t address;
  void *base;
  size_t size;
  bool read_only;
  const char *name; // for messages, or NULL
  uint8_t *written; // a bit for each byte that was written, set by launches; NULL: all were
};

// For `written`: marks `size` bytes from `at` on as written; copies the marks of the bytes at
// `from`, of another buffer or the same.
void sim_mark_written(const struct sim_buffer *b, size_t at, size_t size);
void sim_copy_written(const struct sim_buffer *b, size_t at, const struct sim_buffer *other,
                      size_t from, size_t size);

struct sim_launch {
  const struct sim_kernel *kernel;
  unsigned grid[3], block[3];
  unsigned cluster[3]; // CTAs that run together; 0: 1, or what the kernel requires
  size_t dynamic_shared_bytes;
  const void *const *values; // one per parameter, of the parameter's size
  const struct sim_buffer *buffers;
  size_t buffer_count;
  bool check;
  uint64_t seed;              // of the schedule; equal seeds give equal runs
  uint64_t instruction_limit; // warp instructions in all; 0: none
  void *user;
  void (*violation)(void *user, const struct sim_violation *violation); // or NULL
  void (*print)(void *user, const char *text, size_t size);             // vprintf; or NULL
};

enum sim_status {
  SIM_OK,            // it ended; violations of `check` may have been reported
  SIM_FAULT,         // ended by the violation that was reported last
  SIM_INVALID,       // the launch does not fit the kernel; see sim_report.text
  SIM_OUT_OF_MEMORY, // in the simulator
};

struct sim_report {
  uint64_t instructions;      // by warps
  uint64_t lane_instructions; // by lanes
  unsigned violations;
  char text[SIM_TEXT]; // of SIM_INVALID
};

// Runs a grid to its end. `ret_report` may be NULL. Thread-safe for different modules; launches of
// one module share its .global variables.
enum sim_status sim_run(const struct sim_launch *launch, struct sim_report *ret_report);

#endif
