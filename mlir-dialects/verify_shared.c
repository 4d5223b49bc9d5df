// SPDX-License-Identifier: Apache-2.0
// Checks of matrix products, of buffers in shared memory and of the copies that fill them.
#include "base/wgmma.h"
#include "mlir-dialects/verify_needs.h"

static MlirType bare(MlirType t) { return type_with_encoding(t, mlirAttributeGetNull()); }

// ---- buffers ----

static bool want_buffer(struct checked *k, MlirType t) {
  return type_is_memdesc(k->c, t) ||
         wrong(k, "needs a buffer in shared memory, not `%s`", text(k, t));
}

static bool want_buffer_of(struct checked *k, MlirType buffer, MlirType tile) {
  if (!want_buffer(k, buffer))
    return false;
  MlirType held = memdesc_tile(k->c, buffer);
  if (!type_is_tensor(tile) || !mlirTypeEqual(bare(held), bare(tile)))
    return wrong(k, "cannot keep `%s` in `%s`", text(k, tile), text(k, buffer));
  return true;
}

static bool check_local_alloc(struct checked *k) {
  if (!type_is_memdesc(k->c, result_type(k)))
    return wrong(k, "gives a buffer in shared memory, not `%s`", text(k, result_type(k)));
  int64_t copies = 1;
  if (!mlirAttributeIsNull(op_attr(k->op, "copies")) && !want_i32(k, "copies", &copies))
    return false;
  if (copies < 1 || copies > 1024 || (copies > 1 && operand_count(k) > 0))
    return wrong(k, "cannot make %lld copies", (long long)copies);
  return operand_count(k) == 0 || want_buffer_of(k, result_type(k), operand_type(k, 0));
}

static bool check_local_index(struct checked *k) {
  int64_t phase;
  if (!mlirAttributeIsNull(op_attr(k->op, "phase")) && !want_i32(k, "phase", &phase))
    return false;
  return want_buffer(k, operand_type(k, 0)) &&
         want_equal(k, operand_type(k, 1), mlir_of_dtype(k->c, DTYPE_I32)) &&
         want_equal(k, result_type(k), operand_type(k, 0));
}

static bool check_local_trans(struct checked *k) {
  int32_t order[TENSOR_RANK_LIMIT];
  if (!want_buffer(k, operand_type(k, 0)) || !want_buffer(k, result_type(k)))
    return false;
  MlirType from = memdesc_tile(k->c, operand_type(k, 0)), to = memdesc_tile(k->c, result_type(k));
  unsigned rank = tensor_rank(from);
  bool ok = tensor_rank(to) == rank && mlirTypeEqual(element_type(from), element_type(to)) &&
            op_attr_i32_array(k->op, "order", TENSOR_RANK_LIMIT, order) == rank;
  for (unsigned i = 0; ok && i < rank; i++)
    ok = order[i] >= 0 && order[i] < (int32_t)rank &&
         tensor_dim(to, i) == tensor_dim(from, (unsigned)order[i]);
  return ok ||
         wrong(k, "cannot make `%s` of `%s`", text(k, result_type(k)), text(k, operand_type(k, 0)));
}

static bool want_part(struct checked *k, MlirType whole, MlirType part) {
  int32_t at[TENSOR_RANK_LIMIT];
  bool ok = type_is_tensor(whole) && type_is_tensor(part) &&
            tensor_rank(part) == tensor_rank(whole) &&
            mlirTypeEqual(element_type(part), element_type(whole)) &&
            op_attr_i32_array(k->op, "offsets", TENSOR_RANK_LIMIT, at) == tensor_rank(whole);
  for (unsigned i = 0; ok && i < tensor_rank(whole); i++)
    ok = at[i] >= 0 && at[i] % tensor_dim(part, i) == 0 &&
         at[i] + tensor_dim(part, i) <= tensor_dim(whole, i);
  return ok ||
         wrong(k, "cannot take a part `%s` of `%s`", text(k, part), text(k, operand_type(k, 0)));
}

static bool check_local_load(struct checked *k) {
  if (mlirAttributeIsNull(op_attr(k->op, "offsets")))
    return want_buffer_of(k, operand_type(k, 0), result_type(k));
  return want_buffer(k, operand_type(k, 0)) &&
         want_part(k, memdesc_tile(k->c, operand_type(k, 0)), result_type(k));
}

// ---- copies ----

static bool check_async_copy(struct checked *k) {
  MlirType ptr = operand_type(k, 0);
  if (!type_is_tensor(ptr) || !type_is_ptr(k->c, element_type(ptr)))
    return wrong(k, "copies what a tile of pointers points at, not `%s`", text(k, ptr));
  MlirType tile = type_with_element(ptr, ptr_pointee(k->c, element_type(ptr)));
  return want_str(k, "cache") && want_str(k, "evict") &&
         want_buffer_of(k, operand_type(k, 1), tile) &&
         (operand_count(k) < 3 || want_mask(k, operand_type(k, 2), ptr));
}

