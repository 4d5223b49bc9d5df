// SPDX-License-Identifier: Apache-2.0
// Memory that tuner and worker share: a file without a name, which goes with its last descriptor.
#define _GNU_SOURCE // memfd_create, mkostemp
#include "autotune/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_nameless(void) {
#if defined(__linux__)
  int fd = memfd_create("tile-tune", MFD_CLOEXEC);
  if (fd >= 0)
    return fd;
#endif
  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tile-tune-XXXXXX", folder && *folder ? folder : "/tmp");
  int file = mkostemp(path, O_CLOEXEC);
  if (file >= 0)
    unlink(path);
  return file;
}

tile_status tune_data_create(uint64_t bytes, int *ret_fd, void **ret_data) {
  int fd = open_nameless();
  size_t size = bytes ? (size_t)bytes : 1;
  void *p = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    int error = errno;
    if (fd >= 0)
      close(fd);
    return status_set(error == ENOMEM ? TILE_OUT_OF_MEMORY : TILE_IO_ERROR,
                      "no shared memory of %zu bytes for the arrays: %s", size, strerror(error));
  }
  *ret_fd = fd;
  *ret_data = p;
  return TILE_OK;
}
