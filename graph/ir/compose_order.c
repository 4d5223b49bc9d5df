// SPDX-License-Identifier: Apache-2.0
// Sorting, top-k, running maxima and minima, binary search. A line is sorted by counting: the
// position of an element is the number of elements before it. That takes the square of the length
// in comparisons, and no synchronisation between programs.
#include "graph/ir/compose.h"

#include <math.h>

enum {
  MAX_SORTED = LIMIT_GRAPH_SORTED, // elements of a line that is sorted by counting
  MAX_ROUNDS = 64,                 // maxima taken from longer lines, one by one
  MAX_COMPARED = 64                // positions found by comparison instead of scatter
};

struct order {
  struct build *b;
  struct value *x; // the dimension has been moved last
  struct value *key;
  uint32_t dim; // its original position
  const struct expr *size;
};

static struct value *both(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_LOGICAL_AND, x, y);
}

static struct value *either(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_LOGICAL_OR, x, y);
}

// Inverse of compose_to_last.
static struct value *from_last(struct build *b, struct value *x, uint32_t dim) {
  if (!x)
    return NULL;
  struct dims order = {0};
  for (uint32_t i = 0; i < x->rank; i++)
    order.at[order.count++] = i < dim ? i : i == dim ? x->rank - 1 : i - 1;
  return build_permute(b, x, &order);
}

static bool begin(struct build *b, struct node *n, unsigned dim, struct order *ret) {
  struct value *x = node_value(n, 0);
  *ret = (struct order){.b = b, .x = x};
  if (x->rank == 0)
    return false;
  ret->dim = compose_dim(b, n, dim, x->rank);
  ret->size = x->shape[ret->dim];
  ret->x = compose_to_last(b, x, ret->dim);
  return ret->x != NULL;
}

// The number of elements before each one: ties in their order, NaN as the largest.
static struct value *ranks(struct order *o, bool descending) {
  struct build *b = o->b;
  uint32_t rank = o->x->rank;
  struct value *mine = build_unsqueeze(b, o->x, rank), *other = build_unsqueeze(b, o->x, rank - 1);
  struct value *before = build_binop(b, descending ? OP_GT_TENSOR : OP_LT_TENSOR, other, mine),
               *equal = build_binop(b, OP_EQ_TENSOR, other, mine);
  if (dtype_is_float(o->x->dtype)) {
    struct value *my_nan = build_unop(b, OP_ISNAN, mine), *nan = build_unop(b, OP_ISNAN, other);
    struct value *first = descending ? nan : my_nan, *last = descending ? my_nan : nan;
    before = either(b, before, both(b, first, build_unop(b, OP_LOGICAL_NOT, last)));
    equal = either(b, equal, both(b, my_nan, nan));
  }
  struct value *earlier = build_binop(b, OP_LT_TENSOR, build_iota(b, o->size, rank, rank + 1),
                                      build_iota(b, o->size, rank - 1, rank + 1));
  before = either(b, before, both(b, equal, earlier));
  struct dims last = dims_one(rank);
  return build_sum(b, build_convert(b, before, DTYPE_I64), &last, false);
}

// The first `count` positions in sorted order.
static struct value *positions(struct order *o, bool descending, const struct expr *count) {
  struct build *b = o->b;
  uint32_t rank = o->x->rank;
  struct value *r = ranks(o, descending);
  int64_t few;
  if (expr_is_const(count, &few) && few <= MAX_COMPARED) {
    struct dims last = dims_one(rank);
    struct value *hit = build_binop(b, OP_EQ_TENSOR, build_unsqueeze(b, r, rank - 1),
                                    build_iota(b, count, rank - 1, rank + 1));
    struct value *position = build_where_else(b, hit, build_iota(b, o->size, rank, rank + 1), 0);
    return build_sum(b, position, &last, false);
  }
  struct value *own = build_as(b, build_iota(b, o->size, rank - 1, rank), o->x);
  struct value *zeros = build_full(b, rank, o->x->shape, 0, DTYPE_I64);
  struct value *all =
      BUILD(b, OP_SCATTER_SRC, TENSOR(zeros), arg_int(b->g, rank - 1), TENSOR(r), TENSOR(own));
  return build_slice(b, all, rank - 1, compose_const(b, 0), count, 1);
}

static struct value *at_positions(struct order *o, struct value *index) {
  return BUILD(o->b, OP_GATHER, TENSOR(o->x), arg_int(o->b->g, o->x->rank - 1), TENSOR(index));
}

static bool is_short(const struct order *o) {
  int64_t size;
  return !expr_is_const(o->size, &size) || size <= MAX_SORTED;
}

static bool wants_short(struct order *o, const struct node *n) {
  if (is_short(o))
    return true;
  compose_error(o->b, n, E1008, "lines of more than %d elements cannot be sorted", MAX_SORTED);
  return false;
}

