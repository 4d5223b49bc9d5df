// SPDX-License-Identifier: Apache-2.0
// Types of the language: a number or a pointer, scalar or tile. Signedness is kept here and not in
// the IR, where u32 and i32 are both i32.
#ifndef TILE_LANG_EVAL_TYPES_H
#define TILE_LANG_EVAL_TYPES_H

#include "base/limits.h"
#include "mlir-dialects/ir.h"

#define TYPE_MAX_RANK LIMIT_TILE_RANK
#define TYPE_MAX_NUMEL LIMIT_TILE_ELEMENTS
#define TYPE_NAME_SIZE 168

struct type {
  enum dtype dtype; // of the element; for pointers, of the final pointee
  uint8_t ptr;      // 0: a number; 1: pointer to it; 2: pointer to pointer
  bool is_const;    // pointer never stored through
  uint8_t rank;     // 0: scalar
  int32_t shape[TYPE_MAX_RANK];
};

struct type type_scalar(enum dtype t);
struct type type_pointer(enum dtype pointee);
// The element type of a tile; a scalar is its own.
struct type type_elem(struct type t);
// The pointee of a pointer or of a tile of pointers; the shape is kept.
struct type type_pointee(struct type t);
// `shape_of` with the element of `elem`.
struct type type_shaped(struct type elem, struct type shape_of);
struct type type_with_dtype(struct type t, enum dtype dtype);

bool type_eq(struct type a, struct type b);       // ignores const
bool type_elem_eq(struct type a, struct type b);  // ignores shapes
bool type_shape_eq(struct type a, struct type b); // ignores elements
int64_t type_numel(struct type t);
static inline bool type_is_tile(struct type t) { return t.rank > 0; }
static inline bool type_is_float(struct type t) { return !t.ptr && dtype_is_float(t.dtype); }
static inline bool type_is_int(struct type t) { return !t.ptr && dtype_is_int(t.dtype); }
static inline bool type_is_bool(struct type t) { return !t.ptr && t.dtype == DTYPE_I1; }
static inline bool type_is_fp8(struct type t) {
  return type_is_float(t) && dtype_bits(t.dtype) == 8;
}
// A storage type: loaded, stored and converted only; i8 in the IR.
static inline bool type_is_storage(struct type t) { return !t.ptr && t.dtype == DTYPE_F8E4B15; }

// "f32", "ptr[f16]", "tile<128x64xf32>"; returns `buf`.
const char *type_name(struct type t, char buf[TYPE_NAME_SIZE]);
// One allocation on the arena, for messages with many types.
const char *type_text(struct arena *a, struct type t);

MlirType type_to_mlir(struct ir_context *c, struct type t);

#endif
