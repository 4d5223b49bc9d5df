// SPDX-License-Identifier: Apache-2.0
// Matrix products. Where the operands are laid out for matrix instructions, those do it
// (emit_mma.c); else each thread has all of K of its rows and columns in registers and computes its
// elements of the result one by one, as chains of fma along K.
#include "layouts/encoding.h"
#include "lowering/llvm/dot.h"

// ---- operands by coordinates ----

LLVMValueRef *dot_at(const struct dot_tile *t, uint32_t batch, uint32_t row, uint32_t column) {
  const uint32_t coords[] = {batch, row, column};
  size_t slot = 0;
  for (unsigned d = 0; d < DOT_DIMS; d++) {
    const struct dot_axis *x = &t->axis[d];
    uint32_t number = coords[d] < x->size ? x->number[coords[d]] : UINT32_MAX;
    if (number == UINT32_MAX)
      return NULL;
    slot = slot * x->count + number;
  }
  return &t->at[slot];
}

// Dimensions count from the last one, so that a batch may be missing.
static int dim_of(const struct linear_layout *l, enum dot_dim dim) {
  return (int)l->out_count - DOT_DIMS + (int)dim;
}

uint32_t dot_image(const struct dot_tile *t, enum ll_in in, unsigned bit, enum dot_dim dim) {
  int at = ll_find_in(t->layout, in), d = dim_of(t->layout, dim);
  return at >= 0 && d >= 0 && bit < t->layout->in_bits[at] ? t->layout->basis[at][bit][d] : 0;
}

static void coords_of(const struct linear_layout *l, uint32_t r, uint32_t ret[DOT_DIMS]) {
  uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r}, out[LL_MAX_OUT];
  ll_apply(l, index, out);
  for (unsigned d = 0; d < DOT_DIMS; d++)
    ret[d] = dim_of(l, d) >= 0 ? out[dim_of(l, d)] : 0;
}

static struct dot_axis axis_of(struct emitter *e, const struct linear_layout *l, enum dot_dim dim) {
  struct dot_axis x = {.size = dim_of(l, dim) >= 0 ? 1u << l->out_bits[dim_of(l, dim)] : 1};
  uint32_t *number = arena_array(e->arena, uint32_t, x.size);
  memset(number, 0xff, x.size * sizeof *number);
  for (uint32_t r = 0; r < register_count(l); r++) {
    uint32_t coords[DOT_DIMS];
    coords_of(l, r, coords);
    number[coords[dim]] = 0;
  }
  uint32_t *coords = arena_array(e->arena, uint32_t, x.size);
  for (uint32_t i = 0; i < x.size; i++)
    if (number[i] == 0) {
      number[i] = x.count;
      coords[x.count++] = i;
    }
  x.coords = coords;
  x.number = number;
  return x;
}

static struct dot_tile tile_of(struct emitter *e, MlirType type, const struct emitted *x) {
  struct dot_tile t = {.layout = layout_of(e, type), .dtype = dtype_of_mlir(element_type(type))};
  size_t slots = 1;
  for (unsigned d = 0; d < DOT_DIMS; d++) {
    t.axis[d] = axis_of(e, t.layout, d);
    slots *= t.axis[d].count;
  }
  t.at = arena_array(e->arena, LLVMValueRef, slots);
  memset(t.at, 0, slots * sizeof *t.at);
  for (uint32_t r = x->count; r-- > 0;) { // of copies the first
    uint32_t coords[DOT_DIMS];
    coords_of(t.layout, r, coords);
    *dot_at(&t, coords[DOT_BATCH], coords[DOT_ROW], coords[DOT_COLUMN]) = x->at[r];
  }
  return t;
}

static void bind_result(struct emitter *e, const struct dot *d) {
  struct emitted *ret = result_of(e, d->op, 0);
  for (uint32_t r = 0; r < ret->count; r++) {
    uint32_t coords[DOT_DIMS];
    coords_of(d->acc.layout, r, coords);
    ret->at[r] = *dot_at(&d->acc, coords[DOT_BATCH], coords[DOT_ROW], coords[DOT_COLUMN]);
  }
}

// ---- chains of fma ----

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

// Elements as the accumulator's type.
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

bool emit_dot_of(struct emitter *e, MlirOperation op, const MlirType types[2],
                 const struct emitted x[2]) {
  struct dot d = {.op = op};
  d.a = tile_of(e, types[0], &x[0]);
  d.b = tile_of(e, types[1], &x[1]);
  d.acc = tile_of(e, operand_type(op, 2), operand_of(e, op, 2));
  if (!(is_for_mma(e, types[0]) ? emit_mma(e, &d) : emit_chains(e, &d)))
    return false;
  bind_result(e, &d);
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
