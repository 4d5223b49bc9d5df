// SPDX-License-Identifier: Apache-2.0
// The contract between kernels compiled for the CPU target and the executor that runs them.
//
// A CPU kernel is `void NAME(struct cpu_thread *t, void *const *args)`: `args[i]` points to the
// value of run-time parameter i, as in a CUDA launch. It is called once per CUDA thread. If the
// kernel uses collectives, every thread of a CTA is a fiber and the calls below synchronise the
// warp or the CTA; otherwise threads run one after another.
//
// The routines in CPU_ROUTINES are bound by name when the code is loaded.
#ifndef TILE_BASE_CPU_ABI_H
#define TILE_BASE_CPU_ABI_H

#include "base/attrs.h"

struct cpu_cta; // private to the executor

// Read by generated code at these offsets; change both together (lowering/targets/cpu.c).
struct cpu_thread {
  int32_t thread_id;       // 0 .. 32 * num_warps - 1
  int32_t program_id[3];   // offset 4
  int32_t num_programs[3]; // offset 16
  int32_t pad;
  void *shared;        // offset 32: base of the CTA's shared memory
  struct cpu_cta *cta; // offset 40
};

typedef void (*cpu_kernel_fn)(struct cpu_thread *t, void *const *args);

// One row of the table that the compiler emits with a CPU kernel compiled with checks: the source
// location of an access. Symbol NAME__locations, count NAME__location_count (i32).
struct cpu_location {
  const char *file;
  uint32_t line, col;
};

// CPU_COPY: an asynchronous copy, checked as a write of shared memory.
enum cpu_access { CPU_LOAD, CPU_STORE, CPU_ATOMIC, CPU_COPY };

#define CPU_VOLATILE 8 // added to CPU_LOAD: a volatile load

// Called by generated code; implemented in runtime/cpu_cta.c, cpu_check.c,
// cpu_shared.c, cpu_async.c and cpu_print.c.
//   barrier     all threads of the CTA meet; `location` (NULL without checks) is where it stands
//   shuffle     every lane of the warp gives `value` and gets that of lane `source_lane` (0..31);
//               `location` as of a barrier
//   mma         a matrix instruction of the warp (base/mma.h): the lane's words of A, B and C, and
//               room for those of D (base/mma.h says how it computes); `location` as
//               of a barrier
//   check       whether the access of `bytes` at `addr`, derived from parameter `param` (-1: none
//               alone), may happen; it is false where it is outside. `access` is a cpu_access, of a
//               volatile load with CPU_VOLATILE
//   check_store the same of a store, of the bytes at `value`
//   async_copy  `bytes` (4, 8 or 16) from `from` (NULL: zeros), derived from parameter `param`, to
//               `to` in the CTA's shared memory. They arrive when the thread waits for them; until
//               then the memory holds what nobody stored. `location` is NULL without checks
//   async_commit
//               the thread's copies since the last one become a group
//   async_wait  until at most `pending` groups of the thread are under way
//   clock       nanoseconds, as globaltimer
//   print       one record of device_print; `format` has one %-directive per value, widened to
//               double or long long
//   assert_fail reports; the launch ends with an error
#define CPU_ROUTINES(X)                                                                            \
  X(tile_cpu_barrier, void, (struct cpu_thread * t, const struct cpu_location *location))          \
  X(tile_cpu_shuffle, uint32_t,                                                                    \
    (struct cpu_thread * t, uint32_t value, uint32_t source_lane,                                  \
     const struct cpu_location *location))                                                         \
  X(tile_cpu_mma, void,                                                                            \
    (struct cpu_thread * t, uint32_t id, const void *a, const void *b, const void *c, void *d,     \
     const struct cpu_location *location))                                                         \
  X(tile_cpu_check, bool,                                                                          \
    (struct cpu_thread * t, const struct cpu_location *location, int32_t param, const void *addr,  \
     uint32_t bytes, int32_t access))                                                              \
  X(tile_cpu_check_store, bool,                                                                    \
    (struct cpu_thread * t, const struct cpu_location *location, int32_t param, const void *addr,  \
     uint32_t bytes, const void *value))                                                           \
  X(tile_cpu_shared_check, void,                                                                   \
    (struct cpu_thread * t, const struct cpu_location *location, const void *addr, uint32_t bytes, \
     int32_t access))                                                                              \
  X(tile_cpu_async_copy, void,                                                                     \
    (struct cpu_thread * t, const struct cpu_location *location, int32_t param, void *to,          \
     const void *from, uint32_t bytes))                                                            \
  X(tile_cpu_async_commit, void, (struct cpu_thread * t))                                          \
  X(tile_cpu_async_wait, void, (struct cpu_thread * t, uint32_t pending))                          \
  X(tile_cpu_clock, int64_t, (struct cpu_thread * t))                                              \
  X(tile_cpu_print_i64, void,                                                                      \
    (struct cpu_thread * t, const char *prefix, int32_t index, int64_t value, int32_t flags))      \
  X(tile_cpu_print_f64, void,                                                                      \
    (struct cpu_thread * t, const char *prefix, int32_t index, double value))                      \
  X(tile_cpu_assert_fail, void,                                                                    \
    (struct cpu_thread * t, const struct cpu_location *location, const char *message))

#define X(name, result, params) result name params;
CPU_ROUTINES(X)
#undef X

// flags of tile_cpu_print_i64
#define CPU_PRINT_HEX 1
#define CPU_PRINT_UNSIGNED 2

#endif
