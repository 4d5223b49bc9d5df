/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: compile .tile kernels at run time and launch them. C89-clean, usable from C++.
 *
 *   tile_device *device; tile_kernel *add;
 *   tile_device_open("auto", &device);
 *   tile_kernel_open(device, "add.tile", NULL, &add);
 *   tile_kernel_set_constant(add, "BLOCK", "1024");
 *   tile_launch(add, NULL, grid, args, 4);
 *
 * The first launch with new argument types or hints compiles the kernel (a few ms) and caches the
 * code in memory and on disk; later launches look it up in a table. Errors, ownership and threads:
 * as in runtime.h. */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- compiling in a worker process ---- */

typedef struct tile_worker_options {
  double seconds;      /* limit of one compilation's time; 0: no limit */
  size_t bytes;        /* limit of one compilation's memory; 0: no limit */
  const char *program; /* NULL: $TILE_WORKER, else the `tile-worker` installed with the library */
} tile_worker_options;

/* Compiles all later kernels of this device, including those of graphs and tunings, in worker
 * processes: a failed allocation, a crash or an endless loop of the compiler ends a worker and not
 * this process. NULL turns that off, the default: compiling in this process is somewhat faster
 * (docs/c-api.md). This process still reads caches, loads and launches; on the CPU device it also
 * runs the kernels, whose code can crash it.
 *
 * A compilation that exceeds a limit fails with TILE_LIMIT; one whose worker dies fails with
 * TILE_INTERNAL. The next compilation gets a new worker. Diagnostics are the same either way.
 *
 * The call starts one worker. TILE_NOT_FOUND: no such program; TILE_INVALID_ARGUMENT: the program
 * is from another build than this library. After an error the setting is unchanged. `options` is
 * copied. When several threads compile at once, more workers start, at most one per core. They run
 * until the setting changes, the device is closed or this process ends. Thread-safe; compilations
 * in progress finish with the earlier setting. */
TILE_API tile_status tile_device_set_worker(tile_device *device,
                                            const tile_worker_options *options);

/* ---- kernels ---- */

typedef struct tile_kernel tile_kernel;

/* Reads and parses the file and returns its kernel `name`; NULL if the file has one kernel. The
 * first launch checks types and generates code. The device must outlive the kernel.
 * TILE_COMPILE_ERROR: the file does not parse; TILE_NOT_FOUND: no such file or kernel. */
TILE_API tile_status tile_kernel_open(tile_device *device, const char *path, const char *name,
                                      tile_kernel **ret_kernel);
/* The same for `size` bytes of text, which are copied. `file_name` appears in messages, and its
 * folder is searched for imported modules (NULL: only the folders added below). */
TILE_API tile_status tile_kernel_from_source(tile_device *device, const char *file_name,
                                             const char *text, size_t size, const char *name,
                                             tile_kernel **ret_kernel);
TILE_API void tile_kernel_close(tile_kernel *kernel); /* accepts NULL */

/* Settings apply to launches that begin later. Do not change them while other threads launch. */

/* Sets a compile-time parameter (constexpr). `value` is written as on the command line ("128",
 * "1.5", "True", "float16"). `name` may also be an element of a tuple ("s[1]", after
 * tile_kernel_set_tuple), and `value` "()" of any run-time parameter without a type: before the first
 * launch only, and launches then pass no argument for it. */
TILE_API tile_status tile_kernel_set_constant(tile_kernel *kernel, const char *name,
                                              const char *value);
TILE_API tile_status tile_kernel_set_warps(tile_kernel *kernel, unsigned num_warps); /* default 4 */
TILE_API tile_status tile_kernel_set_stages(tile_kernel *kernel,
                                            unsigned num_stages); /* default 3 */
/* Declares that the argument of run-time parameter `name` is a tuple of `count` elements (1 to
 * 256): launches then pass the elements, one tile_arg each, in the tuple's place. They are the
 * parameters "name[0]", "name[1]", ..., which may be declared tuples themselves. Before the first
 * launch. TILE_INVALID_ARGUMENT: there is no such parameter, it has a type, or there was a launch.
 */
TILE_API tile_status tile_kernel_set_tuple(tile_kernel *kernel, const char *name, size_t count);
/* Limits the registers per thread on a GPU, 16 to 255 (ptxas --maxrregcount): fewer registers allow
 * more CTAs per multiprocessor; too few spill. 0, the default: no limit. The CPU device ignores
 * it. */
TILE_API tile_status tile_kernel_set_max_registers(tile_kernel *kernel, unsigned max_registers);
/* Programs of a cluster on sm_90 and newer (Triton's num_ctas): 1, 2, 4, 8 or 16 neighbours along
 * the grid's first dimension, which load blocks once that all of them read. Results do not depend
 * on it. */
TILE_API tile_status tile_kernel_set_num_ctas(tile_kernel *kernel, unsigned num_ctas);
/* Whether warps of their own load blocks of tensor descriptors (sm_90a): "auto", the default: where
 * that is possible, except in loops with `tl.range(warp_specialize=False)`; "on": in these loops
 * too; "off": nowhere, all warps load by pointers. Ignored by other targets. TILE_INVALID_ARGUMENT:
 * another text. */
