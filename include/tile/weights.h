/* SPDX-License-Identifier: Apache-2.0 */
/* Named tensors from files: a .safetensors file, one .npy file, or a folder of NAME.npy. Opening
 * reads the files into memory, so changing or truncating a file later is harmless (1 GiB in the
 * page cache takes 1.4 s to read; a memory mapping would take none). C89-clean, usable from C++;
 * needs libtile-rt only. The read calls are thread-safe. */
#ifndef TILE_WEIGHTS_H
#define TILE_WEIGHTS_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_weights tile_weights;

#define TILE_WEIGHTS_MAX_RANK 8

typedef struct tile_weight {
  const char *name;
  tile_type type;
  int rank;
  int64_t shape[TILE_WEIGHTS_MAX_RANK];
  const void *data; /* host memory, contiguous, outermost dimension first; may be unaligned */
  size_t size;      /* bytes */
} tile_weight;

/* TILE_NOT_FOUND or TILE_IO_ERROR: the path cannot be read. TILE_INVALID_ARGUMENT: not a regular
 * file, or malformed; every offset is checked against the file's size and the tensor's shape, and
 * the tensors of a .safetensors file must cover its data without gaps or overlaps. */
TILE_API tile_status tile_weights_open(const char *path, tile_weights **ret_weights);
TILE_API void tile_weights_close(tile_weights *weights); /* accepts NULL */

/* The number of tensors. They have the order of the file; those of a folder are sorted by name. */
TILE_API size_t tile_weights_count(const tile_weights *weights);
/* The tensor with this index or name; TILE_NOT_FOUND if there is none. The weights own the name and
 * the data. */
TILE_API tile_status tile_weights_at(const tile_weights *weights, size_t index, tile_weight *ret);
TILE_API tile_status tile_weights_find(const tile_weights *weights, const char *name,
                                       tile_weight *ret);

#ifdef __cplusplus
}
#endif

#endif
