// SPDX-License-Identifier: Apache-2.0
// Tensors in files. A .safetensors file is the length of its header (eight bytes, little endian),
// the header (JSON: {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]},
// "__metadata__": {...}}), and the bytes of all tensors. The file is untrusted: names, types,
// products of shapes and offsets are checked before any pointer is formed.
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/npy.h"
#include "base/vec.h"
#include "runtime/runtime_internal.h"
#include "runtime/weights_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping {
  void *at;
  size_t size;
};

struct tile_weights {
  struct arena *arena;
  VEC(struct mapping) maps;
  VEC(tile_weight) list;
  struct map by_name; // to index + 1
  VEC(tile_weights_note) notes;
};

static tile_status malformed(const char *path, const char *why) {
  return status_set(TILE_INVALID_ARGUMENT, "`%s`: %s", path, why);
}

static tile_status unreadable(const char *path, int error) {
  return status_set(error == ENOENT ? TILE_NOT_FOUND : TILE_IO_ERROR, "cannot read `%s`: %s", path,
                    strerror(error));
}

// 0, or an errno value; EIO if the file became shorter meanwhile.
static int read_file(int fd, char *at, size_t size) {
  while (size > 0) {
    ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n < 0 ? errno : EIO;
    at += n;
    size -= (size_t)n;
  }
  return 0;
}

// The bytes are copied: truncating a mapped file raises SIGBUS in its readers.
static tile_status load_file(tile_weights *w, const char *path, struct str *ret) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // opening a FIFO would block
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) {
    tile_status s = unreadable(path, errno);
    if (fd >= 0)
      close(fd);
    return s;
  }
  if (!S_ISREG(st.st_mode)) {
    close(fd);
    return malformed(path, "it is not a regular file");
  }
  size_t size = (size_t)st.st_size;
  void *at = NULL;
  int error = 0;
  if (size) {
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    error = at == MAP_FAILED ? errno : 0;
  }
  if (at && !error) {
    vec_push(w->arena, &w->maps, (struct mapping){at, size});
    error = read_file(fd, at, size);
  }
  close(fd);
  if (error)
    return unreadable(path, error);
  *ret = (struct str){at ? at : "", size};
  return TILE_OK;
}

static tile_status add(tile_weights *w, const char *path, tile_weight weight) {
  if (map_get(&w->by_name, str_from(weight.name)))
    return malformed(path, "a name stands there twice");
  vec_push(w->arena, &w->list, weight);
  map_put(w->arena, &w->by_name, str_from(weight.name), (void *)(uintptr_t)w->list.len);
  return TILE_OK;
}

// ---- .safetensors ----

static bool natural(const struct json *j, int64_t *ret) {
  if (!j || j->kind != JSON_NUMBER || !j->is_integer || j->integer < 0)
    return false;
  *ret = j->integer;
  return true;
}

static tile_status read_entry(tile_weights *w, const char *path, struct str name,
                              const struct json *entry, struct str data) {
  const struct json *type = json_get(entry, "dtype"), *shape = json_get(entry, "shape");
  const struct json *offsets = json_get(entry, "data_offsets");
  if (memchr(name.ptr, 0, name.len))
    return malformed(path, "a name has a zero byte");
  tile_weight weight = {.name = arena_strndup(w->arena, name.ptr, name.len)};
  enum dtype t;
  int64_t begin, end;
  uint64_t bytes;
  if (!type || type->kind != JSON_STRING || !weights_find_type(type->string, &t))
    return status_set(TILE_INVALID_ARGUMENT, "`%s`: tensor `%s` has a type that is not known", path,
                      weight.name);
  if (!shape || shape->kind != JSON_ARRAY || shape->count > TILE_WEIGHTS_MAX_RANK)
    return status_set(TILE_INVALID_ARGUMENT, "`%s`: tensor `%s` has no shape of at most %d sizes",
                      path, weight.name, TILE_WEIGHTS_MAX_RANK);
  weight.type = (tile_type)t;
  weight.rank = (int)shape->count;
  for (size_t d = 0; d < shape->count; d++)
    if (!natural(shape->items[d], &weight.shape[d]))
      return status_set(TILE_INVALID_ARGUMENT, "`%s`: tensor `%s` has a size that is none", path,
                        weight.name);
  if (!offsets || offsets->kind != JSON_ARRAY || offsets->count != 2 ||
      !natural(offsets->items[0], &begin) || !natural(offsets->items[1], &end) || begin > end ||
      (uint64_t)end > data.len || !weights_bytes(t, weight.rank, weight.shape, &bytes) ||
      (uint64_t)(end - begin) != bytes)
    return status_set(TILE_INVALID_ARGUMENT,
                      "`%s`: tensor `%s` does not lie in the file as its shape says", path,
                      weight.name);
  weight.data = data.ptr + begin;
  weight.size = (size_t)bytes;
  return add(w, path, weight);
}

