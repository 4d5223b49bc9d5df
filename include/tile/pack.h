/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compiled ahead of time: packs written by `tilec --emit=pack`, or the C source written by
 * `--emit=c`. C89-clean, usable from C++; needs libtile-rt only. See docs/aot.md.
 *
 *   tile_pack *pack; tile_function *add;
 *   tile_pack_open("kernels.tpk", &pack);
 *   tile_pack_get_function(pack, device, "add", &add);
 *   tile_function_launch(add, stream, grid, args, 4);
 *
 * Errors, ownership and threads: as in runtime.h. All calls here are thread-safe, except that close
 * calls must be an object's last. Close functions before their pack and device. */
#ifndef TILE_PACK_H
#define TILE_PACK_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- packs: a file or a buffer of binaries for several devices ---- */
typedef struct tile_pack tile_pack;

/* Reads a pack from a file and checks its tables. TILE_NOT_FOUND or TILE_IO_ERROR: the file cannot
 * be read; TILE_INVALID_ARGUMENT: it is not a pack, or damaged. */
TILE_API tile_status tile_pack_open(const char *path, tile_pack **ret_pack);
/* The same for `size` bytes in memory. `data` is not copied: the caller keeps it unchanged until
 * the pack is closed. */
TILE_API tile_status tile_pack_from_memory(const void *data, size_t size, tile_pack **ret_pack);
TILE_API void tile_pack_close(tile_pack *pack); /* accepts NULL */

/* The number of functions. */
TILE_API size_t tile_pack_count(const tile_pack *pack);
/* The name of function `index` in file order; NULL if there is none. The pack owns the string. */
TILE_API const char *tile_pack_name(const tile_pack *pack, size_t index);
/* Checks every byte: TILE_OK or TILE_INVALID_ARGUMENT. (Opening checks the tables; loading a
 * function checks its binary.) */
TILE_API tile_status tile_pack_verify(const tile_pack *pack);

/* ---- functions: a kernel of a pack on a device ---- */
typedef struct tile_function tile_function;

/* Selects the binaries that run on `device`; loads none yet. TILE_NOT_FOUND: the pack has no
 * function `name`, or no binary for this device. The pack and the device must outlive the
 * function. */
TILE_API tile_status tile_pack_get_function(const tile_pack *pack, tile_device *device,
                                            const char *name, tile_function **ret_function);
TILE_API void tile_function_close(tile_function *function); /* accepts NULL */

/* Launches the most specific specialisation of the kernel whose assumptions (divisibility, values)
 * hold for the arguments. `args` are the run-time parameters in declaration order. Asynchronous on
 * a GPU. The first launch of a specialisation loads its binary. TILE_INVALID_ARGUMENT: a wrong
 * count or type of arguments, or no specialisation accepts them. */
TILE_API tile_status tile_function_launch(tile_function *function, tile_stream *stream,
                                          tile_grid grid, const tile_arg *args, size_t arg_count);
/* The same with options; NULL: defaults. */
TILE_API tile_status tile_function_launch_with(tile_function *function, tile_stream *stream,
                                               tile_grid grid, const tile_arg *args,
                                               size_t arg_count,
                                               const tile_launch_options *options);
/* Simulated GPUs only: launches also detect data races and reads of uninitialised memory
 * (docs/simulator.md) and then fail with TILE_CHECK_FAILED. TILE_INVALID_ARGUMENT on other
 * devices. */
TILE_API tile_status tile_function_set_check(tile_function *function, int on);
/* Loads every specialisation now, for example before a stream is captured. */
TILE_API tile_status tile_function_prepare(tile_function *function);

/* The specialisation that a launch with these arguments selects. The pack owns the string. */
typedef struct tile_function_choice {
  size_t specialisation;  /* its index; the most specific has index 0 */
  size_t specialisations; /* how many there are */
  const char *target;     /* "sm_90a" */
  int is_binary;          /* 1: machine code; 0: PTX that the driver compiles */
  unsigned num_warps;     /* that compute; a CTA can have more, which only copy */
  unsigned shared_bytes;  /* per CTA */
  int registers;          /* per thread; -1: unknown */
  int spilled;            /* bytes of spill stores per thread; -1: unknown */
} tile_function_choice;
TILE_API tile_status tile_function_choose(tile_function *function, const tile_arg *args,
                                          size_t arg_count, tile_function_choice *ret_choice);

/* ---- for the C code that tilec generates ---- */
/* Sets the calling thread's error message to a copy of `message` and returns `status`. */
TILE_API tile_status tile_fail(tile_status status, const char *message);

/* Arithmetic of grid expressions: sets *ret_failed to 1 on overflow and division by zero. */
TILE_API int64_t tile_grid_add(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_sub(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_mul(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_div(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_mod(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_cdiv(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_min(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_max(int64_t a, int64_t b, int *ret_failed);
/* Makes a grid of x * y * z programs. TILE_INVALID_ARGUMENT: `failed` is set, or an extent is out
 * of range. */
TILE_API tile_status tile_grid_make(int64_t x, int64_t y, int64_t z, int failed,
                                    tile_grid *ret_grid);

#ifdef __cplusplus
}
#endif

#endif