static void give(struct order *o, struct node *n, struct value *index) {
  n->results[0] = from_last(o->b, at_positions(o, index), o->dim);
  n->results[1] = from_last(o->b, index, o->dim);
}

static void give_scalar(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_CLONE, n->args[0]);
  n->results[1] = build_number(b, 0, DTYPE_I64);
}

static void sort(struct build *b, struct node *n, unsigned dim, bool descending) {
  struct order o;
  if (!begin(b, n, dim, &o))
    give_scalar(b, n);
  else if (wants_short(&o, n))
    give(&o, n, positions(&o, descending, o.size));
}

void compose_sort(struct build *b, struct node *n) { sort(b, n, 1, node_truth(n, 2)); }

// self stable dim descending
void compose_sort_stable(struct build *b, struct node *n) { sort(b, n, 2, node_truth(n, 3)); }

void compose_argsort(struct build *b, struct node *n) {
  struct node both = *n;
  struct value *results[2] = {NULL};
  both.results = results;
  compose_sort(b, &both);
  n->results[0] = results[1];
}

// self stable dim descending: every sort is stable
void compose_argsort_stable(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_ARGSORT, n->args[0], n->args[2], n->args[3]);
}

// ---- top-k of long lines, one maximum after another ----

// The element after `value` at `position`, ordered by value, then position; `value` NULL: the
// first.
static void next_largest(struct order *o, struct value **value, struct value **position) {
  struct build *b = o->b;
  uint32_t last = o->x->rank - 1;
  struct dims d = dims_one(last);
  struct value *index = build_iota(b, o->size, last, o->x->rank), *left = NULL, *key = o->key;
  if (*value) {
    struct value *later = both(b, build_binop(b, OP_EQ_TENSOR, o->key, *value),
                               build_binop(b, OP_GT_TENSOR, index, *position));
    left = either(b, build_binop(b, OP_LT_TENSOR, o->key, *value), later);
    key = build_where_else(b, left, o->key, -INFINITY);
  }
  *value = build_amax(b, key, &d, true);
  struct value *hit = build_binop(b, OP_EQ_TENSOR, o->key, *value);
  hit = left ? both(b, hit, left) : hit;
  // Clamped to the line: the key may be rounded differently where it is recomputed.
  struct value *end = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL),
                            ARG_E(expr_addi(b->g->exprs, o->size, -1)), ARG_D(DTYPE_I64));
  *position =
      BUILD(b, OP_AMIN, TENSOR(build_where(b, hit, index, end)), arg_int(b->g, last), ARG_B(true));
}

static struct value *rounds(struct order *o, bool largest, int64_t count) {
  struct build *b = o->b;
  struct value *list[MAX_ROUNDS], *value = NULL, *position = NULL;
  struct value *x = build_up(b, o->x);
  if (!dtype_is_float(o->x->dtype))
    x = build_convert(b, o->x, DTYPE_F64);
  o->key = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, build_unop(b, OP_ISNAN, x)),
                            largest ? x : build_unop(b, OP_NEG, x), largest ? INFINITY : -INFINITY);
  for (int64_t i = 0; i < count; i++) {
    next_largest(o, &value, &position);
    if (!position)
      return NULL;
    list[i] = position;
  }
  return BUILD(b, OP_CAT, arg_values(b->g, (size_t)count, list), arg_int(b->g, o->x->rank - 1));
}

// For small k and long rows: a row stays in one kernel, fused with its producer.
static bool takes_rounds(const struct order *o, int64_t count) {
  enum { FEW = 8, MANY = 256 };
  int64_t size;
  if (!is_short(o))
    return count <= MAX_ROUNDS;
  return dtype_is_float(o->x->dtype) && expr_is_const(o->size, &size) && size > MANY &&
         count <= FEW;
}

// self k dim largest sorted
void compose_topk(struct build *b, struct node *n) {
  struct order o;
  int64_t count;
  bool largest = node_truth(n, 3);
  if (!begin(b, n, 2, &o)) {
    give_scalar(b, n);
    return;
  }
  const struct expr *k = node_expr(n, 1);
  if (k->lo < 0 || (k->lo > o.size->hi))
    compose_error(b, n, E1004, "more elements than the dimension has");
  else if (expr_is_const(k, &count) && count > 0 && takes_rounds(&o, count))
    give(&o, n, rounds(&o, largest, count));
  else if (wants_short(&o, n))
    give(&o, n, positions(&o, largest, k));
}

// ---- one element of the sorted line ----

