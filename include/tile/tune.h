/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: autotuned kernels, which select block sizes, warps and stages. C89-clean, usable from C++.
 *
 *   tile_tuned *matmul;
 *   tile_tuned_open(device, "matmul.tile", NULL, &matmul);
 *   tile_tuned_set_grid(matmul, "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)");
 *   tile_tuned_launch(matmul, NULL, args, 8);
 *
 * The key of a launch is the device, the argument types and the values of the scalar arguments that
 * matter. The first launch with a new key reads matmul.tune.json beside the kernel; if the key is
 * not there, the policy decides between the default configuration and measuring. A separate process
 * measures, on copies of the arrays, so the arrays do not change before the launch itself. This
 * process compiles the candidates, unless the device has compile workers (tile_device_set_worker).
 * Errors, ownership and threads: as in runtime.h. Do not call tile_tuned_set_* while other threads
 * launch. */
#ifndef TILE_TUNE_H
#define TILE_TUNE_H

#include <tile/tile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tile_tune_policy {
  TILE_TUNE_NEVER,  /* use the default configuration */
  TILE_TUNE_CACHED, /* use the file's entry, else the default; never measure. The default policy */
  TILE_TUNE_ALWAYS  /* use the file's entry, else measure and add an entry */
} tile_tune_policy;

typedef struct tile_tuned tile_tuned;

/* Opens a kernel like tile_kernel_open. The search space is the kernel's @autotune decorator, else
 * it is derived from the kernel. */
TILE_API tile_status tile_tuned_open(tile_device *device, const char *path, const char *name,
                                     tile_tuned **ret_tuned);
TILE_API void tile_tuned_close(tile_tuned *tuned); /* accepts NULL */
TILE_API tile_status tile_tuned_set_policy(tile_tuned *tuned, tile_tune_policy policy);
/* Required before a launch: the number of programs along each axis, "X[,Y[,Z]]". Each is an integer
 * expression over scalar arguments, sizes of tensor descriptors ("a.shape[0]") and compile-time
 * parameters with + - * / % min max cdiv. */
TILE_API tile_status tile_tuned_set_grid(tile_tuned *tuned, const char *grid);
/* Replaces the search space: "BLOCK=64..1024:x2, num_warps=1,2,4". */
TILE_API tile_status tile_tuned_set_space(tile_tuned *tuned, const char *space);
/* Fixes a compile-time parameter, as tile_kernel_set_constant does. */
TILE_API tile_status tile_tuned_set_constant(tile_tuned *tuned, const char *name,
                                             const char *value);
/* The tuning file to read and update; NULL: FILE.tune.json beside the kernel. */
TILE_API tile_status tile_tuned_set_file(tile_tuned *tuned, const char *path);
/* Limits one search, in seconds and in configurations measured. 0: 30 s, 24 configurations (all of
 * an @autotune list). */
TILE_API tile_status tile_tuned_set_budget(tile_tuned *tuned, double seconds, unsigned candidates);

typedef struct tile_tune_event {
  const char *config;     /* "BLOCK_M=128, ..., num_warps=4"; valid during the call */
  double ms;              /* its median time; below 0 if it did not run */
  const char *why;        /* why it did not run, or NULL */
  const char *best;       /* the fastest configuration so far, or NULL */
  double best_ms;         /* its median time */
  unsigned done, planned; /* configurations measured, and to be measured in all */
} tile_tune_event;
/* Called after each configuration, in the thread whose launch tunes. Return nonzero to stop the
 * search and use the fastest configuration so far. */
typedef int (*tile_tune_callback)(void *user, const tile_tune_event *event);
TILE_API tile_status tile_tuned_set_callback(tile_tuned *tuned, tile_tune_callback callback,
                                             void *user);

/* Launches with the configuration for these arguments; the grid comes from tile_tuned_set_grid.
 * `args` are the run-time parameters in declaration order. Asynchronous on a GPU. Thread-safe: if
 * several threads launch with the same new key, one tunes and the others wait. After a failure
 * nothing was launched, and the next launch tries again. */
TILE_API tile_status tile_tuned_launch(tile_tuned *tuned, tile_stream *stream, const tile_arg *args,
                                       size_t arg_count);
/* The configuration that a launch with these arguments uses ("BLOCK=128, num_warps=4"); tunes first
 * if the policy says so. The string is valid until tile_tuned_close. */
TILE_API tile_status tile_tuned_get_config(tile_tuned *tuned, const tile_arg *args,
                                           size_t arg_count, const char **ret_config);

#ifdef __cplusplus
}
#endif

#endif
