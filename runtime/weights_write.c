// SPDX-License-Identifier: Apache-2.0
// Writes .safetensors files: the length of the header, the header in JSON, padded with spaces to
// eight bytes, and the tensors in the order of falling element sizes, without gaps, so that each is
// aligned. The file appears under its name when all of it is on the disk.
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/utf8.h"
#include "runtime/runtime_internal.h"
#include "runtime/weights_format.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
  const char *name;
  enum dtype type;
} types[] = {{"BOOL", DTYPE_I1}, {"I8", DTYPE_I8},        {"I16", DTYPE_I16},
             {"I32", DTYPE_I32}, {"I64", DTYPE_I64},      {"U8", DTYPE_U8},
             {"U16", DTYPE_U16}, {"U32", DTYPE_U32},      {"U64", DTYPE_U64},
             {"F16", DTYPE_F16}, {"BF16", DTYPE_BF16},    {"F32", DTYPE_F32},
             {"F64", DTYPE_F64}, {"F8_E5M2", DTYPE_F8E5}, {"F8_E4M3", DTYPE_F8E4NV}};

bool weights_find_type(struct str name, enum dtype *ret) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(name, types[i].name)) {
      *ret = types[i].type;
      return true;
    }
  return false;
}

const char *weights_type_name(enum dtype t) {
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (types[i].type == t)
      return types[i].name;
  return NULL;
}

bool weights_bytes(enum dtype t, int rank, const int64_t *shape, uint64_t *ret) {
  uint64_t n = dtype_bytes(t);
  for (int d = 0; d < rank; d++)
    if (shape[d] < 0 || __builtin_mul_overflow(n, (uint64_t)shape[d], &n))
      return false;
  *ret = n;
  return true;
}

struct writer {
  const struct weights_file *f;
  struct arena *arena;
  uint64_t *bytes; // of each tensor
  size_t *order;   // of the tensors in the file
  struct strbuf header;
};

// ---- checks ----

static bool is_text(const char *s) {
  uint32_t code;
  for (size_t left = s ? strlen(s) : 0, n; left; s += n, left -= n)
    if (!(n = utf8_decode(s, left, &code)))
      return false;
  return s != NULL;
}

static tile_status wrong(const char *path, const char *what, const char *name, const char *why) {
  return status_set(TILE_INVALID_ARGUMENT, "cannot write `%s`: %s `%s` %s", path, what,
                    is_text(name) ? name : "?", why);
}

static tile_status check_name(struct writer *w, struct map *names, const char *what,
                              const char *name) {
  if (!is_text(name))
    return wrong(w->f->path, what, name, "is not UTF-8, or NULL");
  if (map_get(names, str_from(name)))
    return wrong(w->f->path, what, name, "stands there twice");
  map_put(w->arena, names, str_from(name), names);
  return TILE_OK;
}

static tile_status check_tensor(struct writer *w, size_t i) {
  const tile_weight *t = &w->f->tensors[i];
  if (strcmp(t->name, "__metadata__") == 0)
    return wrong(w->f->path, "tensor", t->name, "has the name of the format's own entry");
  if ((unsigned)t->type >= DTYPE_COUNT || !weights_type_name((enum dtype)t->type))
    return wrong(w->f->path, "tensor", t->name, "has a type that the format lacks");
  if (t->rank < 0 || t->rank > TILE_WEIGHTS_MAX_RANK)
    return wrong(w->f->path, "tensor", t->name, "has too many sizes");
  if (!weights_bytes((enum dtype)t->type, t->rank, t->shape, &w->bytes[i]) ||
      w->bytes[i] > INT64_MAX)
    return wrong(w->f->path, "tensor", t->name, "has a negative or too large size");
  if (w->bytes[i] && !w->f->read && !t->data)
    return wrong(w->f->path, "tensor", t->name, "has no elements");
  return TILE_OK;
}

static tile_status check(struct writer *w) {
  struct map names = {0}, keys = {0};
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < w->f->count; i++) {
    s = check_name(w, &names, "tensor", w->f->tensors[i].name);
    if (s == TILE_OK)
      s = check_tensor(w, i);
  }
  for (size_t i = 0; s == TILE_OK && i < w->f->note_count; i++) {
    s = check_name(w, &keys, "key", w->f->notes[i].key);
    if (s == TILE_OK && !is_text(w->f->notes[i].value))
      s = wrong(w->f->path, "the value of", w->f->notes[i].key, "is not UTF-8, or NULL");
  }
  return s;
}

// ---- the file ----

static void choose_order(struct writer *w) {
  size_t at = 0;
  for (size_t size = 8; size; size /= 2)
    for (size_t i = 0; i < w->f->count; i++)
      if (dtype_bytes((enum dtype)w->f->tensors[i].type) == size)
        w->order[at++] = i;
}