TILE_API tile_status tile_kernel_set_warp_specialize(tile_kernel *kernel, const char *choice);
/* Nonzero: programmatic dependent launch, as Triton's launch_pdl=True. Launches may begin while the
 * kernel in front of them in the stream still runs, as soon as all of its CTAs have called
 * tl.extra.cuda.gdc_launch_dependents() or ended; gdc_wait() then waits until that kernel has ended
 * and its results are visible. A kernel without gdc_wait() gets one in front of its first access to
 * global memory. Default 0. Ignored before compute capability 9.0, by drivers before CUDA 12.3 and
 * on the CPU. */
TILE_API tile_status tile_kernel_set_launch_pdl(tile_kernel *kernel, int on);
/* Compiles for another target than the device's, for example "sm_80" on Hopper, to compare them or
 * to run the same code on several GPUs. TILE_INVALID_ARGUMENT: an unknown target, or a CPU target
 * for a GPU or the reverse. A launch fails if the GPU cannot run the code. */
TILE_API tile_status tile_kernel_set_target(tile_kernel *kernel, const char *target);
/* Appends a folder to the search path of imported modules. A launch that compiles reads them. */
TILE_API tile_status tile_kernel_add_folder(tile_kernel *kernel, const char *path);
/* On the CPU device and simulated GPUs: launches detect out-of-bounds accesses, data races and the
 * like, and then fail with TILE_CHECK_FAILED. TILE_INVALID_ARGUMENT on a real GPU. */
TILE_API tile_status tile_kernel_set_check(tile_kernel *kernel, int on);

/* Launches the kernel on a grid of programs; compiles first if this specialisation is new. `args`
 * are the run-time parameters in declaration order (without constexpr parameters); they are copied.
 * Asynchronous on a GPU. Thread-safe. */
TILE_API tile_status tile_launch(tile_kernel *kernel, tile_stream *stream, tile_grid grid,
                                 const tile_arg *args, size_t arg_count);
/* The same with options; NULL: defaults. */
TILE_API tile_status tile_launch_with(tile_kernel *kernel, tile_stream *stream, tile_grid grid,
                                      const tile_arg *args, size_t arg_count,
                                      const tile_launch_options *options);
/* ---- prepared launches: arguments checked, and their specialisation found, once ---- */

typedef struct tile_prepared tile_prepared;

/* Compiles and loads the specialisation for these arguments and keeps their values; tensor
 * descriptors are copied. The kernel's settings are those of now: later ones do not matter. Destroy
 * it before the kernel. */
TILE_API tile_status tile_prepared_create(tile_kernel *kernel, const tile_arg *args,
                                          size_t arg_count, tile_prepared **ret_prepared);
/* Replaces argument `index`. A value that needs another specialisation (another type, or a pointer
 * that is no longer a multiple of 16 bytes) selects that one, which compiles if it is new, with the
 * kernel's settings of now. Not while another thread launches. */
TILE_API tile_status tile_prepared_set(tile_prepared *prepared, size_t index, tile_arg arg);
/* Launches with the present values: what remains is the driver's call. Thread-safe. */
TILE_API tile_status tile_prepared_launch(tile_prepared *prepared, tile_stream *stream,
                                          tile_grid grid);
TILE_API void tile_prepared_destroy(tile_prepared *prepared); /* accepts NULL */

/* ---- the kernel's parameters ---- */

/* The kernel owns the strings. */
typedef struct tile_parameter {
  const char *name;
  const char *default_text; /* as tile_kernel_set_constant takes it; NULL: none, or no literal */
  int is_constexpr;         /* set by name; the others are arguments of launches, in this order */
  int has_default;
  int is_typed;      /* the annotation gives kind and type; else they are those of the argument */
  int is_pointer;    /* if typed */
  int is_const;      /* const_ptr[...]: never stored through */
  int is_descriptor; /* if typed */
  tile_type type;    /* if typed: of a pointer or descriptor, its elements' */
} tile_parameter;

TILE_API size_t tile_kernel_parameter_count(const tile_kernel *kernel); /* 0 for NULL */
/* Parameter `index` in the order of the source. TILE_NOT_FOUND: there are fewer. */
TILE_API tile_status tile_kernel_get_parameter(const tile_kernel *kernel, size_t index,
                                               tile_parameter *ret_parameter);
/* The name of the kernel, which owns the string; "" for NULL. */
TILE_API const char *tile_kernel_name(const tile_kernel *kernel);

/* Compiles and loads the specialisation for these arguments; does not launch. Thread-safe. */
TILE_API tile_status tile_kernel_prepare(tile_kernel *kernel, const tile_arg *args,
                                         size_t arg_count);

/* The compiled code of the specialisation for these arguments: PTX text for a GPU, an object file
 * for the CPU. The kernel owns it. */
TILE_API tile_status tile_kernel_get_code(tile_kernel *kernel, const tile_arg *args,
                                          size_t arg_count, const char **ret_code,
                                          size_t *ret_size);

/* What a specialisation uses. */
typedef struct tile_kernel_resources {
  int registers;   /* per thread (cuFuncGetAttribute); 0 on the CPU and on simulated GPUs */
  int local_bytes; /* of local memory per thread: spilled registers and indexed arrays; as above */
  unsigned shared_bytes; /* of dynamic shared memory per CTA */
  unsigned threads;      /* per CTA, with those of producer warps */
  unsigned num_warps, num_stages, num_ctas;
} tile_kernel_resources;

/* Compiles and loads the specialisation for these arguments, and asks the driver. Thread-safe. */
TILE_API tile_status tile_kernel_get_resources(tile_kernel *kernel, const tile_arg *args,
                                               size_t arg_count, tile_kernel_resources *ret);

#ifdef __cplusplus
}
#endif

#endif
