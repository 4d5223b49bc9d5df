// SPDX-License-Identifier: Apache-2.0
// libtile-rt reports that it has no simulator.
#include <tile/runtime.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  tile_device *d = NULL;
  int ok = tile_device_open("simulate:sm_90a", &d) == TILE_NO_DEVICE && !d &&
           strstr(tile_error_message(), "libtile-rt");
  printf("1..1\n%s 1 - libtile-rt has no simulator\n", ok ? "ok" : "not ok");
  return !ok;
}
