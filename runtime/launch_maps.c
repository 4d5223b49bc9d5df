// SPDX-License-Identifier: Apache-2.0
// Evaluates the expressions of a kernel's tensor maps and checks their values (CUDA driver API,
// cuTensorMapEncodeTiled). A kernel is mostly launched with the same tensors, or with few: a module
// keeps its last encodings.
#include "runtime/launch_maps.h"

#include "base/memory.h"
#include "runtime/runtime_internal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAPS = 16, ALIGNMENT = 16, MAX_KERNEL_PARAMS = 1024 };
static const uint64_t max_size = (uint64_t)1 << 32, max_stride = (uint64_t)1 << 40;

struct map_cache {
  pthread_mutex_t lock;
  struct launch_map maps[KEPT_MAPS];
  struct map_bytes bytes[KEPT_MAPS];
  uint32_t count, next; // next: the one to replace
};

struct map_cache *map_cache_create(void) {
  struct map_cache *c = memory_aligned(64, sizeof *c);
  if (!c)
    return NULL;
  memset(c, 0, sizeof *c);
  pthread_mutex_init(&c->lock, NULL);
  return c;
}

void map_cache_destroy(struct map_cache *c) {
  if (!c)
    return;
  pthread_mutex_destroy(&c->lock);
  free(c);
}

// ---- the driver's numbers ----

enum map_type {
  MAP_UINT8,
  MAP_UINT16,
  MAP_UINT32,
  MAP_INT32,
  MAP_UINT64,
  MAP_INT64,
  MAP_FLOAT16,
  MAP_FLOAT32,
  MAP_FLOAT64,
  MAP_BFLOAT16,
};

// 8-bit floats are bytes: TMA does not compute with them, and zero is the same.
static const enum map_type map_types[] = {
    [DTYPE_I1] = MAP_UINT8,      [DTYPE_I8] = MAP_UINT8,     [DTYPE_I16] = MAP_UINT16,
    [DTYPE_I32] = MAP_INT32,     [DTYPE_I64] = MAP_INT64,    [DTYPE_U8] = MAP_UINT8,
    [DTYPE_U16] = MAP_UINT16,    [DTYPE_U32] = MAP_UINT32,   [DTYPE_U64] = MAP_UINT64,
    [DTYPE_F8E5] = MAP_UINT8,    [DTYPE_F8E4NV] = MAP_UINT8, [DTYPE_F16] = MAP_FLOAT16,
    [DTYPE_BF16] = MAP_BFLOAT16, [DTYPE_F32] = MAP_FLOAT32,  [DTYPE_F64] = MAP_FLOAT64,
    [DTYPE_F8E4B15] = MAP_UINT8,
};

static int swizzle_number(uint32_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

// ---- arguments ----

// The argument of that number, extended to 64 bits by its type.
static int64_t argument(const struct kernel_info *info, uint32_t i, const void *at) {
  const struct kernel_param *p = &info->params[i];
  int64_t wide = 0;
  size_t bytes = p->is_pointer ? sizeof wide : dtype_bytes(p->dtype);
  memcpy(&wide, at, bytes < sizeof wide ? bytes : sizeof wide); // little-endian
  bool is_signed =
      !p->is_pointer && (p->dtype == DTYPE_I8 || p->dtype == DTYPE_I16 || p->dtype == DTYPE_I32);
  unsigned shift = is_signed ? 64 - 8 * (unsigned)bytes : 0;
  return is_signed ? (int64_t)((uint64_t)wide << shift) >> shift : wide;
}

// ---- checks ----

static tile_status refuse(const struct kernel_info *info, const struct kernel_map *m,
                          const char *what, unsigned dim, int64_t value, const char *need) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "launch of `%s`: the tensor descriptor of `%s`: %s %u is %" PRId64 ", but %s",
                    info->name, info->params[m->base].name, what, dim, value, need);
}

static tile_status unknown(const struct kernel_info *info, const struct kernel_map *m) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "launch of `%s`: a size or stride of the tensor descriptor of `%s` overflows, "
                    "or divides by zero",
                    info->name, info->params[m->base].name);
}

// Sizes below 1 are those of an empty tensor, which no program reads.
static tile_status take_size(const struct kernel_info *info, const struct kernel_map *m,
                             unsigned dim, int64_t value, struct launch_map *ret) {
  if (value > (int64_t)max_size)
    return refuse(info, m, "size", dim, value, "at most 4294967296 elements are possible");
  ret->sizes[m->rank - 1 - dim] = value < 1 ? 1 : (uint64_t)value;
  return TILE_OK;
}

