// SPDX-License-Identifier: Apache-2.0
// Matrix products. Where the operands are laid out for matrix instructions, those are used
// (emit_mma.c); else each thread has all of K of its rows and columns in registers and computes its
// elements of the result one by one, as chains of fma along K.
#include "layouts/encoding.h"
#include "lowering/llvm/dot.h"

// Every thread must have the rows and columns of its part of the result, and all of K.
static bool threads_agree(const struct dot *d) {
  static const enum ll_in parts[] = {LL_LANE, LL_WARP};
  bool ok = d->a.axis[DOT_COLUMN].count == d->a.axis[DOT_COLUMN].size &&
            d->b.axis[DOT_ROW].count == d->b.axis[DOT_ROW].size;
  for (unsigned p = 0; p < COUNT_OF(parts); p++)
    for (unsigned b = 0; b < ll_in_bits(d->acc.layout, parts[p]); b++) {
      uint32_t batch = dot_image(&d->acc, parts[p], b, DOT_BATCH);
      ok = ok && batch == dot_image(&d->a, parts[p], b, DOT_BATCH) &&
           batch == dot_image(&d->b, parts[p], b, DOT_BATCH) &&
           dot_image(&d->acc, parts[p], b, DOT_ROW) == dot_image(&d->a, parts[p], b, DOT_ROW) &&
           dot_image(&d->acc, parts[p], b, DOT_COLUMN) == dot_image(&d->b, parts[p], b, DOT_COLUMN);
    }
  return ok;
}

// Converts elements to the accumulator's type.
static void widen(struct emitter *e, struct dot_tile *t, enum dtype to) {
  size_t n = (size_t)t->axis[0].count * t->axis[1].count * t->axis[2].count;
  for (size_t i = 0; i < n; i++)
    if (t->at[i] && t->dtype != to)
      t->at[i] = dtype_is_float(to)
                     ? convert_float(e, t->at[i], t->dtype, to, false)
                     : LLVMBuildIntCast2(e->b, t->at[i], type_of_dtype(e, to), true, "");
}

static LLVMValueRef multiply_add(struct emitter *e, const struct dot *d, LLVMValueRef x,
                                 LLVMValueRef y, LLVMValueRef sum) {
  if (!dtype_is_float(d->acc.dtype))
    return LLVMBuildAdd(e->b, sum, LLVMBuildMul(e->b, x, y, ""), "");
  LLVMTypeRef t = LLVMTypeOf(sum);
  LLVMValueRef args[] = {x, y, sum};
  return intrinsic(e, "llvm.fma", 1, &t, 3, args);
}

// One element of K into one row of the result.
static bool add_row(struct emitter *e, struct dot *d, uint32_t batch, uint32_t row, uint32_t k) {
  const struct dot_axis *columns = &d->acc.axis[DOT_COLUMN];
  LLVMValueRef *x = dot_at(&d->a, batch, row, k);
  for (unsigned j = 0; j < columns->count; j++) {
    LLVMValueRef *y = dot_at(&d->b, batch, k, columns->coords[j]);
    LLVMValueRef *sum = dot_at(&d->acc, batch, row, columns->coords[j]);
    if (!x || !*x || !y || !*y)
      return false;
    if (*sum)
      *sum = multiply_add(e, d, *x, *y, *sum);
  }
  return true;
}

static bool emit_chains(struct emitter *e, struct dot *d) {
  const struct dot_axis *batches = &d->acc.axis[DOT_BATCH], *rows = &d->acc.axis[DOT_ROW];
  bool ok = threads_agree(d);
  widen(e, &d->a, d->acc.dtype);
  widen(e, &d->b, d->acc.dtype);
  for (unsigned i = 0; i < batches->count; i++)
    for (uint32_t k = 0; k < d->a.axis[DOT_COLUMN].size; k++)
      for (unsigned r = 0; ok && r < rows->count; r++)
        ok = add_row(e, d, batches->coords[i], rows->coords[r], k);
  return ok || emit_unsupported(e, d->op,
                                "a matrix product whose threads lack parts of its "
                                "operands: use `dot_op` layouts of the accumulator's");
}

static bool is_for_mma(struct emitter *e, MlirType type) {
  const struct encoding *x = encoding_of_attr(e->c, tensor_encoding(type));
  return x && x->kind == ENC_DOT_OP && x->dot.parent->kind == ENC_MMA;
}

static void note_product(struct emitter *e) {
  const size_t len = sizeof PRODUCT_FLAG - 1;
  if (!LLVMGetModuleFlag(e->module, PRODUCT_FLAG, len))
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, PRODUCT_FLAG, len,
                      LLVMValueAsMetadata(const_i32(e, 1)));
}

bool emit_dot_of(struct emitter *e, MlirOperation op, const MlirType types[2],
                 const struct emitted x[2]) {
  note_product(e);
  struct dot d = {.op = op};
  d.a = dot_tile_of(e, types[0], &x[0]);
  d.b = dot_tile_of(e, types[1], &x[1]);
  d.acc = dot_tile_of(e, operand_type(op, 2), operand_of(e, op, 2));
  if (!(is_for_mma(e, types[0]) ? emit_mma(e, &d) : emit_chains(e, &d)))
    return false;
  dot_bind_result(e, &d);
  return true;
}

bool emit_dot(struct emitter *e, MlirOperation op) {
  MlirType types[2] = {operand_type(op, 0), operand_type(op, 1)};
  for (unsigned i = 0; i < 3; i++)
    if (!layout_of(e, operand_type(op, i)))
      return emit_unsupported(e, op, "the tile has no layout that fits its shape");
  struct emitted x[2] = {*operand_of(e, op, 0), *operand_of(e, op, 1)};
  return emit_dot_of(e, op, types, x);
}
