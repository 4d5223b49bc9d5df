// SPDX-License-Identifier: Apache-2.0
// Operands and result of a matrix product as tables from coordinates to registers.
#include "lowering/llvm/dot.h"

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

struct dot_tile dot_tile_of(struct emitter *e, MlirType type, const struct emitted *x) {
  struct dot_tile t = {.layout = layout_of(e, type), .dtype = dtype_of_mlir(element_type(type))};
  size_t slots = 1;
  for (unsigned d = 0; d < DOT_DIMS; d++) {
    t.axis[d] = axis_of(e, t.layout, d);
    slots *= t.axis[d].count;
  }
  t.at = arena_array(e->arena, LLVMValueRef, slots);
  memset(t.at, 0, slots * sizeof *t.at);
  for (uint32_t r = x->count; r-- > 0;) { // of replicas the first
    uint32_t coords[DOT_DIMS];
    coords_of(t.layout, r, coords);
    *dot_at(&t, coords[DOT_BATCH], coords[DOT_ROW], coords[DOT_COLUMN]) = x->at[r];
  }
  return t;
}

void dot_bind_result(struct emitter *e, const struct dot *d) {
  struct emitted *ret = result_of(e, d->op, 0);
  for (uint32_t r = 0; r < ret->count; r++) {
    uint32_t coords[DOT_DIMS];
    coords_of(d->acc.layout, r, coords);
    ret->at[r] = *dot_at(&d->acc, coords[DOT_BATCH], coords[DOT_ROW], coords[DOT_COLUMN]);
  }
}