static void nth(struct build *b, struct node *n, struct order *o, const struct expr *position,
                bool keepdim) {
  const struct expr *end = expr_addi(b->g->exprs, position, 1);
  struct value *index = build_slice(b, positions(o, false, end), o->x->rank - 1, position, end, 1);
  struct value *value = from_last(b, at_positions(o, index), o->dim);
  index = from_last(b, index, o->dim);
  n->results[0] = keepdim ? value : build_squeeze(b, value, o->dim);
  n->results[1] = keepdim ? index : build_squeeze(b, index, o->dim);
}

// self k dim keepdim
void compose_kthvalue(struct build *b, struct node *n) {
  struct order o;
  const struct expr *k = node_expr(n, 1);
  if (!begin(b, n, 2, &o))
    give_scalar(b, n);
  else if (k->hi < 1 || k->lo > o.size->hi)
    compose_error(b, n, E1004, "the dimension has no such element");
  else if (wants_short(&o, n))
    nth(b, n, &o, expr_addi(b->g->exprs, k, -1), node_truth(n, 3));
}

// The number of elements before the median: the lower one of the two in the middle, or, if there is
// a NaN, all others, NaN being the largest. `skips_nan`: of the numbers.
static struct value *before_median(struct order *o, bool skips_nan) {
  struct build *b = o->b;
  struct exprs *x = b->g->exprs;
  const struct expr *middle = expr_floordiv(x, expr_addi(x, o->size, -1), compose_const(b, 2));
  struct dims last = dims_one(o->x->rank - 1);
  struct value *half = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(middle), ARG_D(DTYPE_I64));
  if (!dtype_is_float(o->x->dtype))
    return half;
  struct value *is_number = build_unop(b, OP_LOGICAL_NOT, build_unop(b, OP_ISNAN, o->x));
  struct value *numbers = build_sum(b, build_convert(b, is_number, DTYPE_I64), &last, true);
  if (skips_nan) // (numbers - 1) // 2, at least 0
    return build_int(b, OP_FLOOR_DIVIDE,
                     build_int(b, OP_MAXIMUM, build_int(b, OP_SUB_TENSOR, numbers, 1), 0), 2);
  struct value *all = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(o->size), ARG_D(DTYPE_I64));
  return build_where(b, build_binop(b, OP_LT_TENSOR, numbers, all), numbers, half);
}

// self dim keepdim
void compose_median(struct build *b, struct node *n) {
  struct order o;
  if (!begin(b, n, 1, &o)) {
    give_scalar(b, n);
    return;
  }
  if (expr_is(o.size, 0)) {
    compose_error(b, n, E1004, "a line without elements has no median");
    return;
  }
  if (!wants_short(&o, n))
    return;
  uint32_t rank = o.x->rank;
  struct dims last = dims_one(rank - 1);
  struct value *hit = build_binop(b, OP_EQ_TENSOR, ranks(&o, false),
                                  before_median(&o, operator_row(n->op)->part == OP_ISNAN));
  struct value *position = build_where_else(b, hit, build_iota(b, o.size, rank - 1, rank), 0);
  struct value *index = build_sum(b, position, &last, true);
  struct value *value = from_last(b, at_positions(&o, index), o.dim);
  index = from_last(b, index, o.dim);
  bool keepdim = node_truth(n, 2);
  n->results[0] = keepdim ? value : build_squeeze(b, value, o.dim);
  n->results[1] = keepdim ? index : build_squeeze(b, index, o.dim);
}

// NaN for no elements.
void compose_median_of_all(struct build *b, struct node *n) {
  const struct value *x = node_value(n, 0);
  if (dtype_is_float(x->dtype) && expr_is(value_numel(b->g->exprs, x), 0)) {
    n->results[0] = build_number(b, (double)NAN, x->dtype);
    return;
  }
  struct value *flat = BUILD(b, OP_RESHAPE, n->args[0], arg_int(b->g, -1));
  struct node *both = flat ? graph_append(b->g, operator_row(n->op)->part,
                                          (struct arg[]){TENSOR(flat), arg_int(b->g, 0)}, 2, b->at)
                           : NULL;
  n->results[0] = both ? both->results[0] : NULL;
}

// ---- running products and extrema ----

// [.., position, element]: is the element at or before the position? `ret_each`: all elements,
// beside each position.
static struct value *until(struct order *o, struct value **ret_each) {
  struct build *b = o->b;
  uint32_t rank = o->x->rank;
  *ret_each = build_unsqueeze(b, o->x, rank - 1);
  return build_binop(b, OP_LE_TENSOR, build_iota(b, o->size, rank, rank + 1),
                     build_iota(b, o->size, rank - 1, rank + 1));
}

