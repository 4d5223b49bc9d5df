// SPDX-License-Identifier: Apache-2.0
// Shared functions of the fuzz drivers.
#define _GNU_SOURCE // memfd_create
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

bool drive_begin(struct drive *d) {
  setenv("TILE_CACHE_DIR", "", 1);
  d->arena = arena_create();
  d->diag = d->arena ? diag_engine_create(d->arena) : NULL;
  return d->diag != NULL;
}

void drive_end(struct drive *d) {
  struct strbuf text = {0};
  diag_render_text(d->diag, (struct diag_style){.color = true, .remarks = true}, &text);
  diag_render_json(d->diag, &text);
  strbuf_finish(&text);
  arena_destroy(d->arena);
}

int drive_file(const uint8_t *data, size_t size, char path[64]) {
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0)
    return -1;
  if (write(fd, data, size) != (ssize_t)size) {
    close(fd);
    return -1;
  }
  snprintf(path, 64, "/proc/self/fd/%d", fd);
  return fd;
}

void drive_close(int fd) { close(fd); }

_Noreturn void drive_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  abort();
}
