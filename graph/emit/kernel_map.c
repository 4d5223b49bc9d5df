// SPDX-License-Identifier: Apache-2.0
// Prints maps and scatters: a block of elements per program. One dimension if one axis suffices; 2D
// tiles if the last axis is short or buffers are contiguous along different axes.
#include "graph/emit/graph_emit.h"
#include "graph/plan/map_plan.h"

#include <inttypes.h>

static bool divides(const struct expr *extent, unsigned block) {
  return expr_is_multiple(extent, block);
}

// A block along one axis: `x = PROGRAM * BLOCK + tl.arange(0, BLOCK)`.
static void put_axis(struct emitter *e, const struct expr *axis, const char *name,
                     const char *program, const char *block_name, unsigned block,
                     const char *subscript) {
  const struct expr *extent = axis_extent(axis);
  const char *wide = emit_axis_is_wide(axis) ? ".to(tl.int64)" : "";
  if (subscript[0])
    emit_line(e, 0, "%s = (%s%s * %s + tl.arange(0, %s))%s", name, program, wide, block_name,
              block_name, subscript);
  else
    emit_line(e, 0, "%s = %s%s * %s + tl.arange(0, %s)", name, program, wide, block_name,
              block_name);
  const char *mask = NULL;
  if (!divides(extent, block)) {
    mask = arena_printf(e->arena, "%s_mask", name);
    emit_line(e, 0, "%s = %s < %s", mask, name, emit_extent(e, extent));
  }
  emit_axis(e, axis, name, mask, 0);
}

// Unflattens an index over several axes, innermost first.
static void put_flat(struct emitter *e, const char *flat, uint32_t count,
                     const struct expr *const *axes, const char *mask) {
  const char *left = flat;
  for (uint32_t i = count; i-- > 0;) {
    const char *name = axes[i]->symbol->name, *extent = emit_extent(e, axis_extent(axes[i]));
    bool is_name = text_atom(extent).is_name;
    if (i == 0)
      emit_line(e, 0, "%s = %s", name, left);
    else if (is_name)
      emit_line(e, 0, "%s = %s %% %s", name, left, extent);
    else
      emit_line(e, 0, "%s = %s %% (%s)", name, left, extent);
    emit_axis(e, axes[i], name, mask, 0);
    if (i > 0) {
      const char *next = i > 1 ? arena_printf(e->arena, "left%u", i) : NULL;
      left = arena_printf(e->arena, is_name ? "%s // %s" : "%s // (%s)", left, extent);
      if (next) {
        emit_line(e, 0, "%s = %s", next, left);
        left = next;
      }
    }
  }
}

static void put_one_axis(struct emitter *e, const struct map_plan *m) {
  put_axis(e, m->axes[0], "x", "tl.program_id(0)", "BLOCK", m->block, "");
  emit_sizes(e, axis_extent(m->axes[0]));
}

// The subscripts of a tile's dimensions, by rank and position.
static const char *subscript_of(bool has_z, bool has_y, char dimension) {
  if (!has_z && !has_y)
    return "";
  if (has_z && has_y)
    return dimension == 'x'   ? "[None, None, :]"
           : dimension == 'y' ? "[None, :, None]"
                              : "[:, None, None]";
  return dimension == 'x' ? "[None, :]" : "[:, None]";
}

// The outer axes as one, in blocks of rows or row by row.
static void put_rows(struct emitter *e, const struct map_plan *m, const char *program, bool has_z) {
  const struct expr *flat =
      m->outer_count == 1 ? m->outer[0] : expr_symbol(e->x, "rows", 0, m->rows->hi, m->rows);
  const char *name = m->outer_count == 1 ? m->outer[0]->symbol->name : "row";
  if (m->y_block > 1) {
    put_axis(e, flat, name, program, "YBLOCK", m->y_block, subscript_of(has_z, true, 'y'));
  } else {
    emit_line(e, 0, "%s = %s%s", name, program, emit_axis_is_wide(flat) ? ".to(tl.int64)" : "");
    emit_axis(e, flat, name, NULL, 0);
  }
  if (m->outer_count > 1)
    put_flat(e, name, m->outer_count, m->outer, e->axes[e->axis_count - 1].mask);
}

// The last axis in blocks, all others as one, except the axis along which tables are reused, which
// has blocks of its own.
static void put_rows_of_blocks(struct emitter *e, const struct map_plan *m) {
  const struct expr *x = map_last_axis(m);
  bool has_y = m->y_block > 1, has_z = m->repeats >= 0;
  const char *ids[2] = {"tl.program_id(0)", "tl.program_id(1)"};
  put_axis(e, x, x->symbol->name, ids[!m->x_is_first], "XBLOCK", m->block,
           subscript_of(has_z, has_y, 'x'));
  put_rows(e, m, ids[m->x_is_first], has_z);
  emit_sizes(e, axis_extent(x));
  emit_sizes(e, m->rows);
  if (!has_z)
    return;
  const struct expr *z = m->axes[m->repeats];
  put_axis(e, z, z->symbol->name, "tl.program_id(2)", "ZBLOCK", m->z_block,
           subscript_of(true, has_y, 'z'));
  emit_sizes(e, axis_extent(z));
}

// Tiles over the last axis and the one along which other buffers are contiguous.
static void put_tiles(struct emitter *e, const struct map_plan *m) {
  const struct expr *x = map_last_axis(m), *y = m->axes[m->across];
  const char *px = "tl.program_id(0)";
  if (m->outer_count > 0) { // one index for the blocks of x and all other axes
    emit_line(e, 0, "pid = tl.program_id(0)");
    const char *blocks =
        arena_printf(e->arena, "tl.cdiv(%s, XBLOCK)", emit_extent(e, axis_extent(x)));
    emit_line(e, 0, "pid_x = pid %% %s", blocks);
    px = "pid_x";
    const char *flat = m->outer_count == 1 ? arena_printf(e->arena, "pid // %s", blocks) : "rest";
    if (m->outer_count > 1)
      emit_line(e, 0, "rest = pid // %s", blocks);
    put_flat(e, flat, m->outer_count, m->outer, NULL);
    emit_sizes(e, m->rows);
  }
  emit_sizes(e, axis_extent(x));
  put_axis(e, x, x->symbol->name, px, "XBLOCK", m->block, "[None, :]");
  put_axis(e, y, y->symbol->name, "tl.program_id(1)", "YBLOCK", m->y_block, "[:, None]");
  emit_sizes(e, axis_extent(y));
}

static void put_axes(struct emitter *e, const struct map_plan *m) {
  if (m->across >= 0)
    put_tiles(e, m);
  else if (m->rank > 1)
    put_rows_of_blocks(e, m);
  else
    put_one_axis(e, m);
  if (!m->keeps_loads)
    return;
  e->load_hint = "eviction_policy=\"evict_last\"";
  e->hinted_axes = emit_index_axes(e, map_last_axis(m));
}

void emit_map_kernel(struct emitter *e, const struct map_plan *m) {
  size_t n = m->parts.writes.len;
  const struct write_part *writes = m->parts.writes.at;
  for (size_t i = 0; i < n; i++)
    emit_writes(e, writes[i].buffer);
  put_axes(e, m);
  for (size_t i = 0; i < n; i++)
    emit_count_write(e, &writes[i]);
  for (size_t i = 0; i < n && m->loads_first; i++)
    emit_name(e, writes[i].body);
  for (size_t i = 0; i < n; i++)
    emit_write(e, &writes[i]);
}
