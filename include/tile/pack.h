/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compiled beforehand: packs made by `tilec --emit=pack`, or the C source of
 * `--emit=c`. C89-clean, usable from C++; needs libtile-rt alone. docs/aot.md has the whole story.
 *
 *   tile_pack *pack; tile_function *add;
 *   tile_pack_open("kernels.tpk", &pack);
 *   tile_pack_get_function(pack, device, "add", &add);
 *   tile_function_launch(add, stream, grid, args, 4);
 *
 * The conventions are those of runtime.h: errors are return values with a message, nothing exits.
 */
#ifndef TILE_PACK_H
#define TILE_PACK_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- packs: a file or bytes, checked once; they belong to no device ---- */
typedef struct tile_pack tile_pack;

/* TILE_NOT_FOUND or TILE_IO_ERROR for the file, TILE_INVALID_ARGUMENT for what is no sound pack. */
TILE_API tile_status tile_pack_open(const char *path, tile_pack **ret_pack);
/* `data` is used in place: it must stay as it is until the pack is closed. */
TILE_API tile_status tile_pack_from_memory(const void *data, size_t size, tile_pack **ret_pack);
/* After its functions. Accepts NULL. */
TILE_API void tile_pack_close(tile_pack *pack);

/* Names of the functions, in the order of the file; NULL for an index that is too large. */
TILE_API size_t tile_pack_count(const tile_pack *pack);
TILE_API const char *tile_pack_name(const tile_pack *pack, size_t index);
/* Opening checks the tables, loading checks the binary it needs; this checks every byte. */
TILE_API tile_status tile_pack_verify(const tile_pack *pack);

/* ---- functions: a kernel of a pack on a device ---- */
typedef struct tile_function tile_function;

/* Chooses the binaries for the device. TILE_NOT_FOUND when the pack has no such function, or
 * nothing that runs on this device. The pack and the device must outlive the function. */
TILE_API tile_status tile_pack_get_function(const tile_pack *pack, tile_device *device,
                                            const char *name, tile_function **ret_function);
TILE_API void tile_function_close(tile_function *function); /* accepts NULL */

/* Launches the most specific of the kernel's specialisations whose promises the arguments keep.
 * `args` are the run-time parameters in order. Asynchronous, thread-safe; a binary is handed to the
 * driver at its first launch. */
TILE_API tile_status tile_function_launch(tile_function *function, tile_stream *stream,
                                          tile_grid grid, const tile_arg *args, size_t arg_count);
/* Simulated GPUs: launches also report races and what is read unwritten (docs/simulator.md), as
 * TILE_CHECK_FAILED. TILE_INVALID_ARGUMENT elsewhere. */
TILE_API tile_status tile_function_set_check(tile_function *function, int on);
/* Hands every specialisation to the driver now, for instance before a stream is captured. */
TILE_API tile_status tile_function_prepare(tile_function *function);

/* What a launch with these arguments would run. The texts live as long as the pack. */
typedef struct tile_function_choice {
  size_t specialisation; /* index, the most specific one first */
  size_t specialisations;
  const char *target; /* "sm_90a" */
  int is_binary;      /* machine code; else PTX that the driver compiles */
  unsigned num_warps;
  unsigned shared_bytes;
  int registers; /* a thread's, -1: not known */
  int spilled;   /* bytes of stores a thread, -1: not known */
} tile_function_choice;
TILE_API tile_status tile_function_choose(tile_function *function, const tile_arg *args,
                                          size_t arg_count, tile_function_choice *ret_choice);

/* ---- for generated code ---- */
/* Sets the calling thread's message and returns `status`. */
TILE_API tile_status tile_fail(tile_status status, const char *message);

/* Grids: *ret_failed is set when a result does not exist or does not fit. */
TILE_API int64_t tile_grid_add(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_sub(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_mul(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_div(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_mod(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_cdiv(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_min(int64_t a, int64_t b, int *ret_failed);
TILE_API int64_t tile_grid_max(int64_t a, int64_t b, int *ret_failed);
/* A grid of these extents, or TILE_INVALID_ARGUMENT when one is out of range or `failed` is set. */
TILE_API tile_status tile_grid_make(int64_t x, int64_t y, int64_t z, int failed,
                                    tile_grid *ret_grid);

#ifdef __cplusplus
}
#endif

#endif
