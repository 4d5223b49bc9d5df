// SPDX-License-Identifier: Apache-2.0
// A functional simulator of PTX: it runs the instructions that a GPU would run, on the processor.
// Warps have 32 lanes with a program counter each (independent thread scheduling, PTX ISA 3.1);
// warps and CTAs interleave in an order drawn from a seed. It says nothing about time.
//
// Every access is checked for bounds and alignment, and every barrier and lane mask for lanes that
// never arrive. With `check`, values that were never written, races in shared and global memory and
// reads of shared memory before a cp.async has arrived are found, too. What is found is a
// `sim_finding`.
//
// An instruction, modifier or type that the simulator does not know is an error of the parser and
// never a no-op.
#ifndef TILE_SIMULATOR_SIMULATOR_H
#define TILE_SIMULATOR_SIMULATOR_H

#include "base/arena.h"

enum { SIM_TEXT = 256, SIM_LANES = 32 };

// ---- modules ----

struct sim_error {
  unsigned line, column; // in the PTX, from 1
  char text[SIM_TEXT];
};

struct sim_param {
  unsigned offset, size, align; // bytes; the offset is that in the kernel's parameter space
};

// The facts of an entry point.
struct sim_kernel {
  const char *name;
  const struct sim_module *module;
  const struct sim_param *params;
  unsigned param_count, param_bytes;
  unsigned static_shared_bytes; // dynamic shared memory starts behind it
  bool has_dynamic_shared;      // the module has an `.extern .shared` array
  unsigned local_bytes;         // of a thread
  unsigned required_block[3];   // .reqntid; 0 when there is none
  unsigned largest_block[3];    // .maxntid; 0 when there is none
  unsigned instruction_count, register_count;
};

// A position in the program that the PTX was compiled from, by `.file` and `.loc`.
struct sim_source {
  const char *file; // NULL when there is none
  unsigned line, column;
};

struct sim_module;

// Reads and checks a whole module, every instruction of it. All memory is the arena's, which must
// outlive the module; when the arena is out of memory, it jumps as the arena says. `ptx` is not
// needed afterwards. NULL on error; then *ret_error says where and what.
struct sim_module *sim_module_parse(struct arena *a, const char *ptx, size_t size,
                                    struct sim_error *ret_error);
// NULL when the module has no such entry point.
const struct sim_kernel *sim_module_kernel(const struct sim_module *m, const char *name);
size_t sim_module_kernel_count(const struct sim_module *m);
const struct sim_kernel *sim_module_kernel_at(const struct sim_module *m, size_t i);

// ---- findings ----

enum sim_kind {
  // What a GPU may answer with a fault, with a hang or with garbage: the launch ends there.
  SIM_OUT_OF_BOUNDS, // an address outside of what its space has
  SIM_MISALIGNED,    // an address that is no multiple of the bytes accessed
  SIM_READ_ONLY,     // a write to parameters or constants
  SIM_BAD_MASK,      // a lane mask without the lane itself, or lanes that never arrive
  SIM_BAD_LANE,      // a value from a lane that takes no part
  SIM_DIVERGENCE,    // an aligned instruction that not all lanes of the warp execute
  SIM_DEADLOCK,      // everything left waits at barriers
  SIM_BAD_BARRIER,   // a barrier number or thread count that is illegal or contradicts others
  SIM_BAD_STATE,     // any other operand outside of what the PTX ISA allows
  SIM_TRAP,          // trap, or a failed assertion; the text says which
  SIM_TOO_LONG,      // the instruction limit was reached
  // With `check` only; the launch goes on. One finding for each instruction and kind.
  SIM_UNINITIALISED, // a value that was never written decides an address or a branch, or is stored
                     // to global memory; `other` is where it was read first, and the address
                     // that of global memory where it was read from there
  SIM_RACE,          // two accesses of shared memory, one a write, that nothing orders
  SIM_EARLY_READ,    // an access to where a cp.async has not arrived
  SIM_GLOBAL_RACE,   // SIM_RACE of global memory; what leaves it as it was is no write
};

enum sim_space {
  SIM_NO_SPACE,
  SIM_GENERIC,
  SIM_GLOBAL,
  SIM_SHARED,
  SIM_LOCAL,
  SIM_PARAM,
  SIM_CONST
};

// A thread at an instruction.
struct sim_site {
  unsigned ctaid[3], warp, lane;
  unsigned line;           // in the PTX
  const char *instruction; // its text
  struct sim_source source;
};

struct sim_finding {
  enum sim_kind kind;
  struct sim_site at;
  enum sim_space space; // SIM_NO_SPACE when no memory is involved
  uint64_t address;     // in that space: of global memory the device address, else an offset
  unsigned bytes;       // of the access
  const struct sim_buffer *buffer; // the nearest of global memory, or NULL
  int64_t buffer_offset;           // of `address` in it; negative before it
  bool has_other;
  struct sim_site other; // the other access of a race; where an uninitialised value was read
  char text[SIM_TEXT];   // one sentence, without the positions
};

const char *sim_kind_name(enum sim_kind kind);    // "out of bounds"
const char *sim_space_name(enum sim_space space); // "shared"

// ---- launches ----

// Global memory that the kernel may touch: `address` is what the kernel sees, `base` where the
// bytes are. Leave gaps between addresses: an access beyond one buffer is found when it hits no
// other. Addresses at or above 1 << 62 are not allowed.
struct sim_buffer {
  uint64_t address;
  void *base;
  size_t size;
  bool read_only;
  const char *name; // for messages, or NULL
  uint8_t *written; // a bit for each byte that was written, which launches set; NULL: all were
};

// For `written`: that `size` bytes from `at` on were written; that they are copies of those at
// `from` of another buffer, or the same.
void sim_mark_written(const struct sim_buffer *b, size_t at, size_t size);
void sim_copy_written(const struct sim_buffer *b, size_t at, const struct sim_buffer *other,
                      size_t from, size_t size);

struct sim_launch {
  const struct sim_kernel *kernel;
  unsigned grid[3], block[3];
  size_t dynamic_shared_bytes;
  const void *const *values; // one for each parameter: that many bytes as the parameter has
  const struct sim_buffer *buffers;
  size_t buffer_count;
  bool check;
  uint64_t seed;              // of the order of warps and CTAs; equal seeds give equal runs
  uint64_t instruction_limit; // of the warps together; 0 for none
  void *user;
  void (*finding)(void *user, const struct sim_finding *finding); // or NULL
  void (*print)(void *user, const char *text, size_t size);       // vprintf; or NULL
};

enum sim_status {
  SIM_OK,            // it ended; findings of `check` may have been reported
  SIM_FAULT,         // it ended with the finding reported last
  SIM_INVALID,       // the launch does not fit the kernel; see sim_report.text
  SIM_OUT_OF_MEMORY, // of the simulator
};

struct sim_report {
  uint64_t instructions;      // of warps
  uint64_t lane_instructions; // of lanes
  unsigned findings;
  char text[SIM_TEXT]; // of SIM_INVALID
};

// Runs a grid to its end. `ret_report` may be NULL. Thread-safe for different modules; launches of
// one module share its .global variables.
enum sim_status sim_run(const struct sim_launch *launch, struct sim_report *ret_report);

#endif
