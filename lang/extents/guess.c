// SPDX-License-Identifier: Apache-2.0
// Abstract values (extent_walk.h): their joins, shapes, and the facts that operators on them imply.
#include "lang/extents/extent_walk.h"

struct guess *guess_new(struct extents_walk *w) {
  struct guess *g = arena_new(w->a, struct guess);
  g->exact = -1;
  return g;
}

struct guess *guess_tuple(struct extents_walk *w, struct guess *const *items, size_t count) {
  struct guess *g = guess_new(w);
  g->items = items;
  g->item_count = count;
  return g;
}

static bool is_one(struct lang_tile_axis axis) { return axis.param < 0 && axis.length == 1; }

static struct lang_tile_axis wider(struct lang_tile_axis x, struct lang_tile_axis y) {
  if (is_one(x) || (y.param >= 0 && x.param < 0))
    return y;
  return x.param < 0 && x.length == 0 && !is_one(y) ? y : x;
}

static void broadcast(struct guess *to, const struct guess *x, const struct guess *y) {
  to->rank = x->rank > y->rank ? x->rank : y->rank;
  for (unsigned i = 0; i < to->rank; i++) { // aligned at the end
    unsigned from_end = to->rank - i;
    bool in_x = from_end <= x->rank, in_y = from_end <= y->rank;
    to->axes[i] = in_x && in_y ? wider(x->axes[x->rank - from_end], y->axes[y->rank - from_end])
                  : in_x       ? x->axes[x->rank - from_end]
                               : y->axes[y->rank - from_end];
  }
}

struct guess *guess_both(struct extents_walk *w, const struct guess *x, const struct guess *y) {
  struct guess *g = guess_new(w);
  broadcast(g, x, y);
  g->from = x->from | y->from;
  g->is_runtime = x->is_runtime || y->is_runtime;
  g->of_program = x->of_program || y->of_program;
  g->of_loop = x->of_loop || y->of_loop;
  g->is_index = x->is_index || y->is_index;
  g->of_dot = x->of_dot || y->of_dot;
  g->is_scaled = x->is_scaled || y->is_scaled;
  g->programs = x->programs | y->programs;
  g->iterations = x->iterations | y->iterations;
  return g;
}

const struct guess *guess_join(struct extents_walk *w, const struct guess *x,
                               const struct guess *y) {
  if (!x || x == y)
    return y;
  if (x->items && y->items && x->item_count == y->item_count) {
    struct guess **items = arena_array(w->a, struct guess *, x->item_count + 1);
    for (size_t i = 0; i < x->item_count; i++) {
      items[i] = guess_new(w);
      *items[i] = *guess_join(w, x->items[i], y->items[i]);
    }
    return guess_tuple(w, items, x->item_count);
  }
  if (x->items || y->items)
    return x->items ? x : y;
  struct guess *g = guess_both(w, x, y);
  g->counts = x->counts | y->counts;
  g->factors = x->factors | y->factors;
  if (x->exact == y->exact)
    g->exact = x->exact;
  return g;
}

struct lang_tile_axis guess_axis(struct extents_walk *w, const struct guess *length) {
  if (length->is_known)
    return (struct lang_tile_axis){-1, length->number > 0 ? (uint64_t)length->number : 0};
  param_set of = length->from & w->constants;
  if (!is_pow2(of)) // none, or several
    return (struct lang_tile_axis){-1, 0};
  int param = (int)log2_floor(of);
  w->facts[param].is_tile = true;
  return (struct lang_tile_axis){param, 0};
}

// ---- What operators say of parameters ----

// A length: known at run time, the same for all programs and iterations.
static bool is_length(const struct extents_walk *w, const struct guess *g) {
  return g->rank == 0 && (g->from & w->scalars) && !g->of_program && !g->of_loop;
}

static bool is_constant(const struct extents_walk *w, const struct guess *g) {
  return g->exact >= 0 && (w->constants & param_bit(g->exact));
}

