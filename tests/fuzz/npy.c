// SPDX-License-Identifier: Apache-2.0
// The .npy reader for arguments.
#include "drive.h"
#include "tools/launch/npy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const enum dtype as[] = {DTYPE_NONE, DTYPE_BF16, DTYPE_F8E5};
  struct drive d;
  char path[64];
  if (!drive_begin(&d))
    return 0;
  int fd = drive_file(data, size, path);
  struct array array;
  if (npy_read(d.arena, d.diag, SPAN_NONE, path, as[size % COUNT_OF(as)], &array)) {
    uint64_t sum = 0;
    for (size_t i = 0; i < array.count * dtype_bytes(array.dtype); i++)
      sum += ((const uint8_t *)array.data)[i];
    DRIVE_CHECK(sum < UINT64_MAX);
    array_finish(&array);
  }
  drive_close(fd);
  drive_end(&d);
  return 0;
}
