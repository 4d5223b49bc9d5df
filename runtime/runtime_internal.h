// SPDX-License-Identifier: Apache-2.0
// Between the runtime's files and the rooms above it (jit, tools): modules made from artifacts, raw
// launches, error setting.
#ifndef TILE_RUNTIME_RUNTIME_INTERNAL_H
#define TILE_RUNTIME_RUNTIME_INTERNAL_H

#include "base/cpu_abi.h"
#include "base/kernel_info.h"

#include <tile/runtime.h>

// Sets the calling thread's message and returns `status`, so that `return status_set(...)` reads
// well.
tile_status status_set(tile_status status, const char *fmt, ...) PRINTF(2, 3);

// A loaded kernel: GPU function or host function. `info` must outlive it.
struct module;
// From PTX text (NUL-terminated) or a cubin: the driver loads it, compiling PTX.
tile_status module_load(tile_device *device, const void *code, size_t size,
                        const struct kernel_info *info, struct module **ret);
// How much time the assembler takes. Results are the same.
enum assembly { ASSEMBLY_OPTIMIZED, ASSEMBLY_TIER1 };
// PTX text (NUL-terminated, `size` without it) to a cubin for that GPU, for module_load; malloc'ed.
// Several threads may do so at once, which loading PTX directly does not allow: the driver takes it
// one after another. TILE_COMPILE_ERROR with the assembler's log.
tile_status module_assemble(tile_device *device, const char *ptx, size_t size, enum assembly how,
                            void **ret_code, size_t *ret_size);
// From CPU code that the caller keeps alive; `release(user)` is called when the module goes.
tile_status module_from_cpu(tile_device *device, cpu_kernel_fn fn, const struct kernel_info *info,
                            void (*release)(void *user), void *user, struct module **ret);
void module_destroy(struct module *m);

// `values[i]` points to the i-th run-time parameter's value in its own type. `check`: on devices
// with device_checks.
tile_status module_launch(struct module *m, tile_stream *stream, tile_grid grid,
                          void *const *values, bool check);

// Registers of a GPU kernel, bytes spilled (local memory a thread); 0 on the CPU.
tile_status module_resources(struct module *m, int *ret_registers, int *ret_local_bytes);

// Host memory that the device copies to and from fast; where there is no such, plain memory.
tile_status device_staging_alloc(tile_device *d, size_t size, void **ret);
void device_staging_free(tile_device *d, void *p); // accepts NULL

bool device_is_cpu(const tile_device *d);
const char *device_target(const tile_device *d); // "sm_90a", "cpu"
bool device_checks(const tile_device *d);        // launches may be checked: cpu and simulated GPUs
bool device_assembles(const tile_device *d); // module_assemble works; else PTX is loaded as it is
// Stands for a GPU of that target in a process that opens none: kernels are compiled for it, and
// nothing runs (TILE_NO_DEVICE).
tile_status device_open_offline(const char *target, tile_device **ret);
// By which tile_device_open opens the same device in another process: "cpu", "cuda:1",
// "simulate:sm_90a".
void device_open_name(const tile_device *d, char ret[32]);
// What a room above keeps with the device: put there once, it stays, and `close` (may be NULL) is
// called with it when the device is closed. device_keep returns what is there from now on: another
// thread may have been faster. NULL: nothing.
void *device_keep(tile_device *d, void *what, void (*close)(void *what));
void *device_kept(const tile_device *d);
// The allocation that device address `p` lies in, by whomever it was made: where it begins and its
// bytes. Only those of tile_malloc are known where the device is no real GPU.
// TILE_INVALID_ARGUMENT: in none.
tile_status device_allocation(tile_device *d, const void *p, void **ret_base, size_t *ret_size);

// CPU and simulated devices: where device_print writes; nowhere by default.
void device_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user);
// The CPU's launches print nothing until it is taken back; other devices ignore it.
void device_quiet(tile_device *d, bool on);
enum cpu_violation_kind {
  CPU_OUTSIDE,          // of the buffer of `param`, or of every buffer
  CPU_ASSERTION,        // a device_assert did not hold: `message`
  CPU_DIVERGENCE,       // the thread waits where the other does not come: `message`
  CPU_SHARED_OUTSIDE,   // of the CTA's shared memory
  CPU_SHARED_UNWRITTEN, // shared memory read that no thread of the CTA wrote
  CPU_SHARED_RACE,      // shared memory touched by both threads, no barrier between
  CPU_SHARED_COPYING,   // shared memory touched while a copy to it by the other is under way
  CPU_MISALIGNED,       // copied from an address that is no multiple of `elements` bytes
  // Of simulated devices only:
  CPU_UNWRITTEN,   // a register or memory is used that nothing wrote: `message`
  CPU_GLOBAL_RACE, // global memory touched by both threads, nothing orders them
  CPU_ILLEGAL,     // an operand that the instruction does not allow: `message`
  CPU_ENDLESS,     // the launch ran for as many instructions as it may: `message`
};
struct cpu_violation { // one violation of a checked launch
  enum cpu_violation_kind kind;
  struct cpu_location location;
  int32_t param; // index of the run-time parameter, -1 unknown
  enum cpu_access access;
  int64_t element;   // index into the buffer, in elements (bytes in shared memory); may be negative
  uint64_t elements; // the buffer's length in elements, 0 unknown
  int32_t program_id[3], thread_id;
  // Of a race: who touched it before. Of a copy under way: who copies. Of a divergence: who is
  // missing, and where it waits if so.
  int32_t other_thread;
  int32_t other_program[3]; // of a race in global memory
  enum cpu_access other_access;
  struct cpu_location other_location;
  char message[256];
  const char *instruction; // of simulated devices: the PTX instruction; else NULL
};
// Violations of the device's last checked launch, by program and thread (at most 16 kept,
// `*ret_total` counts all).
size_t device_violations(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total);

// ---- on-disk cache (runtime/cache.c): content-addressed, one file an entry ----
struct disk_cache;
// NULL when there is no usable folder (no HOME, not ours, world-writable, read-only): then nothing
// is cached. *ret_why (may be NULL) is a static text or NULL.
struct disk_cache *disk_cache_open(const char **ret_why);
void disk_cache_close(struct disk_cache *c);
// `key` is a SHA-256. False on a miss; damaged entries are removed and count as misses. The bytes
// live on `a`.
bool disk_cache_get(struct disk_cache *c, struct arena *a, const uint8_t key[32],
                    struct str *ret_info, struct str *ret_code);
void disk_cache_put(struct disk_cache *c, const uint8_t key[32], struct str info,
                    struct str code); // failures are silent
// A folder of that name in the cache's, made if need be, for files that are no entries; its
// descriptor is the caller's, -1 when there is none. In CACHE_TUNE_FOLDER files that were not
// written to for a month are removed.
#define CACHE_TUNE_FOLDER "tune"
int disk_cache_folder(struct disk_cache *c, const char *name);

#endif
