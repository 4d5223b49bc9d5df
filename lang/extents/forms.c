// SPDX-License-Identifier: Apache-2.0
// Abstract evaluation of builtins (extent_walk.h), one function for each form of builtin_flags.h.
//
// Recursion is the algorithm: a walk over the tree.
#include "base/vec.h"
#include "lang/eval/builtin_params.h"
#include "lang/extents/extent_walk.h"

#include <assert.h>

#define MAX_TILES 256

const struct expr *guess_given(const struct given *c, size_t at, const char *name) {
  if (c->object && at-- == 0)
    return c->object;
  for (size_t i = 0; i < c->call->call.arg_count; i++) {
    const struct ast_arg *arg = &c->call->call.args[i];
    bool is_it = arg->name ? name && strcmp(arg->name, name) == 0 : i == at;
    if (is_it && !arg->is_star && !arg->is_double_star)
      return arg->value;
  }
  return NULL;
}

const struct expr *guess_named(const struct given *c, const char *name) {
  struct str rest = str_from(c->params);
  struct builtin_param p;
  for (size_t i = 0; builtin_param_next(&rest, &p); i++)
    if (str_is(p.name, name))
      return guess_given(c, i, name);
  assert(!"builtins of one form have the parameters that it reads");
  return NULL;
}

const struct guess *guess_argument(struct extents_walk *w, const struct given *c,
                                   const char *name) {
  const struct expr *e = guess_named(c, name);
  return e ? guess_expr(w, e) : guess_new(w);
}

// The argument of parameter number `at`, whatever it is called.
static const struct guess *guess_numbered(struct extents_walk *w, const struct given *c,
                                          size_t at) {
  struct str rest = str_from(c->params);
  struct builtin_param p;
  for (size_t i = 0; builtin_param_next(&rest, &p); i++)
    if (i == at)
      return guess_argument(w, c, arena_strndup(w->a, p.name.ptr, p.name.len));
  assert(!"builtins of one form have the parameters that it reads");
  return guess_new(w);
}

// Argument number `at`, by position alone.
static const struct guess *guess_at(struct extents_walk *w, const struct given *c, size_t at) {
  const struct expr *e = guess_given(c, at, NULL);
  return e ? guess_expr(w, e) : guess_new(w);
}

static size_t argument_count(const struct given *c) {
  return c->call->call.arg_count + (c->object != NULL);
}

// All arguments, elementwise.
struct guess *guess_elementwise(struct extents_walk *w, const struct given *c) {
  struct guess *all = guess_new(w);
  if (c->object)
    all = guess_both(w, all, guess_expr(w, c->object));
  for (size_t i = 0; i < c->call->call.arg_count; i++)
    all = guess_both(w, all, guess_expr(w, c->call->call.args[i].value));
  return all;
}

// ---- Tiles ----

static bool same_tile(const struct lang_tile *x, const struct lang_tile *y) {
  if (x->rank != y->rank || x->is_product != y->is_product)
    return false;
  for (unsigned i = 0; i < x->rank; i++)
    if (x->axes[i].param != y->axes[i].param || x->axes[i].length != y->axes[i].length)
      return false;
  return true;
}

static void note_tile(struct extents_walk *w, const struct guess *g, bool is_product) {
  struct lang_tile t = {.rank = g->rank, .is_product = is_product};
  bool has_param = false;
  for (unsigned i = 0; i < g->rank; i++) {
    t.axes[i] = g->axes[i];
    has_param = has_param || g->axes[i].param >= 0;
  }
  struct lang_extents *r = w->ret;
  if (!has_param || r->tile_count == MAX_TILES)
    return;
  for (size_t i = 0; i < r->tile_count; i++)
    if (same_tile(&r->tiles[i], &t))
      return;
  vec_reserve_(w->a, (void **)&r->tiles, &w->tile_cap, r->tile_count + 1, sizeof t);
  r->tiles[r->tile_count++] = t;
}

