// SPDX-License-Identifier: Apache-2.0
// Opens packs; the checked grid arithmetic that generated C calls.
#include "runtime/pack.h"

#include "base/memory.h"
#include "runtime/runtime_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static tile_status null_argument(const char *call, const char *what) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: `%s` is NULL", call, what);
}

static tile_status no_memory(void) {
  return status_set(TILE_OUT_OF_MEMORY, "out of memory for a pack");
}

static tile_status open_checked(const void *data, size_t size, void *owned, tile_pack **ret) {
  tile_pack *p = memory_alloc(sizeof *p);
  if (!p)
    return no_memory();
  tile_status s = pack_read(data, size, p);
  if (s != TILE_OK) {
    free(p);
    return s;
  }
  p->owned = owned;
  *ret = p;
  return TILE_OK;
}

tile_status tile_pack_from_memory(const void *data, size_t size, tile_pack **ret_pack) {
  if (!data || !ret_pack)
    return null_argument("tile_pack_from_memory", !data ? "data" : "ret_pack");
  return open_checked(data, size, NULL, ret_pack);
}

// Reads a file of known size; a file that became shorter meanwhile is an error.
static int read_exactly(int fd, char *to, size_t size) {
  while (size) {
    ssize_t got = read(fd, to, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno;
    if (got == 0)
      return EIO;
    to += got;
    size -= (size_t)got;
  }
  return 0;
}

// Reads the file instead of mapping it: truncating a mapped file raises SIGBUS in its readers.
static int read_file(const char *path, void **ret, size_t *ret_size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  struct stat st;
  void *data = NULL;
  int error = 0;
  if (fstat(fd, &st) < 0)
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  else if (!S_ISREG(st.st_mode))
    error = EINVAL;
  else if (!(data = memory_aligned(PACK_ALIGN, (size_t)st.st_size + 1)))
    error = ENOMEM;
  else
    error = read_exactly(fd, data, (size_t)st.st_size);
  close(fd);
  if (error) {
    free(data);
    return error;
  }
  *ret = data;
  *ret_size = (size_t)st.st_size;
  return 0;
}

tile_status tile_pack_open(const char *path, tile_pack **ret_pack) {
  if (!path || !ret_pack)
    return null_argument("tile_pack_open", !path ? "path" : "ret_pack");
  void *data = NULL;
  size_t size = 0;
  int error = read_file(path, &data, &size);
  if (error == ENOMEM)
    return no_memory();
  if (error)
    return status_set(error == ENOENT ? TILE_NOT_FOUND : TILE_IO_ERROR, "cannot read `%s`: %s",
                      path, strerror(error));
  tile_status s = open_checked(data, size, data, ret_pack);
  if (s == TILE_OK)
    return s;
  free(data);
  return status_set(s, "`%s`: %s", path, tile_error_message());
}

void tile_pack_close(tile_pack *pack) {
  if (!pack)
    return;
  free(pack->owned);
  free(pack);
}

size_t tile_pack_count(const tile_pack *pack) { return pack ? pack->counts[PACK_KERNELS] : 0; }

const char *tile_pack_name(const tile_pack *pack, size_t index) {
  if (index >= tile_pack_count(pack))
    return NULL;
  return pack_text(pack,
                   pack_u32(pack_entry(pack, PACK_KERNELS, (uint32_t)index) + PACK_KERNEL_NAME));
}

// The bytes from `begin` to `end`, which are padding between codes.
static bool all_zero(const tile_pack *p, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; i++)
    if (p->data[i] != 0)
      return false;
  return true;
}

tile_status tile_pack_verify(const tile_pack *pack) {
  if (!pack)
    return null_argument("tile_pack_verify", "pack");
  uint64_t end = pack_u64(pack->data + PACK_AT_INDEX_BYTES);
  for (uint32_t i = 0; i < pack->counts[PACK_CODES]; i++) {
    const void *code;
    size_t size;
    tile_status s = pack_code(pack, i, &code, &size);
    if (s != TILE_OK)
      return s;
    uint64_t begin = (uint64_t)((const uint8_t *)code - pack->data);
    if (!all_zero(pack, end, begin))
      return status_set(TILE_INVALID_ARGUMENT,
                        "invalid pack: there are bytes between its code objects");
    end = begin + size;
  }
  return TILE_OK;
}

// ---- for generated code ----

tile_status tile_fail(tile_status status, const char *message) {
  return status_set(status, "%s", message ? message : "");
}

// Each operation uses the compiler's checked builtins; a failure is sticky.
int64_t tile_grid_add(int64_t a, int64_t b, int *ret_failed) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r))
    *ret_failed = 1;
  return r;
}

int64_t tile_grid_sub(int64_t a, int64_t b, int *ret_failed) {
  int64_t r = 0;
  if (__builtin_sub_overflow(a, b, &r))
    *ret_failed = 1;
  return r;
}

int64_t tile_grid_mul(int64_t a, int64_t b, int *ret_failed) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r))
    *ret_failed = 1;
  return r;
}

static bool can_divide(int64_t a, int64_t b, int *ret_failed) {
  if (b != 0 && !(b == -1 && a == INT64_MIN))
    return true;
  *ret_failed = 1;
  return false;
}

int64_t tile_grid_div(int64_t a, int64_t b, int *ret_failed) {
  return can_divide(a, b, ret_failed) ? a / b : 0;
}

int64_t tile_grid_mod(int64_t a, int64_t b, int *ret_failed) {
  return can_divide(a, b, ret_failed) ? a % b : 0;
}

int64_t tile_grid_cdiv(int64_t a, int64_t b, int *ret_failed) {
  if (!can_divide(a, b, ret_failed))
    return 0;
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

int64_t tile_grid_min(int64_t a, int64_t b, int *ret_failed) {
  (void)ret_failed;
  return a < b ? a : b;
}

int64_t tile_grid_max(int64_t a, int64_t b, int *ret_failed) {
  (void)ret_failed;
  return a > b ? a : b;
}

tile_status tile_grid_make(int64_t x, int64_t y, int64_t z, int failed, tile_grid *ret_grid) {
  if (failed)
    return status_set(TILE_INVALID_ARGUMENT,
                      "the grid of this launch does not exist: a division by zero, or a number "
                      "beyond 64 bits");
  const int64_t extents[] = {x, y, z};
  for (int axis = 0; axis < 3; axis++) {
    int64_t limit = axis == 0 ? INT32_MAX : 65535;
    if (extents[axis] < 1 || extents[axis] > limit)
      return status_set(TILE_INVALID_ARGUMENT, "the grid's %c is %lld; it is from 1 to %lld",
                        "xyz"[axis], (long long)extents[axis], (long long)limit);
  }
  *ret_grid = (tile_grid){(unsigned)x, (unsigned)y, (unsigned)z};
  return TILE_OK;
}
