// SPDX-License-Identifier: Apache-2.0
// Checks of the ops on tensor descriptors.
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/verify_needs.h"

// ---- what they share ----

static bool want_base(struct checked *k, MlirType base) {
  if (type_is_tensor(base) || !is_ptr_type(k, base))
    return wrong(k, "needs one pointer as its base, not `%s`", text(k, base));
  enum dtype element = dtype_of_mlir(ptr_pointee(k->c, base));
  return (element != DTYPE_NONE && dtype_bits(element) >= 8) ||
         wrong(k, "needs a pointer to numbers of 8 to 64 bits, not `%s`", text(k, base));
}

// The tile of the block: of the tensor's rank and element, its last dimension at least as long as
// the engine copies.
static bool want_block(struct checked *k, const struct descriptor *d, MlirType block) {
  MlirType element = ptr_pointee(k->c, mlirValueGetType(d->base));
  if (!type_is_tensor(block) || tensor_rank(block) != d->rank)
    return wrong(k, "of a tensor of rank %u needs a block of that rank, not `%s`", d->rank,
                 text(k, block));
  if (!want_element(k, block, element))
    return false;
  if (!mlirAttributeIsNull(tensor_encoding(block)))
    return wrong(k, "has no layouts, as in `%s`", text(k, block));
  int64_t bytes = tensor_dim(block, d->rank - 1) * (int64_t)type_bits(k->c, element) / 8;
  return bytes >= DESCRIPTOR_ALIGNMENT ||
         wrong(k, "needs at least %d bytes in the last dimension of `%s`", DESCRIPTOR_ALIGNMENT,
               text(k, block));
}

static bool want_rows(struct checked *k, MlirType rows, MlirType block) {
  if (!type_is_tensor(rows) || tensor_rank(rows) != 1 ||
      !mlirAttributeIsNull(tensor_encoding(rows)) ||
      !mlirTypeEqual(element_type(rows), mlir_of_dtype(k->c, DTYPE_I32)))
    return wrong(k, "needs a tile of rank 1 of i32 as its rows, not `%s`", text(k, rows));
  return tensor_dim(rows, 0) == tensor_dim(block, 0) ||
         wrong(k, "has rows `%s` for the block `%s`", text(k, rows), text(k, block));
}

static bool want_padding(struct checked *k, MlirType block) {
  if (!want_word(k, "padding", "zero nan"))
    return false;
  return !str_is(op_attr_str(k->op, "padding"), "nan") || is_float_type(block) ||
         wrong(k, "cannot pad `%s` by NaN", text(k, block));
}

static bool want_kind(struct checked *k, MlirType block) {
  if (!want_word(k, "kind", "add fadd and or xor max min umax umin fmax fmin"))
    return false;
  struct str kind = op_attr_str(k->op, "kind");
  bool fits = kind.ptr[0] == 'f' ? is_float_type(block) : is_int_type(block);
  return fits || wrong(k, "of kind `%.*s` cannot work on `%s`", STR_ARG(kind), text(k, block));
}

bool check_descriptor(struct checked *k) {
  struct descriptor_access a;
  if (!descriptor_access_of(k->c, k->op, &a))
    return wrong(k, "needs 1 to %d sizes, a stride for each but the last, and offsets to match",
                 DESCRIPTOR_MAX_RANK);
  MlirType block = mlirValueIsNull(a.value) ? result_type(k) : mlirValueGetType(a.value);
  if (!want_base(k, mlirValueGetType(a.of.base)) || !want_block(k, &a.of, block) ||
      (!mlirValueIsNull(a.rows) && !want_rows(k, mlirValueGetType(a.rows), block)))
    return false;
  if (k->id == OP_TILE_DESCRIPTOR_LOAD || k->id == OP_TILE_DESCRIPTOR_GATHER)
    return want_padding(k, block);
  return k->id != OP_TILE_DESCRIPTOR_REDUCE || want_kind(k, block);
}
