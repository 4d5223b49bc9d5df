/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors on file, by name: a .safetensors file, one .npy file, or a folder of NAME.npy. Files are
 * read whole when they are opened (1 GiB of the page cache took 1.4 s where a mapping takes none), so
 * that changing or shortening one later does no harm. C89-clean, usable from C++; needs
 * libtile-rt alone. */
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
  const void *data; /* dense, outermost dimension first; may lie at any address */
  size_t size;      /* bytes */
} tile_weight;

/* TILE_NOT_FOUND or TILE_IO_ERROR for the path, TILE_INVALID_ARGUMENT for what is malformed: every
 * offset is checked against the file and the shape; tensors of a .safetensors file cover its data
 * without gaps and overlaps. What is not a regular file is malformed. */
TILE_API tile_status tile_weights_open(const char *path, tile_weights **ret_weights);
TILE_API void tile_weights_close(tile_weights *weights); /* accepts NULL */

/* In the order of the file; of a folder, by name. */
TILE_API size_t tile_weights_count(const tile_weights *weights);
/* Pointers live as long as the weights. TILE_NOT_FOUND. */
TILE_API tile_status tile_weights_at(const tile_weights *weights, size_t index, tile_weight *ret);
TILE_API tile_status tile_weights_find(const tile_weights *weights, const char *name,
                                       tile_weight *ret);

#ifdef __cplusplus
}
#endif

#endif
