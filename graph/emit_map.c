// SPDX-License-Identifier: Apache-2.0
// Maps and scatters: a block of elements a program. One dimension where memory is walked along one
// axis; tiles of two where the last axis is short or where buffers are contiguous along different
// axes.
#include "graph/emit.h"

#include <inttypes.h>

struct map_plan {
  unsigned block, y_block; // along the last axis; along the others (or along `across`)
  int across;              // the axis that is contiguous in other buffers; -1: none
  unsigned num_warps;
};

struct access_sum {
  struct emitter *e;
  const struct region *r;
  struct map seen;    // loads
  uint64_t along[8];  // bytes of what is contiguous along each axis
  unsigned bytes;     // read for each element
  unsigned narrowest; // bytes of an element
};

static int64_t extent_of(const struct expr *axis) {
  int64_t n = 0;
  return expr_is_const(axis->symbol->limit, &n) ? n : expr_hint(axis->symbol->limit);
}

static void add_access(struct access_sum *s, const struct buffer *b, const struct expr *place,
                       bool is_read) {
  const struct region *r = s->r;
  unsigned bytes = dtype_bytes(b->dtype), axes = 0;
  for (uint32_t i = 0; i < r->rank; i++) {
    const struct expr *stride, *rest;
    if (!expr_has_symbol(place, r->axes[i]))
      continue;
    axes++;
    if (i < 8 && expr_linear(s->e->x, place, r->axes[i], &stride, &rest) && expr_is(stride, 1) &&
        extent_of(r->axes[i]) > 1)
      s->along[i] += bytes;
  }
  if (axes < r->rank)
    return;
  if (is_read)
    s->bytes += bytes;
  if (bytes < s->narrowest)
    s->narrowest = bytes;
}

static void add_load(void *user, const struct scalar *load) {
  struct access_sum *s = user;
  if (ptrmap_get(&s->seen, load))
    return;
  ptrmap_put(s->e->arena, &s->seen, load, s);
  add_access(s, load->buffer, load->index, true);
}

static unsigned pow2_above(int64_t n) {
  unsigned p = 1;
  while (p < n && p < (1u << 20))
    p *= 2;
  return p;
}

// Elements a thread: enough bytes on their way, and no access narrower than 16 bytes.
static unsigned elements_a_thread(const struct access_sum *s) {
  unsigned least = 16 / s->narrowest, want = 32 / (s->bytes ? s->bytes : 4);
  unsigned n = want > least ? want : least;
  return n > 16 ? 16 : n < 4 ? 4 : pow2_above(n);
}

static void plan_block(struct emitter *e, const struct access_sum *s, struct map_plan *m) {
  const struct region *r = s->r;
  int64_t total = 1, last = extent_of(r->axes[r->rank - 1]);
  for (uint32_t i = 0; i < r->rank; i++)
    total *= extent_of(r->axes[i]);
  // On an H200 rotary embeddings and swiglu of halves were 6 and 1 % faster with two warps than
  // with four.
  m->num_warps = s->narrowest <= 2 ? 2 : 4;
  unsigned block = elements_a_thread(s) * 128;
  // Small ones are spread over the device.
  while (block > 128 && total / block < 2 * (int64_t)emit_multiprocessors(e->o))
    block /= 2;
  m->block = block;
  m->y_block = 1;
  m->across = -1;
  if (r->rank == 1) {
    while (m->block > 32 && m->block / 2 >= total)
      m->block /= 2;
    return;
  }
  // The longest piece of the last axis of which little sticks out.
  unsigned x = block;
  while (x > 32 && (pow2_above(last) < x || ((last + x - 1) / x * x - last) * 8 > last))
    x /= 2;
  if (((last + x - 1) / x * x - last) * 4 > last)
    x = pow2_above(last) < x ? pow2_above(last) : x;
  while (x < 32 && x < last)
    x *= 2;
  m->block = x;
  m->y_block = block > x ? block / x : 1;
}

