// SPDX-License-Identifier: Apache-2.0
// Between the runtime's files and the rooms above it (jit, tools): modules, launches with raw
// values, statuses.
#ifndef TILE_RUNTIME_RUNTIME_INTERNAL_H
#define TILE_RUNTIME_RUNTIME_INTERNAL_H

#include "base/cpu_abi.h"
#include "base/kernel_info.h"

#include <tile/runtime.h>

// Sets the calling thread's message and returns `status`: `return status_set(...)`.
tile_status status_set(tile_status status, const char *fmt, ...) PRINTF(2, 3);
// The same for a compilation that failed: `text` is its rendered diagnostics, `records` the same as
// a JSON array, for tile_error_json.
tile_status status_set_diagnostics(tile_status status, const char *text, const char *records);

// A loaded kernel: a GPU function or a CPU function. `info` must outlive it.
struct module;
// Loads PTX text (NUL-terminated) or a cubin; the driver compiles PTX.
tile_status module_load(tile_device *device, const void *code, size_t size,
                        const struct kernel_info *info, struct module **ret);
// Effort of the assembler. The results of the kernel are the same.
enum assembly { ASSEMBLY_OPTIMIZED, ASSEMBLY_TIER1 };
// Assembles PTX (NUL-terminated, `size` without the NUL) to a cubin for that GPU, for module_load;
// malloc'ed. Several threads may do so at once; the driver serialises the loading of PTX.
// TILE_COMPILE_ERROR with the assembler's log.
tile_status module_assemble(tile_device *device, const char *ptx, size_t size, enum assembly how,
                            void **ret_code, size_t *ret_size);
// Whether that PTX may be assembled apart from loading it: the driver then ignores setmaxnreg
// (C7504).
bool module_may_be_apart(const char *ptx);
// From CPU code that the caller keeps alive; calls `release(user)` when the module is destroyed.
tile_status module_from_cpu(tile_device *device, cpu_kernel_fn fn, const struct kernel_info *info,
                            void (*release)(void *user), void *user, struct module **ret);
void module_destroy(struct module *m);
// Where the kernel's source is, for traces; `file` outlives the module.
void module_set_source(struct module *m, const char *file, uint32_t line);

enum launch_flags {
  LAUNCH_CHECKED = 1,  // detect wrong accesses; only on devices with device_checks
  LAUNCH_IN_ORDER = 2, // a kernel with launch_pdl begins after all earlier work of the stream, too
};
static inline unsigned launch_flags_of(const tile_launch_options *o) { // NULL: defaults
  return o && o->in_order ? LAUNCH_IN_ORDER : 0;
}
// `values[i]` points to the i-th run-time parameter's value in its own type. `flags`: enum
// launch_flags.
tile_status module_launch(struct module *m, tile_stream *stream, tile_grid grid,
                          void *const *values, unsigned flags);

// Registers of a GPU kernel and its spilled bytes (local memory per thread); 0 on the CPU.
tile_status module_resources(struct module *m, int *ret_registers, int *ret_local_bytes);

// Page-locked memory of the CPU, which the device copies to and from fast; plain memory where the
// device has none.
tile_status device_staging_alloc(tile_device *d, size_t size, void **ret);
void device_staging_free(tile_device *d, void *p); // accepts NULL

bool device_is_cpu(const tile_device *d);
const char *device_target(const tile_device *d); // "sm_90a", "cpu"
bool device_checks(const tile_device *d);        // launches can be checked: cpu and simulated GPUs
bool device_assembles(const tile_device *d);     // module_assemble works; else PTX is loaded
// A device for that target without a GPU: kernels are compiled for it, and every launch returns
// TILE_NO_DEVICE.
tile_status device_open_offline(const char *target, tile_device **ret);
// The name by which tile_device_open opens the same device in another process: "cpu", "cuda:1",
// "simulate:sm_90a".
void device_open_name(const tile_device *d, char ret[32]);
// State that an upper layer stores with the device: set once; `close` (may be NULL) is called with
// it when the device is closed. device_keep returns the stored state, which may be another
// thread's. NULL: none.
void *device_keep(tile_device *d, void *what, void (*close)(void *what));
void *device_kept(const tile_device *d);
// The base and size of the allocation that contains device address `p`, whichever library made it;
// on devices other than real GPUs only allocations of tile_malloc are known. TILE_INVALID_ARGUMENT:
// none contains it.
tile_status device_allocation(tile_device *d, const void *p, void **ret_base, size_t *ret_size);

