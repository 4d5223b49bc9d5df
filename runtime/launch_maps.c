// SPDX-License-Identifier: Apache-2.0
// Evaluates the expressions of a kernel's tensor maps and checks their values (CUDA driver API,
// cuTensorMapEncodeTiled).
#include "runtime/launch_maps.h"

#include "runtime/runtime_internal.h"

#include <inttypes.h>
#include <string.h>

enum { ALIGNMENT = 16 };
static const uint64_t max_size = (uint64_t)1 << 32, max_stride = (uint64_t)1 << 40;

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
                    "launch of `%s`: the tensor descriptor of `%s`: %s %u is %" PRId64
                    " elements of %u bytes, but %s",
                    info->name, info->params[m->base].name, what, dim, value, dtype_bytes(m->dtype),
                    need);
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
  bool fits = !__builtin_mul_overflow(value, (int64_t)dtype_bytes(m->dtype), &bytes) &&
              bytes % ALIGNMENT == 0 && bytes >= 0 && bytes < (int64_t)max_stride;
  if (ret->sizes[m->rank - 1 - dim] == 1 && (!fits || bytes == 0)) // its stride is not used
    bytes = ALIGNMENT;
  else if (!fits)
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

// What no argument changes: the rows of a block, and the value outside of the tensor.
static tile_status check_block(const struct kernel_info *info, const struct kernel_map *m) {
  const char *name = info->params[m->base].name;
  unsigned row = m->box[m->rank - 1] * dtype_bytes(m->dtype);
  if (row % ALIGNMENT != 0 || (m->swizzle && row > m->swizzle))
    return status_set(TILE_INVALID_ARGUMENT,
                      "launch of `%s`: the tensor descriptor of `%s`: a row of a block has %u "
                      "bytes, but a multiple of 16 is required, and at most %u",
                      info->name, name, row,
                      m->swizzle ? m->swizzle : KERNEL_MAP_BOX * dtype_bytes(m->dtype));
  if (m->pads_nan && map_types[m->dtype] < MAP_FLOAT16)
    return status_set(TILE_INVALID_ARGUMENT,
                      "launch of `%s`: the tensor descriptor of `%s`: elements of type %s are NaN "
                      "outside of the tensor, but only floats of 16 bits or more can be",
                      info->name, name, dtype_name(m->dtype));
  return TILE_OK;
}

static tile_status take_sizes(const struct kernel_info *info, const struct kernel_map *m,
                              const int64_t *arguments, struct launch_map *ret) {
  int64_t value;
  tile_status s = TILE_OK;
  for (unsigned i = 0; i < m->rank && s == TILE_OK; i++) {
    ret->box[m->rank - 1 - i] = m->box[i];
    if (!launch_expr_value(&m->sizes[i], arguments, &value))
      return unknown(info, m);
    s = take_size(info, m, i, value, ret);
  }
  for (unsigned i = 0; i + 1 < m->rank && s == TILE_OK; i++) {
    if (!launch_expr_value(&m->strides[i], arguments, &value))
      return unknown(info, m);
    s = take_stride(info, m, i, value, ret);
  }
  return s;
}

static tile_status evaluate(const struct kernel_info *info, const struct kernel_map *m,
                            const int64_t *arguments, struct launch_map *ret) {
  int64_t offset;
  *ret = (struct launch_map){.rank = m->rank};
  ret->type = (int)map_types[m->dtype];
  ret->swizzle = swizzle_number(m->swizzle), ret->pads_nan = m->pads_nan;
  tile_status s = check_block(info, m);
  if (s == TILE_OK)
    s = take_sizes(info, m, arguments, ret);
  if (s != TILE_OK)
    return s;
  if (!launch_expr_value(&m->offset, arguments, &offset))
    return unknown(info, m);
  return take_base(info, m, arguments[m->base], offset, ret);
}

tile_status launch_map_of(const struct kernel_info *info, uint32_t i, void *const *values,
                          struct launch_map *ret) {
  int64_t arguments[MAX_MAP_KERNEL_PARAMS];
  if (info->param_count > MAX_MAP_KERNEL_PARAMS)
    return status_set(TILE_INVALID_ARGUMENT,
                      "launch of `%s`: a kernel with tensor descriptors can have %d parameters",
                      info->name, MAX_MAP_KERNEL_PARAMS);
  for (uint32_t p = 0; p < info->param_count; p++)
    arguments[p] = argument(info, p, values[p]);
  return evaluate(info, &info->maps[i], arguments, ret);
}