static void plan_across(const struct access_sum *s, struct map_plan *m) {
  const struct region *r = s->r;
  uint64_t most = 0;
  for (uint32_t i = 0; i + 1 < r->rank && i < 8; i++)
    if (s->along[i] > most) {
      most = s->along[i];
      m->across = (int)i;
    }
  if (m->across < 0)
    return;
  int64_t last = extent_of(r->axes[r->rank - 1]), other = extent_of(r->axes[m->across]);
  if (s->along[r->rank - 1] == 0 || last < 8 || other < 8) {
    m->across = -1;
    return;
  }
  m->block = pow2_above(last) < 64 ? pow2_above(last) : 64;
  m->y_block = pow2_above(other) < 64 ? pow2_above(other) : 64;
  m->num_warps = m->block * m->y_block >= 4096 ? 8 : 4;
}

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

// "cdiv(4096, XBLOCK)"; sizes by the names of their parameters.
static const char *grid_part(struct emitter *e, const struct expr *n, const char *block) {
  return arena_printf(e->arena, "cdiv(%s, %s)", emit_extent(e, n), block);
}

static const char *one_axis(struct emitter *e, const struct map_plan *m,
                            const struct expr *grid[3]) {
  const struct expr *axis = e->region->axes[0];
  emit_constexpr(e, "BLOCK", m->block);
  put_axis(e, axis, "x", "tl.program_id(0)", "BLOCK", m->block, "");
  grid[0] = blocks_of(e, axis->symbol->limit, m->block);
  return grid_part(e, axis->symbol->limit, "BLOCK");
}

enum { MOST_PROGRAMS = 65535 }; // along the second and third axis of a grid

// The last axis by blocks, all others as one.
static const char *rows_of_blocks(struct emitter *e, const struct map_plan *m,
                                  const struct expr *grid[3]) {
  const struct region *r = e->region;
  uint32_t outer = r->rank - 1;
  const struct expr *x = r->axes[outer], *rows = product_of(e, outer, r->axes);
  const struct expr *x_blocks = blocks_of(e, x->symbol->limit, m->block);
  const struct expr *y_blocks = blocks_of(e, rows, m->y_block);
  bool x_first = y_blocks->hi <= MOST_PROGRAMS;
  const char *px = x_first ? "tl.program_id(0)" : "tl.program_id(1)";
  const char *py = x_first ? "tl.program_id(1)" : "tl.program_id(0)";
  bool is_tile = m->y_block > 1;
  emit_constexpr(e, "XBLOCK", m->block);
  put_axis(e, x, x->symbol->name, px, "XBLOCK", m->block, is_tile ? "[None, :]" : "");
  const struct expr *flat = outer == 1 ? r->axes[0] : expr_symbol(e->x, "rows", 0, rows->hi, rows);
  const char *name = outer == 1 ? r->axes[0]->symbol->name : "row";
  if (is_tile) {
    emit_constexpr(e, "YBLOCK", m->y_block);
    put_axis(e, flat, name, py, "YBLOCK", m->y_block, "[:, None]");
  } else {
    emit_line(e, 0, "%s = %s%s", name, py, emit_axis_is_wide(flat) ? ".to(tl.int64)" : "");
    emit_axis(e, flat, name, NULL, 0);
  }
  if (outer > 1)
    put_flat(e, name, outer, r->axes, e->axes[e->axis_count - 1].mask);
  grid[x_first ? 0 : 1] = x_blocks;
  grid[x_first ? 1 : 0] = y_blocks;
  const char *gx = grid_part(e, x->symbol->limit, "XBLOCK");
  const char *gy = is_tile ? grid_part(e, rows, "YBLOCK") : emit_extent(e, rows);
  return arena_printf(e->arena, "%s,%s", x_first ? gx : gy, x_first ? gy : gx);
}