static tile_status read_notes(tile_weights *w, const char *path, const struct json *notes) {
  if (notes->kind != JSON_OBJECT)
    return malformed(path, "its metadata are not an object of JSON");
  for (size_t i = 0; i < notes->count; i++) {
    struct str key = notes->keys[i], value = notes->items[i]->string;
    if (notes->items[i]->kind != JSON_STRING || memchr(key.ptr, 0, key.len) ||
        memchr(value.ptr, 0, value.len))
      return malformed(path, "its metadata are not texts");
    tile_weights_note note = {arena_strndup(w->arena, key.ptr, key.len),
                              arena_strndup(w->arena, value.ptr, value.len)};
    if (tile_weights_find_note(w, note.key))
      return malformed(path, "a key of its metadata stands there twice");
    vec_push(w->arena, &w->notes, note);
  }
  return TILE_OK;
}

static int by_offset(const void *a, const void *b) {
  const tile_weight *x = a, *y = b;
  if (x->data != y->data)
    return (const char *)x->data < (const char *)y->data ? -1 : 1;
  return x->size < y->size ? -1 : x->size > y->size;
}

// The format requires the tensors to cover all bytes, each exactly once.
static tile_status check_cover(tile_weights *w, const char *path, struct str data) {
  size_t count = w->list.len;
  tile_weight *sorted = arena_array(w->arena, tile_weight, count + 1);
  for (size_t i = 0; i < count; i++)
    sorted[i] = w->list.at[i];
  qsort(sorted, count, sizeof *sorted, by_offset);
  const char *at = data.ptr;
  for (size_t i = 0; i < count; i++) {
    const char *begin = sorted[i].data;
    if (begin != at)
      return status_set(TILE_INVALID_ARGUMENT, "`%s`: tensor `%s` %s", path, sorted[i].name,
                        begin < at ? "overlaps the one before it" : "leaves a gap before it");
    at += sorted[i].size;
  }
  return at == data.ptr + data.len ? TILE_OK
                                   : malformed(path, "there are bytes after the last tensor");
}

static tile_status read_safetensors(tile_weights *w, const char *path) {
  struct str file;
  tile_status s = load_file(w, path, &file);
  if (s != TILE_OK)
    return s;
  uint64_t length = 0;
  for (size_t i = 0; i < 8 && file.len >= 8; i++)
    length |= (uint64_t)(unsigned char)file.ptr[i] << 8 * i;
  if (file.len < 8 || length > WEIGHTS_MAX_HEADER || length > file.len - 8)
    return malformed(path, "it does not begin as a .safetensors file");
  struct json_error error;
  struct json *header = json_parse(w->arena, (struct str){file.ptr + 8, (size_t)length}, &error);
  if (!header || header->kind != JSON_OBJECT)
    return malformed(path, "its header is not an object of JSON");
  struct str data = {file.ptr + 8 + length, file.len - 8 - (size_t)length};
  for (size_t i = 0; s == TILE_OK && i < header->count; i++)
    s = str_is(header->keys[i], "__metadata__")
            ? read_notes(w, path, header->items[i])
            : read_entry(w, path, header->keys[i], header->items[i], data);
  return s == TILE_OK ? check_cover(w, path, data) : s;
}

// ---- .npy ----

