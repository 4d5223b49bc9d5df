// SPDX-License-Identifier: Apache-2.0
// Packs: the functions of an accepted pack can be listed, opened and chosen.
#include "runtime/pack.h"

#include "drive.h"
#include "runtime/runtime_internal.h"

static void open_functions(tile_pack *pack) {
  tile_device *device;
  if (device_open_offline("sm_90a", &device) != TILE_OK)
    return;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tile_pack *pack;
  if (tile_pack_from_memory(data, size, &pack) != TILE_OK)
    return 0;
  (void)tile_pack_verify(pack);
  open_functions(pack);
  tile_pack_close(pack);
  return 0;
}
