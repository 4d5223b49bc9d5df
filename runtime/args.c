// SPDX-License-Identifier: Apache-2.0
// Kernel arguments as values.
#include "runtime/args.h"

#include "base/dtype.h"

// The public types and the compiler's dtypes have the same numbers.
#define X(id, name, language_name, bits, kind)                                                     \
  _Static_assert((int)id == (int)TILE_##id, "tile_type and enum dtype differ");
#define TILE_DTYPE_I1 TILE_I1
#define TILE_DTYPE_I8 TILE_I8
#define TILE_DTYPE_I16 TILE_I16
#define TILE_DTYPE_I32 TILE_I32
#define TILE_DTYPE_I64 TILE_I64
#define TILE_DTYPE_U8 TILE_U8
#define TILE_DTYPE_U16 TILE_U16
#define TILE_DTYPE_U32 TILE_U32
#define TILE_DTYPE_U64 TILE_U64
#define TILE_DTYPE_F8E5 TILE_F8E5
#define TILE_DTYPE_F8E4NV TILE_F8E4NV
#define TILE_DTYPE_F16 TILE_F16
#define TILE_DTYPE_BF16 TILE_BF16
#define TILE_DTYPE_F32 TILE_F32
#define TILE_DTYPE_F64 TILE_F64
#define TILE_DTYPE_F8E4B15 TILE_F8E4B15
DTYPES(X)
#undef X
_Static_assert((int)DTYPE_NONE == (int)TILE_NONE, "tile_type and enum dtype differ");

tile_arg tile_arg_pointer(void *device_pointer, tile_type element) {
  tile_arg a = {.is_pointer = 1, .type = element};
  a.value.pointer = device_pointer;
  return a;
}

tile_arg tile_arg_int(tile_type type, int64_t value) {
  tile_arg a = {.type = type};
  a.value.integer = value;
  return a;
}

static tile_arg real(tile_type type, double value) {
  tile_arg a = {.type = type};
  a.value.real = value;
  return a;
}

tile_arg tile_arg_i32(int32_t value) { return tile_arg_int(TILE_I32, value); }
tile_arg tile_arg_i64(int64_t value) { return tile_arg_int(TILE_I64, value); }
tile_arg tile_arg_f32(float value) { return real(TILE_F32, (double)value); }
tile_arg tile_arg_f64(double value) { return real(TILE_F64, value); }

tile_arg tile_arg_none(void) {
  tile_arg a = {.is_pointer = 1, .type = TILE_NONE};
  return a;
}

bool arg_fits(const tile_arg *arg) {
  static const struct {
    int64_t low, high;
  } ranges[] = {
      [TILE_I1] = {0, 1},
      [TILE_I8] = {INT8_MIN, INT8_MAX},
      [TILE_I16] = {INT16_MIN, INT16_MAX},
      [TILE_I32] = {INT32_MIN, INT32_MAX},
      [TILE_I64] = {INT64_MIN, INT64_MAX},
      [TILE_U8] = {0, UINT8_MAX},
      [TILE_U16] = {0, UINT16_MAX},
      [TILE_U32] = {0, UINT32_MAX},
      [TILE_U64] = {INT64_MIN, INT64_MAX}, // the same 64 bits
  };
  int64_t v = arg->value.integer;
  return v >= ranges[arg->type].low && v <= ranges[arg->type].high;
}

void arg_store(const tile_arg *arg, uint64_t *into) {
  if (arg->is_pointer) {
    *into = (uint64_t)(uintptr_t)arg->value.pointer;
    return;
  }
  switch (arg->type) {
  case TILE_F64: memcpy(into, &arg->value.real, sizeof(double)); break;
  case TILE_F32: {
    float f = (float)arg->value.real;
    memcpy(into, &f, sizeof f);
    break;
  }
  case TILE_F8E5:
  case TILE_F8E4NV:
  case TILE_F8E4B15:
  case TILE_F16:
  case TILE_BF16: dtype_store((enum dtype)arg->type, into, arg->value.real); break;
  case TILE_NONE:       // a pointer, stored above
  case TILE_DESCRIPTOR: // replaced by its parts (args_flatten)
  case TILE_I1:
  case TILE_I8:
  case TILE_I16:
  case TILE_I32:
  case TILE_I64:
  case TILE_U8:
  case TILE_U16:
  case TILE_U32:
  case TILE_U64:
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(into, &arg->value.integer, sizeof(int64_t)); // little-endian: the low bytes come first
#else
#error "integers narrower than 64 bits are taken from the front of the value"
#endif
    break;
  }
}