void compose_cumprod(struct build *b, struct node *n) {
  struct order o;
  enum dtype t = n->args[2].kind == ARG_DTYPE              ? n->args[2].dtype
                 : dtype_is_float(node_value(n, 0)->dtype) ? node_value(n, 0)->dtype
                                                           : DTYPE_I64;
  if (!begin(b, n, 1, &o)) {
    n->results[0] = build_convert(b, node_value(n, 0), t);
    return;
  }
  if (!wants_short(&o, n))
    return;
  o.x = build_convert(b, o.x, dtype_to_compute(t));
  struct value *each, *here = o.x ? until(&o, &each) : NULL;
  if (!here || !each)
    return;
  struct value *all = build_where_else(b, here, each, 1);
  struct value *product = BUILD(b, OP_PROD_DIM, TENSOR(all), arg_int(b->g, o.x->rank), ARG_B(false),
                                ARG_D(all ? all->dtype : t));
  n->results[0] = build_convert(b, from_last(b, product, o.dim), t);
}

// The running maximum or minimum, and its last position; NaN propagates from its first position on.
void compose_cummax(struct build *b, struct node *n) {
  struct order o;
  if (!begin(b, n, 1, &o)) {
    give_scalar(b, n);
    return;
  }
  struct value *each, *here = wants_short(&o, n) ? until(&o, &each) : NULL;
  if (!here || !each)
    return;
  uint32_t rank = o.x->rank;
  struct dims last = dims_one(rank);
  enum operator_id part = operator_row(n->op)->part;
  // Later elements are replaced by the position's own.
  struct value *all = build_where(b, here, each, build_unsqueeze(b, o.x, rank));
  struct value *most = BUILD(b, part, TENSOR(all), arg_int(b->g, rank), ARG_B(true));
  struct value *hit = build_binop(b, OP_EQ_TENSOR, each, most);
  if (dtype_is_float(o.x->dtype))
    hit = either(b, hit, both(b, build_unop(b, OP_ISNAN, each), build_unop(b, OP_ISNAN, most)));
  struct value *position =
      build_where_else(b, both(b, hit, here), build_iota(b, o.size, rank, rank + 1), 0);
  n->results[0] = from_last(b, build_squeeze(b, most, rank), o.dim);
  n->results[1] = from_last(b, build_amax(b, position, &last, false), o.dim);
}

void compose_logcumsumexp(struct build *b, struct node *n) {
  struct order o;
  if (!begin(b, n, 1, &o)) {
    n->results[0] = BUILD(b, OP_CLONE, n->args[0]);
    return;
  }
  if (!wants_short(&o, n))
    return;
  struct value *each, *here = until(&o, &each);
  struct value *all = build_where_else(b, here, each, -INFINITY);
  struct value *sum = BUILD(b, OP_LOGSUMEXP, TENSOR(all), arg_int(b->g, o.x->rank));
  n->results[0] = from_last(b, sum, o.dim);
}

// ---- binary search ----

// The number of elements of the list, along its last dimension, that are less than x; `right`: or
// equal.
static struct value *count_before(struct build *b, struct value *list, struct value *x,
                                  bool right) {
  struct value *each = build_unsqueeze(b, x, x->rank);
  struct value *behind = build_binop(b, right ? OP_GT_TENSOR : OP_GE_TENSOR, list, each);
  struct value *before = build_unop(b, OP_LOGICAL_NOT, behind);
  struct dims last = dims_one(x->rank);
  return build_sum(b, build_convert(b, before, DTYPE_I64), &last, false);
}

// self boundaries out_int32 right
void compose_bucketize(struct build *b, struct node *n) {
  struct value *count = count_before(b, node_value(n, 1), node_value(n, 0), node_truth(n, 3));
  n->results[0] = build_convert(b, count, node_truth(n, 2) ? DTYPE_I32 : DTYPE_I64);
}

// sorted_sequence self out_int32 right side sorter
void compose_searchsorted(struct build *b, struct node *n) {
  struct value *list = node_value(n, 0), *x = node_value(n, 1);
  bool right =
      node_truth(n, 3) || (n->args[4].kind == ARG_STRING && str_is(n->args[4].string, "right"));
  if (!node_is_none(n, 5)) {
    compose_error(b, n, E1008, "a `sorter`");
    return;
  }
  bool fits = list->rank == 1 || (list->rank > 1 && list->rank == x->rank);
  for (uint32_t d = 0; fits && d + 1 < list->rank; d++)
    fits = compose_same_size(b, list->shape[d], x->shape[d]);
  if (!fits) {
    compose_error(b, n, E1004,
                  "`sorted_sequence` has one dimension, or, but for the last one, "
                  "the sizes of `self`");
    return;
  }
  if (list->rank > 1)
    list = build_unsqueeze(b, list, list->rank - 1);
  struct value *count = count_before(b, list, x, right);
  n->results[0] = build_convert(b, count, node_truth(n, 2) ? DTYPE_I32 : DTYPE_I64);
}
