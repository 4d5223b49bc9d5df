// SPDX-License-Identifier: Apache-2.0
// Kernel arguments as values.
#include <tile/runtime.h>

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
