// SPDX-License-Identifier: Apache-2.0
// Block sizes of maps: by bytes read per element, by the contiguous axes of each buffer, and by
// reuse of tables along axes.
#include "graph/plan/map_plan.h"

#include "graph/plan/accesses.h"

// Tables larger than L1.
enum { LARGE_TABLE = 64 << 10 };

struct access_sum {
  struct planner *pl;
  const struct map_plan *m;
  struct map seen;    // loads
  uint64_t along[8];  // contiguous bytes along each axis
  uint64_t tables[8]; // bytes per element of large tables that depend on all axes but this one
  unsigned bytes;     // read per element
  unsigned written;
  unsigned narrowest; // bytes of the narrowest element
};

static int64_t extent_of(const struct expr *axis) { return expr_hint(axis_extent(axis)); }

// Does the offset contain loaded indices?
static bool is_gathered(const struct expr *offset) {
  if (offset->kind == EXPR_SYMBOL)
    return offset->symbol->indirect != NULL;
  for (uint32_t i = 0; i < offset->count; i++)
    if (is_gathered(offset->in[i]))
      return true;
  return false;
}

static bool has_all_axes(const struct map_plan *m, const struct expr *offset) {
  for (uint32_t i = 0; i < m->rank; i++)
    if (!expr_has_symbol(offset, m->axes[i]))
      return false;
  return true;
}

// On processors what does not depend on all axes is read in an outer loop, in any order.
static void add_access(struct access_sum *s, const struct buffer *b, const struct expr *offset,
                       bool is_read) {
  const struct map_plan *m = s->m;
  unsigned bytes = dtype_bytes(b->dtype), axes = 0;
  uint32_t absent = 0;
  bool counts = !plan_is_cpu(s->pl->o) || has_all_axes(m, offset);
  for (uint32_t i = 0; i < m->rank; i++) {
    const struct expr *stride, *rest;
    if (!expr_has_symbol(offset, m->axes[i])) {
      absent = i;
      continue;
    }
    axes++;
    if (i < 8 && counts && expr_linear(s->pl->x, offset, m->axes[i], &stride, &rest) &&
        expr_is(stride, 1) && extent_of(m->axes[i]) > 1)
      s->along[i] += bytes;
  }
  if (is_read && axes + 1 == m->rank && absent + 1 < m->rank && absent < 8 &&
      expr_likely_product(expr_hint(b->numel), bytes) > LARGE_TABLE && !is_gathered(offset))
    s->tables[absent] += bytes;
  if (axes < m->rank)
    return;
  if (is_read)
    s->bytes += bytes;
  else
    s->written += bytes;
  if (bytes < s->narrowest)
    s->narrowest = bytes;
}

static void add_load(void *user, const struct scalar *load) {
  struct access_sum *s = user;
  if (ptrmap_get(&s->seen, load))
    return;
  ptrmap_put(s->pl->arena, &s->seen, load, s);
  add_access(s, load->buffer, load->index, true);
}

// Elements per thread: enough bytes in flight, and accesses of 16 bytes at least. With masks one
// access is enough, since each further one keeps the offsets of its elements in registers: the sine
// and cosine of 2^25 f32 took 0.077 ms with two on an H200, 0.067 with one.
static unsigned elements_a_thread(const struct access_sum *s, bool has_masks) {
  unsigned least = 16 / s->narrowest, want = has_masks ? 0 : 32 / (s->bytes ? s->bytes : 4);
  unsigned n = want > least ? want : least;
  return n > 16 ? 16 : n < 4 ? 4 : plan_power_of_two(n, 1, 1u << 20);
}

static void plan_block(struct planner *pl, const struct access_sum *s, struct map_plan *m) {
  int64_t total = 1, last = extent_of(map_last_axis(m));
  bool may_grow = false;
  for (uint32_t i = 0; i < m->rank; i++) {
    total = expr_likely_product(total, extent_of(m->axes[i]));
    may_grow |= !expr_is_const(axis_extent(m->axes[i]), NULL);
  }
  // On an H200 half-precision rotary embeddings and swiglu were 6 and 1 % faster with two warps
  // than with four.
  m->num_warps = s->narrowest <= 2 && !m->is_split ? 2 : 4;
  unsigned block = elements_a_thread(s, false) * 128;
  if (m->rank == 1 && (may_grow || total % block))
    block = elements_a_thread(s, true) * 128;
  // Small maps use small blocks to fill the device. A symbolic size may be large: there, small
  // blocks would cost more than large ones do for small sizes.
  while (!may_grow && block > 128 && total / block < 2 * (int64_t)plan_multiprocessors(pl->o))
    block /= 2;
  m->block = block;
  if (m->rank == 1) {
    while (!may_grow && m->block > 32 && m->block / 2 >= total)
      m->block /= 2;
    return;
  }
  // The longest block of the last axis with little excess.
  unsigned x = block;
  while (x > 32 &&
         (plan_power_of_two(last, 1, 1u << 20) < x || ((last + x - 1) / x * x - last) * 8 > last))
    x /= 2;
  if (((last + x - 1) / x * x - last) * 4 > last)
    x = plan_power_of_two(last, 1, 1u << 20) < x ? plan_power_of_two(last, 1, 1u << 20) : x;
  while (x < 32 && x < last)
    x *= 2;
  m->block = x;
  m->y_block = block > x ? block / x : 1;
}