// CPU and simulated devices: the callback of device_print; NULL (default) prints nothing.
void device_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user);
// As tile_malloc, of the CPU only. The buffer ends less than `align` bytes before inaccessible
// memory, and a launch without checks fails if it writes to the bytes beside it. `align` is a power
// of two of at least 16 and at most 256.
tile_status device_malloc_watched(tile_device *d, size_t size, size_t align, void **ret);
// Suppresses the output of CPU launches until it is undone; other devices ignore it.
void device_quiet(tile_device *d, bool on);
// Around several launches: the CPU device then prepares its process for them once. Calls nest.
void device_begin_launches(const tile_device *d);
void device_end_launches(const tile_device *d);
enum cpu_violation_kind {
  CPU_OUTSIDE,          // outside the buffer of `param`, or outside every buffer
  CPU_ASSERTION,        // a device_assert did not hold: `message`
  CPU_DIVERGENCE,       // the thread waits at a collective that the other thread does not reach:
                        // `message`
  CPU_SHARED_OUTSIDE,   // of the CTA's shared memory
  CPU_SHARED_UNWRITTEN, // shared memory was read that no thread of the CTA wrote
  CPU_SHARED_RACE,      // two threads accessed shared memory without a barrier between them
  CPU_SHARED_COPYING,   // shared memory was accessed while a copy of the other thread to it is
                        // pending
  CPU_MISALIGNED,       // the source address of a copy is no multiple of `elements` bytes
  CPU_GLOBAL_RACE,      // two threads accessed global memory without ordering; on the CPU, of two
                        // programs
  // Of simulated devices only:
  CPU_UNWRITTEN, // a register or memory was used before it was written: `message`
  CPU_ILLEGAL,   // an operand that the instruction does not allow: `message`
  CPU_ENDLESS,   // the launch exceeded its instruction limit: `message`
};
struct cpu_violation { // one report of a checked launch
  enum cpu_violation_kind kind;
  struct cpu_location location;
  int32_t param; // index of the run-time parameter; -1: unknown
  enum cpu_access access;
  int64_t element;   // index into the buffer, in elements (bytes in shared memory); may be negative
  uint64_t elements; // the buffer's length in elements; 0: unknown
  int32_t program_id[3], thread_id;
  // Race: the earlier access. Pending copy: its thread. Divergence: the missing thread, and where
  // it waits, if it does.
  int32_t other_thread;
  int32_t other_program[3]; // of a race in global memory
  enum cpu_access other_access;
  struct cpu_location other_location;
  char message[2048];
  // Of simulated devices: the PTX instruction and its line, and that of the other thread; else NULL
  // and 0.
  const char *instruction;
  uint32_t ptx_line, other_ptx_line;
};
// Violations of the device's last checked launch, ordered by program and thread (at most 16 are
// kept; `*ret_total` counts all).
size_t device_violations(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total);
// Whether the last checked launch on a CPU accessed more memory than is looked at for races between
// programs (cpu_races.h), so that some may have been missed.
bool device_races_were_partial(tile_device *d);

// ---- on-disk cache (runtime/cache.c): content-addressed, one file an entry ----
struct disk_cache;
// NULL when there is no usable folder (no HOME, another owner, world-writable, read-only): nothing
// is cached then. *ret_why (may be NULL) is set to a static text or NULL.
struct disk_cache *disk_cache_open(const char **ret_why);
void disk_cache_close(struct disk_cache *c);
// `key` is a SHA-256. False on a miss; damaged entries are removed and count as misses. The bytes
// are allocated on `a`.
bool disk_cache_get(struct disk_cache *c, struct arena *a, const uint8_t key[32],
                    struct str *ret_info, struct str *ret_code);
void disk_cache_put(struct disk_cache *c, const uint8_t key[32], struct str info,
                    struct str code); // failures are silent
// Opens a folder of that name in the cache's, created if needed, for files that are no entries; the
// caller closes the descriptor, -1 when there is none. Files in CACHE_TUNE_FOLDER that were not
// written to for a month are removed.
#define CACHE_TUNE_FOLDER "tune"
int disk_cache_folder(struct disk_cache *c, const char *name);

#endif
