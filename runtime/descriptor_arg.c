// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors as arguments: what a kernel relies on is checked at each launch, and the
// descriptor is replaced by its base, sizes and strides, which are the compiled kernel's
// parameters.
#include "base/dtype.h"
#include "runtime/args.h"
#include "runtime/runtime_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { ALIGNMENT = 16, MAX_BLOCK = 1 << 20 };       // bytes; elements of a tile
static const int64_t max_stride = (int64_t)1 << 40; // bytes (cuTensorMapEncodeTiled)

tile_arg tile_arg_descriptor(const tile_descriptor *descriptor) {
  tile_arg a = {.type = TILE_DESCRIPTOR};
  a.value.descriptor = descriptor;
  return a;
}

// ---- checks ----

static tile_status refuse(const struct arg_place *at, const char *what, unsigned dim, int64_t value,
                          const char *need) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "%s `%s`: argument %zu (`%s`): %s[%u] of the tensor descriptor is %" PRId64
                    ", but %s",
                    at->kind, at->owner, at->number, at->param, what, dim, value, need);
}

static tile_status wrong(const struct arg_place *at, const char *what) {
  return status_set(TILE_INVALID_ARGUMENT, "%s `%s`: argument %zu (`%s`): %s", at->kind, at->owner,
                    at->number, at->param, what);
}

static tile_status check_head(const tile_descriptor *d, const struct arg_place *at) {
  if (!d)
    return wrong(at, "the tensor descriptor is NULL");
  if (d->rank < 1 || d->rank > ARG_MAX_RANK)
    return status_set(
        TILE_INVALID_ARGUMENT,
        "%s `%s`: argument %zu (`%s`): the tensor descriptor has %u dimensions, but 1 "
        "to %d are possible",
        at->kind, at->owner, at->number, at->param, d->rank, ARG_MAX_RANK);
  if ((unsigned)d->element >= DTYPE_COUNT || d->element == TILE_I1)
    return wrong(at, "the elements of the tensor descriptor have no type that one can have");
  if (!d->base)
    return wrong(at, "the base of the tensor descriptor is NULL");
  if ((uintptr_t)d->base % ALIGNMENT != 0)
    return status_set(TILE_INVALID_ARGUMENT,
                      "%s `%s`: argument %zu (`%s`): the tensor descriptor begins at %#" PRIxPTR
                      ", which is not a multiple of 16 bytes",
                      at->kind, at->owner, at->number, at->param, (uintptr_t)d->base);
  return TILE_OK;
}

static tile_status check_stride(const tile_descriptor *d, unsigned dim,
                                const struct arg_place *at) {
  int64_t bytes, stride = d->strides[dim];
  if (dim + 1 == d->rank)
    return stride == 1 ? TILE_OK : refuse(at, "strides", dim, stride, "the last stride is 1");
  if (!__builtin_mul_overflow(stride, (int64_t)dtype_bytes((enum dtype)d->element), &bytes) &&
      bytes >= 0 && bytes < max_stride && bytes % ALIGNMENT == 0)
    return TILE_OK;
  return refuse(at, "strides", dim, stride, "its bytes have to be a multiple of 16 from 0 to 2^40");
}

// The last byte of the tensor has an address.
static tile_status check_extent(const tile_descriptor *d, const struct arg_place *at) {
  int64_t last = 0, part;
  bool fits = true;
  for (unsigned i = 0; i < d->rank && fits; i++)
    fits = !__builtin_mul_overflow(d->shape[i] - 1, d->strides[i], &part) &&
           !__builtin_add_overflow(last, part, &last);
  fits = fits &&
         !__builtin_mul_overflow(last + 1, (int64_t)dtype_bytes((enum dtype)d->element), &part);
  return fits && (uint64_t)part <= UINT64_MAX - (uintptr_t)d->base
             ? TILE_OK
             : wrong(at, "the tensor of the descriptor ends behind the last address");
}