static tile_status read_npy(tile_weights *w, const char *path, const char *name) {
  struct str file, header;
  struct npy_fault fault;
  struct array array;
  tile_status s = load_file(w, path, &file);
  if (s != TILE_OK)
    return s;
  if (!npy_find_header(file, &header, &fault))
    return malformed(path, fault.why);
  size_t before = (size_t)(header.ptr - file.ptr);
  if (header.len > file.len - before)
    return malformed(path, "it ends in the header");
  if (!npy_parse_header(header, DTYPE_NONE, &array, &fault))
    return malformed(path, fault.why);
  tile_weight weight = {.name = name, .type = (tile_type)array.dtype, .rank = (int)array.rank};
  uint64_t bytes = 0;
  for (unsigned d = 0; d < array.rank; d++)
    weight.shape[d] = array.shape[d] > INT64_MAX ? -1 : (int64_t)array.shape[d];
  if (!weights_bytes(array.dtype, weight.rank, weight.shape, &bytes) ||
      bytes != file.len - before - header.len)
    return malformed(path, "it has more or fewer elements than its shape says");
  weight.data = header.ptr + header.len;
  weight.size = (size_t)bytes;
  return add(w, path, weight);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tile_status read_folder(tile_weights *w, const char *path) {
  VEC(const char *) names = {0};
  DIR *folder = opendir(path);
  if (!folder)
    return unreadable(path, errno);
  for (struct dirent *e = readdir(folder); e; e = readdir(folder))
    if (str_ends(str_from(e->d_name), ".npy"))
      vec_push(w->arena, &names, arena_strdup(w->arena, e->d_name));
  closedir(folder);
  if (names.len)
    qsort(names.at, names.len, sizeof(const char *), by_text);
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < names.len; i++)
    s = read_npy(w, arena_printf(w->arena, "%s/%s", path, names.at[i]),
                 arena_strndup(w->arena, names.at[i], strlen(names.at[i]) - 4));
  return s;
}

// ---- the public calls ----

static tile_status read_path(tile_weights *w, const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return unreadable(path, errno);
  if (S_ISDIR(st.st_mode))
    return read_folder(w, path);
  if (!str_ends(str_from(path), ".npy"))
    return read_safetensors(w, path);
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  return read_npy(w, path, arena_strndup(w->arena, name, strlen(name) - 4));
}

tile_status tile_weights_open(const char *path, tile_weights **ret_weights) {
  if (!path || !ret_weights)
    return status_set(TILE_INVALID_ARGUMENT, "tile_weights_open: `%s` is NULL",
                      path ? "ret_weights" : "path");
  tile_weights *w = memory_zeroed(1, sizeof *w);
  if (w && !(w->arena = arena_create())) {
    free(w);
    w = NULL;
  }
  if (!w)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for `%s`", path);
  jmp_buf oom;
  tile_status s;
  if (setjmp(oom)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for `%s`", path);
  } else {
    arena_set_oom(w->arena, &oom);
    s = read_path(w, path);
  }
  arena_set_oom(w->arena, NULL);
  if (s == TILE_OK)
    *ret_weights = w;
  else
    tile_weights_close(w);
  return s;
}

void tile_weights_close(tile_weights *w) {
  if (!w)
    return;
  for (size_t i = 0; i < w->maps.len; i++)
    munmap(w->maps.at[i].at, w->maps.at[i].size);
  arena_destroy(w->arena);
  free(w);
}

size_t tile_weights_count(const tile_weights *w) { return w ? w->list.len : 0; }

tile_status tile_weights_at(const tile_weights *w, size_t index, tile_weight *ret) {
  if (!w || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "tile_weights_at: `%s` is NULL",
                      w ? "ret" : "weights");
  if (index >= w->list.len)
    return status_set(TILE_NOT_FOUND, "there are %zu tensors", w->list.len);
  *ret = w->list.at[index];
  return TILE_OK;
}

tile_status tile_weights_find(const tile_weights *w, const char *name, tile_weight *ret) {
  if (!w || !name || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "tile_weights_find: `%s` is NULL",
                      !w      ? "weights"
                      : !name ? "name"
                              : "ret");
  uintptr_t index = (uintptr_t)map_get(&w->by_name, str_from(name));
  if (!index)
    return status_set(TILE_NOT_FOUND, "there is no tensor `%s`", name);
  *ret = w->list.at[index - 1];
  return TILE_OK;
}

const char *tile_weights_find_note(const tile_weights *w, const char *key) {
  for (size_t i = 0; w && key && i < w->notes.len; i++)
    if (strcmp(w->notes.at[i].key, key) == 0)
      return w->notes.at[i].value;
  return NULL;
}
