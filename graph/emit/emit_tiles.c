// SPDX-License-Identifier: Apache-2.0
// Blocks of tensor descriptors in a product's kernel.
//
//   a_tiles = tl.make_tensor_descriptor(in0, [4096, 512], [512, 1], [BLOCK_M, BLOCK_K])
//   ...
//   acc = tl.dot(a_tiles.load([m_first, k0]), b_tiles.load([n_first, k0]).T, acc)
//   out0_tiles.store([m_first, n_first], acc.to(tl.float16))
//
// The dimensions of a batch are in front:
//
//   a_tiles = tl.make_tensor_descriptor(in0, [8, 4096, 512], [2097152, 512, 1], [1, BLOCK_M,
//   BLOCK_K]) a = a_tiles.load([batch, m_first, k0]).reshape(BLOCK_M, BLOCK_K)
#include "graph/emit/emit_tiles.h"

static const char *block_of(const struct product *g, const struct expr *axis) {
  return axis == g->m ? "BLOCK_M" : axis == g->n ? "BLOCK_N" : "BLOCK_K";
}

static const char *first_of(const struct product *g, const struct expr *axis) {
  return axis == g->m ? "m_first" : axis == g->n ? "n_first" : "k0";
}

// An offset of 32 bits.
static const char *outer_text(struct emitter *e, const struct product_outer *o) {
  struct text t = emit_index(e, o->index);
  return t.is_narrow ? t.s
                     : arena_printf(e->arena, "%s.to(tl.int32)", text_within(e, t, PREC_ATOM));
}

static const char *offsets_text(struct emitter *e, const struct product *g,
                                const struct product_tile *t) {
  const char *outer = "";
  for (unsigned i = 0; i < t->outer_count; i++)
    outer = arena_printf(e->arena, "%s%s, ", outer, outer_text(e, &t->outer[i]));
  return arena_printf(e->arena, "[%s%s, %s]", outer, first_of(g, t->row_axis),
                      first_of(g, t->column_axis));
}

void emit_descriptor(struct emitter *e, const struct product *g, const struct product_tile *t,
                     const char *name) {
  const char *base = emit_buffer(e, t->buffer), *stride = emit_extent(e, t->stride);
  const char *rows = emit_extent(e, axis_extent(t->row_axis)),
             *columns = emit_extent(e, axis_extent(t->column_axis));
  const char *sizes = "", *strides = "", *ones = "";
  for (unsigned i = 0; i < t->outer_count; i++) {
    sizes = arena_printf(e->arena, "%s%s, ", sizes, emit_extent(e, t->outer[i].size));
    strides = arena_printf(e->arena, "%s%s, ", strides, emit_extent(e, t->outer[i].stride));
    ones = arena_printf(e->arena, "%s1, ", ones);
  }
  if (!expr_is(t->start, 0))
    base = arena_printf(e->arena, "%s + %s", base, emit_extent(e, t->start));
  emit_line(e, 0, "%s = tl.make_tensor_descriptor(%s, [%s%s, %s], [%s%s, 1], [%s%s, %s])", name,
            base, sizes, rows, columns, strides, stride, ones, block_of(g, t->row_axis),
            block_of(g, t->column_axis));
}

const char *tile_load_text(struct emitter *e, const struct product *g, const struct product_tile *t,
                           const char *name, const struct expr *row) {
  const char *shape = "";
  if (t->outer_count)
    shape = arena_printf(e->arena, ".reshape(%s, %s)", block_of(g, t->row_axis),
                         block_of(g, t->column_axis));
  return arena_printf(e->arena, "%s.load(%s)%s%s", name, offsets_text(e, g, t), shape,
                      row == t->row_axis ? "" : ".T");
}

void emit_tile_store(struct emitter *e, const struct product *g, const struct product_tile *t,
                     const char *name, const struct write_part *w) {
  enum dtype type = t->buffer->dtype;
  const char *value = emit_operand(e, w->body, PREC_ATOM);
  if (w->body->dtype != type)
    value = arena_printf(e->arena, "%s.to(%s)", value, emit_type(type));
  const char *ones = "";
  for (unsigned i = 0; i < t->outer_count; i++)
    ones = arena_printf(e->arena, "%s1, ", ones);
  if (t->outer_count)
    value = arena_printf(e->arena, "%s.reshape(%sBLOCK_M, BLOCK_N)", value, ones);
  emit_line(e, e->depth, "%s.store(%s, %s)", name, offsets_text(e, g, t), value);
  vec_last(&e->scopes[e->depth].lines).stores = emit_parameter(e, t->buffer);
}