static tile_status take_stride(const struct kernel_info *info, const struct kernel_map *m,
                               unsigned dim, int64_t value, struct launch_map *ret) {
  int64_t bytes;
  if (__builtin_mul_overflow(value, (int64_t)dtype_bytes(m->dtype), &bytes))
    return unknown(info, m);
  bool is_single = ret->sizes[m->rank - 1 - dim] == 1; // its stride is not used
  if (is_single && (bytes < ALIGNMENT || bytes % ALIGNMENT != 0))
    bytes = ALIGNMENT;
  if (bytes % ALIGNMENT != 0 || bytes < 0 || bytes >= (int64_t)max_stride)
    return refuse(info, m, "stride", dim, value,
                  "its bytes have to be a multiple of 16 from 0 to 2^40");
  ret->strides[m->rank - 2 - dim] = (uint64_t)bytes;
  return TILE_OK;
}

static tile_status take_base(const struct kernel_info *info, const struct kernel_map *m,
                             int64_t address, int64_t offset, struct launch_map *ret) {
  int64_t bytes;
  if (__builtin_mul_overflow(offset, (int64_t)dtype_bytes(m->dtype), &bytes))
    return unknown(info, m);
  ret->address = (uint64_t)address + (uint64_t)bytes;
  if (ret->address % ALIGNMENT != 0)
    return status_set(TILE_INVALID_ARGUMENT,
                      "launch of `%s`: the tensor descriptor of `%s` begins at %#" PRIx64
                      ", which is not a multiple of 16 bytes",
                      info->name, info->params[m->base].name, ret->address);
  return TILE_OK;
}

static tile_status evaluate(const struct kernel_info *info, const struct kernel_map *m,
                            const int64_t *arguments, struct launch_map *ret) {
  int64_t value;
  memset(ret, 0, sizeof *ret); // padding too: maps are compared by their bytes
  ret->rank = m->rank, ret->type = (int)map_types[m->dtype];
  ret->swizzle = swizzle_number(m->swizzle), ret->pads_nan = m->pads_nan;
  for (unsigned i = 0; i < m->rank; i++) {
    ret->box[m->rank - 1 - i] = m->box[i];
    if (!launch_expr_value(&m->sizes[i], arguments, &value))
      return unknown(info, m);
    tile_status s = take_size(info, m, i, value, ret);
    if (s != TILE_OK)
      return s;
  }
  for (unsigned i = 0; i + 1 < m->rank; i++) {
    if (!launch_expr_value(&m->strides[i], arguments, &value))
      return unknown(info, m);
    tile_status s = take_stride(info, m, i, value, ret);
    if (s != TILE_OK)
      return s;
  }
  if (!launch_expr_value(&m->offset, arguments, &value))
    return unknown(info, m);
  return take_base(info, m, arguments[m->base], value, ret);
}

static bool take_arguments(const struct kernel_info *info, void *const *values, int64_t *ret) {
  if (info->param_count > MAX_KERNEL_PARAMS)
    return false;
  for (uint32_t i = 0; i < info->param_count; i++)
    ret[i] = argument(info, i, values[i]);
  return true;
}

static tile_status too_many(const struct kernel_info *info) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "launch of `%s`: a kernel with tensor descriptors can have %d parameters",
                    info->name, MAX_KERNEL_PARAMS);
}

tile_status launch_map_of(const struct kernel_info *info, uint32_t i, void *const *values,
                          struct launch_map *ret) {
  int64_t arguments[MAX_KERNEL_PARAMS];
  if (!take_arguments(info, values, arguments))
    return too_many(info);
  return evaluate(info, &info->maps[i], arguments, ret);
}

// ---- encodings ----

static tile_status encoding_of(struct map_cache *c, const struct launch_map *map,
                               map_encode_fn encode, void *device, struct map_bytes *ret) {
  for (uint32_t i = 0; i < c->count; i++)
    if (memcmp(&c->maps[i], map, sizeof *map) == 0) {
      *ret = c->bytes[i];
      return TILE_OK;
    }
  tile_status s = encode(device, map, ret);
  if (s != TILE_OK)
    return s;
  c->maps[c->next] = *map;
  c->bytes[c->next] = *ret;
  c->count += c->count < KEPT_MAPS;
  c->next = (c->next + 1) % KEPT_MAPS;
  return TILE_OK;
}

tile_status launch_maps_encode(struct map_cache *c, const struct kernel_info *info,
                               void *const *values, map_encode_fn encode, void *device,
                               struct map_bytes *ret) {
  int64_t arguments[MAX_KERNEL_PARAMS];
  struct launch_map map;
  tile_status s = TILE_OK;
  if (!take_arguments(info, values, arguments))
    return too_many(info);
  for (uint32_t i = 0; i < info->map_count && s == TILE_OK; i++) {
    s = evaluate(info, &info->maps[i], arguments, &map);
    if (s != TILE_OK)
      return s;
    pthread_mutex_lock(&c->lock);
    s = encoding_of(c, &map, encode, device, &ret[i]);
    pthread_mutex_unlock(&c->lock);
  }
  return s;
}
