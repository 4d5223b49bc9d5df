// SPDX-License-Identifier: Apache-2.0
// Put between tilec and the runtime: what comes back from a device has one element of f32 that is
// wrong by a thousandth, the one whose number is in WRONG_ELEMENT.
#include "tile/runtime.h"

#include <stdlib.h>

tile_status __real_tile_copy_to_host(tile_device *d, tile_stream *s, void *to, const void *from,
                                     size_t size);
tile_status __wrap_tile_copy_to_host(tile_device *d, tile_stream *s, void *to, const void *from,
                                     size_t size);

tile_status __wrap_tile_copy_to_host(tile_device *d, tile_stream *s, void *to, const void *from,
                                     size_t size) {
  tile_status status = __real_tile_copy_to_host(d, s, to, from, size);
  const char *text = getenv("WRONG_ELEMENT");
  size_t i = text ? strtoul(text, NULL, 10) : 0;
  if (status == TILE_OK && text && size >= (i + 1) * sizeof(float))
    ((float *)to)[i] *= 1.001f;
  return status;
}
