// SPDX-License-Identifier: Apache-2.0
// Prints operands of tl.dot. Half-precision values that the expression tree converts to f32 are
// used without conversion; values computed in f32 are rounded to the operand's dtype in the graph,
// as in eager execution.
#include "graph/emit/emit_operand.h"

// The masks around the load, and those of the axes it depends on.
static const char *load_mask(struct emitter *e, const struct scalar *v, uint32_t axes) {
  const char *mask = NULL;
  for (; v->kind != SCALAR_LOAD; v = v->in[v->kind == SCALAR_MASKED]) {
    if (v->kind != SCALAR_MASKED)
      continue;
    const char *here = emit_operand(e, v->in[0], PREC_AND);
    mask = mask ? arena_printf(e->arena, "%s & %s", mask, here) : here;
  }
  const char *bounds = emit_mask(e, axes);
  return mask && bounds ? arena_printf(e->arena, "%s & %s", bounds, mask) : mask ? mask : bounds;
}

// The offset as a tile over all of `axes`: adds those it does not depend on, times 0.
static const char *offset_text(struct emitter *e, const struct expr *offset, uint32_t axes) {
  struct text at = emit_index(e, offset);
  const char *s = at.s;
  axes &= ~emit_index_axes(e, offset);
  for (unsigned a = 0; a < e->axis_count; a++)
    if (axes >> a & 1)
      s = arena_printf(e->arena, "%s + 0 * %s", s, e->axes[a].name);
  return s;
}

// Also masked along axes that the offset does not depend on: what nothing uses is not loaded.
static const char *loaded_text(struct emitter *e, const struct scalar *v, const struct scalar *load,
                               uint32_t axes, uint32_t inside) {
  const char *mask = load_mask(e, v, axes | inside);
  const char *base = emit_buffer(e, load->buffer), *at = offset_text(e, load->index, axes);
  return mask ? arena_printf(e->arena, "tl.load(%s + (%s), mask=%s, other=0)", base, at, mask)
              : arena_printf(e->arena, "tl.load(%s + (%s))", base, at);
}

// An integer less a constant, computed in half precision.
static const char *small_integer_text(struct emitter *e, const struct scalar *v, enum dtype t) {
  if (v->kind == SCALAR_APPLY)
    return arena_printf(e->arena, "(%s - %s)", small_integer_text(e, v->in[0], t),
                        emit_operand(e, v->in[1], PREC_ATOM));
  return arena_printf(e->arena, "%s.to(%s)", emit_operand(e, v->in[0], PREC_ATOM), emit_type(t));
}

const char *operand_text(struct emitter *e, const struct scalar *v, enum dtype t,
                         const struct expr *row, const struct expr *column,
                         const struct expr *inside, const char *shape) {
  const struct scalar *load = operand_load(v);
  uint32_t within = inside ? emit_index_axes(e, inside) : 0;
  uint32_t axes = emit_index_axes(e, row) | emit_index_axes(e, column);
  if (load && load->dtype == t)
    return loaded_text(e, v, load, axes, within);
  bool is_small = dtype_bits(t) == 16 && operand_is_small_integer(v);
  const char *text = is_small ? small_integer_text(e, v, t) : emit_operand(e, v, PREC_ATOM);
  const char *mask = emit_mask(e, within);
  if (mask)
    text = arena_printf(e->arena, "tl.where(%s, %s, 0)", mask, text);
  if (axes & ~emit_axes_of(e, v))
    text = arena_printf(e->arena, "tl.broadcast_to(%s, %s)", text, shape);
  return v->dtype == t || is_small ? text : arena_printf(e->arena, "%s.to(%s)", text, emit_type(t));
}