// `index < bound`, `index % bound`.
void guess_bound(struct extents_walk *w, const struct guess *index, const struct guess *bound) {
  if (!index->is_index || bound->rank > 0 || bound->is_known)
    return;
  for (unsigned i = 0; i < index->rank; i++) {
    int p = index->axes[i].param;
    if (p < 0 || (!bound->is_runtime && !(bound->from & ~param_bit(p))))
      continue;
    struct facts *f = &w->facts[p];
    f->masks |= bound->from & ~param_bit(p);
    if (index->of_loop || bound->of_loop)
      f->is_step = f->is_step || ((index->iterations | bound->iterations) & param_bit(p)) ||
                   (bound->of_loop && !index->of_loop);
    else if (index->of_program)
      f->checked = f->checked || (index->programs & param_bit(p));
    else
      f->whole = true;
    if (index->of_program && (index->programs & param_bit(p)))
      f->checked = true;
  }
}

// A tile's index, and the offset that is added to it.
static void note_begin(struct extents_walk *w, const struct guess *index,
                       const struct guess *begin) {
  if (!index->is_index)
    return;
  for (unsigned i = 0; i < index->rank; i++) {
    int p = index->axes[i].param;
    if (p >= 0 && (begin->programs & param_bit(p)))
      w->facts[p].blocked = true;
    if (p >= 0 && (begin->iterations & param_bit(p)))
      w->facts[p].is_step = true;
  }
}

static const struct guess *product(struct extents_walk *w, const struct guess *x,
                                   const struct guess *y) {
  struct guess *g = guess_both(w, x, y);
  bool x_length = is_length(w, x), y_length = is_length(w, y);
  g->is_scaled = g->is_scaled || x_length || y_length;
  if (g->is_scaled)
    g->programs = g->iterations = 0;
  for (int swap = 0; swap < 2; swap++) {
    const struct guess *by = swap ? y : x, *other = swap ? x : y;
    if (!is_constant(w, by))
      continue;
    if (other->of_program && !other->is_scaled && other->rank == 0)
      g->programs |= param_bit(by->exact);
    if (other->of_loop && !other->is_scaled && other->rank == 0)
      g->iterations |= param_bit(by->exact);
    if ((swap ? x_length : y_length) || other->counts)
      g->factors |= param_bit(by->exact);
  }
  return g;
}

static void guess_divide(struct extents_walk *w, const struct guess *x, const struct guess *by) {
  bool is_same_for_all = x->rank == 0 && !x->of_program && !x->of_loop && x->from;
  if (is_same_for_all && by->rank == 0)
    for (size_t p = 0; p < w->param_count; p++)
      if (by->from & w->constants & param_bit((int)p)) {
        w->facts[p].counted = true;
        w->facts[p].loops |= x->from & ~param_bit((int)p);
      }
  if (!x->of_program || x->rank > 0)
    return;
  for (size_t p = 0; p < w->param_count; p++)
    if (by->factors & w->constants & param_bit((int)p))
      w->facts[p].groups = true;
  if (is_constant(w, by))
    w->facts[by->exact].divides = true;
}

static const struct guess *quotient(struct extents_walk *w, enum ast_op op, const struct guess *x,
                                    const struct guess *y) {
  struct guess *g = guess_both(w, x, y);
  g->is_scaled = x->is_scaled;
  if (op == OP_MOD) {
    guess_bound(w, x, y);
    return g;
  }
  g->programs = g->iterations = 0;
  bool is_same_for_all = x->rank == 0 && !x->of_program && !x->of_loop && x->from;
  if (is_same_for_all && y->rank == 0)
    g->counts = y->from & w->constants;
  return g;
}

const struct guess *guess_binary(struct extents_walk *w, enum ast_op op, const struct guess *x,
                                 const struct guess *y) {
  switch (op) {
  case OP_ADD:
  case OP_SUB:
    note_begin(w, x, y);
    note_begin(w, y, x);
    return guess_both(w, x, y);
  case OP_MUL: return product(w, x, y);
  case OP_FLOORDIV:
  case OP_MOD:
  case OP_DIV: guess_divide(w, x, y); return quotient(w, op, x, y);
  default: return guess_both(w, x, y);
  }
}
