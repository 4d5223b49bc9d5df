// SPDX-License-Identifier: Apache-2.0
// Packs: the functions of an accepted pack can be listed, opened and loaded, for a GPU and for this
// processor. Images are also read alone, since a pack's hashes hide wrong ones.
#include "runtime/pack.h"

#include "drive.h"
#include "runtime/image.h"
#include "runtime/runtime_internal.h"

static void open_functions(tile_pack *pack, tile_device *device) {
  for (size_t i = 0; i < tile_pack_count(pack); i++) {
    tile_function *f;
    const char *name = tile_pack_name(pack, i);
    DRIVE_CHECK(name != NULL);
    if (tile_pack_get_function(pack, device, name, &f) != TILE_OK)
      continue;
    (void)tile_function_prepare(f);
    tile_function_close(f);
  }
  tile_device_close(device);
}

static void load_image(const uint8_t *data, size_t size) {
  struct image *image;
  if (image_load(data, size, "f", &image) == TILE_OK)
    image_destroy(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tile_pack *pack;
  tile_device *device;
  load_image(data, size);
  if (tile_pack_from_memory(data, size, &pack) != TILE_OK)
    return 0;
  (void)tile_pack_verify(pack);
  if (device_open_offline("sm_90a", &device) == TILE_OK)
    open_functions(pack, device);
  if (tile_device_open("cpu", &device) == TILE_OK)
    open_functions(pack, device);
  tile_pack_close(pack);
  return 0;
}
