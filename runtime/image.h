// SPDX-License-Identifier: Apache-2.0
// Code of a processor in a pack: an image that was linked when the pack was made (image_link.c) and
// needs no relocation where it is loaded (image_load.c): all references within it are relative.
// What it calls outside of it goes through slots at its begin, which the loader fills with
// addresses.
//
// All numbers are little-endian u32.
//   0   bytes of the image, a multiple of 64
//   4   entry: offset in the image of `void (struct cpu_thread *, void *const *args)`
//   (base/cpu_abi.h) 8   number of slots, at most IMAGE_MAX_SLOTS 12  bytes of the names, up to the
//   image: header and names are a multiple of 64 16  the names that the slots are for, each with
//   its NUL; then zeros
//   ..  the image: 8 bytes for each slot (zeros), code, constants
#ifndef TILE_RUNTIME_IMAGE_H
#define TILE_RUNTIME_IMAGE_H

#include "base/cpu_abi.h"
#include "base/str.h"

#include <tile/runtime.h>

enum {
  IMAGE_AT_BYTES = 0,
  IMAGE_AT_ENTRY = 4,
  IMAGE_AT_SLOTS = 8,
  IMAGE_AT_NAME_BYTES = 12,
  IMAGE_HEADER_BYTES = 16,
  IMAGE_ALIGN = 64,
  IMAGE_SLOT_BYTES = 8,
  IMAGE_MAX_SLOTS = 128,
  IMAGE_MAX_BYTES = 1 << 28,
};

// The parts of an image in memory.
struct image_view {
  uint32_t entry, slot_count;
  const char *names; // slot_count texts, one behind the other
  const uint8_t *bytes;
  uint32_t size;
};

// False when the bytes are no image.
bool image_read(const void *data, size_t size, struct image_view *ret);

// Code in executable memory, which is never writable and executable at once.
struct image;
// Copies an image to memory of its own. `name` is the function's, for messages. TILE_IO_ERROR: it
// is malformed, TILE_NOT_FOUND: it needs a routine that this library does not have.
tile_status image_load(const void *data, size_t size, const char *name, struct image **ret);
cpu_kernel_fn image_entry(const struct image *image);
void image_destroy(void *image); // struct image; accepts NULL

// ---- image_link.c, not part of libtile-rt ----
// Links an ELF object file of one kernel (x86-64, AArch64) whose function is `entry`. NULL:
// appended to `out`; else why not, on the arena.
const char *image_link(struct arena *a, struct str object, const char *entry, struct strbuf *out);

#endif
