// SPDX-License-Identifier: Apache-2.0
// The keys and arrays with which kernels are tuned: copies of what a launch is about to read.
#include "autotune/database/database.h"
#include "base/memory.h"
#include "graph/run/run_tune_internal.h"
#include "runtime/runtime_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *text_of(const struct graph_kernel *k) {
  return k->emitted ? k->emitted : k->source;
}

struct tune_problem launch_problem_of(struct arena *a, struct exprs *x, const struct launch *l,
                                      const tile_arg *args) {
  const struct graph_kernel *k = l->kernel;
  const char **names = arena_array(a, const char *, l->args.len + 1);
  for (size_t i = 0; i < l->args.len; i++)
    names[i] = l->args.at[i].name;
  return (struct tune_problem){.file = arena_printf(a, "%s.tile", k->name),
                               .text = str_from(text_of(k)),
                               .kernel = k->name,
                               .args = args,
                               .arg_count = l->args.len,
                               .arg_names = names,
                               .arrays = arena_array(a, struct tune_array, l->args.len + 1),
                               .grid = launch_grid_text(a, x, l)};
}

// Seeds do not matter.
tile_status launch_key_of(struct arena *a, const struct launch *l, const struct tune_problem *p,
                          const tile_device_properties *device, struct tune_key *ret) {
  const char **sizes = arena_array(a, const char *, l->args.len + 1);
  size_t count = 0;
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].kind == LAUNCH_SIZE)
      sizes[count++] = l->args.at[i].name;
  return tune_key_of(a, p, device, sizes, count, ret);
}

tile_status tune_read_file(struct arena *a, const char *path, struct tune_file *ret) {
  struct diag_engine *diag = diag_engine_create(a);
  *ret = (struct tune_file){0};
  if (!path || tune_file_read(a, diag, path, ret))
    return TILE_OK;
  return status_set(TILE_IO_ERROR, "%s: %s", path, diag_first_error(diag));
}

// ---- arrays ----

static struct block *block_of(struct work *w, const void *pointer) {
  for (size_t i = 0; i < w->block_count; i++)
    if (w->blocks[i].pointer == pointer)
      return &w->blocks[i];
  w->blocks[w->block_count] = (struct block){.pointer = pointer};
  return &w->blocks[w->block_count++];
}

// Buffers that share memory (in-place outputs) share a block.
const char *tune_find_arrays(struct work *w) {
  const struct loaded_program *l = w->tuning->l;
  const struct launch *launch = w->launch;
  for (size_t i = 0; i < launch->args.len; i++) {
    const struct launch_arg *arg = &launch->args.at[i];
    int64_t n = 0;
    if (arg->kind == LAUNCH_SIZE && !loaded_size(l, arg->size, &n))
      return "a size does not fit 64 bits";
    w->args[i] = tile_arg_int((tile_type)arg->dtype, n);
    if (arg->kind != LAUNCH_BUFFER)
      continue;
    if (!loaded_size(l, arg->buffer->numel, &n))
      return "a size does not fit 64 bits";
    void *pointer = l->memory[arg->buffer->id];
    w->args[i] = tile_arg_pointer(pointer, (tile_type)arg->buffer->dtype);
    struct block *b = block_of(w, pointer);
    uint64_t bytes = (uint64_t)(n > 0 ? n : 1) * dtype_bytes(arg->buffer->dtype);
    b->is_reset |= b->size > 0 || (arg->is_written && arg->buffer->home->role == BUFFER_INPUT);
    b->is_zero |= arg->buffer == launch->clears;
    b->size = bytes > b->size ? bytes : b->size;
  }
  return NULL;
}

void tune_lay_out(struct work *w, struct tune_problem *p) {
  for (size_t i = 0; i < w->block_count; i++) {
    w->blocks[i].offset = w->data_bytes;
    w->data_bytes += (w->blocks[i].size + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
  }
  for (size_t i = 0; i < p->arg_count; i++) {
    if (!w->args[i].is_pointer)
      continue;
    const struct block *b = block_of(w, w->args[i].value.pointer);
    p->arrays[i] = (struct tune_array){.bytes = b->size,
                                       .offset = b->offset,
                                       .reset = b->is_reset || b->is_zero,
                                       .zero = b->is_zero};
  }
}

// The data is in CPU memory, once for the contents and once for the results.
bool tune_exceeds_memory(const struct work *w) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
  return w->data_bytes > memory / 4;
}

bool tune_fill(void *user, void *data) {
  struct work *w = user;
  for (size_t i = 0; i < w->block_count && w->status == TILE_OK; i++)
    w->status = tile_copy_to_host(w->tuning->l->device, w->tuning->stream,
                                  (char *)data + w->blocks[i].offset, w->blocks[i].pointer,
                                  (size_t)w->blocks[i].size);
  return w->status == TILE_OK;
}
