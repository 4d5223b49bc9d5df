/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: compile .tile kernels at run time and launch them. C89-clean, usable from C++.
 *
 *   tile_device *device; tile_kernel *add;
 *   tile_device_open("auto", &device);
 *   tile_kernel_open(device, "add.tile", NULL, &add);
 *   tile_kernel_set_constant(add, "BLOCK", "1024");
 *   tile_launch(add, NULL, grid, args, 4);
 *
 * The first launch with new argument types or hints compiles (a few ms; then cached in memory and
 * on disk); later ones are a table look-up. See runtime.h for the conventions. */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- compiling in a process of its own ---- */

typedef struct tile_worker_options {
  double seconds;      /* that a compilation may take; 0: no limit */
  size_t bytes;        /* of memory that a compilation may take; 0: no limit */
  const char *program; /* NULL: $TILE_WORKER, else the `tile-worker` installed with the library */
} tile_worker_options;

/* From now on kernels for this device, those of graphs and tunings too, are compiled in processes
 * of their own, so that a failed allocation, a crash or an endless loop of the compiler ends
 * such a process and not this one. Off by default: compiling in this process is
 * somewhat faster (docs/c-api.md). NULL switches it off again. Looking into caches, loading and
 * launching stay in this process, and so does the code of kernels, which on the CPU device can
 * still crash this process.
 *
 * A compilation that goes beyond a limit fails with TILE_LIMIT, one whose process dies with
 * TILE_INTERNAL; the next one has a new process. Messages are those of a compilation here.
 *
 * Starts one worker: TILE_NOT_FOUND when there is no such program, TILE_INVALID_ARGUMENT when it
 * is of another build than this library; then nothing changes. `options` is copied. More workers
 * are started when several threads compile at once, at most one a core; they stay until the
 * setting changes, the device is closed or this process ends. Thread-safe; compilations under way
 * go on by the earlier setting. */
TILE_API tile_status tile_device_set_worker(tile_device *device,
                                            const tile_worker_options *options);

/* ---- kernels ---- */

typedef struct tile_kernel tile_kernel;

/* A kernel of a .tile file; `name` may be NULL if the file has one kernel. The file is read and
 * parsed now; the first launch checks types and generates code. */
TILE_API tile_status tile_kernel_open(tile_device *device, const char *path, const char *name,
                                      tile_kernel **ret_kernel);
/* The same from text; `file_name` appears in messages, and modules that the text imports are looked
 * for beside it (NULL: only in the folders added below). */
TILE_API tile_status tile_kernel_from_source(tile_device *device, const char *file_name,
                                             const char *text, size_t size, const char *name,
                                             tile_kernel **ret_kernel);
TILE_API void tile_kernel_close(tile_kernel *kernel);

/* Value of a compile-time parameter, as on the command line ("128", "1.5", "True", "float16"). */
TILE_API tile_status tile_kernel_set_constant(tile_kernel *kernel, const char *name,
                                              const char *value);
TILE_API tile_status tile_kernel_set_warps(tile_kernel *kernel, unsigned num_warps); /* default 4 */
TILE_API tile_status tile_kernel_set_stages(tile_kernel *kernel,
                                            unsigned num_stages); /* default 3 */
/* Registers a thread may use at most on a GPU, 16 to 255: fewer let more programs run side by side
 * on a multiprocessor, and too few spill. 0, the default: no bound. The CPU device ignores it. */
TILE_API tile_status tile_kernel_set_max_registers(tile_kernel *kernel, unsigned max_registers);
/* Compiles for another target than the device's own, "sm_80" on Hopper, say: for comparing, and for
 * code that shall be the same on several GPUs. TILE_INVALID_ARGUMENT for an unknown one, or CPU
 * against GPU; what the GPU cannot run, the launch refuses. */
TILE_API tile_status tile_kernel_set_target(tile_kernel *kernel, const char *target);
/* One more folder in which modules that kernels import are looked for, after those that there are.
 * The files are read when a launch compiles. */
TILE_API tile_status tile_kernel_add_folder(tile_kernel *kernel, const char *path);
/* CPU device and simulated GPUs: report out-of-bounds accesses, races and the
 * like (TILE_CHECK_FAILED from the launch). TILE_INVALID_ARGUMENT on a real GPU. */
TILE_API tile_status tile_kernel_set_check(tile_kernel *kernel, int on);

/* Launches with the kernel's run-time parameters in order (compile-time ones left out).
 * Asynchronous on a GPU. Thread-safe. */
TILE_API tile_status tile_launch(tile_kernel *kernel, tile_stream *stream, tile_grid grid,
                                 const tile_arg *args, size_t arg_count);
/* Compiles for these arguments without launching. */
TILE_API tile_status tile_kernel_prepare(tile_kernel *kernel, const tile_arg *args,
                                         size_t arg_count);

/* The artifact of the specialisation for these arguments: PTX text, or a CPU object. Valid until
 * the kernel is closed. */
TILE_API tile_status tile_kernel_get_code(tile_kernel *kernel, const tile_arg *args,
                                          size_t arg_count, const char **ret_code,
                                          size_t *ret_size);

#ifdef __cplusplus
}
#endif

#endif
