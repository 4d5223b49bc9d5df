// SPDX-License-Identifier: Apache-2.0
// What reading and writing .safetensors files share.
#ifndef TILE_RUNTIME_WEIGHTS_FORMAT_H
#define TILE_RUNTIME_WEIGHTS_FORMAT_H

#include "base/dtype.h"
#include "base/str.h"

#include <tile/weights.h>

enum { WEIGHTS_MAX_HEADER = 100 << 20 }; // bytes, by the format's specification

// The format's name of a type ("BF16"); NULL: it has none.
const char *weights_type_name(enum dtype t);
bool weights_find_type(struct str name, enum dtype *ret);
// Bytes of a dense tensor; false if a size is negative or the product exceeds 64 bits.
bool weights_bytes(enum dtype t, int rank, const int64_t *shape, uint64_t *ret);

// A file to write. `read` gives the elements of one tensor, in host memory, until its next call;
// NULL: they are tensors[i].data. Sizes of tensors are not used: they follow from their shapes.
struct weights_file {
  const char *path;
  const tile_weight *tensors;
  size_t count;
  const tile_weights_note *notes;
  size_t note_count;
  tile_status (*read)(void *user, size_t index, const void **ret);
  void *user;
};
// ---- runtime/checkpoint.c ----
// tile_checkpoint_load from an opened file.
tile_status checkpoint_copy(tile_device *device, tile_stream *stream, const char *path,
                            const tile_weights *w, const tile_named_tensor *tensors, size_t count);
// ---- runtime/weights_write.c ----
tile_status weights_write(const struct weights_file *f);

#endif