// Groups that may be in flight behind a wait.
static bool want_pending(struct checked *k) {
  int64_t pending;
  return want_i32(k, "pending", &pending) && (pending >= 0 || wrong(k, "has a negative `pending`"));
}

static bool want_pending_products(struct checked *k) {
  return want_pending(k) && (op_attr_int(k->op, "pending", 0) <= WGMMA_MAX_PENDING ||
                             wrong(k, "has a `pending` above %d", WGMMA_MAX_PENDING));
}

static bool check_async_wait(struct checked *k) {
  for (intptr_t i = 0; i < operand_count(k); i++)
    if (!want_buffer(k, operand_type(k, i)))
      return false;
  return want_pending(k);
}

// ---- products ----

static bool agree(MlirType t, unsigned i, MlirType u, unsigned j) {
  return tensor_dim(t, i) == tensor_dim(u, j);
}

static bool want_operand_layout(struct checked *k, intptr_t i) {
  bool has = !mlirAttributeIsNull(tensor_encoding(operand_type(k, i)));
  bool acc = !mlirAttributeIsNull(tensor_encoding(operand_type(k, 2)));
  return has == acc || wrong(k, "has layouts on some operands only");
}

static bool want_product(struct checked *k, MlirType a, MlirType b, MlirType acc) {
  if (!type_is_tensor(a) || !type_is_tensor(b) || !type_is_tensor(acc))
    return wrong(k, "multiplies tiles");
  unsigned rank = tensor_rank(acc), m = rank - 2, n = rank - 1;
  bool ok = (rank == 2 || rank == 3) && tensor_rank(a) == rank && tensor_rank(b) == rank &&
            agree(a, m, acc, m) && agree(b, n, acc, n) && agree(a, n, b, m) &&
            (rank == 2 || (agree(a, 0, acc, 0) && agree(b, 0, acc, 0)));
  if (!ok)
    return wrong(k, "cannot multiply `%s` by `%s` to `%s`", text(k, a), text(k, b), text(k, acc));
  return want_equal(k, result_type(k), acc);
}

static MlirType tile_of(struct checked *k, MlirType t) {
  return type_is_memdesc(k->c, t) ? memdesc_tile(k->c, t) : t;
}

static bool want_promotion(struct checked *k) {
  int64_t every;
  if (mlirAttributeIsNull(op_attr(k->op, "promoted_every")))
    return true;
  if (!want_i32(k, "promoted_every", &every))
    return false;
  if (op_attr_int(k->op, "pending", 0) != 0)
    return wrong(k, "adds its sums to the accumulator while they are in flight");
  return (every > 0 && mlirTypeIsAF32(element_type(operand_type(k, 2)))) ||
         wrong(k, "needs a positive `promoted_every` and an accumulator of f32");
}

static bool check_warp_group_dot(struct checked *k) {
  return want_buffer(k, operand_type(k, 1)) &&
         want_product(k, tile_of(k, operand_type(k, 0)), tile_of(k, operand_type(k, 1)),
                      operand_type(k, 2)) &&
         want_pending_products(k) && want_promotion(k);
}

static bool check_warp_group_dot_wait(struct checked *k) {
  for (intptr_t i = 1; i < operand_count(k); i++)
    if (!type_is_tensor(operand_type(k, i)) ||
        type_bits(k->c, element_type(operand_type(k, i))) != 32)
      return wrong(k, "cannot use `%s`", text(k, operand_type(k, i)));
  return want_equal(k, result_type(k), operand_type(k, 0)) && want_pending_products(k);
}

static bool check_dot(struct checked *k) {
  int64_t imprecise;
  return want_product(k, operand_type(k, 0), operand_type(k, 1), operand_type(k, 2)) &&
         want_operand_layout(k, 0) && want_operand_layout(k, 1) &&
         want_word(k, "input_precision", "tf32 tf32x3 ieee bf16x3 bf16x6") &&
         want_i32(k, "max_num_imprecise_acc", &imprecise);
}

bool check_shared(struct checked *k) {
  switch (k->id) {
  case OP_TILE_DOT: return check_dot(k);
  case OP_GPU_WARP_GROUP_DOT: return check_warp_group_dot(k);
  case OP_GPU_WARP_GROUP_DOT_WAIT: return check_warp_group_dot_wait(k);
  case OP_GPU_PART: return want_part(k, operand_type(k, 0), result_type(k));
  case OP_GPU_LOCAL_ALLOC: return check_local_alloc(k);
  case OP_GPU_LOCAL_INDEX: return check_local_index(k);
  case OP_GPU_LOCAL_TRANS: return check_local_trans(k);
  case OP_GPU_LOCAL_LOAD: return check_local_load(k);
  case OP_GPU_LOCAL_STORE: return want_buffer_of(k, operand_type(k, 1), operand_type(k, 0));
  case OP_GPU_ASYNC_COPY: return check_async_copy(k);
  case OP_GPU_ASYNC_WAIT: return check_async_wait(k);
  default: return true;
  }
}