static void set_shape(struct extents_walk *w, struct guess *g, const struct guess *shape) {
  g->rank = 0;
  if (shape && !shape->items) // a number: rank 1
    g->axes[g->rank++] = guess_axis(w, shape);
  for (size_t i = 0; shape && i < shape->item_count && g->rank < LANG_TILE_RANK; i++)
    g->axes[g->rank++] = guess_axis(w, shape->items[i]);
}

const struct guess *guess_arange(struct extents_walk *w, const struct given *c) {
  const struct guess *end = guess_argument(w, c, "end");
  struct guess *g = guess_new(w);
  g->rank = 1;
  g->axes[0] = guess_axis(w, end);
  g->from = end->from;
  g->is_index = true;
  return g;
}

const struct guess *guess_full(struct extents_walk *w, const struct given *c) {
  struct guess *g = guess_new(w);
  set_shape(w, g, guess_argument(w, c, "shape"));
  return g;
}

// reshape(x, a, b), reshape(x, (a, b)), broadcast_to
const struct guess *guess_reshape(struct extents_walk *w, const struct given *c) {
  const struct guess *x = guess_argument(w, c, "input");
  struct guess *g = guess_both(w, x, x);
  g->rank = 0;
  for (size_t i = 1; i < argument_count(c) && g->rank < LANG_TILE_RANK; i++) {
    const struct expr *e = i == 1 ? guess_named(c, "shape") : guess_given(c, i, NULL);
    const struct guess *length = e ? guess_expr(w, e) : NULL;
    if (length && length->items)
      set_shape(w, g, length);
    else if (length)
      g->axes[g->rank++] = guess_axis(w, length);
  }
  return g;
}

const struct guess *guess_trans(struct extents_walk *w, const struct given *c) {
  const struct guess *x = guess_argument(w, c, "input"), *first = guess_argument(w, c, "dims");
  struct guess *g = guess_both(w, x, x);
  for (unsigned i = 0; i < x->rank; i++) {
    const struct guess *d = first->items ? i < first->item_count ? first->items[i] : NULL
                            : guess_given(c, i + 1, NULL) ? guess_at(w, c, i + 1)
                                                          : NULL;
    bool given = d && d->is_known && d->number >= 0 && d->number < (int64_t)x->rank;
    g->axes[i] = x->axes[given ? (unsigned)d->number : x->rank - 1 - i];
  }
  return g;
}

const struct guess *guess_expand(struct extents_walk *w, const struct given *c) {
  const struct guess *x = guess_argument(w, c, "input"), *axis = guess_numbered(w, c, 1);
  struct guess *g = guess_both(w, x, x);
  if (x->rank == LANG_TILE_RANK)
    return g;
  unsigned at = axis->is_known && axis->number >= 0 && axis->number <= (int64_t)x->rank
                    ? (unsigned)axis->number
                    : x->rank;
  for (unsigned i = x->rank; i > at; i--)
    g->axes[i] = g->axes[i - 1];
  g->axes[at] = (struct lang_tile_axis){-1, 1};
  g->rank++;
  return g;
}

// ---- Memory ----

static const struct guess *item(const struct guess *g, size_t i) {
  return g->items && i < g->item_count ? g->items[i] : NULL;
}

// A block that begins at `begin` in an array of these lengths, treated like masked indices.
static void bound_block(struct extents_walk *w, const struct guess *block,
                        const struct guess *lengths, const struct guess *begin) {
  for (unsigned i = 0; i < block->rank; i++) {
    const struct guess *length = item(lengths, i), *at = item(begin, i);
    if (block->axes[i].param < 0 || !length || !at)
      continue;
    struct guess *index = guess_new(w);
    index->rank = 1;
    index->axes[0] = block->axes[i];
    index->is_index = true;
    guess_bound(w, guess_binary(w, OP_ADD, index, at), length);
  }
}

