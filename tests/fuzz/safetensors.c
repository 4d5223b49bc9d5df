// SPDX-License-Identifier: Apache-2.0
// .safetensors files: tensors of an accepted file lie within it.
#include "drive.h"

#include <tile/weights.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Readers check the suffix of the name, so this makes a link with such a name to the file in
// memory.
static char link_path[200];
static void remove_link(void) { unlink(link_path); }

static void make_link(const char *path) {
  static char target[64];
  if (strcmp(target, path) == 0)
    return;
  const char *folder = getenv("TMPDIR");
  if (!target[0])
    atexit(remove_link);
  snprintf(target, sizeof target, "%s", path);
  snprintf(link_path, sizeof link_path, "%s/fuzz-%ld.safetensors", folder ? folder : "/tmp",
           (long)getpid());
  unlink(link_path);
  DRIVE_CHECK(symlink(path, link_path) == 0);
}

static void check_all(tile_weights *w, size_t size) {
  for (size_t i = 0; i < tile_weights_count(w); i++) {
    tile_weight t, again;
    uint64_t sum = 0;
    DRIVE_CHECK(tile_weights_at(w, i, &t) == TILE_OK);
    for (size_t b = 0; b < t.size; b++)
      sum += ((const uint8_t *)t.data)[b];
    DRIVE_CHECK(sum < UINT64_MAX && t.size <= size);
    DRIVE_CHECK(tile_weights_find(w, t.name, &again) == TILE_OK);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  tile_weights *w;
  int fd = drive_file(data, size, path);
  if (fd < 0)
    return 0;
  make_link(path);
  if (tile_weights_open(link_path, &w) == TILE_OK) {
    check_all(w, size);
    tile_weights_close(w);
  }
  drive_close(fd);
  return 0;
}
