// SPDX-License-Identifier: Apache-2.0
// The target of a run of tilec: --target, else the machine's GPU, else the CPU.
#include "tools/tool.h"

const struct target *tool_target(const struct tool *t) {
  const struct target *target = target_find(t->o.target ? str_from(t->o.target) : STR("cpu"));
  tile_device *device;
  tile_device_properties properties;
  if (t->o.target || tile_device_open("auto", &device) != TILE_OK)
    return target;
  if (tile_device_get_properties(device, &properties) == TILE_OK)
    target = target_find(str_from(properties.target));
  tile_device_close(device);
  return target;
}
