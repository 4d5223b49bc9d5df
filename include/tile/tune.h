/* SPDX-License-Identifier: Apache-2.0 */
/* Tile: kernels that choose their own block sizes. C89-clean, usable from C++.
 *
 *   tile_tuned *matmul;
 *   tile_tuned_open(device, "matmul.tile", NULL, &matmul);
 *   tile_tuned_set_grid(matmul, "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)");
 *   tile_tuned_launch(matmul, NULL, args, 8);
 *
 * The first launch with a new key (device, types and the scalar arguments that matter) looks into
 * matmul.tune.json beside the kernel, then, as the policy says, takes the kernel's default, or
 * measures. Measuring takes place in a process of its own on copies of the arrays: what the
 * pointers point at does not change before the launch itself. Candidates are compiled in this
 * process unless the device has workers for that (tile_device_set_worker). Conventions as in
 * runtime.h. */
#ifndef TILE_TUNE_H
#define TILE_TUNE_H

#include <tile/tile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tile_tune_policy {
  TILE_TUNE_NEVER,  /* always the default configuration */
  TILE_TUNE_CACHED, /* what is on file, else the default; nothing is measured. The usual policy */
  TILE_TUNE_ALWAYS  /* what is on file, else measure now and put it on file */
} tile_tune_policy;

typedef struct tile_tuned tile_tuned;

/* As tile_kernel_open. The space is the kernel's own (@autotune), else derived from it. */
TILE_API tile_status tile_tuned_open(tile_device *device, const char *path, const char *name,
                                     tile_tuned **ret_tuned);
TILE_API void tile_tuned_close(tile_tuned *tuned);
TILE_API tile_status tile_tuned_set_policy(tile_tuned *tuned, tile_tune_policy policy);
/* Programs along each axis, "X[,Y[,Z]]": integer expressions over scalar arguments and compile-time
 * parameters with + - * / % min max cdiv. */
TILE_API tile_status tile_tuned_set_grid(tile_tuned *tuned, const char *grid);
/* "BLOCK=64..1024:x2, num_warps=1,2,4": instead of the kernel's own. */
TILE_API tile_status tile_tuned_set_space(tile_tuned *tuned, const char *space);
TILE_API tile_status tile_tuned_set_constant(tile_tuned *tuned, const char *name,
                                             const char *value);
/* Where results are read and written; NULL: FILE.tune.json beside the kernel. */
TILE_API tile_status tile_tuned_set_file(tile_tuned *tuned, const char *path);
/* Seconds and candidates that a tuning may take; 0: 30 s, 24 candidates (a list of @autotune
 * whole). */
TILE_API tile_status tile_tuned_set_budget(tile_tuned *tuned, double seconds, unsigned candidates);

typedef struct tile_tune_event {
  const char *config; /* "BLOCK_M=128, ..., num_warps=4"; valid during the call */
  double ms;          /* its median; below 0 when it did not run */
  const char *why;    /* why not, or NULL */
  const char *best;   /* best so far, or NULL */
  double best_ms;
  unsigned done, planned;
} tile_tune_event;
/* Called in the thread of the launch that tunes. Nonzero: stop and take the best so far. */
typedef int (*tile_tune_callback)(void *user, const tile_tune_event *event);
TILE_API tile_status tile_tuned_set_callback(tile_tuned *tuned, tile_tune_callback callback,
                                             void *user);

/* Launches with the configuration of these arguments' key. Thread-safe; of threads that need the
 * same new key one tunes and the others wait. A failure launches nothing and is not remembered. */
TILE_API tile_status tile_tuned_launch(tile_tuned *tuned, tile_stream *stream, const tile_arg *args,
                                       size_t arg_count);
/* The configuration that a launch would take ("BLOCK=128, num_warps=4"), chosen now if need be;
 * valid until the handle is closed. */
TILE_API tile_status tile_tuned_get_config(tile_tuned *tuned, const tile_arg *args,
                                           size_t arg_count, const char **ret_config);

#ifdef __cplusplus
}
#endif

#endif