static tile_status check_block(const tile_descriptor *d, const struct arg_place *at) {
  uint64_t elements = 1;
  bool any = false;
  for (unsigned i = 0; i < d->rank; i++)
    any |= d->block[i] != 0;
  if (!any)
    return TILE_OK;
  for (unsigned i = 0; i < d->rank; i++) {
    if (!is_pow2(d->block[i]))
      return refuse(at, "block", i, d->block[i], "it has to be a power of two");
    if ((elements *= d->block[i]) > MAX_BLOCK)
      return refuse(at, "block", i, d->block[i], "a block has at most 1048576 elements");
  }
  unsigned last = d->rank - 1;
  if (d->block[last] * dtype_bytes((enum dtype)d->element) < ALIGNMENT)
    return refuse(at, "block", last, d->block[last],
                  "the last dimension of a block has at least 16 bytes");
  return TILE_OK;
}

static bool has_nan(tile_type t) {
  return t == TILE_F16 || t == TILE_BF16 || t == TILE_F32 || t == TILE_F64;
}

tile_status descriptor_arg_check(const tile_arg *arg, const struct arg_place *at) {
  const tile_descriptor *d = arg->value.descriptor;
  tile_status s = check_head(d, at);
  for (unsigned i = 0; s == TILE_OK && i < d->rank; i++)
    if (d->shape[i] < 1 || d->shape[i] > INT32_MAX)
      s = refuse(at, "shape", i, d->shape[i], "1 to 2147483647 elements are possible");
  for (unsigned i = 0; s == TILE_OK && i < d->rank; i++)
    s = check_stride(d, i, at);
  if (s == TILE_OK)
    s = check_extent(d, at);
  if (s == TILE_OK)
    s = check_block(d, at);
  if (s == TILE_OK && d->pads_nan && !has_nan(d->element))
    s = wrong(at, "only f16, bf16, f32 and f64 can be NaN outside of the tensor");
  return s;
}

// ---- values ----

uint32_t descriptor_size_divisor(const tile_descriptor *d, unsigned dim) {
  uint32_t chunk = ALIGNMENT / dtype_bytes((enum dtype)d->element);
  if (d->shape[dim] % ALIGNMENT == 0)
    return ALIGNMENT;
  return dim + 1 == d->rank && d->shape[dim] % chunk == 0 ? chunk : 1;
}

size_t args_flat_count(const tile_arg *args, size_t count) {
  size_t n = count;
  for (size_t i = 0; i < count; i++)
    if (arg_is_descriptor(&args[i]))
      n += 2 * (size_t)args[i].value.descriptor->rank - 1;
  return n;
}

void arg_part_suffix(const tile_arg *arg, size_t part, char ret[32]) {
  size_t rank = arg_is_descriptor(arg) ? arg->value.descriptor->rank : 0;
  ret[0] = 0;
  if (part > rank)
    snprintf(ret, 32, ".strides[%zu]", part - rank - 1);
  else if (part > 0)
    snprintf(ret, 32, ".shape[%zu]", part - 1);
}

static size_t expand(const tile_descriptor *d, tile_arg *to) {
  size_t n = 0;
  to[n++] = tile_arg_pointer(d->base, d->element);
  for (unsigned i = 0; i < d->rank; i++)
    to[n++] = tile_arg_i32((int32_t)d->shape[i]);
  for (unsigned i = 0; i + 1 < d->rank; i++)
    to[n++] = tile_arg_i64(d->strides[i]);
  return n;
}

const tile_arg *args_flatten(const tile_arg *args, size_t count, tile_arg *flat) {
  size_t first = 0, n;
  while (first < count && !arg_is_descriptor(&args[first]))
    first++;
  if (first == count)
    return args;
  memcpy(flat, args, first * sizeof *flat);
  n = first;
  for (size_t i = first; i < count; i++)
    if (arg_is_descriptor(&args[i]))
      n += expand(args[i].value.descriptor, &flat[n]);
    else
      flat[n++] = args[i];
  return flat;
}