// Tiles over the last axis and the one that other buffers are contiguous along.
static const char *tiles_across(struct emitter *e, const struct map_plan *m,
                                const struct expr *grid[3]) {
  const struct region *r = e->region;
  uint32_t last = r->rank - 1, across = (uint32_t)m->across, count = 0;
  const struct expr *x = r->axes[last], *y = r->axes[across];
  const struct expr **rest = arena_array(e->arena, const struct expr *, r->rank);
  for (uint32_t i = 0; i < last; i++)
    if (i != across)
      rest[count++] = r->axes[i];
  const struct expr *others = product_of(e, count, rest);
  const struct expr *x_blocks = blocks_of(e, x->symbol->limit, m->block);
  const struct expr *y_blocks = blocks_of(e, y->symbol->limit, m->y_block);
  emit_constexpr(e, "XBLOCK", m->block);
  emit_constexpr(e, "YBLOCK", m->y_block);
  const char *px = "tl.program_id(0)", *py = "tl.program_id(1)", *text;
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
    grid[0] = expr_mul(e->x, x_blocks, others);
    text = arena_printf(e->arena, "(%s) * cdiv(%s, XBLOCK)", emit_extent(e, others),
                        emit_extent(e, x->symbol->limit));
  } else {
    grid[0] = x_blocks;
    text = grid_part(e, x->symbol->limit, "XBLOCK");
  }
  put_axis(e, x, x->symbol->name, px, "XBLOCK", m->block, "[None, :]");
  put_axis(e, y, y->symbol->name, py, "YBLOCK", m->y_block, "[:, None]");
  grid[1] = y_blocks;
  return arena_printf(e->arena, "%s,%s", text, grid_part(e, y->symbol->limit, "YBLOCK"));
}

// Blocks for which the masks that are there, or not, stay right.
static const char *space_of(struct emitter *e, const struct map_plan *m) {
  const struct region *r = e->region;
  if (r->kind == REGION_SCATTER || r->rank != 1)
    return "num_warps=2,4,8";
  struct strbuf out = {0};
  const struct expr *extent = r->axes[0]->symbol->limit;
  bool even = divides(extent, m->block);
  strbuf_puts(&out, "BLOCK=");
  const char *between = "";
  for (unsigned b = 256; b <= 4096; b *= 2)
    if (b == m->block || !even || divides(extent, b)) {
      strbuf_printf(&out, "%s%u", between, b);
      between = ",";
    }
  strbuf_puts(&out, ",num_warps=2,4,8");
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&out));
  strbuf_finish(&out);
  return *between ? kept : "num_warps=2,4,8";
}

bool emit_maps(struct program *p, const struct region *r, const struct program_options *o) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(p, r, &parts))
    return false;
  struct emitter *e = emit_begin(p, r, o, NULL);
  struct access_sum sum = {.e = e, .r = r, .narrowest = 8};
  for (size_t i = 0; i < parts.writes.len; i++) {
    const struct emit_write *w = &parts.writes.at[i];
    scalar_loads(w->body, add_load, &sum);
    add_access(&sum, w->buffer, w->place, false);
  }
  struct map_plan m = {0};
  plan_block(e, &sum, &m);
  plan_across(&sum, &m);
  for (size_t i = 0; i < parts.writes.len; i++)
    emit_writes(e, parts.writes.at[i].buffer);
  const struct expr *grid[3] = {NULL, NULL, NULL};
  const char *text = m.across >= 0 ? tiles_across(e, &m, grid)
                     : r->rank > 1 ? rows_of_blocks(e, &m, grid)
                                   : one_axis(e, &m, grid);
  for (size_t i = 0; i < parts.writes.len; i++) {
    const struct stage *s = parts.writes.at[i].stage;
    emit_count(e, parts.writes.at[i].body);
    if (s->kind == STAGE_SCATTER && s->predicate)
      emit_count(e, s->predicate);
  }
  // What is read before it is overwritten.
  for (size_t i = 0; i < parts.writes.len && parts.writes.len > 1; i++)
    if (vec_last(&parts.writes).buffer->role == BUFFER_INPUT)
      emit_name(e, parts.writes.at[i].body);
  for (size_t i = 0; i < parts.writes.len; i++) {
    const struct emit_write *w = &parts.writes.at[i];
    bool scatters = w->stage->kind == STAGE_SCATTER;
    emit_scatter_store(e, w->buffer, w->place, w->body, scatters ? w->stage->predicate : NULL,
                       scatters && w->stage->accumulates);
  }
  emit_end(e, m.num_warps, grid, text, space_of(e, &m));
  return true;
}