static const struct guess *load_through(struct extents_walk *w, const struct guess *pointer) {
  note_tile(w, pointer, false);
  if (w->loops && pointer->rank > 0)
    w->ret->has_loop_with_loads = true;
  struct guess *g = guess_new(w);
  g->rank = pointer->rank;
  memcpy(g->axes, pointer->axes, sizeof g->axes);
  g->is_runtime = true;
  return g;
}

const struct guess *guess_load(struct extents_walk *w, const struct given *c) {
  const struct guess *pointer = guess_argument(w, c, "pointer");
  const struct guess *second = guess_argument(w, c, "mask"); // of `desc.load`: the offsets
  if (pointer->items)
    bound_block(w, pointer, pointer, second);
  return load_through(w, pointer);
}

// A tile of the block's shape, whose items are the sizes of the tensor.
const struct guess *guess_descriptor(struct extents_walk *w, const struct given *c) {
  const struct guess *lengths = guess_argument(w, c, "shape");
  struct guess *g = guess_new(w);
  set_shape(w, g, guess_argument(w, c, "block_shape"));
  g->items = lengths->items;
  g->item_count = lengths->item_count;
  return g;
}

struct guess *guess_descriptor_argument(struct extents_walk *w, const struct expr *block) {
  struct guess *g = guess_new(w);
  set_shape(w, g, guess_expr(w, block));
  struct guess **sizes = arena_array(w->a, struct guess *, g->rank + 1);
  for (unsigned i = 0; i < g->rank; i++) {
    sizes[i] = guess_new(w);
    sizes[i]->is_runtime = true;
  }
  g->items = sizes;
  g->item_count = g->rank;
  g->is_runtime = true;
  return g;
}

const struct guess *guess_descriptor_load(struct extents_walk *w, const struct given *c) {
  const struct guess *desc = guess_argument(w, c, "desc");
  bound_block(w, desc, desc, guess_argument(w, c, "offsets"));
  return load_through(w, desc);
}

const struct guess *guess_store(struct extents_walk *w, const struct given *c) {
  struct guess *g = guess_elementwise(w, c);
  note_tile(w, g, false);
  return g;
}

const struct guess *guess_block_pointer(struct extents_walk *w, const struct given *c) {
  const struct guess *lengths = guess_argument(w, c, "shape");
  const struct guess *begin = guess_argument(w, c, "offsets");
  struct guess *g = guess_new(w);
  set_shape(w, g, guess_argument(w, c, "block_shape"));
  bound_block(w, g, lengths, begin);
  return g;
}

const struct guess *guess_advance(struct extents_walk *w, const struct given *c) {
  const struct guess *x = guess_argument(w, c, "base"), *by = guess_argument(w, c, "offsets");
  for (unsigned i = 0; i < x->rank; i++) {
    const struct guess *step = item(by, i);
    if (step && w->loops && x->axes[i].param >= 0 && (step->from & param_bit(x->axes[i].param)))
      w->facts[x->axes[i].param].is_step = true;
  }
  return x;
}

// ---- Across elements ----

const struct guess *guess_dot(struct extents_walk *w, const struct given *c, bool scaled) {
  const struct guess *x = guess_argument(w, c, scaled ? "lhs" : "input");
  const struct guess *y = guess_argument(w, c, scaled ? "rhs" : "other");
  guess_argument(w, c, "acc");
  struct guess *g = guess_new(w);
  g->is_runtime = g->of_dot = true;
  w->ret->has_dot = true;
  w->ret->has_chain = w->ret->has_chain || x->of_dot || y->of_dot;
  if (x->rank < 2 || y->rank < 2)
    return g;
  g->rank = x->rank;
  memcpy(g->axes, x->axes, sizeof g->axes);
  struct lang_tile_axis m = x->axes[x->rank - 2], n = y->axes[y->rank - 1];
  struct lang_tile_axis k[] = {x->axes[x->rank - 1], y->axes[y->rank - 2]};
  g->axes[g->rank - 1] = n;
  if (m.param >= 0)
    w->facts[m.param].dot_m = true;
  if (n.param >= 0)
    w->facts[n.param].dot_n = true;
  for (int i = 0; i < 2; i++)
    if (k[i].param >= 0)
      w->facts[k[i].param].dot_k = true;
  note_tile(w, x, false);
  note_tile(w, y, false);
  note_tile(w, g, true);
  return g;
}

