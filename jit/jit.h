// SPDX-License-Identifier: Apache-2.0
// From source to launched kernel, for the rooms above (tools, autotune, graph): what
// include/tile/tile.h offers, plus diagnostics, specialisations and timings.
#ifndef TILE_JIT_JIT_H
#define TILE_JIT_JIT_H

#include "jit/worker/message.h"
#include "lang/tuning/tuning.h"
#include "lowering/compile.h"
#include "runtime/runtime_internal.h"

#include <tile/tile.h>

// A kernel compiled for given argument types and hints. Lives as long as its tile_kernel.
struct jit_spec;

// A diagnostic engine that receives the diagnostics, which would else be rendered into
// tile_error_message(), and its arena, which must outlive the kernel (locations point into it).
struct jit_report {
  struct arena *arena;
  struct diag_engine *diag;
  // For jit_kernel_open: values of constants of the file (lang/frontend.h: lang_outer); copied.
  const struct lang_binding *constants;
  size_t constant_count;
  // For jit_kernel_open: the parsed source, which must outlive the kernel; the kernel takes it over
  // and resolves its definitions. NULL: the kernel parses the source.
  struct lang_unit *unit;
};

// Opens a kernel, as tile_kernel_from_source does; with a report (may be NULL) errors and warnings
// are records in it.
tile_status jit_kernel_open(tile_device *device, const char *file_name, struct str text,
                            const char *kernel, const struct jit_report *report, tile_kernel **ret);

// The status and message of a source file that file_read could not read: `error` is an errno value.
tile_status jit_read_failure(const char *path, int error);
// Reads a source file onto `a`, which needs no handler.
tile_status jit_read_file(struct arena *a, const char *path, struct str *ret);

// Makes tuples of the parameters that these names of arguments flatten: `s[0]`, `s[1]` of `s`. Only
// before the first launch.
tile_status jit_kernel_flatten(tile_kernel *kernel, const char *const *names, size_t count);
// Makes a run-time parameter a compile-time one; TILE_INVALID_ARGUMENT after the first launch.
tile_status jit_kernel_fix(tile_kernel *kernel, size_t declared);
// Neither reads nor fills the disk cache: for measuring compilations.
void jit_kernel_set_disk_cache(tile_kernel *kernel, bool on);
// For loading many kernels at once: PTX is assembled in the calling thread (the driver would
// serialise it), and the machine code is kept in the disk cache.
void jit_kernel_set_assembled_apart(tile_kernel *kernel, bool on);
// For such kernels: code that takes the assembler long is first assembled as tier-1 code, which
// runs somewhat slower until jit_kernel_optimize has replaced it. Results are the same.
void jit_kernel_set_tier1_first(tile_kernel *kernel, bool on);
bool jit_kernel_is_optimized(tile_kernel *kernel);
// May run in any thread while others launch the kernel; not while it is closed.
void jit_kernel_optimize(tile_kernel *kernel);
// Loads a kernel of jit_kernel_set_assembled_apart for these arguments if code and machine code are
// in the disk cache; else TILE_NOT_FOUND, without compiling. No other thread may use the kernel
// yet.
tile_status jit_kernel_prepare_kept(tile_kernel *kernel, const tile_arg *args, size_t arg_count);
// Compiles and loads the kernel for all arguments that `like` was compiled for so far: the same
// source in another configuration, neither with decorators. Other threads may launch both
// meanwhile.
tile_status jit_kernel_prepare_like(tile_kernel *kernel, tile_kernel *like);
// Options that print passes; disables the disk cache.
void jit_kernel_set_passes(tile_kernel *kernel, const struct pass_options *options);

// The run-time parameters (without compile-time ones), in the order of the arguments.
const struct lang_param *jit_kernel_params(const tile_kernel *kernel, size_t *ret_count);
// All declared parameters, including compile-time ones.
const struct lang_param *jit_kernel_declared(const tile_kernel *kernel, size_t *ret_count);
const char *jit_kernel_name(const tile_kernel *kernel);

// The specialisation for these arguments, compiled now if needed. `report` may be NULL; a
// compilation that another thread began leaves no records in it.
tile_status jit_specialise(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                           const struct jit_report *report, struct jit_spec **ret);

// The cost of a launch with these arguments, estimated from the kernel's IR after the last pass;
// generates no code and caches nothing. For choosing a configuration.
tile_status jit_cost(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                     const struct jit_cost_job *question, const struct jit_report *report,
                     struct kernel_cost *ret);

// An integer: neither a pointer nor a float.
static inline bool jit_is_integer(const tile_arg *arg) {
  return !arg->is_pointer && (unsigned)arg->type <= TILE_U64;
}
// The integer arguments by name, and the sizes and strides of tensor descriptors: `a.shape[0]`.
struct cost_argument *jit_integers(struct arena *a, const tile_arg *args, const char *const *names,
                                   size_t count, size_t *ret_count);
// An argument as decorator functions see it (lang/tuning/tuning.h).
struct lang_known jit_known_argument(const char *name, const tile_arg *arg);

const struct kernel_info *jit_spec_info(const struct jit_spec *spec);
struct str jit_spec_code(const struct jit_spec *spec); // NUL-terminated

struct jit_timing {
  struct compile_timing compile; // zero when the code came from the disk cache
  double find_ms;                // cache look-up, compilation and storing together
  double load_ms;                // driver or linker; 0 before the first load
  bool from_disk;
};
struct jit_timing jit_spec_timing(const struct jit_spec *spec);

// Loaded on the kernel's device at the first call.
tile_status jit_spec_module(tile_kernel *kernel, struct jit_spec *spec, struct module **ret);

// The name of run-time parameter `index` of the specialisation for these arguments, which may have
// fewer than the source (arguments equal to 1 are compiled in); NULL when there is none.
const char *tile_kernel_param_name(tile_kernel *kernel, const tile_arg *args, size_t arg_count,
                                   int32_t index);

#endif
