// SPDX-License-Identifier: Apache-2.0
// Blocks of tensor descriptors in a product's kernel.
//
//   a_tiles = tl.make_tensor_descriptor(in0, [4096, 512], [512, 1], [BLOCK_M, BLOCK_K])
//   ...
//   acc = tl.dot(a_tiles.load([m_first, k0]), b_tiles.load([n_first, k0]).T, acc)
//   out0_tiles.store([m_first, n_first], acc.to(tl.float16))
#include "graph/emit/emit_tiles.h"

static const char *block_of(const struct product *g, const struct expr *axis) {
  return axis == g->m ? "BLOCK_M" : axis == g->n ? "BLOCK_N" : "BLOCK_K";
}

static const char *first_of(const struct product *g, const struct expr *axis) {
  return axis == g->m ? "m_first" : axis == g->n ? "n_first" : "k0";
}

static const char *offsets_text(struct emitter *e, const struct product *g,
                                const struct product_tile *t) {
  return arena_printf(e->arena, "[%s, %s]", first_of(g, t->row_axis), first_of(g, t->column_axis));
}

void emit_descriptor(struct emitter *e, const struct product *g, const struct product_tile *t,
                     const char *name) {
  const char *base = emit_buffer(e, t->buffer), *stride = emit_extent(e, t->stride);
  const char *rows = emit_extent(e, axis_extent(t->row_axis)),
             *columns = emit_extent(e, axis_extent(t->column_axis));
  if (!expr_is(t->start, 0))
    base = arena_printf(e->arena, "%s + %s", base, emit_extent(e, t->start));
  emit_line(e, 0, "%s = tl.make_tensor_descriptor(%s, [%s, %s], [%s, 1], [%s, %s])", name, base,
            rows, columns, stride, block_of(g, t->row_axis), block_of(g, t->column_axis));
}

const char *tile_load_text(struct emitter *e, const struct product *g, const struct product_tile *t,
                           const char *name, const struct expr *row) {
  return arena_printf(e->arena, "%s.load(%s)%s", name, offsets_text(e, g, t),
                      row == t->row_axis ? "" : ".T");
}

void emit_tile_store(struct emitter *e, const struct product *g, const struct product_tile *t,
                     const char *name, const struct write_part *w) {
  enum dtype type = t->buffer->dtype;
  const char *value = emit_operand(e, w->body, PREC_ATOM);
  if (w->body->dtype != type)
    value = arena_printf(e->arena, "%s.to(%s)", value, emit_type(type));
  emit_line(e, e->depth, "%s.store(%s, %s)", name, offsets_text(e, g, t), value);
  vec_last(&e->scopes[e->depth].lines).stores = emit_parameter(e, t->buffer);
}
