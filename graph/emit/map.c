// SPDX-License-Identifier: Apache-2.0
// Maps and scatters: a block of elements a program. One dimension where memory is walked along one
// axis; tiles of two where the last axis is short or where buffers are contiguous along different
// axes.
#include "graph/emit/map.h"

#include <inttypes.h>

static bool divides(const struct expr *extent, unsigned block) {
  return expr_is_multiple(extent, block);
}

// A block along one axis: `x = PROGRAM * BLOCK + tl.arange(0, BLOCK)`.
static void put_axis(struct emitter *e, const struct expr *axis, const char *name,
                     const char *program, const char *block_name, unsigned block,
                     const char *subscript) {
  const struct expr *extent = axis->symbol->limit;
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

// Axes that one index runs over, innermost first: by division.
static void put_flat(struct emitter *e, const char *flat, uint32_t count,
                     const struct expr *const *axes, const char *mask) {
  const char *left = flat;
  for (uint32_t i = count; i-- > 0;) {
    const char *name = axes[i]->symbol->name, *extent = emit_extent(e, axes[i]->symbol->limit);
    bool atom = text_atom(extent).is_name;
    if (i == 0)
      emit_line(e, 0, "%s = %s", name, left);
    else if (atom)
      emit_line(e, 0, "%s = %s %% %s", name, left, extent);
    else
      emit_line(e, 0, "%s = %s %% (%s)", name, left, extent);
    emit_axis(e, axes[i], name, mask, 0);
    if (i > 0) {
      const char *next = i > 1 ? arena_printf(e->arena, "left%u", i) : NULL;
      left = arena_printf(e->arena, atom ? "%s // %s" : "%s // (%s)", left, extent);
      if (next) {
        emit_line(e, 0, "%s = %s", next, left);
        left = next;
      }
    }
  }
}

static const struct expr *product_of(struct emitter *e, uint32_t count,
                                     const struct expr *const *axes) {
  const struct expr *n = expr_const(e->x, 1);
  for (uint32_t i = 0; i < count; i++)
    n = expr_mul(e->x, n, axes[i]->symbol->limit);
  return n;
}

static const struct expr *blocks_of(struct emitter *e, const struct expr *n, unsigned block) {
  return expr_cdiv(e->x, n, expr_const(e->x, block));
}

static void one_axis(struct emitter *e, const struct map_plan *m, const struct expr *grid[3]) {
  const struct expr *axis = m->axes[0];
  const struct expr *block = emit_constexpr(e, "BLOCK", m->block);
  put_axis(e, axis, "x", "tl.program_id(0)", "BLOCK", m->block, "");
  grid[0] = expr_cdiv(e->x, axis->symbol->limit, block);
  emit_sizes(e, axis->symbol->limit);
}

enum { MOST_PROGRAMS = 65535 }; // along the second and third axis of a grid

// The subscripts of the dimensions of a tile, for each way of having them.
static const char *subscript_of(bool has_z, bool has_y, char dimension) {
  if (!has_z && !has_y)
    return "";
  if (has_z && has_y)
    return dimension == 'x'   ? "[None, None, :]"
           : dimension == 'y' ? "[None, :, None]"
                              : "[:, None, None]";
  return dimension == 'x' ? "[None, :]" : "[:, None]";
}

// The last axis by blocks, all others as one; but for the one that tables are read again along,
// which has blocks of its own.
static void rows_of_blocks(struct emitter *e, const struct map_plan *m,
                           const struct expr *grid[3]) {
  const struct expr **outer = arena_array(e->arena, const struct expr *, m->rank);
  uint32_t count = 0;
  for (uint32_t i = 0; i + 1 < m->rank; i++)
    if ((int)i != m->repeats)
      outer[count++] = m->axes[i];
  const struct expr *x = map_last_axis(m), *rows = product_of(e, count, outer);
  bool x_first = blocks_of(e, rows, m->y_block)->hi <= MOST_PROGRAMS, has_y = m->y_block > 1,
       has_z = m->repeats >= 0;
  const char *px = x_first ? "tl.program_id(0)" : "tl.program_id(1)";
  const char *py = x_first ? "tl.program_id(1)" : "tl.program_id(0)";
  const struct expr *x_block = emit_constexpr(e, "XBLOCK", m->block), *y_blocks = rows;
  put_axis(e, x, x->symbol->name, px, "XBLOCK", m->block, subscript_of(has_z, has_y, 'x'));
  const struct expr *flat = count == 1 ? outer[0] : expr_symbol(e->x, "rows", 0, rows->hi, rows);
  const char *name = count == 1 ? outer[0]->symbol->name : "row";
  if (has_y) {
    y_blocks = expr_cdiv(e->x, rows, emit_constexpr(e, "YBLOCK", m->y_block));
    put_axis(e, flat, name, py, "YBLOCK", m->y_block, subscript_of(has_z, true, 'y'));
  } else {
    emit_line(e, 0, "%s = %s%s", name, py, emit_axis_is_wide(flat) ? ".to(tl.int64)" : "");
    emit_axis(e, flat, name, NULL, 0);
  }
  if (count > 1)
    put_flat(e, name, count, outer, e->axes[e->axis_count - 1].mask);
  grid[x_first ? 0 : 1] = expr_cdiv(e->x, x->symbol->limit, x_block);
  grid[x_first ? 1 : 0] = y_blocks;
  emit_sizes(e, x->symbol->limit);
  emit_sizes(e, rows);
  if (!has_z)
    return;
  const struct expr *z = m->axes[m->repeats];
  const struct expr *z_block = emit_constexpr(e, "ZBLOCK", m->z_block);
  put_axis(e, z, z->symbol->name, "tl.program_id(2)", "ZBLOCK", m->z_block,
           subscript_of(true, has_y, 'z'));
  grid[2] = expr_cdiv(e->x, z->symbol->limit, z_block);
  emit_sizes(e, z->symbol->limit);
}

// Tiles over the last axis and the one that other buffers are contiguous along.
static void tiles_across(struct emitter *e, const struct map_plan *m, const struct expr *grid[3]) {
  uint32_t last = m->rank - 1, across = (uint32_t)m->across, count = 0;
  const struct expr *x = m->axes[last], *y = m->axes[across];
  const struct expr **rest = arena_array(e->arena, const struct expr *, m->rank);
  for (uint32_t i = 0; i < last; i++)
    if (i != across)
      rest[count++] = m->axes[i];
  const struct expr *others = product_of(e, count, rest);
  const struct expr *x_block = emit_constexpr(e, "XBLOCK", m->block),
                    *y_block = emit_constexpr(e, "YBLOCK", m->y_block);
  const char *px = "tl.program_id(0)", *py = "tl.program_id(1)";
  grid[0] = expr_mul(e->x, expr_cdiv(e->x, x->symbol->limit, x_block), others);
  if (count > 0) { // one number for the blocks of x and all others
    emit_line(e, 0, "pid = tl.program_id(0)");
    const char *gx =
        arena_printf(e->arena, "tl.cdiv(%s, XBLOCK)", emit_extent(e, x->symbol->limit));
    emit_line(e, 0, "pid_x = pid %% %s", gx);
    px = "pid_x";
    const char *flat = count == 1 ? arena_printf(e->arena, "pid // %s", gx) : "rest";
    if (count > 1)
      emit_line(e, 0, "rest = pid // %s", gx);
    put_flat(e, flat, count, rest, NULL);
    emit_sizes(e, others);
  }
  emit_sizes(e, x->symbol->limit);
  put_axis(e, x, x->symbol->name, px, "XBLOCK", m->block, "[None, :]");
  put_axis(e, y, y->symbol->name, py, "YBLOCK", m->y_block, "[:, None]");
  grid[1] = expr_cdiv(e->x, y->symbol->limit, y_block);
  emit_sizes(e, y->symbol->limit);
}

// How many lines of the last axis there are, but for those of the axis that tables are read again
// along.
static const struct expr *rows_of(struct emitter *e, const struct map_plan *m) {
  const struct expr *n = expr_const(e->x, 1);
  for (uint32_t i = 0; i + 1 < m->rank; i++)
    if ((int)i != m->repeats)
      n = expr_mul(e->x, n, m->axes[i]->symbol->limit);
  return n;
}

static const char *space_of(struct emitter *e, const struct map_plan *m) {
  const struct expr *x = map_last_axis(m)->symbol->limit;
  struct strbuf out = {.arena = e->arena};
  if (m->rank == 1) {
    emit_space_blocks(&out, "BLOCK", x, m->block, 128, 4096);
  } else if (m->across >= 0) {
    emit_space_blocks(&out, "XBLOCK", x, m->block, 16, 128);
    emit_space_blocks(&out, "YBLOCK", m->axes[m->across]->symbol->limit, m->y_block, 16, 128);
  } else {
    emit_space_blocks(&out, "XBLOCK", x, m->block, 64, 4096);
    if (m->y_block > 1)
      emit_space_blocks(&out, "YBLOCK", rows_of(e, m), m->y_block, 2, 64);
    if (m->repeats >= 0)
      emit_space_blocks(&out, "ZBLOCK", m->axes[m->repeats]->symbol->limit, m->z_block, 1, 16);
  }
  emit_space_powers(&out, "num_warps", m->num_warps, 1, 8);
  return emit_space_end(e, &out);
}

struct load_set {
  struct arena *arena;
  struct map seen;
  unsigned count;
};

static void count_load(void *user, const struct scalar *load) {
  struct load_set *l = user;
  l->count += !ptrmap_get(&l->seen, load);
  ptrmap_put(l->arena, &l->seen, load, l);
}

enum { MOST_NAMED = 4 };

// What is read before it is overwritten; and a kernel waits for what it loads once, not again
// behind each store.
static void name_before_stores(struct emitter *e, const struct emit_parts *parts) {
  struct load_set loads = {.arena = e->arena};
  size_t n = parts->writes.len;
  unsigned first = 0;
  for (size_t i = 0; i < n; i++) {
    scalar_loads(parts->writes.at[i].body, count_load, &loads);
    first = i ? first : loads.count;
  }
  bool updates = n > 1 && vec_last(&parts->writes).buffer->role == BUFFER_INPUT;
  for (size_t i = 0; i < n && (updates || (loads.count > first && n <= MOST_NAMED)); i++)
    emit_name(e, parts->writes.at[i].body);
}

// What is read is kept in the second cache longer than what is written, where neither stays: on an
// H200 a copy of 134 MB took 2 % less time so, rotary embeddings and swiglu 2 to 3 %.
enum { MANY_BYTES = 96 << 20 };

static void hint_loads(struct emitter *e, const struct map_plan *m) {
  if (e->region->kind != REGION_MAP || expr_hint(e->region->bytes) < MANY_BYTES)
    return;
  e->load_hint = "eviction_policy=\"evict_last\"";
  e->hinted_axes = emit_index_axes(e, map_last_axis(m));
}

bool emit_maps(struct program *p, const struct region *r, const struct program_options *o) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(p, r, &parts))
    return false;
  struct emitter *e = emit_begin(p, r, o, NULL);
  struct map_plan m = {.rank = r->rank, .axes = r->axes};
  map_halve(e, &parts, &m);
  map_choose(e, &parts, &m);
  for (size_t i = 0; i < parts.writes.len; i++)
    emit_writes(e, parts.writes.at[i].buffer);
  const struct expr *grid[3] = {NULL, NULL, NULL};
  if (m.across >= 0)
    tiles_across(e, &m, grid);
  else if (m.rank > 1)
    rows_of_blocks(e, &m, grid);
  else
    one_axis(e, &m, grid);
  hint_loads(e, &m);
  for (size_t i = 0; i < parts.writes.len; i++) {
    const struct stage *s = parts.writes.at[i].stage;
    emit_count(e, parts.writes.at[i].body);
    if (s->kind == STAGE_SCATTER && s->predicate)
      emit_count(e, s->predicate);
  }
  name_before_stores(e, &parts);
  for (size_t i = 0; i < parts.writes.len; i++) {
    const struct emit_write *w = &parts.writes.at[i];
    bool scatters = w->stage->kind == STAGE_SCATTER;
    emit_scatter_store(e, w->buffer, w->place, w->body, scatters ? w->stage->predicate : NULL,
                       scatters && w->stage->accumulates);
  }
  emit_end(e, m.num_warps, grid, space_of(e, &m));
  return true;
}