static void plan_across(const struct access_sum *s, struct map_plan *m) {
  uint64_t most = 0;
  for (uint32_t i = 0; i + 1 < m->rank && i < 8; i++)
    if (s->along[i] > most) {
      most = s->along[i];
      m->across = (int)i;
    }
  if (m->across < 0)
    return;
  int64_t last = extent_of(map_last_axis(m)), other = extent_of(m->axes[m->across]);
  if (s->along[m->rank - 1] == 0 || last < 8 || other < 8) {
    m->across = -1;
    return;
  }
  // On an H200, 8192x8192 of half precision: 0.0990 ms with squares of 128, 0.1015 with those
  // of 64.
  int64_t elements = 1;
  for (uint32_t i = 0; i < m->rank; i++)
    elements = expr_likely_product(elements, extent_of(m->axes[i]));
  bool is_large = s->narrowest <= 2 && s->bytes <= 6 &&
                  elements >> 14 >= 8 * (int64_t)plan_multiprocessors(s->pl->o);
  unsigned side = is_large && last >= 128 && other >= 128 ? 128 : 64;
  m->block =
      plan_power_of_two(last, 1, 1u << 20) < side ? plan_power_of_two(last, 1, 1u << 20) : side;
  m->y_block =
      plan_power_of_two(other, 1, 1u << 20) < side ? plan_power_of_two(other, 1, 1u << 20) : side;
  m->num_warps = m->block * m->y_block >= 4096 ? 8 : 4;
}

// A program computes several indices of an axis that large tables do not depend on: cosines and
// sines of positions for several heads.
static void plan_repeats(const struct access_sum *s, struct map_plan *m) {
  uint64_t most = 0;
  for (uint32_t i = 0; i + 1 < m->rank && i < 8; i++)
    if (s->tables[i] > most) {
      most = s->tables[i];
      m->repeats = (int)i;
    }
  if (m->repeats < 0)
    return;
  int64_t extent = extent_of(m->axes[m->repeats]);
  if (most * 4 < s->bytes + s->written || extent < 2 || extent > 65535 * 2 || m->across >= 0 ||
      m->rank < 3) {
    m->repeats = -1;
    return;
  }
  m->z_block = extent < 4 ? 2 : 4;
  m->y_block = m->y_block > m->z_block ? m->y_block / m->z_block : 1;
}

static void choose_blocks(struct planner *pl, const struct region_parts *parts,
                          struct map_plan *m) {
  struct access_sum sum = {.pl = pl, .m = m, .narrowest = 8};
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct write_part *w = &parts->writes.at[i];
    scalar_loads(w->body, add_load, &sum);
    add_access(&sum, w->buffer, w->offset, false);
  }
  m->y_block = m->z_block = 1;
  m->across = m->repeats = -1;
  plan_block(pl, &sum, m);
  plan_across(&sum, m);
  plan_repeats(&sum, m);
}

// ---- the order of loads and stores ----

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

// Loads everything before the first store: in-place inputs are read before they are overwritten,
// and loads overlap.
static bool loads_first(struct planner *pl, const struct region_parts *parts) {
  struct load_set loads = {.arena = pl->arena};
  size_t n = parts->writes.len;
  unsigned first = 0;
  for (size_t i = 0; i < n; i++) {
    scalar_loads(parts->writes.at[i].body, count_load, &loads);
    first = i ? first : loads.count;
  }
  bool updates = n > 1 && vec_last(&parts->writes).buffer->role == BUFFER_INPUT;
  return updates || (loads.count > first && n <= MOST_NAMED);
}

// Reads stay longer in L2 than writes if neither fits: on an H200 a copy of 134 MB took 2 % less
// time, rotary embeddings and swiglu 2 to 3 %.
enum { MANY_BYTES = 96 << 20 };