static void put_entry(struct json_writer *j, const tile_weight *t, uint64_t begin, uint64_t end) {
  json_key(j, t->name);
  json_begin_object(j);
  json_key(j, "dtype");
  json_cstring(j, weights_type_name((enum dtype)t->type));
  json_key(j, "shape");
  json_begin_array(j);
  for (int d = 0; d < t->rank; d++)
    json_int(j, t->shape[d]);
  json_end_array(j);
  json_key(j, "data_offsets");
  json_begin_array(j);
  json_int(j, (int64_t)begin);
  json_int(j, (int64_t)end);
  json_end_array(j);
  json_end_object(j);
}

static tile_status put_header(struct writer *w) {
  struct json_writer j = {.out = &w->header};
  uint64_t at = 0;
  json_begin_object(&j);
  if (w->f->note_count) {
    json_key(&j, "__metadata__");
    json_begin_object(&j);
    for (size_t i = 0; i < w->f->note_count; i++) {
      json_key(&j, w->f->notes[i].key);
      json_cstring(&j, w->f->notes[i].value);
    }
    json_end_object(&j);
  }
  for (size_t i = 0; i < w->f->count; i++) {
    uint64_t n = w->bytes[w->order[i]];
    if (n > INT64_MAX - at)
      return status_set(TILE_LIMIT, "cannot write `%s`: more than 2^63 bytes", w->f->path);
    put_entry(&j, &w->f->tensors[w->order[i]], at, at + n);
    at += n;
  }
  json_end_object(&j);
  while (w->header.len % 8)
    strbuf_putc(&w->header, ' ');
  return w->header.len <= WEIGHTS_MAX_HEADER
             ? TILE_OK
             : status_set(TILE_LIMIT, "cannot write `%s`: its header has more than %d bytes",
                          w->f->path, WEIGHTS_MAX_HEADER);
}

static tile_status put_tensors(struct writer *w, struct file_draft *d) {
  unsigned char length[8];
  for (unsigned i = 0; i < 8; i++)
    length[i] = (unsigned char)((uint64_t)w->header.len >> 8 * i);
  file_draft_write(d, length, sizeof length);
  file_draft_write(d, w->header.ptr, w->header.len);
  for (size_t k = 0; k < w->f->count; k++) {
    size_t i = w->order[k];
    const void *data = w->f->tensors[i].data;
    tile_status s = w->f->read && w->bytes[i] ? w->f->read(w->f->user, i, &data) : TILE_OK;
    if (s != TILE_OK)
      return s;
    file_draft_write(d, data, w->bytes[i]);
  }
  return TILE_OK;
}

static tile_status write_file(struct writer *w) {
  char *target = realpath(w->f->path, NULL); // through a symbolic link
  struct file_draft d = {0};
  tile_status s = TILE_OK;
  if (file_draft_open(&d, target ? target : w->f->path) == 0)
    s = put_tensors(w, &d);
  int error = file_draft_end(&d, s == TILE_OK && !d.error ? DRAFT_KEEP_DURABLY : DRAFT_DROP);
  free(target);
  if (s != TILE_OK || !error)
    return s;
  return status_set(error == ENOENT   ? TILE_NOT_FOUND
                    : error == ENOMEM ? TILE_OUT_OF_MEMORY
                                      : TILE_IO_ERROR,
                    "cannot write `%s`: %s", w->f->path, strerror(error));
}

static tile_status write_within(struct writer *w) {
  w->header = (struct strbuf){.arena = w->arena};
  w->bytes = arena_array(w->arena, uint64_t, w->f->count + 1);
  w->order = arena_array(w->arena, size_t, w->f->count + 1);
  tile_status s = check(w);
  if (s != TILE_OK)
    return s;
  choose_order(w);
  s = put_header(w);
  return s == TILE_OK ? write_file(w) : s;
}

tile_status weights_write(const struct weights_file *f) {
  struct writer w = {.f = f, .arena = arena_create()};
  jmp_buf out_of_memory;
  tile_status s;
  if (!w.arena || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for `%s`", f->path);
  } else {
    arena_set_oom(w.arena, &out_of_memory);
    s = write_within(&w);
  }
  if (w.arena)
    arena_destroy(w.arena);
  return s;
}

tile_status tile_weights_save(const char *path, const tile_weight *tensors, size_t count,
                              const tile_weights_note *notes, size_t note_count) {
  if (!path || (count && !tensors) || (note_count && !notes))
    return status_set(TILE_INVALID_ARGUMENT, "tile_weights_save: an argument is NULL");
  return weights_write(&(struct weights_file){
      .path = path, .tensors = tensors, .count = count, .notes = notes, .note_count = note_count});
}
