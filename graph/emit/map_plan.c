// SPDX-License-Identifier: Apache-2.0
// How maps are cut into blocks: by how much is read for an element, along which axes memory is
// contiguous, and what is read again along others.
#include "graph/emit/map.h"

// Tables that the first cache of a multiprocessor does not hold.
enum { LARGE_TABLE = 64 << 10 };

struct access_sum {
  struct emitter *e;
  const struct map_plan *m;
  struct map seen;    // loads
  uint64_t along[8];  // bytes of what is contiguous along each axis
  uint64_t tables[8]; // bytes an element of large tables that have all axes but this one
  unsigned bytes;     // read for each element
  unsigned written;
  unsigned narrowest; // bytes of an element
};

static int64_t extent_of(const struct expr *axis) { return expr_hint(axis->symbol->limit); }

// Was a part of the place loaded?
static bool is_gathered(const struct expr *place) {
  if (place->kind == EXPR_SYMBOL)
    return place->symbol->indirect != NULL;
  for (uint32_t i = 0; i < place->count; i++)
    if (is_gathered(place->in[i]))
      return true;
  return false;
}

static void add_access(struct access_sum *s, const struct buffer *b, const struct expr *place,
                       bool is_read) {
  const struct map_plan *m = s->m;
  unsigned bytes = dtype_bytes(b->dtype), axes = 0;
  uint32_t absent = 0;
  for (uint32_t i = 0; i < m->rank; i++) {
    const struct expr *stride, *rest;
    if (!expr_has_symbol(place, m->axes[i])) {
      absent = i;
      continue;
    }
    axes++;
    if (i < 8 && expr_linear(s->e->x, place, m->axes[i], &stride, &rest) && expr_is(stride, 1) &&
        extent_of(m->axes[i]) > 1)
      s->along[i] += bytes;
  }
  if (is_read && axes + 1 == m->rank && absent + 1 < m->rank && absent < 8 &&
      expr_hint(b->numel) * bytes > LARGE_TABLE && !is_gathered(place))
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
  ptrmap_put(s->e->arena, &s->seen, load, s);
  add_access(s, load->buffer, load->index, true);
}

static unsigned pow2_above(int64_t n) {
  unsigned p = 1;
  while (p < n && p < (1u << 20))
    p *= 2;
  return p;
}

// Elements a thread: enough bytes on their way, and no access narrower than 16 bytes. With masks
// one access is enough, since each further one keeps the places of its elements: the sine and
// cosine of 2^25 f32 took 0.077 ms with two on an H200, 0.067 with one.
static unsigned elements_a_thread(const struct access_sum *s, bool has_masks) {
  unsigned least = 16 / s->narrowest, want = has_masks ? 0 : 32 / (s->bytes ? s->bytes : 4);
  unsigned n = want > least ? want : least;
  return n > 16 ? 16 : n < 4 ? 4 : pow2_above(n);
}

static void plan_block(struct emitter *e, const struct access_sum *s, struct map_plan *m) {
  int64_t total = 1, last = extent_of(map_last_axis(m));
  bool may_grow = false;
  for (uint32_t i = 0; i < m->rank; i++) {
    total *= extent_of(m->axes[i]);
    may_grow |= !expr_is_const(m->axes[i]->symbol->limit, NULL);
  }
  // On an H200 rotary embeddings and swiglu of halves were 6 and 1 % faster with two warps than
  // with four.
  m->num_warps = s->narrowest <= 2 && !m->is_halved ? 2 : 4;
  unsigned block = elements_a_thread(s, false) * 128;
  if (m->rank == 1 && (may_grow || total % block))
    block = elements_a_thread(s, true) * 128;
  // Small ones are spread over the device. Where a size is a symbol, a large one may come: there,
  // small blocks would cost more than large ones cost here.
  while (!may_grow && block > 128 && total / block < 2 * (int64_t)emit_multiprocessors(e->o))
    block /= 2;
  m->block = block;
  if (m->rank == 1) {
    while (!may_grow && m->block > 32 && m->block / 2 >= total)
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
  // On an H200, 8192x8192 halves: 0.0990 ms with squares of 128, 0.1015 with those of 64.
  int64_t elements = 1;
  for (uint32_t i = 0; i < m->rank; i++)
    elements *= extent_of(m->axes[i]);
  bool is_large = s->narrowest <= 2 && s->bytes <= 6 &&
                  elements >> 14 >= 8 * (int64_t)emit_multiprocessors(s->e->o);
  unsigned side = is_large && last >= 128 && other >= 128 ? 128 : 64;
  m->block = pow2_above(last) < side ? pow2_above(last) : side;
  m->y_block = pow2_above(other) < side ? pow2_above(other) : side;
  m->num_warps = m->block * m->y_block >= 4096 ? 8 : 4;
}

// A program takes several places of an axis that large tables do not know: cosines and sines of
// positions for several heads.
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

void map_choose(struct emitter *e, const struct emit_parts *parts, struct map_plan *m) {
  struct access_sum sum = {.e = e, .m = m, .narrowest = 8};
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct emit_write *w = &parts->writes.at[i];
    scalar_loads(w->body, add_load, &sum);
    add_access(&sum, w->buffer, w->place, false);
  }
  m->y_block = m->z_block = 1;
  m->across = m->repeats = -1;
  plan_block(e, &sum, m);
  plan_across(&sum, m);
  plan_repeats(&sum, m);
}
