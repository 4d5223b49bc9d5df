/* SPDX-License-Identifier: Apache-2.0 */
/* Named tensors in files: a .safetensors file, one .npy file, or a folder of NAME.npy. Opening
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

/* A text of a .safetensors file beside its tensors (its `__metadata__`). */
typedef struct tile_weights_note {
  const char *key, *value;
} tile_weights_note;
/* The text with this key, which the weights own; NULL: the file has none. */
TILE_API const char *tile_weights_find_note(const tile_weights *weights, const char *key);

/* ---- writing ---- */
/* Writes `count` tensors and `note_count` texts to a .safetensors file (the format of
 * huggingface.co/docs/safetensors; `size` of a tensor does not count). The elements of tensor i are
 * those of its shape, contiguous, at `data`. Tensors with larger elements come first, so that each
 * is aligned to its elements. Either the whole new file replaces `path`, and is on the disk, or
 * `path` is as before, also if the process is killed meanwhile: a file `PATH.*.tmp` may then be
 * left. TILE_INVALID_ARGUMENT: a name, key or value that is NULL, twice there, not UTF-8 or (a
 * name) "__metadata__", a type that the format lacks, a negative size, more than
 * TILE_WEIGHTS_MAX_RANK sizes. TILE_LIMIT: a header of more than 100 MB. TILE_IO_ERROR. */
TILE_API tile_status tile_weights_save(const char *path, const tile_weight *tensors, size_t count,
                                       const tile_weights_note *notes, size_t note_count);

/* ---- checkpoints: tensors in device memory ---- */
typedef struct tile_named_tensor {
  const char *name;
  tile_tensor tensor; /* contiguous: strides NULL, or those of a dense tensor */
} tile_named_tensor;
/* Waits for the stream, and writes the tensors as tile_weights_save does, one after the other
 * through a buffer in host memory of the largest one's size. */
TILE_API tile_status tile_checkpoint_save(tile_device *device, tile_stream *stream,
                                          const char *path, const tile_named_tensor *tensors,
                                          size_t count, const tile_weights_note *notes,
                                          size_t note_count);
/* Copies the tensors of a file into those of the same names, bit for bit. Their names must be those
 * of the file, all of them, and so must types and shapes: else TILE_INVALID_ARGUMENT, a message
 * that names all that differ, and no tensor is changed. `ret_weights`, the opened file, may be
 * NULL; the caller closes it. Errors of the file itself: as tile_weights_open. */
TILE_API tile_status tile_checkpoint_load(tile_device *device, tile_stream *stream,
                                          const char *path, const tile_named_tensor *tensors,
                                          size_t count, tile_weights **ret_weights);

#ifdef __cplusplus
}
#endif

#endif
