// SPDX-License-Identifier: Apache-2.0
// The contract between kernels compiled for the host target and the executor that runs them.
//
// A host kernel is `void NAME(struct host_thread *t, void *const *args)`: `args[i]` points to the
// value of run-time parameter i, as in a CUDA launch. It is called once per CUDA thread. Where the
// kernel uses collectives, every thread of a CTA is a fiber and the calls below meet at the warp or
// the CTA; otherwise threads simply run one after another.
//
// The routines in HOST_ROUTINES are bound by name when the code is loaded.
#ifndef TILE_BASE_HOST_ABI_H
#define TILE_BASE_HOST_ABI_H

#include "base/attrs.h"

struct host_cta; // the executor's own

// Read by generated code at these offsets; change both together (lowering/targets/host.c).
struct host_thread {
  int32_t thread_id;       // 0 .. 32 * num_warps - 1
  int32_t program_id[3];   // offset 4
  int32_t num_programs[3]; // offset 16
  int32_t pad;
  void *shared;         // offset 32: base of the CTA's shared memory
  struct host_cta *cta; // offset 40
};

typedef void (*host_kernel_fn)(struct host_thread *t, void *const *args);

// One row of the table that the compiler emits beside a host kernel when it is compiled with
// checks: where an access stands in the source. Symbol NAME__places, count NAME__place_count (i32).
struct host_place {
  const char *file;
  uint32_t line, col;
};

// HOST_COPY: an asynchronous copy, as one that writes shared memory.
enum host_access { HOST_LOAD, HOST_STORE, HOST_ATOMIC, HOST_COPY };

// Called by generated code; implemented in runtime/host_cta.c, host_check.c,
// host_shared.c, host_async.c and host_print.c.
//   barrier     all threads of the CTA meet; `place` (NULL without checks) is where it stands
//   shuffle     every lane of the warp gives `value` and gets that of lane `source_lane` (0..31);
//               `place` as of a barrier
//   mma         a matrix instruction of the warp (base/mma.h): the lane's words of A, B and C, and
//               room for those of D (base/mma.h says how it computes); `place` as
//               of a barrier
//   async_copy  `bytes` (4, 8 or 16) from `from` (NULL: zeros), derived from parameter `param`, to
//               `to` in the CTA's shared memory. They arrive when the thread waits for them; until
//               then the memory holds what nobody stored. `place` is NULL without checks
//   async_commit
//               the thread's copies since the last one become a group
//   async_wait  until at most `pending` groups of the thread are under way
//   clock       nanoseconds, as globaltimer
//   print       one record of device_print; `format` has one %-directive per value, widened to
//               double or long long
//   assert_fail reports; the launch ends with an error
#define HOST_ROUTINES(X)                                                                           \
  X(tile_host_barrier, void, (struct host_thread * t, const struct host_place *place))             \
  X(tile_host_shuffle, uint32_t,                                                                   \
    (struct host_thread * t, uint32_t value, uint32_t source_lane,                                 \
     const struct host_place *place))                                                              \
  X(tile_host_mma, void,                                                                           \
    (struct host_thread * t, uint32_t id, const void *a, const void *b, const void *c, void *d,    \
     const struct host_place *place))                                                              \
  X(tile_host_check, bool,                                                                         \
    (struct host_thread * t, const struct host_place *place, int32_t param, const void *addr,      \
     uint32_t bytes, int32_t access))                                                              \
  X(tile_host_shared_check, void,                                                                  \
    (struct host_thread * t, const struct host_place *place, const void *addr, uint32_t bytes,     \
     int32_t access))                                                                              \
  X(tile_host_async_copy, void,                                                                    \
    (struct host_thread * t, const struct host_place *place, int32_t param, void *to,              \
     const void *from, uint32_t bytes))                                                            \
  X(tile_host_async_commit, void, (struct host_thread * t))                                        \
  X(tile_host_async_wait, void, (struct host_thread * t, uint32_t pending))                        \
  X(tile_host_clock, int64_t, (struct host_thread * t))                                            \
  X(tile_host_print_i64, void,                                                                     \
    (struct host_thread * t, const char *prefix, int32_t index, int64_t value, int32_t flags))     \
  X(tile_host_print_f64, void,                                                                     \
    (struct host_thread * t, const char *prefix, int32_t index, double value))                     \
  X(tile_host_assert_fail, void,                                                                   \
    (struct host_thread * t, const struct host_place *place, const char *message))

#define X(name, result, params) result name params;
HOST_ROUTINES(X)
#undef X

// flags of tile_host_print_i64
#define HOST_PRINT_HEX 1
#define HOST_PRINT_UNSIGNED 2

#endif
