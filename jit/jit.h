// SPDX-License-Identifier: Apache-2.0
// From source to launched kernel, for the rooms above (tools, later autotune and graph): what
// include/tile/tile.h offers, with the diagnostics, the specialisation and the timings in reach.
#ifndef TILE_JIT_JIT_H
#define TILE_JIT_JIT_H

#include "jit/worker/message.h"
#include "lang/tuning/tuning.h"
#include "lowering/compile.h"
#include "runtime/runtime_internal.h"

#include <tile/tile.h>

// A kernel compiled for given argument types and hints. Lives as long as its tile_kernel.
struct jit_spec;

// Where diagnostics go that would else be rendered into tile_error_message(): an engine, and the
// arena it lives on, which must outlive the kernel (locations point into it).
struct jit_report {
  struct arena *arena;
  struct diag_engine *diag;
  // For jit_kernel_open: values of constants of the file (lang/frontend.h: lang_outer), copied.
  const struct lang_binding *constants;
  size_t constant_count;
  // For jit_kernel_open: the source, read; it outlives the kernel, and is the kernel's from then
  // on, which settles it. NULL: the kernel reads it.
  struct lang_unit *unit;
};

// Opens a kernel, as tile_kernel_from_source does; with a report (may be NULL) the caller gets
// errors and warnings as records.
tile_status jit_kernel_open(tile_device *device, const char *file_name, struct str text,
                            const char *kernel, const struct jit_report *report, tile_kernel **ret);

// The status, and the thread's message, of a source file that file_read could not read: `error` is
// an errno value.
tile_status jit_read_failure(const char *path, int error);
// The source in a file, on `a`, which needs no handler.
tile_status jit_read_file(struct arena *a, const char *path, struct str *ret);

// Not to be consulted nor filled: for measuring compilations.
void jit_kernel_set_disk_cache(tile_kernel *kernel, bool on);
// For those who load many kernels at once: PTX is assembled in the thread that asks, where the
// driver would do one after another, and the machine code is kept in the disk cache.
void jit_kernel_set_assembled_apart(tile_kernel *kernel, bool on);
// Of such kernels: what takes the assembler long is at first assembled quickly, and runs somewhat
// slower until jit_kernel_optimize has put the best code in its place. Results are the same.
void jit_kernel_set_tier1_first(tile_kernel *kernel, bool on);
bool jit_kernel_is_optimized(tile_kernel *kernel);
// In any thread, while others launch the kernel; not while it is closed.
void jit_kernel_optimize(tile_kernel *kernel);
// Loads the kernel, assembled apart, for these arguments if code and machine code are in the disk
// cache; else TILE_NOT_FOUND, at once. Nobody else has the kernel yet.
tile_status jit_kernel_prepare_kept(tile_kernel *kernel, const tile_arg *args, size_t arg_count);
// Compiles and loads the kernel for all arguments that `like` was compiled for so far: the same
// source in another configuration, neither with decorators. Others may launch both meanwhile.
tile_status jit_kernel_prepare_like(tile_kernel *kernel, tile_kernel *like);
// Where a compilation shows its passes; also keeps it from the disk cache.
void jit_kernel_set_passes(tile_kernel *kernel, const struct pass_options *options);

// Declared run-time parameters (compile-time ones left out), in the order of the arguments.
const struct lang_param *jit_kernel_params(const tile_kernel *kernel, size_t *ret_count);
// All of them, those that are compile-time too.
const struct lang_param *jit_kernel_declared(const tile_kernel *kernel, size_t *ret_count);
const char *jit_kernel_name(const tile_kernel *kernel);

// The specialisation for these arguments, compiled now if need be. `report` may be NULL; a
// compilation that another thread had begun leaves no records in it.
tile_status jit_specialise(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                           const struct jit_report *report, struct jit_spec **ret);

// What a launch with these arguments costs, by the kernel's IR after its last pass: no code is
// made, nothing is kept. For those who choose a configuration by it.
tile_status jit_cost(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                     const struct jit_cost_job *question, const struct jit_report *report,
                     struct kernel_cost *ret);

// Neither a pointer nor a float.
static inline bool jit_is_integer(const tile_arg *arg) {
  return !arg->is_pointer && (unsigned)arg->type <= TILE_U64;
}
// An argument as functions of decorators see it (lang/tuning/tuning.h).
struct lang_known jit_known_argument(const char *name, const tile_arg *arg);

const struct kernel_info *jit_spec_info(const struct jit_spec *spec);
struct str jit_spec_code(const struct jit_spec *spec); // NUL-terminated

struct jit_timing {
  struct compile_timing compile; // zero when the code came from the disk
  double find_ms;                // all of it: cache look-up, compilation, storing
  double load_ms;                // driver or linker; 0 before the first load
  bool from_disk;
};
struct jit_timing jit_spec_timing(const struct jit_spec *spec);

// Loaded on the kernel's device, at the first call.
tile_status jit_spec_module(tile_kernel *kernel, struct jit_spec *spec, struct module **ret);

// The name of run-time parameter `index` of the specialisation for these arguments, which may have
// fewer than the source (arguments equal to 1 are compiled in); NULL when there is none such.
const char *tile_kernel_param_name(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                                   int32_t index);

#endif
