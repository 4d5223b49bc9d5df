// SPDX-License-Identifier: Apache-2.0
// The analysis behind extents.c, an abstract interpretation: the body of a kernel is evaluated with
// values of which only the shape and the parameters they come from are known, and facts about its
// parameters are collected. Both branches of every `if` are walked, loops twice. Calls contain
// expressions and expressions calls: extent_walk.c, forms.c and extent_calls.c are one recursion.
#ifndef TILE_LANG_EXTENTS_WALK_H
#define TILE_LANG_EXTENTS_WALK_H

#include "base/map.h"
#include "lang/extents/extents.h"
#include "lang/syntax/ast.h"

#include <assert.h>

#define EXTENTS_MAX_PARAMS 64

// Sets of the kernel's parameters, by their index.
typedef uint64_t param_set;

// A value. Scalars have rank 0.
struct guess {
  struct guess *const *items; // of a tuple; else NULL
  size_t item_count;
  unsigned rank;
  struct lang_tile_axis axes[LANG_TILE_RANK]; // `param` is an index into the kernel's parameters
  int exact;                                  // the parameter that a scalar is, or -1
  bool is_known;                              // a scalar that is `number`
  int64_t number;
  param_set from;       // the parameters it is computed from
  param_set counts;     // P: a number of blocks of P, cdiv(n, P)
  param_set factors;    // P: the product of P and a length
  param_set programs;   // P: contains P times something of the program's id
  param_set iterations; // P: contains P times something of a loop's index
  bool is_runtime, of_program, of_loop, is_index, of_dot;
  bool is_scaled; // a product with a length
};

struct facts { // about one parameter
  bool is_tile, dot_m, dot_n, dot_k, reduced;
  bool is_step;  // of a loop, or what an offset advances by in each iteration
  bool is_range; // the step of a range
  bool blocked;  // a tile begins at a multiple of it that depends on the program's id
  bool checked;  // and is masked, or wraps around
  bool counted;  // lengths are divided by it
  bool whole;    // a tile begins at 0 and is masked
  bool groups, divides, decides, stages;
  param_set masks, loops; // the parameters that bound it
};

struct extents_walk {
  struct arena *a;
  const struct ast_module *m;
  const struct lang_param *params;
  size_t param_count;
  param_set constants, scalars; // compile-time parameters; run-time ones
  struct facts facts[EXTENTS_MAX_PARAMS];
  struct lang_extents *ret;
  size_t tile_cap;
  struct map *names; // of the function being walked: its variables
  unsigned loops, conditions, calls, depth;
  size_t budget;                // of expressions and statements
  const struct guess *returned; // the value returned so far by the function being walked, or NULL
};

static inline param_set param_bit(int i) {
  assert(i < EXTENTS_MAX_PARAMS);
  return i < 0 ? 0 : (param_set)1 << i;
}

// ---- lang/extents/extent_walk.c ----
const struct guess *guess_expr(struct extents_walk *w, const struct expr *e);
void guess_body(struct extents_walk *w, struct stmt_list body);

// ---- lang/extents/guess.c ----
struct guess *guess_new(struct extents_walk *w);
struct guess *guess_tuple(struct extents_walk *w, struct guess *const *items, size_t count);
// The join of two values: what holds of both; `x` may be NULL.
const struct guess *guess_join(struct extents_walk *w, const struct guess *x,
                               const struct guess *y);
// Elementwise: broadcasts the shapes, unites the origins.
struct guess *guess_both(struct extents_walk *w, const struct guess *x, const struct guess *y);
const struct guess *guess_binary(struct extents_walk *w, enum ast_op op, const struct guess *x,
                                 const struct guess *y);
struct lang_tile_axis guess_axis(struct extents_walk *w, const struct guess *length);
void guess_bound(struct extents_walk *w, const struct guess *index, const struct guess *bound);

// ---- lang/extents/forms.c ----
// Arguments of a call, `x.f(y)` as f(x, y).
struct given {
  const struct expr *object; // x, or NULL
  const struct expr *call;
  const char *params; // of a builtin: those of its row, "x axis= *rest"; else NULL
};

// Argument number `at`, or the one called `name` (may be NULL); NULL: not given.
const struct expr *guess_given(const struct given *c, size_t at, const char *name);
// The argument of a builtin for its parameter `name`, which its row has.
const struct expr *guess_named(const struct given *c, const char *name);
const struct guess *guess_argument(struct extents_walk *w, const struct given *c, const char *name);
struct guess *guess_elementwise(struct extents_walk *w, const struct given *c);
const struct guess *guess_arange(struct extents_walk *w, const struct given *c);
const struct guess *guess_full(struct extents_walk *w, const struct given *c);
const struct guess *guess_reshape(struct extents_walk *w, const struct given *c);
const struct guess *guess_trans(struct extents_walk *w, const struct given *c);
const struct guess *guess_expand(struct extents_walk *w, const struct given *c);
const struct guess *guess_load(struct extents_walk *w, const struct given *c);
const struct guess *guess_store(struct extents_walk *w, const struct given *c);
const struct guess *guess_descriptor(struct extents_walk *w, const struct given *c);
// A parameter that is declared a tensor descriptor with blocks of that shape.
struct guess *guess_descriptor_argument(struct extents_walk *w, const struct expr *block);
const struct guess *guess_descriptor_load(struct extents_walk *w, const struct given *c);
const struct guess *guess_block_pointer(struct extents_walk *w, const struct given *c);
const struct guess *guess_advance(struct extents_walk *w, const struct given *c);
const struct guess *guess_reduce(struct extents_walk *w, const struct given *c);
const struct guess *guess_cdiv(struct extents_walk *w, const struct given *c);
const struct guess *guess_least(struct extents_walk *w, const struct given *c);
const struct guess *guess_swizzle(struct extents_walk *w, const struct given *c);
const struct guess *guess_random4(struct extents_walk *w, const struct given *c);
const struct guess *guess_same(struct extents_walk *w, const struct given *c);
const struct guess *guess_dot(struct extents_walk *w, const struct given *c, bool scaled);
const struct guess *guess_program(struct extents_walk *w);

// ---- lang/extents/extent_calls.c ----
const struct guess *guess_call(struct extents_walk *w, const struct expr *e);
// The variable of the loop `for ... in e`. Counts the loop in `w->loops` unless it is unrolled.
const struct guess *guess_range(struct extents_walk *w, const struct expr *e);

#endif
