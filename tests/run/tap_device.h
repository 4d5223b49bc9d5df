// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder that print TAP by themselves share.
#ifndef TESTS_RUN_TAP_DEVICE_H
#define TESTS_RUN_TAP_DEVICE_H

#include <tile/tile.h>

#include <stdio.h>
#include <stdlib.h>

// Ends the program with the message of the error.
static inline void need(tile_status status) {
  if (status == TILE_OK)
    return;
  printf("Bail out! %s\n", tile_error_message());
  exit(1);
}

// A copy of `bytes` bytes in the device's memory; free it with tile_free.
static inline void *upload(tile_device *device, const void *data, size_t bytes) {
  void *at;
  need(tile_malloc(device, bytes, &at));
  need(tile_copy_to_device(device, NULL, at, data, bytes));
  return at;
}

#endif
