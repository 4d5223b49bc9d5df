// SPDX-License-Identifier: Apache-2.0
// Memory shared by tuner and worker: an unnamed file, freed with its last descriptor.
#define _GNU_SOURCE // memfd_create, mkostemp
#include "autotune/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int close_if(int error, int fd) {
  if (!error)
    return fd;
  close(fd);
  errno = error;
  return -1;
}

// A file of that size. On a disk its blocks are allocated now: a full disk would raise SIGBUS
// later.
static int open_nameless(size_t size) {
#if defined(__linux__)
  int memory = memfd_create("tile-tune", MFD_CLOEXEC);
  if (memory >= 0)
    return close_if(ftruncate(memory, (off_t)size) == 0 ? 0 : errno, memory);
#endif
  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tile-tune-XXXXXX", folder && *folder ? folder : "/tmp");
  int file = mkostemp(path, O_CLOEXEC);
  if (file < 0)
    return -1;
  unlink(path);
  return close_if(posix_fallocate(file, 0, (off_t)size), file);
}

tile_status tune_data_create(uint64_t bytes, int *ret_fd, void **ret_data) {
  size_t size = bytes ? (size_t)bytes : 1;
  int fd = open_nameless(size);
  void *p = MAP_FAILED;
  if (fd >= 0)
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