static bool keeps_loads(const struct region *r) {
  return r->kind == REGION_MAP && expr_hint(r->bytes) >= MANY_BYTES;
}

// ---- the kernel ----

enum { MOST_PROGRAMS = 65535 }; // along the second and third dimension of a grid

static void find_outer(struct planner *pl, struct map_plan *m) {
  m->outer = arena_array(pl->arena, const struct expr *, m->rank);
  m->rows = expr_const(pl->x, 1);
  for (uint32_t i = 0; i + 1 < m->rank; i++) {
    if ((int)i == m->repeats || (int)i == m->across)
      continue;
    m->outer[m->outer_count++] = m->axes[i];
    m->rows = expr_mul(pl->x, m->rows, axis_extent(m->axes[i]));
  }
}

static const struct expr *blocks_along(struct planner *pl, struct kernel_plan *k,
                                       const struct expr *n, const char *name, unsigned block) {
  return expr_cdiv(pl->x, n, plan_constant(pl->p, k, name, block));
}

static void set_grid(struct planner *pl, struct map_plan *m, struct kernel_plan *k) {
  const struct expr *last = axis_extent(map_last_axis(m));
  if (m->rank == 1) {
    k->grid[0] = blocks_along(pl, k, last, "BLOCK", m->block);
    return;
  }
  const struct expr *x = blocks_along(pl, k, last, "XBLOCK", m->block), *y = m->rows;
  if (m->across >= 0) {
    k->grid[0] = expr_mul(pl->x, x, m->rows);
    k->grid[1] = blocks_along(pl, k, axis_extent(m->axes[m->across]), "YBLOCK", m->y_block);
    return;
  }
  m->x_is_first = expr_cdiv(pl->x, y, expr_const(pl->x, m->y_block))->hi <= MOST_PROGRAMS;
  if (m->y_block > 1)
    y = blocks_along(pl, k, y, "YBLOCK", m->y_block);
  k->grid[0] = m->x_is_first ? x : y;
  k->grid[1] = m->x_is_first ? y : x;
  if (m->repeats >= 0)
    k->grid[2] = blocks_along(pl, k, axis_extent(m->axes[m->repeats]), "ZBLOCK", m->z_block);
}

static const char *space_of(struct planner *pl, const struct map_plan *m) {
  const struct expr *x = axis_extent(map_last_axis(m));
  struct strbuf out = {.arena = pl->arena};
  if (m->rank == 1) {
    space_put_blocks(&out, "BLOCK", x, m->block, 128, 4096);
  } else if (m->across >= 0) {
    space_put_blocks(&out, "XBLOCK", x, m->block, 16, 128);
    space_put_blocks(&out, "YBLOCK", axis_extent(m->axes[m->across]), m->y_block, 16, 128);
  } else {
    space_put_blocks(&out, "XBLOCK", x, m->block, 64, 4096);
    if (m->y_block > 1)
      space_put_blocks(&out, "YBLOCK", m->rows, m->y_block, 2, 64);
    if (m->repeats >= 0)
      space_put_blocks(&out, "ZBLOCK", axis_extent(m->axes[m->repeats]), m->z_block, 1, 16);
  }
  space_put_powers(&out, "num_warps", m->num_warps, 1, 8);
  return space_end(pl->arena, &out);
}

static void note_accesses(struct planner *pl, const struct map_plan *m, struct kernel_plan *k) {
  struct access_walk w = {.arena = pl->arena, .k = k};
  for (size_t i = 0; i < m->parts.writes.len && m->loads_first; i++)
    access_value(&w, m->parts.writes.at[i].body);
  for (size_t i = 0; i < m->parts.writes.len; i++)
    access_write(&w, &m->parts.writes.at[i]);
}

bool plan_map(struct program *p, const struct region *r, const struct program_options *o) {
  struct planner planner = planner_of(p, r, o), *pl = &planner;
  struct map_plan *m = arena_new(p->arena, struct map_plan);
  struct kernel_plan *k = plan_kernel(p, KERNEL_MAP, r, NULL);
  *m = (struct map_plan){.parts = region_parts_of(p, r), .rank = r->rank, .axes = r->axes};
  map_split(pl, &m->parts, m);
  choose_blocks(pl, &m->parts, m);
  find_outer(pl, m);
  set_grid(pl, m, k);
  m->loads_first = loads_first(pl, &m->parts);
  m->keeps_loads = keeps_loads(r);
  note_accesses(pl, m, k);
  k->map = m;
  k->num_warps = m->num_warps;
  k->space = space_of(pl, m);
  plan_launch(p, k);
  return true;
}