// Reduces one tile; a tuple is reduced item by item.
static const struct guess *reduce_one(struct extents_walk *w, const struct guess *x,
                                      const struct guess *axis, bool keeps) {
  struct guess *g = guess_both(w, x, x);
  g->is_index = false;
  g->programs = g->iterations = 0;
  bool given = axis->is_known && axis->number >= 0 && axis->number < (int64_t)x->rank;
  bool all = !given && x->rank > 1 && !axis->is_known;
  g->rank = 0;
  for (unsigned i = 0; i < x->rank; i++) {
    bool goes = all || x->rank == 1 || (given ? i == (uint64_t)axis->number : i + 1 == x->rank);
    if (goes && x->axes[i].param >= 0)
      w->facts[x->axes[i].param].reduced = true;
    if (!goes)
      g->axes[g->rank++] = x->axes[i];
    else if (keeps)
      g->axes[g->rank++] = (struct lang_tile_axis){-1, 1};
  }
  return g;
}

const struct guess *guess_reduce(struct extents_walk *w, const struct given *c) {
  const struct guess *x = guess_argument(w, c, "input"), *axis = guess_argument(w, c, "axis");
  const struct expr *keep = guess_named(c, "keep_dims");
  bool keeps = keep && keep->kind == EXPR_BOOL && keep->boolean;
  w->ret->has_reduction = true;
  if (!x->items)
    return reduce_one(w, x, axis, keeps);
  struct guess **items = arena_array(w->a, struct guess *, x->item_count + 1);
  for (size_t i = 0; i < x->item_count; i++) {
    items[i] = guess_new(w);
    *items[i] = *reduce_one(w, x->items[i], axis, keeps);
  }
  return guess_tuple(w, items, x->item_count);
}

// ---- Numbers ----

const struct guess *guess_program(struct extents_walk *w) {
  struct guess *g = guess_new(w);
  g->is_runtime = g->of_program = true;
  return g;
}

const struct guess *guess_cdiv(struct extents_walk *w, const struct given *c) {
  return guess_binary(w, OP_FLOORDIV, guess_argument(w, c, "x"), guess_argument(w, c, "div"));
}

// min(i, n - 1): indices are clamped to the bound.
const struct guess *guess_least(struct extents_walk *w, const struct given *c) {
  const struct guess *all = guess_at(w, c, 0);
  for (size_t i = 1; i < argument_count(c); i++) {
    const struct guess *g = guess_at(w, c, i);
    guess_bound(w, all, g);
    guess_bound(w, g, all);
    all = guess_both(w, all, g);
  }
  return all;
}

const struct guess *guess_swizzle(struct extents_walk *w, const struct given *c) {
  const struct guess *size = guess_argument(w, c, "size_g");
  if (size->exact >= 0)
    w->facts[size->exact].groups = true;
  struct guess *place[2];
  for (int i = 0; i < 2; i++) {
    place[i] = guess_new(w);
    place[i]->is_runtime = place[i]->of_program = true;
  }
  return guess_tuple(w, arena_dup(w->a, place, sizeof place, _Alignof(struct guess *)), 2);
}

const struct guess *guess_random4(struct extents_walk *w, const struct given *c) {
  struct guess *one = guess_elementwise(w, c);
  one->is_index = false;
  struct guess *four[] = {one, one, one, one};
  return guess_tuple(w, arena_dup(w->a, four, sizeof four, _Alignof(struct guess *)), 4);
}

// Casts and hints keep shape and origin.
const struct guess *guess_same(struct extents_walk *w, const struct given *c) {
  return guess_numbered(w, c, 0);
}
