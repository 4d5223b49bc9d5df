// SPDX-License-Identifier: Apache-2.0
// Arrays that are passed as tensor descriptors. On the device their rows are rounded up to 16
// bytes; arrays of the host are dense.
#include "base/memory.h"
#include "runtime/runtime_internal.h"
#include "tools/launch/launch.h"

#include <stdlib.h>

enum { ALIGNMENT = 16 }; // bytes of a base and of strides

// ---- making ----

static int refuse(struct tool *t, const struct launch_arg *a, enum diag_code code, const char *what,
                  const char *help) {
  diag_help(diag_error(t->diag, a->where, code, "%s", what), "%s", help);
  return EXIT_WRONG;
}

static int check_type(struct tool *t, const struct launch_arg *a) {
  const struct lang_param *p = a->param;
  if (p->is_typed && !p->is_descriptor)
    return refuse(t, a, E0723,
                  arena_printf(t->arena, "`%s` is declared %s, not a tensor descriptor", p->name,
                               p->is_pointer ? "a pointer" : "a scalar"),
                  "leave out `:block(...)`, or change the annotation");
  if (p->is_typed && p->dtype != a->value.array.dtype) {
    diag_help(diag_error(t->diag, a->where, E0714, "`%s` describes elements of %s, not of %s",
                         p->name, dtype_name(p->dtype), dtype_name(a->value.array.dtype)),
              "give an array of `%s`, or change the annotation of `%s`", dtype_name(p->dtype),
              p->name);
    return EXIT_WRONG;
  }
  unsigned rank = a->value.array.rank, block = a->value.block_rank;
  block = block ? block : p->is_descriptor ? p->block.rank : rank;
  if (rank == block && rank >= 1 && rank <= LANG_BLOCK_RANK)
    return EXIT_DONE;
  return refuse(t, a, E0723,
                arena_printf(t->arena, "an array of rank %u with blocks of rank %u", rank, block),
                "a tensor descriptor has 1 to 5 dimensions, its blocks as many, such as "
                "`f16[512x256]:block(64x32)`");
}

// The block of the argument, else that of --signature; an annotation's is known to the compiler.
static int take_block(struct tool *t, struct launch_arg *a, tile_descriptor *d) {
  const struct lang_param *p = a->param;
  for (unsigned i = 0; i < d->rank; i++) {
    uint32_t known = p->is_descriptor ? p->block.shape[i] : 0;
    d->block[i] = a->value.block_rank ? a->value.block[i] : known;
    if (known && d->block[i] != known)
      return refuse(t, a, E0723,
                    arena_printf(t->arena, "`%s` has blocks of %u elements in dimension %u, not %u",
                                 p->name, known, i, d->block[i]),
                    "leave out `:block(...)`, or change the type of the parameter");
  }
  for (unsigned i = 0; i < d->rank; i++)
    if (!d->block[i]) // the compiler evaluates the annotation
      memset(d->block, 0, sizeof d->block);
  return EXIT_DONE;
}

int launch_make_descriptor(struct tool *t, struct launch_arg *a, tile_arg *ret) {
  const struct array *x = &a->value.array;
  int status = check_type(t, a);
  if (status != EXIT_DONE)
    return status;
  a->is_descriptor = true;
  a->descriptor = (tile_descriptor){.element = (tile_type)x->dtype,
                                    .rank = x->rank,
                                    .pads_nan = a->value.pads_nan || a->param->block.pads_nan};
  int64_t stride = 1, chunk = ALIGNMENT / dtype_bytes(x->dtype);
  for (unsigned i = x->rank; i-- > 0;) {
    a->descriptor.shape[i] = (int64_t)x->shape[i];
    a->descriptor.strides[i] = stride;
    stride *= (int64_t)x->shape[i];
    if (i + 1 == x->rank)
      stride = (stride + chunk - 1) / chunk * chunk;
  }
  *ret = tile_arg_descriptor(&a->descriptor);
  return take_block(t, a, &a->descriptor);
}

// ---- bytes on the device ----

static uint64_t row_bytes(const struct launch_arg *a) {
  const struct array *x = &a->value.array;
  return x->shape[x->rank - 1] * dtype_bytes(x->dtype);
}

bool launch_arg_is_padded(const struct launch_arg *a) {
  return a->is_descriptor && row_bytes(a) % ALIGNMENT != 0;
}

uint64_t launch_arg_bytes(const struct launch_arg *a) {
  const struct array *x = &a->value.array;
  if (!launch_arg_is_padded(a))
    return x->count * dtype_bytes(x->dtype);
  uint64_t row = row_bytes(a);
  return x->count / x->shape[x->rank - 1] * ((row + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

// Copies rows of `bytes` bytes between arrays with these distances of rows.
static void copy_rows(uint64_t rows, uint64_t bytes, const char *from, uint64_t from_pitch,
                      char *to, uint64_t to_pitch) {
  for (uint64_t i = 0; i < rows; i++)
    memcpy(to + i * to_pitch, from + i * from_pitch, bytes);
}

void launch_arg_pad(const struct launch_arg *a, const void *dense, void *padded) {
  const struct array *x = &a->value.array;
  uint64_t row = row_bytes(a), pitch = (row + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(padded, 0, launch_arg_bytes(a));
  copy_rows(x->count / x->shape[x->rank - 1], row, dense, row, padded, pitch);
}

static void unpad(const struct launch_arg *a, const void *padded, void *dense) {
  const struct array *x = &a->value.array;
  uint64_t row = row_bytes(a), pitch = (row + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  copy_rows(x->count / x->shape[x->rank - 1], row, padded, pitch, dense, row);
}

static tile_status padded_copy(const struct launch_arg *a, void **ret) {
  *ret = memory_alloc(launch_arg_bytes(a));
  return *ret ? TILE_OK
              : status_set(TILE_OUT_OF_MEMORY, "no memory for a copy of `%s`", a->param->name);
}

tile_status launch_upload(struct launch *l, const struct launch_arg *a) {
  uint64_t bytes = launch_arg_bytes(a);
  void *padded;
  if (!launch_arg_is_padded(a))
    return tile_copy_to_device(l->device, NULL, a->buffer, a->value.array.data, bytes);
  tile_status s = padded_copy(a, &padded);
  if (s != TILE_OK)
    return s;
  launch_arg_pad(a, a->value.array.data, padded);
  s = tile_copy_to_device(l->device, NULL, a->buffer, padded, bytes);
  free(padded);
  return s;
}

tile_status launch_copy_back(struct launch *l, const struct launch_arg *a, void *dense) {
  uint64_t bytes = launch_arg_bytes(a);
  void *padded;
  if (!launch_arg_is_padded(a))
    return tile_copy_to_host(l->device, NULL, dense, a->buffer, bytes);
  tile_status s = padded_copy(a, &padded);
  if (s != TILE_OK)
    return s;
  s = tile_copy_to_host(l->device, NULL, padded, a->buffer, bytes);
  if (s == TILE_OK)
    unpad(a, padded, dense);
  free(padded);
  return s;
}
