// SPDX-License-Identifier: Apache-2.0
// Checkpoints: tensors in device memory, to a .safetensors file and back.
#include "base/map.h"
#include "base/memory.h"
#include "runtime/runtime_internal.h"
#include "runtime/weights_format.h"

#include <stdlib.h>

static bool is_dense(const tile_tensor *t) {
  int64_t step = 1;
  for (int d = t->rank - 1; t->strides && d >= 0; d--) {
    if (t->shape[d] != 1 && t->strides[d] != step)
      return false;
    step *= t->shape[d];
  }
  return true;
}

// The tensors as the file has them; NULL, with the thread's message, after an error. The caller
// frees the result.
static tile_weight *describe(const char *call, const tile_named_tensor *tensors, size_t count,
                             tile_status *ret) {
  tile_weight *list = memory_zeroed(count + 1, sizeof *list);
  *ret = list ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for a checkpoint");
  for (size_t i = 0; *ret == TILE_OK && i < count; i++) {
    const tile_tensor *t = &tensors[i].tensor;
    list[i] = (tile_weight){.name = tensors[i].name, .type = t->type, .rank = t->rank};
    bool fits = t->rank >= 0 && t->rank <= TILE_WEIGHTS_MAX_RANK && (!t->rank || t->shape) &&
                (unsigned)t->type < DTYPE_COUNT;
    for (int d = 0; fits && d < t->rank; d++)
      list[i].shape[d] = t->shape[d];
    uint64_t bytes = 0;
    fits = fits && is_dense(t) && tensors[i].name &&
           weights_bytes((enum dtype)t->type, t->rank, t->shape, &bytes) && (t->data || !bytes);
    list[i].size = (size_t)bytes;
    if (!fits)
      *ret = status_set(TILE_INVALID_ARGUMENT,
                        "%s: tensor %zu (`%s`) needs a name, memory, and at most %d sizes of a "
                        "contiguous tensor",
                        call, i, tensors[i].name ? tensors[i].name : "", TILE_WEIGHTS_MAX_RANK);
  }
  if (*ret == TILE_OK)
    return list;
  free(list);
  return NULL;
}

// ---- saving ----

struct source {
  tile_device *device;
  tile_stream *stream;
  const tile_named_tensor *tensors;
  const tile_weight *list;
  void *host; // as large as the largest tensor
};

static tile_status read_tensor(void *user, size_t i, const void **ret) {
  struct source *s = user;
  *ret = s->host;
  return tile_copy_to_host(s->device, s->stream, s->host, s->tensors[i].tensor.data,
                           s->list[i].size);
}

tile_status tile_checkpoint_save(tile_device *device, tile_stream *stream, const char *path,
                                 const tile_named_tensor *tensors, size_t count,
                                 const tile_weights_note *notes, size_t note_count) {
  tile_status s;
  size_t most = 1;
  if (!device || !path || (count && !tensors) || (note_count && !notes))
    return status_set(TILE_INVALID_ARGUMENT, "tile_checkpoint_save: an argument is NULL");
  tile_weight *list = describe("tile_checkpoint_save", tensors, count, &s);
  if (!list)
    return s;
  for (size_t i = 0; i < count; i++)
    most = list[i].size > most ? list[i].size : most;
  struct source from = {device, stream, tensors, list, memory_alloc(most)};
  struct weights_file file = {path, list, count, notes, note_count, read_tensor, &from};
  s = from.host ? weights_write(&file)
                : status_set(TILE_OUT_OF_MEMORY, "out of memory for a checkpoint");
  free(from.host);
  free(list);
  return s;
}

// ---- loading ----

static void put_type(struct strbuf *out, const tile_weight *t) {
  const char *name = weights_type_name((enum dtype)t->type);
  strbuf_printf(out, "%s[", name ? name : dtype_name((enum dtype)t->type));
  for (int d = 0; d < t->rank; d++)
    strbuf_printf(out, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
  strbuf_putc(out, ']');
}

static bool same(const tile_weight *a, const tile_weight *b) {
  if (a->type != b->type || a->rank != b->rank)
    return false;
  for (int d = 0; d < a->rank; d++)
    if (a->shape[d] != b->shape[d])
      return false;
  return true;
}

static bool has_name(const tile_weight *list, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0)
      return true;
  return false;
}

// Appends all that differs.
static void compare(const tile_weights *w, const tile_weight *list, size_t count,
                    struct strbuf *out) {
  for (size_t i = 0; i < count; i++) {
    tile_weight t;
    if (has_name(list, i, list[i].name)) {
      strbuf_printf(out, "\n  `%s` is asked for twice", list[i].name);
    } else if (tile_weights_find(w, list[i].name, &t) != TILE_OK) {
      strbuf_printf(out, "\n  `%s` is missing", list[i].name);
    } else if (!same(&t, &list[i])) {
      strbuf_printf(out, "\n  `%s` is ", list[i].name);
      put_type(out, &t);
      strbuf_puts(out, ", not ");
      put_type(out, &list[i]);
    }
  }
  for (size_t i = 0; i < tile_weights_count(w); i++) {
    tile_weight t;
    if (tile_weights_at(w, i, &t) == TILE_OK && !has_name(list, count, t.name))
      strbuf_printf(out, "\n  `%s` is not asked for", t.name);
  }
}

static tile_status check(const char *path, const tile_weights *w, const tile_weight *list,
                         size_t count) {
  struct arena *arena = arena_create();
  jmp_buf out_of_memory;
  tile_status s = TILE_OK;
  if (!arena || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a checkpoint");
  } else {
    struct strbuf differences = {.arena = arena};
    arena_set_oom(arena, &out_of_memory);
    compare(w, list, count, &differences);
    if (differences.len)
      s = status_set(TILE_INVALID_ARGUMENT, "`%s` is not a checkpoint of these tensors:%s", path,
                     strbuf_cstr(&differences));
  }
  if (arena)
    arena_destroy(arena);
  return s;
}

static tile_status load(tile_device *device, tile_stream *stream, const tile_weights *w,
                        const tile_named_tensor *tensors, const tile_weight *list, size_t count) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < count; i++) {
    tile_weight t;
    s = tile_weights_find(w, list[i].name, &t);
    if (s == TILE_OK && t.size)
      s = tile_copy_to_device(device, stream, tensors[i].tensor.data, t.data, t.size);
  }
  return s;
}

tile_status checkpoint_copy(tile_device *device, tile_stream *stream, const char *path,
                            const tile_weights *w, const tile_named_tensor *tensors, size_t count) {
  tile_status s;
  tile_weight *list = describe("tile_checkpoint_load", tensors, count, &s);
  if (!list)
    return s;
  s = check(path, w, list, count);
  if (s == TILE_OK)
    s = load(device, stream, w, tensors, list, count);
  free(list);
  return s;
}

tile_status tile_checkpoint_load(tile_device *device, tile_stream *stream, const char *path,
                                 const tile_named_tensor *tensors, size_t count,
                                 tile_weights **ret_weights) {
  tile_weights *w = NULL;
  if (!device || !path || (count && !tensors))
    return status_set(TILE_INVALID_ARGUMENT, "tile_checkpoint_load: an argument is NULL");
  tile_status s = tile_weights_open(path, &w);
  if (s == TILE_OK)
    s = checkpoint_copy(device, stream, path, w, tensors, count);
  if (s == TILE_OK && ret_weights)
    *ret_weights = w;
  else
    tile_weights_close(w);
  return s;
}
