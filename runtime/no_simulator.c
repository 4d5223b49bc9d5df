// SPDX-License-Identifier: Apache-2.0
// libtile-rt has no simulator: it holds only what programs need to launch kernels on GPUs.
#include "runtime/device.h"

tile_status simulator_device_open(const char *target, UNUSED tile_device **ret) {
  return status_set(TILE_NO_DEVICE,
                    "libtile-rt does not simulate GPUs (`simulate:%s`)\n"
                    "  = help: link with libtile, which does",
                    target);
}
